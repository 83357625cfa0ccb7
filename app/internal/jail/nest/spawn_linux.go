//go:build amd64 || arm64

package nest

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// leastMiB is the lowest limit of memory for a process: while it is lent it
// holds for the agent too, which must not run into it.
const leastMiB = 512

// spawnMu guards the limits of this process while Spawn has changed them.
var spawnMu sync.Mutex

// spawn narrows the limits of this process for as long as start takes: a child
// inherits what its parent has when it forks.
func spawn(start func() error) error {
	pids, memoryMiB, ok := parseLimits(os.Getenv(limitsKey))
	if !ok {
		return start()
	}
	spawnMu.Lock()
	defer spawnMu.Unlock()
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_NPROC, uint64(pids)},
		{unix.RLIMIT_DATA, uint64(max(memoryMiB, leastMiB)) << 20},
	} {
		var have unix.Rlimit
		if err := unix.Prlimit(0, l.resource, nil, &have); err != nil {
			return err
		}
		narrow := unix.Rlimit{Cur: min(l.value, have.Max), Max: have.Max}
		if err := unix.Prlimit(0, l.resource, &narrow, nil); err != nil {
			return err
		}
		defer unix.Prlimit(0, l.resource, &have, nil)
	}
	return start()
}
