package app

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/arenero/arenero/app/sandbox"
)

// owned has the owner, and nobody else, have something done: no app's entry does,
// not even outside its tools.
func owned[T any](ctx context.Context, g *gate, do func() (T, error)) (out T, err error) {
	if err := g.owner(ctx); err != nil {
		return out, err
	}
	if call := sandbox.CallOf(ctx); call != nil && call.Caller().Connection != "" {
		return out, notOwner()
	}
	return do()
}

// Pause has requests for new sandboxes refused, or taken again.
func (g *gate) Pause(ctx context.Context, paused bool) (struct{}, error) {
	return owned(ctx, g, func() (struct{}, error) { return struct{}{}, g.engine.app.pause(ctx, paused) })
}

// deskError is err for the owner, who may see more of what the system says than
// others: which file it is about, and why.
func deskError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*sandbox.Error](err); ok || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &sandbox.Error{Code: sandbox.Internal, Msg: err.Error(), Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission):
		e.Code = sandbox.Denied
	case errors.Is(err, fs.ErrNotExist):
		e.Code = sandbox.NotFound
	case errors.Is(err, fs.ErrExist):
		e.Code = sandbox.Exists
	case errors.Is(err, os.ErrDeadlineExceeded):
		e.Code = sandbox.Timeout
	}
	return e
}
