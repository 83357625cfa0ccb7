package control

import (
	"context"
	"errors"
	"io"

	"github.com/arenero/arenero/app/sandbox"
)

// A Tell gets the notices of a call, such as that a sandbox is being made for
// it. It may be nil.
type Tell = func(sandbox.Output) error

// Stat describes what is at a path, a link itself and not its target.
func (c *Client) Stat(ctx context.Context, r sandbox.FileRequest, tell Tell) (sandbox.File, error) {
	return c.file(ctx, callStat, r, tell)
}

// MakeDir makes a directory, with those above it.
func (c *Client) MakeDir(ctx context.Context, r sandbox.FileRequest, tell Tell) (sandbox.File, error) {
	return c.file(ctx, callMakeDir, r, tell)
}

// MoveFile renames.
func (c *Client) MoveFile(ctx context.Context, r sandbox.FileRequest, tell Tell) (sandbox.File, error) {
	return c.file(ctx, callMove, r, tell)
}

func (c *Client) file(ctx context.Context, call string, r sandbox.FileRequest, tell Tell) (sandbox.File, error) {
	if err := r.Validate(); err != nil {
		return sandbox.File{}, err
	}
	a, err := c.call(ctx, call, &request{File: &r}, always, outputs(tell), nil)
	if err != nil {
		return sandbox.File{}, err
	}
	if a.File == nil {
		return sandbox.File{}, missing("file")
	}
	return *a.File, nil
}

// RemoveFile removes what is at a path; a directory that is not empty only with
// All.
func (c *Client) RemoveFile(ctx context.Context, r sandbox.FileRequest, tell Tell) error {
	if err := r.Validate(); err != nil {
		return err
	}
	_, err := c.call(ctx, callRemove, &request{File: &r}, ifUnsent, outputs(tell), nil)
	return err
}

// ListFiles describes what is in a directory, r.Depth levels down.
func (c *Client) ListFiles(ctx context.Context, r sandbox.FileRequest, tell Tell) ([]sandbox.File, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	a, err := c.call(ctx, callList, &request{File: &r}, always, outputs(tell), nil)
	if err != nil {
		return nil, err
	}
	return a.Files, nil
}

// ReadFile writes a regular file of the sandbox to w, and tells how long it is.
// It fails when the engine ends in the middle.
func (c *Client) ReadFile(ctx context.Context, r sandbox.FileRequest, tell Tell, w io.Writer) (int64, error) {
	if err := r.Validate(); err != nil {
		return 0, err
	}
	var n int64
	l := c.losses()
	for {
		_, err := l.once(ctx, callRead, &request{File: &r}, nil, func(f frame) error {
			if f.Out == nil || len(f.Out.Data) == 0 {
				return outputs(tell)(f)
			}
			k, err := w.Write(f.Out.Data)
			n += int64(k)
			return err
		})
		again, err := l.retry(ctx, err, n == 0)
		if !again {
			return n, err
		}
	}
}

// WriteFile puts a file into the sandbox, whole or not at all. When the engine
// ends in the middle it begins anew if content is an [io.Seeker].
func (c *Client) WriteFile(ctx context.Context, r sandbox.FileRequest, tell Tell, content io.Reader) (sandbox.File, error) {
	if err := r.Validate(); err != nil {
		return sandbox.File{}, err
	}
	l := c.losses()
	for {
		a, err := l.once(ctx, callWrite, &request{File: &r}, content, outputs(tell))
		seeker, ok := content.(io.Seeker)
		if lost, is := errors.AsType[*lostError](err); is && !lost.sent {
			ok = true // nothing was read yet
		}
		again, err := l.retry(ctx, err, ok)
		switch {
		case again && seeker != nil:
			if _, err := seeker.Seek(0, io.SeekStart); err != nil {
				return sandbox.File{}, err
			}
		case again:
		case err != nil:
			return sandbox.File{}, err
		case a.File == nil:
			return sandbox.File{}, missing("file")
		default:
			return *a.File, nil
		}
	}
}

// retry finds the engine again after its loss, if that is what err is and may
// says so. Else it returns err as the caller is to have it.
func (l *losses) retry(ctx context.Context, err error, may bool) (bool, error) {
	if e, ok := errors.AsType[*callbackError](err); ok {
		return false, e.err
	}
	lost, ok := errors.AsType[*lostError](err)
	switch {
	case !ok:
		return false, ours(err)
	case !may:
		return false, &sandbox.Error{Code: sandbox.Unreachable, Msg: "the engine ended in the middle of a file", Retryable: true, Err: lost}
	}
	if err := l.find(ctx, lost.sent, lost); err != nil {
		return false, ours(err)
	}
	return true, nil
}
