package agent

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	maxProcesses = 256              // alive, terminals with them
	maxEnded     = 256              // kept for a late Connect
	keepEnded    = 30 * time.Second // of running time
)

var (
	errUnknownPid = status.Error(codes.NotFound, "no such process")
	errWrongKind  = status.Error(codes.FailedPrecondition, "the process is of the other kind")
	errTooMany    = status.Error(codes.ResourceExhausted, "too many processes")
)

// processes is the table of all that was started here.
type processes struct {
	clock  *runClock
	budget *budget
	spawn  func(start func() error) error // of Config
	stop   <-chan struct{}                // closed when the server ends

	mu       sync.Mutex // guards what follows
	starting int
	live     map[int]*process
	ended    []*process // oldest first
	pipes    map[*os.File]struct{}
	idle     chan struct{} // closed when nothing lives; nil if nobody waits
	closed   bool
}

func newProcesses(c *runClock, spawn func(func() error) error, stop <-chan struct{}) *processes {
	return &processes{
		clock: c, budget: newBudget(budgetHigh, budgetMax), spawn: spawn, stop: stop,
		live: map[int]*process{}, pipes: map[*os.File]struct{}{},
	}
}

// reserve makes sure that one more process may start.
func (t *processes) reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return closingTerminate
	}
	if len(t.live)+t.starting >= maxProcesses {
		return errTooMany
	}
	t.starting++
	return nil
}

// add makes a reservation a process, or gives it up if p is nil.
func (t *processes) add(p *process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.starting--
	if p == nil {
		t.idleLocked()
		return
	}
	t.live[p.pid] = p
	t.ended = slices.DeleteFunc(t.ended, func(e *process) bool {
		if e.pid != p.pid {
			return false
		}
		e.out.drop()
		return true
	})
}

func (t *processes) idleLocked() {
	if t.idle != nil && len(t.live)+t.starting == 0 {
		close(t.idle)
		t.idle = nil
	}
}

// find returns the process with that pid, alive or ended lately.
func (t *processes) find(pid uint32, kind agentpb.ProcessKind, ended bool) (*process, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.live[int(pid)]
	if p == nil && ended {
		for _, e := range t.ended {
			if e.pid == int(pid) {
				p = e
			}
		}
	}
	switch {
	case p == nil:
		return nil, errUnknownPid
	case p.kind != kind:
		return nil, errWrongKind
	}
	return p, nil
}

// retire moves a process from the living to those kept for a while.
func (t *processes) retire(p *process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.live, p.pid)
	t.idleLocked()
	t.ended = append(t.ended, p)
	if len(t.ended) > maxEnded {
		t.forgetLocked(t.ended[0])
	}
	if !t.closed {
		t.clock.afterFunc(keepEnded, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.forgetLocked(p)
		})
	}
}

func (t *processes) forgetLocked(p *process) {
	if i := slices.Index(t.ended, p); i >= 0 {
		t.ended = slices.Delete(t.ended, i, i+1)
		p.out.drop()
	}
}

// all are the living, by pid.
func (t *processes) all() []*process {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]*process, 0, len(t.live))
	for _, p := range t.live {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *process) int { return a.pid - b.pid })
	return list
}

// signal reaches all that live.
func (t *processes) signal(sig syscall.Signal) {
	for _, p := range t.all() {
		p.signal(sig)
	}
}

// empty returns a channel that is closed once nothing lives.
func (t *processes) empty() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	ch := t.idle
	if ch == nil {
		ch = make(chan struct{})
		t.idle = ch
		t.idleLocked()
	}
	return ch
}

// close kills everything and waits for it. Nothing can start any more.
func (t *processes) close() {
	t.mu.Lock()
	t.closed = true
	for f := range t.pipes {
		f.Close()
	}
	t.mu.Unlock()
	t.signal(syscall.SIGKILL)
	<-t.empty()
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.ended) > 0 {
		t.forgetLocked(t.ended[0])
	}
}

// leave notes a pipe that a background process still holds. It refuses when
// the server ends.
func (t *processes) leave(f *os.File) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.pipes[f] = struct{}{}
	}
	return !t.closed
}

func (t *processes) left(f *os.File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pipes, f)
}

// pipe returns the two ends of a pipe: that of a child, and ours. write tells
// that ours is the one to write to.
func pipe(write bool) (theirs int, ours *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return -1, nil, spawnError(err)
	}
	if write {
		fds[0], fds[1] = fds[1], fds[0]
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return -1, nil, spawnError(err)
	}
	return fds[1], os.NewFile(uintptr(fds[0]), "pipe"), nil
}
