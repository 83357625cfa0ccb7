package sandbox

import (
	"context"
	"sync"
)

// A Call is one use of a tool: who makes it, and what its owner is to hear when
// it has been answered.
type Call struct {
	caller Caller

	mu     sync.Mutex // guards what follows
	begun  bool
	alerts []Event
}

type callKey struct{}

// WithCall returns a context whose requests to the engine are those of c.
func WithCall(ctx context.Context, c Caller) (context.Context, *Call) {
	call := &Call{caller: c}
	return context.WithValue(ctx, callKey{}, call), call
}

// CallOf returns the call that ctx belongs to, or nil.
func CallOf(ctx context.Context) *Call {
	call, _ := ctx.Value(callKey{}).(*Call)
	return call
}

// Caller is who makes the call.
func (c *Call) Caller() Caller { return c.caller }

// Next is the caller of the next request to the engine. Until one has been
// answered it is marked as the first.
func (c *Call) Next() Caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller := c.caller
	caller.First = caller.Tool != "" && !c.begun
	return caller
}

// Answered takes in that the engine has answered, and what it wants told.
func (c *Call) Answered(alerts []Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.alerts = true, alerts
}

// Alerts are the alerts of the last answer, newest first.
func (c *Call) Alerts() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alerts
}
