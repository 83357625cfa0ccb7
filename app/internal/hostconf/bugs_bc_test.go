package hostconf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

const (
	mark       = "\xef\xbb\xbf"
	claudeApp  = "~/.config/Claude/claude_desktop_config.json"
	someServer = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\"\n    }\n  }\n}\n"
)

// markStays is what happens to a mark that the host can't read: it is told, and
// goes only when asked for.
func markStays(t *testing.T, id, path string) {
	c := play(t, "linux")
	c.write(path, mark+someServer)
	_, err := c.tryInstall(id)
	e := wantCode(t, err, hostconf.HasMark)
	if e.Path != c.where(path) || !strings.Contains(e.Error(), "byte order mark") {
		t.Errorf("the error is %v at %s", e, e.Path)
	}
	wantSame(t, "the file", c.read(path), mark+someServer)
	if st := c.status(id); len(st.Files) == 0 || !st.Files[0].Mark {
		t.Errorf("the files are %+v", st.Files)
	}
	h := host(t, id)
	if ch, err := c.conf.RemoveBOM(t.Context(), h, hostconf.Spec{}, true); err != nil || ch.Action != hostconf.Clean {
		t.Errorf("a dry run says %s (%v)", ch.Action, err)
	}
	wantSame(t, "the file after a dry run", c.read(path), mark+someServer)
	ch, err := c.conf.RemoveBOM(t.Context(), h, hostconf.Spec{}, false)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the file", c.read(path), someServer)
	kept, err := os.ReadFile(ch.Backup)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the backup", string(kept), mark+someServer)
	c.install(id)
	c.remove(id)
	wantSame(t, "the file", c.read(path), someServer)
	if ch, err := c.conf.RemoveBOM(t.Context(), h, hostconf.Spec{}, false); err != nil || ch.Action != hostconf.None {
		t.Errorf("where there is no mark it says %s (%v)", ch.Action, err)
	}
}

func TestB1_AByteOrderMarkForClaudeDesktop(t *testing.T) {
	markStays(t, "claude-desktop", claudeApp)
	c := play(t, "linux")
	if strings.HasPrefix(c.read(c.install("claude-desktop").Path), mark) {
		t.Error("a new file begins with a mark")
	}
	// Hosts that take one keep theirs.
	c.roundTripMark("cursor", cursorJSON)
}

func (c *computer) roundTripMark(id, path string) {
	c.t.Helper()
	c.write(path, mark+someServer)
	c.install(id)
	if got := c.read(path); !strings.HasPrefix(got, mark+"{\n") || strings.Count(got, mark) != 1 {
		c.t.Errorf("the file is %q", got)
	}
	c.remove(id)
	wantSame(c.t, "the file", c.read(path), mark+someServer)
}

func TestB3_AByteOrderMarkForWindsurf(t *testing.T) {
	markStays(t, "windsurf", "~/.codeium/windsurf/mcp_config.json")
	markStays(t, "antigravity", "~/.gemini/config/mcp_config.json")
}

func TestB4_EveryOddFileHasItsOutcome(t *testing.T) {
	var wide strings.Builder
	wide.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(someServer)) {
		wide.WriteByte(byte(u))
		wide.WriteByte(byte(u >> 8))
	}
	tests := []struct {
		name, doc string
		want      hostconf.Code // "" for success
	}{
		{"a comment where none may be", "// c\n" + someServer, hostconf.Malformed},
		{"cut off", someServer[:40], hostconf.Malformed},
		{"no JSON at all", "hello\n", hostconf.Malformed},
		{"two documents", someServer + someServer, hostconf.Malformed},
		{"a list", "[]", hostconf.Refused},
		{"servers are a list", `{"mcpServers":[]}`, hostconf.Refused},
		{"servers are text", `{"mcpServers":"none"}`, hostconf.Refused},
		{"the key twice", `{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}`, hostconf.Refused},
		{"our name twice", `{"mcpServers":{"arenero":{"command":"/x/arenero-bridge"},"arenero":{}}}`, hostconf.Refused},
		{"UTF-16", wide.String(), hostconf.Refused},
		{"no servers", `{"a":1}`, ""},
		{"servers are null", `{"mcpServers":null}`, ""},
		{"a long number", `{"n":12345678901234567890.10,"mcpServers":{}}`, ""},
		{"bad bytes elsewhere", "{\"x\":\"\xff\xfe\",\"mcpServers\":{}}", ""},
		{"texts that look like entries", `{"x":"\"mcpServers\":{\"arenero\":{}}","mcpServers":{}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := play(t, "linux")
			c.write(claudeJSON, tt.doc)
			_, err := c.tryInstall("claude-code")
			if tt.want != "" {
				wantCode(t, err, tt.want)
				wantSame(t, "the file", c.read(claudeJSON), tt.doc)
				if n := len(c.files()); n != 1 {
					t.Errorf("there are %d files: %v", n, c.files())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.remove("claude-code")
			wantSame(t, "the file", c.read(claudeJSON), tt.doc)
		})
	}
}

func TestB6_LineEndsAndIndentationAreLearnt(t *testing.T) {
	for name, doc := range map[string]string{
		"CRLF":        strings.ReplaceAll(someServer, "\n", "\r\n"),
		"four spaces": strings.ReplaceAll(someServer, "  ", "    "),
		"tabs":        strings.ReplaceAll(someServer, "  ", "\t"),
		"no newline":  strings.TrimSuffix(someServer, "\n"),
		"one line":    `{"mcpServers":{"a":{"command":"a"}}}`,
		"spaced line": `{ "mcpServers": { "a": { "command": "a" } } }`,
	} {
		t.Run(name, func(t *testing.T) {
			c := play(t, "linux")
			after := c.roundTrip("claude-code", claudeJSON, doc)
			if strings.Contains(doc, "\r") != strings.Contains(after, "\r") || strings.Count(after, "\r") > 0 && strings.Count(after, "\r\n") != strings.Count(after, "\n") {
				t.Errorf("line ends are mixed in %q", after)
			}
			indent := doc[:strings.Index(doc, `"mcpServers"`)]
			if want := strings.TrimPrefix(indent, "{"); strings.Contains(doc, "\n  ") || strings.Contains(doc, "\n\t") {
				step := strings.TrimLeft(want, "\r\n")
				if !strings.Contains(after, "\n"+step+step+"\"arenero\": {") || !strings.Contains(after, "\n"+step+step+step+"\"command\": ") {
					t.Errorf("the indent is not %q in %q", step, after)
				}
			} else if strings.Contains(after, "\n") {
				t.Errorf("one line became %q", after)
			}
		})
	}
}

func TestC1_ALinkStaysALink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("not every user of Windows may make links")
	}
	c := play(t, "linux")
	c.write("~/dotfiles/claude.json", someServer)
	if err := os.Symlink("dotfiles/claude.json", c.real(claudeJSON)); err != nil {
		t.Fatal(err)
	}
	isLink := func(p string) bool {
		info, err := os.Lstat(c.real(p))
		return err == nil && info.Mode()&fs.ModeSymlink != 0
	}
	c.install("claude-code")
	if !isLink(claudeJSON) || !strings.Contains(c.read("~/dotfiles/claude.json"), "arenero") {
		t.Errorf("link: %v, target: %s", isLink(claudeJSON), c.read("~/dotfiles/claude.json"))
	}
	wantOurs(t, c, host(t, "claude-code"), c.spec(), hostconf.AsWritten)
	c.remove("claude-code")
	wantSame(t, "the target", c.read("~/dotfiles/claude.json"), someServer)
	if !isLink(claudeJSON) || len(c.files()) != 2 {
		t.Errorf("files: %v", c.files())
	}

	// Its target is not there yet, but could be.
	if err := os.Remove(c.real("~/dotfiles/claude.json")); err != nil {
		t.Fatal(err)
	}
	c.install("claude-code")
	if !isLink(claudeJSON) || !c.exists("~/dotfiles/claude.json") {
		t.Errorf("files: %v", c.files())
	}
	c.remove("claude-code")

	// Nor could be.
	if err := os.RemoveAll(c.real("~/dotfiles")); err != nil {
		t.Fatal(err)
	}
	_, err := c.tryInstall("claude-code")
	wantCode(t, err, hostconf.Unwritable)
	if !isLink(claudeJSON) || c.exists("~/dotfiles") {
		t.Errorf("files: %v", c.files())
	}
}

func TestC3_ModesAreKeptAndNewFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other rights")
	}
	c := play(t, "linux")
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o644, 0o660} {
		c.write(cursorJSON, someServer)
		if err := os.Chmod(c.real(cursorJSON), mode); err != nil {
			t.Fatal(err)
		}
		c.install("cursor")
		c.remove("cursor")
		c.install("cursor")
		if info, err := os.Stat(c.real(cursorJSON)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("the mode is %v (%v), want %v", info.Mode().Perm(), err, mode)
		}
		c.remove("cursor")
	}
	path := c.install("windsurf").Path
	for p, want := range map[string]fs.FileMode{path: 0o600, "~/.codeium/windsurf": 0o700, "~/.codeium": 0o700} {
		if info, err := os.Stat(c.real(p)); err != nil || info.Mode().Perm() != want {
			t.Errorf("the mode of %s is %v (%v), want %v", p, info.Mode().Perm(), err, want)
		}
	}
}

// backups lists the files that hold what the host's file once was.
func (c *computer) backups() []string {
	c.t.Helper()
	var out []string
	entries, err := os.ReadDir(filepath.Join(c.records, "backups"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, filepath.Join(c.records, "backups", e.Name()))
	}
	return out
}

func TestC5_BackupsAreOursAndPrivate(t *testing.T) {
	c := play(t, "linux")
	c.write(cursorJSON, someServer)
	c.install("cursor")
	if got := c.files(); len(got) != 1 {
		t.Errorf("beside the file: %v", got)
	}
	if len(c.backups()) != 1 {
		t.Fatalf("backups: %v", c.backups())
	}
	err := filepath.WalkDir(c.records, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", p, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestC6_BackupsDoNotPileUp(t *testing.T) {
	c := play(t, "linux")
	c.write(cursorJSON, someServer)
	for i := range 14 {
		c.install("cursor", func(s *hostconf.Spec) { s.Command = fmt.Sprintf("/opt/%d/arenero-bridge", i) })
	}
	n := len(c.backups())
	if n == 0 || n > 10 {
		t.Errorf("there are %d backups, want 1 to 10", n)
	}
	for range 3 {
		c.install("cursor", func(s *hostconf.Spec) { s.Command = "/opt/13/arenero-bridge" })
	}
	if got := len(c.backups()); got != n {
		t.Errorf("there are %d backups after nothing changed, and were %d", got, n)
	}
	c.remove("cursor")
	wantSame(t, "the file", c.read(cursorJSON), someServer)
}

// TestUnreadableFilesAreTold covers files that no edit can reach.
func TestUnreadableFilesAreTold(t *testing.T) {
	c := play(t, "linux")
	c.install("cursor")
	if err := os.Remove(c.real(cursorJSON)); err != nil {
		t.Fatal(err)
	}
	c.mkdir(cursorJSON)
	_, err := c.tryInstall("cursor")
	wantCode(t, err, hostconf.Unwritable)
	if e := wantOurs(t, c, host(t, "cursor"), c.spec(), hostconf.Unread); e.Problem.Key == "" {
		t.Errorf("the entry is %+v", e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.conf.Install(ctx, host(t, "windsurf"), c.spec(), false); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if g := host(t, "cursor").Grammar; g != edit.JSONC {
		t.Errorf("the grammar is %s", g)
	}
}
