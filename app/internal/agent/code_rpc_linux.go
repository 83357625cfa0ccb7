package agent

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/agent/kernel"
)

var (
	errBadContext   = status.Error(codes.InvalidArgument, "context_id is malformed")
	errNoExecution  = status.Error(codes.NotFound, "there is no such execution")
	errLongCode     = status.Error(codes.InvalidArgument, "code is longer than 1 MiB")
	errTwoContexts  = status.Error(codes.InvalidArgument, "context_id and language exclude each other")
	errManyContexts = status.Error(codes.ResourceExhausted, "there are 8 contexts already")
	errDefault      = status.Error(codes.FailedPrecondition, "the default context can't be destroyed")
)

var contextID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// named finds a context by an id from outside.
func (s *codeService) named(id string) (*codeContext, error) {
	if !contextID.MatchString(id) {
		return nil, errBadContext
	}
	return s.context(id)
}

// CreateContext answers when the kernel of the new context is ready.
func (s *codeService) CreateContext(ctx context.Context, req *agentpb.CreateContextRequest) (*agentpb.CreateContextResponse, error) {
	if l := req.GetLanguage(); l != "" && l != languagePython {
		return nil, errNoLanguage
	}
	dir := ""
	if req.Cwd != nil {
		dir = filepath.Clean(req.GetCwd())
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() || !filepath.IsAbs(req.GetCwd()) {
			return nil, errBadCwd
		}
	}
	if !validEnvs(req.GetEnvs()) {
		return nil, errBadEnv
	}
	c := newCodeContext(s, "ctx-"+randomID(6), dir, maps.Clone(req.GetEnvs()))
	s.mu.Lock()
	if len(s.contexts) >= maxContexts {
		s.mu.Unlock()
		return nil, errManyContexts
	}
	s.made++
	c.number = s.made
	s.contexts[c.id] = c
	s.mu.Unlock()
	select {
	case s.starts <- c:
	case <-s.gone:
		return nil, closingTerminate
	}
	if err := c.awaitUp(ctx, nil); err != nil {
		s.remove(c)
		return nil, err
	}
	return &agentpb.CreateContextResponse{ContextId: c.id}, nil
}

// remove takes a context off the list and ends it. It reports whether it was
// still there.
func (s *codeService) remove(c *codeContext) bool {
	s.mu.Lock()
	_, ok := s.contexts[c.id]
	delete(s.contexts, c.id)
	s.mu.Unlock()
	c.destroy()
	return ok
}

// ListContexts lists them in the order they were made.
func (s *codeService) ListContexts(context.Context, *agentpb.ListContextsRequest) (*agentpb.ListContextsResponse, error) {
	resp := &agentpb.ListContextsResponse{}
	for _, c := range s.all() {
		resp.Contexts = append(resp.Contexts, &agentpb.ContextInfo{ContextId: c.id, Language: languagePython, Cwd: c.place()})
	}
	return resp, nil
}

// DestroyContext ends a context, its kernel and its cells.
func (s *codeService) DestroyContext(ctx context.Context, req *agentpb.DestroyContextRequest) (*agentpb.DestroyContextResponse, error) {
	c, err := s.named(req.GetContextId())
	if err != nil {
		return nil, err
	}
	if c.id == defaultContext {
		return nil, errDefault
	}
	if !s.remove(c) {
		return nil, errRaced
	}
	return &agentpb.DestroyContextResponse{}, nil
}

// RestartContext answers when the new kernel is ready.
func (s *codeService) RestartContext(ctx context.Context, req *agentpb.RestartContextRequest) (*agentpb.RestartContextResponse, error) {
	c, err := s.named(req.GetContextId())
	if err != nil {
		return nil, err
	}
	if err := c.restart(ctx); err != nil {
		return nil, err
	}
	return &agentpb.RestartContextResponse{}, nil
}

// Execute runs a cell and streams what it does. A client that cancels it
// interrupts the cell. One whose connection is lost has a while to come back,
// and a stream that ends with the gate is not of the client's doing.
func (s *codeService) Execute(req *agentpb.ExecuteRequest, stream grpc.ServerStreamingServer[agentpb.ExecuteEvent]) error {
	closed := s.cfg.gate.suspending()
	fate := watchCall(stream.Context())
	defer fate.leave()
	c, err := s.target(req)
	if err != nil {
		return err
	}
	cell := kernel.Cell{Code: req.GetCode(), Env: req.GetEnvs()}
	timeout := time.Duration(min(req.GetTimeoutMs(), maxCellTimeout)) * time.Millisecond
	x, err := s.submit(stream.Context(), c, cell, timeout)
	if err != nil {
		return err
	}
	sub, err := x.ring.subscribe(1)
	if err != nil {
		return err
	}
	defer sub.leave()
	lost, err := s.follow(stream, x, sub, closed)
	if !lost {
		return err
	}
	select {
	case <-closed: // the client lost its connection to a suspension
		return err
	default:
	}
	if fate.wasCut() && x.isBegun() {
		x.abandon()
	} else { // without its beginning nobody can reattach
		c.interrupt(x)
	}
	return err
}

func (s *codeService) target(req *agentpb.ExecuteRequest) (*codeContext, error) {
	switch {
	case len(req.GetCode()) > maxCode:
		return nil, errLongCode
	case req.ContextId != nil && req.Language != nil:
		return nil, errTwoContexts
	case !validEnvs(req.GetEnvs()):
		return nil, errBadEnv
	case req.ContextId != nil:
		return s.named(req.GetContextId())
	}
	if l := req.GetLanguage(); l != "" && l != languagePython {
		return nil, errNoLanguage
	}
	return s.context(defaultContext)
}

func validEnvs(envs map[string]string) bool {
	for name, value := range envs {
		if !validEnv(name, value) || strings.ContainsRune(name, '=') {
			return false
		}
	}
	return true
}

// Reattach streams an execution again from a number on. To drop it leaves the
// cell alone.
func (s *codeService) Reattach(req *agentpb.ReattachRequest, stream grpc.ServerStreamingServer[agentpb.ExecuteEvent]) error {
	closed := s.cfg.gate.suspending()
	if !contextID.MatchString(req.GetContextId()) {
		return errBadContext
	}
	s.mu.Lock()
	x := s.runs[req.GetExecutionId()]
	s.mu.Unlock()
	if x == nil || x.context.id != req.GetContextId() {
		return errNoExecution
	}
	sub, err := x.ring.subscribe(req.GetFromSeq())
	if err != nil {
		return err
	}
	defer sub.leave()
	x.adopt()
	_, err = s.follow(stream, x, sub, closed)
	return err
}

// follow sends the events of x until it ends. It reports whether the client
// went away.
func (s *codeService) follow(stream grpc.ServerStreamingServer[agentpb.ExecuteEvent], x *execution, sub *subscriber[*agentpb.ExecuteEvent], closed <-chan struct{}) (lost bool, err error) {
	var last uint64
	f := follower[*agentpb.ExecuteEvent]{
		sub:     sub,
		closed:  closed,
		clock:   s.cfg.clock.base,
		silence: cellSilence,
		send: func(item *agentpb.ExecuteEvent, seq uint64) error {
			last = seq
			return stream.Send(&agentpb.ExecuteEvent{Event: item.Event, Seq: seq})
		},
		beat: func() error { return stream.Send(keepAliveEvent()) },
	}
	what, err := f.follow(stream.Context())
	switch what {
	case followCut:
		e := errorEvent(&kernel.Error{Name: nameTruncated, Value: "this client reads too slowly; reattach for what is kept"})
		e.Seq = last + 1
		if err := stream.Send(e); err != nil {
			return true, err
		}
		e = endEvent(0)
		e.Seq = last + 2
		return false, stream.Send(e)
	case followClosed:
		return false, s.cfg.gate.cause()
	case followLost:
		if gone := stream.Context().Err(); gone != nil {
			err = status.FromContextError(gone).Err()
		}
		return true, err
	}
	return false, err
}
