package app

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/assets"
)

// A desk is a played computer, with hosts that are said to be installed.
type desk struct {
	*Hosts
	home string
	path map[string]string // programs by their names
}

// newDesk returns one whose bridge is below folder.
func newDesk(t *testing.T, goos, folder string) *desk {
	t.Helper()
	base := t.TempDir()
	t.Setenv(paths.Home, filepath.Join(base, "arenero"))
	d := &desk{home: filepath.Join(base, "home"), path: map[string]string{}}
	bridge := filepath.Join(base, folder, "arenero-bridge")
	write(t, bridge, "", 0o755)
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		t.Fatal(err)
	}
	system := hostconf.System{
		OS: goos, Home: d.home, Env: func(string) string { return "" },
		LookPath: func(name string) (string, error) {
			if p, ok := d.path[name]; ok {
				return p, nil
			}
			return "", fs.ErrNotExist
		},
		Processes: func(context.Context) ([]string, error) { return nil, nil },
	}
	if goos != "linux" {
		system.Root, system.Home, bridge = filepath.Join(base, "root"), "/Users/ana", "/Applications/Arenero.app/Contents/MacOS/arenero-bridge"
		d.home = filepath.Join(system.Root, system.Home)
		if err := os.MkdirAll(d.home, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if d.Hosts, err = OpenHosts(t.Context(), HostsConfig{Version: "v1.2.3", Bridge: bridge, System: system}); err != nil {
		t.Fatal(err)
	}
	return d
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func host(t *testing.T, id string) hostconf.Host {
	t.Helper()
	h, err := hostconf.ByID(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// giveClaude puts a program "claude" on the desk that writes down how it is
// called, a line for each argument.
func (d *desk) giveClaude(t *testing.T) (calls func() [][]string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	program := filepath.Join(t.TempDir(), "claude")
	write(t, program, "#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done >>'"+log+"'\necho ---- >>'"+log+"'\n"+
		"case \"$(grep -c '^add-json$' '"+log+"')$2\" in 1add-json) echo 'MCP server arenero already exists in user config' >&2; exit 1;; esac\n", 0o755)
	d.path["claude"] = program
	return func() [][]string {
		text, err := os.ReadFile(log)
		if err != nil {
			return nil
		}
		var out [][]string
		for call := range strings.SplitSeq(strings.TrimSuffix(string(text), "----\n"), "----\n") {
			out = append(out, strings.Split(strings.TrimSuffix(call, "\n"), "\n"))
		}
		return out
	}
}

// swell makes Claude Code's file larger than we take, on a disk that need not
// hold it.
func (d *desk) swell(t *testing.T) string {
	t.Helper()
	file := filepath.Join(d.home, ".claude.json")
	write(t, file, "{}", 0o600)
	if err := os.Truncate(file, 600<<20); err != nil {
		t.Fatal(err)
	}
	return file
}

// Where we can't edit Claude Code's file its own command line does it, without
// a variable or a secret, and with the program of this very installation.
func TestR73_R74_ClaudeCodeByItsCommandLine(t *testing.T) {
	for _, folder := range []string{"opt/arenero", "src/arenero/bin"} { // R74: a checkout is an installation like another
		d := newDesk(t, "linux", folder)
		calls := d.giveClaude(t)
		file := d.swell(t)
		got, err := d.Install(t.Context(), host(t, claudeCode), HostEntry{Force: true}, false)
		if err != nil {
			t.Fatal(err)
		}
		id := got.Connection.ID
		entry := `{"type":"stdio","command":"` + d.cfg.Bridge + `","args":["--connection","` + id + `"]}`
		add := []string{"mcp", "add-json", "arenero", entry, "--scope", "user"}
		remove := []string{"mcp", "remove", "arenero", "--scope", "user"}
		want := [][]string{add, remove, add} // it was there, and is replaced
		if all := calls(); !slices.EqualFunc(all, want, slices.Equal) {
			t.Errorf("calls = %q\nwant %q", all, want)
		}
		if !slices.Equal(got.Argv, append([]string{"claude"}, add...)) {
			t.Errorf("told of %q", got.Argv)
		}
		if !strings.Contains(d.cfg.Bridge, folder) {
			t.Errorf("bridge %s is not in %s", d.cfg.Bridge, folder)
		}
		if info, err := os.Stat(file); err != nil || info.Size() != 600<<20 {
			t.Errorf("the file: %v, %v", info, err)
		}

		// The same once more has the same id, and a dry run calls nothing.
		again, err := d.Install(t.Context(), host(t, claudeCode), HostEntry{Force: true}, true)
		if err != nil || again.Connection.ID != id || len(calls()) != 3 {
			t.Errorf("again: %+v, %v, %d calls", again.Connection, err, len(calls()))
		}
		if _, err := d.Remove(t.Context(), host(t, claudeCode), HostEntry{}, false); err != nil {
			t.Fatal(err)
		}
		if all := calls(); len(all) != 4 || !slices.Equal(all[3], remove) {
			t.Errorf("after a removal: %q", all)
		}
		if status, err := d.Status(t.Context(), host(t, claudeCode), ""); len(status.Connections) > 0 {
			t.Errorf("connections left: %+v, %v", status.Connections, err)
		}
	}
}

// Without the program the file is what it was, and the user is told.
func TestTooLargeWithoutTheProgram(t *testing.T) {
	d := newDesk(t, "linux", "bin")
	d.swell(t)
	_, err := d.Install(t.Context(), host(t, claudeCode), HostEntry{Force: true}, false)
	if err == nil || !strings.Contains(err.Error(), ".claude.json is larger than") {
		t.Errorf("Install() = %v", err)
	}
	if status, err := d.Status(t.Context(), host(t, claudeCode), ""); len(status.Connections) > 0 {
		t.Errorf("a connection was kept: %+v, %v", status.Connections, err)
	}
}

func TestR84_A14_A15_HTTPHasNoSecret(t *testing.T) {
	const url = "http://127.0.0.1:8000/mcp"
	d := newDesk(t, "linux", "bin")
	want := map[string]string{
		claudeCode: `{"mcpServers":{"arenero":{"type":"http","url":"` + url + `"}}}`,
		"cursor":   `{"mcpServers":{"arenero":{"url":"` + url + `"}}}`,
	}
	for id, entry := range want {
		got, err := d.Install(t.Context(), host(t, id), HostEntry{Force: true, HTTP: url}, false)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(got.Path)
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil || compact.String() != entry {
			t.Errorf("%s: %s, %v, want %s", id, compact.String(), err, entry)
		}
	}
	snippet, err := d.Snippet(t.Context(), host(t, claudeCode), HostEntry{HTTP: url})
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"claude", "mcp", "add", "--scope", "user", "--transport", "http", "arenero", url}
	if len(snippet.Links) != 1 || !slices.Equal(snippet.Links[0].Argv, argv) {
		t.Errorf("links = %+v, want %q", snippet.Links, argv)
	}

	big := newDesk(t, "linux", "bin")
	calls := big.giveClaude(t)
	big.swell(t)
	if _, err := big.Install(t.Context(), host(t, claudeCode), HostEntry{Force: true, HTTP: url}, false); err != nil {
		t.Fatal(err)
	}
	add := []string{"mcp", "add-json", "arenero", `{"type":"http","url":"` + url + `"}`, "--scope", "user"}
	if all := calls(); len(all) == 0 || !slices.Equal(all[0], add) {
		t.Errorf("calls = %q, want %q first", all, add)
	}
}

// Of all hosts, Claude Desktop alone must be quit, and says so.
func TestR77_QuitClaudeDesktopFully(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		d := newDesk(t, goos, "bin")
		quit := map[string]bool{}
		for _, h := range d.All() {
			got, err := d.Install(t.Context(), h, HostEntry{Force: true, Project: d.cfg.System.Home}, true)
			if e, ok := err.(*hostconf.Error); ok && e.Code == hostconf.NotSupported {
				continue
			}
			if err != nil {
				t.Errorf("%s on %s: %v", h.ID, goos, err)
			}
			for _, step := range got.Steps {
				for language, word := range map[string]string{assets.English: "quit", assets.Spanish: "cierra"} {
					if strings.Contains(strings.ToLower(step.In(assets.Load(language, hostconf.Texts))), word) {
						quit[h.ID] = true
					}
				}
			}
		}
		if len(quit) != 1 || !quit["claude-desktop"] {
			t.Errorf("on %s, to be quit are %v, want claude-desktop alone", goos, quit)
		}
	}
}

func TestR91_Inspector(t *testing.T) {
	d := newDesk(t, "linux", "bin")
	at := "ARENERO_HOME=" + os.Getenv(paths.Home)
	tests := []struct {
		want HostEntry
		argv []string
	}{
		{HostEntry{}, []string{"-e", at, d.cfg.Bridge}},
		{HostEntry{Profile: "local", Toolsets: []string{"core", "jobs"}}, []string{"-e", at, "-e", "ARENERO_PROFILE=local", "-e", "ARENERO_TOOLSETS=core,jobs", d.cfg.Bridge}},
		{HostEntry{HTTP: "http://127.0.0.1:8000/mcp"}, []string{"--transport", "http", "--server-url", "http://127.0.0.1:8000/mcp"}},
	}
	for _, tt := range tests {
		got, err := d.Inspector(tt.want)
		if want := append([]string{"npx", "@modelcontextprotocol/inspector"}, tt.argv...); err != nil || !slices.Equal(got, want) {
			t.Errorf("Inspector(%+v) = %q, %v\nwant %q", tt.want, got, err, want)
		}
	}
}

// TestBundleLeavesOtherFilesAlone names a file for the bundle that is something
// else already.
func TestBundleLeavesOtherFilesAlone(t *testing.T) {
	d := newDesk(t, "linux", "bin")
	file := filepath.Join(t.TempDir(), "claude_desktop_config.json")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := d.Bundle(t.Context(), file, HostEntry{})
	if e, ok := errors.AsType[*hostconf.Error](err); !ok || e.Code != hostconf.BadSpec {
		t.Errorf("error is %v", err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "{}" {
		t.Errorf("the file is %q (%v)", got, err)
	}
}

// TestBundle has the program that knows the format look at ours.
func TestBundle(t *testing.T) {
	const mcpb = "internal/e2e/installers/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js"
	if _, err := os.Stat(mcpb); err != nil {
		t.Fatal("mcpb is missing; run `make setup`")
	}
	for _, goos := range []string{"linux", "darwin"} {
		d := newDesk(t, goos, "bin")
		file := filepath.Join(t.TempDir(), "a b", "arenero.mcpb")
		write(t, filepath.Join(filepath.Dir(file), "keep"), "", 0o600)
		conn, err := d.Bundle(t.Context(), file, HostEntry{Toolsets: []string{"core"}})
		if err != nil {
			t.Fatal(err)
		}
		first, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "unpacked")
		for _, args := range [][]string{{"unpack", file, dir}, {"validate", dir}, {"pack", dir, filepath.Join(t.TempDir(), "again.mcpb")}} {
			if out, err := exec.Command("node", append([]string{mcpb}, args...)...).CombinedOutput(); err != nil {
				t.Errorf("mcpb %v: %v\n%s", args, err, out)
			}
		}
		text := unzip(t, first, "manifest.json")
		for _, want := range []string{`"command": "` + d.cfg.Bridge + `"`, `"` + conn.ID + `"`, `"` + platforms[goos] + `"`, `"version": "1.2.3"`, `"type": "binary"`} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in %s", want, text)
			}
		}
		if !strings.HasSuffix(conn.ID, "_core") {
			t.Errorf("id = %s", conn.ID)
		}
		if again, err := d.Bundle(t.Context(), file, HostEntry{Toolsets: []string{"core"}}); err != nil || again.ID != conn.ID {
			t.Errorf("again: %+v, %v", again, err)
		}
		if second, err := os.ReadFile(file); err != nil || !bytes.Equal(first, second) {
			t.Errorf("the same bundle has other bytes, %v", err)
		}
	}
}

func unzip(t *testing.T, data []byte, name string) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEnvironmentOfEachHost(t *testing.T) {
	env := []string{"HOME=h", "PATH=p", "LANG=l", "AWS_REGION=r", "GITHUB_TOKEN=t", "SHELL=s"}
	tests := map[string]string{
		"cursor":          "HOME=h PATH=p SHELL=s",
		"zed":             "HOME=h PATH=p SHELL=s",
		"vscode":          strings.Join(env, " "),
		"vscode-insiders": strings.Join(env, " "),
		"vscodium":        strings.Join(env, " "),
		"codex":           "HOME=h PATH=p LANG=l SHELL=s",
		"gemini-cli":      "HOME=h PATH=p LANG=l AWS_REGION=r SHELL=s",
		"qwen-code":       "HOME=h PATH=p LANG=l AWS_REGION=r SHELL=s",
		"copilot-cli":     "PATH=p",
	}
	d := newDesk(t, "linux", "bin")
	for id, want := range tests {
		if got := strings.Join(d.environment(host(t, id).ID, env), " "); got != want {
			t.Errorf("%s gives %s, want %s", id, got, want)
		}
	}
	entry := map[string]any{"env": map[string]any{"PATH": "mine", "X": "1"}}
	if got := environOf([]string{"PATH=p"}, entry); !slices.Contains(got, "PATH=mine") || slices.Contains(got, "PATH=p") || !slices.Contains(got, "X=1") {
		t.Errorf("with the entry's own: %v", got)
	}
}
