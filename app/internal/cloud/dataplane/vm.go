// Package dataplane is the local stand-in for the proxy in front of every
// MicroVM: it checks tokens, holds requests while a VM wakes, and passes
// HTTP, gRPC and WebSocket traffic to ports inside the VM.
package dataplane

import (
	"context"
	"fmt"
	"io"
	"net"
)

// A VM is what the proxy needs of one MicroVM. Its methods may be called at
// any time, by many goroutines.
type VM interface {
	// ID is what tokens are bound to. It never changes.
	ID() string

	// Caps says what the VM's size allows. Zero in a field means no limit.
	Caps() Caps

	// Awake holds the caller until the VM may take traffic, waking it if its
	// policy allows. It fails with a [*Refusal] if the VM can't or may not
	// wake, and with ctx's error if the caller is gone.
	Awake(ctx context.Context) error

	// Cut returns a channel that is closed when connections into the VM must
	// end: because it suspends, or is terminated. A VM that is not awake
	// returns a channel already closed; a resumed one a new channel.
	Cut() <-chan struct{}

	// Dial connects to a TCP port inside the VM. An error that is no
	// [*Refusal] means that nothing listens there.
	Dial(ctx context.Context, port int) (net.Conn, error)

	// Touch says that bytes moved to or from the VM just now: it is not idle.
	// It is called often and must be cheap.
	Touch()
}

// A Sheller is a [VM] that can give a terminal of its own.
type Sheller interface {
	// Shell starts a login shell on a terminal of the given size. The session
	// ends when Read of the result returns an error; closing it hangs up.
	Shell(ctx context.Context, cols, rows int) (Terminal, error)
}

// A Terminal is the host's end of a terminal inside a VM.
type Terminal interface {
	io.ReadWriteCloser
	Resize(cols, rows int) error
}

// Caps are limits that follow from a VM's size.
type Caps struct {
	Connections       int // requests, streams and sockets open at once
	RequestsPerSecond int // started per second; the burst is the same
}

// A Directory finds the VM behind an endpoint.
type Directory interface {
	// VM returns the VM whose endpoint is host: lower case, without a port.
	VM(host string) (VM, bool)
}

// Values of the header x-aws-proxy-error. They are stable: clients match them.
const (
	CodeBadRequest    = "BAD_REQUEST"
	CodeUnauthorized  = "UNAUTHORIZED"
	CodePortDenied    = "PORT_DENIED"
	CodeTooMany       = "TOO_MANY_CONNECTIONS"
	CodeTooFast       = "TOO_MANY_REQUESTS"
	CodeInternal      = "INTERNAL_ERROR"
	CodeAppConnect    = "APP_CONNECT_FAILED"
	CodeVMSuspended   = "MICROVM_SUSPENDED"
	CodeVMUnreachable = "MICROVM_CONNECT_FAILED"
)

// A Refusal is the proxy's own answer to a request, as opposed to the app's.
// Its text may be shown to anyone.
type Refusal struct {
	Status  int    // HTTP status
	Code    string // value of x-aws-proxy-error
	Message string // the body
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s (%d %s)", r.Message, r.Status, r.Code)
}
