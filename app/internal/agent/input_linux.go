package agent

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errNoInput = status.Error(codes.FailedPrecondition, "the input of the process is not open")

// An input is our end of what a process reads.
type input struct {
	turn chan struct{} // has a value while nobody writes
	file *os.File
	gone chan struct{} // closed with the file; whoever has the turn closes it
}

func newInput(f *os.File) *input {
	in := &input{turn: make(chan struct{}, 1), file: f, gone: make(chan struct{})}
	in.turn <- struct{}{}
	return in
}

// write hands data on whole, or until ctx is done. Writers take turns.
func (in *input) write(ctx context.Context, data []byte) error {
	select {
	case <-in.turn:
	case <-in.gone:
		return errNoInput
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	defer func() { in.turn <- struct{}{} }()
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		in.file.SetWriteDeadline(time.Unix(1, 0))
		close(cut)
	})
	_, err := in.file.Write(data)
	if !stop() {
		<-cut
		in.file.SetWriteDeadline(time.Time{})
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return status.FromContextError(ctx.Err()).Err()
	case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EIO), errors.Is(err, os.ErrClosed):
		return errNoInput
	default:
		return status.Error(codes.Internal, "writing the input of the process failed")
	}
}

// close closes the input now, under a writer if there is one. It fails if it
// was closed before.
func (in *input) close() error {
	if err := in.file.Close(); err != nil {
		return errNoInput
	}
	close(in.gone)
	return nil
}
