package app

import (
	"context"
	"os"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// An engine is what the clients of the control socket may ask for, once they are
// known to be allowed to: see [gate].
type engine struct {
	*fleet.Fleet
	app *App
}

// Hello is what this engine says of itself.
func (e *engine) Hello() control.Hello {
	return control.Hello{
		Protocol: control.Protocol, Version: e.app.cfg.Version, Build: e.app.cfg.Build, PID: os.Getpid(),
		Program: e.app.cfg.Program, Since: e.app.since,
	}
}

// Status is how it is.
func (e *engine) Status() control.Status {
	snap := e.Snapshot()
	s := control.Status{Hello: e.Hello(), Clients: e.app.clientCount(), Leases: len(snap.Leases)}
	for _, sb := range snap.Sandboxes {
		if sb.State.Alive() {
			s.Sandboxes++
		}
	}
	return s
}

// Stop has it end, once the answer to whoever asked is out.
func (e *engine) Stop() { e.app.cfg.Clock.AfterFunc(stopDelay, e.app.stop) }

func (e *engine) Stat(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	return e.File(ctx, fleet.Stat, r, tell)
}

func (e *engine) MakeDir(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	return e.File(ctx, fleet.MakeDir, r, tell)
}

func (e *engine) MoveFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	return e.File(ctx, fleet.Move, r, tell)
}

func (e *engine) RemoveFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) error {
	_, err := e.File(ctx, fleet.Remove, r, tell)
	return err
}
