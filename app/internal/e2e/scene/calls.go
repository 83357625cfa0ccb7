package scene

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A call is one that ran in a sandbox, or does.
type call struct {
	id, sandbox string
	host        string
	kind        string // "command", "code" or "job"
	text        string
	started     time.Time
	said        []sandbox.Output
	script      []string // that it still says, a line every while, when the scene is played on
	exit        *sandbox.Exit
	failed      *sandbox.Error
	ended       time.Time
}

func (c *call) sayLocked(stream sandbox.Stream, text string) {
	c.said = append(c.said, sandbox.Output{Seq: uint64(len(c.said) + 1), Stream: stream, Data: []byte(text)})
}

func (c *call) finishLocked(s *Scene, exit sandbox.Exit, failed *sandbox.Error) {
	if !c.ended.IsZero() {
		return
	}
	c.ended, c.exit, c.failed = s.clock.Now().UTC(), &exit, failed
	for _, b := range s.boxes {
		if b.ID == c.sandbox && b.Running > 0 {
			b.Running--
		}
	}
}

// setCalls has some run, and some have run.
func (s *Scene) setCalls() {
	add := func(name, kind, text string, ago time.Duration, said ...string) *call {
		b, err := s.boxLocked(name)
		if err != nil {
			panic(err) // the cast has it
		}
		c := &call{id: fmt.Sprintf("call-%03d", len(s.calls)+1), sandbox: b.ID, host: b.Host, kind: kind, text: text, started: s.began.Add(-ago)}
		for _, line := range said {
			c.sayLocked(sandbox.Stdout, line+"\n")
		}
		s.calls = append(s.calls, c)
		return c
	}
	done := add("informe-trimestral", "command", "ls -la datos", 9*time.Minute,
		"total 1384", "drwxr-xr-x 2 user user    4096 .", "-rw-r--r-- 1 user user  412306 ventas-q1.csv", "-rw-r--r-- 1 user user  498120 ventas-q2.csv", "-rw-r--r-- 1 user user  501877 ventas-q3.csv")
	done.ended, done.exit = done.started.Add(40*time.Millisecond), &sandbox.Exit{Sandbox: done.sandbox}
	wrong := add("informe-trimestral", "code", "import pandas as pd\nventas = pd.read_csv('datos/ventas-q4.csv')\nventas.head()", 6*time.Minute)
	wrong.sayLocked(sandbox.Stderr, "FileNotFoundError: [Errno 2] No such file or directory: 'datos/ventas-q4.csv'\n")
	wrong.ended, wrong.exit = wrong.started.Add(820*time.Millisecond), &sandbox.Exit{Sandbox: wrong.sandbox, Code: 1, Count: 3}
	live := add("informe-trimestral", "code", "for trimestre in range(1, 4):\n    resumen = agrupar(trimestre)\n    print(f'trimestre {trimestre}: {len(resumen)} filas')", 48*time.Second,
		"trimestre 1: 1204 filas", "trimestre 2: 1398 filas")
	live.script = []string{"trimestre 3: 1411 filas", "escribiendo informe.html"}
	train := add("entrenar-faro", "job", "python entrenar.py --epocas 40 --lote 64", 31*time.Minute)
	for epoch := 1; epoch <= 18; epoch++ {
		train.sayLocked(sandbox.Stdout, epochLine(epoch))
	}
	for epoch := 19; epoch <= 40; epoch++ {
		train.script = append(train.script, strings.TrimSuffix(epochLine(epoch), "\n"))
	}
	add("entrenar-faro", "command", "tensorboard --logdir registros --port 8000", 29*time.Minute, "TensorBoard at http://localhost:8000/ (Press CTRL+C to quit)")
	tests := add("pruebas-nocturnas", "command", "pytest -q --maxfail 3", 3*time.Minute, "........................................................................ [ 36%]", ".................F...................................................... [ 72%]")
	tests.script = []string{"........................................................ [100%]", "FAILED test_mareas.py::test_cambio_de_hora - assert 23 == 24", "1 failed, 199 passed in 211.48s"}
}

func epochLine(n int) string {
	return fmt.Sprintf("época %2d/40  pérdida %.4f  acierto %.3f\n", n, 0.9/float64(n)+0.11, 0.97-0.5/float64(n+1))
}

// PlayOn has each call that runs say its next line.
func (s *Scene) PlayOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if !c.ended.IsZero() || len(c.script) == 0 {
			continue
		}
		c.sayLocked(sandbox.Stdout, c.script[0]+"\n")
		if c.script = c.script[1:]; len(c.script) == 0 {
			c.finishLocked(s, sandbox.Exit{Sandbox: c.sandbox}, nil)
		}
		if b, err := s.boxLocked(c.sandbox); err == nil {
			b.UsedAt = s.clock.Now().UTC()
		}
	}
	s.changedLocked()
}

// FollowCalls emits what ran in a sandbox, and goes on with what does.
func (s *Scene) FollowCalls(ctx context.Context, id string, emit func(control.CallNews) error) error {
	told := map[string]int{} // outputs by call; one more than there are is that its end was told
	for {
		s.mu.Lock()
		b, err := s.boxLocked(id)
		if err != nil {
			s.mu.Unlock()
			return err
		}
		var news []control.CallNews
		for _, c := range s.calls {
			if c.sandbox != b.ID {
				continue
			}
			n, known := told[c.id]
			if !known {
				news = append(news, control.CallNews{ID: c.id, Sandbox: c.sandbox, Host: c.host, Kind: c.kind, Text: c.text, StartedAt: c.started})
			}
			for ; n < len(c.said); n++ {
				news = append(news, control.CallNews{ID: c.id, Sandbox: c.sandbox, Stream: string(c.said[n].Stream), Data: c.said[n].Data})
			}
			if !c.ended.IsZero() && n == len(c.said) {
				news = append(news, control.CallNews{ID: c.id, Sandbox: c.sandbox, Exit: c.exit, Failed: c.failed, EndedAt: c.ended})
				n++
			}
			told[c.id] = n
		}
		next := s.changed
		s.mu.Unlock()
		for _, n := range news {
			if err := emit(n); err != nil {
				return err
			}
		}
		select {
		case <-next:
		case <-ctx.Done():
			return ctx.Err()
		case <-s.stop:
			return &sandbox.Error{Code: sandbox.Unreachable, Msg: "the engine is ending", Retryable: true}
		}
	}
}

// begin starts a call that does nothing but answer.
func (s *Scene) begin(t sandbox.Target, id, kind, text string) (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.awakeLocked(t)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(s.calls, func(c *call) bool { return c.id == id }); i >= 0 {
		return s.calls[i], nil
	}
	c := &call{id: id, sandbox: b.ID, host: b.Host, kind: kind, text: text, started: s.clock.Now().UTC()}
	b.Running++
	b.UsedAt = c.started
	s.calls = append(s.calls, c)
	s.changedLocked()
	return c, nil
}

// answer has a call say something and end.
func (s *Scene) answer(c *call, text string) sandbox.Exit {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.ended.IsZero() {
		c.sayLocked(sandbox.Stdout, text)
		c.finishLocked(s, sandbox.Exit{Sandbox: c.sandbox}, nil)
		s.changedLocked()
	}
	return *c.exit
}

// Exec plays a command: what it was asked for is its output, as far as it is no
// echo, which is easy to play.
func (s *Scene) Exec(_ context.Context, e sandbox.Exec, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	c, err := s.begin(e.Target, e.ID, "command", strings.Join(e.Args, " "))
	if err != nil {
		return sandbox.Exit{}, err
	}
	text, echo := strings.CutPrefix(c.text, "echo ")
	if !echo {
		text = "$ " + text
	}
	return s.finish(c, text+"\n", next, emit)
}

// RunCode plays a cell in the same way.
func (s *Scene) RunCode(_ context.Context, cell sandbox.Cell, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	c, err := s.begin(cell.Target, cell.ID, "code", cell.Code)
	if err != nil {
		return sandbox.Exit{}, err
	}
	return s.finish(c, ">>> "+c.text+"\n", next, emit)
}

func (s *Scene) finish(c *call, text string, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	if err := emit(sandbox.Output{Notice: sandbox.NoticeStarted, Sandbox: c.sandbox}); err != nil {
		return sandbox.Exit{}, err
	}
	exit := s.answer(c, text)
	s.mu.Lock()
	said := slices.Clone(c.said)
	s.mu.Unlock()
	for _, o := range said {
		if o.Seq < next {
			continue
		}
		if err := emit(o); err != nil {
			return sandbox.Exit{}, err
		}
	}
	return exit, nil
}

func noCall(id string) error {
	return &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no call " + id}
}

func (s *Scene) callLocked(id string) (*call, error) {
	for _, c := range s.calls {
		if c.id == id {
			return c, nil
		}
	}
	return nil, noCall(id)
}

// Cancel ends a call.
func (s *Scene) Cancel(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.callLocked(id)
	if err != nil {
		return err
	}
	c.finishLocked(s, sandbox.Exit{Sandbox: c.sandbox, Code: 137, Signal: 9}, nil)
	s.changedLocked()
	return nil
}

// Input takes input of a call, which is said again.
func (s *Scene) Input(_ context.Context, id string, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.callLocked(id)
	if err != nil {
		return err
	}
	if !c.ended.IsZero() {
		return &sandbox.Error{Code: sandbox.WrongState, Msg: "the call has ended"}
	}
	c.sayLocked(sandbox.Stdout, string(data))
	s.changedLocked()
	return nil
}

// CloseInput ends the input of a call.
func (s *Scene) CloseInput(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.callLocked(id)
	return err
}

// Resize takes in the size of a terminal.
func (s *Scene) Resize(_ context.Context, id string, _ sandbox.Size) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.callLocked(id)
	return err
}

// Signal ends a call, as a signal mostly does.
func (s *Scene) Signal(_ context.Context, id string, signal int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.callLocked(id)
	if err != nil {
		return err
	}
	c.finishLocked(s, sandbox.Exit{Sandbox: c.sandbox, Code: 128 + signal, Signal: signal}, nil)
	s.changedLocked()
	return nil
}

func (c *call) jobLocked() sandbox.Job {
	return sandbox.Job{ID: c.id, Sandbox: c.sandbox, StartedAt: c.started, Exit: c.exit, Error: c.failed, Next: uint64(len(c.said) + 1)}
}

// StartJob starts a call that runs until it is stopped.
func (s *Scene) StartJob(_ context.Context, e sandbox.Exec, _ func(sandbox.Output) error) (sandbox.Job, error) {
	c, err := s.begin(e.Target, e.ID, "job", strings.Join(e.Args, " "))
	if err != nil {
		return sandbox.Job{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.jobLocked(), nil
}

// ReadJob tells what a job said, and waits for more if there is nothing.
func (s *Scene) ReadJob(ctx context.Context, id string, next uint64, wait time.Duration) ([]sandbox.Output, sandbox.Job, error) {
	limit := s.clock.After(wait)
	for {
		s.mu.Lock()
		c, err := s.callLocked(id)
		if err != nil {
			s.mu.Unlock()
			return nil, sandbox.Job{}, err
		}
		said, job, more := slices.Clone(c.said[min(len(c.said), int(max(next, 1)-1)):]), c.jobLocked(), s.changed
		s.mu.Unlock()
		if len(said) > 0 || job.Exit != nil {
			return said, job, nil
		}
		select {
		case <-more:
		case <-limit:
			return nil, job, nil
		case <-ctx.Done():
			return nil, job, ctx.Err()
		}
	}
}

// StopJob ends a job.
func (s *Scene) StopJob(_ context.Context, id string) (sandbox.Job, error) {
	if err := s.Cancel(id); err != nil {
		return sandbox.Job{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.callLocked(id)
	if err != nil {
		return sandbox.Job{}, err
	}
	return c.jobLocked(), nil
}

// Jobs are those in a sandbox.
func (s *Scene) Jobs(_ context.Context, t sandbox.Target) ([]sandbox.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := t.Sandbox
	for _, l := range s.leases {
		if id == "" && l.ID == t.Lease {
			id = l.Sandbox
		}
	}
	out := []sandbox.Job{}
	for _, c := range s.calls {
		if c.kind == "job" && cmp.Or(id, c.sandbox) == c.sandbox {
			out = append(out, c.jobLocked())
		}
	}
	return out, nil
}
