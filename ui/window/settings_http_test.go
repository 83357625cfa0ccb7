package window

import (
	"context"
	"errors"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui/view"
)

// TestSettingsServing shows how the tools are served over HTTP, and warns of who
// may come, in both languages.
func TestSettingsServing(t *testing.T) {
	taken := control.Serving{On: true, State: control.ServingFailed, Why: &control.Text{Key: "verb.http.taken", Args: []string{"address", "127.0.0.1:8000"}}, Remedy: &control.Text{Key: "verb.http.taken.remedy", Args: []string{"address", "127.0.0.1:8000"}}}
	for _, language := range []string{assets.English, assets.Spanish} {
		t.Run(language, func(t *testing.T) {
			r, p := openSettings(t, language, newOwner())
			tx := r.core.env.Texts
			page := newSettings(r.core).(*settings)
			r.win.SetContent(page.open())
			none, openNone, openToken := tx.Get("window.settings.http.none"), tx.Get("window.settings.http.open.none", "address", "a:1"), tx.Get("window.settings.http.open.token", "address", "a:1")
			for name, tt := range map[string]struct {
				is    control.Serving
				sees  []string
				never []string
			}{
				"off":           {control.Serving{Address: "a:1", Auth: control.AuthNone, State: control.ServingOff}, nil, []string{none, openNone, openToken}},
				"starting":      {control.Serving{On: true, Address: "a:1", Auth: control.AuthToken, State: control.ServingStarting}, []string{tx.Get("window.settings.http.starting", "address", "a:1")}, []string{none, openNone, openToken}},
				"anyone here":   {control.Serving{On: true, Address: "a:1", Auth: control.AuthNone, State: control.ServingOn, URL: "http://a:1/mcp"}, []string{"http://a:1/mcp", none}, []string{openNone, openToken}},
				"anyone at all": {control.Serving{On: true, Address: "a:1", Auth: control.AuthNone, Open: true, State: control.ServingOn, URL: "http://a:1/mcp"}, []string{openNone}, []string{none, openToken}},
				"tokens":        {control.Serving{On: true, Address: "a:1", Auth: control.AuthToken, Open: true, State: control.ServingOn, URL: "http://a:1/mcp"}, []string{openToken}, []string{none, openNone}},
				"failed":        {taken, []string{tx.Get("verb.http.taken", "address", "127.0.0.1:8000"), tx.Get("verb.http.taken.remedy")}, []string{"http://a:1/mcp"}},
			} {
				page.prefer(control.Preferences{HTTP: tt.is})
				for _, text := range tt.sees {
					if !p.sees(text) {
						t.Errorf("%s: nothing says %q", name, text)
					}
				}
				for _, text := range tt.never {
					if p.sees(text) {
						t.Errorf("%s: something says %q", name, text)
					}
				}
			}
		})
	}
}

// TestSettingsServingAnyone asks before anyone in the network may come in.
func TestSettingsServingAnyone(t *testing.T) {
	o := newOwner()
	o.prefs.HTTP.Open, o.prefs.HTTP.Address = true, "192.168.1.2:8000"
	r, p := openSettings(t, assets.English, o)
	p.tick("Serve over HTTP")
	p.press("Cancel")
	r.pump()
	if now, _ := o.Preferences(t.Context(), struct{}{}); now.HTTP.On {
		t.Fatal("it is on though that was not confirmed")
	}
	p.tick("Serve over HTTP")
	p.press("Serve to anyone")
	r.until("it is on", func() bool {
		now, _ := o.Preferences(t.Context(), struct{}{})
		return now.HTTP.On
	})
}

// TestSettingsUnknown has nothing look as if it were set, or be there to change,
// until the engine has said what is.
func TestSettingsUnknown(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		o := &waiting{owner: newOwner(), told: make(chan struct{})}
		r := newRig(t, language, o)
		p := newSettings(r.core).(*settings)
		r.show(p, sandbox.Snapshot{})
		tx := r.core.env.Texts
		user := person{t, r}
		r.until("the profiles are known", func() bool { return len(p.profiles) > 1 })
		user.visit(func(o fyne.CanvasObject) bool {
			switch o := o.(type) {
			case *view.Check:
				if !o.Disabled() || o.Checked {
					t.Errorf("%q is there to tick", o.Text)
				}
			case *view.Select:
				if !o.Disabled() {
					t.Errorf("%q are there to choose from", o.Options)
				}
			}
			return false
		})
		if user.sees(tx.Get("window.settings.login.none")) || !user.sees(tx.Get("window.settings.reading")) {
			t.Error("it says what it does not know")
		}
		close(o.told)
		r.until("what is set is shown", func() bool { return p.known })
		if user.sees(tx.Get("window.settings.reading")) {
			t.Error("it asks still")
		}
		user.tick(tx.Get("window.settings.login"))
	}
}

// A waiting owner tells nothing until a test says so.
type waiting struct {
	*owner
	told chan struct{}
}

func (w *waiting) Preferences(ctx context.Context, none struct{}) (control.Preferences, error) {
	select {
	case <-w.told:
	case <-ctx.Done():
	}
	return w.owner.Preferences(ctx, none)
}

// TestSettingsLogLevels shows the lines of a level and worse, and goes on with the
// log while it is open.
func TestSettingsLogLevels(t *testing.T) {
	for _, language := range []string{assets.English, assets.Spanish} {
		o := newOwner()
		r, p := openSettings(t, language, o)
		page := newSettings(r.core).(*settings)
		r.show(page, sandbox.Snapshot{})
		tx := r.core.env.Texts
		r.until("the logs are listed", func() bool { return page.shown.logs != nil })
		p.press("engine.log")
		if !p.sees("level=INFO msg=ready") {
			t.Error("the log is not shown")
		}
		p.choose(tx.Get("window.settings.log.error"))
		r.until("only errors are shown", func() bool { return p.sees("level=ERROR msg=broken") && !p.sees("msg=ready") })
		p.choose(tx.Get("window.settings.log.warning"))
		r.until("all is shown that is as bad", func() bool { return p.sees("msg=ready") })
		p.press(tx.Get("window.close"))
		if name, _ := page.view.OpenLog(); name != "" {
			t.Errorf("%s is open still", name)
		}
		page.tick(r.core.env.Now())
	}
}

// TestSettingsStayWhereTheyAre keeps how far the page is scrolled, and what has the
// focus, over another language and back.
func TestSettingsStayWhereTheyAre(t *testing.T) {
	r, p := openSettings(t, assets.English, newOwner())
	page := newSettings(r.core).(*settings)
	r.show(page, sandbox.Snapshot{})
	r.until("all is shown", func() bool {
		return page.known && page.shown.keychain != nil && page.shown.logs != nil && page.shown.status != nil && page.shown.prices != nil
	})
	scroll := func() (s *container.Scroll) {
		p.visit(func(o fyne.CanvasObject) bool {
			var ok bool
			s, ok = o.(*container.Scroll)
			return ok
		})
		if s == nil {
			t.Fatal("nothing scrolls")
		}
		return s
	}
	label := func(c fyne.Focusable) string {
		b, ok := c.(*view.Button)
		if !ok {
			return ""
		}
		return b.Text
	}
	p.visit(func(o fyne.CanvasObject) bool {
		b, ok := o.(*view.Button)
		if ok && b.Text == r.core.env.Texts.Get("window.settings.folder") {
			r.win.Canvas().Focus(b)
			return true
		}
		return false
	})
	scroll().ScrollToOffset(fyne.NewPos(0, 300))
	for _, language := range []string{assets.Spanish, assets.English} {
		spot := view.SpotOf(r.win.Canvas(), r.win.Content())
		r.rebuilt(page, language)
		spot.Return(r.win.Canvas(), r.win.Content())
		if y := scroll().Offset.Y; y != 300 {
			t.Errorf("%s: it is scrolled to %v", language, y)
		}
		if got, want := label(r.win.Canvas().Focused()), r.core.env.Texts.Get("window.settings.folder"); got != want {
			t.Errorf("%s: the focus is at %q, want %q", language, got, want)
		}
	}
	if len(r.fails) > 0 {
		t.Error(errors.Join(r.fails...))
	}
}
