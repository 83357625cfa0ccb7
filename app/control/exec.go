package control

import (
	"context"
	"io"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Exec runs a command and follows it to its end: emit gets its output in order.
// Over the end of an engine it goes on where it was. When ctx is done, or emit
// fails, the command is killed.
func (c *Client) Exec(ctx context.Context, e sandbox.Exec, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	if err := e.Validate(); err != nil { // what is no text would be another one at the other end
		return sandbox.Exit{}, err
	}
	return c.follow(ctx, callExec, &request{Exec: &e}, e.ID, emit)
}

// RunCode runs a cell and follows it to its end, as Exec does with a command.
// When ctx is done the cell is interrupted.
func (c *Client) RunCode(ctx context.Context, cell sandbox.Cell, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	if err := cell.Validate(); err != nil {
		return sandbox.Exit{}, err
	}
	return c.follow(ctx, callCode, &request{Cell: &cell}, cell.ID, emit)
}

func (c *Client) follow(ctx context.Context, call string, q *request, id string, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	again, refused := false, false
	a, err := c.call(ctx, call, q, always, func(f frame) error {
		if f.Out == nil {
			return nil
		}
		if f.Out.Seq > 0 {
			q.Next = f.Out.Seq + 1
		}
		if again && f.Out.Notice == sandbox.NoticeStarted {
			return nil // it is told once
		}
		err := emit(*f.Out)
		refused = err != nil
		return err
	}, func() { again = true })
	if err != nil {
		if ctx.Err() != nil || refused {
			c.Cancel(context.WithoutCancel(ctx), id)
		}
		return sandbox.Exit{}, err
	}
	if a.Exit == nil {
		return sandbox.Exit{}, missing("exit")
	}
	return *a.Exit, nil
}

// Cancel ends a command or a cell. It does not wait for that, and not long for
// the engine.
func (c *Client) Cancel(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	_, err := c.once1(ctx, callCancel, &request{ID: id}, nil, nil)
	return ours(err)
}

// Input writes to the standard input, or the terminal, of a command that runs.
// The code [sandbox.ExecInDoubt] means that it may have got there.
func (c *Client) Input(ctx context.Context, id string, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), maxInput/2)
		if _, err := c.call(ctx, callInput, &request{ID: id, Data: data[:n]}, ifUnsent, nil, nil); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// CloseInput ends the standard input of a command.
func (c *Client) CloseInput(ctx context.Context, id string) error {
	_, err := c.call(ctx, callEOF, &request{ID: id}, always, nil, nil)
	return err
}

// Resize tells the terminal of a command its new size.
func (c *Client) Resize(ctx context.Context, id string, size sandbox.Size) error {
	_, err := c.call(ctx, callResize, &request{ID: id, Size: &size}, always, nil, nil)
	return err
}

// Signal sends a signal to a command and its group.
func (c *Client) Signal(ctx context.Context, id string, signal int) error {
	_, err := c.call(ctx, callSignal, &request{ID: id, Signal: signal}, ifUnsent, nil, nil)
	return err
}

// StartJob starts a command that runs on by itself, and returns when it runs.
// tell, which may be nil, gets notices.
func (c *Client) StartJob(ctx context.Context, e sandbox.Exec, tell func(sandbox.Output) error) (sandbox.Job, error) {
	if err := e.Validate(); err != nil {
		return sandbox.Job{}, err
	}
	a, err := c.call(ctx, callStartJob, &request{Exec: &e}, always, outputs(tell), nil)
	return jobOf(a, err)
}

// ReadJob returns what a job said from seq next on, and how it is. If it said
// nothing yet, it waits for that, or for the job's end, as long as wait.
func (c *Client) ReadJob(ctx context.Context, id string, next uint64, wait time.Duration) ([]sandbox.Output, sandbox.Job, error) {
	a, err := c.call(ctx, callReadJob, &request{ID: id, Next: next, Wait: wait}, always, nil, nil)
	job, err := jobOf(a, err)
	if err != nil {
		return nil, job, err
	}
	return a.Outputs, job, nil
}

// StopJob ends a job with all it started, and returns when it has ended.
func (c *Client) StopJob(ctx context.Context, id string) (sandbox.Job, error) {
	a, err := c.call(ctx, callStopJob, &request{ID: id}, always, nil, nil)
	return jobOf(a, err)
}

// Jobs lists the jobs of a lease, or in a sandbox, the oldest first.
func (c *Client) Jobs(ctx context.Context, t sandbox.Target) ([]sandbox.Job, error) {
	a, err := c.call(ctx, callJobs, &request{Target: &t}, always, nil, nil)
	if err != nil {
		return nil, err
	}
	return a.Jobs, nil
}

func jobOf(a *answer, err error) (sandbox.Job, error) {
	if err != nil {
		return sandbox.Job{}, err
	}
	if a.Job == nil {
		return sandbox.Job{}, missing("job")
	}
	return *a.Job, nil
}

// outputs passes outputs on to tell, which may be nil.
func outputs(tell func(sandbox.Output) error) func(frame) error {
	return func(f frame) error {
		if f.Out == nil || tell == nil {
			return nil
		}
		return tell(*f.Out)
	}
}

var _ io.Writer = fileWriter{}
