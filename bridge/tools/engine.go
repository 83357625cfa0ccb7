package tools

import (
	"context"
	"io"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

var _ Engine = (*control.Client)(nil)

// An Engine has the sandboxes; the real one is a [control.Client]. All its errors are [sandbox.Error]s. Functions
// it is given are called in order and never two at once, and not after the call
// has returned. A call whose ctx is done returns, and what it had started ends.
type Engine interface {
	// Exec runs a command and follows it to its end.
	Exec(ctx context.Context, e sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error)
	// RunCode runs a cell and follows it to its end.
	RunCode(ctx context.Context, c sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error)

	// StartJob starts a command that runs on by itself.
	StartJob(ctx context.Context, e sandbox.Exec, tell func(sandbox.Output) error) (sandbox.Job, error)
	// ReadJob returns what a job said from seq next on. If that is nothing it
	// waits for more, or the job's end, as long as wait.
	ReadJob(ctx context.Context, id string, next uint64, wait time.Duration) ([]sandbox.Output, sandbox.Job, error)
	// StopJob ends a job, and returns when it has ended.
	StopJob(ctx context.Context, id string) (sandbox.Job, error)

	Stat(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error)
	ListFiles(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) ([]sandbox.File, error)
	ReadFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, w io.Writer) (int64, error)
	WriteFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, content io.Reader) (sandbox.File, error)

	// List asks the cloud what there is, and wakes and makes nothing.
	List(ctx context.Context, r sandbox.ListRequest) ([]sandbox.Sandbox, error)
	Get(ctx context.Context, id string) (sandbox.Sandbox, error)
	Create(ctx context.Context, s sandbox.Spec) (sandbox.Sandbox, error)
	Suspend(ctx context.Context, id string) (sandbox.Sandbox, error)
	Resume(ctx context.Context, id string) (sandbox.Sandbox, error)
	// Terminate ends a sandbox. by is the lease that asks.
	Terminate(ctx context.Context, id, by string) error
	// ScheduleRemoval has a sandbox end before it would anyway.
	ScheduleRemoval(ctx context.Context, id string, at time.Time) (sandbox.Sandbox, error)

	// Quote tells what a sandbox would cost. It makes and holds nothing.
	Quote(ctx context.Context, s sandbox.Spec) (sandbox.Quote, error)
	Balance(ctx context.Context, q control.BalanceQuery) (sandbox.Balance, error)
	Events(ctx context.Context, q sandbox.EventQuery) (sandbox.EventPage, error)
	// Templates lists the images of a profile, the best first.
	Templates(ctx context.Context, p sandbox.Profile) ([]sandbox.Template, error)
}
