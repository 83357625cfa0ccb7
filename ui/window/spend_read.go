package window

import (
	"cmp"
	"context"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A spendRead is what the account says at one moment, as far as the page shows
// it.
type spendRead struct {
	days  ui.Days
	now   time.Time
	today ui.Days

	todays, yesterdays, months []sandbox.SpendRow
	byHost, byProfile          []sandbox.SpendRow // of days
	buckets                    []ui.Bucket
	sums                       []ui.Sum // of the buckets
	ever                       bool     // that there was anything

	hosts    map[string]string // which app asked for what lives
	orders   sandbox.OrderPage // the newest
	budgets  []sandbox.Budget
	grants   map[string]ui.BudgetOwner
	profiles []string // of AWS
	prices   control.PriceTable
}

const (
	spendTries    = 3  // to read sums that agree, while things end
	spendBalances = 20 // of tokens that something runs for
)

// from reads all of it. What ends between two of the questions would make sums
// that disagree, so that they are asked again then.
func (r *spendRead) from(ctx context.Context, client *control.Client) error {
	for try := 1; ; try++ {
		if err := r.spending(ctx, client); err != nil {
			return err
		}
		if try == spendTries || r.agrees() {
			break
		}
	}
	if r.profilesOf(ctx, client) != nil {
		r.profiles = nil // their own page tells why
	}
	var err error
	if r.prices, err = client.RefreshPrices(ctx, ""); err != nil { // asks nobody
		return err
	}
	return r.limits(ctx, client)
}

func (r *spendRead) spending(ctx context.Context, client *control.Client) error {
	rows := func(by sandbox.SpendBy, d ui.Days) ([]sandbox.SpendRow, error) {
		return client.Spend(ctx, sandbox.SpendQuery{By: by, Since: d.From, Until: d.Until})
	}
	var err error
	get := func(to *[]sandbox.SpendRow, by sandbox.SpendBy, d ui.Days) {
		if err == nil {
			*to, err = rows(by, d)
		}
	}
	r.today = ui.DaysOf(ui.RangeToday, r.now)
	get(&r.todays, sandbox.SpendByProfile, r.today)
	get(&r.yesterdays, sandbox.SpendByProfile, ui.DaysOf(ui.RangeYesterday, r.now))
	get(&r.months, sandbox.SpendByProfile, ui.DaysOf(ui.RangeMonth, r.now))
	get(&r.byHost, sandbox.SpendByHost, r.days)
	get(&r.byProfile, sandbox.SpendByProfile, r.days)
	r.buckets = ui.Buckets(r.days)
	r.sums = make([]ui.Sum, len(r.buckets))
	for i, b := range r.buckets {
		var part []sandbox.SpendRow
		get(&part, sandbox.SpendByProfile, b.Days)
		r.sums[i] = ui.SumOf(part)
	}
	var all []sandbox.SpendRow
	get(&all, sandbox.SpendByProfile, ui.Days{})
	r.ever = !ui.SumOf(all).None()
	if err != nil {
		return err
	}
	return r.account(ctx, client)
}

// account reads the newest sandboxes of the account, and those that live.
func (r *spendRead) account(ctx context.Context, client *control.Client) (err error) {
	if r.orders, err = client.Orders(ctx, sandbox.OrderQuery{Limit: spendOrders}); err != nil {
		return err
	}
	r.hosts = map[string]string{}
	q := sandbox.OrderQuery{Open: true, Limit: 1000}
	for {
		page, err := client.Orders(ctx, q)
		if err != nil {
			return err
		}
		for _, o := range page.Orders {
			r.hosts[o.ID] = o.Host
		}
		if page.Next == "" {
			return nil
		}
		q.Cursor = page.Next
	}
}

// agrees reports whether all sums are those of one moment.
func (r *spendRead) agrees() bool {
	var bars ui.Sum
	for _, s := range r.sums {
		bars = bars.Plus(s)
	}
	hosts, profiles := ui.SumOf(r.byHost), ui.SumOf(r.byProfile)
	return bars.Spent == profiles.Spent && hosts.Spent == profiles.Spent && bars.Would == profiles.Would && hosts.Would == profiles.Would
}

func (r *spendRead) profilesOf(ctx context.Context, client *control.Client) error {
	all, err := client.OwnProfiles(ctx)
	if err != nil {
		return err
	}
	for _, p := range all.Profiles {
		r.profiles = append(r.profiles, p.Name)
	}
	return nil
}

// limits reads the budgets, whose they are, and when those run out that
// something runs for.
func (r *spendRead) limits(ctx context.Context, client *control.Client) (err error) {
	if r.budgets, err = client.Budgets(ctx); err != nil {
		return err
	}
	tokens, err := client.Tokens(ctx, "")
	if err != nil {
		return err
	}
	r.grants = map[string]ui.BudgetOwner{}
	asked := 0
	for _, t := range tokens {
		o := ui.BudgetOwner{Name: t.Grant.Name, Gone: !t.Grant.RevokedAt.IsZero()}
		if t.Running > 0 && t.Grant.Limit != nil && asked < spendBalances {
			asked++
			b, err := client.Balance(ctx, control.BalanceQuery{Grant: t.Grant.ID})
			if err != nil {
				return err
			}
			o.RunsOut = b.RunsOutAt
		}
		r.grants[t.Grant.ID] = o
	}
	return nil
}

// names are those of all grants, by their ids.
func (r *spendRead) names() map[string]string {
	out := map[string]string{}
	for id, o := range r.grants {
		out[id] = o.Name
	}
	return out
}

// nameOf is the name of the owner of a budget.
func (r *spendRead) nameOf(owner string) string { return cmp.Or(r.grants[owner].Name, owner) }
