package tools

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

const (
	maxLog  = 1 << 20 // bytes that a job of this process keeps of what it said
	maxJobs = 32      // of this process; those that ended first are forgotten first
)

// A log is what a job has said since it is one, the newest of it.
type log struct {
	kept    []sandbox.Output
	size    int
	last    uint64        // seq of the newest
	changed chan struct{} // closed, and replaced, by every change
}

// add takes in one more. The run's mu is held.
func (l *log) add(o sandbox.Output) {
	l.last++
	o.Seq = l.last
	l.kept = append(l.kept, o)
	l.size += weight(o)
	for l.size > maxLog && len(l.kept) > 1 {
		l.size -= weight(l.kept[0])
		l.kept = l.kept[1:]
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func weight(o sandbox.Output) int {
	n := 64 + len(o.Data) + len(o.Text)
	if o.Result != nil {
		for _, v := range o.Result.Data {
			n += len(v)
		}
	}
	return n
}

// from returns what is kept from seq next on.
func (l *log) from(next uint64) []sandbox.Output {
	i := slices.IndexFunc(l.kept, func(o sandbox.Output) bool { return o.Seq >= next })
	if i < 0 {
		return nil
	}
	out := slices.Clone(l.kept[i:])
	if i == 0 && out[0].Seq > max(next, 1) {
		out = slices.Insert(out, 0, sandbox.Output{Notice: sandbox.NoticeLost})
	}
	return out
}

// jobs are the calls of this process that took too long for the host, and go on.
// Commands that were started as jobs are the engine's.
type jobs struct {
	mu     sync.Mutex // guards what follows
	closed bool
	order  []*localJob
}

// A localJob is a run that has become a job.
type localJob struct {
	*run
	owner  string // who may read and end it
	cancel context.CancelFunc
}

func newJobs() *jobs { return &jobs{} }

// adopt makes a job of r, unless r has just ended. What r has said so far is for
// the answer, and what it says from now on for read_output.
func (s *set) adopt(ctx context.Context, r *run, cancel context.CancelFunc) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isOver() {
		return false
	}
	r.told = jobTold{
		JobID: r.id, Status: jobRunning,
		Stdout: r.stdout.shown(s.Texts, ""), Stderr: r.stderr.shown(s.Texts, ""),
		Truncated: r.stdout.truncated() || r.stderr.truncated(),
	}
	r.log = &log{changed: make(chan struct{})}
	for stream, rest := range map[sandbox.Stream][]byte{sandbox.Stdout: r.stdout.rest, sandbox.Stderr: r.stderr.rest} {
		if len(rest) > 0 { // half a character
			r.log.add(sandbox.Output{Stream: stream, Data: slices.Clone(rest)})
		}
	}
	s.jobs.add(&localJob{run: r, owner: s.Who(ctx).Owner, cancel: cancel})
	bridge.AddNote(ctx, bridge.Note{Code: "job_started", Text: s.Texts.Get("note.job", "job", r.id)})
	return true
}

func (j *jobs) add(l *localJob) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.order = append(j.order, l)
	if j.closed {
		l.cancel()
	}
	if len(j.order) > maxJobs {
		if i := slices.IndexFunc(j.order, func(l *localJob) bool { return l.isOver() }); i >= 0 {
			j.order = slices.Delete(j.order, i, i+1)
		}
	}
}

func (r *run) isOver() bool {
	select {
	case <-r.over:
		return true
	default:
		return false
	}
}

func (j *jobs) find(id, owner string) *localJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.order {
		if l.id == id && l.owner == owner {
			return l
		}
	}
	return nil
}

// close ends all jobs of this process.
func (j *jobs) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	for _, l := range j.order {
		l.cancel()
	}
}

// A jobTold is the answer of a call that has become a job.
type jobTold struct {
	JobID     string `json:"job_id"`
	Status    string `json:"status"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	Truncated bool   `json:"truncated"`
}

// Where a job is.
const (
	jobRunning = "running"
	jobExited  = "exited" // by itself, or by a signal
	jobFailed  = "failed" // how it ended is not known
)

// read returns what l has said from seq next on, and waits for it as
// [Engine.ReadJob] does.
func (l *localJob) read(ctx context.Context, timeout <-chan time.Time, next uint64) ([]sandbox.Output, sandbox.Job, error) {
	for {
		l.mu.Lock()
		out, changed := l.log.from(next), l.log.changed
		job := sandbox.Job{ID: l.id, Sandbox: l.exit.Sandbox, Next: l.log.last + 1}
		over := l.isOver()
		switch {
		case !over:
		case l.err != nil:
			job.Error = sandbox.ToError(l.err)
		default:
			exit := l.exit
			job.Exit = &exit
		}
		l.mu.Unlock()
		if len(out) > 0 || over || timeout == nil {
			return out, job, nil
		}
		select {
		case <-changed:
		case <-l.over:
		case <-timeout:
			timeout = nil
		case <-ctx.Done():
			return nil, sandbox.Job{}, ctx.Err()
		}
	}
}
