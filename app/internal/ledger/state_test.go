package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// TestStates tries each way from each state to each other one.
func TestStates(t *testing.T) {
	const (
		held, creating, doubt, running, settled, released = sandbox.OrderHeld, sandbox.OrderCreating, sandbox.OrderInDoubt, sandbox.OrderRunning, sandbox.OrderSettled, sandbox.OrderReleased
	)
	ways := map[sandbox.OrderState][]sandbox.OrderState{ // by what leads to each
		held: nil, creating: {creating}, doubt: {creating, doubt}, running: {creating, running},
		settled: {creating, running, settled}, released: {released},
	}
	allowed := map[[2]sandbox.OrderState]bool{
		{held, creating}: true, {held, released}: true, {creating, doubt}: true, {creating, running}: true, {creating, released}: true,
		{doubt, running}: true, {doubt, settled}: true, {doubt, released}: true, {running, settled}: true,
	}
	r := newRig(t)
	g := r.grant("agent", -1)
	to := func(id string, s sandbox.OrderState) error {
		switch s {
		case settled:
			return r.Settle(r.ctx(), id, sandbox.Cost{Total: 1}, r.clock.Now(), sandbox.EndAsked)
		case released:
			return r.Release(r.ctx(), id, sandbox.EndFailed)
		}
		return r.Advance(r.ctx(), id, s, nil)
	}
	for from, way := range ways {
		for next := range ways {
			id := fmt.Sprintf("%s-%s", from, next)
			r.reserve(order(id, g.ID, 1))
			for _, s := range way {
				r.must(to(id, s))
			}
			err := to(id, next)
			if ok := from == next || allowed[[2]sandbox.OrderState{from, next}]; ok != (err == nil) {
				t.Errorf("%s to %s: %v", from, next, err)
			} else if !ok && sandbox.CodeOf(err) != sandbox.WrongState {
				t.Errorf("%s to %s: %v", from, next, err)
			}
		}
	}
	r.wantCode(r.Advance(r.ctx(), "none", running, nil), sandbox.NotFound)
	r.wantClean()
}

// TestResolvedOnce has many settle and release one order at once.
func TestResolvedOnce(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", -1)
	for i := range 20 {
		id := fmt.Sprint(i)
		r.reserve(order(id, g.ID, 100))
		r.must(r.Advance(r.ctx(), id, sandbox.OrderCreating, nil))
		r.must(r.Advance(r.ctx(), id, sandbox.OrderInDoubt, nil))
		var settled, released atomic.Int64
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				if r.Settle(r.ctx(), id, sandbox.Cost{Total: sandbox.Micro(n)}, r.clock.Now(), sandbox.EndAsked) == nil {
					settled.Add(1)
				}
			})
			wg.Go(func() {
				if r.Release(r.ctx(), id, sandbox.EndFailed) == nil {
					released.Add(1)
				}
			})
		}
		wg.Wait()
		if !(settled.Load() == 8 && released.Load() == 0 || settled.Load() == 0 && released.Load() == 8) {
			t.Errorf("settled %d times, released %d times", settled.Load(), released.Load())
		}
	}
	r.wantClean()
}

// TestAdvanceKeeps has set try to change what is not its own.
func TestAdvanceKeeps(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000)
	before := r.reserve(order("a", g.ID, 400))
	r.must(r.Advance(r.ctx(), "a", sandbox.OrderCreating, func(o *sandbox.Order) {
		*o = sandbox.Order{ID: "b", Grant: "x", Hold: 1, Local: true, State: sandbox.OrderSettled, Name: "build", MaxEndAt: o.MaxEndAt}
	}))
	o, err := r.Order(r.ctx(), "a")
	r.must(err)
	if o.Grant != g.ID || o.Hold != 400 || o.Local || o.State != sandbox.OrderCreating || o.Name != "build" || !o.AskedAt.Equal(before.AskedAt) || o.Profile != "work" {
		t.Errorf("order: %+v", o)
	}
	r.wantClean()
}

// Test10_Settlement settles twice, for more than was held, and in another period.
func Test10_Settlement(t *testing.T) {
	t.Run("twice", func(t *testing.T) {
		r := newRig(t)
		g := r.grant("agent", 1000)
		r.reserve(order("a", g.ID, 400))
		r.run("a")
		r.settle("a", 300)
		r.settle("a", 999)
		r.wantBudget(sandbox.LevelGrant, g.ID, 300, 0)
		r.wantClean()
	})
	t.Run("more than was held", func(t *testing.T) {
		r := newRig(t)
		g := r.grant("agent", 1000)
		r.reserve(order("a", g.ID, 400))
		r.reserve(order("b", g.ID, 500))
		r.run("a")
		r.settle("a", 501) // 1 over
		r.wantBudget(sandbox.LevelGrant, g.ID, 501, 500)
		b, err := r.Budget(r.ctx(), sandbox.LevelGrant, g.ID)
		r.must(err)
		if !b.OverLimit {
			t.Error("the budget is not marked")
		}
		over := r.events(sandbox.EventOver)
		if len(over) != 1 || over[0].Severity != sandbox.SeverityError || over[0].Grant != g.ID || over[0].Data["settled_micro"] != 501.0 || over[0].Data["limit_micro"] != 1000.0 {
			t.Errorf("events: %+v", over)
		}
		_, err = r.Reserve(r.ctx(), want(order("c", g.ID, 0)))
		r.wantCode(err, sandbox.OverLimit)
		if no, ok := errors.AsType[*ledger.Refused](err); !ok || !no.Over || no.Left != 0 {
			t.Errorf("refused: %+v", no)
		}
		r.wantClean()
		r.must(r.Release(r.ctx(), "b", sandbox.EndFailed)) // there is room again
		r.reserve(order("c", g.ID, 499))
		r.wantClean()
	})
	t.Run("more than was held, with room", func(t *testing.T) {
		r := newRig(t)
		g := r.grant("agent", 1000)
		r.reserve(order("a", g.ID, 400))
		r.run("a")
		r.settle("a", 500)
		r.wantBudget(sandbox.LevelGrant, g.ID, 500, 0)
		if over := r.events(sandbox.EventOver); len(over) != 0 {
			t.Errorf("events: %+v", over)
		}
		r.wantClean()
	})
	t.Run("over a period's end", func(t *testing.T) {
		r := newRig(t)
		g := r.grant("agent", 1000, func(g *sandbox.Grant) { g.Period = sandbox.PeriodDay })
		r.reserve(order("a", g.ID, 400))
		r.run("a")
		r.reserve(order("b", g.ID, 600))
		r.run("b")
		r.settle("b", 600)
		r.clock.Advance(12*time.Hour - 1)
		r.wantBudget(sandbox.LevelGrant, g.ID, 600, 400)
		_, err := r.Reserve(r.ctx(), want(order("c", g.ID, 1)))
		r.wantCode(err, sandbox.BudgetExceeded)
		r.clock.Advance(1) // midnight
		r.wantBudget(sandbox.LevelGrant, g.ID, 0, 400)
		r.reserve(order("c", g.ID, 600))
		r.settle("a", 350)
		r.wantBudget(sandbox.LevelGrant, g.ID, 350, 600)
		r.wantBudget(sandbox.LevelGlobal, "", 950, 600)
		r.wantClean()
		r.clock.Advance(-time.Hour) // back into the day before
		r.wantBudget(sandbox.LevelGrant, g.ID, 350, 600)
		r.run("c")
		r.settle("c", 1)
		r.wantBudget(sandbox.LevelGrant, g.ID, 351, 0)
		r.wantClean()
	})
}

// TestPeriods goes over the ends of days, weeks and months.
func TestPeriods(t *testing.T) {
	at := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	tests := []struct {
		period         sandbox.Period
		now            string
		since, nextAt  string // the period that now is in, and the next
		lastInstantOld string
	}{
		{sandbox.PeriodDay, "2026-06-10T12:00:00Z", "2026-06-10T00:00:00Z", "2026-06-11T00:00:00Z", "2026-06-10T23:59:59.999999999Z"},
		{sandbox.PeriodWeek, "2026-06-10T12:00:00Z", "2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z", "2026-06-14T23:59:59.999999999Z"},
		{sandbox.PeriodWeek, "2026-06-14T12:00:00Z", "2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z", "2026-06-14T23:59:59.999999999Z"}, // a Sunday
		{sandbox.PeriodWeek, "2026-06-08T00:00:00Z", "2026-06-08T00:00:00Z", "2026-06-15T00:00:00Z", "2026-06-14T23:59:59.999999999Z"}, // a Monday
		{sandbox.PeriodMonth, "2028-02-10T12:00:00Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", "2028-02-29T23:59:59.999999999Z"},
		{sandbox.PeriodDay, "2026-03-29T00:30:00+01:00", "2026-03-28T00:00:00Z", "2026-03-29T00:00:00Z", "2026-03-28T23:59:59.999999999Z"}, // where clocks go forward
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.period, tt.now), func(t *testing.T) {
			r := newRig(t)
			r.clock.Advance(at(tt.now).Sub(r.clock.Now()))
			g := r.grant("agent", 1000, func(g *sandbox.Grant) { g.Period = tt.period })
			r.reserve(order("a", g.ID, 100))
			r.run("a")
			r.settle("a", 100)
			b, err := r.Budget(r.ctx(), sandbox.LevelGrant, g.ID)
			r.must(err)
			if !b.Since.Equal(at(tt.since)) || b.Spent != 100 {
				t.Errorf("budget: %+v, want since %s", b, tt.since)
			}
			r.clock.Advance(at(tt.lastInstantOld).Sub(r.clock.Now()))
			r.wantBudget(sandbox.LevelGrant, g.ID, 100, 0)
			r.clock.Advance(at(tt.nextAt).Sub(r.clock.Now()))
			b, err = r.Budget(r.ctx(), sandbox.LevelGrant, g.ID)
			r.must(err)
			if !b.Since.Equal(at(tt.nextAt)) || b.Spent != 0 {
				t.Errorf("budget: %+v, want a new one since %s", b, tt.nextAt)
			}
		})
	}
}

// TestSetBudget lowers, raises and lifts limits, and changes periods.
func TestSetBudget(t *testing.T) {
	r := newRig(t)
	set := func(limit *sandbox.Micro, p sandbox.Period) {
		t.Helper()
		_, err := r.SetBudget(r.ctx(), sandbox.LevelProfile, "work", limit, p)
		r.must(err)
	}
	r.reserve(order("a", sandbox.GrantOwner, 400))
	r.run("a")
	r.settle("a", 400)
	r.clock.Advance(24 * time.Hour)
	r.reserve(order("b", sandbox.GrantOwner, 100))
	r.run("b")
	set(new(sandbox.Micro(450)), sandbox.PeriodNone) // below what is spent and held
	r.wantClean()
	_, err := r.Reserve(r.ctx(), want(order("c", sandbox.GrantOwner, 0)))
	r.wantCode(err, sandbox.BudgetExceeded)
	if o, err := r.Order(r.ctx(), "b"); err != nil || o.State != sandbox.OrderRunning {
		t.Errorf("it was ended: %v, %v", o.State, err)
	}
	set(new(sandbox.Micro(450)), sandbox.PeriodDay)
	r.wantBudget(sandbox.LevelProfile, "work", 0, 100) // it was spent yesterday
	set(new(sandbox.Micro(500)), sandbox.PeriodWeek)
	r.wantBudget(sandbox.LevelProfile, "work", 400, 100)
	r.wantClean()
	set(new(sandbox.Micro(501)), sandbox.PeriodWeek)
	r.reserve(order("c", sandbox.GrantOwner, 1))
	set(nil, sandbox.PeriodNone)
	r.reserve(order("d", sandbox.GrantOwner, 1e12))
	r.wantClean()
	set(nil, sandbox.PeriodNone) // which changes nothing
	var told []string
	for _, e := range r.events(sandbox.EventBudgetSet) {
		told = append(told, fmt.Sprint(e.Severity, " ", e.Subject, " ", e.Data["limit_micro"], " ", e.Data["period"]))
	}
	if want := []string{"info profile:work 450 none", "info profile:work 450 day", "info profile:work 500 week", "info profile:work 501 week", "info profile:work <nil> none"}; !slices.Equal(told, want) {
		t.Errorf("events: %q, want %q", told, want)
	}
	for _, bad := range []struct {
		level sandbox.BudgetLevel
		owner string
		limit sandbox.Micro
		p     sandbox.Period
		want  sandbox.Code
	}{
		{"galaxy", "work", 1, "", sandbox.Invalid},
		{sandbox.LevelGlobal, "work", 1, "", sandbox.Invalid},
		{sandbox.LevelProfile, "", 1, "", sandbox.Invalid},
		{sandbox.LevelProfile, "work", -1, "", sandbox.Invalid},
		{sandbox.LevelProfile, "work", 1, "year", sandbox.Invalid},
		{sandbox.LevelGrant, "none", 1, "", sandbox.NotFound},
		{sandbox.LevelGrant, sandbox.GrantOwner, 1, "", sandbox.Invalid},
	} {
		_, err := r.SetBudget(r.ctx(), bad.level, bad.owner, &bad.limit, bad.p)
		r.wantCode(err, bad.want)
	}
}

// TestWait waits for an order that is being made.
func TestWait(t *testing.T) {
	r := newRig(t)
	r.reserve(order("a", sandbox.GrantOwner, 1))
	ctx, cancel := context.WithCancel(r.ctx())
	cancel()
	if o, err := r.Wait(ctx, "a"); !errors.Is(err, context.Canceled) || o.State != sandbox.OrderHeld {
		t.Errorf("without time: %v, %v", o.State, err)
	}
	got := make(chan sandbox.OrderState)
	go func() {
		o, err := r.Wait(context.Background(), "a")
		if err != nil {
			t.Error(err)
		}
		got <- o.State
	}()
	r.run("a")
	if s := <-got; s != sandbox.OrderRunning {
		t.Errorf("it waited for %s", s)
	}
}
