package cloud

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/arenero/arenero/app/internal/cloud/dataplane"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

var (
	_ dataplane.Directory = (*Server)(nil)
	_ dataplane.VM        = (*microvm)(nil)
)

// What the proxy says of a VM that takes no traffic.
var (
	refusedSuspended = &dataplane.Refusal{Status: http.StatusBadGateway, Code: dataplane.CodeVMSuspended, Message: "The MicroVM is suspended"}
	refusedGone      = &dataplane.Refusal{Status: http.StatusBadGateway, Code: dataplane.CodeVMUnreachable, Message: "The MicroVM can't be reached"}
	refusedPending   = &dataplane.Refusal{Status: http.StatusBadGateway, Code: dataplane.CodeAppConnect, Message: "The MicroVM is not ready yet"}
	refusedIngress   = &dataplane.Refusal{Status: http.StatusBadGateway, Code: dataplane.CodeVMUnreachable, Message: "The MicroVM has no ingress"}
)

// ID is what tokens are bound to.
func (v *microvm) ID() string { return v.MicrovmID }

// Caps are the limits of the VM's size. The rate of requests has none unless
// throttling is on: on one's own computer nobody else is to be spared.
func (v *microvm) Caps() dataplane.Caps {
	caps := capsOf(v.MemoryMiB).Caps
	if !v.throttle() {
		caps.RequestsPerSecond = 0
	}
	return caps
}

// Touch restarts the idle timer.
func (v *microvm) Touch() { v.moved.Store(v.clock.Now().UnixNano()) }

// Cut is closed when connections into the VM must end.
func (v *microvm) Cut() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.cut
}

// Awake holds the caller until the VM is RUNNING. Traffic wakes a SUSPENDED VM
// if its policy says so; however many callers wait, it wakes once.
func (v *microvm) Awake(ctx context.Context) error {
	if slices.ContainsFunc(v.Ingress, func(arn string) bool { return connectorName(arn) == "NO_INGRESS" }) {
		return refusedIngress
	}
	for {
		v.mu.Lock()
		state, changed, woken := v.state, v.changed, v.woken
		if state == wire.MicrovmStateRunning {
			v.Touch() // while it can't be suspended: no request is let in and then cut
		}
		v.mu.Unlock()
		switch state {
		case wire.MicrovmStateRunning:
			return nil
		case wire.MicrovmStateTerminating, wire.MicrovmStateTerminated:
			return refusedGone
		case wire.MicrovmStateSuspended:
			if v.IdlePolicy == nil || !*v.IdlePolicy.AutoResumeEnabled {
				return refusedSuspended
			}
			v.change(wire.MicrovmStateSuspended, wire.MicrovmStatePending)
			continue
		}
		if state == wire.MicrovmStatePending && !woken {
			if err := v.holdPending(ctx, changed); err != nil {
				return err
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// holdPending waits for a new VM to come up, but not for long.
func (v *microvm) holdPending(ctx context.Context, changed <-chan struct{}) error {
	hold, cancel := withLimit(ctx, v.clock, v.policy.HoldPending)
	defer cancel()
	select {
	case <-changed:
		return nil
	case <-hold.Done():
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return refusedPending
	}
}

// Dial connects to a port of the VM.
func (v *microvm) Dial(ctx context.Context, port int) (net.Conn, error) {
	v.mu.Lock()
	m, state := v.machine, v.state
	v.mu.Unlock()
	if m == nil || state != wire.MicrovmStateRunning {
		return nil, refusedGone
	}
	conn, err := m.Dial(ctx, port)
	if err != nil {
		return nil, fmt.Errorf("dial port %d of sandbox: %w", port, err)
	}
	return conn, nil
}
