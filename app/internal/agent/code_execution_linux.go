package agent

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/agent/kernel"
)

// Names of the errors that are ours, not Python's. They are part of the
// protocol.
const (
	nameTimeout   = "ExecutionTimeout"
	nameDied      = "KernelDied"
	nameRestarted = "KernelRestarted"
	nameDestroyed = "ContextDestroyed"
	nameAborted   = "ExecutionAborted"
	nameTruncated = "OutputTruncated"
)

// An execution is one cell, from the queue to the last reader of its output.
type execution struct {
	id      string
	context *codeContext
	cell    kernel.Cell
	timeout time.Duration // zero: none
	ring    *ring[*agentpb.ExecuteEvent]
	hurry   chan struct{} // closed when slow readers are not waited for any more
	done    chan struct{} // closed after the last event

	mu      sync.Mutex // guards what follows
	begun   bool
	count   uint64
	failed  bool // an error has been sent
	late    bool // its time is up
	stopped bool // it has been interrupted
	orphan  bool // its client was lost, and nobody has reattached since
	timers  []*runTimer
	rushing sync.Once
}

func newExecution(c *codeContext, cell kernel.Cell, timeout time.Duration) *execution {
	return &execution{
		id:      "exec-" + randomID(8),
		context: c,
		cell:    cell,
		timeout: timeout,
		ring:    newRing[*agentpb.ExecuteEvent](codeLimits, c.svc.cfg.clock, c.svc.cfg.budget),
		hurry:   make(chan struct{}),
		done:    make(chan struct{}),
	}
}

func randomID(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func (x *execution) push(e *agentpb.ExecuteEvent) { x.ring.push(e, proto.Size(e), x.hurry) }

// handle passes on what the kernel says.
func (x *execution) handle(e kernel.Event) {
	switch {
	case e.Begin != nil:
		x.begin(e.Begin.Count)
		if notice := x.context.takeNotice(); notice != "" {
			x.push(outputEvent(&kernel.Output{Stderr: true, Text: notice, Time: time.Now()}))
		}
	case e.Output != nil:
		x.push(outputEvent(e.Output))
	case e.Result != nil:
		x.push(resultEvent(e.Result))
	case e.Error != nil:
		x.fail(e.Error)
	}
}

func (x *execution) begin(count uint64) {
	x.mu.Lock()
	first := !x.begun
	x.begun, x.count = true, count
	x.mu.Unlock()
	if first {
		x.push(startedEvent(x.id, count))
	}
}

// fail sends an error. The exception of a cell whose time was up becomes the
// error that says so; its traceback tells where the time went.
func (x *execution) fail(e *kernel.Error) {
	x.mu.Lock()
	late := x.late
	x.failed = true
	x.mu.Unlock()
	if late && e.Name == "KeyboardInterrupt" {
		e = &kernel.Error{Name: nameTimeout, Value: x.timeoutText("and was interrupted"), Traceback: e.Traceback}
	}
	x.push(errorEvent(e))
}

// rush lets no slow reader hold up the cell any more.
func (x *execution) rush() { x.rushing.Do(func() { close(x.hurry) }) }

func (x *execution) timeoutText(what string) string {
	return fmt.Sprintf("the cell ran longer than %v %s", x.timeout, what)
}

// finish ends the stream, after one more error unless name is empty or an
// error tells enough already.
func (x *execution) finish(name, value string) {
	x.begin(x.countNow()) // a cell that never ran has a beginning all the same
	x.mu.Lock()
	late, failed, stopped, count := x.late, x.failed, x.stopped, x.count
	for _, t := range x.timers {
		t.stop()
	}
	x.timers = nil
	x.mu.Unlock()
	switch {
	case name == nameDied && late:
		x.fail(&kernel.Error{Name: nameTimeout, Value: x.timeoutText("and could not be interrupted: the kernel was restarted, its variables are gone")})
	case name == nameDied && stopped:
		x.fail(&kernel.Error{Name: nameRestarted, Value: "the cell could not be interrupted: the kernel was restarted, its variables are gone"})
	case name != "":
		x.fail(&kernel.Error{Name: name, Value: value})
	case late && !failed:
		x.fail(&kernel.Error{Name: nameTimeout, Value: x.timeoutText("")})
	}
	x.push(endEvent(count))
	x.ring.end()
	close(x.done)
	x.context.svc.retire(x)
}

func (x *execution) countNow() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.count
}

func (x *execution) isBegun() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.begun
}

// watch starts the clock of a cell that is about to run.
func (x *execution) watch() {
	if x.timeout == 0 {
		return
	}
	t := x.context.svc.cfg.clock.afterFunc(x.timeout, func() {
		x.mu.Lock()
		x.late = true
		x.mu.Unlock()
		x.context.interrupt(x)
	})
	x.mu.Lock()
	x.timers = append(x.timers, t)
	x.mu.Unlock()
}

// abandon has x interrupted in a while, since its client was lost, unless
// somebody follows it then or has come for it meanwhile.
func (x *execution) abandon() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.orphan = true
	x.timers = append(x.timers, x.context.svc.cfg.clock.afterFunc(reattachGrace, func() {
		x.mu.Lock()
		orphan := x.orphan
		x.mu.Unlock()
		if orphan && !x.ring.followed() {
			x.context.interrupt(x)
		}
	}))
}

// adopt notes that somebody has come for x.
func (x *execution) adopt() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.orphan = false
}

// stop notes that x is being interrupted, and has f called again half-way and
// at the end of the time it is given. It reports whether this is news.
func (x *execution) stop(f func(last bool)) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stopped {
		return false
	}
	x.stopped = true
	x.rush()
	clock := x.context.svc.cfg.clock
	x.timers = append(x.timers,
		clock.afterFunc(interruptGrace/2, func() { f(false) }),
		clock.afterFunc(interruptGrace, func() { f(true) }))
	return true
}
