package tools

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

type startIn struct {
	Cmd     string  `json:"cmd"`
	Cwd     *string `json:"cwd"`
	Timeout *int    `json:"timeout" min:"1" max:"28800"`
}

func (in startIn) sizes() []slog.Attr { return []slog.Attr{slog.Int("cmd_bytes", len(in.Cmd))} }

type startAtIn struct {
	startIn
	at
}

type startOut struct {
	JobID     string `json:"job_id"`
	SandboxID string `json:"sandbox_id"`
	StartedAt string `json:"started_at"`
}

type readOutputIn struct {
	JobID string `json:"job_id"`
	After int64  `json:"after" default:"0" min:"0"`
	Wait  int    `json:"wait" default:"10" min:"0" max:"45"`
}

func (in readOutputIn) sizes() []slog.Attr {
	return []slog.Attr{slog.Int64("after", in.After), slog.Int("wait", in.Wait)}
}

type readOutputOut struct {
	JobID     string   `json:"job_id"`
	Status    string   `json:"status" enum:"running,exited,failed"`
	Stdout    string   `json:"stdout"`
	Stderr    string   `json:"stderr"`
	ExitCode  *int     `json:"exit_code"`
	Result    *jobCode `json:"result"`
	Next      int64    `json:"next"`
	Truncated bool     `json:"truncated"`

	blocks []bridge.Block
}

// Blocks returns the images of a cell.
func (o readOutputOut) Blocks() []bridge.Block { return o.blocks }

// A jobCode is what a cell came to that has become a job.
type jobCode struct {
	Text    *string       `json:"text"`
	Error   *codeError    `json:"error"`
	Count   *uint64       `json:"execution_count"`
	Results []resultTypes `json:"results"`
}

type stopIn struct {
	JobID string `json:"job_id"`
}

func (stopIn) sizes() []slog.Attr { return nil }

type stopOut struct {
	JobID    string `json:"job_id"`
	Status   string `json:"status" enum:"running,exited,failed"`
	ExitCode *int   `json:"exit_code"`
}

func (s *set) addJobs(srv *bridge.Server) error {
	var errs []error
	if s.has(Fleet) {
		errs = append(errs, add(s, srv, "start_command", bridge.Hints{OpenWorld: true}, func(ctx context.Context, tr *trace, in startAtIn) (startOut, error) {
			return s.startCommand(ctx, tr, in.startIn, s.target(ctx, in.at))
		}))
	} else {
		errs = append(errs, add(s, srv, "start_command", bridge.Hints{OpenWorld: true}, func(ctx context.Context, tr *trace, in startIn) (startOut, error) {
			return s.startCommand(ctx, tr, in, s.own(ctx))
		}))
	}
	return first(append(errs,
		add(s, srv, "read_output", bridge.Hints{ReadOnly: true, Idempotent: true}, s.readOutput),
		add(s, srv, "stop_command", bridge.Hints{Destructive: true, Idempotent: true}, s.stopCommand),
	))
}

func (s *set) startCommand(ctx context.Context, tr *trace, in startIn, t sandbox.Target) (startOut, error) {
	if err := s.ready(ctx, t); err != nil {
		return startOut{}, err
	}
	e := sandbox.Exec{ID: uuid.NewString(), Target: t, Args: shell(in.Cmd), Job: true}
	if in.Cwd != nil {
		e.Dir = *in.Cwd
	}
	if in.Timeout != nil {
		e.Timeout = time.Duration(*in.Timeout) * time.Second
	}
	job, err := s.Engine.StartJob(ctx, e, tr.notice)
	if err != nil {
		return startOut{}, err
	}
	tr.in(job.Sandbox)
	tr.add(slog.String("job", job.ID))
	return startOut{job.ID, job.Sandbox, stamp(job.StartedAt)}, nil
}

func (s *set) readOutput(ctx context.Context, tr *trace, in readOutputIn) (readOutputOut, error) {
	next := uint64(in.After)
	wait := time.Duration(in.Wait) * time.Second
	var out []sandbox.Output
	var job sandbox.Job
	var err error
	local := s.jobs.find(in.JobID, s.Who(ctx).Owner)
	if local != nil {
		if err := s.admitted(ctx); err != nil {
			return readOutputOut{}, err
		}
		var timeout <-chan time.Time
		if wait > 0 {
			timer := s.Clock.NewTimer(wait)
			defer timer.Stop()
			timeout = timer.Chan()
		}
		out, job, err = local.read(ctx, timeout, next)
	} else {
		out, job, err = s.Engine.ReadJob(ctx, in.JobID, next, wait)
	}
	if err != nil {
		return readOutputOut{}, err
	}
	tr.in(job.Sandbox)
	ans := readOutputOut{JobID: in.JobID, Next: int64(job.Next)}
	ans.Status, ans.ExitCode = standing(job)
	if job.Error != nil && len(out) == 0 {
		return readOutputOut{}, job.Error
	}
	s.join(tr, out, &ans)
	tr.add(slog.String("status", ans.Status), slog.Int("stdout_bytes", len(ans.Stdout)), slog.Int("stderr_bytes", len(ans.Stderr)))
	if local != nil && job.Exit != nil && !ans.Truncated {
		s.conclude(ctx, local, &ans)
	}
	return ans, nil
}

// join puts as much of out into ans as an answer shows. The rest is for the next
// call.
func (s *set) join(tr *trace, out []sandbox.Output, ans *readOutputOut) {
	var stdout, stderr capture
	for _, o := range out {
		if o.Notice != "" {
			_ = tr.notice(o) // it never fails
			continue
		}
		if len(o.Data) == 0 {
			continue
		}
		to := &stdout
		if o.Stream == sandbox.Stderr {
			to = &stderr
		}
		if to.chars > 0 && to.chars+len(o.Data) > maxChars {
			ans.Next, ans.Truncated = int64(o.Seq), true
			break
		}
		to.Write(o.Data)
	}
	stdout.end()
	stderr.end()
	ans.Stdout, ans.Stderr = stdout.shown(s.Texts, ""), stderr.shown(s.Texts, "")
	ans.Truncated = ans.Truncated || stdout.truncated() || stderr.truncated()
}

// conclude adds what a call came to that has become a job and has ended.
func (s *set) conclude(ctx context.Context, l *localJob, ans *readOutputOut) {
	l.mu.Lock()
	defer l.mu.Unlock()
	whole, blocks := s.codeOf(ctx, l.run)
	for _, what := range []string{"text", "stdout", "stderr"} {
		if path := l.kept[what]; path != "" {
			bridge.AddNote(ctx, bridge.Note{Code: "output_kept", Text: s.Texts.Get("note.kept", "what", what, "path", path)})
		}
	}
	if l.cell {
		ans.Result, ans.blocks = &jobCode{whole.Text, whole.Error, whole.Count, whole.Results}, blocks
		ans.ExitCode = nil
	}
}

// standing says where a job is.
func standing(j sandbox.Job) (status string, code *int) {
	switch {
	case j.Exit != nil:
		return jobExited, &j.Exit.Code
	case j.Error != nil:
		return jobFailed, nil
	}
	return jobRunning, nil
}

func (s *set) stopCommand(ctx context.Context, tr *trace, in stopIn) (stopOut, error) {
	var job sandbox.Job
	var err error
	if l := s.jobs.find(in.JobID, s.Who(ctx).Owner); l != nil {
		if err := s.admitted(ctx); err != nil {
			return stopOut{}, err
		}
		l.cancel()
		select {
		case <-l.over:
		case <-ctx.Done():
			return stopOut{}, ctx.Err()
		}
		_, job, err = l.read(ctx, nil, 0)
		if sandbox.CodeOf(job.Error) == sandbox.Canceled { // as was asked
			return stopOut{JobID: in.JobID, Status: jobExited}, nil
		}
	} else {
		job, err = s.Engine.StopJob(ctx, in.JobID)
	}
	if err != nil {
		return stopOut{}, err
	}
	tr.in(job.Sandbox)
	out := stopOut{JobID: in.JobID}
	out.Status, out.ExitCode = standing(job)
	return out, nil
}
