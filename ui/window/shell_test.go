package window

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// shortHome is a home for our files whose path leaves room for a socket.
func shortHome(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wh")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A homeEngine is an owner's engine that tells of sandboxes.
type homeEngine struct {
	*owner
	hosts []control.Host
	slow  chan struct{} // the hosts are known once it is closed; nil is at once
	seq   atomic.Uint64
	again chan struct{} // there is something new to tell
}

func newHomeEngine() *homeEngine {
	k := &homeEngine{owner: newOwner(), again: make(chan struct{}, 8), hosts: []control.Host{{ID: "claude-code", Title: "Claude Code", Installed: true, Connected: true}}}
	k.prefs.GuideDone = true
	return k
}

func (k *homeEngine) Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	for {
		k.mu.Lock()
		snap := sandbox.Snapshot{Seq: k.seq.Add(1), At: time.Now(), Settings: uint64(len(k.prefs.Language) + len(k.prefs.Theme))}
		k.mu.Unlock()
		if err := emit(snap); err != nil {
			return err
		}
		select {
		case <-k.again:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (k *homeEngine) Spend(context.Context, sandbox.SpendQuery) ([]sandbox.SpendRow, error) {
	return []sandbox.SpendRow{{Cost: sandbox.Cost{Total: 1_230_000}}}, nil
}

func (k *homeEngine) Hosts(context.Context, control.HostQuery) ([]control.Host, error) {
	if k.slow != nil {
		<-k.slow
	}
	return k.hosts, nil
}

// A seat is a whole window without a display, and the engine behind it.
type seat struct {
	*rig
	person
	shell    *shell
	launches atomic.Int64
	launch   atomic.Pointer[func(failed func(error)) error]
}

// sit opens a window on an engine, which is nil for none.
func sit(t *testing.T, k *homeEngine, place control.Place) *seat {
	t.Helper()
	t.Setenv("ARENERO_LANG", "en")
	s := &seat{}
	if k == nil {
		s.rig = newRig(t, assets.English, newHomeEngine())
		s.stop()
	} else {
		s.rig = newRig(t, assets.English, k)
	}
	s.person = person{t, s.rig}
	ctx, cancel := context.WithCancel(t.Context())
	s.shell = newShell(ctx, Config{Place: place, Clock: clockwork.NewRealClock(), Launch: func(_ context.Context, _ bool, failed func(error)) error {
		s.launches.Add(1)
		if start := s.launch.Load(); start != nil {
			return (*start)(failed)
		}
		return nil
	}}, s.rig.app, s.rig.app.NewWindow("Arenero"), s.core.client)
	s.rig.win = s.shell.win
	if place.Page != "" {
		s.shell.at = place.Page
	}
	s.shell.build()
	s.shell.sized()
	parts := s.shell.background(make(chan control.Place))
	t.Cleanup(func() {
		cancel()
		for range parts {
			s.until("the end of all parts", func() bool {
				select {
				case <-s.shell.ends:
					return true
				default:
					return false
				}
			})
		}
	})
	return s
}

func (s *seat) linked() {
	s.rig.t.Helper()
	s.until("an engine", func() bool { return s.shell.link == ui.Linked })
}

func (s *seat) key(name fyne.KeyName, modifier fyne.KeyModifier) {
	if modifier == 0 {
		s.shell.win.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: name})
		return
	}
	s.shell.win.Canvas().(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: name, Modifier: modifier})
}

var settingsPage = control.Place{Page: "settings"}

// TestShellKeys goes from page to page by keys, and has them listed.
func TestShellKeys(t *testing.T) {
	s := sit(t, newHomeEngine(), settingsPage)
	s.linked()
	ctrl := fyne.KeyModifierShortcutDefault
	for i, want := range pageNames[:7] {
		s.key(fyne.KeyName(fmt.Sprint(i+1)), ctrl)
		if s.shell.at != want {
			t.Errorf("Ctrl+%d opens %q, want %q", i+1, s.shell.at, want)
		}
		if focus := fmt.Sprintf("%T", s.shell.win.Canvas().Focused()); focus != "*view.Side" {
			t.Errorf("after Ctrl+%d the focus is on %s", i+1, focus)
		}
		walk(s.shell.win.Content(), func(o fyne.CanvasObject) bool {
			if _, ok := o.(fyne.Focusable); ok && !strings.HasPrefix(fmt.Sprintf("%T", o), "*view.") {
				t.Errorf("on %q a %T takes the focus, and keeps the keys", want, o)
			}
			return false
		})
	}
	s.shell.win.Canvas().Unfocus()
	s.key(fyne.KeyF6, 0)
	if focus := fmt.Sprintf("%T", s.shell.win.Canvas().Focused()); focus != "*view.Side" {
		t.Errorf("after F6 the focus is on %s", focus)
	}
	s.key(fyne.KeyF1, 0)
	if !s.sees("From the side bar into the page") || !s.sees("Ctrl+7") {
		t.Error("the keys are not listed")
	}
	s.key(fyne.Key1, ctrl)
	if s.shell.at != "settings" {
		t.Errorf("behind a dialog the page is changed to %q", s.shell.at)
	}
	s.key(fyne.KeyEscape, 0)
	if s.shell.win.Canvas().Overlays().Top() != nil {
		t.Error("Escape leaves the dialog open")
	}
}

// TestShellLost loses its engine: it says so and lets nothing be done, and comes
// back by itself with the next one.
func TestShellLost(t *testing.T) {
	k := newHomeEngine()
	s := sit(t, k, settingsPage)
	s.linked()
	s.until("what was spent", func() bool { return s.sees("$1.23 today") })
	s.stop()
	s.until("the reason", func() bool { return s.shell.frame.Veiled() && s.sees("The engine is not running") })
	before := s.launches.Load()
	s.press("Start it")
	s.until("a start", func() bool { return s.launches.Load() > before })
	s.serve(k)
	s.linked()
	if s.shell.frame.Veiled() {
		t.Error("the veil is still there")
	}
	s.until("what is set", func() bool { return s.sees("engine.log") })
}

// TestShellStarts starts an engine where there is none.
func TestShellStarts(t *testing.T) {
	s := sit(t, nil, settingsPage)
	s.until("a start", func() bool { return s.launches.Load() > 0 })
	if s.shell.link == ui.Linked {
		t.Error("linked to nothing")
	}
	s.serve(newHomeEngine())
	s.linked()
}

// TestShellLanguage changes language and theme as they are set, here or by
// others, and stays where it is.
func TestShellLanguage(t *testing.T) {
	k := newHomeEngine()
	s := sit(t, k, settingsPage)
	s.linked()
	s.until("what is set", func() bool { return s.sees("engine.log") })
	s.choose("Español")
	s.until("Spanish", func() bool { return s.sees("Ajustes") && s.sees("Idioma") && s.sees("engine.log") })
	if s.shell.at != "settings" {
		t.Errorf("the page is %q now", s.shell.at)
	}
	k.EditPreferences(t.Context(), control.PreferencesEdit{Theme: new("dark")})
	k.again <- struct{}{}
	s.until("dark", func() bool { return s.shell.variant == "dark" })
}

// TestShellGuide leads to the first steps those alone who have no host and have
// not seen them.
func TestShellGuide(t *testing.T) {
	tests := []struct {
		name      string
		done      bool
		connected bool
		place     control.Place
		want      string
	}{
		{"fresh", false, false, control.Place{}, "guide"},
		{"seen", true, false, control.Place{}, "sandboxes"},
		{"connected", false, true, control.Place{}, "sandboxes"},
		{"led elsewhere", false, false, settingsPage, "settings"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newHomeEngine()
			k.prefs.GuideDone, k.hosts[0].Connected = tt.done, tt.connected
			s := sit(t, k, tt.place)
			s.linked()
			s.until("a look at the hosts", func() bool { return s.shell.guided && s.shell.begun })
			if s.shell.at != tt.want {
				t.Errorf("the page is %q, want %q", s.shell.at, tt.want)
			}
		})
	}
}

// TestShellGuideLate leaves alone who has begun something before it is known
// that there is no host yet.
func TestShellGuideLate(t *testing.T) {
	tests := []struct {
		name string
		act  func(s *seat)
		want string
	}{
		{"nothing", func(*seat) {}, "guide"},
		{"a page", func(s *seat) { s.shell.goTo("settings", "") }, "settings"},
		{"a dialog", func(s *seat) { s.key(fyne.KeyF1, 0) }, "sandboxes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := newHomeEngine()
			k.prefs.GuideDone, k.hosts[0].Connected, k.slow = false, false, make(chan struct{})
			s := sit(t, k, control.Place{})
			s.linked()
			s.until("a look at the hosts", func() bool { return s.shell.guided })
			tt.act(s)
			close(k.slow)
			s.until("what was found", func() bool { return s.shell.begun })
			if s.shell.at != tt.want {
				t.Errorf("the page is %q, want %q", s.shell.at, tt.want)
			}
		})
	}
}

// TestShellSize is as large as it was the last time.
func TestShellSize(t *testing.T) {
	tests := []struct {
		kept string
		want fyne.Size
	}{
		{"800x500", fyne.NewSize(800, 500)},
		{"", usualSize},
		{"10x10", usualSize},
		{"99999x1", usualSize},
		{"large", usualSize},
	}
	for _, tt := range tests {
		t.Run(tt.kept, func(t *testing.T) {
			k := newHomeEngine()
			s := sit(t, k, settingsPage)
			s.linked()
			s.until("what is set", func() bool { return s.shell.known })
			s.shell.prefs.Window = tt.kept
			s.shell.sized()
			if got := s.shell.win.Canvas().Size(); got != tt.want {
				t.Errorf("the window has %v, want %v", got, tt.want)
			}
			s.shell.close()
			if got, _ := k.Preferences(t.Context(), struct{}{}); got.Window != fmt.Sprintf("%.0fx%.0f", tt.want.Width, tt.want.Height) && got.Window != "" {
				t.Errorf("kept is %q", got.Window)
			}
		})
	}
}

// TestShellTellsOfNoIcon says where the icon of the tray is missing, in the
// language of now, until that is hidden, and once.
func TestShellTellsOfNoIcon(t *testing.T) {
	for name, opened := range map[string]control.Place{"a window of its own": {NoIcon: true}, "one that is open": {}} {
		t.Run(name, func(t *testing.T) {
			k := newHomeEngine()
			s := sit(t, k, opened)
			s.linked()
			at := s.shell.at
			if !opened.NoIcon {
				if got := s.shell.frame.Failed(); got != "" {
					t.Errorf("before anything is wrong it tells %q", got)
				}
				s.shell.come(control.Place{NoIcon: true})
			}
			if got := s.shell.frame.Failed(); !strings.Contains(got, "shows no tray icons") || s.shell.at != at {
				t.Errorf("told is %q, on the page %q", got, s.shell.at)
			}
			s.shell.prefer(control.Preferences{Language: assets.Spanish, GuideDone: true})
			if got := s.shell.frame.Failed(); !strings.Contains(got, "no muestra iconos de bandeja") {
				t.Errorf("in Spanish told is %q", got)
			}
			s.press("Ocultar")
			s.shell.prefer(control.Preferences{Language: assets.English, GuideDone: true})
			if got := s.shell.frame.Failed(); got != "" {
				t.Errorf("after it was hidden there is %q", got)
			}
		})
	}
	k := newHomeEngine()
	k.prefs.GuideDone, k.hosts = false, nil
	s := sit(t, k, control.Place{NoIcon: true})
	s.until("the first steps are shown all the same", func() bool { return s.shell.at == guideName })
}

// TestShellFails shows what went wrong until it is read, and what nobody needs to
// know not at all.
func TestShellFails(t *testing.T) {
	s := sit(t, newHomeEngine(), settingsPage)
	s.linked()
	s.shell.fail(context.Canceled)
	s.shell.fail(nil)
	if got := s.shell.frame.Failed(); got != "" {
		t.Errorf("told is %q", got)
	}
	s.shell.fail(&sandbox.Error{Code: sandbox.Gone, Msg: "the sandbox has ended", Hint: "the next call makes a new one"})
	if got := s.shell.frame.Failed(); !strings.Contains(got, "the sandbox has ended: the next call") {
		t.Errorf("told is %q", got)
	}
	s.press("Hide")
	if got := s.shell.frame.Failed(); got != "" {
		t.Errorf("after it was read there is %q", got)
	}
}
