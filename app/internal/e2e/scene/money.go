package scene

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// down is what all of the account fails with where it can't be used.
func (s *Scene) down() error {
	if s.kind != Down {
		return nil
	}
	return &sandbox.Error{
		Code: sandbox.StoreDown, Msg: "the disk with the record of what sandboxes cost is full", Hint: "make room on it, then restart the engine: arenero engine --stop",
		Details: map[string]any{"why": "full", "file": "/home/ada/.local/state/arenero/ledger.db"},
	}
}

// tellLocked has an event happen now.
func (s *Scene) tellLocked(e sandbox.Event) {
	e.At, e.Origin = s.clock.Now().UTC(), sandbox.OriginLocal
	e.ID = fmt.Sprintf("now:%06d", len(s.events))
	s.events = slices.Insert(s.events, 0, e)
	for l := range s.listeners {
		select {
		case l <- e:
		default: // it is not read any more
		}
	}
}

// settleLocked puts what has ended into the account.
func (s *Scene) settleLocked(b *box, now time.Time) {
	o := sandbox.Order{
		ID: b.Key, Sandbox: b.ID, Grant: b.Grant, State: sandbox.OrderSettled, Profile: b.Profile, Host: b.Host, Template: b.Template, Version: b.Version, Name: b.Name,
		SizeMiB: b.SizeMiB, Burst: sandbox.BurstBaseline, Cost: b.Cost, AskedAt: b.StartedAt, StartedAt: b.StartedAt, EndedAt: now, MaxEndAt: b.EndsAt, EndReason: b.EndReason,
		Hold: b.Hold, Settled: new(b.Cost.Total),
	}
	if b.Profile == sandbox.ProfileLocal {
		o.Local, o.Would, o.Settled = true, b.Cost.Total, new(sandbox.Micro(0))
	}
	s.orders = slices.Insert(s.orders, 0, o)
}

// Alerts are those of the last day.
func (s *Scene) Alerts(context.Context) []sandbox.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []sandbox.Event
	for _, e := range s.events {
		if e.Alert() && s.clock.Since(e.At) < 24*time.Hour {
			out = append(out, e)
		}
	}
	return out
}

// Authorize returns the owner's grant: nobody else is in the house.
func (s *Scene) Authorize(context.Context, struct{}) (sandbox.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[0].Grant, s.down()
}

// Quote prices a sandbox.
func (s *Scene) Quote(_ context.Context, spec sandbox.Spec) (sandbox.Quote, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return sandbox.Quote{}, err
	}
	name := cmp.Or(spec.Profile.Name, s.prefs.DefaultProfile)
	if s.away[name] {
		return sandbox.Quote{}, unsigned(name)
	}
	t := s.templates(name)
	i := max(0, slices.IndexFunc(t, func(t sandbox.Template) bool { return t.Name == spec.Template || t.ARN == spec.Template }))
	q := sandbox.Quote{
		Profile: name, Region: region, Template: t[i].ARN, Version: t[i].Version, SizeMiB: t[i].SizeMiB, Life: sandbox.Seconds(cmp.Or(spec.Timeout, time.Hour) / time.Second),
		Idle: sandbox.Seconds(spec.Idle / time.Second), Local: name == sandbox.ProfileLocal, Fits: true,
	}
	q.Longest = q.Life
	if p, ok := s.profile(name); ok {
		q.Region = p.Region
	}
	rates, ok := s.table.Rates(q.Region, q.SizeMiB, s.began)
	plan := price.Plan{SizeMiB: q.SizeMiB, Life: q.Life, Idle: q.Idle, Burst: sandbox.BurstBaseline}
	if q.Unpriced = !ok; !ok {
		return q, nil
	}
	if price.ShortIdle(q.Idle, rates, plan) {
		q.Hint = "idle_short"
	}
	q.Prices, q.Sourced, q.Expected = rates.Version, rates.Sourced.UTC().Format(time.DateOnly), price.Expected(rates, plan)
	q.Hold, _ = price.Worst(rates, plan)
	for _, b := range s.budgetsLocked() {
		if b.Level == sandbox.LevelGrant && b.Owner != sandbox.GrantOwner || b.Level == sandbox.LevelProfile && b.Owner != name || q.Local {
			continue
		}
		if left := b.Left(); left != nil && *left < q.Hold {
			q.Fits, q.Level, q.Longest = false, string(b.Level), min(q.Longest, price.Longest(rates, plan, *left))
		}
	}
	return q, nil
}

// Balance tells what a grant has left.
func (s *Scene) Balance(_ context.Context, q control.BalanceQuery) (sandbox.Balance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return sandbox.Balance{}, err
	}
	t, err := s.tokenLocked(cmp.Or(q.Grant, sandbox.GrantOwner))
	if err != nil {
		return sandbox.Balance{}, err
	}
	b := sandbox.Balance{Grant: t.Grant, At: s.clock.Now().UTC(), Running: t.Running}
	for _, one := range s.budgetsLocked() {
		if one.Level == sandbox.LevelGrant && one.Owner != t.Grant.ID || one.Level == sandbox.LevelProfile && one.Owner != cmp.Or(q.Profile.Name, s.prefs.DefaultProfile) {
			continue
		}
		b.Budgets = append(b.Budgets, one)
		if left := one.Left(); left != nil && (b.Left == nil || *left < *b.Left) {
			b.Left = left
		}
	}
	slices.SortStableFunc(b.Budgets, func(x, y sandbox.Budget) int { return levelOrder(x.Level) - levelOrder(y.Level) })
	for _, x := range s.boxes {
		if x.Grant == t.Grant.ID && x.State == sandbox.Running && x.Profile != sandbox.ProfileLocal {
			b.PerHour = b.PerHour.Plus(x.PerHour)
		}
	}
	if b.Left != nil && b.PerHour > 0 {
		b.RunsOutAt = b.At.Add(time.Duration(float64(*b.Left) / float64(b.PerHour) * float64(time.Hour))).Truncate(time.Second)
	}
	return b, nil
}

func levelOrder(l sandbox.BudgetLevel) int {
	return slices.Index([]sandbox.BudgetLevel{sandbox.LevelGrant, sandbox.LevelProfile, sandbox.LevelGlobal}, l)
}

// Events returns a page of them.
func (s *Scene) Events(_ context.Context, q sandbox.EventQuery) (sandbox.EventPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return sandbox.EventPage{}, err
	}
	since := q.Since
	if since.IsZero() {
		since = s.clock.Now().AddDate(0, 0, -days)
	}
	var all []sandbox.Event
	for _, e := range s.events {
		if (q.Grant == "" || q.Grant == e.Grant) && !e.At.Before(since) && (q.Until.IsZero() || e.At.Before(q.Until)) && (q.Kind == "" || q.Kind == e.Kind) && (!q.Alerts || e.Alert()) {
			all = append(all, e)
		}
	}
	page, next, err := cut(all, q.Cursor, cmp.Or(q.Limit, 20))
	return sandbox.EventPage{Events: page, Next: next}, err
}

// cut takes the part of all that a cursor leads to.
func cut[T any](all []T, cursor string, limit int) (page []T, next string, err error) {
	from := 0
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil || from < 0 {
			return nil, "", &sandbox.Error{Code: sandbox.Invalid, Msg: "the cursor is none of ours"}
		}
	}
	from = min(from, len(all))
	to := min(from+limit, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return append([]T{}, all[from:to]...), next, nil
}

// FollowEvents emits each that happens.
func (s *Scene) FollowEvents(ctx context.Context, emit func(sandbox.Event) error) error {
	news := make(chan sandbox.Event, 64)
	s.mu.Lock()
	s.listeners[news] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, news)
		s.mu.Unlock()
	}()
	for {
		select {
		case e := <-news:
			if err := emit(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-s.stop:
			return &sandbox.Error{Code: sandbox.Unreachable, Msg: "the engine is ending", Retryable: true}
		}
	}
}

// templates are the images of a profile.
func (s *Scene) templates(profile string) []sandbox.Template {
	p, ok := s.profile(profile)
	if !ok {
		t := sandbox.Template{Name: "arenero-local", ARN: localImage, Version: "1", Versions: []string{"1"}, SizeMiB: 2048, State: "ACTIVE", Default: true, Used: 11, Why: []string{"default", "used", "launchable"}}
		return []sandbox.Template{s.priced(t, region)}
	}
	out := []sandbox.Template{
		{Name: "pizarra", Version: "7", Versions: []string{"7", "6", "4"}, SizeMiB: 4096, State: "ACTIVE", Used: 38, Why: []string{"used", "launchable"}},
		{Name: "taller-python", Version: "3", Versions: []string{"3"}, SizeMiB: 2048, State: "ACTIVE", Used: 9, Why: []string{"used", "launchable", "cheap"}},
		{Name: "horno-grande", Version: "2", Versions: []string{"2", "1"}, SizeMiB: 8192, State: "ACTIVE", Why: []string{"launchable"}},
	}
	for i := range out {
		out[i].ARN = image(p.Region, out[i].Name)
		if out[i].Name == p.Template {
			out[i].Default, out[i].Why = true, append([]string{"default"}, out[i].Why...)
		}
		out[i] = s.priced(out[i], p.Region)
	}
	slices.SortStableFunc(out, func(a, b sandbox.Template) int { return len(b.Why) - len(a.Why) })
	return out
}

func (s *Scene) priced(t sandbox.Template, region string) sandbox.Template {
	if r, ok := s.table.Rates(region, t.SizeMiB, s.began); ok {
		t.PerHour = price.PerHour(r, price.Plan{SizeMiB: t.SizeMiB, Life: 3600, Burst: sandbox.BurstBaseline})
	}
	return t
}

// Templates lists the images of a profile.
func (s *Scene) Templates(_ context.Context, p sandbox.Profile) ([]sandbox.Template, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := cmp.Or(p.Name, s.prefs.DefaultProfile)
	if s.away[name] {
		return nil, unsigned(name)
	}
	return s.templates(name), nil
}

// Orders returns a page of the account.
func (s *Scene) Orders(_ context.Context, q sandbox.OrderQuery) (sandbox.OrderPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return sandbox.OrderPage{}, err
	}
	var all []sandbox.Order
	for _, o := range append(s.openLocked(), s.orders...) {
		if (q.Grant == "" || o.Grant == q.Grant) && (q.Profile == "" || o.Profile == q.Profile) && (!q.Open || o.State.Open()) &&
			!o.AskedAt.Before(q.Since) && (q.Until.IsZero() || o.AskedAt.Before(q.Until)) && (q.State == "" || q.State == o.State) {
			all = append(all, o)
		}
	}
	page, next, err := cut(all, q.Cursor, cmp.Or(q.Limit, 100))
	return sandbox.OrderPage{Orders: page, Next: next}, err
}

// openLocked are the orders of what lives, the newest first.
func (s *Scene) openLocked() (out []sandbox.Order) {
	for _, b := range s.boxes {
		if !b.State.Alive() || b.Orphan {
			continue
		}
		b.count(s.clock.Now().UTC())
		state := sandbox.OrderRunning
		switch b.State {
		case sandbox.Creating:
			state = sandbox.OrderCreating
		case sandbox.InDoubt:
			state = sandbox.OrderInDoubt
		}
		o := sandbox.Order{
			ID: b.Key, Sandbox: b.ID, Grant: b.Grant, State: state, Profile: b.Profile, Host: b.Host, Template: b.Template, Version: b.Version, Name: b.Name, SizeMiB: b.SizeMiB,
			Burst: sandbox.BurstBaseline, Local: b.Profile == sandbox.ProfileLocal, Hold: b.Hold, Cost: b.Cost, AskedAt: b.StartedAt, StartedAt: b.StartedAt, MaxEndAt: b.EndsAt,
		}
		if o.Local {
			o.Would = b.Cost.Total
		}
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b sandbox.Order) int { return b.AskedAt.Compare(a.AskedAt) })
	return out
}

// Spend sums the account up.
func (s *Scene) Spend(_ context.Context, q sandbox.SpendQuery) ([]sandbox.SpendRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return nil, err
	}
	now := s.clock.Now().UTC()
	until := q.Until
	if until.IsZero() {
		until = now.AddDate(1, 0, 0)
	}
	rows := map[string]*sandbox.SpendRow{}
	all := s.orders
	if now.Before(until) {
		all = append(s.openLocked(), all...)
	}
	for _, o := range all {
		if q.Grant != "" && o.Grant != q.Grant || !o.State.Open() && (o.EndedAt.Before(q.Since) || !o.EndedAt.Before(until)) {
			continue
		}
		end := o.EndedAt
		if end.IsZero() {
			end = now
		}
		var key string
		switch q.By {
		case sandbox.SpendByDay:
			key = end.Format(time.DateOnly)
		case sandbox.SpendByHost:
			key = o.Host
		case sandbox.SpendByProfile:
			key = o.Profile
		case sandbox.SpendByTemplate:
			key = o.Template
		case sandbox.SpendByToken:
			key = o.Grant
		default:
			return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "spending can't be summed up by that"}
		}
		r := rows[key]
		if r == nil {
			r = &sandbox.SpendRow{Key: key}
			rows[key] = r
		}
		r.Sandboxes++
		r.Seconds += int64(end.Sub(o.StartedAt) / time.Second)
		switch {
		case o.State.Open():
			r.Held = r.Held.Plus(o.Hold)
		case o.Local:
			r.Would = r.Would.Plus(o.Would)
		default:
			r.Cost.Compute, r.Cost.Launch, r.Cost.Cycles = r.Cost.Compute.Plus(o.Cost.Compute), r.Cost.Launch.Plus(o.Cost.Launch), r.Cost.Cycles.Plus(o.Cost.Cycles)
			r.Cost.Storage, r.Cost.Total = r.Cost.Storage.Plus(o.Cost.Storage), r.Cost.Total.Plus(o.Cost.Total)
		}
	}
	out := []sandbox.SpendRow{}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[key])
	}
	return out, nil
}

// Budgets lists all.
func (s *Scene) Budgets(context.Context, struct{}) ([]sandbox.Budget, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.budgetsLocked(), s.down()
}

// SetBudget sets a limit.
func (s *Scene) SetBudget(_ context.Context, b sandbox.Budget) (sandbox.Budget, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.down(); err != nil {
		return b, err
	}
	b.Since = s.budgetOfLocked(sandbox.Grant{Period: b.Period}).Since
	i := slices.IndexFunc(s.budgets, func(o sandbox.Budget) bool { return o.Level == b.Level && o.Owner == b.Owner })
	switch {
	case b.Level == sandbox.LevelGrant:
		t, err := s.tokenLocked(b.Owner)
		if err != nil {
			return b, err
		}
		t.Grant.Limit, t.Grant.Period = b.Limit, b.Period
		s.tellBudgetLocked(b)
		return s.budgetOfLocked(t.Grant), nil
	case i < 0:
		s.budgets = append(s.budgets, b)
		i = len(s.budgets) - 1
	}
	s.budgets[i].Limit, s.budgets[i].Period, s.budgets[i].Since = b.Limit, b.Period, b.Since
	s.tellBudgetLocked(b)
	out := s.budgets[i]
	out.Spent, out.Held = s.spentLocked(out)
	return out, nil
}

func (s *Scene) tellBudgetLocked(b sandbox.Budget) {
	e := sandbox.Event{Kind: sandbox.EventBudgetSet, Severity: sandbox.SeverityInfo, Subject: string(b.Level), Data: map[string]any{"level": string(b.Level), "name": b.Owner, "period": string(b.Period)}}
	if b.Owner != "" {
		e.Subject += ":" + b.Owner
	}
	if b.Level == sandbox.LevelGrant {
		e.Grant = b.Owner
	}
	if b.Limit != nil {
		e.Data["limit_micro"] = int64(*b.Limit)
	}
	s.tellLocked(e)
}

// ConfirmClock has it that the time is right.
func (s *Scene) ConfirmClock(context.Context, struct{}) (struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = slices.DeleteFunc(s.events, func(e sandbox.Event) bool { return e.Kind == sandbox.EventClock })
	return struct{}{}, s.down()
}

// CheckLedger finds a fault where the scene has one.
func (s *Scene) CheckLedger(context.Context, struct{}) ([]sandbox.Violation, error) {
	if s.kind == Error {
		return []sandbox.Violation{{Rule: "sum", Subject: "global", Text: "the entries come to 0.420000 less than the account"}}, nil
	}
	return []sandbox.Violation{}, s.down()
}

// ExportLedger emits the account.
func (s *Scene) ExportLedger(_ context.Context, format string, emit func([]byte) error) error {
	s.mu.Lock()
	orders := slices.Clone(s.orders)
	s.mu.Unlock()
	if err := s.down(); err != nil {
		return err
	}
	switch format {
	case "json":
		text, err := json.MarshalIndent(map[string]any{"orders": orders}, "", "  ")
		if err != nil {
			return err
		}
		return emit(append(text, '\n'))
	case "csv":
		var b strings.Builder
		b.WriteString("order,sandbox,grant,profile,host,settled_micro,ended_at\n")
		for _, o := range orders {
			fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%d,%s\n", o.ID, o.Sandbox, o.Grant, o.Profile, o.Host, *o.Settled, o.EndedAt.Format(time.RFC3339))
		}
		return emit([]byte(b.String()))
	}
	return &sandbox.Error{Code: sandbox.Invalid, Msg: "there is no format " + format}
}
