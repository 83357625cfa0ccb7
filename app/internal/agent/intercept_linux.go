package agent

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	maxStreams = 256
	maxRequest = 4 << 20
	// hardRequest is where the transport stops reading a message, with a status
	// of its own. Up to there we read it to answer as the protocol says.
	hardRequest = 16 << 20
	// window is how much may be on its way unread: large, since what is behind
	// the connection can be an ocean away.
	window = 4 << 20

	pingEvery = 30 * time.Second
	pingWait  = 10 * time.Second
	pingLeast = 5 * time.Second // more from a client is refused
)

// compressKey is the metadata that asks for compressed answers.
const compressKey = "rayito-compress"

var errTooLarge = status.Error(codes.InvalidArgument, "the request is over 4 MiB")

// options are the settings of the gRPC server.
func (s *Server) options() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.ForceServerCodecV2(fileCodec{}), // files go through without copies
		grpc.MaxRecvMsgSize(hardRequest),
		grpc.InitialWindowSize(window),
		grpc.InitialConnWindowSize(2 * window),
		grpc.WriteBufferSize(128 << 10),
		grpc.ReadBufferSize(128 << 10),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingEvery, Timeout: pingWait}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingLeast, PermitWithoutStream: true}),
		grpc.Creds(plain{}),
		grpc.InTapHandle(s.authorize),
		grpc.UnaryInterceptor(s.unary),
		grpc.StreamInterceptor(s.stream),
	}
}

// authorize sees a call before any of its body is read. A refused one gets its
// status at once, and what follows of its body is thrown away while the
// connection goes on, so the client sees the status and no reset.
func (s *Server) authorize(ctx context.Context, info *tap.Info) (context.Context, error) {
	if info.FullMethodName == healthMethod {
		return ctx, nil
	}
	return ctx, checkToken(info.Header, s.session.Load().digest())
}

// unary takes a call through the gate.
func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, h grpc.UnaryHandler) (_ any, err error) {
	defer s.recover(info.FullMethod, &err)
	chooseCompression(ctx)
	if m, ok := req.(proto.Message); ok && proto.Size(m) > maxRequest {
		return nil, errTooLarge
	}
	if info.FullMethod == healthMethod {
		return h(ctx, req)
	}
	if err := s.gate.enter(ctx); err != nil && !(info.FullMethod == setTimeoutMethod && err == closingTimeout) {
		return nil, err
	}
	return h(ctx, req)
}

// setTimeoutMethod may revive a sandbox whose time is up.
const setTimeoutMethod = agentpb.LifecycleService_SetTimeout_FullMethodName

// stream takes a stream through the gate, and out again when it shuts.
func (s *Server) stream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, h grpc.StreamHandler) (err error) {
	defer s.recover(info.FullMethod, &err)
	chooseCompression(ss.Context())
	ended, leave, err := s.gate.join()
	if err != nil {
		return err
	}
	defer leave()
	err = h(srv, &boundedStream{ss})
	select {
	case <-ended:
		if err != nil {
			return s.gate.cause()
		}
	default:
	}
	return err
}

// A boundedStream checks the size of what it receives.
type boundedStream struct {
	grpc.ServerStream
}

func (g *boundedStream) RecvMsg(m any) error {
	if err := g.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	if m, ok := m.(proto.Message); ok && proto.Size(m) > maxRequest {
		return errTooLarge
	}
	return nil
}

// chooseCompression answers plainly, whatever the request is, unless gzip is
// asked for by name.
func chooseCompression(ctx context.Context) {
	md, _ := metadata.FromIncomingContext(ctx)
	if slices.Contains(md.Get(compressKey), gzip.Name) && grpc.SetSendCompressor(ctx, gzip.Name) == nil {
		return
	}
	grpc.SetSendCompressor(ctx, encoding.Identity)
}

// recover turns a panic into a status, and logs where it was.
func (s *Server) recover(method string, err *error) {
	if r := recover(); r != nil {
		s.log.Error("call panicked", "method", method, "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, "internal error")
	}
}
