package fleet

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
)

// A lease is one bridge's claim to a sandbox.
type lease struct {
	sandbox.Lease
	since    time.Time
	attached int             // streams of its bridge; 0 while it is away
	timer    clockwork.Timer // ends the lease unless the bridge comes back; nil if it is there
	shares   *lease          // the lease whose sandbox this one has until it makes a call
	box      *box            // nil until a call needs one
	gone     *sandbox.Error  // to be told to the next call, once
	goneKey  string          // which box that was
	lost     string          // id of a sandbox whose state is lost, to be told with the next one
}

// Hold keeps a lease until ctx is done, and calls held when it is in place. A
// lease that nobody holds for a while, and was not released, ends as one whose
// bridge was killed.
func (f *Fleet) Hold(ctx context.Context, want sandbox.Lease, held func() error) error {
	if err := want.Validate(); err != nil {
		return err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return errClosing()
	}
	l := f.attachLocked(want)
	f.mu.Unlock()
	defer f.detach(l)
	if err := held(); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// attachLocked finds or makes the lease.
func (f *Fleet) attachLocked(want sandbox.Lease) *lease {
	if want.Spec.Profile.Name == "" {
		want.Spec.Profile.Name = sandbox.ProfileLocal
	}
	l := f.leases[want.ID]
	if l == nil {
		l = &lease{Lease: want, since: f.clock.Now()}
		l.shares = f.twinLocked(want)
		l.lost = f.lostLocked(want.ID)
		f.leases[want.ID] = l
		f.log.Info("lease begins", "lease", l.ID, "host", l.Host, "profile", l.Spec.Profile.Name, "shares", l.shares != nil)
	} else {
		l.Lease = want
		if l.box != nil {
			l.box.profile = want.Spec.Profile
			f.log.Info("lease is back", "lease", l.ID, "sandbox", l.box.ID)
		}
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.attached++
	f.changedLocked()
	return l
}

// lostLocked finds the sandbox that a lease had when its bridge was away for too
// long.
func (f *Fleet) lostLocked(lease string) string {
	for _, b := range f.boxes {
		if b.Lease == lease && b.EndReason == sandbox.EndCut {
			return b.ID
		}
	}
	return ""
}

// twinLocked finds the lease of a bridge that the same process started for the
// same connection a moment ago: some hosts start everything twice.
func (f *Fleet) twinLocked(want sandbox.Lease) *lease {
	if want.Connection == "" || want.Parent == "" {
		return nil
	}
	var twin *lease
	for _, l := range f.leases {
		if l.Connection == want.Connection && l.Parent == want.Parent && l.attached > 0 && l.shares == nil &&
			f.clock.Since(l.since) < shareWithin && (twin == nil || l.since.Before(twin.since)) {
			twin = l
		}
	}
	return twin
}

func (f *Fleet) detach(l *lease) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l.attached--
	if f.leases[l.ID] != l || l.attached > 0 || f.closed {
		return
	}
	f.awaitLocked(l)
}

// awaitLocked gives the bridge of l some time to come back.
func (f *Fleet) awaitLocked(l *lease) {
	f.log.Info("lease is cut off", "lease", l.ID)
	l.timer = f.clock.AfterFunc(grace, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.leases[l.ID] == l && l.attached == 0 && !f.closed {
			f.endLeaseLocked(l, sandbox.EndCut)
		}
	})
	f.changedLocked()
}

// Release ends a lease at once: its bridge has ended in order.
func (f *Fleet) Release(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.leases[id]; l != nil {
		f.endLeaseLocked(l, sandbox.EndClosed)
	}
	return nil
}

// endLeaseLocked ends l, and its sandbox unless that is to be kept or another
// lease shares it.
func (f *Fleet) endLeaseLocked(l *lease, why sandbox.EndReason) {
	delete(f.leases, l.ID)
	if l.timer != nil {
		l.timer.Stop()
	}
	f.log.Info("lease ends", "lease", l.ID, "reason", string(why))
	heir := f.heirLocked(l)
	b := l.box
	for _, r := range f.runs { // what survives its sandbox's lease need not go on
		if r.Lease == l.ID && !r.Job && (heir != nil || b != nil && b.Keep) {
			f.killLocked(r)
		}
	}
	l.box = nil
	switch {
	case b == nil:
	case heir != nil:
		b.Lease, b.Host = heir.ID, heir.Host
		heir.box = b
		f.noteLocked(b)
	case b.Keep:
		b.Lease = ""
		f.noteLocked(b)
	default:
		f.endLocked(b, why)
	}
	f.changedLocked()
}

// heirLocked finds who shares l, and has all others share with that one.
func (f *Fleet) heirLocked(l *lease) *lease {
	var heir *lease
	for _, other := range f.leases {
		if other.shares == l && other.attached > 0 && (heir == nil || other.since.Before(heir.since)) {
			heir = other
		}
	}
	for _, other := range f.leases {
		if other.shares == l {
			other.shares = heir
		}
	}
	if heir != nil {
		heir.shares = nil
	}
	return heir
}

// leaseFor waits for the lease of a call, which may be on its way: after a
// restart of the engine both come at once.
func (f *Fleet) leaseFor(ctx context.Context, id string) (*lease, error) {
	timeout := f.clock.NewTimer(leaseWithin)
	defer timeout.Stop()
	for {
		f.mu.Lock()
		l, changed := f.leases[id], f.changed
		if l != nil && l.Spec.Profile.Name != "" { // else known from its sandbox only, and not back yet
			l.shares = nil // it makes a call of its own
			f.mu.Unlock()
			return l, nil
		}
		f.mu.Unlock()
		select {
		case <-changed:
		case <-timeout.Chan():
			return nil, &sandbox.Error{Code: sandbox.WrongState, Msg: "the connection holds no lease", Retryable: true}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
