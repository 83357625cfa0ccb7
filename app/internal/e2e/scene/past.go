package scene

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

const days = 30

// setTokens makes the tokens of the story.
func (s *Scene) setTokens() {
	owner := sandbox.Grant{ID: sandbox.GrantOwner, Name: "owner", Scopes: sandbox.Scopes(), Period: sandbox.PeriodNone, Burst: sandbox.BurstBaseline, CreatedAt: s.began.AddDate(0, -2, 0)}
	s.tokens = []control.Token{{Grant: owner, Credentials: []sandbox.Credential{}}}
	if s.kind == Empty {
		return
	}
	usd := func(n sandbox.Micro) *sandbox.Micro { return new(n * 1_000_000) }
	day := func(n int) time.Time { return s.began.AddDate(0, 0, n) }
	agent, all := sandbox.AgentScopes(), sandbox.Scopes()
	for i, g := range []sandbox.Grant{
		{Name: "nightly-tests", Scopes: agent, Limit: usd(20), Period: sandbox.PeriodMonth, MaxHours: 2, MaxConcurrent: 3, Profile: night, CreatedAt: day(-28), ExpiresAt: day(62)},
		{Name: "classroom", Scopes: agent, Limit: usd(5), Period: sandbox.PeriodWeek, MaxHours: 1, MaxConcurrent: 12, Templates: []string{"pizarra"}, Profile: class, CreatedAt: day(-20), ExpiresAt: day(2)},
		{Name: "paper-figures", Scopes: agent, Limit: usd(10), Period: sandbox.PeriodNone, MaxHours: 4, CreatedAt: day(-25), ExpiresAt: day(-3)},
		{Name: "ops-console", Scopes: all, Period: sandbox.PeriodNone, CreatedAt: day(-14), ExpiresAt: day(16)},
		{Name: "old-laptop", Scopes: agent, Limit: usd(3), Period: sandbox.PeriodDay, CreatedAt: day(-29), ExpiresAt: day(30), RevokedAt: day(-11)},
		{Name: "demo", Scopes: []sandbox.Scope{sandbox.ScopeRead}, Limit: usd(1), Period: sandbox.PeriodNone, CreatedAt: day(-6), ExpiresAt: day(24), Disabled: true},
	} {
		if s.kind == Error && g.Name == "nightly-tests" {
			g.Limit = usd(3)
		}
		g.ID, g.Burst = fmt.Sprintf("g_%08x", random(uint64(70+i)).Uint32()), sandbox.BurstStrict
		c := sandbox.Credential{ID: fmt.Sprintf("cr_%08x", random(uint64(90+i)).Uint32()), Grant: g.ID, Hint: fmt.Sprintf("%04x", random(uint64(90+i)).Uint32()>>16), CreatedAt: g.CreatedAt, RevokedAt: g.RevokedAt}
		if g.Name != "demo" {
			c.LastUsedAt = s.began.Add(-time.Duration(4+77*i) * time.Minute).Truncate(time.Minute)
		}
		t := control.Token{Grant: g, Credentials: []sandbox.Credential{c}}
		if g.Name == "nightly-tests" {
			t.Connections = []string{connectionOf(3)}
		}
		s.tokens = append(s.tokens, t)
	}
}

func (s *Scene) grantID(name string) string {
	for _, t := range s.tokens {
		if t.Grant.Name == name {
			return t.Grant.ID
		}
	}
	return sandbox.GrantOwner
}

// setPast is what ended in the last month.
func (s *Scene) setPast() {
	rnd := random(3)
	hosts := []string{"Claude Desktop", "Cursor", "Visual Studio Code", "Claude Code", "Zed"}
	midnight := s.began.Truncate(24 * time.Hour)
	for d := days - 1; d >= 0; d-- {
		day := midnight.AddDate(0, 0, -d)
		n := 4 + rnd.IntN(9)
		if wd := day.Weekday(); wd == time.Saturday || wd == time.Sunday {
			n /= 3
		}
		for range n {
			o := s.pastOrder(rnd.IntN(24*60), len(s.orders))
			o.Host = hosts[rnd.IntN(len(hosts))]
			where := []string{sandbox.ProfileLocal, lab, lab, night, class}[rnd.IntN(5)]
			size := []int{2048, 4096, 8192}[rnd.IntN(3)]
			begin := day.Add(time.Duration(rnd.IntN(20*60)) * time.Minute)
			lived := time.Duration(4+rnd.IntN(170)) * time.Minute
			slept := 0.5 * rnd.Float64()
			why := []sandbox.EndReason{sandbox.EndClosed, sandbox.EndClosed, sandbox.EndClosed, sandbox.EndAsked, sandbox.EndExpired, sandbox.EndCut, sandbox.EndRemoval}[rnd.IntN(7)]
			token := []string{"", "", "", "nightly-tests", "classroom", "paper-figures"}[rnd.IntN(6)]
			if end := begin.Add(lived); end.After(s.began.Add(-time.Minute)) {
				continue
			}
			s.fill(&o, where, size, begin, lived, slept)
			o.EndReason, o.Grant = why, s.grantID(token)
			s.orders = append(s.orders, o)
		}
	}
	slices.SortFunc(s.orders, func(a, b sandbox.Order) int { return b.AskedAt.Compare(a.AskedAt) })
}

func (s *Scene) pastOrder(n, i int) sandbox.Order {
	name := []string{"", "", "informe", "tablas", "mareas", "regresión", "figuras", "lote"}[n%8]
	return sandbox.Order{ID: uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "order %d", i)).String(), State: sandbox.OrderSettled, Name: name, Sandbox: idOf(20_000 + i), Burst: sandbox.BurstBaseline}
}

// fill says where an order was, and what that cost.
func (s *Scene) fill(o *sandbox.Order, profile string, size int, begin time.Time, lived time.Duration, slept float64) {
	o.Profile, o.SizeMiB, o.Region = profile, size, region
	o.Template, o.Version, o.Life, o.Idle = localImage, "1", 3*3600, 300
	if p, ok := s.profile(profile); ok {
		o.Region, o.Template, o.Version = p.Region, image(p.Region, p.Template), "7"
	}
	o.AskedAt, o.StartedAt = begin, begin.Add(900*time.Millisecond)
	o.EndedAt, o.MaxEndAt = begin.Add(lived), begin.Add(3*time.Hour)
	rates, ok := s.table.Rates(o.Region, size, s.began)
	plan := price.Plan{SizeMiB: size, Life: o.Life, Idle: o.Idle, Burst: sandbox.BurstBaseline}
	if !ok {
		o.Unpriced, o.Settled = true, new(sandbox.Micro(0))
		return
	}
	o.Prices = rates.Version
	o.Hold, _ = price.Worst(rates, plan)
	c := split(sandbox.Micro(float64(price.PerHour(rates, plan)) * lived.Hours() * (1 - slept)))
	o.Cost, o.Settled = c, new(c.Total)
	if profile == sandbox.ProfileLocal {
		o.Local, o.Would, o.Settled, o.Hold = true, c.Total, new(sandbox.Micro(0)), 0
	}
}

// setBudgets limits what is spent.
func (s *Scene) setBudgets() {
	s.budgets = []sandbox.Budget{{Level: sandbox.LevelGlobal, Period: sandbox.PeriodMonth}}
	if s.kind == Empty {
		return
	}
	b := &s.budgets[0]
	month := time.Date(s.began.Year(), s.began.Month(), 1, 0, 0, 0, 0, time.UTC)
	b.Since = month
	spent, held := s.spentLocked(*b)
	limit := func(of sandbox.Micro, part float64) *sandbox.Micro {
		const dollar = 1_000_000
		return new(max(dollar, sandbox.Micro(math.Ceil(float64(of)/part/dollar))*dollar))
	}
	parts := map[Kind][3]float64{Error: {1.3, 1.1, 0.97}}
	p, ok := parts[s.kind]
	if !ok {
		p = [3]float64{0.62, 0.83, 0.4}
	}
	b.Limit = limit(spent.Plus(held), p[0])
	for i, name := range []string{lab, night} {
		own := sandbox.Budget{Level: sandbox.LevelProfile, Owner: name, Period: []sandbox.Period{sandbox.PeriodMonth, sandbox.PeriodWeek}[i], Since: month}
		if own.Period == sandbox.PeriodWeek {
			own.Since = s.began.Truncate(24*time.Hour).AddDate(0, 0, -(int(s.began.Weekday())+6)%7)
		}
		spent, held := s.spentLocked(own)
		own.Limit = limit(spent.Plus(held), p[1+i])
		s.budgets = append(s.budgets, own)
	}
}

// budgetsLocked are all budgets with what is spent of each.
func (s *Scene) budgetsLocked() []sandbox.Budget {
	var out []sandbox.Budget
	for _, b := range s.budgets {
		b.Spent, b.Held = s.spentLocked(b)
		b.OverLimit = b.Limit != nil && b.Spent+b.Held > *b.Limit
		out = append(out, b)
	}
	for _, t := range s.tokens {
		out = append(out, s.budgetOfLocked(t.Grant))
	}
	return out
}

func (s *Scene) budgetOfLocked(g sandbox.Grant) sandbox.Budget {
	b := sandbox.Budget{Level: sandbox.LevelGrant, Owner: g.ID, Limit: g.Limit, Period: g.Period, Since: g.CreatedAt}
	today := s.clock.Now().UTC().Truncate(24 * time.Hour)
	switch g.Period {
	case sandbox.PeriodDay:
		b.Since = today
	case sandbox.PeriodWeek:
		b.Since = today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	case sandbox.PeriodMonth:
		b.Since = today.AddDate(0, 0, 1-today.Day())
	}
	b.Spent, b.Held = s.spentLocked(b)
	if b.Limit != nil && s.kind != Error && b.Spent+b.Held > *b.Limit {
		b.Spent = *b.Limit - min(*b.Limit, b.Held+*b.Limit/9) // no account of a good day is over its limit
	}
	b.OverLimit = b.Limit != nil && b.Spent+b.Held > *b.Limit
	return b
}

// spentLocked is what a budget counts.
func (s *Scene) spentLocked(b sandbox.Budget) (spent, held sandbox.Micro) {
	in := func(profile, grant string) bool {
		switch b.Level {
		case sandbox.LevelProfile:
			return profile == b.Owner
		case sandbox.LevelGrant:
			return grant == b.Owner
		}
		return true
	}
	for _, o := range s.orders {
		if in(o.Profile, o.Grant) && o.Settled != nil && !o.EndedAt.Before(b.Since) {
			spent = spent.Plus(*o.Settled)
		}
	}
	for _, x := range s.boxes {
		if in(x.Profile, x.Grant) && x.State.Alive() {
			held = held.Plus(x.Hold)
		}
	}
	return spent, held
}

// setEvents tells the story so far, the newest first.
func (s *Scene) setEvents() {
	for _, o := range s.orders {
		data := func(more ...any) map[string]any {
			d := map[string]any{"name": o.Name}
			for i := 0; i < len(more); i += 2 {
				d[more[i].(string)] = more[i+1]
			}
			return d
		}
		amount := "settled_micro"
		if o.Local {
			amount = "would_micro"
		}
		severity := sandbox.SeverityInfo
		if o.EndReason == sandbox.EndExpired {
			severity = sandbox.SeverityWarn
		}
		s.events = append(s.events,
			sandbox.Event{ID: "ready:" + o.ID, At: o.StartedAt, Kind: sandbox.EventReady, Severity: sandbox.SeverityInfo, Grant: o.Grant, Subject: o.Sandbox, Data: data("hold_micro", int64(o.Hold), "ends_at", o.MaxEndAt.Format(time.RFC3339))},
			sandbox.Event{ID: "ended:" + o.ID, At: o.EndedAt, Kind: sandbox.EventEnded, Severity: severity, Grant: o.Grant, Subject: o.Sandbox, Data: data("reason", string(o.EndReason), amount, int64(o.Cost.Total))})
	}
	for _, b := range s.boxes[:min(len(s.boxes), 40)] {
		e := sandbox.Event{ID: "ready:" + b.Key, At: b.StartedAt, Kind: sandbox.EventReady, Severity: sandbox.SeverityInfo, Grant: b.Grant, Subject: b.ID, Data: map[string]any{"name": b.Name, "hold_micro": int64(b.Hold)}}
		switch {
		case b.Orphan:
			e.ID, e.Kind, e.Data = "orphan:"+b.ID, sandbox.EventOrphan, map[string]any{"name": b.Profile}
		case b.State == sandbox.InDoubt:
			e.ID, e.Kind, e.Severity, e.Subject = "doubt:"+b.Key, sandbox.EventDoubt, sandbox.SeverityWarn, b.Key
		case b.State == sandbox.Creating || b.State == sandbox.Pending:
			continue
		}
		s.events = append(s.events, e)
		if b.State == sandbox.Suspended {
			s.events = append(s.events, sandbox.Event{ID: "slept:" + b.Key, At: b.UsedAt.Add(b.Idle), Kind: sandbox.EventSuspended, Severity: sandbox.SeverityInfo, Grant: b.Grant, Subject: b.ID, Data: map[string]any{"name": b.Name}})
		}
	}
	for _, t := range s.tokens {
		g := t.Grant
		if g.ID == sandbox.GrantOwner {
			continue
		}
		e := sandbox.Event{ID: "created:" + g.ID, At: g.CreatedAt, Kind: sandbox.EventCreated, Severity: sandbox.SeverityInfo, Grant: g.ID, Subject: g.ID, Data: map[string]any{"name": g.Name}}
		s.events = append(s.events, e)
		if !g.RevokedAt.IsZero() {
			e.ID, e.At, e.Kind = "revoked:"+g.ID, g.RevokedAt, sandbox.EventRevoked
			s.events = append(s.events, e)
		}
		if left := g.ExpiresAt.Sub(s.began); left > 0 && left < 4*24*time.Hour {
			e.ID, e.At, e.Kind, e.Severity = "expiring:"+g.ID, s.began.Add(-2*time.Hour), sandbox.EventExpiring, sandbox.SeverityWarn
			e.Data = map[string]any{"name": g.Name, "expires_at": g.ExpiresAt.Format(time.RFC3339), "left_s": int64(left / time.Second), "days": int64(left/(24*time.Hour)) + 1, "hours": int64(left / time.Hour)}
			s.events = append(s.events, e)
		}
	}
	s.thresholds()
	for i := range s.events {
		s.events[i].Origin = sandbox.OriginLocal
	}
	slices.SortStableFunc(s.events, func(a, b sandbox.Event) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
}

// thresholds tell how far the budgets are used up, and what was refused for it.
func (s *Scene) thresholds() {
	for i, b := range s.budgetsLocked() {
		if b.Limit == nil || b.Level == sandbox.LevelGrant {
			continue
		}
		subject := string(b.Level)
		if b.Owner != "" {
			subject += ":" + b.Owner
		}
		for _, percent := range []int{50, 80, 95, 100} {
			if (b.Spent+b.Held)*100 < *b.Limit*sandbox.Micro(percent) {
				break
			}
			e := sandbox.Event{
				ID: fmt.Sprintf("threshold:%s:%d", subject, percent), At: s.began.Add(-time.Duration(100-percent)*time.Hour - time.Duration(11+i)*time.Minute), Kind: sandbox.EventThreshold, Severity: sandbox.SeverityWarn, Subject: subject,
				Data: map[string]any{"level": string(b.Level), "name": b.Owner, "spent_micro": int64(b.Spent), "held_micro": int64(b.Held), "limit_micro": int64(*b.Limit), "percent": percent},
			}
			switch {
			case percent >= 100:
				e.Severity = sandbox.SeverityError
			case percent < 80:
				e.Severity = sandbox.SeverityInfo
			}
			s.events = append(s.events, e)
		}
	}
	if s.kind != Error {
		return
	}
	s.events = append(s.events,
		sandbox.Event{ID: "refused:1", At: s.began.Add(-4 * time.Minute), Kind: sandbox.EventRefused, Severity: sandbox.SeverityWarn, Grant: sandbox.GrantOwner, Subject: sandbox.GrantOwner, Data: map[string]any{"code": string(sandbox.BudgetExceeded), "name": "comparar-modelos", "level": "global", "asked_micro": int64(1_420_000), "left_micro": int64(0)}},
		sandbox.Event{ID: "clock:1", At: s.began.Add(-3 * time.Hour), Kind: sandbox.EventClock, Severity: sandbox.SeverityWarn, Data: map[string]any{"why": "back", "seconds": int64(5400)}},
		sandbox.Event{ID: "older:1", At: s.began.Add(-26 * time.Hour), Kind: sandbox.EventLedger, Severity: sandbox.SeverityError, Subject: "ledger.db", Data: map[string]any{"entries": int64(4120), "entries_before": int64(4388), "grants": int64(6), "grants_before": int64(7)}},
		sandbox.Event{ID: "stale:1", At: s.began.Add(-30 * time.Hour), Kind: sandbox.EventPriceStale, Severity: sandbox.SeverityWarn, Subject: region2, Data: map[string]any{"days": int64(97), "name": region2}})
}
