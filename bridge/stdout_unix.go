//go:build unix

package bridge

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// TakeStdout returns what standard output was, for the protocol alone, and
// makes standard output the same as standard error: for Go code, for C code and
// for child processes. So nothing that prints by mistake, not even a library's
// debugging line, can get between the messages. Call it first thing in main.
func TakeStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("keep standard output: %w", err)
	}
	if err := unix.Dup2(2, 1); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("redirect standard output: %w", err)
	}
	// A host that closes its end of standard error is no reason to die, as Go
	// programs do by default. Notify, unlike Ignore, is not inherited by children.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return os.NewFile(uintptr(fd), "protocol"), nil
}
