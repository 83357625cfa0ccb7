//go:build amd64 || arm64

package nest

import (
	"os"
	"runtime"
	"sync"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// leastMiB is the lowest limit of memory for a process: while it is lent it
// holds for the agent too, which must not run into it.
const leastMiB = 512

// A spawner starts processes with narrow limits which they can't widen. The
// limits belong to the whole process, which lends them; what keeps them is a
// filter of the one thread that starts processes.
type spawner struct {
	pids, memoryMiB int
	work            chan func()

	mu  sync.Mutex // held while the limits are lent
	err error      // the filter could not be loaded; written by serve before its first work
}

// theSpawner is nil where the jail gave no limits.
var theSpawner = sync.OnceValue(func() *spawner {
	pids, memoryMiB, ok := parseLimits(os.Getenv(limitsKey))
	if !ok {
		return nil
	}
	s := &spawner{pids: pids, memoryMiB: memoryMiB, work: make(chan func())}
	go s.serve()
	return s
})

func spawn(start func() error) error {
	s := theSpawner()
	if s == nil {
		return start()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start(start)
}

// serve keeps its thread for good: the kernel takes that for the parent of
// what it starts.
func (s *spawner) serve() {
	runtime.LockOSThread()
	s.err = loadFilter(limitsProgram())
	for f := range s.work {
		f()
	}
}

// start narrows the limits for as long as f takes: a child inherits what its
// parent has when it forks. The caller is on another thread than serve.
func (s *spawner) start(f func() error) error {
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_NPROC, uint64(s.pids)},
		{unix.RLIMIT_DATA, uint64(max(s.memoryMiB, leastMiB)) << 20},
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
	ended := make(chan error, 1)
	s.work <- func() {
		if s.err != nil {
			ended <- s.err
			return
		}
		ended <- f()
	}
	return <-ended
}

// limitsProgram is a filter for what the user starts: the limits that start
// lends can be looked at and not be set.
func limitsProgram() []bpf.Instruction {
	arg := func(n uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offsetArgs + 8*n, Size: 4} }
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	lent := func(n uint32) []bpf.Instruction {
		return []bpf.Instruction{
			arg(n),
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.RLIMIT_NPROC, SkipTrue: 2},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.RLIMIT_DATA, SkipTrue: 1},
			allow,
		}
	}
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_SETRLIMIT, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_PRLIMIT64, SkipTrue: 6},
		allow,
	}
	p = append(append(p, lent(0)...), refuse(unix.EPERM))
	return append(append(p, lent(1)...), whenSet(2, refuse(unix.EPERM))...)
}
