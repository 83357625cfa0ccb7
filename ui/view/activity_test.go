package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// activityIn shows the screen with events and calls on it.
func activityIn(t *testing.T, language, theme string, size fyne.Size) (*Activity, Env, *ui.Log) {
	t.Helper()
	env := moneyEnv(t, language, theme)
	v := NewActivity(env)
	env.Window.SetContent(v.Object())
	b := sandbox.Sandbox{ID: "microvm-0123456789ab", Name: "api-tests", Host: "Claude Code", Profile: "local"}
	known := ui.Known{Grants: map[string]string{"g1": "nightly-bot"}, Sandboxes: map[string]sandbox.Sandbox{b.ID: b}}
	l := &ui.Log{}
	for i := range 60 {
		at := spendNow.Add(-time.Duration(i) * 41 * time.Minute)
		e := sandbox.Event{ID: fmt.Sprint(i), At: at, Kind: sandbox.EventReady, Subject: b.ID, Severity: sandbox.SeverityInfo, Data: map[string]any{"name": b.Name}}
		switch i % 6 {
		case 0, 3:
			c := ui.Call{Kind: "command", Text: "go test ./... -race -count=1 | tee out.txt", Began: at}
			if i > 0 {
				c.Ended, c.Code = at.Add(90*time.Second), new(i%2)
				c.Say([]byte("ok  \texample.com/a\t0.2s\nFAIL\texample.com/b\t1.3s\n"), true)
			}
			l.Put(ui.CallEntry(env.Texts, fmt.Sprint(i), b, "", c, known))
			continue
		case 1:
			e.Kind, e.Subject, e.Severity, e.Grant = sandbox.EventOver, "grant:g1", sandbox.SeverityError, "g1"
			e.Data = map[string]any{"level": "grant", "name": "g1", "spent_micro": 1_100_000, "limit_micro": 1_000_000}
		case 2:
			e.Kind, e.Severity, e.Data = sandbox.EventClock, sandbox.SeverityWarn, map[string]any{"why": "back", "seconds": 7200}
		case 4:
			e.Kind, e.Data = sandbox.EventEnded, map[string]any{"reason": "expired", "would_micro": 54_321, "name": b.Name}
		}
		l.Put(ui.EventEntry(env.Texts, e, known))
	}
	v.Show(ActivityShown{
		Entries: l.Shown(ui.Filter{}), All: l.Len(), Hosts: l.Hosts(), Sandboxes: l.Sandboxes(), Names: map[string]string{b.ID: b.Name}, Loaded: true, More: true,
		Note: env.Texts.Get("activity.calls.note"),
	})
	settle(env, size)
	return v, env, l
}

func TestActivityIsDrawn(t *testing.T) {
	for _, language := range []string{"en", "es"} {
		for _, theme := range []string{"light", "dark"} {
			for _, size := range []fyne.Size{{Width: 780, Height: 580}, {Width: 460, Height: 420}} {
				v, env, _ := activityIn(t, language, theme, size)
				name := fmt.Sprintf("%s-%s-%.0f", language, theme, size.Width)
				for _, id := range []string{"call/3", "event/1"} {
					v.Select(id)
					settle(env, size)
					drawn(t, env, "activity-"+strings.ReplaceAll(id, "/", "")+"-"+name)
					seen := seenIn(v.Object())
					if strings.Contains(seen, "activity.") || strings.Contains(seen, "spend.") || strings.Contains(seen, "{sandbox") {
						t.Errorf("%s: a text is missing in\n%s", name, seen)
					}
				}
				if w := v.Object().MinSize().Width; w > size.Width {
					t.Errorf("%s: the screen is %v wide at the least", name, w)
				}
			}
		}
	}
}

func TestActivityIsFiltered(t *testing.T) {
	v, _, _ := activityIn(t, "es", "light", fyne.NewSize(780, 580))
	var f ui.Filter
	var name string
	v.OnFilter = func(got ui.Filter, n string) {
		f, name = got, n
		s := v.shown
		s.Filter, s.Range = got, n
		v.Show(s)
	}
	v.topic.SetSelected("Llamadas")
	v.level.SetSelected("Errores")
	v.host.SetSelected("Claude Code")
	v.sandbox.SetSelected("api-tests")
	v.search.SetText("tee")
	v.days.pick.SetSelected("Ayer")
	want := ui.DaysOf(ui.RangeYesterday, spendNow)
	if f.Topic != ui.TopicCalls || !f.Errors || f.Host != "Claude Code" || f.Sandbox != "microvm-0123456789ab" || f.Text != "tee" || f.Days == nil || *f.Days != want || name != ui.RangeYesterday {
		t.Fatalf("the filter is %+v, %s", f, name)
	}
	v.level.SetSelected("Avisos y errores")
	if !f.Alerts || f.Errors || f.Days == nil {
		t.Errorf("the filter is %+v", f)
	}
	test.Tap(v.all)
	if !f.Any() || v.search.Text != "" || v.topic.SelectedIndex() != 0 || v.all.Visible() {
		t.Errorf("after all: %+v", f)
	}
}

func TestActivityLeads(t *testing.T) {
	v, env, _ := activityIn(t, "en", "light", fyne.NewSize(780, 580))
	var went []string
	clock := 0
	v.OnGo = func(page, subject string) { went = append(went, page+"/"+subject) }
	v.OnClock = func() { clock++ }
	v.Select("event/1")
	test.Tap(buttonIn(t, v.detail, "Show the budget"))
	test.Tap(buttonIn(t, v.detail, "Show the token"))
	v.table.OnOpen("event/1")
	v.Select("call/3")
	test.Tap(buttonIn(t, v.detail, "Show the sandbox"))
	v.table.OnOpen("call/3")
	want := []string{"spend/grant:g1", "tokens/g1", "spend/grant:g1", "sandboxes/microvm-0123456789ab", "sandboxes/microvm-0123456789ab"}
	if strings.Join(went, " ") != strings.Join(want, " ") {
		t.Errorf("went to %v, want %v", went, want)
	}
	if seen := seenIn(v.detail); !strings.Contains(seen, "go test ./... -race") || !strings.Contains(seen, "FAIL\texample.com/b") || !strings.Contains(seen, "exit code 1") {
		t.Errorf("the call is told as\n%s", seen)
	}
	v.Select("event/2")
	test.Tap(buttonIn(t, v.detail, "The clock is right"))
	if clock != 0 {
		t.Fatal("the clock is right without a question")
	}
	test.Tap(buttonIn(t, env.Window.Canvas().Overlays().Top().(*widget.PopUp).Content, "The clock is right"))
	if clock != 1 {
		t.Error("the clock is not right after a yes")
	}
}

func TestEmptyActivity(t *testing.T) {
	v, env, _ := activityIn(t, "en", "light", fyne.NewSize(780, 580))
	v.Show(ActivityShown{})
	if seen := seenIn(v.Object()); !strings.Contains(seen, "Loading…") || strings.Contains(seen, "Nothing has happened") {
		t.Errorf("before anything is known:\n%s", seen)
	}
	v.Show(ActivityShown{Loaded: true})
	settle(env, fyne.NewSize(780, 580))
	drawn(t, env, "activity-empty")
	if seen := seenIn(v.Object()); !strings.Contains(seen, "Nothing has happened yet") {
		t.Errorf("without anything:\n%s", seen)
	}
	v.Show(ActivityShown{Loaded: true, All: 60, Filter: ui.Filter{Text: "nonsense"}})
	if seen := seenIn(v.Object()); !strings.Contains(seen, "Nothing of what is loaded fits") || !strings.Contains(seen, "Entries: 0 of 60") {
		t.Errorf("with a filter that lets nothing through:\n%s", seen)
	}
	v.Show(ActivityShown{Loaded: true, More: true, Busy: true})
	if !v.older.Visible() || !v.older.Disabled() {
		t.Error("older ones can be asked for twice")
	}
}

// TestBannerHasRoom says something of several lines: what is below is to move down.
func TestBannerHasRoom(t *testing.T) {
	v, _, _ := activityIn(t, "en", "light", fyne.NewSize(700, 500))
	was := v.split.Position().Y
	v.Banner().Error(strings.Repeat("the record of what sandboxes cost can't be read ", 5), func() {}, "Try again")

	b := v.Banner().Object()
	if high := v.Banner().text.MinSize().Height; b.Size().Height < high || v.split.Position().Y < was+high {
		t.Errorf("the banner is %v high of %v, and the list below at %v, from %v", b.Size().Height, high, v.split.Position().Y, was)
	}
	v.Banner().Clear()
	if v.split.Position().Y != was {
		t.Errorf("without the banner the list is at %v, and was at %v", v.split.Position().Y, was)
	}
}
