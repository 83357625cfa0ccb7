package tools

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

// A run is a command or a cell that is followed to its end, by the call that
// began it, and on as a job if that takes too long for the host.
type run struct {
	id   string
	cell bool

	over chan struct{} // closed at the end

	mu        sync.Mutex // guards what follows
	stdout    capture
	stderr    capture
	results   []sandbox.Result
	exception *sandbox.Exception
	dropped   bool // the agent has dropped output
	exit      sandbox.Exit
	err       error
	kept      map[string]string // paths of what an answer does not hold
	told      jobTold           // what the answer says of a run that has become a job
	log       *log              // what it says since then; nil before
}

func newRun(cell bool) *run {
	return &run{
		id: uuid.NewString(), cell: cell, over: make(chan struct{}),
		stdout: capture{limit: keepBytes}, stderr: capture{limit: keepBytes},
	}
}

// take takes in one thing that the run says.
func (r *run) take(tr *trace, o sandbox.Output) error {
	if o.Notice != "" {
		if err := tr.notice(o); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case o.Notice == sandbox.NoticeTruncated || o.Notice == sandbox.NoticeLost:
		r.dropped = true
	case o.Result != nil:
		r.results = append(r.results, *o.Result)
	case o.Exception != nil:
		r.exception = o.Exception
	case len(o.Data) > 0:
		to := &r.stdout
		if o.Stream == sandbox.Stderr {
			to = &r.stderr
		}
		to.Write(o.Data)
		tr.output(string(o.Data))
	}
	if r.log != nil {
		r.log.add(o)
	}
	return nil
}

func (r *run) finish(exit sandbox.Exit, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stdout.end()
	r.stderr.end()
	r.exit, r.err = exit, err
	close(r.over)
}

// A starter runs a command or a cell and follows it.
type starter func(ctx context.Context, emit func(sandbox.Output) error) (sandbox.Exit, error)

// follow sees a run to its end. If the host may lose patience before that, the
// run becomes a job, and follow returns true.
func (s *set) follow(ctx context.Context, tr *trace, r *run, start starter) (job bool) {
	emit := func(o sandbox.Output) error { return r.take(tr, o) }
	if !s.has(Jobs) || bridge.WantsProgress(ctx) {
		r.finish(start(ctx, emit))
		return false
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		r.finish(start(life, emit))
	}()
	timer := s.Clock.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-r.over:
		return false
	case <-ctx.Done():
		cancel()
		<-r.over
		return false
	case <-timer.Chan():
		return s.adopt(ctx, r, cancel)
	}
}
