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
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // an old kernel; the end of the input has to do
	}
	defer unix.Close(fd)
	if os.Getppid() != pid {
		gone()
		return
	}
	for ctx.Err() == nil {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n > 0 {
			gone()
		}
		return
	}
}
