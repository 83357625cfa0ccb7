package cloud

import (
	"context"
	"errors"
	"net"
)

// ErrRefused is wrapped by errors of [Machine.Dial] when nothing listens on
// the port.
var ErrRefused = errors.New("connection refused")

// A Launcher starts machines.
type Launcher interface {
	// Start makes a machine. ctx bounds the start only. The error may be shown
	// to the owner of the cloud: it holds no secrets.
	Start(ctx context.Context, spec Spec) (Machine, error)
}

// A TemplateLister is a [Launcher] that knows which templates there are. The
// build of an image from another one fails.
type TemplateLister interface {
	HasTemplate(name string) bool
}

// A Spec is what a machine is to be.
type Spec struct {
	ID        string            // the VM's identifier
	Template  string            // what is inside: [LocalImage], or a name the launcher knows
	Env       map[string]string // for the main process
	MemoryMiB int
	CPUs      int
	Network   bool // whether the outside may be reached
}

// A Machine is an isolated process tree that serves TCP ports of its own.
type Machine interface {
	// Dial connects to a port of the machine's own loopback.
	Dial(ctx context.Context, port int) (net.Conn, error)

	// Freeze stops every process where it stands, and Thaw lets them go on.
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error

	// Kill ends every process, frozen ones too. It may return before Done.
	Kill() error

	// Done is closed when nothing of the machine is left.
	Done() <-chan struct{}

	// Exit is the exit code of the main process. It is valid once Done is
	// closed.
	Exit() int
}
