package app

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
)

// A wall is a clock that is set, while time goes on as ever.
type wall struct {
	clockwork.Clock
	by   atomic.Int64
	zone atomic.Pointer[time.Location] // in which it shows the time
}

func (w *wall) Now() time.Time {
	now := w.Clock.Now().Add(time.Duration(w.by.Load()))
	if zone := w.zone.Load(); zone != nil {
		now = now.In(zone)
	}
	return now
}

func (w *wall) set(by time.Duration) { w.by.Store(int64(by)) }

// A clock that goes back lets nothing begin that costs, until it is right again
// or its owner says so; reading and ending go on.
func TestMoney12_ClockBack(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(9 * holdOfHour)})
		s := r.create(r.as(tok, ""), living(2*time.Hour))
		r.in(10 * time.Minute)
		r.wall.set(-4 * time.Minute)
		r.create(r.as(tok, ""), called("a little"))
		r.wall.set(-6 * time.Minute)
		if _, err := r.gate.Create(r.as(tok, ""), called("much")); sandbox.CodeOf(err) != sandbox.ClockSuspect {
			t.Errorf("six minutes back: %v", err)
		}
		r.in(time.Minute)
		if e := r.events(sandbox.EventClock); len(e) != 1 || e[0].Severity != sandbox.SeverityError {
			t.Errorf("events: %v", e)
		}
		if _, err := r.gate.Get(r.as(tok, "get_sandbox"), s.ID); err != nil {
			t.Error(err)
		}
		r.wall.set(-10 * time.Minute)
		r.restart() // which forgets nothing of it
		r.in(time.Second)
		if _, err := r.gate.Create(r.as(tok, ""), called("after a restart")); sandbox.CodeOf(err) != sandbox.ClockSuspect {
			t.Errorf("after a restart: %v", err)
		}
		if err := r.gate.Terminate(r.as(tok, "terminate_sandbox"), s.ID, ""); err != nil {
			t.Error(err)
		}
		if _, err := r.gate.ConfirmClock(r.as(tok, ""), struct{}{}); sandbox.CodeOf(err) != sandbox.Forbidden {
			t.Errorf("a token says that it is right: %v", err)
		}
		if _, err := r.gate.ConfirmClock(t.Context(), struct{}{}); err != nil {
			t.Fatal(err)
		}
		r.create(r.as(tok, ""), called("when its owner says so"))
		r.clean()
	})
}

// AWS saying that the clock is right is as good as its owner saying so.
func TestMoney12_AWSAgrees(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{})
		r.in(10 * time.Minute)
		r.wall.set(-time.Hour)
		if _, err := r.gate.Create(r.as(tok, ""), called("back")); sandbox.CodeOf(err) != sandbox.ClockSuspect {
			t.Errorf("an hour back: %v", err)
		}
		r.gate.books.dated(r.clock.Now().Add(time.Hour))
		if _, err := r.gate.Create(r.as(tok, ""), called("AWS has another time")); sandbox.CodeOf(err) != sandbox.ClockSuspect {
			t.Errorf("AWS has another time: %v", err)
		}
		r.gate.books.dated(r.clock.Now().Add(time.Second))
		r.create(r.as(tok, ""), called("AWS agrees"))
		r.restart()
		r.create(r.as(tok, ""), called("the next engine"))
	})
}

// A clock that goes ahead, as after a sleep of the computer, has the cloud asked
// first: what ended meanwhile is settled as of its end.
func TestMoney12_SleepAcrossTheEnd(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(3 * holdOfHour)})
		s := r.create(r.as(tok, ""), living(time.Hour))
		r.in(10 * time.Minute)
		r.wall.set(2 * time.Hour)
		r.create(r.as(tok, ""), called("at once")) // which waits for the look
		if got, err := r.gate.Get(r.as(tok, "get_sandbox"), s.ID); err != nil || got.State != sandbox.Terminated {
			t.Errorf("after the sleep: %+v, %v", got, err)
		}
		if b := r.budget(tok.Grant.ID); b.Held != holdOfHour || b.Spent != r.cloud.reckon(t, s.ID, sandbox.BurstStrict) || b.OverLimit {
			t.Errorf("settled: %+v", b)
		}
		r.restart() // a day later
		r.wall.set(26 * time.Hour)
		r.restart()
		r.create(r.as(tok, ""), called("by the next engine"))
		if e := r.events(sandbox.EventClock); len(e) > 0 { // computers sleep
			t.Errorf("events: %v", e)
		}
		r.clean()
	})
}

// That another zone or the end of summer time changes what a clock shows is
// nothing to the account.
func TestMoney12_DaylightSaving(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(3 * holdOfHour), Period: sandbox.PeriodDay})
		s := r.create(r.as(tok, ""), living(time.Hour))
		r.in(5 * time.Minute)
		r.wall.zone.Store(time.FixedZone("summer", 2*3600))
		r.in(5 * time.Minute)
		r.wall.zone.Store(time.FixedZone("winter", 3600))
		r.in(5 * time.Minute)
		if e := r.events(sandbox.EventClock); len(e) > 0 {
			t.Errorf("events: %v", e)
		}
		if err := r.gate.Terminate(r.as(tok, ""), s.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.in(time.Second)
		if b := r.budget(tok.Grant.ID); b.Spent != r.cloud.reckon(t, s.ID, sandbox.BurstStrict) {
			t.Errorf("%+v", b)
		}
	})
}

func called(name string) sandbox.Spec {
	spec := living(time.Hour)
	spec.Name = name
	return spec
}
