package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

func TestBudgetIsSetRaisedAndRemoved(t *testing.T) {
	v, env := spendIn(t, "en", "light", fyne.NewSize(780, 580))
	v.Section(SpendBudgets)
	var set []sandbox.Budget
	answer := ""
	v.OnBudget = func(b sandbox.Budget, done func(string)) {
		set = append(set, b)
		done(answer)
	}
	top := func() *widget.PopUp { return env.Window.Canvas().Overlays().Top().(*widget.PopUp) }
	entry := func() *Entry {
		e, ok := env.Window.Canvas().Focused().(*Entry)
		if !ok {
			t.Fatalf("the focus is on %T", env.Window.Canvas().Focused())
		}
		return e
	}
	change := v.budgets.first["global"]
	test.Tap(change)
	if got := entry().Text; got != "20.00" {
		t.Errorf("the form begins with %q", got)
	}
	entry().SetText("1,000")
	if seen := seenIn(top().Content); !strings.Contains(seen, "thousands") || !buttonIn(t, top().Content, "Set the limit").Disabled() {
		t.Errorf("what may be thousands is taken:\n%s", seen)
	}
	entry().SetText("3.5")
	if seen := seenIn(top().Content); !strings.Contains(seen, "At most $3.50 in each month") || !strings.Contains(seen, "More is spent and held than that already ($3.91)") {
		t.Errorf("what it means is not told:\n%s", seen)
	}
	drawn(t, env, "spend-budget-form")
	answer = "the disk is full"
	test.Tap(buttonIn(t, top().Content, "Set the limit"))
	if seen := seenIn(top().Content); len(set) != 1 || !strings.Contains(seen, answer) {
		t.Fatalf("the problem is not told:\n%s", seen)
	}
	answer = ""
	test.Tap(buttonIn(t, top().Content, "Set the limit"))
	if len(set) != 2 || *set[1].Limit != 3_500_000 || set[1].Period != sandbox.PeriodMonth || set[1].Level != sandbox.LevelGlobal || env.Window.Canvas().Overlays().Top() != nil {
		t.Fatalf("set: %+v", set)
	}
	// More than before needs a second yes.
	test.Tap(change)
	entry().SetText("25")
	test.Tap(buttonIn(t, top().Content, "Set the limit"))
	if len(set) != 2 {
		t.Fatal("a raised limit is set at once")
	}
	drawn(t, env, "spend-budget-raise")
	test.Tap(buttonIn(t, top().Content, "Allow it"))
	if len(set) != 3 || *set[2].Limit != 25_000_000 || env.Window.Canvas().Overlays().Top() != nil {
		t.Fatalf("set: %+v", set)
	}
	test.Tap(buttonIn(t, v.budgets.parts["grant:g1"], "Remove"))
	test.Tap(buttonIn(t, top().Content, "Remove"))
	if len(set) != 4 || set[3].Limit != nil || set[3].Owner != "g1" {
		t.Fatalf("set: %+v", set)
	}
	// One of a profile that has none.
	test.Tap(v.budgets.add)
	profile, ok := env.Window.Canvas().Focused().(*Select)
	if !ok {
		t.Fatalf("the focus is on %T", env.Window.Canvas().Focused())
	}
	profile.SetSelected("play")
	env.Window.Canvas().Focus(entryIn(top().Content))
	entry().SetText("2")
	press(entry(), fyne.KeyReturn)
	if len(set) != 5 || set[4].Level != sandbox.LevelProfile || set[4].Owner != "play" || *set[4].Limit != 2_000_000 {
		t.Fatalf("set: %+v", set[len(set)-1])
	}
}

// entryIn is the first entry that is seen in an object, or nil.
func entryIn(o fyne.CanvasObject) *Entry {
	var children []fyne.CanvasObject
	switch o := o.(type) {
	case *Entry:
		return o
	case *fyne.Container:
		children = o.Objects
	case fyne.Widget:
		children = test.WidgetRenderer(o).Objects()
	}
	for _, child := range children {
		if e := entryIn(child); e != nil {
			return e
		}
	}
	return nil
}

func TestQuoteIsAsked(t *testing.T) {
	v, _ := spendIn(t, "es", "light", fyne.NewSize(780, 580))
	v.Section(SpendQuote)
	var asked []Ask
	v.OnAsk = func(a Ask) { asked = append(asked, a) }
	var places []string
	v.OnPlace = func(p string) { places = append(places, p) }
	q := v.quote
	q.hours.SetText("mucho")
	test.Tap(q.ask)
	if len(asked) != 0 || !strings.Contains(q.wrong.Text, "Escribe un número") {
		t.Errorf("asked %v, told %q", asked, q.wrong.Text)
	}
	q.hours.SetText("1,5")
	q.minutes.SetText("")
	q.template.SetSelectedIndex(1)
	test.Tap(q.ask)
	if len(asked) != 1 || asked[0] != (Ask{"local", "a", 90 * time.Minute, 0}) || !q.ask.Disabled() {
		t.Fatalf("asked %v", asked)
	}
	v.ShowQuote(sandbox.Quote{Profile: "local", Local: true, Fits: true, Life: 5400, Expected: 138_000, Hold: 552_000}, "")
	if seen := seenIn(q.answer); !strings.Contains(seen, "nada: está en este equipo") || !strings.Contains(seen, "0,138 US$") || q.ask.Disabled() {
		t.Errorf("the answer is\n%s", seen)
	}
	q.place.SetSelectedIndex(1)
	if len(places) != 1 || places[0] != "work" || len(q.templates) != 0 {
		t.Errorf("led to %v, with %v", places, q.templates)
	}
	v.ShowTemplates("local", []sandbox.Template{{Name: "late"}})
	if len(q.templates) != 0 {
		t.Error("templates of another place are shown")
	}
	v.ShowQuote(sandbox.Quote{}, "AWS no responde")
	if seen := seenIn(q.answer); !strings.Contains(seen, "AWS no responde") {
		t.Errorf("the problem is not told in\n%s", seen)
	}
}

func TestOrdersTellTheirCost(t *testing.T) {
	v, _ := spendIn(t, "en", "light", fyne.NewSize(780, 580))
	var gone []string
	older := 0
	v.OnGo, v.OnOlder = func(id string) { gone = append(gone, id) }, func() { older++ }
	v.PlaceOrder("k1")
	if seen := seenIn(v.orders.detail); !strings.Contains(seen, "$0.007777") || !strings.Contains(seen, "– running") || !strings.Contains(seen, "$0.007") || !strings.Contains(seen, "$0.000777") {
		t.Errorf("the parts of the cost are not told in\n%s", seen)
	}
	v.PlaceOrder("k0")
	test.Tap(buttonIn(t, v.orders.detail, "Show it in Sandboxes"))
	v.orders.table.OnOpen("k0")
	v.orders.table.OnOpen("k1") // it has ended: there is nothing to go to
	if len(gone) != 2 || gone[0] != "microvm-000000000000" {
		t.Errorf("went to %v", gone)
	}
	test.Tap(v.orders.older)
	a := someOrders()
	a.Busy = true
	v.ShowAccount(a)
	if older != 1 || !v.orders.older.Disabled() {
		t.Errorf("asked for older ones %d times", older)
	}
	a.Busy, a.More = false, false
	v.ShowAccount(a)
	if seen := seenIn(v.orders.list); !strings.Contains(seen, "These are all.") {
		t.Errorf("the end is not told in\n%s", seen)
	}
}

func TestStalePricesCanBeRenewed(t *testing.T) {
	v, env := spendIn(t, "en", "light", fyne.NewSize(780, 580))
	var as []string
	v.OnPrices = func(p string) { as = append(as, p) }
	v.ShowNotes(SpendNotes{Prices: ui.PricesNote(env.Texts, "2026-08", "2026-08-01", true), Stale: true})
	if v.overview.refresh.Visible() || !strings.Contains(seenIn(v.Object()), "The prices are old (2026-08, as of 2026-08-01)") {
		t.Error("old prices are not told, or AWS can be asked as nobody")
	}
	if !strings.Contains(seenIn(v.Object()), "add a profile of AWS") {
		t.Error("nothing says how to get new prices without a profile")
	}
	v.ShowNotes(SpendNotes{Prices: "old", Stale: true, Profiles: []string{"work"}})
	settle(env, fyne.NewSize(780, 580))
	drawn(t, env, "spend-stale")
	test.Tap(v.overview.refresh)
	v.ShowNotes(SpendNotes{Prices: "old", Stale: true, Profiles: []string{"work", "play"}})
	test.Tap(v.overview.refresh)
	test.Tap(buttonIn(t, env.Window.Canvas().Overlays().Top().(*widget.PopUp).Content, "Ask AWS for new prices"))
	if len(as) != 2 || as[0] != "work" || as[1] != "work" {
		t.Errorf("asked as %v", as)
	}
}

// The prices of sizes are there without a question to anybody, and regions that
// differ can be chosen.
func TestPricesBySize(t *testing.T) {
	for _, language := range []string{"en", "es"} {
		for _, look := range []string{"light", "dark"} {
			for _, size := range []fyne.Size{{Width: 1040, Height: 680}, {Width: 640, Height: 480}} {
				v, env := spendIn(t, language, look, size)
				if v.quote.sizes.Visible() {
					t.Error("a list of nothing is seen")
				}
				v.ShowPlaces([]string{"local"})
				groups := []ui.PriceGroup{
					{Regions: "us-east-1, us-east-2, us-west-2", Rows: [][]string{{"512 MiB", "0.25", "$0.0316", "$0.127"}, {"2 GiB", "1", "$0.127", "$0.505"}, {"8 GiB", "4", "$0.505", "$2.02"}}},
					{Regions: "eu-west-1", Rows: [][]string{{"512 MiB", "0.25", "$0.04", "$0.16"}}},
				}
				v.ShowSizes(groups[:1])
				v.Section(SpendQuote)
				if !v.quote.group.Disabled() || len(v.quote.grid.Objects) != 16 {
					t.Errorf("of one region there is a choice, or not all of its prices: %d", len(v.quote.grid.Objects))
				}
				v.ShowSizes(groups)
				settle(env, size)
				drawn(t, env, fmt.Sprintf("spend-sizes-%s-%s-%v", language, look, size.Width))
				v.quote.group.SetSelectedIndex(1)
				v.ShowSizes(slices.Clone(groups)) // as each reading of the account does
				if v.quote.group.Disabled() || v.quote.group.Selected != "eu-west-1" || len(v.quote.grid.Objects) != 8 {
					t.Errorf("%q is chosen, with %d texts", v.quote.group.Selected, len(v.quote.grid.Objects))
				}
			}
		}
	}
}

func TestExportAsksForTheForm(t *testing.T) {
	v, env := spendIn(t, "en", "light", fyne.NewSize(780, 580))
	var got []string
	v.OnExport = func(format string) { got = append(got, format) }
	for _, label := range []string{"Spreadsheet (CSV)", "For programs (JSON)"} {
		test.Tap(buttonIn(t, v.Object(), "Export…"))
		test.Tap(buttonIn(t, env.Window.Canvas().Overlays().Top().(*widget.PopUp).Content, label))
	}
	if len(got) != 2 || got[0] != "csv" || got[1] != "json" {
		t.Errorf("exported %v", got)
	}
}
