package app

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// Balance tells what a grant has left.
func (g *gate) Balance(ctx context.Context, q control.BalanceQuery) (sandbox.Balance, error) {
	p, err := g.reader(ctx, "")
	if err != nil {
		return sandbox.Balance{}, err
	}
	a := g.books
	who := p.grant
	if q.Grant != "" && q.Grant != who.ID && q.Grant != who.Name {
		if !p.person() {
			return sandbox.Balance{}, lacks(who, sandbox.ScopeBilling)
		}
		if who, err = a.ledger.Grant(ctx, q.Grant); err != nil {
			return sandbox.Balance{}, err
		}
	}
	spec := sandbox.Spec{Profile: q.Profile, Template: q.Template}
	if spec.Profile.Name == "" {
		spec.Profile.Name = who.Profile
	}
	if spec.Profile.Connection == "" {
		spec.Profile.Connection = p.caller.Connection
	}
	spec, err = g.app.connections.place(spec, false)
	profile := spec.Profile.Name
	if err != nil { // there is a balance all the same, and whoever makes a sandbox is told
		profile = cmp.Or(profile, sandbox.ProfileLocal)
	}
	b := sandbox.Balance{Grant: who, At: a.clock.Now()}
	budgets, failed := a.budgets(ctx, who.ID, profile)
	if failed != nil {
		return b, failed
	}
	b.Budgets = p.shown(budgets)
	b.Left, _ = leastLeft(budgets)
	var paces []pace
	a.mu.Lock()
	for _, m := range a.orders {
		if m.order.Grant != who.ID {
			continue
		}
		b.Running++
		if m.order.State == sandbox.OrderRunning && !m.order.Local && m.Rates.Known() && m.Accrual.State != sandbox.Suspended {
			perHour := price.PerHour(m.Rates, m.Plan)
			b.PerHour = b.PerHour.Plus(perHour)
			paces = append(paces, pace{m.order.MaxEndAt, perHour})
		}
	}
	a.mu.Unlock()
	switch most := grant.Longest(who, b.At); {
	case b.Left != nil && err == nil && profile != sandbox.ProfileLocal:
		b.Longest = new(min(most, g.longest(ctx, who, spec, *b.Left)))
	case who.MaxHours != 0 || !who.ExpiresAt.IsZero():
		b.Longest = &most
	}
	if b.Left != nil {
		b.RunsOutAt = runsOut(paces, *b.Left, b.At)
	}
	return b, nil
}

// shown are budgets as p may see them: of those of others no more than what is
// left, unless it may know what everybody spends.
func (p pass) shown(budgets []sandbox.Budget) []sandbox.Budget {
	if p.grant.Allows(sandbox.ScopeBilling) {
		return budgets
	}
	out := slices.Clone(budgets)
	for i, b := range out {
		if b.Level != sandbox.LevelGrant {
			out[i] = sandbox.Budget{Level: b.Level, Owner: b.Owner, Limit: b.Left(), Period: b.Period, Since: b.Since, OverLimit: b.OverLimit, LeftOnly: true}
		}
	}
	return out
}

// A pace is that of one sandbox: what runs is paid for until its end by what is
// held for it, and only one like it, from then on, takes of what is left.
type pace struct {
	from    time.Time
	perHour sandbox.Micro
}

// foreseeable is how many hours ahead it is said when money runs out.
const foreseeable = 100 * 365 * 24

// runsOut is when nothing is left if each sandbox is followed by one like it;
// zero is never.
func runsOut(all []pace, left sandbox.Micro, now time.Time) time.Time {
	slices.SortFunc(all, func(a, b pace) int { return a.from.Compare(b.from) })
	at, sum := now, sandbox.Micro(0)
	for i, p := range all {
		if p.from.After(at) {
			at = p.from
		}
		sum = sum.Plus(p.perHour)
		if sum == 0 || left/sum >= foreseeable {
			continue
		}
		over := at.Add(time.Duration(left/sum)*time.Hour + time.Duration(float64(left%sum)/float64(sum)*float64(time.Hour)))
		if i+1 == len(all) || !all[i+1].from.Before(over) {
			return over.UTC().Truncate(time.Second)
		}
		if next := all[i+1].from; next.After(at) {
			left -= sandbox.Micro(float64(sum) * next.Sub(at).Hours())
		}
	}
	return time.Time{}
}

// longest is how long the usual sandbox of a profile could live for what is left.
func (g *gate) longest(ctx context.Context, who sandbox.Grant, spec sandbox.Spec, left sandbox.Micro) sandbox.Seconds {
	image := fleet.Image{SizeMiB: usualSize}
	if cloud, err := g.open(ctx, spec.Profile, false); err == nil && cloud != nil {
		if known, err := cloud.Image(ctx, spec.Template, spec.Version); err == nil {
			image = known
		}
	}
	rates, ok := g.books.table().Rates(cmp.Or(regionOf(image.ARN), usualRegion), image.SizeMiB, g.books.clock.Now())
	if !ok {
		return 0
	}
	return price.Longest(rates, planOf(who, fleet.Ask{Image: image, Idle: spec.Idle}), left)
}

// What a sandbox is taken to be of whose image nothing can be learnt.
const (
	usualSize   = 2048
	usualRegion = "us-east-1"
)
