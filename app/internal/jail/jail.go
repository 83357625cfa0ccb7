// Package jail starts an isolated process tree on this computer, talks to the
// ports inside it, freezes it, thaws it and ends it. On Linux a jail is a set
// of plain kernel namespaces; where those are refused it is a Docker or Podman
// container. It never runs anything unisolated unless the Spec says so.
package jail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/arenero/arenero/app/internal/jail/link"
)

// Kinds of isolation, as named in a [Spec] and by [Probe].
const (
	Namespaces  Kind = "namespaces"   // Linux kernel namespaces
	Docker      Kind = "docker"       // a container of the Docker engine
	Podman      Kind = "podman"       // a container of Podman
	NotIsolated Kind = "not-isolated" // a plain process, with no protection at all
)

// A Kind says by what means a jail is kept apart from its host.
type Kind string

// ErrRefused is what Dial's error wraps when nothing listens on the port.
var ErrRefused = link.ErrRefused

// ErrEnded is what the methods of a jail return once it has ended.
var ErrEnded = errors.New("the jail has ended")

// A Spec describes one jail.
type Spec struct {
	ID        string   // names the control group or container: letters, digits and "-"
	Kind      Kind     // empty means the best that works here, never NotIsolated
	Agent     string   // path of arenero-agent on the host; with root as caller it must be readable by all
	Args      []string // arguments of the agent, without its name
	Env       []string // environment of the agent, as KEY=VALUE; nothing of the caller's is passed on
	MemoryMiB int      // memory of all processes together; 0 means 2048
	DiskMiB   int      // all writable files together (home, /tmp, /dev/shm, /run); 0 means 1024
	PIDs      int      // processes and threads; 0 means 1024
	CPUs      float64  // processors; 0 means no limit
	Image     string   // container image for Docker and Podman; empty means DefaultImage

	// Egress serves one connection that something in the jail made to the
	// proxy port, 127.0.0.1:3128. It owns the connection. Each call has its own
	// goroutine. Nil means that the jail has no way out.
	Egress func(net.Conn)

	// Output takes what the agent writes to its standard error, a few lines of
	// log. Nil drops it.
	Output func(line string)

	Log *slog.Logger // nil drops
}

// A Jail is one running process tree. Its methods may be called from any
// goroutine. It ends by Kill, when its agent exits, or when the caller's
// process ends in any way.
type Jail interface {
	// Dial connects to 127.0.0.1:port inside. The error wraps [ErrRefused] when
	// nothing listens there. While the jail is frozen it blocks until ctx ends.
	Dial(ctx context.Context, port int) (net.Conn, error)

	// Freeze stops every process inside and returns when none runs any more.
	// Memory and connections stay. Freezing a frozen jail does nothing.
	Freeze(ctx context.Context) error

	// Thaw lets the processes go on.
	Thaw(ctx context.Context) error

	// Kill ends every process, frozen or not, and returns when all are gone and
	// nothing is left on the host. Killing an ended jail does nothing.
	Kill() error

	// Done is closed when the jail has ended and nothing is left of it.
	Done() <-chan struct{}

	// Exit says how the jail ended. It is meaningful once Done is closed.
	Exit() Exit

	// Kind says how it is isolated.
	Kind() Kind
}

// An Exit says how a jail ended.
type Exit struct {
	Code   int    // exit code of the agent, 128+n for signal n
	Killed bool   // Kill was called
	Reason string // one plain line, e.g. "killed", "the agent exited with code 1"
}

// Start makes a jail and returns when its agent has opened its ports. When ctx
// ends before that, nothing is left behind. The jail does not depend on ctx
// afterwards.
func Start(ctx context.Context, spec Spec) (Jail, error) {
	if !validID(spec.ID) {
		return nil, fmt.Errorf("%q is no id for a jail", spec.ID)
	}
	return start(ctx, spec.withDefaults())
}

// validID holds ids to what may be part of a path and of a container's name.
func validID(id string) bool {
	return id != "" && len(id) <= 100 && strings.IndexFunc(id, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-')
	}) < 0
}

// DefaultImage is the container image used when a Spec names none.
const DefaultImage = "docker.io/library/python:3.12-slim"

func (s Spec) withDefaults() Spec {
	if s.MemoryMiB <= 0 {
		s.MemoryMiB = 2048
	}
	if s.DiskMiB <= 0 {
		s.DiskMiB = 1024
	}
	if s.PIDs <= 0 {
		s.PIDs = 1024
	}
	if s.Image == "" {
		s.Image = DefaultImage
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s
}
