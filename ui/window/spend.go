package window

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

const (
	spendDrawEvery = 5 * time.Second // while something runs that costs
	spendReadEvery = time.Minute     // others set limits too
	spendOrders    = 100             // of one part of the account
)

// spend is the page of spending.
type spend struct {
	c    *core
	ctx  context.Context // done when the page is left
	view *view.Spend
	// choose lets the user name a file.
	choose func(env view.Env, name string, got func(path string))

	snap  sandbox.Snapshot
	alive map[string]bool // keys of what lived when the account was read
	drawn time.Time

	which   string // range it is
	days    ui.Days
	read    *spendRead // nil: nothing yet
	reading bool
	stale   bool // it is to be read again as soon as that is done
	readAt  time.Time

	account view.SpendAccount
	cursor  string

	budget string // to be shown when it is known
}

func newSpend(c *core) page {
	p := &spend{c: c, ctx: left(), choose: chooseFile}
	p.pickRange(ui.RangeUsual, ui.Days{})
	return p
}

func (p *spend) name() string        { return ui.PageSpend }
func (p *spend) icon() fyne.Resource { return view.SpendIcon() }

// left is the context of a page that is not seen: nothing is asked for it.
func left() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// open makes the view.
func (p *spend) open() fyne.CanvasObject {
	v := view.NewSpend(p.c.env)
	if p.view != nil {
		v.Follow(p.view)
	}
	p.view = v
	v.OnSection = func(string) { p.again() }
	v.OnRange = func(name string, days ui.Days) {
		p.pickRange(name, days)
		p.render()
		p.again()
	}
	v.OnExport = p.export
	v.OnPrices = p.refreshPrices
	v.OnBudget = p.setBudget
	v.OnPlace = p.templates
	v.OnAsk = p.quote
	v.OnOlder = p.older
	v.OnGo = func(id string) { p.c.goTo(ui.PageSandboxes, id) }
	p.render()
	return v.Object()
}

// show takes in what lives, and reads the account when that has changed.
func (p *spend) show(s sandbox.Snapshot) {
	p.snap = s
	if p.ctx.Err() != nil {
		return // it is drawn when it is seen again
	}
	if !maps.Equal(alive(s), p.alive) {
		p.again()
	}
	p.render()
}

// alive are the keys of what lives.
func alive(s sandbox.Snapshot) map[string]bool {
	out := map[string]bool{}
	for _, b := range s.Sandboxes {
		if b.State.Alive() && !b.Orphan {
			out[b.Key] = true
		}
	}
	return out
}

// enter reads the account.
func (p *spend) enter(ctx context.Context) {
	p.ctx = ctx
	p.reading = false // nobody waits for what was asked before
	p.account.Busy = false
	p.render()
	p.again()
}

// tick draws what runs, now and then, and reads the account again when the day
// is another one, or long ago.
func (p *spend) tick(now time.Time) {
	if now.Sub(p.drawn) >= spendDrawEvery && slices.ContainsFunc(p.snap.Sandboxes, func(b sandbox.Sandbox) bool { return b.State == sandbox.Running && b.PerHour > 0 }) {
		p.render()
	}
	another := p.read != nil && !p.read.today.Now(now)
	if another && p.which != ui.RangeCustom {
		p.pickRange(p.which, ui.Days{})
	}
	if another || now.Sub(p.readAt) >= spendReadEvery {
		p.again()
	}
}

// place leads to a section, a budget or a sandbox of the account.
func (p *spend) place(subject string) {
	section, id, _ := strings.Cut(subject, "/")
	level, _, _ := strings.Cut(subject, ":")
	switch {
	case section == view.SpendOrders && id != "":
		p.view.PlaceOrder(id)
	case section == view.SpendBudgets, section == view.SpendQuote, section == view.SpendOrders, section == view.SpendOverview:
		p.view.Section(section)
	case section == ui.RangeYesterday:
		p.view.Section(view.SpendOverview)
		p.pickRange(ui.RangeYesterday, ui.Days{})
		p.render()
		p.again()
	case slices.Contains([]string{string(sandbox.LevelGlobal), string(sandbox.LevelProfile), string(sandbox.LevelGrant)}, level):
		p.budget = subject
		p.view.PlaceBudget(subject)
	}
}

func (p *spend) pickRange(name string, days ui.Days) {
	if name != ui.RangeCustom {
		days = ui.DaysOf(name, p.c.env.Now())
	}
	p.which, p.days = name, days
}

// render draws all that is known.
func (p *spend) render() {
	if p.view == nil {
		return
	}
	now, tx, v := p.c.env.Now(), p.c.env.Texts, p.view
	p.drawn = now
	r := p.read
	shown := view.SpendRange{Name: p.which, Days: p.days}
	notes := view.SpendNotes{Zone: ui.ZoneNote(tx, now)}
	if r == nil {
		v.ShowRange(shown)
		v.ShowNotes(notes)
		return
	}
	lives := ui.Lives(p.snap, r.hosts, now)
	v.ShowTotals(view.SpendTotals{
		Today: ui.SumOf(r.todays).WithLives(lives), Yesterday: ui.SumOf(r.yesterdays), Month: ui.SumOf(r.months).WithLives(lives),
	})
	notes.Prices, notes.Stale, notes.Profiles = ui.PricesNote(tx, r.prices.Version, r.prices.Sourced, r.prices.Stale), r.prices.Stale, r.profiles
	v.ShowNotes(notes)
	if r.days == p.days {
		var running []ui.Live
		if p.days.Now(now) {
			running = lives
		}
		shown.Loaded, shown.Ever = true, r.ever
		shown.Sum = ui.SumOf(r.byProfile).WithLives(running)
		shown.Bars = ui.Bars(r.buckets, r.sums, running, now)
		shown.Hosts = ui.Parts(tx, sandbox.SpendByHost, r.byHost, running)
		shown.Profiles = ui.Parts(tx, sandbox.SpendByProfile, r.byProfile, running)
	}
	v.ShowRange(shown)
	v.ShowBudgets(ui.BudgetRows(tx, r.budgets, r.grants, now), r.profiles)
	v.ShowSizes(ui.PriceGroups(tx, r.prices.Sizes))
	v.ShowPlaces(append([]string{sandbox.ProfileLocal}, r.profiles...))
	v.ShowAccount(p.account)
	if p.budget != "" {
		v.PlaceBudget(p.budget)
		p.budget = ""
	}
}

// again reads the account, once at a time.
func (p *spend) again() {
	if p.reading {
		p.stale = true
		return
	}
	p.reading, p.stale = true, false
	p.readAt = p.c.env.Now()
	ask := &spendRead{days: p.days, now: p.readAt}
	living := alive(p.snap)
	fetch(p.ctx, func(ctx context.Context) (*spendRead, error) { return ask, ask.from(ctx, p.c.client) }, func(r *spendRead, err error) {
		p.reading = false
		if err != nil {
			p.view.Banner().Error(p.c.env.Explain(err), p.again, p.c.env.Texts.Get("spend.retry"))
			return
		}
		p.view.Banner().Clear()
		p.read, p.alive = r, living
		p.first(r.orders)
		p.render()
		if p.stale {
			p.again()
		}
	})
}

// first takes in the newest part of the account. What is older and was loaded
// stays: it does not change.
func (p *spend) first(page sandbox.OrderPage) {
	a := &p.account
	if !a.Loaded {
		a.Loaded, a.Orders, a.More, p.cursor = true, page.Orders, page.Next != "", page.Next
		a.Grants = p.read.names()
		return
	}
	fresh := map[string]bool{}
	for _, o := range page.Orders {
		fresh[o.ID] = true
	}
	older := slices.DeleteFunc(slices.Clone(a.Orders), func(o sandbox.Order) bool { return fresh[o.ID] })
	a.Orders = append(slices.Clone(page.Orders), older...)
	a.Grants = p.read.names()
}

// older loads more of the account.
func (p *spend) older() {
	if p.account.Busy || p.cursor == "" {
		return
	}
	p.account.Busy = true
	p.view.ShowAccount(p.account)
	cursor := p.cursor
	fetch(p.ctx, func(ctx context.Context) (sandbox.OrderPage, error) {
		return p.c.client.Orders(ctx, sandbox.OrderQuery{Limit: spendOrders, Cursor: cursor})
	}, func(page sandbox.OrderPage, err error) {
		p.account.Busy = false
		if err != nil {
			p.c.fail(err)
		} else {
			known := map[string]bool{}
			for _, o := range p.account.Orders {
				known[o.ID] = true
			}
			for _, o := range page.Orders {
				if !known[o.ID] {
					p.account.Orders = append(p.account.Orders, o)
				}
			}
			p.cursor, p.account.More = page.Next, page.Next != ""
		}
		p.view.ShowAccount(p.account)
	})
}

// setBudget gives a budget another limit.
func (p *spend) setBudget(b sandbox.Budget, done func(problem string)) {
	env := p.c.env
	fetch(p.ctx, func(ctx context.Context) (sandbox.Budget, error) { return p.c.client.SetBudget(ctx, b) }, func(set sandbox.Budget, err error) {
		if err != nil {
			done(env.Explain(err))
			return
		}
		done("")
		name := set.Owner
		if p.read != nil {
			name = p.read.nameOf(set.Owner)
		}
		p.c.toast(env.Texts.Get("spend.budget.saved", "budget", ui.BudgetTitle(env.Texts, set.Level, name), "limit", ui.LimitText(env.Texts, set.Limit, set.Period)))
		p.again()
	})
}

// templates asks what sandboxes of a profile can be made of.
func (p *spend) templates(profile string) {
	fetch(p.ctx, func(ctx context.Context) ([]sandbox.Template, error) {
		return p.c.client.Templates(ctx, sandbox.Profile{Name: profile})
	}, func(all []sandbox.Template, err error) {
		if err == nil { // else the quote says why, once it is asked for
			p.view.ShowTemplates(profile, all)
		}
	})
}

// quote asks what a sandbox would cost.
func (p *spend) quote(a view.Ask) {
	fetch(p.ctx, func(ctx context.Context) (sandbox.Quote, error) {
		return p.c.client.Quote(ctx, sandbox.Spec{
			Profile: sandbox.Profile{Name: a.Profile}, Template: a.Template, Timeout: a.Life, Idle: a.Idle, Asked: true,
		})
	}, func(q sandbox.Quote, err error) {
		problem := ""
		if err != nil {
			problem = p.c.env.Explain(err)
		}
		p.view.ShowQuote(q, problem)
	})
}

// refreshPrices has the engine ask AWS for its prices.
func (p *spend) refreshPrices(profile string) {
	env := p.c.env
	stop := view.Busy(env, env.Texts.Get("spend.quote.asking"))
	fetch(context.WithoutCancel(p.ctx), // it goes on when the page is left
		func(ctx context.Context) (control.PriceTable, error) { return p.c.client.RefreshPrices(ctx, profile) }, func(t control.PriceTable, err error) {
			stop()
			if err != nil {
				p.c.fail(err)
				return
			}
			p.c.toast(env.Texts.Get("spend.prices.refreshed", "version", t.Version, "day", t.Sourced))
			p.again()
		})
}
