//go:build amd64 || arm64

package main

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Limits of every program in a sandbox.
const (
	maxFiles     = 4096
	maxProcesses = 512
)

// limit puts the limits of programs on the agent itself, hard and soft, since
// what it starts inherits them from the first moment: nothing that is done to
// a running process could say so. The agent lives well within them. Its own
// processes and threads count only where it isn't root, which is in a jail,
// and there [nest.Spawn] lends programs a narrower limit instead.
func limit(jailed bool) error {
	limits := []struct {
		name     string
		resource int
		value    uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"nofile", unix.RLIMIT_NOFILE, maxFiles},
		{"nproc", unix.RLIMIT_NPROC, maxProcesses},
	}
	if jailed {
		limits = limits[:2]
	}
	for _, l := range limits {
		var have syscall.Rlimit
		if err := syscall.Getrlimit(l.resource, &have); err != nil {
			return fmt.Errorf("read limit %s: %w", l.name, err)
		}
		v := min(l.value, have.Max) // only root may raise a hard limit
		// By way of package syscall, which would else give children the soft
		// limit of files from before the program began.
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: v, Max: v}); err != nil {
			return fmt.Errorf("set limit %s: %w", l.name, err)
		}
	}
	return nil
}
