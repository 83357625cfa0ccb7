//go:build !linux

package agent

import (
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A filesystem answers UNIMPLEMENTED where there is no sandbox to be in.
type filesystem struct {
	agentpb.UnimplementedFilesystemServiceServer
}

func newFilesystem(*gate, func(*agentpb.User) (account, error), clockwork.Clock, ...string) *filesystem {
	return &filesystem{}
}
