package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// copied is a copy of our program in a folder of its own, with a program beside
// it that writes down how it is started where the windows would be.
func (r *engineRig) copied(t *testing.T) (program, opened string) {
	t.Helper()
	dir := filepath.Join(r.home, "bin")
	program, opened = filepath.Join(dir, "arenero"), filepath.Join(r.home, "opened")
	code, err := os.ReadFile(filepath.Join(programs, "arenero"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, program, string(code), 0o755)
	put(t, filepath.Join(dir, "arenero-window"), writesArgs("opened"), 0o755)
	return program, opened
}

// writesArgs is a script that writes down its arguments, one a line.
func writesArgs(file string) string {
	return "#!/bin/sh\nfor a in \"$@\"; do echo \"$a\"; done >\"$HOME/" + file + ".new\" && mv \"$HOME/" + file + ".new\" \"$HOME/" + file + "\"\n"
}

// startedWith waits for a script to have been started with arguments, and forgets
// it.
func startedWith(t *testing.T, file string, args ...string) {
	t.Helper()
	eventually(t, filepath.Base(file)+" is written", func() bool { _, err := os.Stat(file); return err == nil })
	text, _ := os.ReadFile(file)
	if got, want := strings.Join(strings.Fields(string(text)), " "), strings.Join(args, " "); got != want {
		t.Errorf("started with %q, want %q", got, want)
	}
	os.Remove(file)
}

// TestTrayOpensTheWindow opens it from the menu, and from a notice where that is
// about.
func TestTrayOpensTheWindow(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	if err := r.launch(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	program, opened := r.copied(t)
	h := newTrayHost(t, bus)
	r.trayOf(t, program, bus)
	h.wait(t)
	h.click(t, "Open Arenero")
	startedWith(t, opened)
	b := r.create(t, "web")
	h.has(t, "web · running")
	kill9(r.cloudPID()) // which takes its sandboxes with it
	h.clickNotice(t, "web has ended")
	startedWith(t, opened, "--page", "sandboxes", "--place", b.ID)
	second := r.command("tray")
	second.Path = program
	if text, err := second.CombinedOutput(); err != nil || len(text) > 0 {
		t.Errorf("a second tray: %v, %q", err, text)
	}
	startedWith(t, opened)
}

// TestTraySignsIn has the menu lead to where a profile wants a person, and say so
// once.
func TestTraySignsIn(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	program, opened := r.copied(t)
	if text, code := r.output("profiles", "add", "corp", "--kind", "sso", "--region", "us-east-1", "--sso-start-url", "https://corp.example/start",
		"--sso-region", "us-east-1", "--sso-account-id", "123456789012", "--sso-role-name", "Dev", "--template", "x"); code != 0 {
		t.Fatalf("add a profile: exit %d, %s", code, text)
	}
	put(t, filepath.Join(r.home, "terminal", "x-terminal-emulator"), writesArgs("said"), 0o755)
	h := newTrayHost(t, bus)
	r.trayOf(t, program, bus, "PATH="+filepath.Join(r.home, "terminal")+":"+os.Getenv("PATH"))
	h.wait(t)
	eventually(t, "its engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	if _, err := r.client.List(t.Context(), sandbox.ListRequest{Profile: sandbox.Profile{Name: "corp"}}); sandbox.CodeOf(err) != sandbox.SignIn {
		t.Fatalf("list: %v", err)
	}
	h.shows(t, ui.IconAttention)
	h.click(t, "Sign in to corp")
	startedWith(t, filepath.Join(r.home, "said"), "-e", program, "profiles", "login", "corp")
	h.clickNotice(t, "corp: sign in")
	startedWith(t, opened, "--page", "profiles", "--place", "corp")
}

// TestTrayConnectsAHost gives an app its entry with one click, and sees the first
// call of what that says to be started.
func TestTrayConnectsAHost(t *testing.T) {
	buildBridge(t)
	r, bus := newEngineRig(t), newBus(t)
	file := filepath.Join(r.home, ".cursor", "mcp.json")
	put(t, file, `{"mcpServers": {"other": {"command": "other"}}}`, 0o600)
	put(t, filepath.Join(r.home, ".config", "Cursor", "User", "globalStorage", "state.vscdb"), "", 0o600) // it was here
	h := newTrayHost(t, bus)
	r.tray(t, bus)
	h.wait(t)
	h.click(t, "AI apps", "Connect Cursor")
	h.has(t, "AI apps", "Cursor: connected")
	eventually(t, "it is told", func() bool { return strings.Contains(strings.Join(h.told(), "\n"), "Cursor: connected") })
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"other": {"command": "other"}`) {
		t.Errorf("the file is %s, %v", text, err)
	}
	c := r.connect(t, entryOf(t, file))
	if got := runCommand(t, c, "echo $((6*7))"); !strings.Contains(got, `"42\n"`) {
		t.Errorf("run_command answers %s", got)
	}
	h.has(t, "cursor · running")
	c.Close()
	h.has(t, "No sandboxes")
}
