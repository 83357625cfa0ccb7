package price

import (
	"math"
	"math/big"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// An Accrual is what a sandbox has used, as far as it was seen. Keep it as JSON
// over restarts. The zero value has used nothing.
//
// From one sight to the next a sandbox is taken to have been what the earlier
// one saw. What AWS asks while a sandbox is on its way from one state to another
// is not known: there it counts as running, which is never too little.
type Accrual struct {
	// End, if set, is when the cloud ends it at the latest. What is seen later
	// happened then: nobody was there to look.
	End       time.Time     `json:"end,omitzero"`
	State     sandbox.State `json:"state,omitempty"` // at the last sight
	At        time.Time     `json:"at,omitzero"`     // of the last sight, to the millisecond
	RunningMS int64         `json:"running_ms,omitempty"`
	AsleepMS  int64         `json:"asleep_ms,omitempty"`
	Cycles    int64         `json:"cycles,omitempty"` // suspends that were seen
	Launched  bool          `json:"launched,omitempty"`
}

// Saw takes down that a sandbox was in a state. The same twice is the same as
// once, and what is older than the last sight is ignored, but that it is over:
// then it is over, with nothing used in between.
func (a *Accrual) Saw(state sandbox.State, at time.Time) {
	at = a.clip(at)
	switch {
	case a.State == sandbox.Terminated:
		return
	case a.State != "" && at.Before(a.At):
		if state != sandbox.Terminated {
			return
		}
		at = a.At
	}
	a.RunningMS, a.AsleepMS = a.until(at)
	if asleep(state) && !asleep(a.State) {
		a.Cycles++
	}
	a.Launched = a.Launched || state != sandbox.Creating && state != sandbox.InDoubt
	a.State, a.At = state, at
}

// clip is a time to the millisecond, and no later than the end.
func (a *Accrual) clip(at time.Time) time.Time {
	if !a.End.IsZero() && at.After(a.End) {
		at = a.End
	}
	return time.UnixMilli(at.UnixMilli()).UTC()
}

// until is how long it has run and slept if it stays what it is until then.
func (a *Accrual) until(at time.Time) (running, sleeping int64) {
	running, sleeping = a.RunningMS, a.AsleepMS
	if a.State == "" {
		return running, sleeping
	}
	ms := max(0, at.UnixMilli()-a.At.UnixMilli())
	switch a.State {
	case sandbox.Creating, sandbox.InDoubt, sandbox.Terminated:
	case sandbox.Suspended:
		sleeping = satAdd(sleeping, ms)
	default: // also one that is not known yet
		running = satAdd(running, ms)
	}
	return running, sleeping
}

// asleep reports whether a sandbox in this state has been suspended, or nearly:
// its snapshot is written.
func asleep(s sandbox.State) bool { return s == sandbox.Suspending || s == sandbox.Suspended }

// Used is how long it has run and slept until now.
func (a *Accrual) Used(now time.Time) (running, sleeping time.Duration) {
	r, s := a.until(a.clip(now))
	return millis(r), millis(s)
}

func millis(ms int64) time.Duration {
	return time.Duration(satMul(ms, int64(time.Millisecond)))
}

// Cost is what it has cost until now. In strict mode it has burst all the time
// that it ran, and suspended as often as it could have, since a short sleep may
// have been missed; in baseline mode what was seen counts. It is never more than
// [Worst] while it lives as planned, but for the [Cycle] of each suspend that
// a person asked for.
func (a *Accrual) Cost(r Rates, p Plan, now time.Time) sandbox.Cost {
	u := use{burst: p.burst(), cycles: a.Cycles}
	u.running, u.asleep = a.until(a.clip(now))
	if u.burst > 1 && p.Idle > 0 {
		u.cycles = max(u.cycles, satAdd(u.running, u.asleep)/satMul(int64(p.Idle), 1000))
	}
	if a.Launched {
		u.launches = 1
	}
	return u.of(r, p).cost()
}

// cost is e in amounts that add up: the largest part has what rounding the others
// down left over, and what rounding the total up adds.
func (e exact) cost() sandbox.Cost {
	c := sandbox.Cost{Total: atMost(e.sum())}
	if c.Total == math.MaxInt64 {
		return sandbox.Cost{Compute: atMost(e.compute), Launch: atMost(e.launch), Cycles: atMost(e.cycles), Storage: atMost(e.storage), Total: c.Total}
	}
	rest, largest := c.Total, &c.Compute
	for _, part := range []struct {
		to   *sandbox.Micro
		from *big.Int
	}{{&c.Compute, e.compute}, {&c.Launch, e.launch}, {&c.Cycles, e.cycles}, {&c.Storage, e.storage}} {
		*part.to = sandbox.Micro(new(big.Int).Div(part.from, product(grains, picos)).Int64())
		rest -= *part.to
		if *part.to > *largest {
			largest = part.to
		}
	}
	*largest += rest
	return c
}

// satAdd adds two numbers that are not negative, up to the largest there is.
func satAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
