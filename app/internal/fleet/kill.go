package fleet

import (
	"context"
	"syscall"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

const (
	killWithin = 5 * time.Second // for a kill to get through, and to show
	sigKill    = int(syscall.SIGKILL)
)

// kill ends a command with all it started, or interrupts a cell. It does not
// wait for that.
func (r *run) kill() {
	r.fleet.mu.Lock()
	defer r.fleet.mu.Unlock()
	r.fleet.killLocked(r)
}

func (f *Fleet) killLocked(r *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.killed || r.over {
		return
	}
	r.killed = true
	r.changedLocked()
	if r.Cell && r.cancel != nil && !r.resumed {
		r.cancel()
		return
	}
	left := r.left
	f.beginLocked(func(ctx context.Context) { r.killCommand(ctx, left) })
}

// killCommand sends the signal, and gives up following if that does not help.
// What nobody followed yet is over then.
func (r *run) killCommand(ctx context.Context, left bool) {
	ctx, cancel := context.WithTimeout(ctx, killWithin)
	defer cancel()
	if left {
		defer r.finish(sandbox.Exit{}, &sandbox.Error{Code: sandbox.Canceled, Msg: "nobody followed it any more"})
	}
	if err := r.strike(ctx); err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
		r.fleet.log.Warn("call not killed", "exec", r.ID, "err", err)
	}
	for !left {
		r.mu.Lock()
		over, changed, stop := r.over, r.changed, r.cancel
		r.mu.Unlock()
		if over {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if stop != nil {
				stop()
			}
			return
		}
	}
}

func (r *run) strike(ctx context.Context) error {
	r.fleet.mu.Lock()
	agent := r.box.agent
	r.fleet.mu.Unlock()
	if agent == nil {
		return nil
	}
	r.mu.Lock()
	at := r.place
	r.mu.Unlock()
	_, err := patiently(ctx, r.fleet, func() (struct{}, error) { return struct{}{}, r.strikeAt(ctx, agent, at) })
	return err
}

func (r *run) strikeAt(ctx context.Context, agent Agent, at Place) error {
	if r.Cell {
		return agent.RestartKernel(ctx, at.Kernel)
	}
	if at.PID == 0 {
		pid, err := agent.Find(ctx, r.ID)
		if err != nil || pid == 0 {
			return err
		}
		at.PID = pid
	}
	return agent.Signal(ctx, at, sigKill)
}

// Cancel ends a call that runs, at the wish of whoever made it.
func (f *Fleet) Cancel(id string) error {
	r, err := f.runByID(id)
	if err != nil {
		return err
	}
	r.kill()
	return nil
}

func (f *Fleet) runByID(id string) (*run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[id]
	if r == nil {
		return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no such call", Details: map[string]any{"id": id}}
	}
	return r, nil
}
