package window

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// rebuilt makes a page anew, in another language.
func (r *rig) rebuilt(p page, language string) {
	r.t.Helper()
	r.core.env.Texts = assets.Load(language, parts...)
	r.win.SetContent(p.open())
}

// TestSandboxesPageIsRebuilt holds that what the user chose outlives the language
// it was chosen in.
func TestSandboxesPageIsRebuilt(t *testing.T) {
	r, p := boxPage(t, assets.English, newBoxEngine())
	p.place("microvm-two")
	p.view.OnSort(ui.SandboxName, true)
	p.view.OnFilter("two")
	p.view.Part(view.SandboxEvents)
	was, _ := p.view.Selected()
	r.rebuilt(p, assets.Spanish)
	if row, b := p.view.Selected(); row != was || b.ID != "microvm-two" || p.view.ShownPart() != view.SandboxEvents {
		t.Errorf("selected is %q of %q, with its %s", b.ID, row, p.view.ShownPart())
	}
	if p.shown.Filter != "two" || p.shown.By != ui.SandboxName || !p.shown.Descending {
		t.Errorf("the filter is %q, the order %v, descending: %t", p.shown.Filter, p.shown.By, p.shown.Descending)
	}
}

// TestSandboxesPageIsLedToOneThatIsGone says so, in the language of now, and where
// to find it.
func TestSandboxesPageIsLedToOneThatIsGone(t *testing.T) {
	r, p := boxPage(t, assets.English, newBoxEngine())
	now := time.Now()
	r.core.env.Now = func() time.Time { return now }
	p.place("microvm-gone")
	if text := p.view.Banner().Text(); text != "" {
		t.Errorf("before it can have come: %s", text)
	}
	now = now.Add(goneAfter)
	p.tick(now)
	if text := p.view.Banner().Text(); !strings.Contains(text, "has ended") || !strings.Contains(text, "Activity") {
		t.Errorf("told: %q", text)
	}
	r.rebuilt(p, assets.Spanish)
	if text := p.view.Banner().Text(); !strings.Contains(text, "ha terminado") {
		t.Errorf("told in Spanish: %q", text)
	}
	person{t, r}.press("Ver en Actividad")
	if strings.Join(r.went, " ") != "activity/microvm-gone" || p.view.Banner().Text() != "" {
		t.Errorf("it led to %q, and still says %q", r.went, p.view.Banner().Text())
	}
	p.place("microvm-gone")
	p.place("microvm-two") // which is there
	now = now.Add(goneAfter)
	p.tick(now)
	if text := p.view.Banner().Text(); text != "" {
		t.Errorf("of one that is there: %s", text)
	}
}

// TestGuideIsRebuilt holds that the first steps stay where they are, and say in
// the language of now what went wrong.
func TestGuideIsRebuilt(t *testing.T) {
	r := newRig(t, assets.English, newHomeEngine())
	p, _ := newGuide(r.core).(*guide)
	r.win.SetContent(p.open())
	p.failed = errors.New("no room")
	p.shown.Trial = ui.Trial{Stage: ui.TrialBad, Problem: "old words"}
	p.shown.Step = ui.GuideConnect
	p.wrong(errors.New("no disk"), true)
	english := p.shown.Problem
	r.rebuilt(p, assets.Spanish)
	if p.shown.Step != ui.GuideConnect {
		t.Errorf("it goes back to %v", p.shown.Step)
	}
	if p.shown.Problem == english || p.shown.Problem == "" || p.shown.Trial.Problem == "old words" {
		t.Errorf("still said: %q, %q", p.shown.Problem, p.shown.Trial.Problem)
	}
}
