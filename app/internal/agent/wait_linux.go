package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// A waiter waits for a child without holding a thread, where the kernel gives
// a descriptor for it.
type waiter struct {
	pid  int
	file *os.File // of the pidfd; nil without
}

// newWaiter takes over pidfd, which is -1 where there is none.
func newWaiter(pid, pidfd int) *waiter {
	w := &waiter{pid: pid}
	if pidfd >= 0 {
		if unix.SetNonblock(pidfd, true) != nil {
			unix.Close(pidfd)
			return w
		}
		w.file = os.NewFile(uintptr(pidfd), "pidfd")
	}
	return w
}

// wait returns how the child ended. All looks at the child that may make its
// number free for others happen inside guard.
func (w *waiter) wait(guard func(reap func() bool) bool) (ws unix.WaitStatus, err error) {
	look := func(options int) bool {
		for {
			var pid int
			pid, err = unix.Wait4(w.pid, &ws, options, nil)
			if err != unix.EINTR {
				return pid == w.pid || err != nil
			}
		}
	}
	if w.file != nil {
		defer w.file.Close()
		raw, rawErr := w.file.SyscallConn()
		if rawErr == nil {
			rawErr = raw.Read(func(uintptr) bool {
				return guard(func() bool { return look(unix.WNOHANG) })
			})
		}
		if rawErr == nil {
			return ws, err
		}
	}
	// The child stays a zombie until it is reaped inside guard.
	for unix.Waitid(unix.P_PID, w.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	guard(func() bool { return look(0) })
	return ws, err
}
