package agent

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// termGrace is the running time between SIGTERM and SIGKILL.
const termGrace = 5 * time.Second

// processRing is what a process or terminal keeps of its output.
var processRing = ringLimits{bytes: 1 << 20, queue: 64, patience: 30 * time.Second}

// A chunk is a piece of output.
type chunk struct {
	stderr bool
	data   []byte
}

// A process is one that was started here: a plain one or a terminal's shell.
type process struct {
	table  *processes
	pid    int
	kind   agentpb.ProcessKind
	config *agentpb.ProcessConfig
	tag    *string
	marker string // in the environment of the whole tree; empty: signals go to the group
	out    *ring[chunk]
	first  *subscriber[chunk] // whoever started it
	input  *input             // nil: there never was one
	tty    *os.File           // of a terminal

	mu       sync.Mutex // guards what follows, and the use of pid for signals
	reaped   bool
	expired  bool // its time was up
	killed   bool // and SIGTERM did not do
	end      *agentpb.EndEvent
	deadline *runTimer
	killing  *runTimer
}

// signal reaches the group, or the tree if the process was started so. What
// kills a shell also kills the jobs of its terminal, which have groups of
// their own.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.signalLocked(sig)
}

func (p *process) signalLocked(sig syscall.Signal) {
	whole := p.marker != "" || p.tty != nil && sig == syscall.SIGKILL
	if whole && (tree{p.pid, p.marker}).signal(sig) > 0 {
		return // the group was part of it
	}
	if !p.reaped {
		syscall.Kill(-p.pid, sig)
	}
}

// expire ends a process whose time is up.
func (p *process) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	p.expired = true
	p.stopLocked()
}

// stopLocked asks the process to end, and makes it end a little later.
func (p *process) stopLocked() {
	p.signalLocked(syscall.SIGTERM)
	p.signalLocked(syscall.SIGCONT) // a stopped process can't obey
	if p.killing == nil {
		p.killing = p.table.clock.afterFunc(termGrace, p.kill)
	}
}

// kill ends what SIGTERM did not.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.table.stop:
		return // all was killed
	default:
	}
	p.killed = p.killed || !p.reaped
	if p.reaped && p.marker == "" && p.orphansLocked() {
		syscall.Kill(-p.pid, syscall.SIGKILL)
		return
	}
	p.signalLocked(syscall.SIGKILL)
}

// orphansLocked reports whether the group has outlived its leader. As long as
// it has members, no other group can get its number.
func (p *process) orphansLocked() bool { return syscall.Kill(-p.pid, 0) == nil }

// run waits for the process and its output, and then for nothing more.
func (p *process) run(wait *waiter, outlets []*outlet) {
	var pumps sync.WaitGroup
	for _, o := range outlets {
		pumps.Add(1)
		go func() {
			o.pump(p, pumps.Done)
		}()
	}
	ws, err := wait.wait(func(reap func() bool) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.reaped = reap()
		return p.reaped
	})
	p.mu.Lock()
	p.deadline.stop()
	expired := p.expired
	if p.killing != nil && !p.orphansLocked() && p.marker == "" {
		p.killing.stop()
	}
	p.mu.Unlock()
	for _, o := range outlets {
		o.exited()
	}
	if expired && p.marker != "" {
		tree{p.pid, p.marker}.gone(p.table.stop)
		p.killing.stop()
	}
	pumps.Wait()
	if p.input != nil {
		p.input.close()
	}
	p.mu.Lock()
	p.end = p.endLocked(ws, err)
	p.mu.Unlock()
	p.table.retire(p)
	p.out.end()
}

// endLocked tells how the process ended.
func (p *process) endLocked(ws unix.WaitStatus, err error) *agentpb.EndEvent {
	signalled := func(sig syscall.Signal, status string) *agentpb.EndEvent {
		n := int32(sig)
		return &agentpb.EndEvent{ExitCode: 128 + n, Status: status, Signal: &n}
	}
	switch {
	case p.expired:
		sig := syscall.SIGTERM
		if p.killed {
			sig = syscall.SIGKILL
		}
		end := signalled(sig, "timeout")
		end.Error = &agentpb.StreamError{Code: "deadline_exceeded", Message: "the time of the process was up"}
		return end
	case err != nil:
		return &agentpb.EndEvent{
			ExitCode: -1, Status: "exited",
			Error: &agentpb.StreamError{Code: "internal", Message: "waiting for the process failed"},
		}
	case ws.Signaled():
		return signalled(ws.Signal(), "signaled")
	default:
		return &agentpb.EndEvent{ExitCode: int32(ws.ExitStatus()), Exited: true, Status: "exited"}
	}
}

// ending is the last event, once there is one.
func (p *process) ending() *agentpb.EndEvent {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end
}
