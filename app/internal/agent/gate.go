package agent

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A phase is a stretch of the life of a sandbox. The names are part of what
// the hooks answer.
type phase string

const (
	phaseBooting     phase = "booting"
	phaseReady       phase = "ready"
	phaseRunning     phase = "running"
	phaseSuspending  phase = "suspending"
	phaseResumed     phase = "resumed"
	phaseTerminating phase = "terminating"
)

// A closing says why calls are refused and streams are ended. Its token is
// frozen: clients compare it.
type closing struct {
	code  codes.Code
	token string
}

func (c *closing) Error() string { return c.token }

// GRPCStatus makes a closing its own gRPC status.
func (c *closing) GRPCStatus() *status.Status { return status.New(c.code, c.token) }

var (
	closingSuspend   = &closing{codes.Unavailable, "suspending"}
	closingTerminate = &closing{codes.Unavailable, "terminating"}
	closingTimeout   = &closing{codes.FailedPrecondition, "sandbox_timeout"}
)

// A gate admits calls while the sandbox runs, and ends the open streams when
// it is about to stop. The interceptors take every call through it, so a
// service has only to end its streams when [gate.suspending] is, or when the
// context of the stream is done.
type gate struct {
	mu      sync.Mutex // guards what follows
	shut    *closing   // nil while open
	last    *closing   // why it was shut last
	ended   chan struct{}
	streams int
	idle    chan struct{} // closed when streams gets to zero; nil if nobody waits
}

func newGate() *gate { return &gate{ended: make(chan struct{})} }

// enter refuses a call while the gate is shut, and one whose ctx is done.
func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		return g.shut
	}
	return nil
}

// join is enter for a stream. The stream is counted until leave is called, and
// has to end soon after ended is closed; [gate.reason] then tells why.
func (g *gate) join() (ended <-chan struct{}, leave func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		return nil, nil, g.shut
	}
	g.streams++
	return g.ended, g.leave, nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.streams--
	if g.streams == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// suspending is closed when the streams that are open now have to end, for
// whatever reason.
func (g *gate) suspending() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

// reason is why the gate is shut, or nil.
func (g *gate) reason() *closing {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// cause is why the streams of before have to end, even if the gate is open
// again.
func (g *gate) cause() *closing {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// shutFor shuts the gate for the reason c and ends the streams. It returns how
// many there are, and a channel that is closed when they are gone.
func (g *gate) shutFor(c *closing) (int, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		close(g.ended)
	}
	if g.shut != closingTerminate { // there is no way back from that
		g.shut, g.last = c, c
	}
	gone := g.idle
	if gone == nil {
		gone = make(chan struct{})
		if g.streams == 0 {
			close(gone)
		} else {
			g.idle = gone
		}
	}
	return g.streams, gone
}

// close shuts the gate for the reason c, ends the streams and waits until
// they are gone or ctx is done. It returns how many there were.
func (g *gate) close(ctx context.Context, c *closing) int {
	n, gone := g.shutFor(c)
	select {
	case <-gone:
	case <-ctx.Done():
	}
	return n
}

// openFrom lets calls in again if the gate is shut for the reason c.
func (g *gate) openFrom(c *closing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == c && c != nil {
		g.shut = nil
		g.ended = make(chan struct{})
	}
}

// streamsEndIn is how long the suspend hook waits for the streams to end.
const streamsEndIn = 2 * time.Second
