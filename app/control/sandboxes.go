package control

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// Status asks the engine how it is. It does not start one.
func (c *Client) Status(ctx context.Context) (Status, error) {
	c.setup()
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := c.Clock.AfterFunc(answerWithin, func() { cancel(errSilent) })
	defer timer.Stop()
	a, err := c.once1(limited, callHello, &request{}, nil, nil)
	if err != nil && errors.Is(context.Cause(limited), errSilent) && ctx.Err() == nil {
		return Status{}, c.silent(nil)
	}
	if lost, ok := errors.AsType[*lostError](err); ok {
		return Status{}, unreachable(lost)
	}
	if err != nil {
		return Status{}, ours(err)
	}
	if a.Status == nil {
		return Status{}, missing("status")
	}
	return *a.Status, nil
}

// Stop has the engine end, and leaves the sandboxes alone. It returns when that
// one does not answer any more; its clients may have started the next.
func (c *Client) Stop(ctx context.Context) error {
	before, err := c.Status(ctx)
	if err != nil {
		return err
	}
	_, err = c.once1(ctx, callStop, &request{}, nil, nil)
	if lost, ok := errors.AsType[*lostError](err); ok {
		if !lost.sent {
			return unreachable(lost)
		}
		err = nil
	}
	if err != nil {
		return ours(err)
	}
	for delay := firstDelay; ; delay = min(2*delay, lastDelay) {
		now, err := c.Status(ctx)
		if err != nil && ctx.Err() == nil || err == nil && now.PID != before.PID {
			return nil
		}
		timer := c.Clock.NewTimer(delay)
		select {
		case <-timer.Chan():
		case <-ctx.Done():
			timer.Stop()
			return ours(ctx.Err())
		}
	}
}

// Hold keeps a lease until ctx is done, over the end of any engine, and then
// gives it back: its sandbox ends at once. held, which may be nil, is called
// each time the lease is in place. It returns early only if the engine refuses
// the lease, or none can be had.
func (c *Client) Hold(ctx context.Context, l sandbox.Lease, held func()) error {
	_, err := c.call(ctx, callHold, &request{Lease: &l}, always, func(f frame) error {
		if f.Held && held != nil {
			held()
		}
		return nil
	}, nil)
	if ctx.Err() == nil {
		return err
	}
	return c.Release(context.WithoutCancel(ctx), l.ID)
}

// Release gives a lease back. It does not wait long for the engine, nor start
// one: without it, the lease ends too, a little later.
func (c *Client) Release(ctx context.Context, lease string) error {
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	_, err := c.once1(ctx, callRelease, &request{ID: lease}, nil, nil)
	if lost, ok := errors.AsType[*lostError](err); ok {
		return unreachable(lost)
	}
	return ours(err)
}

// Watch calls emit with the present snapshot, and then with the newest whenever
// there is a newer one and emit has returned, over the end of any engine. It
// returns when ctx is done or emit fails, and when there is no engine and it
// may not start one.
func (c *Client) Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	return c.watch(ctx, callWatch, emit)
}

// Glance is Watch for a program that runs all day: no cloud is asked more often
// for it.
func (c *Client) Glance(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	return c.watch(ctx, callGlance, emit)
}

func (c *Client) watch(ctx context.Context, call string, emit func(sandbox.Snapshot) error) error {
	_, err := c.call(ctx, call, &request{}, always, func(f frame) error {
		if f.Snapshot == nil {
			return nil
		}
		return emit(*f.Snapshot)
	}, nil)
	return err
}

// Create makes a sandbox that belongs to no lease, and returns when it can be
// used. Over the end of an engine it waits for the one that was asked for.
func (c *Client) Create(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error) {
	if s.Key == "" {
		s.Key = uuid.NewString()
	}
	return sandboxOf(c.call(ctx, callCreate, &request{Spec: &s}, always, nil, nil))
}

// Get describes a sandbox as its cloud has it now.
func (c *Client) Get(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return sandboxOf(c.call(ctx, callGet, &request{ID: id}, always, nil, nil))
}

// List asks a profile's cloud for what there is. It makes and wakes nothing.
func (c *Client) List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error) {
	a, err := c.call(ctx, callSandboxes, &request{List: &r}, always, nil, nil)
	if err != nil {
		return nil, err
	}
	return a.Sandboxes, nil
}

// Suspend puts a sandbox to sleep, and returns when it sleeps.
func (c *Client) Suspend(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return sandboxOf(c.call(ctx, callSuspend, &request{ID: id}, always, nil, nil))
}

// Resume wakes a sandbox, and returns when it is awake.
func (c *Client) Resume(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return sandboxOf(c.call(ctx, callResume, &request{ID: id}, always, nil, nil))
}

// Terminate ends a sandbox, and returns when the cloud has agreed. by is the
// lease that asks; "" is a person.
func (c *Client) Terminate(ctx context.Context, id, by string) error {
	_, err := c.call(ctx, callTerminate, &request{ID: id, By: by}, always, nil, nil)
	return err
}

// ScheduleRemoval has a sandbox end at a time, which is before it would anyway.
func (c *Client) ScheduleRemoval(ctx context.Context, id string, at time.Time) (sandbox.Sandbox, error) {
	return sandboxOf(c.call(ctx, callRemoval, &request{ID: id, At: at}, always, nil, nil))
}

func sandboxOf(a *answer, err error) (sandbox.Sandbox, error) {
	if err != nil {
		return sandbox.Sandbox{}, err
	}
	if a.Sandbox == nil {
		return sandbox.Sandbox{}, missing("sandbox")
	}
	return *a.Sandbox, nil
}
