//go:build amd64 || arm64

package nest

import (
	"fmt"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

func settle() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close this process to others: %w", err)
	}
	if os.Getpid() != 1 {
		return nil
	}
	// The first process of a jail gets only signals it has a handler for, and
	// the Go runtime handles all of them, some by ending. Here all are dropped;
	// whoever wants one asks for it with signal.Notify as well. The parent ends
	// us with SIGKILL.
	// us with SIGKILL. Nobody reads the channel, so signals are lost on it.
	signal.Notify(make(chan os.Signal, 1))
	return nil
}
