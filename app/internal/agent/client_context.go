package agent

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A KernelContext is one kernel with its variables.
type KernelContext struct {
	ID, Language, Dir string
}

// contextWithin bounds the calls that start a kernel.
const contextWithin = 90 * time.Second

// CreateContext starts a kernel of its own. CodeUnsure means that it may be
// there.
func (c *Client) CreateContext(ctx context.Context, language, dir string, env map[string]string) (string, error) {
	req := &agentpb.CreateContextRequest{Language: language, Cwd: optional(dir), Envs: env}
	res, _, err := call(ctx, c, false, atMost(contextWithin, c.contexts.CreateContext), req)
	return res.GetContextId(), err
}

// Contexts lists the kernels.
func (c *Client) Contexts(ctx context.Context) ([]KernelContext, error) {
	res, _, err := call(ctx, c, true, c.contexts.ListContexts, &agentpb.ListContextsRequest{})
	var out []KernelContext
	for _, k := range res.GetContexts() {
		out = append(out, KernelContext{k.GetContextId(), k.GetLanguage(), k.GetCwd()})
	}
	return out, err
}

// RestartContext gives a context a new kernel; its variables are gone.
func (c *Client) RestartContext(ctx context.Context, id string) error {
	req := &agentpb.RestartContextRequest{ContextId: id}
	_, _, err := call(ctx, c, true, atMost(contextWithin, c.contexts.RestartContext), req)
	return err
}

// DestroyContext ends a context that is not a default one.
func (c *Client) DestroyContext(ctx context.Context, id string) error {
	_, unsure, err := call(ctx, c, true, c.contexts.DestroyContext, &agentpb.DestroyContextRequest{ContextId: id})
	if unsure && CodeOf(err) == CodeNotFound {
		return nil // the first try did it
	}
	return err
}

// atMost gives method that much time, each time it is tried.
func atMost[Req, Res any](d time.Duration, method func(context.Context, Req, ...grpc.CallOption) (Res, error)) func(context.Context, Req, ...grpc.CallOption) (Res, error) {
	return func(ctx context.Context, req Req, opts ...grpc.CallOption) (Res, error) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return method(ctx, req, opts...)
	}
}
