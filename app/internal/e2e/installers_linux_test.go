package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An input is a file as users have them.
type input struct {
	name   string
	client string // of the three programs
	file   string // below the home
	text   string
	mode   os.FileMode
	link   bool // the file is a symbolic link to the real one
	valid  bool // its host can read it
}

const plain = "{\n  \"mcpServers\": {\n    \"other-server\": {\"command\": \"other\"}\n  }\n}\n"

var cursorFile = filepath.Join(".cursor", "mcp.json")

// inputs are files as they are found: all but the last two are of Cursor, whose
// grammar is JSON with comments.
var inputs = []input{
	{"plain", "cursor", cursorFile, plain, 0o644, false, true},
	{"comments between servers", "cursor", cursorFile, "{\n  \"mcpServers\": {\n    // keep me\n    \"other-server\": {\"command\": \"other\"}, // keep me\n    \"b\": {\"command\": \"b\"}\n  }\n}\n", 0o644, false, true},
	{"a comment at the top", "cursor", cursorFile, "// keep me\n" + plain, 0o644, false, true},
	{"odd order and spacing", "cursor", cursorFile, "{ \"z\":1,\n\n   \"mcpServers\" :{\"other-server\":{ \"env\":{}, \"args\" :[ ], \"command\":\"other\" }} ,\"a\" : [1,2 ,3]}", 0o644, false, true},
	{"tabs", "cursor", cursorFile, strings.ReplaceAll(plain, "  ", "\t"), 0o644, false, true},
	{"CRLF", "cursor", cursorFile, strings.ReplaceAll(plain, "\n", "\r\n"), 0o644, false, true},
	{"a number of 20 digits", "cursor", cursorFile, strings.Replace(plain, "\"command\"", "\"id\": 12345678901234567890, \"command\"", 1), 0o644, false, true},
	{"mode 0600", "cursor", cursorFile, plain, 0o600, false, true},
	{"a symbolic link", "cursor", cursorFile, plain, 0o644, true, true},
	{"mcpServers is null", "cursor", cursorFile, "{\n  \"mcpServers\": null,\n  \"keep\": true\n}\n", 0o644, false, true},
	{"a byte order mark", "claude", filepath.Join(".config", "Claude", "claude_desktop_config.json"), "\ufeff" + plain, 0o644, false, false},
	{"cut short", "cursor", cursorFile, strings.TrimSuffix(plain, "\n  }\n}\n"), 0o644, false, false},
	{"the same key twice", "cursor", cursorFile, "{\n  \"mcpServers\": {\"other-server\": {\"command\": \"other\"}},\n  \"mcpServers\": {\"b\": {\"command\": \"b\"}}\n}\n", 0o644, false, false},
	{"Codex: TOML with comments", "codex", filepath.Join(".codex", "config.toml"), "# keep me\nmodel = 'x' # keep me\n\n[mcp_servers.other-server]\ncommand = \"other\"\n", 0o600, false, true},
	{"Goose: YAML with comments", "goose", filepath.Join(".config", "goose", "config.yaml"), "# keep me\nGOOSE_MODEL: 'x'\nextensions:\n  other-server:   # keep me\n    cmd: other\n    enabled: true\n    type: stdio\n", 0o644, false, true},
}

// clients are what the programs call a host, where that is not what it is called
// here.
var clients = map[string]map[string]string{
	"arenero": {"claude": "claude-desktop"},
	"add-mcp": {"claude": "claude-desktop"},
}

const command = "/opt/server --stdio"

// TestInstallersSideBySide has three programs put an entry into the same files,
// and holds that ours changes nothing else. What the others do is in README.md.
func TestInstallersSideBySide(t *testing.T) {
	buildBridge(t)
	need(t, "node")
	bin, err := filepath.Abs("installers/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(bin, "add-mcp")); err != nil {
		t.Fatal("add-mcp is missing; run `make setup`")
	}
	tools := []struct {
		name string
		argv func(client string) []string
	}{
		{"arenero", func(client string) []string {
			return []string{filepath.Join(programs, "arenero"), "hosts", "install", client, "--force", "--yes"}
		}},
		{"add-mcp", func(client string) []string {
			return []string{"node", filepath.Join(bin, "add-mcp"), command, "-g", "-a", client, "-n", "arenero", "-y"}
		}},
		{"install-mcp", func(client string) []string {
			return []string{"node", filepath.Join(bin, "install-mcp"), command, "--client", client, "--name", "arenero", "-y"}
		}},
	}
	table := "| a file with | `arenero hosts` | add-mcp 2.4.0 | install-mcp 1.10.2 |\n|---|---|---|---|\n"
	for _, in := range inputs {
		table += "| " + in.name
		for _, tool := range tools {
			client := in.client
			if other := clients[tool.name][client]; other != "" {
				client = other
			}
			got := in.try(t, tool.argv(client))
			table += " | " + got
			want := "the entry alone"
			if !in.valid {
				want = "refuses, with the reason"
			}
			if tool.name == "arenero" && got != want {
				t.Errorf("%s: ours: %s, want %s", in.name, got, want)
			}
		}
		table += " |\n"
	}
	t.Logf("what each changes:\n%s", table)
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), table) {
		t.Error("README.md has another table")
	}
}

// try runs a program in a home with nothing but the input, without a network,
// and says what became of that.
func (in input) try(t *testing.T, argv []string) string {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, in.file)
	if in.link {
		put(t, filepath.Join(home, "dotfiles", "mcp.json"), in.text, in.mode)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.Symlink(filepath.Join(home, "dotfiles", "mcp.json"), file)); err != nil {
			t.Fatal(err)
		}
	} else {
		put(t, file, in.text, in.mode)
	}
	nowhere := "http://127.0.0.1:9"
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = home
	cmd.Env = []string{
		"HOME=" + home, "ARENERO_HOME=" + filepath.Join(home, "arenero"), "PATH=" + os.Getenv("PATH"), "CI=1", "NO_COLOR=1",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "http_proxy=" + nowhere, "https_proxy=" + nowhere,
	}
	said, failed := cmd.CombinedOutput()
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s: %v\n%s\nsaid:\n%s", in.name, filepath.Base(argv[0]), failed, after, said)
	return in.verdict(string(after), info, failed == nil)
}

// verdict says in a few words what became of the file.
func (in input) verdict(after string, info os.FileInfo, success bool) string {
	if after == in.text {
		if success {
			return "claims success, writes nothing"
		}
		return "refuses, with the reason"
	}
	var harm []string
	count := func(what, of string) {
		if n := strings.Count(in.text, of) - strings.Count(after, of); n > 0 {
			harm = append(harm, what)
		}
	}
	count("**loses the other server**", "other-server")
	count("loses comments", "keep me")
	count("rounds the number", "12345678901234567890")
	count("turns CRLF into LF", "\r\n")
	if in.link && info.Mode()&os.ModeSymlink == 0 {
		harm = append(harm, "replaces the link")
	}
	if !in.link && info.Mode().Perm() != in.mode {
		harm = append(harm, fmt.Sprintf("makes it %04o", info.Mode().Perm()))
	}
	if !in.valid && success {
		harm = append(harm, "edits it all the same, and claims success")
	} else if len(harm) == 0 && !in.inserted([]byte(after)) {
		harm = append(harm, "lays the file out anew")
	}
	if len(harm) == 0 {
		return "the entry alone"
	}
	return strings.Join(harm, "; ")
}

// inserted reports whether all of the file is still there and something stands
// in one place of it. A null is replaced.
func (in input) inserted(after []byte) bool {
	before := []byte(in.text)
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	rest := before[head:]
	if left, ok := bytes.CutPrefix(rest, []byte("null")); ok {
		rest = left
	}
	// The places may be any, as what is inserted may begin like what follows.
	for ; head >= 0; head-- {
		if bytes.HasSuffix(after[head:], rest) && len(after)-head >= len(rest) {
			return true
		}
		if head > 0 {
			rest = before[head-1:]
		}
	}
	return false
}
