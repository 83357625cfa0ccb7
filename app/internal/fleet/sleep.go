package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

const transitionWithin = 30 * time.Second

// Suspend puts a sandbox to sleep, and returns when it sleeps.
func (f *Fleet) Suspend(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return f.transit(ctx, id, Cloud.Suspend, sandbox.Suspending, sandbox.Suspended)
}

// Resume wakes a sandbox, and returns when it is awake.
func (f *Fleet) Resume(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return f.transit(ctx, id, Cloud.Resume, sandbox.Pending, sandbox.Running)
}

// transit changes the state of a sandbox.
func (f *Fleet) transit(ctx context.Context, id string, ask func(Cloud, context.Context, string) error, by, to sandbox.State) (sandbox.Sandbox, error) {
	b, err := f.acquireByID(ctx, id, func(sandbox.Output) error { return nil })
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	held := false
	if to == sandbox.Suspended {
		if held, err = f.cycle(ctx, b); err != nil {
			return sandbox.Sandbox{}, err
		}
		f.mu.Lock()
		if b.unheed != nil {
			b.unheed()
		}
		f.mu.Unlock()
	}
	s, err := f.change(ctx, b, ask, by, to)
	if err != nil && held {
		f.uncycle(ctx, b)
	}
	return s, err
}

// rouse wakes a sandbox that is asleep and does not wake by itself when it is
// called: clouds do that only for those that they suspend themselves.
func (f *Fleet) rouse(ctx context.Context, b *box) error {
	f.mu.Lock()
	asleep := b.Request.Idle == 0 && (b.State == sandbox.Suspended || b.State == sandbox.Suspending)
	f.mu.Unlock()
	if !asleep {
		return nil
	}
	_, err := f.change(ctx, b, Cloud.Resume, sandbox.Pending, sandbox.Running)
	return err
}

// change asks the cloud for a change of state, and waits until it shows.
func (f *Fleet) change(ctx context.Context, b *box, ask func(Cloud, context.Context, string) error, by, to sandbox.State) (sandbox.Sandbox, error) {
	f.mu.Lock()
	id := b.ID
	f.mu.Unlock()
	cloud, err := f.cloudOf(ctx, b)
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	if cloud != nil {
		err = ask(cloud, ctx, id)
	}
	if err != nil || cloud == nil {
		if err == nil {
			err = &sandbox.Error{Code: sandbox.Gone, Msg: "the sandbox does not exist any more"}
		}
		return sandbox.Sandbox{}, f.judge(ctx, b, err)
	}
	f.mu.Lock()
	if b.EndReason == "" && b.Ending == "" {
		b.State = by
		f.sawLocked(b, by)
		f.changedLocked()
	}
	f.mu.Unlock()
	limit := f.clock.Now().Add(transitionWithin)
	for delay := 5 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		s, err := f.Get(ctx, id)
		switch {
		case err != nil && ctx.Err() != nil:
			return sandbox.Sandbox{}, err
		case err == nil && s.State == to:
			return s, nil
		case err == nil && !s.State.Alive():
			return sandbox.Sandbox{}, f.judge(ctx, b, &sandbox.Error{Code: sandbox.Gone, Msg: "the sandbox ended"})
		case !f.clock.Now().Before(limit):
			return s, &sandbox.Error{Code: sandbox.InTransition, Msg: "the sandbox is still changing its state", Retryable: true, RetryAfter: 3 * time.Second}
		}
		if err := f.wait(ctx, delay); err != nil {
			return sandbox.Sandbox{}, err
		}
	}
}

// pastLeeway is how long ago the end of a sandbox may have been set for: the
// clock of who asks need not be ours, and a request takes its time.
const pastLeeway = 5 * time.Second

// ScheduleRemoval has a sandbox end at a time to come that is no later than its
// cloud ends it anyway.
func (f *Fleet) ScheduleRemoval(_ context.Context, id string, at time.Time) (sandbox.Sandbox, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, now := f.byIDLocked(id), f.clock.Now()
	switch {
	case b == nil:
		return sandbox.Sandbox{}, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + id + " of ours"}
	case b.EndReason != "" || b.Ending != "":
		return sandbox.Sandbox{}, b.goneLocked()
	case at.Before(now.Add(-pastLeeway)): // who has the year wrong wants nothing ended now
		wanted, is := at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)
		return sandbox.Sandbox{}, &sandbox.Error{
			Code: sandbox.Invalid, Msg: fmt.Sprintf("%s is past, and it is %s now", wanted, is),
			Hint: "give a time to come; to end the sandbox now, terminate it", Details: map[string]any{"field": "at", "rule": "past", "at": wanted, "now": is},
		}
	case at.After(b.EndsAt):
		return sandbox.Sandbox{}, &sandbox.Error{
			Code: sandbox.CannotExtend, Msg: "the life of a sandbox is fixed when it is made: it can only end earlier",
			Details: map[string]any{"ends_at": b.EndsAt.UTC().Format(time.RFC3339)},
		}
	}
	if b.RemoveAt = at; at.Before(now) {
		b.RemoveAt = now
	}
	if err := f.saveLocked(b, true); err != nil {
		return sandbox.Sandbox{}, err
	}
	f.changedLocked()
	f.pokeServe()
	return f.nounLocked(b), nil
}
