//go:build unix

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/arenero/arenero/app/sandbox"
)

// makeRaw has the terminal pass all keys on as they are.
func makeRaw(in, _ int) (restore func(), err error) {
	state, err := term.MakeRaw(in)
	if err != nil {
		return nil, err
	}
	return func() { term.Restore(in, state) }, nil
}

// watchSize tells of each new size of the terminal until ctx is done.
func watchSize(ctx context.Context, fd int, last sandbox.Size, tell func(sandbox.Size)) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	defer signal.Stop(changed)
	for {
		if size, err := sizeOf(fd); err == nil && size != last {
			last = size
			tell(size)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
