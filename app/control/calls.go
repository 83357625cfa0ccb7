package control

import (
	"context"
	"net/http"

	"github.com/arenero/arenero/app/sandbox"
)

// watch makes the doer of a call that tells of all there is.
func (s *server) watch(do func(ctx context.Context, emit func(sandbox.Snapshot) error) error) doer {
	return func(ctx context.Context, _ *request, _ *http.Request, out *stream) (*answer, error) {
		return nil, do(ctx, func(snap sandbox.Snapshot) error { return out.send(frame{Snapshot: &snap}) })
	}
}

// calls are the doers of all calls.
func (s *server) calls() map[string]doer {
	return map[string]doer{
		callHello: func(context.Context, *request, *http.Request, *stream) (*answer, error) {
			status := s.e.Status()
			return &answer{Status: &status}, nil
		},
		callStop: func(context.Context, *request, *http.Request, *stream) (*answer, error) {
			s.e.Stop()
			return nil, nil
		},
		callHold: s.hold,
		callRelease: func(_ context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			return nil, s.e.Release(q.ID)
		},
		callWatch:  s.watch(s.e.Watch),
		callGlance: s.watch(s.e.Glance),
		callExec:   s.exec,
		callCode:   s.code,
		callCancel: func(_ context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			return nil, s.e.Cancel(q.ID)
		},
		callInput: func(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			if len(q.Data) > maxInput {
				return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "too much input at once"}
			}
			return nil, s.e.Input(ctx, q.ID, q.Data)
		},
		callEOF: func(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			return nil, s.e.CloseInput(ctx, q.ID)
		},
		callResize: func(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			if q.Size == nil {
				return nil, missing("size")
			}
			return nil, s.e.Resize(ctx, q.ID, *q.Size)
		},
		callSignal: func(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			return nil, s.e.Signal(ctx, q.ID, q.Signal)
		},
		callStartJob:  s.startJob,
		callReadJob:   s.readJob,
		callStopJob:   s.stopJob,
		callJobs:      s.jobs,
		callStat:      s.file(s.e.Stat),
		callMakeDir:   s.file(s.e.MakeDir),
		callMove:      s.file(s.e.MoveFile),
		callRemove:    s.removeFile,
		callList:      s.listFiles,
		callRead:      s.readFile,
		callWrite:     s.writeFile,
		callCreate:    s.create,
		callSandboxes: s.sandboxes,
		callGet:       s.sandbox(s.e.Get),
		callSuspend:   s.sandbox(s.e.Suspend),
		callResume:    s.sandbox(s.e.Resume),
		callTerminate: func(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			return nil, s.e.Terminate(ctx, q.ID, q.By)
		},
		callRemoval: func(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
			sb, err := s.e.ScheduleRemoval(ctx, q.ID, q.At)
			return &answer{Sandbox: &sb}, err
		},
		callProfile: s.profile,
		callAnswer:  s.answer,
		callAction:  s.action,
	}
}

func (s *server) hold(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.Lease == nil {
		return nil, missing("lease")
	}
	return nil, s.e.Hold(ctx, *q.Lease, func() error { return out.send(frame{Held: true}) })
}

func (s *server) exec(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.Exec == nil {
		return nil, missing("exec")
	}
	exit, err := s.e.Exec(ctx, *q.Exec, q.Next, out.output)
	return &answer{Exit: &exit}, err
}

func (s *server) code(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.Cell == nil {
		return nil, missing("cell")
	}
	exit, err := s.e.RunCode(ctx, *q.Cell, q.Next, out.output)
	return &answer{Exit: &exit}, err
}

func (s *server) startJob(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.Exec == nil {
		return nil, missing("exec")
	}
	job, err := s.e.StartJob(ctx, *q.Exec, out.output)
	return &answer{Job: &job}, err
}

func (s *server) readJob(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
	outputs, job, err := s.e.ReadJob(ctx, q.ID, q.Next, q.Wait)
	return &answer{Job: &job, Outputs: outputs}, err
}

func (s *server) stopJob(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
	job, err := s.e.StopJob(ctx, q.ID)
	return &answer{Job: &job}, err
}

func (s *server) jobs(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
	if q.Target == nil {
		return nil, missing("target")
	}
	jobs, err := s.e.Jobs(ctx, *q.Target)
	return &answer{Jobs: jobs}, err
}

type fileCall = func(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error)

func (s *server) file(do fileCall) doer {
	return func(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
		if q.File == nil {
			return nil, missing("file")
		}
		f, err := do(ctx, *q.File, out.output)
		return &answer{File: &f}, err
	}
}

func (s *server) removeFile(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.File == nil {
		return nil, missing("file")
	}
	return nil, s.e.RemoveFile(ctx, *q.File, out.output)
}

func (s *server) listFiles(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.File == nil {
		return nil, missing("file")
	}
	files, err := s.e.ListFiles(ctx, *q.File, out.output)
	return &answer{Files: files}, err
}

func (s *server) writeFile(ctx context.Context, q *request, r *http.Request, out *stream) (*answer, error) {
	if q.File == nil {
		return nil, missing("file")
	}
	// Without this a notice would end the reading of what is still to come.
	if err := out.flush.EnableFullDuplex(); err != nil {
		return nil, err
	}
	f, err := s.e.WriteFile(ctx, *q.File, out.output, r.Body)
	return &answer{File: &f}, err
}

func (s *server) readFile(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.File == nil {
		return nil, missing("file")
	}
	return nil, s.e.ReadFile(ctx, *q.File, out.output, fileWriter{out})
}

// A fileWriter sends a file as frames, so that it can be told from a file that
// was cut short.
type fileWriter struct{ out *stream }

func (w fileWriter) Write(p []byte) (int, error) {
	return len(p), w.out.output(sandbox.Output{Data: p})
}

func (s *server) create(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
	if q.Spec == nil {
		return nil, missing("spec")
	}
	sb, err := s.e.Create(ctx, *q.Spec)
	return &answer{Sandbox: &sb}, err
}

func (s *server) sandboxes(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
	if q.List == nil {
		return nil, missing("list")
	}
	list, err := s.e.List(ctx, *q.List)
	return &answer{Sandboxes: list}, err
}

func (s *server) sandbox(do func(ctx context.Context, id string) (sandbox.Sandbox, error)) doer {
	return func(ctx context.Context, q *request, _ *http.Request, _ *stream) (*answer, error) {
		sb, err := do(ctx, q.ID)
		return &answer{Sandbox: &sb}, err
	}
}
