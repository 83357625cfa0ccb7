package main_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// node runs a program of the conformance folder and returns what it printed.
func node(t *testing.T, args ...string) (string, error) {
	t.Helper()
	dir := filepath.Join("..", "..", "conformance")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json")); err != nil {
		t.Fatal("the conformance suite is not installed: run make setup")
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir()) // the inspector keeps a catalogue there
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The inspector lists six tools and calls each, over stdio and over HTTP.
func TestR83_R92_R93_R96_Inspector(t *testing.T) {
	vars := map[string]string{"ARENERO_HOME": home(t)}
	_, address := serve(t, vars)
	targets := map[string][]string{
		"stdio": {"-e", "ARENERO_HOME=" + vars["ARENERO_HOME"], filepath.Join(programs, "arenero-bridge")},
		"http":  {"--server-url", address, "--transport", "http"},
	}
	calls := []struct {
		args []string
		want string
	}{
		{[]string{"run_command", "cmd=echo hello"}, `"stdout":"hello\n"`},
		{[]string{"run_code", "code=6*7"}, `\"text\": \"42\"`},
		{[]string{"write_file", "path=a.txt", "content=hello"}, `"size":5`},
		{[]string{"list_files", "depth=1"}, `"entries":[`},
		{[]string{"list_sandboxes"}, `"sandboxes":[`},
	}
	for name, target := range targets {
		t.Run(name, func(t *testing.T) {
			run := func(args ...string) (string, error) {
				all := append([]string{"node_modules/.bin/mcp-inspector", "--cli"}, target...)
				return node(t, append(append(all, args...), "--format", "json", "-q")...)
			}
			if out, err := run("--method", "tools/list"); err != nil || strings.Count(out, `"inputSchema"`) != 6 {
				t.Errorf("list: %v\n%s", err, out)
			}
			// Over stdio each call has a new bridge, and so a sandbox without files.
			if out, err := run("--method", "tools/call", "--tool-name", "read_file", "--tool-arg", "path=none"); err == nil || !strings.Contains(out, "Path not found: none") {
				t.Errorf("read_file: %v\n%s", err, out)
			}
			for _, c := range calls {
				all := []string{"--method", "tools/call", "--tool-name", c.args[0]}
				for _, a := range c.args[1:] {
					all = append(all, "--tool-arg", a)
				}
				if out, err := run(all...); err != nil || !strings.Contains(out, c.want) {
					t.Errorf("%s: %v, want %s in\n%s", c.args[0], err, c.want, out)
				}
			}
		})
	}
}

var passed = regexp.MustCompile(`(?m)^Passed: (\d+)/(\d+), (\d+) failed`)

// Of the conformance suite, what needs no tools of its own.
func TestConformanceWithoutAFixture(t *testing.T) {
	_, address := serve(t, map[string]string{"ARENERO_HOME": home(t)})
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "server-sse-multiple-streams", "dns-rebinding-protection"} {
		out, err := node(t, "--import", "./node20.mjs", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server", "--url", address, "--scenario", scenario)
		m := passed.FindStringSubmatch(out)
		if err != nil || m == nil || m[3] != "0" {
			t.Errorf("%s: %v\n%s", scenario, err, out)
			continue
		}
		t.Logf("%s: %s of %s", scenario, m[1], m[2])
	}
}
