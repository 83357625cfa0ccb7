package control_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A parrot is an engine that says back what it is told. What it does not
// define, no test calls.
type parrot struct {
	control.Engine

	mu       sync.Mutex
	held     int
	released []string
	canceled []string
	stopped  bool
	runs     int
	last     sandbox.Exec
	nexts    []uint64
	block    chan struct{} // while open, commands go on
	started  chan struct{}
	gone     chan error // how the context of a command ended
	watch    chan sandbox.Snapshot
	answers  chan string
	asked    chan struct{} // how it is
}

func newParrot() *parrot {
	p := &parrot{block: make(chan struct{}), started: make(chan struct{}, 100), gone: make(chan error, 100), watch: make(chan sandbox.Snapshot), answers: make(chan string, 1), asked: make(chan struct{}, 100)}
	close(p.block)
	return p
}

func (p *parrot) Hello() control.Hello {
	return control.Hello{Protocol: control.Protocol, Version: "1.2.3", PID: 42}
}

func (p *parrot) Status() control.Status {
	select {
	case p.asked <- struct{}{}:
	default:
	}
	return control.Status{Hello: p.Hello(), Clients: 1}
}

func (p *parrot) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

func (p *parrot) Hold(ctx context.Context, _ sandbox.Lease, held func() error) error {
	if err := held(); err != nil {
		return err
	}
	p.mu.Lock()
	p.held++
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held--
	return nil
}

func (p *parrot) Release(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.released = append(p.released, id)
	return nil
}

// Exec says its arguments, one output each, from number next on.
func (p *parrot) Exec(ctx context.Context, e sandbox.Exec, next uint64, emit func(sandbox.Output) error) (sandbox.Exit, error) {
	p.mu.Lock()
	p.runs++
	p.last = e
	p.nexts = append(p.nexts, next)
	block := p.block
	p.mu.Unlock()
	for i, a := range e.Args {
		if seq := uint64(i + 1); seq >= next {
			if err := emit(sandbox.Output{Seq: seq, Stream: sandbox.Stdout, Data: []byte(a)}); err != nil {
				return sandbox.Exit{}, err
			}
		}
	}
	p.started <- struct{}{}
	select {
	case <-block:
	case <-ctx.Done():
		p.gone <- ctx.Err()
		return sandbox.Exit{}, ctx.Err()
	}
	if e.Dir == "/missing" {
		return sandbox.Exit{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "no such directory", Err: errors.New("secret")}
	}
	if e.Dir == "/broken" {
		return sandbox.Exit{}, errors.New("secret")
	}
	return sandbox.Exit{Sandbox: "sb", Code: 7}, nil
}

func (p *parrot) Cancel(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.canceled = append(p.canceled, id)
	return nil
}

func (p *parrot) Watch(ctx context.Context, emit func(sandbox.Snapshot) error) error {
	for {
		select {
		case s := <-p.watch:
			if err := emit(s); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *parrot) ReadFile(_ context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, w io.Writer) error {
	if err := tell(sandbox.Output{Notice: sandbox.NoticeCreating}); err != nil {
		return err
	}
	for range 3 {
		if _, err := io.WriteString(w, r.Path); err != nil {
			return err
		}
	}
	return nil
}

func (p *parrot) WriteFile(_ context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, content io.Reader) (sandbox.File, error) {
	if err := tell(sandbox.Output{Notice: sandbox.NoticeCreating}); err != nil {
		return sandbox.File{}, err
	}
	n, err := io.Copy(io.Discard, content)
	return sandbox.File{Path: r.Path, Size: n}, err
}

// shortDir is a folder whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ct")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// serve serves e at path until stop is called.
func serve(t *testing.T, path string, e control.Engine) (stop func()) {
	t.Helper()
	ln, err := control.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	srv := control.NewServer(control.NewHandler(e, log), log)
	done := make(chan struct{})
	go func() {
		defer close(done)
		srv.Serve(ln)
	}()
	stop = sync.OnceFunc(func() {
		srv.Close()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

func start(t *testing.T) (*parrot, *control.Client, string) {
	t.Helper()
	p, path := newParrot(), filepath.Join(shortDir(t), "run", "s")
	serve(t, path, p)
	c := control.NewClient(path)
	t.Cleanup(c.Close)
	return p, c, path
}
