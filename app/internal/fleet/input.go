package fleet

import (
	"context"
	"io"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// smallWithin is what a call may take that moves no file.
const smallWithin = 2 * time.Minute

// within makes a call about a command that runs.
func (f *Fleet) within(ctx context.Context, id string, do func(Agent, Place) error) error {
	r, err := f.runByID(id)
	if err != nil {
		return err
	}
	if err := r.placed(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	at, over := r.place, r.over
	r.mu.Unlock()
	if over {
		return &sandbox.Error{Code: sandbox.NotFound, Msg: "the command has ended"}
	}
	agent, err := f.enter(r.box)
	if err != nil {
		return err
	}
	_, err = patiently(ctx, f, func() (struct{}, error) { return struct{}{}, do(agent, at) })
	f.leave(r.box, err)
	if err != nil {
		return f.judge(ctx, r.box, err)
	}
	return nil
}

// Input writes to the standard input, or the terminal, of a command.
func (f *Fleet) Input(ctx context.Context, id string, data []byte) error {
	return f.within(ctx, id, func(a Agent, at Place) error { return a.Input(ctx, at, data) })
}

// CloseInput ends the standard input of a command.
func (f *Fleet) CloseInput(ctx context.Context, id string) error {
	return f.within(ctx, id, func(a Agent, at Place) error { return a.CloseInput(ctx, at) })
}

// Resize tells the terminal of a command its size.
func (f *Fleet) Resize(ctx context.Context, id string, size sandbox.Size) error {
	return f.within(ctx, id, func(a Agent, at Place) error { return a.Resize(ctx, at, size) })
}

// Signal sends a signal to a command and its group.
func (f *Fleet) Signal(ctx context.Context, id string, signal int) error {
	if signal < 1 || signal > 64 {
		return &sandbox.Error{Code: sandbox.Invalid, Msg: "a signal is from 1 to 64"}
	}
	return f.within(ctx, id, func(a Agent, at Place) error { return a.Signal(ctx, at, signal) })
}

// A FileCall is a call about one file.
type FileCall string

// The calls about files that answer with what is there afterwards.
const (
	Stat    FileCall = "stat"
	MakeDir FileCall = "mkdir"
	Move    FileCall = "move"
	Remove  FileCall = "remove" // answers with nothing
)

// File makes a call about one file.
func (f *Fleet) File(ctx context.Context, what FileCall, r sandbox.FileRequest, tell func(sandbox.Output) error) (sandbox.File, error) {
	if err := r.Validate(); err != nil {
		return sandbox.File{}, err
	}
	return call(ctx, f, r.Target, tell, func(ctx context.Context, a Agent) (sandbox.File, error) {
		ctx, cancel := context.WithTimeout(ctx, smallWithin)
		defer cancel()
		switch what {
		case Stat:
			return a.Stat(ctx, r)
		case MakeDir:
			return a.MakeDir(ctx, r)
		case Move:
			return a.Move(ctx, r)
		case Remove:
			return sandbox.File{}, a.Remove(ctx, r)
		}
		return sandbox.File{}, &sandbox.Error{Code: sandbox.Invalid, Msg: "no such call"}
	})
}

// ListFiles lists what is below a path.
func (f *Fleet) ListFiles(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error) ([]sandbox.File, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return call(ctx, f, r.Target, tell, func(ctx context.Context, a Agent) ([]sandbox.File, error) {
		ctx, cancel := context.WithTimeout(ctx, smallWithin)
		defer cancel()
		return a.List(ctx, r)
	})
}

// ReadFile writes a file of a sandbox to w.
func (f *Fleet) ReadFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, w io.Writer) error {
	if err := r.Validate(); err != nil {
		return err
	}
	_, err := call(ctx, f, r.Target, tell, func(ctx context.Context, a Agent) (struct{}, error) {
		return struct{}{}, a.Read(ctx, r, w)
	})
	return err
}

// WriteFile puts a file into a sandbox, whole or not at all.
func (f *Fleet) WriteFile(ctx context.Context, r sandbox.FileRequest, tell func(sandbox.Output) error, content io.Reader) (sandbox.File, error) {
	if err := r.Validate(); err != nil {
		return sandbox.File{}, err
	}
	return call(ctx, f, r.Target, tell, func(ctx context.Context, a Agent) (sandbox.File, error) { return a.Write(ctx, r, content) })
}
