//go:build unix

package hostfile_test

import (
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// die ends this process as a crash does.
func die() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}

// limit has every write past so many bytes of a file fail.
func limit(size uint64) error {
	if size == 0 {
		return nil
	}
	signal.Ignore(syscall.SIGXFSZ) // the error is enough
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: size})
}
