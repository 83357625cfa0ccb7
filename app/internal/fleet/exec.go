package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// ErrStarting is the cause of an agent's refusal to run a cell because its
// kernel is not up yet.
var ErrStarting = errors.New("the kernel is starting")

// A starter has an agent start something, and follows it.
type starter func(ctx context.Context, a Agent, emit func(Event) error) (sandbox.Exit, error)

// Exec runs a command and follows it to its end. One that was sent before is
// followed from the output with seq next on, and not run again. When ctx is
// done the command goes on for a while; [Fleet.Cancel] ends it.
func (f *Fleet) Exec(ctx context.Context, e sandbox.Exec, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	if err := e.Validate(); err != nil {
		return sandbox.Exit{}, err
	}
	r, err := f.open(ctx, recordOf(e), headOf(e), e.Target, next, emit, start(e))
	if err != nil {
		return sandbox.Exit{}, err
	}
	return f.finish(ctx, r, next, emit)
}

func recordOf(e sandbox.Exec) runRecord {
	return runRecord{ID: e.ID, Lease: e.Lease, Job: e.Job, Place: Place{Terminal: e.Size != nil}}
}

func start(e sandbox.Exec) starter {
	return func(ctx context.Context, a Agent, emit func(Event) error) (sandbox.Exit, error) {
		return a.Start(ctx, e, emit)
	}
}

// RunCode runs a cell and follows it, as Exec does with a command.
func (f *Fleet) RunCode(ctx context.Context, c sandbox.Cell, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	if err := c.Validate(); err != nil {
		return sandbox.Exit{}, err
	}
	rec := runRecord{ID: c.ID, Lease: c.Lease, Cell: true, Place: Place{Kernel: c.Context}}
	r, err := f.open(ctx, rec, callHead{sandbox.CallCode, cutText(c.Code)}, c.Target, next, emit, func(ctx context.Context, a Agent, emit func(Event) error) (sandbox.Exit, error) {
		if err := f.firstCell(ctx, a, c); err != nil {
			return sandbox.Exit{}, err
		}
		return f.execute(ctx, a, c, emit)
	})
	if err != nil {
		return sandbox.Exit{}, err
	}
	return f.finish(ctx, r, next, emit)
}

// firstCell waits for the Python of a sandbox that has not answered yet: it may
// be begun anew until then.
func (f *Fleet) firstCell(ctx context.Context, a Agent, c sandbox.Cell) error {
	f.mu.Lock()
	var b *box
	if r := f.runs[c.ID]; r != nil {
		b = r.box
	}
	known := b == nil || b.kernel
	f.mu.Unlock()
	if known {
		return nil
	}
	if err := f.kernelUp(ctx, a, f.clock.Now().Add(kernelWithin)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b.kernel = true
	return nil
}

// execute runs a cell, once its kernel is up.
func (f *Fleet) execute(ctx context.Context, a Agent, c sandbox.Cell, emit func(Event) error) (sandbox.Exit, error) {
	limit := f.clock.Now().Add(kernelWithin)
	for {
		exit, err := a.Execute(ctx, c, emit)
		if !errors.Is(err, ErrStarting) || !f.clock.Now().Before(limit) {
			return exit, err
		}
		if err := f.kernelUp(ctx, a, limit); err != nil {
			return sandbox.Exit{}, err
		}
	}
}

// kernelUp asks until the kernel answers, or limit.
func (f *Fleet) kernelUp(ctx context.Context, a Agent, limit time.Time) error {
	for delay := 5 * time.Millisecond; f.clock.Now().Before(limit); delay = min(2*delay, time.Second) {
		h, err := a.Health(ctx)
		if err != nil {
			return err
		}
		if h.Kernel {
			return nil
		}
		if err := f.wait(ctx, delay); err != nil {
			return err
		}
	}
	return &sandbox.Error{Code: sandbox.InTransition, Msg: "the Python of the sandbox does not start", Retryable: true}
}

// open finds the call that was sent before, or starts it.
func (f *Fleet) open(ctx context.Context, rec runRecord, h callHead, t sandbox.Target, next uint64, tell func(sandbox.Output) error, start starter) (*run, error) {
	if r := f.known(rec.ID, next); r != nil {
		return r, nil
	}
	b, err := f.acquire(ctx, t, tell)
	if err != nil {
		return nil, err
	}
	rec.Box, rec.StartedAt = b.Key, f.clock.Now()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	f.mu.Lock()
	if r := f.runs[rec.ID]; r != nil { // the same was sent twice at once
		f.mu.Unlock()
		return r, nil
	}
	if f.closed || b.agent == nil || b.EndReason != "" {
		defer f.mu.Unlock()
		return nil, b.goneLocked()
	}
	if rec.Job {
		if err := f.roomLocked(b); err != nil {
			f.mu.Unlock()
			return nil, err
		}
	}
	r := newRun(f, rec)
	r.box, r.exit.Sandbox = b, b.ID
	f.runs[rec.ID] = r
	f.mu.Unlock()
	if err := f.saveRun(rec); err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.runs, rec.ID)
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r.trackLocked(h)
	if !f.beginLocked(func(ctx context.Context) { r.pump(ctx, start) }) {
		return nil, errClosing()
	}
	return r, nil
}

// known returns the run of an id that was seen before, or nil. One that an
// earlier engine started is followed again, from seq next on.
func (f *Fleet) known(id string, next uint64) *run {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[id]
	if r == nil {
		return nil
	}
	if r.left {
		r.left = false
		r.trackAgainLocked()
		f.beginLocked(func(ctx context.Context) { r.pump(ctx, r.again(max(next, 1))) })
	}
	return r
}

// again follows what an earlier engine started.
func (r *run) again(next uint64) starter {
	return func(ctx context.Context, a Agent, emit func(Event) error) (sandbox.Exit, error) {
		at := r.Place
		if err := emit(Event{Output: sandbox.Output{Notice: sandbox.NoticeAgain}}); err != nil {
			return sandbox.Exit{}, err
		}
		if r.Cell {
			if at.Execution == "" {
				return sandbox.Exit{}, errExecDoubt()
			}
			return a.Reattach(ctx, at, next, emit)
		}
		if at.PID == 0 {
			pid, err := a.Find(ctx, r.ID)
			if err != nil {
				return sandbox.Exit{}, err
			}
			if pid == 0 {
				return sandbox.Exit{}, errExecDoubt()
			}
			at.PID = pid
			r.mu.Lock()
			r.place.PID = pid
			r.mu.Unlock()
		}
		return a.Connect(ctx, at, next, emit)
	}
}

func errExecDoubt() error {
	return &sandbox.Error{
		Code: sandbox.ExecInDoubt, Msg: "the connection was cut before it was known to run: it may have run or not",
		Hint: "look at what it would have changed before you run it again",
	}
}

// pump has the agent run or follow r, and takes in all it says. It outlives the
// calls that read it.
func (r *run) pump(ctx context.Context, start starter) {
	f := r.fleet
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.cancel = cancel
	if r.killed || r.ended != nil {
		cancel()
	}
	r.mu.Unlock()
	exit, err := r.inside(ctx, start)
	switch {
	case err == nil:
	case f.isClosed():
		err = errClosing() // the next engine goes on
	case ctx.Err() != nil:
		err = &sandbox.Error{Code: sandbox.Canceled, Msg: "cancelled", Err: err}
	}
	r.finish(exit, err)
	f.pokeServe()
}

func (r *run) inside(ctx context.Context, start starter) (sandbox.Exit, error) {
	f := r.fleet
	f.mu.Lock()
	made := r.box.made
	f.mu.Unlock()
	b, err := f.await(ctx, r.box, made, func(sandbox.Output) error { return nil })
	if err != nil {
		return sandbox.Exit{}, err
	}
	return patiently(ctx, f, func() (sandbox.Exit, error) {
		agent, err := f.enterStream(ctx, b)
		if err != nil {
			return sandbox.Exit{}, err
		}
		exit, err := start(ctx, agent, func(ev Event) error { return r.emit(ctx, ev) })
		f.leaveStream(b, err)
		return exit, err
	})
}

// finish follows r, and sees to it that a sandbox that is gone is told so.
func (f *Fleet) finish(ctx context.Context, r *run, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	exit, err := r.follow(ctx, next, emit)
	if err != nil && ctx.Err() == nil {
		return exit, f.judge(ctx, r.box, err)
	}
	return exit, err
}
