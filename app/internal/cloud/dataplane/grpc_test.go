package dataplane

import (
	"context"
	"io"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestGRPC(t *testing.T) {
	for _, force := range []bool{true, false} {
		t.Run("force-h2="+strconv.FormatBool(force), func(t *testing.T) {
			r := newRig(t)
			r.vm.serveGRPC(t, 8080)
			cc, ctx := dialGRPC(t, r.addr), r.grpcContext(t, 8080)
			if !force {
				ctx = metadata.AppendToOutgoingContext(t.Context(), "x-aws-proxy-auth", r.token(t, 8080))
			}
			in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
			if err := cc.Invoke(ctx, "/test.Echo/Echo", in, out); err != nil || string(out.Value) != "hello" {
				t.Errorf("unary: %q, %v", out.Value, err)
			}
			const size = 5_000_000
			if n, trailer, err := download(ctx, cc, size); err != nil || n != size || len(trailer["x-said"]) != 1 {
				t.Errorf("down: %d bytes, trailer %v, %v", n, trailer, err)
			}
			if n, err := upload(ctx, cc, size); err != nil || n != strconv.Itoa(size) {
				t.Errorf("up: %s bytes, %v", n, err)
			}
			if err := cc.Invoke(ctx, "/test.Echo/Nothing", in, out); status.Code(err) != codes.Unimplemented {
				t.Errorf("unknown method: %v", err)
			}
			chat, err := cc.NewStream(ctx, &echoService.Streams[2], "/test.Echo/Chat")
			if err != nil {
				t.Fatal(err)
			}
			for i := range 10 {
				if err := chat.SendMsg(&wrapperspb.BytesValue{Value: []byte{byte(i)}}); err != nil {
					t.Fatal(err)
				}
				if err := chat.RecvMsg(out); err != nil || out.Value[0] != byte(i) {
					t.Fatalf("chat: %v, %v", out.Value, err)
				}
			}
			if err := chat.CloseSend(); err != nil {
				t.Fatal(err)
			}
			if err := chat.RecvMsg(out); err != io.EOF {
				t.Errorf("chat ended with %v", err)
			}
		})
	}
}

func TestGRPCRefused(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	cc := dialGRPC(t, r.addr)
	in, out := new(wrapperspb.BytesValue), new(wrapperspb.BytesValue)
	tests := []struct {
		name string
		ctx  context.Context
		want codes.Code
	}{
		{"no token", t.Context(), codes.PermissionDenied},
		{"another port", metadata.AppendToOutgoingContext(r.grpcContext(t, 8080), "x-aws-proxy-port", "1"), codes.Internal}, // given twice: 400
		{"nothing listens", r.grpcContext(t, 8081), codes.Unavailable},
		{"good", r.grpcContext(t, 8080), codes.OK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := cc.Invoke(tt.ctx, "/test.Echo/Echo", in, out); status.Code(err) != tt.want {
				t.Errorf("err = %v, want %v", err, tt.want)
			}
		})
	}
}

// A call held by a VM asleep is answered once, after it wakes; one that is
// called off is let go.
func TestGRPCHeld(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	cc := dialGRPC(t, r.addr)
	in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
	r.vm.suspend()
	ctx, cancel := context.WithCancel(r.grpcContext(t, 8080))
	failed := make(chan error)
	go func() { failed <- cc.Invoke(ctx, "/test.Echo/Echo", in, new(wrapperspb.BytesValue)) }()
	eventually(t, "the call is held", func() bool { return r.vm.woken.Load() == 1 })
	cancel()
	if err := <-failed; status.Code(err) != codes.Canceled {
		t.Errorf("err = %v", err)
	}
	eventually(t, "the call is let go", func() bool { return r.lanes() == 0 })
	ctx = r.grpcContext(t, 8080)
	go func() { failed <- cc.Invoke(ctx, "/test.Echo/Echo", in, out) }()
	eventually(t, "the call is held", func() bool { return r.vm.woken.Load() == 2 })
	r.vm.resume()
	if err := <-failed; err != nil || string(out.Value) != "hello" {
		t.Errorf("%q, %v", out.Value, err)
	}
}

// A stream is cut when the VM falls asleep; the next call on the same
// connection works after it has woken.
func TestGRPCCut(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	cc, ctx := dialGRPC(t, r.addr), r.grpcContext(t, 8080)
	in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
	for range 3 {
		chat, err := cc.NewStream(ctx, &echoService.Streams[2], "/test.Echo/Chat")
		if err != nil {
			t.Fatal(err)
		}
		if err := chat.SendMsg(in); err != nil {
			t.Fatal(err)
		}
		if err := chat.RecvMsg(out); err != nil {
			t.Fatal(err)
		}
		r.vm.suspend()
		if err := chat.RecvMsg(out); err == nil || err == io.EOF {
			t.Errorf("chat ended with %v", err)
		}
		r.vm.resume()
		if err := cc.Invoke(ctx, "/test.Echo/Echo", in, out, grpc.WaitForReady(true)); err != nil {
			t.Errorf("after resume: %v", err)
		}
	}
}

// Calls of many goroutines don't disturb each other.
func TestGRPCMany(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	cc, ctx := dialGRPC(t, r.addr), r.grpcContext(t, 8080)
	failed := make(chan error, 50)
	for i := range cap(failed) {
		go func() {
			switch i % 3 {
			case 0:
				n, _, err := download(ctx, cc, 3_000_000)
				if err == nil && n != 3_000_000 {
					err = io.ErrUnexpectedEOF
				}
				failed <- err
			case 1:
				n, err := upload(ctx, cc, 3_000_000)
				if err == nil && n != "3000000" {
					err = io.ErrUnexpectedEOF
				}
				failed <- err
			default:
				ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
				defer cancel()
				in, out := &wrapperspb.BytesValue{Value: make([]byte, i*1000)}, new(wrapperspb.BytesValue)
				err := cc.Invoke(ctx, "/test.Echo/Echo", in, out)
				if err == nil && len(out.Value) != i*1000 {
					err = io.ErrUnexpectedEOF
				}
				failed <- err
			}
		}()
	}
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}
