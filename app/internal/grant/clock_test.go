package grant_test

import (
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

// clocks are both clocks of a computer, and its guard.
type clocks struct {
	*grant.ClockGuard
	t    *testing.T
	wall time.Time
	mono time.Duration
}

func newClocks(t *testing.T, mark time.Time) *clocks {
	c := &clocks{ClockGuard: grant.NewClockGuard(mark), t: t, wall: noon}
	return c
}

// pass lets time go by as it does.
func (c *clocks) pass(d time.Duration) *clocks {
	c.wall, c.mono = c.wall.Add(d), c.mono+d
	return c
}

// jump sets the wall clock, or is a sleep, which the other one does not count.
func (c *clocks) jump(d time.Duration) *clocks {
	c.wall = c.wall.Add(d)
	return c
}

// sees reads both and checks what comes of it. Why is that of the one event that
// there is to be, "" for none.
func (c *clocks) sees(what string, suspect, reconcile bool, why string) grant.Verdict {
	c.t.Helper()
	v := c.Saw(c.wall, c.mono)
	c.check(what, v, suspect, reconcile, why)
	return v
}

func (c *clocks) check(what string, v grant.Verdict, suspect, reconcile bool, why string) {
	c.t.Helper()
	if v.Suspect != suspect || v.Reconcile != reconcile {
		c.t.Errorf("%s: suspect %v, reconcile %v, want %v, %v", what, v.Suspect, v.Reconcile, suspect, reconcile)
	}
	switch {
	case why == "" && len(v.Events) > 0, why != "" && len(v.Events) != 1:
		c.t.Errorf("%s: events are %+v, want %q", what, v.Events, why)
	case why != "":
		if e := v.Events[0]; e.Kind != sandbox.EventClock || e.Data["why"] != why || e.ID == "" || !e.At.Equal(c.wall) {
			c.t.Errorf("%s: the event is %+v, want %q", what, e, why)
		}
	}
	code := sandbox.Code("")
	if suspect || reconcile {
		code = sandbox.ClockSuspect
	}
	err := c.Billable()
	refused(c.t, what+": what costs", err, code)
	if code != "" && sandbox.ToError(err).Retryable == suspect {
		c.t.Errorf("%s: retryable %v", what, !suspect)
	}
}

// Number 12 of the tests for money, as far as it is about clocks alone.
func TestClockBack(t *testing.T) {
	c := newClocks(t, time.Time{})
	c.sees("the first time", false, false, "")
	c.pass(time.Minute).sees("a minute later", false, false, "")
	c.jump(-5*time.Minute).sees("five minutes back", false, false, "")
	c.jump(5*time.Minute).pass(time.Minute).sees("right again", false, false, "")
	c.jump(-6*time.Minute).sees("six minutes back", true, false, "back")
	c.pass(time.Minute).sees("still", true, false, "")
	for range 180 {
		c.pass(time.Minute).sees("time passing does not help", true, false, "")
	}
	c.jump(6*time.Minute).sees("the clock is set right", false, false, "")

	// The owner's word.
	c.jump(-time.Hour).sees("an hour back", true, false, "back")
	v := c.Confirm(c.wall, c.mono)
	c.check("confirmed", v, false, false, "")
	if !v.Mark.Equal(c.wall) {
		t.Errorf("the mark after a confirmation is %s, want %s", v.Mark, c.wall)
	}
	c.pass(time.Minute).sees("after it", false, false, "")
	c.jump(-6*time.Minute).sees("back again", true, false, "back")

	// AWS's word.
	c.check("AWS disagrees", c.Date(c.wall.Add(6*time.Minute), c.wall, c.mono), true, false, "aws")
	c.check("AWS disagrees still", c.Date(c.wall.Add(6*time.Minute), c.wall, c.mono), true, false, "")
	v = c.Date(c.wall.Add(-5*time.Minute), c.wall, c.mono)
	c.check("AWS agrees", v, false, false, "")
	if !v.Mark.Equal(c.wall) {
		t.Errorf("the mark after AWS agreed is %s, want %s", v.Mark, c.wall)
	}
	c.pass(time.Minute).sees("after it", false, false, "")
}

func TestClockOverRestarts(t *testing.T) {
	c := newClocks(t, noon.Add(5*time.Minute))
	c.sees("a mark five minutes ahead", false, false, "")
	c = newClocks(t, noon.Add(5*time.Minute+time.Second))
	v := c.sees("a mark more than that ahead", true, false, "back")
	c.Reconciled(v) // which has nothing to do with it
	c.pass(2*time.Second).sees("the clock came up to it", false, false, "")
	c = newClocks(t, noon.Add(-10*time.Minute))
	c.sees("a mark ten minutes ago", false, false, "")
	c = newClocks(t, noon.Add(-10*time.Minute-time.Second))
	c.sees("a mark before that", false, true, "")
}

func TestClockAhead(t *testing.T) {
	c := newClocks(t, noon)
	c.sees("the first time", false, false, "")
	c.jump(10*time.Minute).sees("ten minutes ahead", false, false, "")
	c.jump(time.Hour).sees("an hour ahead, or asleep", false, true, "")
	v := c.pass(time.Minute).sees("until somebody looked", false, true, "")
	c.jump(time.Hour).sees("asleep while they looked", false, true, "")
	c.Reconciled(v)
	v = c.pass(time.Minute).sees("they looked too early", false, true, "")
	c.Reconciled(v)
	c.pass(time.Minute).sees("somebody looked", false, false, "")
	c.jump(-time.Hour).sees("the hour was wrong", true, false, "back")
	c.check("AWS agrees", c.Date(c.wall, c.wall, c.mono), false, false, "")
}

// A sleep over the end of a grant: what it may is over at once, and its
// sandboxes are looked at before anything else begins.
func TestClockSleepAcrossEnd(t *testing.T) {
	g := newGrant(t, grant.Options{ExpiresAt: noon.Add(2 * time.Hour)})
	c := newClocks(t, noon)
	c.sees("before", false, false, "")
	refused(t, "before", grant.Usable(g, nil, c.wall), "")
	v := c.jump(8*time.Hour).sees("after", false, true, "")
	refused(t, "after", grant.Usable(g, nil, c.wall), sandbox.TokenExpired)
	// Setting the clock back does not bring it to life.
	c.Reconciled(v)
	c.jump(-7*time.Hour).sees("set back", true, false, "back")
}

// Small steps back do not add up: in a day, five minutes can be won.
func TestClockSetBackBitByBit(t *testing.T) {
	c := newClocks(t, noon)
	c.sees("the first time", false, false, "")
	won := time.Duration(0)
	for range 24 * 60 {
		c.pass(time.Minute).jump(-30 * time.Second)
		if c.Saw(c.wall, c.mono).Suspect {
			break
		}
		won += 30 * time.Second
	}
	if won > 5*time.Minute {
		t.Errorf("the clock went back by %s in a day, and nobody noticed", won)
	}
	// Clocks that drift apart, as they do, are no suspects.
	c = newClocks(t, noon)
	for range 60 * 24 {
		c.pass(time.Hour).jump(-360 * time.Millisecond) // 100 parts in a million, for two months
		if v := c.Saw(c.wall, c.mono); v.Suspect {
			t.Fatalf("suspect after %s: %+v", c.mono, v)
		}
	}
}

// Daylight time moves the hands and not the instant.
func TestClockDaylight(t *testing.T) {
	madrid, err := time.LoadLocation("Europe/Madrid")
	if err != nil {
		t.Fatal(err)
	}
	for _, begin := range []time.Time{time.Date(2026, 3, 29, 1, 30, 0, 0, madrid), time.Date(2026, 10, 25, 1, 30, 0, 0, madrid)} {
		c := newClocks(t, time.Time{})
		c.wall = begin
		g, err := grant.New("night", grant.Options{ExpiresAt: begin.Add(2 * time.Hour)}, begin)
		if err != nil {
			t.Fatal(err)
		}
		for range 119 {
			c.pass(time.Minute).sees(c.wall.String(), false, false, "")
			refused(t, c.wall.String(), grant.Usable(g, nil, c.wall), "")
		}
		c.pass(time.Minute)
		refused(t, "the end", grant.Usable(g, nil, c.wall), sandbox.TokenExpired)
	}
}

// The mark is written once a minute, and never goes down by itself.
func TestClockMarks(t *testing.T) {
	c := newClocks(t, time.Time{})
	last, writes := time.Time{}, 0
	for range 60 * 6 {
		c.pass(10 * time.Second)
		if v := c.Saw(c.wall, c.mono); !v.Mark.IsZero() {
			writes++
			if !v.Mark.After(last) || !v.Mark.Equal(c.wall) {
				t.Errorf("the mark is %s after %s, at %s", v.Mark, last, c.wall)
			}
			last = v.Mark
		}
	}
	if writes != 60 {
		t.Errorf("%d marks in an hour, want 60", writes)
	}
	for range 10 {
		if v := c.jump(-30*time.Second).sees("a little back", false, false, ""); !v.Mark.IsZero() {
			t.Errorf("the mark is %s, after %s", v.Mark, last)
		}
	}
}

func TestClockOffsetOfAWS(t *testing.T) {
	c := newClocks(t, noon)
	c.sees("the first time", false, false, "")
	c.check("five minutes", c.Date(c.wall.Add(5*time.Minute), c.wall, c.mono), false, false, "")
	c.check("more", c.Date(c.wall.Add(5*time.Minute+time.Second), c.wall, c.mono), false, false, "aws")
	c.check("more still", c.Date(c.wall.Add(-time.Hour), c.wall, c.mono), false, false, "")
	c.check("none", c.Date(c.wall, c.wall, c.mono), false, false, "")
	v := c.Date(c.wall.Add(-time.Hour), c.wall, c.mono)
	c.check("again", v, false, false, "aws")
	if v.Events[0].Data["seconds"] != int64(-3600) || !v.Events[0].Alert() {
		t.Errorf("the event is %+v", v.Events[0])
	}
}

func TestClockOfManyAtOnce(t *testing.T) {
	c := grant.NewClockGuard(noon)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			d := time.Duration(i) * time.Second
			c.Date(noon.Add(d), noon.Add(d), d)
			c.Reconciled(c.Saw(noon.Add(d), d))
			if err := c.Billable(); err != nil {
				t.Errorf("readings at once: %v", err)
			}
		})
	}
	wg.Wait()
}
