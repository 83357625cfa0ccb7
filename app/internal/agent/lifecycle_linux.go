package agent

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	capMargin     = 60 * time.Second // the platform's limit is this much later than ours
	resumeGrace   = 30 * time.Second
	leastTimeout  = 1000 // milliseconds
	deadlineGrace = 5 * time.Second
)

var (
	errUnmanaged   = status.Error(codes.FailedPrecondition, "lifecycle_unmanaged")
	errTimeoutMode = status.Error(codes.InvalidArgument, "mode is not set")
	errTimeoutLow  = status.Error(codes.InvalidArgument, "timeout_ms is under 1000")
)

// A lifecycle is the managed deadline of the sandbox, and the
// LifecycleService. It counts real time: what the sandbox sleeps counts too.
type lifecycle struct {
	agentpb.UnimplementedLifecycleServiceServer
	s *Server

	mu         sync.Mutex // guards what follows
	terms      *lifeTerms // nil: unmanaged
	phase      agentpb.LifecyclePhase
	deadline   time.Time
	limit      time.Time
	timeout    time.Duration
	extensions uint32
	timer      clockwork.Timer
	asleep     bool
}

func newLifecycle(s *Server) *lifecycle {
	return &lifecycle{s: s, phase: agentpb.LifecyclePhase_LIFECYCLE_PHASE_UNMANAGED}
}

// begin starts the sandbox's time.
func (l *lifecycle) begin(terms *lifeTerms) {
	if terms == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.wall()
	l.terms = terms
	l.limit = now.Add(time.Duration(terms.limit)*time.Second - capMargin)
	l.timeout = time.Duration(terms.timeout) * time.Second
	l.deadline = earlier(now.Add(l.timeout), l.limit)
	l.activateLocked()
}

// wall is the time without a monotonic part, which may not count what the
// sandbox sleeps.
func (l *lifecycle) wall() time.Time { return l.s.clock.Now().Round(0) }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func (l *lifecycle) activateLocked() {
	l.phase = agentpb.LifecyclePhase_LIFECYCLE_PHASE_ACTIVE
	l.armLocked(l.deadline.Sub(l.wall()))
}

func (l *lifecycle) armLocked(d time.Duration) {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = l.s.clock.AfterFunc(max(0, d), l.ring)
}

// ring is called when a timer is due, maybe not the last one that was set.
func (l *lifecycle) ring() {
	l.mu.Lock()
	if l.asleep || l.terms == nil {
		l.mu.Unlock()
		return
	}
	if l.phase == agentpb.LifecyclePhase_LIFECYCLE_PHASE_ACTIVE {
		if d := l.deadline.Sub(l.wall()); d > 0 {
			l.armLocked(d)
			l.mu.Unlock()
			return
		}
	}
	l.phase = agentpb.LifecyclePhase_LIFECYCLE_PHASE_EXPIRED
	pause := l.terms.pause
	_, gone := l.s.gate.shutFor(closingTimeout)
	l.mu.Unlock()
	if pause {
		return
	}
	select {
	case <-gone:
	case <-l.s.clock.After(streamsEndIn):
	}
	l.kill()
}

// kill ends all processes, and then the agent.
func (l *lifecycle) kill() {
	for _, p := range l.s.processes.all() {
		p.signal(syscall.SIGTERM)
		p.signal(syscall.SIGCONT)
	}
	select {
	case <-l.s.processes.empty():
	case <-l.s.clock.After(deadlineGrace):
		l.s.processes.signal(syscall.SIGKILL)
	case <-l.s.stop:
	}
	l.s.finish(ErrExpired)
}

// sleep says that the sandbox is about to be suspended. No deadline passes
// until wake.
func (l *lifecycle) sleep() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asleep = true
}

// wake looks whether the deadline has passed in the meantime. If so there is
// some time to extend it, in which the gate is to stay shut to all other calls.
func (l *lifecycle) wake() (expired bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asleep = false
	if l.terms == nil {
		return false
	}
	if d := l.deadline.Sub(l.wall()); d > 0 {
		l.activateLocked()
		return false
	}
	l.phase = agentpb.LifecyclePhase_LIFECYCLE_PHASE_RESUME_GRACE
	l.armLocked(resumeGrace)
	return true
}

// close stops the timer.
func (l *lifecycle) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.terms = nil
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *lifecycle) state() *agentpb.LifecycleState {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stateLocked()
}

func (l *lifecycle) stateLocked() *agentpb.LifecycleState {
	if l.terms == nil {
		return &agentpb.LifecycleState{Phase: agentpb.LifecyclePhase_LIFECYCLE_PHASE_UNMANAGED}
	}
	st := &agentpb.LifecycleState{
		Phase: l.phase, DeadlineUnixMs: l.deadline.UnixMilli(), CapUnixMs: l.limit.UnixMilli(),
		TimeoutMs: uint64(l.timeout.Milliseconds()), AutoResume: l.terms.autoResume, Extensions: l.extensions,
		OnTimeout: agentpb.TimeoutAction_TIMEOUT_ACTION_KILL,
	}
	if l.terms.pause {
		st.OnTimeout = agentpb.TimeoutAction_TIMEOUT_ACTION_PAUSE
	}
	return st
}

// SetTimeout moves the deadline. It revives a sandbox that only pauses at it.
func (l *lifecycle) SetTimeout(_ context.Context, req *agentpb.SetTimeoutRequest) (*agentpb.LifecycleState, error) {
	if m := req.GetMode(); m != agentpb.TimeoutMode_TIMEOUT_MODE_EXACT && m != agentpb.TimeoutMode_TIMEOUT_MODE_AT_LEAST {
		return nil, errTimeoutMode
	}
	if req.GetTimeoutMs() < leastTimeout {
		return nil, errTimeoutLow
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terms == nil {
		return nil, errUnmanaged
	}
	if l.phase == agentpb.LifecyclePhase_LIFECYCLE_PHASE_EXPIRED && !l.terms.pause {
		return nil, closingTimeout // it is being ended
	}
	timeout := milliseconds(req.GetTimeoutMs())
	deadline := l.wall().Add(timeout)
	if timeout > maxSandboxSeconds*time.Second || deadline.After(l.limit) {
		return nil, status.Error(codes.InvalidArgument,
			fmt.Sprintf("timeout beyond cap: cap_unix_ms=%d", l.limit.UnixMilli()))
	}
	if req.GetMode() == agentpb.TimeoutMode_TIMEOUT_MODE_AT_LEAST && !deadline.After(l.deadline) {
		return l.stateLocked(), nil
	}
	l.deadline, l.timeout = deadline, timeout
	l.extensions++
	l.activateLocked()
	l.s.gate.openFrom(closingTimeout)
	return l.stateLocked(), nil
}
