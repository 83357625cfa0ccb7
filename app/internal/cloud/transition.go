package cloud

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A microvm is one VM: what is fixed about it, and where it is in its life.
type microvm struct {
	vmRecord // as it was made; never changed

	clock    clockwork.Clock
	policy   Policy
	throttle func() bool // whether requests are held to their rate
	lags     Lags
	hooks    wire.Hooks
	spec     Spec
	input    hookInput
	stop     context.CancelCauseFunc // ends live's context
	tasks    sync.WaitGroup          // what works for live, beside it
	moved    atomic.Int64            // when bytes last moved through the endpoint, in Unix nanoseconds

	mu      sync.Mutex
	state   wire.MicrovmState // guarded by mu, like all below
	reason  string
	from    wire.MicrovmState // the state that TERMINATING came from
	since   time.Time         // when state came about
	ended   time.Time         // when the VM was TERMINATED
	past    []transition      // oldest first; what reads that lag see
	changed chan struct{}     // closed and replaced at each change of state
	cut     chan struct{}     // closed while connections may not live
	asked   bool              // whether the last suspend was asked for, not idleness
	woken   bool              // whether PENDING is a wake and not the first start
	machine Machine           // nil until it has started
}

// A transition is a change of state as it shows to the API.
type transition struct {
	state   wire.MicrovmState
	reason  string
	visible time.Time
}

// keptTransitions is how many changes a lagging read can be behind.
const keptTransitions = 8

// setLocked moves the VM to another state. Reads see it after lag.
func (v *microvm) setLocked(state wire.MicrovmState, lag time.Duration) {
	now := v.clock.Now()
	v.state, v.since = state, now
	visible := now.Add(lag)
	if n := len(v.past); n > 0 && v.past[n-1].visible.After(visible) {
		visible = v.past[n-1].visible // never out of order
	}
	v.past = append(v.past, transition{state, v.reason, visible})
	if n := len(v.past); n > keptTransitions {
		v.past = v.past[n-keptTransitions:]
	}
	if state == wire.MicrovmStateRunning {
		v.moved.Store(now.UnixNano())
		v.cut = make(chan struct{})
		v.woken = true
	}
	close(v.changed)
	v.changed = make(chan struct{})
}

// cutLocked ends every connection through the endpoint.
func (v *microvm) cutLocked() {
	select {
	case <-v.cut:
	default:
		close(v.cut)
	}
}

// change moves the VM from one state to another, and reports whether it was in
// the first.
func (v *microvm) change(from, to wire.MicrovmState) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state != from {
		return false
	}
	v.setLocked(to, v.lags.Read)
	return true
}

// now returns the true state and a channel that is closed when it changes.
func (v *microvm) now() (wire.MicrovmState, <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.state, v.changed
}

// view is what a read of the API sees: the last change that shows by now,
// seen late by that much, or the one before it if the read is to be stale.
func (v *microvm) view(late time.Duration, stale bool) (transition, time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.clock.Now().Add(-late)
	i := len(v.past) - 1
	for i > 0 && v.past[i].visible.After(at) {
		i--
	}
	if stale && i > 0 {
		i--
	}
	if v.past[i].state == wire.MicrovmStateTerminated {
		return v.past[i], v.ended
	}
	return v.past[i], time.Time{}
}

// An ending is why a VM ends.
type ending struct {
	reason string
	notify bool          // tell the guest, if it is awake
	lag    time.Duration // how long the API does not know
}

func (e ending) Error() string { return e.reason }

// doom starts the end of the VM. Only the first reason counts.
func (v *microvm) doom(why ending) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.state == wire.MicrovmStateTerminating || v.state == wire.MicrovmStateTerminated {
		return
	}
	v.stop(why) // first: live must not take TERMINATING for a call to go on
	v.from = v.state
	v.reason = why.reason
	v.setLocked(wire.MicrovmStateTerminating, max(v.lags.Read, why.lag))
	v.cutLocked()
}
