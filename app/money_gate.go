package app

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/sandbox"
)

// A gate is the engine as the control socket has it: each request is judged
// first by who makes it. What only ends something is never refused for lack of
// money, nor of a ledger.
type gate struct {
	*engine
	books *books
	open  func(ctx context.Context, p sandbox.Profile, wake bool) (fleet.Cloud, error)
}

var (
	_ control.Engine     = (*gate)(nil)
	_ control.Accountant = (*gate)(nil)
	_ control.Desk       = (*gate)(nil)
)

// because is err, or why the request was ended before its time.
func because(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*sandbox.Error](context.Cause(ctx)); ok && err != nil {
		return e
	}
	return err
}

// at judges a request about a sandbox, and does it.
func at[T any](ctx context.Context, g *gate, id string, scope sandbox.Scope, do func(context.Context) (T, error)) (out T, err error) {
	p, err := g.books.who(ctx, "")
	if err != nil {
		return out, err
	}
	owner, ours := g.GrantOf(id)
	if err := p.may(scope, p.blind || ours && owner == p.grant.ID || !ours && p.grant.ID == sandbox.GrantOwner); err != nil {
		return out, err
	}
	ctx, done := g.books.open(ctx, p, "")
	defer done()
	out, err = do(ctx)
	return out, because(ctx, err)
}

// inside judges a request about what is in a sandbox, and does it.
func inside[T any](ctx context.Context, g *gate, t sandbox.Target, do func(context.Context) (T, error)) (out T, err error) {
	if t.Sandbox != "" {
		return at(ctx, g, t.Sandbox, sandbox.ScopeRent, do)
	}
	l, held := g.GrantOfLease(t.Lease)
	held = held && l.Spec.Grant != "" // else it is only known from its sandbox, and not back yet
	p, err := g.books.who(ctx, l.Connection)
	if err != nil {
		return out, err
	}
	if held && l.Spec.Grant != p.grant.ID && !p.blind {
		if p.caller.Token != "" || p.caller.Connection != "" && p.caller.Connection != l.Connection {
			return out, lacks(p.grant, sandbox.ScopeManage) // a lease is its bridge's alone
		}
		if p.person() { // who is at this computer may do what the lease may
			if p.grant, err = g.books.grant(ctx, l.Spec.Grant); err != nil {
				return out, err
			}
		}
		g.Regrant(t.Lease, p.grant.ID) // its connection was given another
	}
	if err := p.may(sandbox.ScopeRent, true); err != nil {
		return out, err
	}
	ctx, done := g.books.open(ctx, p, l.Connection)
	defer done()
	out, err = do(ctx)
	return out, because(ctx, err)
}

// along judges a request about a command that runs, and does it.
func along[T any](ctx context.Context, g *gate, id string, do func(context.Context) (T, error)) (out T, err error) {
	p, err := g.books.who(ctx, "")
	if err != nil {
		return out, err
	}
	owner, ok := g.GrantOfRun(id)
	if err := p.may(sandbox.ScopeRent, p.blind || !ok || owner == p.grant.ID); err != nil {
		return out, err
	}
	ctx, done := g.books.open(ctx, p, "")
	defer done()
	out, err = do(ctx)
	return out, because(ctx, err)
}

// nothing makes a function that returns only an error one that returns two.
func nothing(do func(context.Context) error) func(context.Context) (struct{}, error) {
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) }
}

// Hold keeps a lease, whose sandbox the caller's grant pays for.
func (g *gate) Hold(ctx context.Context, l sandbox.Lease, held func() error) error {
	p, err := g.books.who(ctx, l.Connection)
	if err != nil {
		return err
	}
	l.Spec.Grant = p.grant.ID
	l.Host = hostconf.TitleOf(l.Host)
	if have, ok := g.GrantOfLease(l.ID); ok && have.Spec.Grant != "" && have.Spec.Grant != p.grant.ID && !p.blind && have.Connection != l.Connection {
		return lacks(p.grant, sandbox.ScopeManage)
	}
	ctx, done := g.books.open(ctx, p, l.Connection)
	defer done()
	return because(ctx, g.engine.Hold(ctx, l, held))
}

// Exec runs a command.
func (g *gate) Exec(ctx context.Context, e sandbox.Exec, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	return inside(ctx, g, e.Target, func(ctx context.Context) (sandbox.Exit, error) { return g.engine.Exec(ctx, e, next, emit) })
}

// RunCode runs a cell.
func (g *gate) RunCode(ctx context.Context, c sandbox.Cell, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	return inside(ctx, g, c.Target, func(ctx context.Context) (sandbox.Exit, error) { return g.engine.RunCode(ctx, c, next, emit) })
}

// Input writes to a command.
func (g *gate) Input(ctx context.Context, id string, data []byte) error {
	_, err := along(ctx, g, id, nothing(func(ctx context.Context) error { return g.engine.Input(ctx, id, data) }))
	return err
}

// CloseInput ends the input of a command.
func (g *gate) CloseInput(ctx context.Context, id string) error {
	_, err := along(ctx, g, id, nothing(func(ctx context.Context) error { return g.engine.CloseInput(ctx, id) }))
	return err
}

// Resize tells a command the size of its terminal.
func (g *gate) Resize(ctx context.Context, id string, size sandbox.Size) error {
	_, err := along(ctx, g, id, nothing(func(ctx context.Context) error { return g.engine.Resize(ctx, id, size) }))
	return err
}

// Signal sends a command a signal.
func (g *gate) Signal(ctx context.Context, id string, signal int) error {
	_, err := along(ctx, g, id, nothing(func(ctx context.Context) error { return g.engine.Signal(ctx, id, signal) }))
	return err
}

// StartJob starts a command that runs on.
func (g *gate) StartJob(ctx context.Context, e sandbox.Exec, tell func(sandbox.Output) error) (sandbox.Job, error) {
	return inside(ctx, g, e.Target, func(ctx context.Context) (sandbox.Job, error) { return g.engine.StartJob(ctx, e, tell) })
}

// ReadJob returns what a job said.
func (g *gate) ReadJob(ctx context.Context, id string, next uint64, wait time.Duration) ([]sandbox.Output, sandbox.Job, error) {
	var job sandbox.Job
	out, err := along(ctx, g, id, func(ctx context.Context) (out []sandbox.Output, err error) {
		out, job, err = g.engine.ReadJob(ctx, id, next, wait)
		return out, err
	})
	return out, job, err
}

// StopJob ends a job.
func (g *gate) StopJob(ctx context.Context, id string) (sandbox.Job, error) {
	return along(ctx, g, id, func(ctx context.Context) (sandbox.Job, error) { return g.engine.StopJob(ctx, id) })
}

// Jobs lists the jobs in a sandbox.
func (g *gate) Jobs(ctx context.Context, t sandbox.Target) ([]sandbox.Job, error) {
	return inside(ctx, g, t, func(context.Context) ([]sandbox.Job, error) { return g.Fleet.Jobs(t), nil })
}

// Stat describes what is at a path.
func (g *gate) Stat(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	return inside(ctx, g, r.Target, func(ctx context.Context) (sandbox.File, error) { return g.engine.Stat(ctx, r, tell) })
}

// ListFiles lists a folder.
func (g *gate) ListFiles(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) ([]sandbox.File, error) {
	return inside(ctx, g, r.Target, func(ctx context.Context) ([]sandbox.File, error) { return g.engine.ListFiles(ctx, r, tell) })
}

// MakeDir makes a folder.
func (g *gate) MakeDir(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	return inside(ctx, g, r.Target, func(ctx context.Context) (sandbox.File, error) { return g.engine.MakeDir(ctx, r, tell) })
}

// MoveFile moves what is at a path.
func (g *gate) MoveFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	return inside(ctx, g, r.Target, func(ctx context.Context) (sandbox.File, error) { return g.engine.MoveFile(ctx, r, tell) })
}

// RemoveFile removes what is at a path.
func (g *gate) RemoveFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) error {
	_, err := inside(ctx, g, r.Target, nothing(func(ctx context.Context) error { return g.engine.RemoveFile(ctx, r, tell) }))
	return err
}

// ReadFile reads a file.
func (g *gate) ReadFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, w io.Writer) error {
	_, err := inside(ctx, g, r.Target, nothing(func(ctx context.Context) error { return g.engine.ReadFile(ctx, r, tell, w) }))
	return err
}

// WriteFile writes a file.
func (g *gate) WriteFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, content io.Reader) (sandbox.File, error) {
	return inside(ctx, g, r.Target, func(ctx context.Context) (sandbox.File, error) { return g.engine.WriteFile(ctx, r, tell, content) })
}

// Get describes a sandbox.
func (g *gate) Get(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return at(ctx, g, id, sandbox.ScopeRead, func(ctx context.Context) (sandbox.Sandbox, error) { return g.engine.Get(ctx, id) })
}

// List lists sandboxes: of a token only its own, unless it manages others.
func (g *gate) List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error) {
	p, err := g.books.who(ctx, r.Profile.Connection)
	if err != nil {
		return nil, err
	}
	if err := p.may(sandbox.ScopeRead, true); err != nil {
		return nil, err
	}
	ctx, done := g.books.open(ctx, p, r.Profile.Connection)
	defer done()
	all, err := g.engine.List(ctx, r)
	return p.visible(all), because(ctx, err)
}

// visible are those that p may see.
func (p pass) visible(all []sandbox.Sandbox) []sandbox.Sandbox {
	if p.blind || p.grant.Allows(sandbox.ScopeManage) {
		return all
	}
	out := []sandbox.Sandbox{}
	for _, s := range all {
		if s.Grant == p.grant.ID {
			out = append(out, s)
		}
	}
	return out
}

// Watch follows what there is to see.
func (g *gate) Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	return g.follow(ctx, g.engine.Watch, emit)
}

// Glance is the same, and wakes nobody for it.
func (g *gate) Glance(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	return g.follow(ctx, g.engine.Glance, emit)
}

// follow shows the caller of ctx the part of each snapshot that is theirs.
func (g *gate) follow(ctx context.Context, watch func(context.Context, func(sandbox.Snapshot) error) error, emit func(sandbox.Snapshot) error) error {
	p, err := g.books.who(ctx, "")
	if err != nil {
		return err
	}
	if err := p.may(sandbox.ScopeRead, true); err != nil {
		return err
	}
	ctx, done := g.books.open(ctx, p, "")
	defer done()
	if !p.blind && !p.grant.Allows(sandbox.ScopeManage) {
		all := emit
		emit = func(s sandbox.Snapshot) error {
			s.Sandboxes, s.Leases = p.visible(s.Sandboxes), []sandbox.LeaseInfo{}
			return all(s)
		}
	}
	return because(ctx, watch(ctx, emit))
}

// Suspend puts a sandbox to sleep.
func (g *gate) Suspend(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return at(ctx, g, id, sandbox.ScopeRent, func(ctx context.Context) (sandbox.Sandbox, error) { return g.engine.Suspend(ctx, id) })
}

// Resume wakes a sandbox.
func (g *gate) Resume(ctx context.Context, id string) (sandbox.Sandbox, error) {
	return at(ctx, g, id, sandbox.ScopeRent, func(ctx context.Context) (sandbox.Sandbox, error) { return g.engine.Resume(ctx, id) })
}

// Terminate ends a sandbox.
func (g *gate) Terminate(ctx context.Context, id, by string) error {
	_, err := at(ctx, g, id, sandbox.ScopeRent, nothing(func(ctx context.Context) error { return g.engine.Terminate(ctx, id, by) }))
	return err
}

// ScheduleRemoval has a sandbox end earlier.
func (g *gate) ScheduleRemoval(ctx context.Context, id string, when time.Time) (sandbox.Sandbox, error) {
	return at(ctx, g, id, sandbox.ScopeRent, func(ctx context.Context) (sandbox.Sandbox, error) { return g.engine.ScheduleRemoval(ctx, id, when) })
}
