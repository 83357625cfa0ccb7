package window

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// A bank is an engine with an account, of orders that a test makes up.
type bank struct {
	control.Engine

	mu      sync.Mutex
	now     time.Time
	orders  []sandbox.Order // the newest first
	budgets []sandbox.Budget
	events  []sandbox.Event // the newest first
	tell    chan sandbox.Event
	calls   map[string]chan control.CallNews // by id of a sandbox
	asked   []string                         // for quotes
	refuse  error                            // of all but what follows
	stale   bool
	right   int // how often the clock was said to be
}

func newBank(now time.Time) *bank {
	return &bank{now: now, tell: make(chan sandbox.Event), calls: map[string]chan control.CallNews{}}
}

func (b *bank) lock() (unlock func(), err error) {
	b.mu.Lock()
	return b.mu.Unlock, b.refuse
}

// Hello is who this is.
func (b *bank) Hello() control.Hello { return control.Hello{Protocol: control.Protocol} }

// Alerts are none.
func (b *bank) Alerts(context.Context) []sandbox.Event { return nil }

// Spend sums up as a ledger does: what settled in a time, and what is open if
// that goes on.
func (b *bank) Spend(_ context.Context, q sandbox.SpendQuery) ([]sandbox.SpendRow, error) {
	unlock, err := b.lock()
	defer unlock()
	rows := map[string]*sandbox.SpendRow{}
	for _, o := range b.orders {
		open := o.State.Open()
		if open && !q.Until.IsZero() && !b.now.Before(q.Until) || !open && (o.EndedAt.Before(q.Since) || !q.Until.IsZero() && !o.EndedAt.Before(q.Until)) {
			continue
		}
		key := o.Profile
		if q.By == sandbox.SpendByHost {
			key = o.Host
		}
		r := rows[key]
		if r == nil {
			r = &sandbox.SpendRow{Key: key}
			rows[key] = r
		}
		r.Sandboxes++
		switch {
		case open:
			r.Held += o.Hold
		case o.Local:
			r.Would += o.Would
		default:
			r.Cost.Total += *o.Settled
			r.Cost.Compute += *o.Settled
		}
	}
	var out []sandbox.SpendRow
	for _, r := range rows {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b sandbox.SpendRow) int { return cmp.Compare(a.Key, b.Key) })
	return out, err
}

// Orders are those of the account, in parts.
func (b *bank) Orders(_ context.Context, q sandbox.OrderQuery) (sandbox.OrderPage, error) {
	unlock, err := b.lock()
	defer unlock()
	at, _ := strconv.Atoi(q.Cursor)
	page := sandbox.OrderPage{Orders: []sandbox.Order{}}
	for i := at; i < len(b.orders); i++ {
		if len(page.Orders) == q.Limit {
			page.Next = strconv.Itoa(i)
			break
		}
		if o := b.orders[i]; !q.Open || o.State.Open() {
			page.Orders = append(page.Orders, o)
		}
	}
	return page, err
}

// RefreshPrices tells which are used, and makes them new.
func (b *bank) RefreshPrices(_ context.Context, profile string) (control.PriceTable, error) {
	unlock, err := b.lock()
	defer unlock()
	if profile != "" {
		b.stale = false
	}
	return control.PriceTable{Version: "v7", Sourced: "2026-11-01", Stale: b.stale}, err
}

// Budgets are all.
func (b *bank) Budgets(context.Context, struct{}) ([]sandbox.Budget, error) {
	unlock, err := b.lock()
	defer unlock()
	return slices.Clone(b.budgets), err
}

// SetBudget sets one.
func (b *bank) SetBudget(_ context.Context, s sandbox.Budget) (sandbox.Budget, error) {
	unlock, err := b.lock()
	defer unlock()
	if err != nil {
		return s, err
	}
	b.budgets = append(slices.DeleteFunc(b.budgets, func(o sandbox.Budget) bool { return ui.BudgetID(o) == ui.BudgetID(s) }), s)
	return s, nil
}

// Tokens are one.
func (b *bank) Tokens(context.Context, string) ([]control.Token, error) {
	return []control.Token{{Grant: sandbox.Grant{ID: "g1", Name: "bot", Limit: new(sandbox.Micro(5))}, Running: 1}}, nil
}

// Balance is that of the token.
func (b *bank) Balance(context.Context, control.BalanceQuery) (sandbox.Balance, error) {
	return sandbox.Balance{RunsOutAt: b.now.Add(3 * time.Hour)}, nil
}

// OwnProfiles are two.
func (b *bank) OwnProfiles(context.Context, struct{}) (control.OwnProfiles, error) {
	return control.OwnProfiles{Profiles: []control.OwnProfile{{Name: "work"}, {Name: "play"}}}, nil
}

// Templates are one.
func (b *bank) Templates(_ context.Context, p sandbox.Profile) ([]sandbox.Template, error) {
	return []sandbox.Template{{Name: "of-" + p.Name, ARN: "arn:" + p.Name, SizeMiB: 2048, PerHour: 92_000}}, nil
}

// Quote tells what was asked.
func (b *bank) Quote(_ context.Context, s sandbox.Spec) (sandbox.Quote, error) {
	unlock, err := b.lock()
	defer unlock()
	b.asked = append(b.asked, s.Profile.Name+" "+s.Template+" "+s.Timeout.String()+" "+s.Idle.String())
	return sandbox.Quote{Profile: s.Profile.Name, Life: sandbox.Seconds(s.Timeout.Seconds()), Hold: 368_000, Expected: 92_000, Level: "profile", Longest: 1800}, err
}

// ExportLedger is a line.
func (b *bank) ExportLedger(_ context.Context, format string, emit func([]byte) error) error {
	unlock, err := b.lock()
	defer unlock()
	if sent := emit([]byte("all of it, as " + format + "\n")); sent != nil {
		return sent
	}
	return err
}

// add puts orders into the account.
func (b *bank) add(all ...sandbox.Order) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.orders = append(b.orders, all...)
	slices.SortStableFunc(b.orders, func(x, y sandbox.Order) int { return y.AskedAt.Compare(x.AskedAt) })
}

// settled is an order that has ended.
func settled(id, host, profile string, cost sandbox.Micro, at time.Time) sandbox.Order {
	o := sandbox.Order{
		ID: id, Sandbox: "microvm-" + id, Host: host, Profile: profile, State: sandbox.OrderSettled, Settled: &cost, AskedAt: at.Add(-time.Hour), StartedAt: at.Add(-time.Hour), EndedAt: at,
		EndReason: sandbox.EndAsked, Cost: sandbox.Cost{Total: cost, Compute: cost},
	}
	if profile == sandbox.ProfileLocal {
		o.Local, o.Would, o.Settled = true, cost, new(sandbox.Micro)
	}
	return o
}

// seen are all texts that are seen in an object, a line each.
func seen(o fyne.CanvasObject) string {
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
		case *view.Text:
			all = append(all, o.Text)
		case *view.Button:
			all = append(all, o.Text)
		case *view.Select:
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

// moneyRig is a rig with the texts of money, at a time.
func moneyRig(t *testing.T, language string, b *bank) *rig {
	t.Helper()
	r := newRig(t, language, b)
	r.core.env.Texts = assets.Load(language, append(slices.Clone(parts), ui.SpendTexts, ui.ActivityTexts)...)
	r.core.env.Now = func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}
	return r
}

// spendShown opens the page over an account, with one sandbox here and one in AWS
// that live.
func spendShown(t *testing.T, language string) (*rig, *bank, *spend, sandbox.Snapshot) {
	t.Helper()
	santiago, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 9, 7, 15, 0, 0, 0, santiago) // a day after one of 23 hours
	b := newBank(now)
	midnight := ui.DaysOf(ui.RangeToday, now).From
	b.add(
		settled("a", "Cursor", "work", 1_000_003, midnight), settled("b", "Cursor", "work", 20_000_000, midnight.Add(-1)),
		settled("c", "Claude Code", "play", 300, midnight.AddDate(0, 0, -3)), settled("d", "Cursor", "local", 4_000, midnight.Add(time.Hour)),
		settled("e", "", "work", 5_000_000, midnight.AddDate(0, -1, 0)), settled("f", "Cursor", "work", 6_000_000, midnight.AddDate(0, 0, -29).Add(-time.Second)),
	)
	b.add(sandbox.Order{ID: "x", Sandbox: "microvm-x", Host: "Cursor", Profile: "work", State: sandbox.OrderRunning, Hold: 900, AskedAt: now.Add(-time.Hour), StartedAt: now.Add(-time.Hour), Cost: sandbox.Cost{Total: 70}})
	b.add(sandbox.Order{ID: "y", Sandbox: "microvm-y", Host: "Claude Code", Profile: "local", Local: true, State: sandbox.OrderRunning, AskedAt: now.Add(-time.Minute), StartedAt: now.Add(-time.Minute), Cost: sandbox.Cost{Total: 8}})
	b.budgets = []sandbox.Budget{{Level: sandbox.LevelGlobal, Limit: new(sandbox.Micro(30_000_000)), Period: sandbox.PeriodMonth, Spent: 1_000_003, Held: 900}, {Level: sandbox.LevelGrant, Owner: "g1", Limit: new(sandbox.Micro(5)), Period: sandbox.PeriodNone}}
	snap := sandbox.Snapshot{At: now, Sandboxes: []sandbox.Sandbox{
		{ID: "microvm-x", Key: "x", State: sandbox.Running, Profile: "work", Cost: sandbox.Cost{Total: 70}},
		{ID: "microvm-y", Key: "y", State: sandbox.Running, Profile: "local", Host: "Claude Code", Cost: sandbox.Cost{Total: 8}},
	}}
	r := moneyRig(t, language, b)
	p := newSpend(r.core).(*spend)
	r.show(p, snap)
	r.until("the account", func() bool { return p.read != nil && !p.reading })
	return r, b, p, snap
}

func TestSpendAgreesWithTheAccount(t *testing.T) {
	for language, want := range map[string][]string{
		// today, of which a part still runs; yesterday; this month
		"en": {"$1.00", "$0.00007 of it so far, by what still runs", "Free on this computer; in AWS: $0.004008", "$20.00", "$21.00", "Really spent: $21.00", "Of that $0.00007 so far"},
		"es": {"1,00 US$", "De ello, 0,00007 US$ hasta ahora", "Gratis en este equipo; en AWS: 0,004008 US$", "20,00 US$", "Gasto real: 21,00 US$"},
	} {
		r, b, p, _ := spendShown(t, language)
		shown := seen(r.win.Content())
		for _, w := range want {
			if !strings.Contains(shown, w) {
				t.Errorf("%s: %q is not told in\n%s", language, w, shown)
			}
		}
		// To the micro, whatever it is broken down by.
		rows, err := b.Spend(t.Context(), sandbox.SpendQuery{By: sandbox.SpendByProfile, Since: p.days.From, Until: p.days.Until})
		if err != nil {
			t.Fatal(err)
		}
		all := ui.SumOf(rows)
		var bars ui.Sum
		for _, s := range p.read.sums {
			bars = bars.Plus(s)
		}
		if hosts := ui.SumOf(p.read.byHost); all.Spent != 21_000_303 || bars.Spent != all.Spent || hosts.Spent != all.Spent || bars.Would != 4_000 || hosts.Would != 4_000 {
			t.Errorf("%s: the account has %d, the days %d, the apps %d", language, all.Spent, bars.Spent, hosts.Spent)
		}
		if n := len(p.read.sums); n != 30 || p.read.sums[n-1].Spent != 1_000_003 || p.read.sums[n-2].Spent != 20_000_000 {
			t.Errorf("%s: the days have %+v", language, p.read.sums)
		}
	}
}

func TestSpendFollowsWhatLives(t *testing.T) {
	r, b, p, snap := spendShown(t, "en")
	// It ends: what ran is settled, and the page learns it by itself.
	b.mu.Lock()
	b.orders = slices.DeleteFunc(b.orders, func(o sandbox.Order) bool { return o.ID == "x" })
	b.mu.Unlock()
	b.add(settled("x", "Cursor", "work", 500_000, b.now))
	snap.Sandboxes = snap.Sandboxes[1:]
	p.show(snap)
	r.until("the new sum", func() bool { return strings.Contains(seen(r.win.Content()), "Really spent: $21.50") })
	if shown := seen(r.win.Content()); strings.Contains(shown, "by what still runs\n$") {
		t.Errorf("it still runs in\n%s", shown)
	}
	// Midnight: yesterday is another day.
	b.mu.Lock()
	b.now = b.now.Add(12 * time.Hour)
	b.mu.Unlock()
	p.tick(b.now)
	r.until("the next day", func() bool { return p.read.today == ui.DaysOf(ui.RangeToday, b.now) })
	if yesterday := ui.SumOf(p.read.yesterdays); yesterday.Spent != 1_500_003 {
		t.Errorf("yesterday is %d", yesterday.Spent)
	}
}

func TestSpendOfOtherDays(t *testing.T) {
	r, _, p, _ := spendShown(t, "en")
	p.place(ui.RangeYesterday)
	r.until("yesterday", func() bool { return p.read.days == p.days && !p.reading })
	if shown := seen(r.win.Content()); !strings.Contains(shown, "Really spent: $20.00") || strings.Contains(shown, "Of that") {
		t.Errorf("yesterday shows\n%s", shown)
	}
	days, err := ui.ParseDays("2026-08-10", "2026-08-11", p.c.env.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.view.OnRange(ui.RangeCustom, days)
	r.until("other days", func() bool { return p.read.days == days && !p.reading })
	if shown := seen(r.win.Content()); !strings.Contains(shown, "Nothing was spent in these days") {
		t.Errorf("empty days show\n%s", shown)
	}
}

func TestSpendTellsWhatIsWrong(t *testing.T) {
	r, b, p, _ := spendShown(t, "es")
	b.mu.Lock()
	b.refuse = &sandbox.Error{Code: sandbox.StoreDown, Msg: "disk full"}
	b.mu.Unlock()
	p.again()
	r.until("the problem", func() bool { return p.view.Banner().Text() != "" })
	if shown := seen(r.win.Content()); !strings.Contains(shown, "Reintentar") || !strings.Contains(shown, "Gasto real: 21,00 US$") {
		t.Errorf("it can't be tried again, or what was known is gone:\n%s", shown)
	}
	b.mu.Lock()
	b.refuse, b.stale = nil, true
	b.mu.Unlock()
	p.again()
	r.until("the account again", func() bool { return p.view.Banner().Text() == "" && p.read.prices.Stale })
	if shown := seen(r.win.Content()); !strings.Contains(shown, "Los precios son viejos") {
		t.Errorf("old prices are not told:\n%s", shown)
	}
	p.refreshPrices("work")
	r.until("new prices", func() bool { return len(r.toasts) > 0 && !p.read.prices.Stale && !p.reading })
	if r.toasts[0] != "Se usan precios nuevos: v7, del 2026-11-01" {
		t.Errorf("told %q", r.toasts)
	}
}

func TestSpendSetsBudgets(t *testing.T) {
	r, b, p, _ := spendShown(t, "en")
	p.place("global")
	if shown := seen(r.win.Content()); p.view.Shown() != view.SpendBudgets || !strings.Contains(shown, "$1.00 of $30.00 a month, and $0.0009 held") || !strings.Contains(shown, "At this pace it runs out in 3 h") {
		t.Errorf("the budgets are\n%s", shown)
	}
	problem := "?"
	p.setBudget(sandbox.Budget{Level: sandbox.LevelProfile, Owner: "work", Limit: new(sandbox.Micro(7_000_000)), Period: sandbox.PeriodWeek}, func(s string) { problem = s })
	r.until("the budget", func() bool { return problem == "" && strings.Contains(seen(r.win.Content()), "$0.00 of $7.00 a week") })
	if !slices.Equal(r.toasts, []string{"Profile work: $7.00 a week"}) {
		t.Errorf("told %q", r.toasts)
	}
	b.mu.Lock()
	b.refuse = &sandbox.Error{Code: sandbox.Forbidden, Msg: "no"}
	b.mu.Unlock()
	p.setBudget(sandbox.Budget{Level: sandbox.LevelGlobal}, func(s string) { problem = s })
	r.until("the refusal", func() bool { return problem != "" })
}

func TestSpendAsksForQuotes(t *testing.T) {
	r, b, p, _ := spendShown(t, "en")
	p.place(view.SpendQuote)
	r.until("the template", func() bool { return strings.Contains(seen(r.win.Content()), "The usual one") })
	p.quote(view.Ask{Profile: "work", Template: "arn:work", Life: 2 * time.Hour, Idle: time.Minute})
	r.until("the quote", func() bool { return strings.Contains(seen(r.win.Content()), "$0.368") })
	shown := seen(r.win.Content())
	for _, w := range []string{"no: the profile's budget is too small", "30 min", "$0.092"} {
		if !strings.Contains(shown, w) {
			t.Errorf("%q is not told in\n%s", w, shown)
		}
	}
	if !slices.Equal(b.asked, []string{"work arn:work 2h0m0s 1m0s"}) {
		t.Errorf("asked %q", b.asked)
	}
}

func TestSpendLoadsOlderOrders(t *testing.T) {
	r, b, p, _ := spendShown(t, "en")
	for i := range 150 {
		b.add(settled("old"+strconv.Itoa(i), "Cursor", "work", 1, b.now.AddDate(0, 0, -60).Add(-time.Duration(i)*time.Minute)))
	}
	p.account, p.cursor = view.SpendAccount{}, ""
	p.again()
	r.until("the first part", func() bool { return p.account.Loaded && !p.reading })
	if n := len(p.account.Orders); n != 100 || !p.account.More {
		t.Fatalf("%d are loaded, more: %t", n, p.account.More)
	}
	p.older()
	p.older() // once is enough
	r.until("the second part", func() bool { return !p.account.Busy })
	if n := len(p.account.Orders); n != 158 || p.account.More {
		t.Errorf("%d are loaded, more: %t", n, p.account.More)
	}
	b.add(settled("new", "Cursor", "work", 1, b.now.Add(time.Hour)))
	p.again()
	r.until("a new one", func() bool { return p.account.Orders[0].ID == "new" })
	if n := len(p.account.Orders); n != 159 {
		t.Errorf("%d are loaded", n)
	}
	p.place(view.SpendOrders + "/a")
	if shown := seen(r.win.Content()); !strings.Contains(shown, "microvm-a") || !strings.Contains(shown, "$1.000003") {
		t.Errorf("an order is told as\n%s", shown)
	}
}

func TestSpendIsExported(t *testing.T) {
	r, b, p, _ := spendShown(t, "en")
	path := filepath.Join(t.TempDir(), "account.csv")
	if err := os.WriteFile(path, nil, 0o666); err != nil { // as the dialog leaves it
		t.Fatal(err)
	}
	var names []string
	p.choose = func(_ view.Env, name string, got func(string)) {
		names = append(names, name)
		got(path)
	}
	p.export("csv")
	r.until("the file", func() bool { return len(r.toasts) > 0 })
	raw, err := os.ReadFile(path)
	if err != nil || string(raw) != "all of it, as csv\n" || names[0] != "arenero-2026-09-07.csv" {
		t.Errorf("%q has %q, %v", names, raw, err)
	}
	if at, err := os.Stat(path); err == nil && at.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others can read it: %v", at.Mode())
	}
	b.mu.Lock()
	b.refuse = &sandbox.Error{Code: sandbox.StoreDown, Msg: "no"}
	b.mu.Unlock()
	p.export("csv")
	r.until("the failure", func() bool { return len(r.fails) > 0 })
	if again, err := os.ReadFile(path); err != nil || string(again) != string(raw) {
		t.Errorf("what failed has left %q, %v", again, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

func TestSaveToLeavesNothingOfWhatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := saveTo(path, func(io.Writer) error { return errors.New("no") }); err == nil {
		t.Error("that went well")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
		t.Errorf("the folder has %v, %v", left, err)
	}
}
