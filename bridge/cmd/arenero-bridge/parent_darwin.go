package main

import (
	"context"
	"os"

	"golang.org/x/sys/unix"
)

// watchParent calls gone when the process that started this one has ended,
// unless ctx is done before. Hosts that are killed don't say goodbye, and what
// else they started may still hold our standard input.
func watchParent(ctx context.Context, gone func()) {
	pid := os.Getppid()
	kq, err := unix.Kqueue()
	if err != nil {
		return // the end of the input has to do
	}
	defer unix.Close(kq)
	var ev unix.Kevent_t
	unix.SetKevent(&ev, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	ev.Fflags = unix.NOTE_EXIT
	if _, err := unix.Kevent(kq, []unix.Kevent_t{ev}, nil, nil); err != nil || os.Getppid() != pid {
		if os.Getppid() != pid {
			gone()
		}
		return
	}
	for ctx.Err() == nil {
		n, err := unix.Kevent(kq, nil, make([]unix.Kevent_t, 1), nil)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n > 0 {
			gone()
		}
		return
	}
}
