package window

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui/view"
)

// An owner is an engine that keeps preferences, and a keychain without anything
// in it.
type owner struct {
	control.Engine

	mu       sync.Mutex
	prefs    control.Preferences
	keychain keychainStatus
	secret   string // that was given last
	refuse   error  // of edits
}

func newOwner() *owner {
	return &owner{
		prefs: control.Preferences{
			DefaultProfile: "local", CanStart: true, Keychain: "vault", Settings: "/home/ana/.config/arenero/settings.json",
			LogFolder: "/home/ana/.local/state/arenero/logs", Version: "1.2.3", Notices: control.Notices{Done: true},
			HTTP: control.Serving{Address: "127.0.0.1:8000", Auth: control.AuthNone, State: control.ServingOff},
		},
		keychain: keychainStatus{Backend: "vault", State: "locked", Secrets: 2},
	}
}

func (o *owner) Hello() control.Hello {
	return control.Hello{Protocol: control.Protocol, Version: "1.2.3"}
}

func (o *owner) Status() control.Status {
	return control.Status{Hello: control.Hello{Version: "1.2.3", Program: "/opt/arenero/arenero", PID: 42, Since: time.Date(2026, 11, 29, 9, 30, 0, 0, time.Local)}}
}

func (o *owner) Preferences(context.Context, struct{}) (control.Preferences, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.prefs, nil
}

func (o *owner) EditPreferences(_ context.Context, e control.PreferencesEdit) (control.Preferences, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuse != nil {
		return control.Preferences{}, o.refuse
	}
	set(&o.prefs.Language, e.Language)
	set(&o.prefs.Theme, e.Theme)
	set(&o.prefs.DefaultProfile, e.DefaultProfile)
	set(&o.prefs.Notices, e.Notices)
	set(&o.prefs.StartAtLogin, e.StartAtLogin)
	set(&o.prefs.Window, e.Window)
	set(&o.prefs.GuideDone, e.GuideDone)
	if h := e.HTTP; h != nil {
		set(&o.prefs.HTTP.On, h.On)
		set(&o.prefs.HTTP.Address, h.Address)
		set(&o.prefs.HTTP.Auth, h.Auth)
	}
	return o.prefs, nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (o *owner) Pause(_ context.Context, paused bool) (struct{}, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.prefs.Paused = paused
	return struct{}{}, nil
}

func (o *owner) OwnProfiles(context.Context, struct{}) (control.OwnProfiles, error) {
	return control.OwnProfiles{Default: "local", Profiles: []control.OwnProfile{{Name: "work", Kind: "sso"}}}, nil
}

func (o *owner) Logs(_ context.Context, q control.LogQuery) ([]control.Log, error) {
	if q.Level == control.LevelError {
		return []control.Log{{Name: "engine.log", Tail: "level=ERROR msg=broken"}}, nil
	}
	return []control.Log{{Name: "engine.log", Path: "/home/ana/.local/state/arenero/logs/engine.log", Tail: "level=INFO msg=ready"}}, nil
}

func (o *owner) RefreshPrices(_ context.Context, profile string) (control.PriceTable, error) {
	day := "2026-06-01"
	if profile != "" {
		day = "2026-11-29"
	}
	return control.PriceTable{Version: "7", Sourced: day, Regions: []string{"us-east-1", "eu-west-1"}, Stale: profile == ""}, nil
}

func (o *owner) Profile(_ context.Context, r control.ProfileRequest, _ func(control.ProfileEvent) error) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch r.Action {
	case control.KeychainUnlock:
		if string(r.Data) != "open sesame" {
			return nil, &sandbox.Error{Code: sandbox.NoKeychain, Msg: "the passphrase is wrong", Details: map[string]any{"class": "wrong_passphrase"}}
		}
		o.keychain.State, o.secret = "ready", string(r.Data)
	case control.KeychainLock:
		o.keychain.State = "locked"
	case control.KeychainUse:
		o.keychain.Backend, o.secret = r.Name, string(r.Data)
	}
	return json.Marshal(o.keychain)
}

func (o *owner) Diagnose(_ context.Context, profile string, emit func(control.Finding) error) error {
	if profile != "local" {
		return errors.New("of another profile")
	}
	for _, f := range []control.Finding{
		{Name: "programs"},
		{Name: "programs", Level: "ok", What: control.Text{Key: "doctor.programs.ok", Args: []string{"version", "1.2.3"}}},
		{Name: "engine"},
		{Name: "engine", Level: "warn", What: control.Text{Key: "doctor.late", Args: []string{"seconds", "5"}}, Remedy: &control.Text{Key: "doctor.late.remedy"}},
	} {
		if err := emit(f); err != nil {
			return err
		}
	}
	return nil
}

func (o *owner) SaveBundle(context.Context, string) (string, error) {
	return "/home/ana/arenero-bundle.zip", nil
}

// A person is who uses what is in a window: they look for things by what these
// say.
type person struct {
	t *testing.T
	r *rig
}

// visit calls do for each object that can be seen, those in front first.
func (p person) visit(do func(o fyne.CanvasObject) (stop bool)) {
	for _, root := range append(p.r.win.Canvas().Overlays().List(), p.r.win.Content()) {
		if walk(root, do) {
			return
		}
	}
}

func walk(o fyne.CanvasObject, do func(fyne.CanvasObject) bool) bool {
	if o == nil || !o.Visible() {
		return false
	}
	if do(o) {
		return true
	}
	var children []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		children = o.Objects
	case fyne.Widget:
		children = test.WidgetRenderer(o).Objects()
	}
	for _, c := range children {
		if walk(c, do) {
			return true
		}
	}
	return false
}

// sees reports whether a text is somewhere.
func (p person) sees(text string) bool {
	found := false
	p.visit(func(o fyne.CanvasObject) bool {
		switch o := o.(type) {
		case *canvas.Text:
			found = strings.Contains(o.Text, text)
		case *widget.Label:
			found = strings.Contains(o.Text, text)
		case *view.Text:
			found = strings.Contains(o.Text, text)
		}
		return found
	})
	return found
}

// press presses the button that says something.
func (p person) press(label string) {
	p.t.Helper()
	done := false
	p.visit(func(o fyne.CanvasObject) bool {
		if b, ok := o.(*view.Button); ok && b.Text == label && !b.Disabled() {
			b.Tapped(nil)
			done = true
		}
		return done
	})
	if !done {
		p.t.Fatalf("there is no button %q to press", label)
	}
}

// tick ticks, or clears, what says something.
func (p person) tick(label string) {
	p.t.Helper()
	done := false
	p.visit(func(o fyne.CanvasObject) bool {
		if c, ok := o.(*view.Check); ok && c.Text == label && !c.Disabled() {
			c.SetChecked(!c.Checked)
			done = true
		}
		return done
	})
	if !done {
		p.t.Fatalf("there is nothing %q to tick", label)
	}
}

// choose chooses something wherever it can be chosen.
func (p person) choose(option string) {
	p.t.Helper()
	done := false
	p.visit(func(o fyne.CanvasObject) bool {
		if s, ok := o.(*view.Select); ok {
			for _, have := range s.Options {
				if have == option && !done {
					s.SetSelected(option)
					done = true
				}
			}
		}
		return done
	})
	if !done {
		p.t.Fatalf("%q can't be chosen anywhere", option)
	}
}

// types fills in the entries that can be seen, in turn.
func (p person) types(texts ...string) {
	p.t.Helper()
	p.visit(func(o fyne.CanvasObject) bool {
		if e, ok := o.(*view.Entry); ok && len(texts) > 0 {
			e.SetText(texts[0])
			texts = texts[1:]
		}
		return len(texts) == 0
	})
	if len(texts) > 0 {
		p.t.Fatalf("there is nothing to type %q into", texts)
	}
}

func openSettings(t *testing.T, language string, o *owner) (*rig, person) {
	t.Helper()
	r := newRig(t, language, o)
	p := newSettings(r.core).(*settings)
	r.show(p, sandbox.Snapshot{})
	r.until("what is set is shown", func() bool {
		return p.prefs.Version != "" && len(p.profiles) > 1
	})
	return r, person{t, r}
}

// TestSettings changes preferences, each by what a person would do for it.
func TestSettings(t *testing.T) {
	o := newOwner()
	r, p := openSettings(t, assets.English, o)
	changed := 0
	r.core.changed = func() { changed++ }
	prefs := func() control.Preferences {
		got, _ := o.Preferences(t.Context(), struct{}{})
		return got
	}
	steps := []struct {
		name string
		do   func()
		want func(control.Preferences) bool
	}{
		{"language", func() { p.choose("Español") }, func(s control.Preferences) bool { return s.Language == "es" }},
		{"theme", func() { p.choose("Dark") }, func(s control.Preferences) bool { return s.Theme == "dark" }},
		{"profile", func() { p.choose("work") }, func(s control.Preferences) bool { return s.DefaultProfile == "work" }},
		{"pause", func() { p.tick("Pause new sandboxes: those that run go on, and apps are refused another") }, func(s control.Preferences) bool { return s.Paused }},
		{"login", func() { p.tick("Start Arenero when I log in") }, func(s control.Preferences) bool { return s.StartAtLogin }},
		{"successes", func() { p.tick("Also when a call of over 30 seconds has ended well") }, func(s control.Preferences) bool { return !s.Notices.Done && !s.Notices.Off }},
		{"quiet hours", func() { p.tick("Show none at night") }, func(s control.Preferences) bool { return s.Notices.Quiet == "22:00-08:00" }},
		{"other hours", func() { p.types("23:30", "07:00"); p.press("Set") }, func(s control.Preferences) bool { return s.Notices.Quiet == "23:30-07:00" }},
		{"HTTP", func() { p.tick("Serve over HTTP") }, func(s control.Preferences) bool { return s.HTTP.On }},
		{"HTTP for tokens", func() { p.choose("Who brings a token") }, func(s control.Preferences) bool { return s.HTTP.On && s.HTTP.Auth == control.AuthToken }},
		{"notices", func() { p.tick("Show notices of what needs me") }, func(s control.Preferences) bool { return s.Notices.Off && s.Notices.Quiet != "" }},
	}
	for i, step := range steps {
		step.do()
		r.until(step.name, func() bool { return step.want(prefs()) && changed > i })
	}
	if len(r.fails) > 0 {
		t.Errorf("failed: %v", r.fails)
	}
}

// TestSettingRefused shows again what is so, when the engine does not want what
// was chosen.
func TestSettingRefused(t *testing.T) {
	o := newOwner()
	r, p := openSettings(t, assets.Spanish, o)
	o.mu.Lock()
	o.refuse = &sandbox.Error{Code: sandbox.StoreDown, Msg: "the disk is full"}
	o.mu.Unlock()
	p.tick("Abrir Arenero al iniciar sesión")
	r.until("the refusal", func() bool { return len(r.fails) == 1 })
	p.visit(func(c fyne.CanvasObject) bool {
		if c, ok := c.(*view.Check); ok && c.Text == "Abrir Arenero al iniciar sesión" && c.Checked {
			t.Error("it looks as if it were set")
		}
		return false
	})
}

// TestSettingsKeychain opens the vault, with a wrong passphrase first.
func TestSettingsKeychain(t *testing.T) {
	o := newOwner()
	r, p := openSettings(t, assets.English, o)
	r.until("the vault", func() bool { return p.sees("The vault is closed") })
	p.press("Open the vault")
	p.types("wrong")
	p.press("OK")
	r.until("what is wrong", func() bool { return len(r.fails) == 1 })
	p.press("Open the vault")
	p.types("open sesame")
	p.press("OK")
	r.until("the vault is open", func() bool {
		return len(r.toasts) == 1 && p.sees("Kept in the vault") && !p.sees("The vault is closed")
	})
	p.press("Close the vault")
	r.until("it is closed again", func() bool { return p.sees("The vault is closed") })
}

// TestSettingsClaimNothing claims nothing of a keychain that can't be read, and sends
// nobody to prices that nobody can be asked for.
func TestSettingsClaimNothing(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			o := newOwner()
			o.keychain = keychainStatus{Backend: "system", State: "dismissed", Error: "no"}
			r := newRig(t, language, o)
			page, p, tx := newSettings(r.core).(*settings), person{t, r}, r.core.env.Texts
			r.show(page, sandbox.Snapshot{})
			in := tx.Get("window.settings.keychain.in", "backend", tx.Get("window.settings.keychain.backend.system"))
			r.until("the keychain", func() bool { return p.sees(in + ":") })
			r.until("the profiles", func() bool { return len(page.profiles) > 1 })
			page.profiles = []string{sandbox.ProfileLocal}
			page.price(control.PriceTable{Version: "7", Stale: true})
			if p.sees(tx.Get("window.settings.prices.stale")) || !p.sees(tx.Get("window.settings.prices.stale.local")) {
				t.Error("prices that nobody can be asked for are to be looked up")
			}
		})
	}
}

// TestSettingsVault makes a vault: a passphrase that is too short, or was typed
// in two ways, is not taken.
func TestSettingsVault(t *testing.T) {
	o := newOwner()
	o.keychain = keychainStatus{Backend: "system", State: "ready", Secrets: 1}
	r, p := openSettings(t, assets.English, o)
	r.until("the keychain", func() bool { return p.sees("keychain of the system") })
	p.press("Use a vault instead")
	for _, try := range []struct{ first, again, says string }{
		{"", "", "keeps nothing safe"},
		{"short", "short", "8 characters"},
		{"long enough", "long enouhg", "differ"},
	} {
		p.types(try.first, try.again)
		p.press("OK")
		if !p.sees(try.says) {
			t.Errorf("%q and %q: nothing says %q", try.first, try.again, try.says)
		}
	}
	p.types("long enough", "long enough")
	p.press("OK")
	r.until("it is made", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.secret == "long enough" && o.keychain.Backend == "vault"
	})
}

// TestSettingsCare makes the checks, and writes what others need to help.
func TestSettingsCare(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			r, p := openSettings(t, language, newOwner())
			tx := r.core.env.Texts
			p.press(tx.Get("window.settings.doctor.run"))
			r.until("the verdict", func() bool { return p.sees(tx.Get("doctor.verdict.warn", "warn", "1")) })
			for _, want := range []string{tx.Get("doctor.programs.ok", "version", "1.2.3"), tx.Get("doctor.late", "seconds", "5"), "→ " + tx.Get("doctor.late.remedy")} {
				if !p.sees(want) {
					t.Errorf("nothing says %q", want)
				}
			}
			p.press(tx.Get("window.settings.bundle"))
			r.until("where it is", func() bool { return p.sees("/home/ana/arenero-bundle.zip") })
			p.press(tx.Get("window.close"))
			p.press("engine.log")
			if !p.sees("level=INFO msg=ready") {
				t.Error("the log is not shown")
			}
			p.press(tx.Get("window.copy"))
			if r.copied != "level=INFO msg=ready" {
				t.Errorf("copied is %q", r.copied)
			}
			p.press(tx.Get("window.settings.prices.refresh", "profile", "work"))
			r.until("new prices", func() bool { return p.sees("2026-11-29") && !p.sees(tx.Get("window.settings.prices.stale")) })
		})
	}
}
