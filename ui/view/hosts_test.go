package view

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// hostEnv is a window in a language.
func hostEnv(t *testing.T, language string) Env {
	t.Helper()
	app := test.NewTempApp(t)
	app.Settings().SetTheme(NewTheme("light"))
	tx := assets.Load(language, "window", ui.HostTexts, ui.GuideTexts, ui.Texts, "hosts", "verbs")
	w := test.NewTempWindow(t, nil)
	w.SetPadded(false)
	return Env{Texts: tx, Window: w, Now: time.Now, Explain: func(err error) string { return err.Error() }, Copy: func(string) {}, Browse: func(string) {}}
}

func someHosts() []control.Host {
	entry := control.HostEntry{
		Name: "arenero", Scope: "user", File: "/home/ana/" + strings.Repeat("folder/", 20) + "mcp.json", State: control.EntryEdited, Fields: []string{"args", "env"},
		Lost: []string{"github"}, Connection: "c_a", Profile: "local", Undo: true,
	}
	return []control.Host{
		{ID: "code", Title: "Visual Studio Code Insiders (Flatpak)", Installed: true, Running: true, Scopes: []string{"user", "project"}, Certain: "low", Entries: []control.HostEntry{entry}},
		{ID: "cursor", Title: "Cursor", Installed: true, Scopes: []string{"user"}, Certain: "high", Entries: []control.HostEntry{}},
	}
}

const smallPage = 470 // width of a page in the smallest window

// Nothing of the apps and of the first steps needs more room than the smallest
// window has, in any language and any state.
func TestHostsAndGuideFit(t *testing.T) {
	change := control.HostChange{File: "/f", Action: "insert", Backup: "/b/" + strings.Repeat("x", 200), Steps: []control.Text{{Key: "hosts.after.start-again", Args: []string{"title", "Cursor"}}}}
	for _, language := range []string{assets.English, assets.Spanish} {
		env := hostEnv(t, language)
		hosts := NewHosts(env)
		guide := NewGuide(env, "/opt/arenero/arenero-bridge")
		for _, h := range someHosts() {
			hosts.Show(HostsShown{
				Hosts: someHosts(), Looked: true, Selected: h.ID, Done: map[string]HostDone{h.ID: {Changes: []control.HostChange{change}}},
				Check: &HostChecked{Findings: []control.Finding{{Level: "fail", What: control.Text{Key: "verb.doctor.stays"}}}},
			})
			fits(t, env, language+": "+h.ID, hosts.Object())
			f := NewHostForm(env, h, nil, control.HostConnect, nil)
			guide.SetForm(f)
			f.Plan()
			f.ShowPlan(control.HostOrder{Action: control.HostConnect, Host: h.ID}, control.HostResult{Changes: []control.HostChange{change}})
			for _, s := range []GuideShown{
				{Step: ui.GuideTry, Trial: ui.Trial{Stage: ui.TrialGood}},
				{Step: ui.GuideConnect, Looked: true, Hosts: someHosts(), Selected: h.ID, Ready: true},
				{Step: ui.GuideConnect, Looked: true, Hosts: someHosts(), ByHand: true},
				{Step: ui.GuideConnect, Looked: true},
				{Step: ui.GuideCall, Title: h.Title, Done: []control.HostChange{change}, Arrival: ui.ArrivalNone},
				{Step: ui.GuideCall, Title: h.Title, Arrival: ui.ArrivalCalled, Call: strings.Repeat("x", 160)},
			} {
				guide.Show(s)
				fits(t, env, language+": "+string(s.Step), guide.Object())
			}
		}
	}
}

func fits(t *testing.T, env Env, name string, o fyne.CanvasObject) {
	t.Helper()
	env.Window.SetContent(o)
	env.Window.Resize(fyne.NewSize(smallPage, 440))
	if got := o.MinSize().Width; got > smallPage {
		t.Errorf("%s needs %v of %v", name, got, smallPage)
	}
}

// A difference that does not fit is scrolled with the arrows.
func TestDiffViewScrolls(t *testing.T) {
	env := hostEnv(t, assets.English)
	d := newDiffView()
	env.Window.SetContent(d)
	env.Window.Resize(fyne.NewSize(240, 120))
	var lines []control.DiffLine
	for range 80 {
		lines = append(lines, control.DiffLine{Kind: "added", Text: "+" + strings.Repeat("wide ", 40)})
	}
	d.show([]control.HostChange{{Diff: lines}})
	env.Window.Canvas().Focus(d)
	press := func(k fyne.KeyName) fyne.Position {
		d.TypedKey(&fyne.KeyEvent{Name: k})
		return d.scroll.Offset
	}
	down := press(fyne.KeyDown)
	page, right, end := press(fyne.KeyPageDown), press(fyne.KeyRight), press(fyne.KeyEnd)
	if down.Y <= 0 || page.Y <= down.Y || right.X <= 0 || end.Y <= page.Y {
		t.Errorf("a line, a page, to the right, the end: %v, %v, %v, %v", down, page, right, end)
	}
	if top := press(fyne.KeyHome); top.Y != 0 {
		t.Errorf("the top is at %v", top)
	}
}

// An entry with an address is offered where the app can take one, and asks for
// nothing that the server decides.
func TestHostFormOffersAnAddress(t *testing.T) {
	env := hostEnv(t, assets.Spanish)
	h := someHosts()[1]
	if f := NewHostForm(env, h, nil, control.HostConnect, []string{"local"}); f.kind != nil {
		t.Error("an address is offered to an app that takes none")
	}
	h.HTTP = true
	if f := NewHostForm(env, h, &control.HostEntry{HTTP: "http://x/mcp"}, control.HostConnect, []string{"local"}); f.kind != nil {
		t.Error("an entry that is there may change its kind")
	}
	f := NewHostForm(env, h, nil, control.HostConnect, []string{"local"})
	f.SetAddress("http://127.0.0.1:9000/mcp")
	f.Plan()
	if o, missing := f.Order(); o.HTTP != "" || len(o.Toolsets) == 0 || missing != "" || f.address.Visible() {
		t.Errorf("at first: %+v, %q", o, missing)
	}
	f.kind.SetSelected("Una dirección (HTTP)")
	if o, missing := f.Order(); o.HTTP != "http://127.0.0.1:9000/mcp" || o.Toolsets != nil || o.Profile != "" || missing != "" || !f.address.Visible() || f.place.Visible() {
		t.Errorf("with an address: %+v, %q", o, missing)
	}
	f.ShowPlan(control.HostOrder{Action: control.HostConnect, Host: h.ID, HTTP: "http://other/mcp"}, control.HostResult{Changes: []control.HostChange{{Action: "insert"}}})
	if _, ok := f.Planned(); ok {
		t.Error("the plan of another address may be carried out")
	}
	f.address.SetText(" ")
	if _, missing := f.Order(); missing == "" {
		t.Error("no address is one")
	}
	f.kind.SetSelected("Un programa que la app arranca")
	if o, _ := f.Order(); o.HTTP != "" || !f.place.Visible() {
		t.Errorf("back again: %+v", o)
	}
	f.kind.SetSelected("Una dirección (HTTP)")
	fits(t, env, "with an address", f.Object())
}

// A choice that changes while its plan is worked out gets no plan of another.
func TestHostFormIgnoresOldPlans(t *testing.T) {
	env := hostEnv(t, assets.English)
	f := NewHostForm(env, someHosts()[1], nil, control.HostConnect, []string{"local", "work"})
	var asked []control.HostOrder
	f.OnPlan = func(o control.HostOrder) { asked = append(asked, o) }
	ready := false
	f.OnReady = func(is bool) { ready = is }
	f.Plan()
	f.place.SetSelected("work")
	plan := control.HostResult{Changes: []control.HostChange{{Action: "insert", Connection: "c_1"}}}
	f.ShowPlan(asked[0], plan)
	if _, ok := f.Planned(); ok || ready {
		t.Error("the plan of another choice may be carried out")
	}
	f.ShowFailure(asked[0], "no", "")
	f.ShowPlan(asked[1], plan)
	if o, ok := f.Planned(); !ok || !ready || o.Profile != "work" || o.ID != "c_1" {
		t.Errorf("planned: %+v, %t", o, ok)
	}
	for _, c := range f.tools {
		c.SetChecked(false)
	}
	if _, ok := f.Planned(); ok || ready {
		t.Error("a connection without tools may be made")
	}
}
