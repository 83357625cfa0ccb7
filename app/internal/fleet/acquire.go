package fleet

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// doubtPatience is how long a call waits for news of a sandbox in doubt.
const doubtPatience = 10 * time.Second

// acquire returns the sandbox that a call is for, ready to take it. It makes
// one for a lease that has none. tell gets the notices of that.
func (f *Fleet) acquire(ctx context.Context, t sandbox.Target, tell func(sandbox.Output) error) (*box, error) {
	deaf := tell == nil
	if deaf {
		tell = func(sandbox.Output) error { return nil }
	}
	if t.Sandbox != "" {
		b, err := f.acquireByID(ctx, t.Sandbox, tell)
		if err != nil {
			return nil, err
		}
		return b, f.rouse(ctx, b)
	}
	l, err := f.leaseFor(ctx, t.Lease)
	if err != nil {
		return nil, err
	}
	b, made, err := f.boxFor(l)
	if err != nil {
		return nil, err
	}
	if b, err = f.await(ctx, b, made, tell); err != nil {
		return nil, err
	}
	if err := f.rouse(ctx, b); err != nil {
		return nil, err
	}
	f.mu.Lock()
	lost := l.lost
	if l.box == b && !deaf {
		l.lost = ""
	}
	f.mu.Unlock()
	if lost != "" {
		return b, tell(sandbox.Output{Notice: sandbox.NoticeReplaced, Sandbox: b.ID, Text: lost})
	}
	return b, nil
}

// boxFor returns the box of l, and what is closed when the attempt to make it
// is over. What l is still to be told comes first.
func (f *Fleet) boxFor(l *lease) (*box, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		return nil, nil, errClosing()
	case f.leases[l.ID] != l:
		return nil, nil, &sandbox.Error{Code: sandbox.WrongState, Msg: "the connection has ended"}
	case l.gone != nil:
		err := l.gone
		l.gone, l.goneKey = nil, ""
		return nil, nil, err
	}
	if l.box == nil {
		if b := f.namedLocked(l.Spec); b != nil {
			l.box = b
		}
	}
	if l.box == nil {
		b, err := f.makeLocked(l.Spec, &l.Lease)
		if err != nil {
			return nil, nil, err
		}
		l.box = b
	}
	return l.box, l.box.made, nil
}

// namedLocked finds a living sandbox that spec shares by its name, with those who
// pay from the same purse.
func (f *Fleet) namedLocked(spec sandbox.Spec) *box {
	if spec.Name == "" {
		return nil
	}
	for _, b := range f.boxes {
		if b.Name == spec.Name && b.Profile == spec.Profile.Name && b.State.Alive() && b.Ending == "" && cmp.Or(b.Grant, sandbox.GrantOwner) == cmp.Or(spec.Grant, sandbox.GrantOwner) {
			return b
		}
	}
	return nil
}

func (f *Fleet) acquireByID(ctx context.Context, id string, tell func(sandbox.Output) error) (*box, error) {
	f.mu.Lock()
	b := f.byIDLocked(id)
	var made <-chan struct{}
	if b != nil {
		made = b.made
	}
	f.mu.Unlock()
	if b == nil {
		return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + id + " of ours"}
	}
	return f.await(ctx, b, made, tell)
}

// await waits until b can take calls, and tells why that takes time.
func (f *Fleet) await(ctx context.Context, b *box, made <-chan struct{}, tell func(sandbox.Output) error) (*box, error) {
	select {
	case <-made:
	default:
		if err := tell(sandbox.Output{Notice: sandbox.NoticeCreating}); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	state := b.State
	f.mu.Unlock()
	var patience <-chan time.Time
	if state == sandbox.InDoubt {
		timer := f.clock.NewTimer(doubtPatience)
		defer timer.Stop()
		patience = timer.Chan()
	}
	select {
	case <-made:
	case <-patience:
		return nil, errDoubt()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	f.mu.Lock()
	err, state := b.makeErr, b.State
	dead := !b.State.Alive() || b.Ending != ""
	gone := b.goneLocked()
	f.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case dead:
		return nil, gone
	case state == sandbox.Suspended || state == sandbox.Suspending:
		return b, tell(sandbox.Output{Notice: sandbox.NoticeResuming, Sandbox: b.ID})
	}
	return b, nil
}

// goneLocked is what a call to an ended sandbox is told.
func (b *box) goneLocked() *sandbox.Error {
	reason := b.EndReason
	if reason == "" {
		reason = b.Ending
	}
	return &sandbox.Error{
		Code: sandbox.Gone, Retryable: true,
		Msg:     "the sandbox does not exist any more",
		Hint:    "the next call makes a new one; files and variables are lost",
		Details: map[string]any{"sandbox_id": b.ID, "reason": string(reason)},
	}
}

func errDoubt() error {
	return &sandbox.Error{
		Code: sandbox.CreateInDoubt, Retryable: true, RetryAfter: doubtPatience,
		Msg:  "a sandbox was asked for, and the answer was lost: it may exist",
		Hint: "the same call finds out",
	}
}

// enter counts a call in b.
func (f *Fleet) enter(b *box) (Agent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.enterLocked(b)
}

func (f *Fleet) enterLocked(b *box) (Agent, error) {
	if b.agent == nil {
		return nil, b.goneLocked()
	}
	b.running++
	b.usedAt = f.clock.Now()
	if b.State == sandbox.Suspended || b.State == sandbox.Suspending { // the call wakes it
		f.sawLocked(b, sandbox.Running)
	}
	f.changedLocked()
	return b.agent, nil
}

// moved notes that bytes came from b. That alone is no news to watchers.
func (f *Fleet) moved(b *box) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.usedAt = f.clock.Now()
}

// leave counts a call out, with how it ended: one that succeeded shows that the
// sandbox is awake.
func (f *Fleet) leave(b *box, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leaveLocked(b, err)
}

func (f *Fleet) leaveLocked(b *box, err error) {
	b.running--
	b.usedAt = f.clock.Now()
	if err == nil && b.State.Alive() && b.Ending == "" {
		b.State = sandbox.Running
		f.sawLocked(b, sandbox.Running)
	}
	f.changedLocked()
}

// The proxy before a sandbox takes so many requests at once, and no more. A
// call that follows something leaves some for those that are quickly over, such
// as a kill.
const (
	maxStreams = 24 // of the 32 that a sandbox of the usual size has
	spare      = 2
	busyWithin = time.Minute // of being told that there are too many
)

// enterStream is enter for a call that may go on for long. It waits for its
// turn.
func (f *Fleet) enterStream(ctx context.Context, b *box) (Agent, error) {
	for {
		f.mu.Lock()
		if b.limit == 0 {
			b.limit = maxStreams
		}
		if b.streams < b.limit || b.agent == nil {
			defer f.mu.Unlock()
			agent, err := f.enterLocked(b)
			if err == nil {
				b.streams++
			}
			return agent, err
		}
		changed := f.changed
		f.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *Fleet) leaveStream(b *box, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if busy(err) { // this sandbox takes fewer than we thought
		b.limit = max(min(b.limit, b.streams-spare), 1)
	}
	b.streams--
	f.leaveLocked(b, err)
}

// busy reports whether err asks for patience, and nothing was done.
func busy(err error) bool {
	e, ok := errors.AsType[*sandbox.Error](err)
	return ok && e.Code == sandbox.TooMuch && e.Retryable
}

// patiently makes a call again while the sandbox is too busy to take it.
func patiently[T any](ctx context.Context, f *Fleet, do func() (T, error)) (T, error) {
	limit := f.clock.Now().Add(busyWithin)
	for delay := 20 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		out, err := do()
		if !busy(err) || !f.clock.Now().Before(limit) {
			return out, err
		}
		if werr := f.wait(ctx, delay); werr != nil {
			return out, werr
		}
	}
}

// call makes one call to the agent of the sandbox that t is for.
func call[T any](ctx context.Context, f *Fleet, t sandbox.Target, tell func(sandbox.Output) error, do func(context.Context, Agent) (T, error)) (T, error) {
	var none T
	b, err := f.acquire(ctx, t, tell)
	if err != nil {
		return none, err
	}
	if tell != nil { // a command tells that by itself
		if err := tell(sandbox.Output{Notice: sandbox.NoticeStarted, Sandbox: b.ID}); err != nil {
			return none, err
		}
	}
	agent, err := f.enter(b)
	if err != nil {
		return none, err
	}
	out, err := patiently(ctx, f, func() (T, error) { return do(ctx, agent) })
	f.leave(b, err)
	if err != nil {
		return none, f.judge(ctx, b, err)
	}
	return out, nil
}
