//go:build unix

package jail

import (
	"errors"
	"syscall"
)

// processLives reports whether there is a process with this id.
func processLives(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
