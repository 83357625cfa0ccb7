package agent

import (
	"context"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// kernels is the code service, and what the hooks and Health need of it.
type kernels interface {
	agentpb.CodeServiceServer

	// ready reports whether the default kernel answers.
	ready() bool

	// rotate gives the sandbox kernels that share no state with another one
	// made from the same snapshot: fresh seeds, and env as the environment.
	// It returns when the default kernel answers again.
	rotate(ctx context.Context, env map[string]string) error

	// quiesce brings the kernels to rest before a suspension; it interrupts
	// nothing.
	quiesce(ctx context.Context) error

	// probe looks after a resume which kernels still answer and starts the
	// others anew in the background. It reports whether any was lost.
	probe(ctx context.Context) (lost bool)

	// warm runs a typical cell, so that the pages it touches are known.
	warm(ctx context.Context) error

	// serve starts the default kernel, and when ctx is done ends every kernel
	// and waits for them.
	serve(ctx context.Context) error
}

// noKernels stands in where the agent was started without kernels.
type noKernels struct {
	agentpb.UnimplementedCodeServiceServer
}

var _ kernels = noKernels{}

// ready is true: there is nothing to wait for, and the rest is of use.
func (noKernels) ready() bool { return true }

func (noKernels) rotate(context.Context, map[string]string) error { return nil }
func (noKernels) quiesce(context.Context) error                   { return nil }
func (noKernels) probe(context.Context) bool                      { return false }
func (noKernels) warm(context.Context) error                      { return nil }

func (noKernels) serve(ctx context.Context) error {
	<-ctx.Done()
	return nil
}
