package view

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

var spendNow = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// moneyEnv is what the screens of money share in a test, and their window.
func moneyEnv(t *testing.T, language, theme string) Env {
	t.Helper()
	test.NewTempApp(t)
	fyne.CurrentApp().Settings().SetTheme(NewTheme(theme))
	w := test.NewTempWindow(t, widget.NewLabel(""))
	w.SetPadded(false)
	return Env{
		Texts: assets.Load(language, "window", ui.Texts, ui.SpendTexts, ui.ActivityTexts), Window: w, Now: func() time.Time { return spendNow },
		Explain: func(err error) string { return err.Error() }, Copy: func(string) {}, Browse: func(string) {},
	}
}

// drawn writes what a window shows to a file, if pictures are wanted.
func drawn(t *testing.T, env Env, name string) {
	t.Helper()
	dir := os.Getenv("ARENERO_PICTURES")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, env.Window.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}

// settle lays a window out until texts that wrap have the room that they need,
// as a real window does before it is seen.
func settle(env Env, size fyne.Size) {
	for i := range 6 {
		env.Window.Resize(size.AddWidthHeight(float32(i%2), 0))
	}
	env.Window.Resize(size)
}

// seenIn are all texts that are seen in an object.
func seenIn(o fyne.CanvasObject) string {
	var all []string
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *fyne.Container:
			for _, child := range o.Objects {
				walk(child)
			}
		case *canvas.Text:
			all = append(all, o.Text)
		case *widget.Label:
			all = append(all, o.Text)
		case *Text:
			all = append(all, o.Text)
		case *Button:
			all = append(all, o.Text)
		case *Select:
			all = append(all, o.Selected)
		case *widget.RichText:
			all = append(all, o.String())
		case fyne.Widget:
			for _, child := range test.WidgetRenderer(o).Objects() {
				walk(child)
			}
		}
	}
	walk(o)
	return strings.Join(all, "\n")
}

// buttonIn is the button of a label in an object.
func buttonIn(t *testing.T, o fyne.CanvasObject, label string) *Button {
	t.Helper()
	var found *Button
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if found != nil || !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *Button:
			if o.Text == label {
				found = o
			}
		case *fyne.Container:
			for _, child := range o.Objects {
				walk(child)
			}
		case fyne.Widget:
			for _, child := range test.WidgetRenderer(o).Objects() {
				walk(child)
			}
		}
	}
	walk(o)
	if found == nil {
		t.Fatalf("there is no button %q among\n%s", label, seenIn(o))
	}
	return found
}

func micro(m sandbox.Micro) *sandbox.Micro { return &m }

// someSpend is a range of thirty days with something in most.
func someSpend(tx assets.Texts) (SpendTotals, SpendRange) {
	days := ui.DaysOf(ui.RangeUsual, spendNow)
	buckets := ui.Buckets(days)
	sums := make([]ui.Sum, len(buckets))
	var all ui.Sum
	for i := range sums {
		if i%7 > 4 {
			continue
		}
		spent := sandbox.Micro(i%5*i%11) * 123_457
		cost := sandbox.Cost{Total: spent, Compute: spent / 2, Launch: spent / 4, Cycles: spent / 8, Storage: spent / 8}
		sums[i] = ui.SumOf([]sandbox.SpendRow{{Cost: cost, Would: sandbox.Micro(i%4) * 345_678, Sandboxes: 1 + i%4, Seconds: 4000}})
		all = all.Plus(sums[i])
	}
	lives := []ui.Live{{Host: "Cursor", Profile: "work", Cost: 431_111}, {Host: "Claude Code", Profile: "local", Local: true, Cost: 91_111}}
	bars := ui.Bars(buckets, sums, lives, spendNow)
	all = all.WithLives(lives)
	r := SpendRange{
		Name: ui.RangeUsual, Days: days, Loaded: true, Ever: true, Sum: all, Bars: bars,
		Hosts: ui.Parts(tx, sandbox.SpendByHost, []sandbox.SpendRow{
			{Key: "Cursor", Cost: sandbox.Cost{Total: 3_000_000}, Sandboxes: 12}, {Key: "", Would: 999_999, Sandboxes: 3}, {Key: "Claude Code", Cost: sandbox.Cost{Total: 12_000}, Sandboxes: 1},
		}, lives),
		Profiles: ui.Parts(tx, sandbox.SpendByProfile, []sandbox.SpendRow{{Key: "work", Cost: sandbox.Cost{Total: 3_012_000}, Sandboxes: 13}, {Key: "local", Would: 999_999, Sandboxes: 3}}, lives),
	}
	return SpendTotals{Today: bars[29].Sum, Yesterday: sums[28], Month: all}, r
}

func someBudgets(tx assets.Texts) []ui.BudgetRow {
	return ui.BudgetRows(tx, []sandbox.Budget{
		{Level: sandbox.LevelGlobal, Limit: micro(20_000_000), Period: sandbox.PeriodMonth, Spent: 3_012_000, Held: 900_000},
		{Level: sandbox.LevelProfile, Owner: "work", Limit: micro(5_000_000), Period: sandbox.PeriodWeek, Spent: 3_012_000, Held: 1_200_000},
		{Level: sandbox.LevelGrant, Owner: "g1", Limit: micro(1_000_000), Period: sandbox.PeriodDay, Spent: 1_100_000, OverLimit: true},
		{Level: sandbox.LevelGrant, Owner: "g2", Spent: 12, Period: sandbox.PeriodNone},
	}, map[string]ui.BudgetOwner{"g1": {Name: "nightly-bot"}, "g2": {Name: "research", RunsOut: spendNow.Add(3 * time.Hour)}}, spendNow)
}

func someOrders() SpendAccount {
	a := SpendAccount{Loaded: true, More: true, Grants: map[string]string{"g1": "nightly-bot"}}
	for i := range 40 {
		at := spendNow.Add(-time.Duration(i) * 7 * time.Hour)
		o := sandbox.Order{
			ID: fmt.Sprintf("k%d", i), Sandbox: fmt.Sprintf("microvm-%012d", i), Grant: sandbox.GrantOwner, State: sandbox.OrderSettled, Profile: "work", Region: "us-east-1",
			Host: "Cursor", Template: "arn:aws:lambda:us-east-1:1:microvm-image:rayito", Version: "7", SizeMiB: 2048, Burst: sandbox.BurstStrict,
			Settled: micro(sandbox.Micro(i) * 7_777), Cost: sandbox.Cost{Total: sandbox.Micro(i) * 7_777, Compute: sandbox.Micro(i) * 7_000, Launch: sandbox.Micro(i) * 777},
			AskedAt: at, StartedAt: at.Add(time.Second), EndedAt: at.Add(50 * time.Minute), EndReason: sandbox.EndAsked, Prices: "2026-11", Idle: 300,
		}
		switch i {
		case 0:
			o.State, o.Settled, o.EndedAt, o.EndReason, o.Hold, o.Cost.Total, o.Name = sandbox.OrderRunning, nil, time.Time{}, "", 900_000, 431_111, "api-tests"
		case 2, 5:
			o.Local, o.Profile, o.Region, o.Would, o.Settled, o.Host = true, "local", "", 54_321, micro(0), "Claude Code"
		case 3:
			o.Unpriced, o.Settled = true, micro(0)
		case 4:
			o.State, o.Settled = sandbox.OrderReleased, micro(0)
		}
		a.Orders = append(a.Orders, o)
	}
	return a
}

// spendIn shows the screen with something on it.
func spendIn(t *testing.T, language, theme string, size fyne.Size) (*Spend, Env) {
	t.Helper()
	env := moneyEnv(t, language, theme)
	v := NewSpend(env)
	env.Window.SetContent(v.Object())
	env.Window.Resize(size)
	totals, r := someSpend(env.Texts)
	v.ShowTotals(totals)
	v.ShowRange(r)
	v.ShowNotes(SpendNotes{Prices: ui.PricesNote(env.Texts, "2026-11", "2026-11-01", false), Zone: ui.ZoneNote(env.Texts, spendNow), Profiles: []string{"work"}})
	v.ShowBudgets(someBudgets(env.Texts), []string{"work", "play"})
	v.ShowPlaces([]string{"local", "work"})
	v.ShowTemplates("local", []sandbox.Template{{Name: "base", ARN: "a", SizeMiB: 2048, PerHour: 92_000}})
	v.ShowAccount(someOrders())
	settle(env, size)
	return v, env
}

// TestSpendIsDrawn draws all sections in each look, for a person to see, and
// holds that no text is missing and nothing is wider than the window.
func TestSpendIsDrawn(t *testing.T) {
	for _, language := range []string{"en", "es"} {
		for _, theme := range []string{"light", "dark"} {
			for _, size := range []fyne.Size{{Width: 780, Height: 580}, {Width: 460, Height: 420}} {
				v, env := spendIn(t, language, theme, size)
				name := fmt.Sprintf("%s-%s-%.0f", language, theme, size.Width)
				for _, section := range []string{SpendOverview, SpendBudgets, SpendQuote, SpendOrders} {
					v.Section(section)
					switch section {
					case SpendOverview:
						v.overview.chart.pick(27)
					case SpendQuote:
						v.ShowQuote(sandbox.Quote{
							Profile: "work", Region: "us-east-1", Template: "arn:x:rayito", Version: "7", SizeMiB: 2048, Life: 7200, Idle: 60, Hold: 735_000, Expected: 184_000,
							Level: "profile", Longest: 3000, Hint: "idle_short", Prices: "2026-11", Sourced: "2026-11-01",
						}, "")
					case SpendOrders:
						v.PlaceOrder("k1")
					}
					settle(env, size)
					drawn(t, env, "spend-"+section+"-"+name)
					seen := seenIn(v.Object())
					if strings.Contains(seen, "spend.") || strings.Contains(seen, "tray.") || strings.Contains(seen, "{") {
						t.Errorf("%s, %s: a text is missing in\n%s", name, section, seen)
					}
				}
				v.Section(SpendOverview)
				settle(env, fyne.NewSize(size.Width, 1200))
				drawn(t, env, "spend-whole-"+name)
				if w := v.Object().MinSize().Width; w > size.Width {
					t.Errorf("%s: the screen is %v wide at the least", name, w)
				}
			}
		}
	}
}

func TestChartIsReadByKeysAndPointer(t *testing.T) {
	for _, language := range []string{"en", "es"} {
		v, env := spendIn(t, language, "light", fyne.NewSize(780, 580))
		o := v.overview
		env.Window.Canvas().Focus(o.chart)
		if got := o.chart.Picked(); got != 29 {
			t.Fatalf("the focus picks bar %d", got)
		}
		for _, step := range []struct {
			key  fyne.KeyName
			want int
		}{{fyne.KeyRight, 29}, {fyne.KeyLeft, 28}, {fyne.KeyHome, 0}, {fyne.KeyLeft, 0}, {fyne.KeyRight, 1}, {fyne.KeyEnd, 29}} {
			press(o.chart, step.key)
			if got := o.chart.Picked(); got != step.want {
				t.Errorf("after %s bar %d is picked, want %d", step.key, got, step.want)
			}
			if want := o.shown.Bars[step.want].Sentence(env.Texts); o.read.Text != want {
				t.Errorf("it is told as %q, want %q", o.read.Text, want)
			}
		}
		if o.table.Selected() != "29" {
			t.Errorf("the table has row %q selected", o.table.Selected())
		}
		o.table.OnSelect("3")
		if o.chart.Picked() != 3 {
			t.Errorf("a row of the table picks bar %d", o.chart.Picked())
		}
		env.Window.Canvas().Unfocus()
		left, width := o.chart.plot()
		o.chart.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(left+10.5*width, 50)}})
		if o.chart.Picked() != 10 {
			t.Errorf("the pointer picks bar %d", o.chart.Picked())
		}
		o.chart.MouseOut()
		if o.chart.Picked() != -1 {
			t.Errorf("bar %d stays picked", o.chart.Picked())
		}
	}
}

func TestEmptySpend(t *testing.T) {
	v, env := spendIn(t, "es", "light", fyne.NewSize(780, 580))
	v.ShowTotals(SpendTotals{})
	v.ShowRange(SpendRange{Name: ui.RangeYesterday, Days: ui.DaysOf(ui.RangeYesterday, spendNow), Loaded: true})
	drawn(t, env, "spend-empty")
	if seen := seenIn(v.Object()); !strings.Contains(seen, "Todavía no se ha gastado nada") {
		t.Errorf("nothing is told in\n%s", seen)
	}
	v.ShowRange(SpendRange{Name: ui.RangeYesterday, Days: ui.DaysOf(ui.RangeYesterday, spendNow), Loaded: true, Ever: true})
	if seen := seenIn(v.Object()); !strings.Contains(seen, "En estos días no se gastó nada") {
		t.Errorf("it is not told that the days are empty in\n%s", seen)
	}
	v.ShowAccount(SpendAccount{Loaded: true})
	v.Section(SpendOrders)
	if seen := seenIn(v.Object()); !strings.Contains(seen, "Nunca se creó un sandbox") {
		t.Errorf("the empty account shows\n%s", seen)
	}
}

func TestSpendRangeIsChosen(t *testing.T) {
	v, env := spendIn(t, "en", "light", fyne.NewSize(780, 580))
	var name string
	var days ui.Days
	v.OnRange = func(n string, d ui.Days) { name, days = n, d }
	v.overview.picker.pick.SetSelected("Yesterday")
	if name != ui.RangeYesterday || days != ui.DaysOf(ui.RangeYesterday, spendNow) {
		t.Errorf("yesterday is %s, %v", name, days)
	}
	name = ""
	v.overview.picker.pick.SetSelected("Other days…")
	if name != "" || !v.overview.picker.custom.Visible() || env.Window.Canvas().Focused() != fyne.Focusable(v.overview.picker.first) {
		t.Fatal("other days can't be typed")
	}
	v.overview.picker.first.SetText("2026-12-24")
	v.overview.picker.last.SetText("2026-12-25")
	press(v.overview.picker.last, fyne.KeyReturn)
	if name != "" || v.overview.picker.wrong.Text != "The first day is yet to come." {
		t.Errorf("days to come: %q, %q", name, v.overview.picker.wrong.Text)
	}
	v.overview.picker.first.SetText("2026-11-01")
	v.overview.picker.last.SetText("2026-11-02")
	press(v.overview.picker.last, fyne.KeyReturn)
	if name != ui.RangeCustom || days.String() != "2026-11-01 – 2026-11-02" || v.overview.picker.wrong.Visible() {
		t.Errorf("the chosen days are %s, %v", name, days)
	}
}
