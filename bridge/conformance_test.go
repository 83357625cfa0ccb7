package bridge

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// node runs a program of the conformance folder and returns what it printed.
func node(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = "conformance"
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // the inspector keeps a catalogue there
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func needNode(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("conformance/node_modules/.package-lock.json"); err != nil {
		t.Fatal("the conformance suite is not installed: run make setup")
	}
}

// startHTTP starts a server process over HTTP and returns its URL.
func startHTTP(t *testing.T, mode string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BRIDGE_TEST_SERVER="+mode)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr) + Endpoint
}

var scenario = regexp.MustCompile(`(?m)^([✓✗]) ([a-z0-9-]+): (\d+) passed, (\d+) failed`)

// The MCP conformance suite against the fixture. What it never scores, such as
// extensions that the library does not have, is printed and not judged.
func TestConformance(t *testing.T) {
	needNode(t)
	const (
		v1   = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
		next = "node_modules/conformance-next/dist/index.js"
	)
	tests := []struct {
		name     string
		args     []string
		want     int // checks passed in scenarios that count
		unscored []string
	}{
		{"0.1.16", []string{v1, "server", "--suite", "all"}, 43, nil},
		{"0.2.0-alpha.12 for 2025-11-25", []string{next, "server", "--requirements", "2025-11-25"}, 80, nil},
		{"0.2.0-alpha.12 for 2026-07-28", []string{next, "server", "--requirements", "2026-07-28"}, 151, []string{"tasks-*"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"--import", "./node20.mjs"}, tt.args...)
			args = append(args, "--url", startHTTP(t, "fixture-http"))
			if tt.args[0] == next {
				args = append(args, "-o", t.TempDir())
			}
			out, _ := node(t, args...) // it fails for what is not scored, too
			passed, failed, other, otherFailed := 0, 0, 0, 0
			var bad []string
			for _, m := range scenario.FindAllStringSubmatch(out, -1) {
				p, _ := strconv.Atoi(m[3])
				f, _ := strconv.Atoi(m[4])
				if matches(tt.unscored, m[2]) {
					other, otherFailed = other+p, otherFailed+f
					continue
				}
				passed, failed = passed+p, failed+f
				if f > 0 {
					bad = append(bad, m[2])
				}
			}
			t.Logf("conformance %s: %d of %d checks pass; not scored: %d of %d", tt.name, passed, passed+failed, other, other+otherFailed)
			if failed > 0 || passed < tt.want {
				t.Errorf("%d passed, want %d; failed: %v\n%s", passed, tt.want, bad, out)
			}
		})
	}
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := filepath.Match(p, name); ok {
			return true
		}
	}
	return false
}

// The inspector's command line lists and calls tools over both transports, in
// both eras.
func TestInspector(t *testing.T) {
	needNode(t)
	url := startHTTP(t, "http")
	targets := map[string][]string{
		"stdio": {"-e", "BRIDGE_TEST_SERVER=echo", os.Args[0]},
		"http":  {"--server-url", url, "--transport", "http"},
	}
	for name, target := range targets {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(name+" "+era, func(t *testing.T) {
				run := func(args ...string) (string, error) {
					args = append(append([]string{"node_modules/.bin/mcp-inspector", "--cli"}, target...), args...)
					return node(t, append(args, "--protocol-era", era, "--format", "json", "-q")...)
				}
				out, err := run("--method", "tools/list")
				if err != nil || strings.Count(out, `"inputSchema"`) != 5 {
					t.Errorf("list: %v\n%s", err, out)
				}
				out, err = run("--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hola")
				if err != nil || !strings.Contains(out, `"structuredContent":{"text":"hola"}`) {
					t.Errorf("call: %v\n%s", err, out)
				}
				// The text of a failed call gets through, though the client checks
				// structured content against the output schema.
				out, err = run("--method", "tools/call", "--tool-name", "fail", "--tool-arg", "text=hola")
				if err == nil || !strings.Contains(out, "There is no hola.") || !strings.Contains(out, `"code":"not_found"`) {
					t.Errorf("failed call: %v\n%s", err, out)
				}
			})
		}
	}
	t.Run("schemas are portable", func(t *testing.T) {
		out, err := node(t, append(append([]string{"node_modules/.bin/mcp-inspector", "--cli"}, targets["stdio"]...), "--method", "tools/list", "--strict", "-q")...)
		if err != nil || strings.Contains(out, "Warning") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// The TypeScript SDK that most hosts are built on checks the structured content
// of failed calls too. What it throws then would hide the text from the model.
func TestTypeScriptSDK(t *testing.T) {
	needNode(t)
	out, err := node(t, "sdk.mjs", os.Args[0])
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "There is no hola. not_found"; !strings.Contains(out, want) {
		t.Errorf("got %s, want %q", out, want)
	}
}
