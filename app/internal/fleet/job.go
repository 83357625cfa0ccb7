package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

const maxJobs = 16 // in one sandbox, ended ones included: each that runs takes a stream

// roomLocked makes room for one more job in b, by forgetting the one that ended
// first.
func (f *Fleet) roomLocked(b *box) error {
	var jobs []*run
	for _, r := range f.runs {
		if r.box == b && r.Job {
			jobs = append(jobs, r)
		}
	}
	if len(jobs) < maxJobs {
		return nil
	}
	slices.SortFunc(jobs, func(x, y *run) int { return x.StartedAt.Compare(y.StartedAt) })
	for _, r := range jobs {
		r.mu.Lock()
		over := r.over
		r.mu.Unlock()
		if over {
			f.dropRunLocked(r.ID)
			return nil
		}
	}
	return &sandbox.Error{Code: sandbox.TooMuch, Msg: fmt.Sprintf("%d jobs run in the sandbox already", maxJobs), Hint: "stop one"}
}

// StartJob starts a command that runs on by itself, and returns when it runs.
func (f *Fleet) StartJob(ctx context.Context, e sandbox.Exec, tell func(sandbox.Output) error) (sandbox.Job, error) {
	e.Job = true
	if err := e.Validate(); err != nil {
		return sandbox.Job{}, err
	}
	r, err := f.open(ctx, recordOf(e), headOf(e), e.Target, 0, tell, start(e))
	if err != nil {
		return sandbox.Job{}, err
	}
	if err := r.placed(ctx); err != nil {
		return sandbox.Job{}, f.judge(ctx, r.box, err)
	}
	return r.job(), nil
}

// placed waits until r is known to run, or is over.
func (r *run) placed(ctx context.Context) error {
	for {
		r.mu.Lock()
		at, over, err, changed := r.place, r.over, r.err, r.changed
		r.mu.Unlock()
		switch {
		case at.PID != 0 || at.Execution != "":
			return nil
		case over:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *run) job() sandbox.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := sandbox.Job{ID: r.ID, Sandbox: r.exit.Sandbox, StartedAt: r.StartedAt, Next: r.last + 1}
	switch {
	case !r.over:
	case r.err != nil:
		j.Error = sandbox.ToError(r.err)
	default:
		exit := r.exit
		j.Exit = &exit
	}
	return j
}

// ReadJob returns what a job said from seq next on. If that is nothing it waits
// for more, or the job's end, as long as wait.
func (f *Fleet) ReadJob(ctx context.Context, id string, next uint64, wait time.Duration) ([]sandbox.Output, sandbox.Job, error) {
	r, err := f.jobByID(id)
	if err != nil {
		return nil, sandbox.Job{}, err
	}
	patience := f.clock.NewTimer(wait)
	defer patience.Stop()
	at := r.join(max(next, 1))
	defer r.leave()
	for {
		r.mu.Lock()
		lost := r.first > 0 && len(r.kept) > 0 && r.kept[0].Seq > max(next, 1)
		out := slices.Clone(r.kept[max(at-r.first, 0):])
		over, changed := r.over, r.changed
		r.mu.Unlock()
		if len(out) > 0 || over || wait <= 0 {
			if lost {
				out = slices.Insert(out, 0, sandbox.Output{Notice: sandbox.NoticeLost})
			}
			return out, r.job(), nil
		}
		select {
		case <-changed:
		case <-patience.Chan():
			wait = 0
		case <-ctx.Done():
			return nil, sandbox.Job{}, ctx.Err()
		}
	}
}

// StopJob ends a job, and returns when it has ended.
func (f *Fleet) StopJob(ctx context.Context, id string) (sandbox.Job, error) {
	r, err := f.jobByID(id)
	if err != nil {
		return sandbox.Job{}, err
	}
	r.kill()
	for {
		r.mu.Lock()
		over, changed := r.over, r.changed
		r.mu.Unlock()
		if over {
			return r.job(), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return r.job(), ctx.Err()
		}
	}
}

func (f *Fleet) jobByID(id string) (*run, error) {
	if r := f.known(id, 1); r != nil && r.Job {
		return r, nil
	}
	return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no job " + id}
}

// Jobs lists the jobs of a lease, or of a sandbox, the oldest first.
func (f *Fleet) Jobs(t sandbox.Target) []sandbox.Job {
	f.mu.Lock()
	var runs []*run
	for _, r := range f.runs {
		if r.Job && (t.Sandbox != "" && r.box.ID == t.Sandbox || t.Sandbox == "" && r.Lease == t.Lease) {
			runs = append(runs, r)
		}
	}
	f.mu.Unlock()
	var jobs []sandbox.Job
	for _, r := range runs {
		jobs = append(jobs, r.job())
	}
	slices.SortFunc(jobs, func(a, b sandbox.Job) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	return jobs
}
