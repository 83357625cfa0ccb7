package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
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
	h.has(t, "Cursor · running")
	c.Close()
	h.has(t, "No sandboxes")
}

// TestTrayPauses refuses new sandboxes from the menu, and takes them again.
func TestTrayPauses(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	r.tray(t, bus)
	h.wait(t)
	b := r.create(t, "before")
	marked := func(want bool) {
		t.Helper()
		eventually(t, "the mark is as it should be", func() bool {
			item, ok := find(h.read(t), "Pause new sandboxes")
			return ok && item.toggle && item.on == want
		})
	}
	marked(false)
	h.click(t, "Pause new sandboxes")
	h.has(t, "1 running · $0.00 today · new ones paused")
	marked(true)
	if _, err := r.client.Create(t.Context(), sandbox.Spec{Name: "late"}); err == nil || !strings.Contains(err.Error(), "paused") {
		t.Errorf("create: %v", err)
	}
	if s := r.stateOf(t, b.ID); s != sandbox.Running {
		t.Errorf("the one before is %s", s)
	}
	if err := r.client.Pause(t.Context(), false); err != nil { // as a window does
		t.Fatal(err)
	}
	marked(false)
	h.click(t, "Pause new sandboxes")
	marked(true)
	h.click(t, "Pause new sandboxes")
	marked(false)
	after := r.create(t, "after")
	for _, id := range []string{b.ID, after.ID} {
		if err := r.client.Terminate(t.Context(), id, ""); err != nil {
			t.Error(err)
		}
	}
}

// TestTrayGoesByPreferences speaks another language as soon as it is chosen, with
// no more signals than that takes, and is silent if that is wanted.
func TestTrayGoesByPreferences(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	r.tray(t, bus)
	h.wait(t)
	h.has(t, "AI apps")
	h.has(t, "No sandboxes · $0.00 today")
	h.sent()
	if _, err := r.client.EditPreferences(t.Context(), control.PreferencesEdit{Language: new("es")}); err != nil {
		t.Fatal(err)
	}
	h.has(t, "Ningún sandbox · 0,00 US$ hoy")
	h.has(t, "Apps de IA")
	if sent := h.sent(); len(sent) > 3 || slices.Contains(sent, "LayoutUpdated") {
		t.Errorf("another language is told by %v", sent)
	}
	b := r.create(t, "uno")
	h.has(t, "uno · en marcha")
	kill9(r.cloudPID())
	eventually(t, "it is told", func() bool { return strings.Contains(strings.Join(h.told(), "\n"), "uno ha terminado") })
	if _, err := r.client.EditPreferences(t.Context(), control.PreferencesEdit{Language: new(""), Notices: &control.Notices{Off: true}}); err != nil {
		t.Fatal(err)
	}
	h.has(t, "No sandboxes")
	before := len(h.told())
	b = r.create(t, "two")
	kill9(r.cloudPID())
	h.click(t, "Open Arenero") // which fails, after all that was told before
	h.shows(t, ui.IconAttention)
	eventually(t, "it has ended", func() bool { return r.stateOf(t, b.ID) == sandbox.Terminated })
	h.has(t, "No sandboxes")
	if told := h.told()[before:]; len(told) > 0 {
		t.Errorf("without notices it told %q", told)
	}
}

// TestTrayExtends puts off an end that was brought forward, as far as can be.
func TestTrayExtends(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	r.tray(t, bus)
	h.wait(t)
	b := r.create(t, "web")
	h.has(t, "web · running", "Ends in 1 h")
	if _, ok := find(h.read(t), "web", "Extend"); ok {
		t.Error("it can be extended beyond its life")
	}
	if _, err := r.client.ScheduleRemoval(t.Context(), b.ID, b.EndsAt.Add(-40*time.Minute)); err != nil {
		t.Fatal(err)
	}
	h.has(t, "web · running", "Ends in 20 min")
	h.click(t, "web", "Extend by 40 min")
	h.has(t, "web · running", "Ends in 1 h")
	eventually(t, "it can't be extended any more", func() bool {
		_, ok := find(h.read(t), "web", "Extend")
		return !ok
	})
	if err := r.client.Terminate(t.Context(), b.ID, ""); err != nil {
		t.Error(err)
	}
}
