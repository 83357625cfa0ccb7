package window

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

func (s *shelf) Create(_ context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noRoom != nil {
		return sandbox.Sandbox{}, s.noRoom
	}
	if spec.Name == "" {
		return sandbox.Sandbox{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "the trial has no name"}
	}
	return sandbox.Sandbox{ID: "m-trial", Name: spec.Name, Profile: spec.Profile.Name, State: sandbox.Running}, nil
}

func (s *shelf) Exec(_ context.Context, e sandbox.Exec, _ uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	return sandbox.Exit{Sandbox: e.Sandbox}, emit(sandbox.Output{Seq: 1, Stream: sandbox.Stdout, Data: []byte(strings.Join(e.Args[1:], " ") + "\n")})
}

func (s *shelf) Terminate(_ context.Context, id, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, id)
	return nil
}

func (s *shelf) Diagnose(_ context.Context, profile string, emit func(control.Finding) error) error {
	for _, f := range []control.Finding{
		{Name: "jail", What: control.Text{Key: "doctor.check.jail"}},
		{Name: "engine", Level: "ok", What: control.Text{Key: "doctor.engine.none"}},
		{Name: "jail", Level: "fail", What: control.Text{Key: "doctor.jail.none", Args: []string{"why", "of " + profile}}, Remedy: &control.Text{Key: "doctor.jail.remedy", Args: []string{"do", "install Podman"}}},
	} {
		if err := emit(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *shelf) FollowCalls(ctx context.Context, id string, emit func(control.CallNews) error) error {
	for {
		select {
		case n := <-s.calls:
			if n.Sandbox == id {
				if err := emit(n); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func openGuide(t *testing.T, language string, s *shelf) (*rig, person, *guide) {
	t.Helper()
	r := newRig(t, language, s)
	p := newGuide(r.core).(*guide)
	r.show(p, sandbox.Snapshot{})
	return r, person{t, r}, p
}

// enter presses Enter where the focus is.
func (r *rig) enter() {
	r.t.Helper()
	f := r.win.Canvas().Focused()
	if f == nil {
		r.t.Fatal("nothing has the focus")
	}
	f.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
}

// TestGuide goes all the way with the key Enter alone: a first sandbox, an app
// that is connected, what to say in it, and its first call.
func TestGuide(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			s := newShelf()
			r, p, page := openGuide(t, language, s)
			tx := r.core.env.Texts
			r.until("the trial", func() bool { return page.shown.Trial.Stage == ui.TrialGood })
			text, _ := ui.TrialText(tx, page.shown.Trial)
			if !p.sees(text) {
				t.Errorf("nothing says %q", text)
			}
			r.until("its end", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return slices.Equal(s.ended, []string{"m-trial"}) })
			r.until("the apps", func() bool { return page.shown.Looked })

			r.enter()
			r.until("the plan", func() bool { return page.shown.Ready && p.sees(tx.Get("window.hosts.would.insert", "title", "Cursor")) })
			if len(s.orders) > 0 {
				t.Fatal("it was written before anybody agreed")
			}
			r.enter()
			r.until("it is connected", func() bool { return page.shown.Step == ui.GuideCall })
			r.until("that it need not come again", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.prefs.GuideDone })
			if step := tx.Get("hosts.after.watched-toggle", "title", "Cursor"); !p.sees(step) || s.orders[0].ID != "c_new" {
				t.Errorf("nothing says %q, after %+v", step, s.orders)
			}

			r.enter()
			if r.copied != tx.Get("window.guide.prompt") || len(r.toasts) != 1 {
				t.Errorf("copied %q, and said %q", r.copied, r.toasts)
			}
			if !p.sees(tx.Get("window.guide.arrival.none", "title", "Cursor")) {
				t.Error("nothing says that a call is awaited")
			}
			lease := sandbox.LeaseInfo{ID: "l", Connection: "c_new", Host: "cursor-vscode", Attached: true}
			page.show(sandbox.Snapshot{Leases: []sandbox.LeaseInfo{{ID: "x", Connection: "c_other", Sandbox: "m-9"}, lease}})
			if !p.sees(tx.Get("window.guide.arrival.started", "title", "Cursor")) {
				t.Error("nothing says that the server was started")
			}
			lease.Sandbox = "m-1"
			s.calls <- control.CallNews{ID: "1", Sandbox: "m-1", Kind: "code", Text: "print(primes)"}
			page.show(sandbox.Snapshot{Leases: []sandbox.LeaseInfo{lease}})
			r.until("the call", func() bool {
				return p.sees(tx.Get("window.guide.arrival.called", "title", "Cursor")) && p.sees("print(primes)")
			})

			// What was made stays made, though the app ends.
			page.show(sandbox.Snapshot{})
			if !p.sees("print(primes)") {
				t.Error("the call is forgotten")
			}
			p.press(tx.Get("window.guide.rules.copy"))
			if r.copied != assets.Doc(assets.DocFirstPrompt, language) {
				t.Errorf("copied %q", r.copied)
			}
			r.win.Canvas().Focus(nil)
			page.view.Show(page.shown)
			p.press(tx.Get("window.guide.finish"))
			r.until("the end", func() bool { return slices.Equal(r.went, []string{"sandboxes/m-1"}) && s.prefs.GuideDone })
			if len(r.fails) > 0 {
				t.Errorf("failed: %v", r.fails)
			}
		})
	}
}

// TestGuideWithoutIsolation says what to install, and goes on all the same.
func TestGuideWithoutIsolation(t *testing.T) {
	s := newShelf()
	s.noRoom = &sandbox.Error{Code: sandbox.CreateFailed, Msg: "no sandbox came of it"}
	r, p, page := openGuide(t, assets.English, s)
	r.until("what to do", func() bool { return p.sees("of local") && p.sees("→ Install Podman") })
	if p.sees("it is started when needed") {
		t.Error("what is well is told too")
	}
	p.press("Continue anyway")
	p.press("Back")
	s.with(func() { s.noRoom = nil })
	p.press("Try again")
	r.until("the trial", func() bool { return page.shown.Trial.Stage == ui.TrialGood && !p.sees("Podman") })
}

// TestGuideLeft is left in the middle, and goes on there.
func TestGuideLeft(t *testing.T) {
	s := newShelf()
	r := newRig(t, assets.English, s)
	page := newGuide(r.core).(*guide)
	p := person{t, r}
	r.win.SetContent(page.open())
	ctx, leave := context.WithCancel(t.Context())
	page.enter(ctx)
	r.until("the apps", func() bool { return page.shown.Looked && page.shown.Trial.Stage == ui.TrialGood })
	p.press("Continue")
	r.until("the plan", func() bool { return page.shown.Ready })
	leave()
	r.pump()
	page.enter(t.Context())
	if page.shown.Step != ui.GuideConnect {
		t.Errorf("it goes on at %s", page.shown.Step)
	}
	r.until("the plan again", func() bool { return page.shown.Ready })
	p.press("Leave")
	r.until("it is left", func() bool { return slices.Equal(r.went, []string{"sandboxes/"}) && s.prefs.GuideDone })
}

// TestGuideLanguage changes the language of all.
func TestGuideLanguage(t *testing.T) {
	s := newShelf()
	r, p, _ := openGuide(t, assets.English, s)
	changed := false
	r.core.changed = func() { changed = true }
	p.choose("Español")
	r.until("the language", func() bool { return changed && s.prefs.Language == assets.Spanish })
}

// TestGuideConnected goes on with an app that has our tools already, waits for
// one that runs to be quit, and says what stands in the way of others.
func TestGuideConnected(t *testing.T) {
	s := newShelf()
	s.find("cursor").Entries = []control.HostEntry{{Name: "arenero", Scope: "user", File: "/f", State: control.EntryAsWritten, Connection: "c_a", Profile: "local"}}
	r, p, page := openGuide(t, assets.English, s)
	r.until("the apps", func() bool { return page.shown.Looked })
	p.press("Continue")
	r.until("what stands in the way", func() bool { return p.sees("quit it, from its tray icon too, then try again") })
	s.with(func() { s.find("claude-desktop").Running = false })
	page.tick(time.Now().Add(time.Hour))
	r.until("the plan", func() bool { return page.shown.Ready })

	page.choose("cursor")
	if !p.sees("Cursor is connected already.") {
		t.Error("nothing says that it is connected")
	}
	p.press("Continue")
	if page.connection != "c_a" || !p.sees("Waiting for Cursor to start our server…") {
		t.Errorf("it waits for %q", page.connection)
	}
	p.press("Back")
	if page.shown.Step != ui.GuideConnect {
		t.Errorf("it is at %s", page.shown.Step)
	}
}

// TestGuideByHand goes on with an app that nobody knows, and takes the first new
// one for it.
func TestGuideByHand(t *testing.T) {
	s := newShelf()
	r, p, page := openGuide(t, assets.English, s)
	page.show(sandbox.Snapshot{Leases: []sandbox.LeaseInfo{{ID: "old", Sandbox: "m-0", Attached: true}}})
	r.until("the apps", func() bool { return page.shown.Looked })
	p.press("Continue")
	p.press("Another app, by hand")
	if !p.sees("arenero hosts print other") {
		t.Error("nothing says how")
	}
	p.press("Back to the list")
	p.press("Another app, by hand")
	p.press("I have put it in")
	page.show(sandbox.Snapshot{Leases: []sandbox.LeaseInfo{{ID: "old", Sandbox: "m-0", Attached: true}, {ID: "new", Host: "MyApp", Attached: true}}})
	if !p.sees("MyApp has started our server. Now ask it.") {
		t.Error("nothing says that it came")
	}

	// The same where there is none to choose from.
	s = newShelf()
	s.hosts = nil
	r, p, page = openGuide(t, assets.English, s)
	r.until("that there is none", func() bool { return page.shown.Looked })
	p.press("Continue")
	if !p.sees("No AI app that we know was found on this computer.") {
		t.Error("nothing says that there is none")
	}
	s.with(func() { s.hosts = newShelf().hosts })
	p.press("Look again")
	r.until("the apps", func() bool { return page.shown.Ready })
}

// TestGuideKeepsTheFocus does not take the focus from the list while things come
// in.
func TestGuideKeepsTheFocus(t *testing.T) {
	s := newShelf()
	r, p, page := openGuide(t, assets.English, s)
	r.until("the apps", func() bool { return page.shown.Looked && page.shown.Trial.Stage == ui.TrialGood })
	p.press("Continue")
	r.until("the plan", func() bool { return page.shown.Ready })
	for _, b := range []string{"Back", "Leave", "Connect Cursor"} {
		focusOn(t, r, b)
		page.tick(time.Now().Add(time.Hour))
		r.until("another look", func() bool { return !page.looking.busy })
		page.show(sandbox.Snapshot{Leases: []sandbox.LeaseInfo{{ID: b}}})
		if got, ok := r.win.Canvas().Focused().(*view.Button); !ok || got.Text != b {
			t.Errorf("the focus left %q", b)
		}
	}
}

func focusOn(t *testing.T, r *rig, label string) {
	t.Helper()
	for range 20 {
		r.win.Canvas().FocusNext()
		if b, ok := r.win.Canvas().Focused().(*view.Button); ok && b.Text == label {
			return
		}
	}
	t.Fatalf("the key Tab does not lead to %q", label)
}
