package window

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui/start"
	"github.com/arenero/arenero/ui/view"
)

// TestShellDoesNotStart has an engine fail to start in each way: the window says
// what failed and what to do, and tries again when it is told to.
func TestShellDoesNotStart(t *testing.T) {
	program, err := control.Beside("arenero")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		err   error
		later bool // it is known when the start has returned
		want  string
		logs  bool
	}{
		{"missing", fmt.Errorf("start arenero: %w", &fs.PathError{Op: "fork/exec", Path: program, Err: fs.ErrNotExist}), false, program + " is missing", false},
		{"missing, as the engine alone tells it", &sandbox.Error{Code: sandbox.Unreachable, Msg: "arenero is not there", Err: fs.ErrNotExist}, false, program + " is missing", false},
		{"forbidden", &fs.PathError{Op: "fork/exec", Path: program, Err: fs.ErrPermission}, false, program + " may not be run", false},
		{"of another system", &fs.PathError{Op: "fork/exec", Path: program, Err: errForeign}, false, program + " is no program for this system", false},
		{"ended at once", &sandbox.Error{Code: sandbox.Unreachable, Msg: "Arenero can't be started: the disk is full", Retryable: true}, true, "the disk is full", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sit(t, nil, settingsPage)
			launch := func(failed func(error)) error {
				if !tt.later {
					return tt.err
				}
				go failed(tt.err)
				return nil
			}
			s.launch.Store(&launch)
			s.until("the reason", func() bool { return s.shell.frame.Veiled() && strings.Contains(s.shell.frame.Why(), tt.want) })
			if !s.sees("The engine is not running") || s.sees("Starting…") {
				t.Error("it is told to be on its way")
			}
			if got := s.sees("Open the logs"); got != tt.logs {
				t.Errorf("the logs are offered: %t", got)
			}
			s.launch.Store(nil)
			before := s.launches.Load()
			s.press("Try again")
			if why := s.shell.frame.Why(); why != "Starting it…" {
				t.Errorf("while it starts: %q", why)
			}
			s.until("another try", func() bool { return s.launches.Load() > before })
			s.serve(newHomeEngine())
			s.linked()
			if s.shell.frame.Veiled() {
				t.Error("the veil is still there")
			}
		})
	}
}

// TestFailureOf runs what can't be run.
func TestFailureOf(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte{0x7f, 'E', 'L', 'F', 9, 9, 9, 9}, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]startFailure{
		filepath.Join(dir, "none"): startMissing,
		file("plain.exe", 0o600):   startForbidden,
		file("broken.exe", 0o700):  startForeign,
	} {
		if runtime.GOOS == "windows" && want == startForbidden {
			want = startForeign
		}
		err := start.Watched([]string{path}, func(error) {})
		if got := failureOf(err); err == nil || got != want {
			t.Errorf("%s: %q (%v), want %q", filepath.Base(path), got, err, want)
		}
	}
	if got := failureOf(errors.New("anything")); got != startOther {
		t.Errorf("anything else is %q", got)
	}
}

// TestEngineThatWasQuit has somebody quit the engine: none is started in its
// place by itself, however long that lasts, and one is when the user says so. Where
// that can't be told from one that failed, another takes its place.
func TestEngineThatWasQuit(t *testing.T) {
	r := newRig(t, assets.English, &hangingEngine{})
	clock := clockwork.NewFakeClock()
	var launches, ends, others atomic.Int64
	saw := make(chan bool, 64)
	w := &engineWatch{
		client: r.core.client, clock: clock, restart: make(chan struct{}, 1),
		saw: func(sandbox.Snapshot) { saw <- true },
		lost: func(_ error, ended bool) {
			if ended {
				ends.Add(1)
			} else {
				others.Add(1)
			}
		},
		failed: func(err error) { t.Errorf("start: %v", err) },
		launch: func(context.Context, bool, func(error)) error {
			launches.Add(1)
			return nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		w.run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-over
	})
	until := func(what string, came func() bool) {
		t.Helper()
		for limit := time.Now().Add(time.Minute); !came(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("never came: %s", what)
			}
			clock.Advance(time.Second)
		}
	}
	until("the engine", func() bool { return len(saw) > 0 })
	r.stop()
	if runtime.GOOS == "windows" { // a pipe leaves no trace of how its engine ended
		until("another in its place", func() bool { return launches.Load() > 0 })
		if ends.Load() != 0 {
			t.Errorf("%d times told as quit", ends.Load())
		}
		return
	}
	until("that it was quit, many times", func() bool { return ends.Load() > 60 })
	if launches.Load() != 0 {
		t.Errorf("started %d times though it was quit", launches.Load())
	}
	w.restart <- struct{}{}
	until("a start", func() bool { return launches.Load() > 0 })
}

// TestShellFollowsTheSystem has the system become dark and light while a window
// is open that has no look of its own, and one that has.
func TestShellFollowsTheSystem(t *testing.T) {
	k := newHomeEngine()
	s := sit(t, k, settingsPage)
	s.linked()
	set := s.rig.app.Settings().(*systemSettings)
	title := func() (c any) {
		walk(s.shell.win.Content(), func(o fyne.CanvasObject) bool {
			if text, ok := o.(*canvas.Text); ok && text.Text == "Settings" {
				c = text.Color
			}
			return false
		})
		return c
	}
	fore := func(look string) any {
		return view.NewTheme(look).Color(theme.ColorNameForeground, theme.VariantLight)
	}
	set.turn(theme.VariantDark)
	if title() != fore("dark") {
		t.Errorf("on a dark system the title is %v", title())
	}
	set.turn(theme.VariantLight)
	if title() != fore("light") {
		t.Errorf("on a light system the title is %v", title())
	}
	s.shell.cfg.Theme = "light"
	s.shell.build()
	before := s.shell.frame
	set.turn(theme.VariantDark)
	if title() != fore("light") || s.shell.frame != before {
		t.Errorf("a light window follows the system: %v", title())
	}
}
