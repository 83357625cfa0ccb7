package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// create makes a sandbox with a name.
func (r *engineRig) create(t *testing.T, name string) sandbox.Sandbox {
	t.Helper()
	b, err := r.client.Create(t.Context(), sandbox.Spec{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stateOf is the state of a sandbox, as its cloud has it.
func (r *engineRig) stateOf(t *testing.T, id string) sandbox.State {
	t.Helper()
	b, err := r.client.Get(t.Context(), id)
	if sandbox.CodeOf(err) == sandbox.Gone || sandbox.CodeOf(err) == sandbox.NotFound {
		return sandbox.Terminated
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.State
}

// TestTray clicks its way through the life of a sandbox, in a tray that is its
// own engine.
func TestTray(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	tray := r.tray(t, bus)
	h.wait(t)
	h.shows(t, ui.IconNone)
	h.has(t, "No sandboxes")
	if pid := r.enginePID(t); pid != tray.Process.Pid {
		t.Errorf("the engine is process %d, and the tray %d", pid, tray.Process.Pid)
	}
	if text, code := r.output("tray"); code != 0 || !strings.Contains(text, "Arenero") || strings.Count(text, "\n") != 1 {
		t.Errorf("a second tray: exit %d, %q", code, text)
	}

	b := r.create(t, "web_1")
	h.shows(t, ui.IconRunning)
	h.has(t, "web__1 · running", "Ends in 1 h")
	eventually(t, "the tooltip counts and adds up", func() bool { return h.tip(t) == "Arenero: 1 running · $0.00 today" })
	h.click(t, "web__1", "Suspend")
	eventually(t, "it sleeps", func() bool { return r.stateOf(t, b.ID) == sandbox.Suspended })
	h.shows(t, ui.IconSuspended)
	h.click(t, "web__1", "Resume")
	eventually(t, "it is awake", func() bool { return r.stateOf(t, b.ID) == sandbox.Running })
	h.shows(t, ui.IconRunning)
	h.click(t, "web__1", "Kill")
	eventually(t, "it has ended", func() bool { return r.stateOf(t, b.ID) == sandbox.Terminated })
	h.shows(t, ui.IconNone)
	eventually(t, "it is not in the menu", func() bool {
		_, ok := find(h.read(t), "web__1")
		return !ok
	})
}

// TestTrayAll suspends and ends all, and quits with all asleep.
func TestTrayAll(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	tray := r.tray(t, bus)
	h.wait(t)
	eventually(t, "its engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	a, b := r.create(t, "a"), r.create(t, "b")
	h.has(t, "2 running")
	h.click(t, "Suspend all")
	h.has(t, "2 asleep")
	h.click(t, "Kill all", "Yes, kill 2 sandboxes")
	h.has(t, "No sandboxes")
	for _, id := range []string{a.ID, b.ID} {
		if s := r.stateOf(t, id); s != sandbox.Terminated {
			t.Errorf("%s is %s", id, s)
		}
	}
	last := r.create(t, "last")
	h.has(t, "last · running")
	h.click(t, "Quit", "Suspend all and quit")
	eventually(t, "the tray has ended", func() bool { return processes(t)[tray.Process.Pid].pid == 0 })
	if s := r.stateOf(t, last.ID); s != sandbox.Suspended { // asked of the next engine
		t.Errorf("it is %s", s)
	}
	if err := r.client.Terminate(t.Context(), last.ID, ""); err != nil {
		t.Error(err)
	}
}

// TestTrayIsCalm sees the engine tell often that nothing of the menu has changed,
// and the tray say nothing of it.
func TestTrayIsCalm(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	r.tray(t, bus)
	h.wait(t)
	h.has(t, "AI apps") // what it finds out by itself after its start
	h.has(t, "No sandboxes · $0.00 today")
	const news = 30
	seen := make(chan struct{})
	go func() { // as the tray does
		first := uint64(0)
		r.client.Watch(t.Context(), func(s sandbox.Snapshot) error {
			if first == 0 {
				first = s.Seq
			}
			if s.Seq >= first+news {
				close(seen)
				return os.ErrClosed
			}
			return nil
		})
	}()
	h.sent()
	for done := false; !done; {
		_, release := r.hold(t, nil) // which takes no sandbox
		release()
		select {
		case <-seen:
			done = true
		default:
		}
	}
	// What is told next is told in order: so what came before it was all.
	quiet := h.sent()
	b := r.create(t, "loud")
	h.has(t, "loud")
	if len(quiet) > 0 {
		t.Errorf("%d snapshots that changed nothing were told as %v", news, quiet)
	}
	loud := h.sent()
	h.click(t, "loud", "Kill")
	eventually(t, "it has ended", func() bool { return r.stateOf(t, b.ID) == sandbox.Terminated })
	if n := len(loud); n == 0 || n > 15 {
		t.Errorf("a new sandbox is told by %v", loud)
	}

	// Nothing changes while it is open.
	h.has(t, "No sandboxes")
	h.shows(t, ui.IconNone)
	h.event(t, 0, "opened")
	before := h.read(t)
	h.sent()
	b = r.create(t, "held")
	h.shows(t, ui.IconRunning)
	for _, s := range h.sent() {
		if s == "LayoutUpdated" || s == "ItemsPropertiesUpdated" {
			t.Errorf("%s while the menu is open", s)
		}
	}
	if _, ok := find(h.read(t), "held"); ok || len(h.read(t)) != len(before) {
		t.Error("the menu changed while it was open")
	}
	h.event(t, 0, "closed")
	h.has(t, "held")
	if err := r.client.Terminate(t.Context(), b.ID, ""); err != nil {
		t.Error(err)
	}
}

// TestTrayIdleMinute leaves a tray alone for a minute in which nothing runs:
// nothing is told of the menu or the icon.
func TestTrayIdleMinute(t *testing.T) {
	t.Parallel()
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	r.tray(t, bus)
	h.wait(t)
	h.has(t, "AI apps") // what it finds out by itself after its start
	h.has(t, "No sandboxes · $0.00 today")
	h.sent()
	time.Sleep(time.Minute) // which is what is looked at
	if sent := h.sent(); len(sent) > 0 {
		t.Errorf("in an idle minute it sent %v", sent)
	}
	b := r.create(t, "web") // and it is still there
	h.has(t, "web · running")
	if len(h.sent()) == 0 {
		t.Error("nor does it send that there is a sandbox")
	}
	if err := r.client.Terminate(t.Context(), b.ID, ""); err != nil {
		t.Error(err)
	}
}

// TestTrayHostRestarts ends the panel and starts it again.
func TestTrayHostRestarts(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	r.tray(t, bus)
	eventually(t, "its engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	for range 3 { // the first comes after the tray, too
		h := newTrayHost(t, bus)
		h.wait(t)
		h.shows(t, ui.IconNone)
		h.has(t, "No sandboxes")
		h.close()
	}
}

// TestTrayOutlivesTheEngine kills the engine that the tray is attached to.
func TestTrayOutlivesTheEngine(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	if err := r.launch(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	b := r.create(t, "web")
	pid := r.enginePID(t)
	h := newTrayHost(t, bus)
	tray := r.tray(t, bus)
	h.wait(t)
	h.shows(t, ui.IconRunning)
	if now := r.enginePID(t); now != pid || now == tray.Process.Pid {
		t.Errorf("the engine is process %d, was %d", now, pid)
	}
	h.saw(ui.IconRunning)
	kill9(pid)
	eventually(t, "the icon tells of it", func() bool { return h.saw(ui.IconLost) })
	// All recovers by itself: the tray starts an engine where nobody else does.
	eventually(t, "the icon is back", func() bool { return h.saw(ui.IconRunning) })
	if now := r.enginePID(t); now == pid {
		t.Error("it is the engine that was killed")
	}
	h.click(t, "web", "Kill")
	eventually(t, "it has ended", func() bool { return r.stateOf(t, b.ID) == sandbox.Terminated })
}

// TestTrayWithoutAnEngine kills the engine where no other can be started: what
// can't be done is off, and says why, until there is one.
func TestTrayWithoutAnEngine(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	if err := r.launch(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	b := r.create(t, "web")
	// The tray starts engines with the program that it is itself, which goes.
	program := filepath.Join(r.home, "arenero")
	code, err := os.ReadFile(filepath.Join(programs, "arenero"))
	if err == nil {
		err = os.WriteFile(program, code, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	h := newTrayHost(t, bus)
	r.trayOf(t, program, bus)
	h.wait(t)
	h.has(t, "web · running")
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	kill9(r.enginePID(t))
	h.shows(t, ui.IconLost)
	h.has(t, "The engine is not running")
	h.has(t, "web · state not known", "Off until the engine is back")
	menu := h.read(t)
	for _, labels := range [][]string{{"web", "Suspend"}, {"web", "Kill"}, {"web", "Open terminal"}, {"Suspend all"}, {"Kill all"}} {
		if item, ok := find(menu, labels...); !ok || item.enabled {
			t.Errorf("%v is there: %v, and on: %v", labels, ok, item.enabled)
		}
	}
	eventually(t, "it is told", func() bool { return strings.Contains(strings.Join(h.told(), "\n"), "engine has stopped") })
	if err := r.launch(); err != nil {
		t.Fatal(err)
	}
	h.shows(t, ui.IconRunning)
	h.click(t, "web", "Kill")
	eventually(t, "it has ended", func() bool { return r.stateOf(t, b.ID) == sandbox.Terminated })
}

// TestTrayOpensTerminals runs the terminal of the system, with our shell in it.
func TestTrayOpensTerminals(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	dir := filepath.Join(r.home, "bin")
	said := filepath.Join(r.home, "said")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"x-terminal-emulator": `for a in "$@"; do echo "$a"; done >"$HOME/said.new" && mv "$HOME/said.new" "$HOME/said"`,
		"xclip":               `cat >"$HOME/copied"`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	h := newTrayHost(t, bus)
	r.tray(t, bus, "PATH="+dir+":"+os.Getenv("PATH"))
	h.wait(t)
	eventually(t, "its engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	b := r.create(t, "web")
	h.click(t, "web", "Open terminal")
	eventually(t, "the terminal is started", func() bool { _, err := os.Stat(said); return err == nil })
	text, _ := os.ReadFile(said)
	if got, want := string(text), "-e\n"+filepath.Join(programs, "arenero")+"\nshell\n"+b.ID+"\n"; got != want {
		t.Errorf("the terminal was given %q, want %q", got, want)
	}
	h.click(t, "web", "Copy id")
	eventually(t, "it is told", func() bool { return strings.Contains(strings.Join(h.told(), "\n"), "Id copied: "+b.ID) })
	if text, _ := os.ReadFile(filepath.Join(r.home, "copied")); string(text) != b.ID {
		t.Errorf("copied %q", text)
	}
	// What fails is a line in the menu, until a click hides it.
	h.click(t, "Open Arenero")
	h.shows(t, ui.IconAttention)
	h.click(t, "Open Arenero: its window is not installed")
	h.shows(t, ui.IconRunning)
	if err := r.client.Terminate(t.Context(), b.ID, ""); err != nil {
		t.Error(err)
	}
}

// TestTrayWithoutADesktop goes on as an engine where there is no bus, and where
// there is nobody on it to show an icon, which it says once.
func TestTrayWithoutADesktop(t *testing.T) {
	r := newEngineRig(t)
	cmd := r.tray(t, "unix:path="+filepath.Join(r.home, "no-bus"))
	eventually(t, "its engine answers", func() bool { _, err := r.client.Status(t.Context()); return err == nil })
	if pid := r.enginePID(t); pid != cmd.Process.Pid {
		t.Errorf("the engine is process %d, not %d", pid, cmd.Process.Pid)
	}
	eventually(t, "the log tells", func() bool {
		text, _ := os.ReadFile(filepath.Join(r.home, "state", "log", "tray.log"))
		return strings.Contains(string(text), "there is no session bus")
	})
}

// TestTrayWithoutAPanel opens the window where there is nobody to show the icon,
// to say so once, and has the icon there when somebody is.
func TestTrayWithoutAPanel(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	program, opened := r.copied(t)
	board := newNoticeBoard(t, bus)
	r.trayOf(t, program, bus)
	startedWith(t, opened, "--no-icon")
	board.close()
	for range 2 {
		h := newTrayHost(t, bus)
		h.wait(t)
		h.shows(t, ui.IconNone)
		if told := h.told(); len(told) > 0 {
			t.Errorf("beside the window it is told as %q", told)
		}
		h.close()
	}
	if _, err := os.Stat(opened); err == nil {
		t.Error("the window was opened twice")
	}
	if told := board.told(); len(told) > 0 {
		t.Errorf("beside the window it is told as %q", told)
	}
}

// TestTrayWithoutAPanelOrAWindow tells it with a notice, whether the window is not
// installed or can't be shown.
func TestTrayWithoutAPanelOrAWindow(t *testing.T) {
	for name, window := range map[string]string{"not installed": "", "no display": "#!/bin/sh\nexit 1\n"} {
		t.Run(name, func(t *testing.T) {
			r, bus := newEngineRig(t), newBus(t)
			program, _ := r.copied(t)
			beside := filepath.Join(filepath.Dir(program), "arenero-window")
			if window == "" {
				must(t, os.Remove(beside))
			} else {
				put(t, beside, window, 0o755)
			}
			board := newNoticeBoard(t, bus)
			r.trayOf(t, program, bus)
			eventually(t, "it is told", func() bool { return strings.Contains(strings.Join(board.told(), "\n"), "no tray icons") })
			if told := board.told(); len(told) != 1 {
				t.Errorf("it is told as %q", told)
			}
		})
	}
}

// TestTraySpeaksSpanish has the menu in the language of the user.
func TestTraySpeaksSpanish(t *testing.T) {
	r, bus := newEngineRig(t), newBus(t)
	h := newTrayHost(t, bus)
	r.tray(t, bus, "ARENERO_LANG=es")
	h.wait(t)
	h.has(t, "Ningún sandbox")
	h.has(t, "Salir")
	h.has(t, "Apps de IA")
}
