package agent

import (
	"context"
	"encoding/base64"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

func withMetadata(ctx context.Context, kv ...string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, kv...)
}

// encodings notes how answers are compressed.
type encodings struct {
	stats.Handler
	seen atomic.Pointer[string]
}

func (*encodings) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (*encodings) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (*encodings) HandleConn(context.Context, stats.ConnStats)                       {}

func (e *encodings) HandleRPC(_ context.Context, s stats.RPCStats) {
	if h, ok := s.(*stats.InHeader); ok {
		e.seen.Store(&h.Compression)
	}
}

func TestToken(t *testing.T) {
	r := newRig(t, nil)
	list := func(ctx context.Context) error {
		_, err := r.process().List(ctx, &agentpb.ListRequest{})
		return err
	}
	wantCode(t, list(r.ctx()), codes.Unauthenticated) // before the run hook
	r.run(nil)
	raw := base64.RawURLEncoding.EncodeToString(r.token)
	for _, tt := range []struct {
		name string
		kv   []string
		want codes.Code
	}{
		{"good", []string{tokenKey, raw}, codes.OK},
		{"padded", []string{tokenKey, raw + "="}, codes.OK},
		{"none", nil, codes.Unauthenticated},
		{"two", []string{tokenKey, raw, tokenKey, raw}, codes.Unauthenticated},
		{"empty", []string{tokenKey, ""}, codes.Unauthenticated},
		{"other", []string{tokenKey, strings.Repeat("A", 43)}, codes.Unauthenticated},
		{"short", []string{tokenKey, "AAAA"}, codes.Unauthenticated},
		{"not base64", []string{tokenKey, raw[:42] + "*"}, codes.Unauthenticated},
		{"standard alphabet", []string{tokenKey, "++++" + raw[4:]}, codes.Unauthenticated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx := withMetadata(t.Context(), tt.kv...)
			wantCode(t, list(ctx), tt.want)
			if _, err := agentpb.NewHealthServiceClient(r.conn).Health(ctx, &agentpb.HealthRequest{}); err != nil {
				t.Errorf("health: %v", err)
			}
		})
	}
}

// A refused client that is still sending gets the status, and no reset, and
// its connection goes on.
func TestRefusedUpload(t *testing.T) {
	r := newRig(t, nil).run(nil)
	files := agentpb.NewFilesystemServiceClient(r.conn)
	up, err := files.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := r.home + "/f"
	for range 64 {
		if up.Send(&agentpb.WriteRequest{Path: &path, Chunk: make([]byte, 64<<10)}) != nil {
			break
		}
	}
	_, err = up.CloseAndRecv()
	wantCode(t, err, codes.Unauthenticated)
	if _, err := r.process().List(r.ctx(), &agentpb.ListRequest{}); err != nil {
		t.Errorf("next call: %v", err)
	}
}
