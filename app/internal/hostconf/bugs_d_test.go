package hostconf_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

func TestD1_AHostThatWritesAtTheSameTime(t *testing.T) {
	hosts := func(n int) string {
		return strings.Replace(someServer, "{\n", "{\n  \"numStartups\": "+strconv.Itoa(n)+",\n", 1)
	}

	t.Run("between our reading and our writing", func(t *testing.T) {
		c := play(t, "linux")
		c.write(claudeJSON, hosts(1))
		writes := 0
		c.fail = func(step string) {
			if step == hostfile.StepPending && writes < 2 {
				writes++
				c.write(claudeJSON, hosts(1+writes))
			}
		}
		c.install("claude-code")
		c.fail = nil
		got := c.read(claudeJSON)
		if strings.Count(got, `"arenero"`) != 1 || !strings.Contains(got, `"numStartups": 3,`) {
			t.Errorf("the file is %s", got)
		}
		c.remove("claude-code")
		wantSame(t, "the file", c.read(claudeJSON), hosts(3))
	})

	t.Run("all the time", func(t *testing.T) {
		c := play(t, "linux")
		c.write(claudeJSON, hosts(1))
		writes := 0
		c.fail = func(step string) {
			if step == hostfile.StepPending {
				writes++
				c.write(claudeJSON, hosts(1+writes))
			}
		}
		_, err := c.tryInstall("claude-code")
		e := wantCode(t, err, hostconf.Busy)
		if writes != 3 || !strings.Contains(e.Error(), "close it") {
			t.Errorf("after %d tries it says %q", writes, e)
		}
		wantSame(t, "the file", c.read(claudeJSON), hosts(1+writes))
		if len(c.files()) != 1 {
			t.Errorf("files: %v", c.files())
		}
	})

	t.Run("all the time, while an entry of ours is there", func(t *testing.T) {
		c := play(t, "linux")
		c.write(claudeJSON, hosts(1))
		c.install("claude-code")
		ours := c.read(claudeJSON)
		c.fail = func(step string) {
			if step == hostfile.StepPending {
				c.write(claudeJSON, c.read(claudeJSON)+" ")
			}
		}
		_, err := c.tryInstall("claude-code", func(s *hostconf.Spec) { s.Command = "/new/arenero-bridge" })
		wantCode(t, err, hostconf.Busy)
		wantSame(t, "the file", strings.TrimRight(c.read(claudeJSON), " "), strings.TrimRight(ours, " "))
		wantOurs(t, c, host(t, "claude-code"), c.spec(), hostconf.AsWritten)
	})

	t.Run("in pieces", func(t *testing.T) {
		c := play(t, "linux")
		c.write(claudeJSON, hosts(1)[:30])
		_, err := c.tryInstall("claude-code")
		wantCode(t, err, hostconf.Malformed)
		wantSame(t, "the file", c.read(claudeJSON), hosts(1)[:30])
		c.write(claudeJSON, hosts(1))
		c.install("claude-code")
	})

	t.Run("over ours", func(t *testing.T) {
		c := play(t, "linux")
		c.write(claudeJSON, hosts(1))
		c.install("claude-code")
		c.write(claudeJSON, hosts(2)) // a session that had read it before
		e := wantOurs(t, c, host(t, "claude-code"), c.spec(), hostconf.Gone)
		if len(e.Lost) > 0 {
			t.Errorf("lost: %v", e.Lost)
		}
		wantSame(t, "the file after looking", c.read(claudeJSON), hosts(2))
		_, err := c.conf.Undo(t.Context(), host(t, "claude-code"), hostconf.Spec{}, false)
		if err != nil {
			t.Errorf("undo where somebody else did it: %v", err)
		}
		wantSame(t, "the file after undo: never an old copy", c.read(claudeJSON), hosts(2))
	})
}

func TestD3_ClaudeDesktopDropsItsServers(t *testing.T) {
	c := play(t, "darwin")
	const path = "~/Library/Application Support/Claude/claude_desktop_config.json"
	c.write(path, someServer)
	c.running = []string{"/sbin/launchd", "/Applications/Claude.app/Contents/MacOS/Claude"}
	_, err := c.tryInstall("claude-desktop")
	if e := wantCode(t, err, hostconf.Running); !strings.Contains(e.Error(), "quit it") {
		t.Errorf("it says %q", e)
	}
	wantSame(t, "the file while the app runs", c.read(path), someServer)
	if st := c.status("claude-desktop"); st.Running != c.running[1] || st.Detected.Signal != hostconf.ByProcess {
		t.Errorf("status: %+v", st)
	}
	c.running = nil
	c.install("claude-desktop")
	c.running = []string{"/Applications/Claude.app/Contents/MacOS/Claude"}
	wantOurs(t, c, host(t, "claude-desktop"), c.spec(), hostconf.AsWritten)

	c.write(path, "{\n  \"preferences\": {}\n}")
	e := wantOurs(t, c, host(t, "claude-desktop"), c.spec(), hostconf.Gone)
	if !slices.Equal(e.Lost, []string{"a"}) {
		t.Errorf("lost with it: %v", e.Lost)
	}
	kept, err := os.ReadFile(e.Backup)
	if err != nil {
		t.Fatal(err)
	}
	wantSame(t, "the backup, with the servers of others", string(kept), someServer)
	if notes := host(t, "claude-desktop").Notes; len(notes) == 0 || notes[0].Key != "hosts.note.claude-drops" {
		t.Errorf("the bundle is not offered: %v", notes)
	}
	// Removing waits for the end of the app as well.
	_, err = c.conf.Remove(t.Context(), host(t, "claude-desktop"), hostconf.Spec{}, false)
	wantCode(t, err, hostconf.Running)
	_, err = c.conf.Undo(t.Context(), host(t, "claude-desktop"), hostconf.Spec{}, false)
	wantCode(t, err, hostconf.Running)
}

func TestD4_AnAppInTheTrayIsRunning(t *testing.T) {
	tests := []struct {
		goos, program string
		is            bool
	}{
		{"windows", `C:\Users\ana\AppData\Local\AnthropicClaude\app-1.0.3\claude.exe`, true},
		{"windows", `C:\Program Files\WindowsApps\Claude_1.1.3647.0_x64__pzs8sxrjxfjjc\app\claude.exe`, true},
		{"windows", `c:\program files\windowsapps\claude_1.1.3647.0_x64__pzs8sxrjxfjjc\app\Claude.exe`, true},
		{"windows", `C:\Users\ana\.local\bin\claude.exe`, false}, // Claude Code
		{"darwin", "/Applications/Claude.app/Contents/Frameworks/Claude Helper.app/Contents/MacOS/Claude Helper", true},
		{"darwin", "/Users/ana/.local/bin/claude", false},
		{"linux", "/usr/lib/claude-desktop/node_modules/electron/dist/electron", true},
		{"linux", "/home/ana/.local/bin/claude", false},
		{"linux", "/usr/lib/electron/electron", false},
	}
	for _, tt := range tests {
		c := play(t, tt.goos)
		c.running = []string{"/usr/bin/other", tt.program}
		_, err := c.tryInstall("claude-desktop")
		if tt.is {
			if e := wantCode(t, err, hostconf.Running); e.Path != tt.program {
				t.Errorf("the program is %s, want %s", e.Path, tt.program)
			}
		} else if err != nil {
			t.Errorf("%s counts as Claude Desktop: %v", tt.program, err)
		}
	}
}

func TestD5_ThePackagedAppReadsAnotherFile(t *testing.T) {
	c := play(t, "windows")
	const (
		classic  = `C:\Users\ana\AppData\Roaming\Claude\`
		packaged = `C:\Users\ana\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude\`
		file     = "claude_desktop_config.json"
	)
	target := func() string {
		t.Helper()
		got, err := c.conf.Target(host(t, "claude-desktop"), c.spec())
		if err != nil {
			t.Fatal(err)
		}
		return got.Path
	}
	wantSame(t, "with neither, the file", target(), classic+file)
	c.write(classic+file, someServer)
	wantSame(t, "with the classic one, the file", target(), classic+file)
	c.mkdir(packaged)
	wantSame(t, "with both, the file", target(), packaged+file)
	c.write(packaged+file, someServer)

	used := func(folder string, at time.Time) {
		c.write(folder+`Local Storage\leveldb\000003.log`, "x")
		for _, p := range []string{`Local Storage`, `Local Storage\leveldb`, `Local Storage\leveldb\000003.log`} {
			if err := os.Chtimes(c.real(folder+p), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	used(packaged, at)
	used(classic, at.Add(time.Hour))
	wantSame(t, "where the classic app was used last, the file", target(), classic+file)
	if ch := c.install("claude-desktop"); ch.Path != classic+file || !slices.ContainsFunc(ch.Warnings, func(w hostconf.Text) bool {
		return w.Key == "hosts.warn.other-file" && slices.Contains(w.Args, packaged+file)
	}) {
		t.Errorf("the change is of %s, with the warnings %v", ch.Path, ch.Warnings)
	}
	st := c.status("claude-desktop")
	if len(st.Files) != 2 || st.Files[0].Live || !st.Files[1].Live || !st.Files[0].Exists {
		t.Errorf("files: %+v", st.Files)
	}

	used(packaged, at.Add(2*time.Hour)) // after an update of the app
	wantSame(t, "where the packaged app was used last, the file", target(), packaged+file)
	if e := c.status("claude-desktop").Entries[0]; e.Read || e.State != hostconf.AsWritten {
		t.Errorf("the entry in the file that is not read any more: %+v", e)
	}
	c.install("claude-desktop")
	if chs := c.remove("claude-desktop"); len(chs) != 2 {
		t.Errorf("changes: %+v", chs)
	}
	wantSame(t, "the classic file", c.read(classic+file), someServer)
	wantSame(t, "the packaged file", c.read(packaged+file), someServer)
}

func TestD7_AManagedAppIsNotWritten(t *testing.T) {
	for goos, sign := range map[string]string{
		"darwin":  "~/Library/Application Support/Claude-3p/configLibrary/_meta.json",
		"windows": `C:\Users\ana\AppData\Local\Claude-3p\configLibrary\_meta.json`,
	} {
		c := play(t, goos)
		c.write(sign, "{}")
		before := c.files()
		_, err := c.tryInstall("claude-desktop")
		if e := wantCode(t, err, hostconf.Managed); !strings.Contains(e.Error(), "managed by your organisation") || e.Path != c.where(sign) {
			t.Errorf("it says %q of %s", e, e.Path)
		}
		if !slices.Equal(c.files(), before) {
			t.Errorf("files: %v", c.files())
		}
		if st := c.status("claude-desktop"); st.Managed == nil || st.Managed.Path != c.where(sign) {
			t.Errorf("status: %+v", st.Managed)
		}
	}
}

func TestD8_JetBrainsFromTheVersionThatReadsTheFile(t *testing.T) {
	c := play(t, "linux")
	const xml = "~/.config/JetBrains/Rider2025.1/options/llm.mcpServers.xml"
	c.write(xml, "<application/>")
	_, err := c.tryInstall("jetbrains-ai")
	if e := wantCode(t, err, hostconf.NotSupported); !strings.Contains(e.Error(), "2025.3") {
		t.Errorf("it says %q", e)
	}
	if len(c.files()) != 1 {
		t.Errorf("files: %v", c.files())
	}
	if body, lang, err := c.conf.Snippet(host(t, "jetbrains-ai"), c.spec()); err != nil || lang != "json" || !strings.Contains(body, `"mcpServers"`) {
		t.Errorf("the text to copy is %q (%v)", body, err)
	}
	c.mkdir("~/.config/JetBrains/Rider2026.1")
	c.running = []string{"/home/ana/.local/share/JetBrains/Toolbox/apps/rider/jbr/bin/java"}
	_, err = c.tryInstall("jetbrains-ai")
	wantCode(t, err, hostconf.Running)
	c.running = nil
	if ch := c.install("jetbrains-ai"); ch.Path != "/home/ana/.ai/mcp/mcp.json" {
		t.Errorf("the file is %s", ch.Path)
	}
	wantSame(t, "the XML", c.read(xml), "<application/>")
}
