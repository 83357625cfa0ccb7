package app

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// A request is what there is to know of who asks for a sandbox, beside what it
// is to be.
type request struct {
	given      bool   // how long it may exist was said, and is no default
	template   string // as the caller names it
	credential string
	want       ledger.Want // by what it is known again
}

// planOf is what a sandbox is to the prices.
func planOf(g sandbox.Grant, ask fleet.Ask) price.Plan {
	return price.Plan{
		SizeMiB: ask.Image.SizeMiB, SnapshotMGB: ask.Image.SnapshotMGB, Life: secondsOf(ask.Life), Idle: secondsOf(ask.Idle),
		Burst: cmp.Or(g.Burst, sandbox.BurstStrict),
	}
}

func secondsOf(d time.Duration) sandbox.Seconds {
	return sandbox.Seconds((d + time.Second - 1) / time.Second)
}

// policy judges what is asked for by what the grant allows.
func (a *books) policy(g sandbox.Grant, ask fleet.Ask, r request) error {
	if g.ID == sandbox.GrantOwner {
		return nil
	}
	return grant.Policy(g, grant.Ask{
		Life: secondsOf(ask.Life), Given: r.given, Template: cmp.Or(r.template, imageName(ask.Image.ARN)), ARN: ask.Image.ARN, Profile: ask.Profile,
	}, a.clock.Now())
}

// imageName is the name of an image in its ARN.
func imageName(arn string) string {
	for i := len(arn) - 1; i >= 0; i-- {
		if arn[i] == ':' || arn[i] == '/' {
			return arn[i+1:]
		}
	}
	return arn
}

// reserve has what a sandbox may cost held, if its grant allows it, unless the
// same was asked for before.
func (a *books) reserve(ctx context.Context, ask fleet.Ask, r request) (ledger.Found, error) {
	found, err := a.tryReserve(ctx, ask, r)
	if err != nil && ctx.Err() == nil {
		a.tellRefusal(ask, err)
	}
	return found, err
}

func (a *books) tryReserve(ctx context.Context, ask fleet.Ask, r request) (ledger.Found, error) {
	if err := a.billable(ctx); err != nil {
		return ledger.Found{}, err
	}
	g, err := a.grant(ctx, cmp.Or(ask.Grant, sandbox.GrantOwner))
	if err != nil {
		return ledger.Found{}, err
	}
	if err := grant.Usable(g, nil, a.clock.Now()); err != nil {
		return ledger.Found{}, err
	}
	if err := a.policy(g, ask, r); err != nil {
		return ledger.Found{}, err
	}
	plan := planOf(g, ask)
	local := ask.Profile == sandbox.ProfileLocal
	o := sandbox.Order{
		ID: ask.Key, Grant: g.ID, Profile: ask.Profile, Host: ask.Host, Region: regionOf(ask.Image.ARN), Template: ask.Image.ARN, Version: ask.Image.Version,
		Name: ask.Name, SizeMiB: ask.Image.SizeMiB, Snapshot: ask.Image.SnapshotMGB, Burst: plan.Burst, Local: local, Life: plan.Life, Idle: plan.Idle,
	}
	rates, ok := a.table().Rates(o.Region, plan.SizeMiB, a.clock.Now())
	o.Prices = rates.Version
	switch {
	case !ok:
		o.Unpriced = true
	case !local:
		if o.Hold, err = price.Worst(rates, plan); err != nil {
			return ledger.Found{}, err
		}
	}
	if o.Unpriced && g.Capped() && !local {
		return ledger.Found{}, unpriced(o)
	}
	want := r.want
	want.Order, want.Credential = o, r.credential
	found, err := a.ledger.Reserve(ctx, want)
	if sandbox.CodeOf(err) == sandbox.Exists { // by an engine that did not live to say so
		if o, err := a.ledger.Order(ctx, ask.Key); err == nil && o.State.Open() {
			return ledger.Found{Outcome: ledger.Fresh, Order: o}, nil
		}
	}
	if no, is := refusedBy(err); is {
		return found, tooDear(err, no, rates, plan)
	}
	if err != nil || found.Outcome != ledger.Fresh {
		return found, err
	}
	m := &meter{order: found.Order, meterRecord: meterRecord{Rates: rates, Plan: plan}}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.orders[ask.Key] = m
	a.keepLocked(m)
	return found, nil
}

func unpriced(o sandbox.Order) error {
	return &sandbox.Error{
		Code: sandbox.PriceUnknown, Msg: fmt.Sprintf("no price is known for %d MiB in the region %s: a token with a limit can't pay for that", o.SizeMiB, cmp.Or(o.Region, "?")),
		Hint:    "use another region or size, or add the price to the file of your own prices",
		Details: map[string]any{"region": o.Region, "size_mib": o.SizeMiB},
	}
}

// tooDear is err with how long a sandbox would fit.
func tooDear(err error, no *ledger.Refused, rates price.Rates, plan price.Plan) error {
	e := *sandbox.ToError(err)
	longest := min(price.Longest(rates, plan, no.Left), plan.Life)
	e.Details = map[string]any{
		"level": string(no.Level), "owner": no.Owner, "asked_micro": int64(no.Asked), "left_micro": int64(no.Left), "longest_s": int64(longest), "asked_s": int64(plan.Life),
	}
	if e.Code == sandbox.BudgetExceeded {
		e.Msg = fmt.Sprintf("%s USD would be held, %s are left of the budget of the %s", no.Asked, no.Left, no.Level)
		e.Hint = "nothing fits any more: ask the owner to raise the limit"
		if longest >= sandbox.Seconds(math.Round(grant.MinHours*3600)) {
			e.Hint = fmt.Sprintf("%d minutes would fit", longest/60)
		}
	}
	return &e
}

// tellRefusal keeps that something was refused for reasons that its owner may
// want to hear of.
func (a *books) tellRefusal(ask fleet.Ask, err error) {
	e := sandbox.ToError(err)
	severity := sandbox.SeverityWarn
	switch e.Code {
	case sandbox.BudgetExceeded, sandbox.OverLimit, sandbox.PriceUnknown, sandbox.Concurrency, sandbox.ClockSuspect:
	case sandbox.HoursTooLong, sandbox.TemplateDenied, sandbox.ProfileDenied: // whoever asks can ask for something else
		severity = sandbox.SeverityInfo
	default:
		return
	}
	data := map[string]any{"code": string(e.Code), "name": ask.Name}
	for _, key := range []string{"level", "asked_micro", "left_micro"} {
		if v, ok := e.Details[key]; ok {
			data[key] = v
		}
	}
	// One a minute says it all.
	a.emit(sandbox.Event{
		ID:   fmt.Sprintf("refused:%s:%s:%d", ask.Grant, e.Code, a.clock.Now().Unix()/60),
		Kind: sandbox.EventRefused, Severity: severity, Grant: cmp.Or(ask.Grant, sandbox.GrantOwner), Subject: cmp.Or(ask.Grant, sandbox.GrantOwner), Data: data,
	})
}

// budgets are all that limit what a grant does with a profile, its own first.
func (a *books) budgets(ctx context.Context, grantID, profile string) ([]sandbox.Budget, error) {
	var out []sandbox.Budget
	for _, at := range []struct {
		level sandbox.BudgetLevel
		owner string
	}{{sandbox.LevelGrant, grantID}, {sandbox.LevelProfile, profile}, {sandbox.LevelGlobal, ""}} {
		b, err := a.ledger.Budget(ctx, at.level, at.owner)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// leastLeft is what is left in the tightest of some budgets, and which that is;
// nil is no limit.
func leastLeft(budgets []sandbox.Budget) (left *sandbox.Micro, level sandbox.BudgetLevel) {
	for _, b := range budgets {
		n := b.Left()
		if n != nil && b.OverLimit {
			n = new(sandbox.Micro(0))
		}
		if n != nil && (left == nil || *n < *left) {
			left, level = n, b.Level
		}
	}
	return left, level
}
