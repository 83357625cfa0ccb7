package app

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// reader judges a request that only looks.
func (g *gate) reader(ctx context.Context, connection string) (pass, error) {
	p, err := g.books.who(ctx, connection)
	if err != nil {
		return p, err
	}
	if p.blind {
		return p, g.books.unusable()
	}
	return p, p.may(sandbox.ScopeRead, true)
}

// Alerts are those of the last day that the caller of ctx is to hear of, the
// newest first.
func (g *gate) Alerts(ctx context.Context) []sandbox.Event {
	a := g.books
	call := sandbox.CallOf(ctx)
	if a.ledger == nil || call == nil {
		return nil
	}
	c := call.Caller()
	var who sandbox.Grant
	var err error
	if c.Token != "" {
		who, _, err = a.ofToken(ctx, c.Token)
	} else {
		who, err = a.ofConnection(ctx, c.Connection)
	}
	if err != nil { // whoever it is hears nothing of others
		return nil
	}
	since := a.clock.Now().Add(-alertsFor)
	a.mu.Lock()
	for len(a.alerts) > 0 && a.alerts[0].At.Before(since) {
		a.alerts = a.alerts[1:]
	}
	var out []sandbox.Event
	for _, e := range slices.Backward(a.alerts) {
		if sees(who, e) && !e.At.Before(since) {
			out = append(out, e)
		}
	}
	a.mu.Unlock()
	return a.stand(ctx, out)
}

// stand are the alerts that still mean something: not those of a limit that was
// taken away.
func (a *books) stand(ctx context.Context, alerts []sandbox.Event) []sandbox.Event {
	limited := map[string]bool{}
	return slices.DeleteFunc(alerts, func(e sandbox.Event) bool {
		if e.Kind != sandbox.EventThreshold && e.Kind != sandbox.EventOver {
			return false
		}
		known, ok := limited[e.Subject]
		if !ok {
			level, owner, _ := strings.Cut(e.Subject, ":")
			b, err := a.ledger.Budget(ctx, sandbox.BudgetLevel(level), owner)
			known = err != nil || b.Limit != nil
			limited[e.Subject] = known
		}
		return !known
	})
}

// sees reports whether an event is any business of a grant: what is its own, and
// what holds up all of them. What others may spend, and were refused, is for
// those who may know what everybody spends.
func sees(g sandbox.Grant, e sandbox.Event) bool {
	switch {
	case g.ID == sandbox.GrantOwner || e.Grant == g.ID || e.Kind == sandbox.EventClock:
		return true
	case e.Kind == sandbox.EventThreshold, e.Kind == sandbox.EventOver, e.Kind == sandbox.EventRefused:
		return g.Allows(sandbox.ScopeBilling)
	}
	return g.Allows(sandbox.ScopeManage)
}

// Authorize returns the grant that the call is under.
func (g *gate) Authorize(ctx context.Context, _ struct{}) (sandbox.Grant, error) {
	p, err := g.books.who(ctx, "")
	return p.grant, err
}

// Quote tells what a sandbox would be held for, and makes nothing.
func (g *gate) Quote(ctx context.Context, spec sandbox.Spec) (sandbox.Quote, error) {
	p, err := g.reader(ctx, spec.Profile.Connection)
	if err != nil {
		return sandbox.Quote{}, err
	}
	if err := spec.Validate(); err != nil {
		return sandbox.Quote{}, err
	}
	if spec, err = g.app.connections.place(spec, false); err != nil {
		return sandbox.Quote{}, err
	}
	spec.Timeout = cmp.Or(spec.Timeout, usualLife)
	image, err := g.image(ctx, spec)
	if err != nil {
		return sandbox.Quote{}, err
	}
	return g.books.quote(ctx, p.grant, spec, image)
}

func (a *books) quote(ctx context.Context, who sandbox.Grant, spec sandbox.Spec, image fleet.Image) (sandbox.Quote, error) {
	plan := planOf(who, fleet.Ask{Image: image, Life: spec.Timeout, Idle: spec.Idle})
	now := a.clock.Now()
	q := sandbox.Quote{
		Profile: spec.Profile.Name, Region: regionOf(image.ARN), Template: image.ARN, Version: image.Version, SizeMiB: image.SizeMiB,
		Life: plan.Life, Idle: plan.Idle, Local: spec.Profile.Name == sandbox.ProfileLocal, Fits: true, Longest: plan.Life,
	}
	if longest := grant.Longest(who, now); longest < q.Longest {
		q.Fits, q.Longest = false, longest
	}
	rates, ok := a.table().Rates(q.Region, plan.SizeMiB, now)
	if price.ShortIdle(plan.Idle, rates, plan) {
		q.Hint = "idle_short"
	}
	budgets, err := a.budgets(ctx, who.ID, q.Profile)
	if err != nil {
		return q, err
	}
	left, level := leastLeft(budgets)
	if !ok {
		q.Unpriced = true
		if left != nil && !q.Local {
			q.Fits, q.Longest, q.Level = false, 0, string(level)
		}
		return q, nil
	}
	q.Prices, q.Sourced = rates.Version, rates.Sourced.UTC().Format(time.DateOnly)
	if q.Hold, err = price.Worst(rates, plan); err != nil {
		return q, err
	}
	q.Expected = price.Expected(rates, plan)
	if left != nil && !q.Local && q.Hold > *left {
		q.Fits, q.Level = false, string(level)
		q.Longest = min(q.Longest, price.Longest(rates, plan, *left))
	}
	return q, nil
}

// Events returns events: of a token its own, unless it manages others.
func (g *gate) Events(ctx context.Context, q sandbox.EventQuery) (sandbox.EventPage, error) {
	p, err := g.reader(ctx, "")
	if err != nil {
		return sandbox.EventPage{}, err
	}
	if q.Limit < 0 || q.Limit > 100 {
		return sandbox.EventPage{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "limit must be from 1 to 100", Details: map[string]any{"field": "limit", "rule": "range", "min": 1, "max": 100}}
	}
	if q.Grant, err = g.only(ctx, p, q.Grant); err != nil {
		return sandbox.EventPage{}, err
	}
	page, err := g.books.ledger.Events(ctx, q)
	out := slices.DeleteFunc(append([]sandbox.Event{}, page.Events...), func(e sandbox.Event) bool { return !sees(p.grant, e) })
	if q.Alerts {
		out = g.books.stand(ctx, out)
	}
	return sandbox.EventPage{Events: out, Next: page.Next}, err
}

// only is the grant whose things p is shown, who asks for those of one, "" being
// all that p may see.
func (g *gate) only(ctx context.Context, p pass, asked string) (string, error) {
	all := p.grant.Allows(sandbox.ScopeManage)
	if asked == "" {
		if all {
			return "", nil
		}
		return p.grant.ID, nil
	}
	if asked == p.grant.ID || asked == p.grant.Name {
		return p.grant.ID, nil
	}
	if !all {
		return "", lacks(p.grant, sandbox.ScopeManage)
	}
	have, err := g.books.ledger.Grant(ctx, asked)
	return have.ID, err
}

// FollowEvents calls emit with each event from now on.
func (g *gate) FollowEvents(ctx context.Context, emit func(sandbox.Event) error) error {
	p, err := g.reader(ctx, "")
	if err != nil {
		return err
	}
	ctx, done := g.books.open(ctx, p, "")
	defer done()
	events, cancel := g.books.ledger.Subscribe()
	defer cancel()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return errEnding()
			}
			if !sees(p.grant, e) {
				continue
			}
			if err := emit(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return because(ctx, ctx.Err())
		}
	}
}

func errEnding() error {
	return &sandbox.Error{Code: sandbox.Unreachable, Msg: "the engine is ending, or the events come too fast", Retryable: true}
}

// Orders lists sandboxes of the account, past ones too.
func (g *gate) Orders(ctx context.Context, q sandbox.OrderQuery) (sandbox.OrderPage, error) {
	p, err := g.reader(ctx, "")
	if err != nil {
		return sandbox.OrderPage{}, err
	}
	if q.Grant, err = g.only(ctx, p, q.Grant); err != nil {
		return sandbox.OrderPage{}, err
	}
	page, err := g.books.ledger.Orders(ctx, q)
	out := sandbox.OrderPage{Orders: append([]sandbox.Order{}, page.Orders...), Next: page.Next}
	a := g.books
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range out.Orders { // with what the open ones have cost so far
		if m := a.orders[out.Orders[i].ID]; m != nil && out.Orders[i].State.Open() {
			out.Orders[i].Cost = a.costLocked(m, a.clock.Now())
		}
	}
	return out, err
}

// Spend sums what was spent: by all grants only for those who may know.
func (g *gate) Spend(ctx context.Context, q sandbox.SpendQuery) ([]sandbox.SpendRow, error) {
	p, err := g.reader(ctx, "")
	if err != nil {
		return nil, err
	}
	if q.Grant == p.grant.Name {
		q.Grant = p.grant.ID
	}
	if q.Grant != p.grant.ID {
		if err := grant.CheckReports(p.grant); err != nil {
			return nil, err
		}
	}
	if q.Grant != "" && q.Grant != p.grant.ID {
		have, err := g.books.ledger.Grant(ctx, q.Grant)
		if err != nil {
			return nil, err
		}
		q.Grant = have.ID
	}
	by := ledger.Heading(q.By)
	if q.By == sandbox.SpendByToken {
		by = ledger.ByGrant
	}
	rows, err := g.books.ledger.Spend(ctx, by, q.Grant, q.Since, q.Until)
	return append([]sandbox.SpendRow{}, rows...), err
}

// Templates lists the images of a profile, the best first: the profile's own,
// then what the grant has used most, what can be used at all, what costs least.
func (g *gate) Templates(ctx context.Context, at sandbox.Profile) ([]sandbox.Template, error) {
	p, err := g.reader(ctx, at.Connection)
	if err != nil {
		return nil, err
	}
	spec, err := g.app.connections.place(sandbox.Spec{Profile: at}, false)
	if err != nil {
		return nil, err
	}
	cloud, err := g.app.clouds.of(ctx, spec.Profile)
	if err != nil {
		return nil, err
	}
	all, err := cloud.templates(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := g.books.ledger.Spend(ctx, ledger.ByTemplate, p.grant.ID, time.Time{}, time.Time{})
	if err != nil {
		return nil, err
	}
	used := map[string]int{}
	for _, r := range rows {
		used[r.Key] = r.Sandboxes
	}
	usual := cmp.Or(spec.Template, cloud.image)
	out := []sandbox.Template{}
	for _, t := range all {
		if len(p.grant.Templates) > 0 && !slices.Contains(p.grant.Templates, t.Name) && !slices.Contains(p.grant.Templates, t.ARN) {
			continue
		}
		t.Default, t.Used = usual == t.Name || usual == t.ARN, used[t.ARN]
		if rates, ok := g.books.table().Rates(regionOf(t.ARN), t.SizeMiB, g.books.clock.Now()); ok {
			t.PerHour = price.PerHour(rates, planOf(p.grant, fleet.Ask{Image: fleet.Image{SizeMiB: t.SizeMiB}}))
		}
		out = append(out, t)
	}
	sortTemplates(out)
	return out, nil
}

// sortTemplates puts the best first, and says why each is where it is.
func sortTemplates(all []sandbox.Template) {
	cheapest := sandbox.Micro(math.MaxInt64)
	for _, t := range all {
		if t.Version != "" && t.PerHour > 0 {
			cheapest = min(cheapest, t.PerHour)
		}
	}
	for i := range all {
		t := &all[i]
		t.Why = []string{}
		for _, r := range []struct {
			is  bool
			key string
		}{{t.Default, "default"}, {t.Used > 0, "used"}, {t.Version != "", "launchable"}, {t.Version != "" && t.PerHour == cheapest, "cheap"}} {
			if r.is {
				t.Why = append(t.Why, r.key)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b sandbox.Template) int {
		return cmp.Or(before(a.Version != "", b.Version != ""), before(a.Default, b.Default), b.Used-a.Used, cmp.Compare(a.PerHour, b.PerHour), strings.Compare(a.Name, b.Name))
	})
}

// before orders what is so before what is not.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// CheckLedger looks for what the account should never hold.
func (g *gate) CheckLedger(ctx context.Context, _ struct{}) ([]sandbox.Violation, error) {
	if err := g.steward(ctx); err != nil {
		return nil, err
	}
	g.books.flush()
	found, err := g.books.ledger.Check(ctx)
	out := []sandbox.Violation{}
	for _, v := range found {
		out = append(out, sandbox.Violation{Rule: v.Rule, Subject: v.Subject, Text: v.Detail})
	}
	return out, err
}

// ExportLedger emits the account in parts.
func (g *gate) ExportLedger(ctx context.Context, format string, emit func([]byte) error) error {
	if err := g.steward(ctx); err != nil {
		return err
	}
	g.books.flush()
	tables := []ledger.Table{ledger.TableOrders}
	if ledger.Format(format) == ledger.FormatJSON {
		tables = []ledger.Table{ledger.TableOrders, ledger.TableEntries}
	}
	return g.books.ledger.Export(ctx, emitter(emit), ledger.Format(format), tables...)
}

// An emitter passes on what is written to it.
type emitter func([]byte) error

var _ io.Writer = emitter(nil)

func (e emitter) Write(p []byte) (int, error) {
	return len(p), e(slices.Clone(p))
}
