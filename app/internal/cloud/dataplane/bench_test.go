package dataplane

import (
	"context"
	"io"
	"net"
	"strconv"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// echoService is a gRPC service made by hand, so that no generated code is
// needed: Echo answers what it gets; Down streams as many bytes as it is
// told, in chunks; Up counts what is streamed to it; Chat answers message by
// message.
var echoService = grpc.ServiceDesc{
	ServiceName: "test.Echo",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Echo",
		Handler: func(_ any, ctx context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(wrapperspb.BytesValue)
			if err := dec(in); err != nil {
				return nil, err
			}
			return in, nil
		},
	}},
	Streams: []grpc.StreamDesc{
		{StreamName: "Down", ServerStreams: true, Handler: echoDown},
		{StreamName: "Up", ClientStreams: true, Handler: echoUp},
		{StreamName: "Chat", ClientStreams: true, ServerStreams: true, Handler: echoChat},
	},
}

const chunkSize = 256 << 10

func echoDown(_ any, s grpc.ServerStream) error {
	in := new(wrapperspb.BytesValue)
	if err := s.RecvMsg(in); err != nil {
		return err
	}
	n, err := strconv.Atoi(string(in.Value))
	if err != nil {
		return err
	}
	out := &wrapperspb.BytesValue{Value: make([]byte, chunkSize)}
	for ; n > 0; n -= chunkSize {
		out.Value = out.Value[:min(n, chunkSize)]
		if err := s.SendMsg(out); err != nil {
			return err
		}
	}
	s.SetTrailer(metadata.Pairs("x-said", "down"))
	return nil
}

func echoUp(_ any, s grpc.ServerStream) error {
	n := 0
	for {
		in := new(wrapperspb.BytesValue)
		err := s.RecvMsg(in)
		if err == io.EOF {
			return s.SendMsg(&wrapperspb.BytesValue{Value: strconv.AppendInt(nil, int64(n), 10)})
		}
		if err != nil {
			return err
		}
		n += len(in.Value)
	}
}

func echoChat(_ any, s grpc.ServerStream) error {
	for {
		in := new(wrapperspb.BytesValue)
		err := s.RecvMsg(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.SendMsg(in); err != nil {
			return err
		}
	}
}

func (v *testVM) serveGRPC(t testing.TB, port int) {
	ln := listen(t)
	srv := grpc.NewServer(grpc.InitialWindowSize(4<<20), grpc.InitialConnWindowSize(16<<20),
		grpc.ReadBufferSize(256<<10), grpc.WriteBufferSize(256<<10), grpc.MaxConcurrentStreams(256))
	srv.RegisterService(&echoService, nil)
	go srv.Serve(ln)
	t.Cleanup(srv.Stop)
	v.listenOn(port, ln)
}

// dialGRPC returns a client connection to addr that names the test VM.
func dialGRPC(t testing.TB, addr string) *grpc.ClientConn {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+testHost,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(4<<20), grpc.WithInitialConnWindowSize(16<<20),
		grpc.WithReadBufferSize(256<<10), grpc.WithWriteBufferSize(256<<10),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return cc
}

// grpcContext returns a context with the proxy's metadata.
func (r *rig) grpcContext(t testing.TB, port int) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(),
		"x-aws-proxy-auth", r.token(t, port), "x-aws-proxy-port", strconv.Itoa(port), "x-aws-proxy-force-h2", "true")
}

func download(ctx context.Context, cc *grpc.ClientConn, size int) (int, metadata.MD, error) {
	s, err := cc.NewStream(ctx, &echoService.Streams[0], "/test.Echo/Down")
	if err != nil {
		return 0, nil, err
	}
	if err := s.SendMsg(&wrapperspb.BytesValue{Value: strconv.AppendInt(nil, int64(size), 10)}); err != nil {
		return 0, nil, err
	}
	if err := s.CloseSend(); err != nil {
		return 0, nil, err
	}
	n := 0
	for {
		out := new(wrapperspb.BytesValue)
		if err := s.RecvMsg(out); err == io.EOF {
			return n, s.Trailer(), nil
		} else if err != nil {
			return n, nil, err
		}
		n += len(out.Value)
	}
}

func upload(ctx context.Context, cc *grpc.ClientConn, size int) (string, error) {
	s, err := cc.NewStream(ctx, &echoService.Streams[1], "/test.Echo/Up")
	if err != nil {
		return "", err
	}
	in := &wrapperspb.BytesValue{Value: make([]byte, chunkSize)}
	for n := size; n > 0; n -= chunkSize {
		in.Value = in.Value[:min(n, chunkSize)]
		if err := s.SendMsg(in); err != nil {
			return "", err
		}
	}
	if err := s.CloseSend(); err != nil {
		return "", err
	}
	out := new(wrapperspb.BytesValue)
	err = s.RecvMsg(out)
	return string(out.Value), err
}

// relay passes bytes on to addr without a look at them. No proxy can do better.
func relay(t testing.TB, addr string) string {
	ln := listen(t)
	go func() {
		for {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", addr)
			if err != nil {
				from.Close()
				continue
			}
			pass := func(dst, src net.Conn) {
				defer dst.Close()
				defer src.Close()
				// Structs hide what io.Copy would use to splice in the kernel.
				_, _ = io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, bufferSize))
			}
			go pass(from, to)
			go pass(to, from)
		}
	}()
	return ln.Addr().String()
}

const copySize = 64 << 20

// BenchmarkGRPC measures calls through the proxy beside the same without it.
func BenchmarkGRPC(b *testing.B) {
	r := newRig(b)
	r.vm.serveGRPC(b, 8080)
	ways := []struct{ name, addr string }{
		{"direct", r.vm.apps[8080]},
		{"relay", relay(b, r.vm.apps[8080])},
		{"proxy", r.addr},
	}
	for _, way := range ways {
		cc, ctx := dialGRPC(b, way.addr), r.grpcContext(b, 8080)
		b.Run("unary/"+way.name, func(b *testing.B) {
			b.ReportAllocs()
			in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
			for b.Loop() {
				if err := cc.Invoke(ctx, "/test.Echo/Echo", in, out); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("down64MiB/"+way.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(copySize)
			for b.Loop() {
				if n, _, err := download(ctx, cc, copySize); err != nil || n != copySize {
					b.Fatalf("got %d bytes, %v", n, err)
				}
			}
		})
		b.Run("up64MiB/"+way.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(copySize)
			for b.Loop() {
				if n, err := upload(ctx, cc, copySize); err != nil || n != strconv.Itoa(copySize) {
					b.Fatalf("got %s bytes, %v", n, err)
				}
			}
		})
	}
}

// BenchmarkSocket is what the copies are compared to: bytes over a unix socket.
func BenchmarkSocket(b *testing.B) {
	ln, err := net.Listen("unix", b.TempDir()+"/s")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 128<<10) // what cat takes
				for n := copySize; n > 0; n -= len(buf) {
					if _, err := c.Write(buf); err != nil {
						return
					}
				}
			}()
		}
	}()
	b.SetBytes(copySize)
	buf := make([]byte, 128<<10)
	for b.Loop() {
		c, err := net.Dial("unix", ln.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := c.Read(buf); err != nil {
				break
			}
		}
		c.Close()
	}
}
