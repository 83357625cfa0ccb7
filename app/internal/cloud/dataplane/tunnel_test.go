package dataplane

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A rawClient speaks HTTP/2 frame by frame.
type rawClient struct {
	t    testing.TB
	conn net.Conn
	fr   *http2.Framer
	enc  *hpack.Encoder
	buf  bytes.Buffer
}

func (r *rig) rawH2(t testing.TB) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	c := &rawClient{t: t, conn: conn, fr: http2.NewFramer(conn, conn)}
	c.fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.enc = hpack.NewEncoder(&c.buf)
	io.WriteString(conn, preface)
	c.fr.WriteSettings()
	return c
}

func (c *rawClient) block(fields ...string) []byte {
	c.buf.Reset()
	for i := 0; i < len(fields); i += 2 {
		c.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(c.buf.Bytes())
}

func (c *rawClient) call(token string, more ...string) []byte {
	return c.block(append([]string{
		":method", "POST", ":scheme", "http", ":path", "/test.Echo/Echo", ":authority", testHost,
		"content-type", "application/grpc", "te", "trailers", "x-aws-proxy-auth", token,
	}, more...)...)
}

// message is a gRPC message for the echo service.
func message(s string) []byte {
	b := append([]byte{0x0a, byte(len(s))}, s...)
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b))), b...)
}

// until reads frames until ok likes one, and obeys settings on the way.
func (c *rawClient) until(what string, ok func(http2.Frame) bool) {
	c.t.Helper()
	for {
		f, err := c.fr.ReadFrame()
		if err != nil {
			c.t.Fatalf("before %s: %v", what, err)
		}
		if s, is := f.(*http2.SettingsFrame); is && !s.IsAck() {
			c.fr.WriteSettingsAck()
		}
		if ok(f) {
			return
		}
	}
}

func (c *rawClient) untilEnd(id uint32) (head http.Header, data []byte) {
	c.t.Helper()
	head = http.Header{}
	c.until("the end of a stream", func(f http2.Frame) bool {
		if f.Header().StreamID != id {
			return false
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			for _, hf := range f.Fields {
				head.Add(hf.Name, hf.Value)
			}
			return f.StreamEnded()
		case *http2.DataFrame:
			data = append(data, f.Data()...)
			return f.StreamEnded()
		case *http2.RSTStreamFrame:
			head.Set("Reset", f.ErrCode.String())
			return true
		}
		return false
	})
	return head, data
}

// A client that doesn't wait for settings, sends its head in pieces, and pads.
func TestTunnelEagerClient(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	for _, asleep := range []bool{false, true} {
		c := r.rawH2(t)
		if asleep {
			r.vm.suspend()
		}
		for i, n := range []string{"one", "two", "three"} {
			id := uint32(2*i + 1)
			c.fr.WriteHeaders(http2.HeadersFrameParam{
				StreamID: id, BlockFragment: c.call(r.token(t, 8080)), EndHeaders: true, PadLength: 7,
				Priority: http2.PriorityParam{Weight: 3},
			})
			c.fr.WriteDataPadded(id, false, message(n)[:3], make([]byte, 9))
			c.fr.WriteData(id, true, message(n)[3:])
		}
		big := c.call(r.token(t, 8080), "x-big", strings.Repeat("x", 50_000))
		c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 7, BlockFragment: big[:20_000], EndStream: false})
		c.fr.WriteContinuation(7, false, big[20_000:30_000])
		c.fr.WriteContinuation(7, true, big[30_000:])
		c.fr.WriteData(7, true, message("four"))
		if asleep {
			woken := r.vm.woken.Load()
			eventually(t, "calls are held", func() bool { return r.vm.woken.Load() >= woken })
			c.fr.WritePing(false, [8]byte{1})
			c.until("a ping's answer", func(f http2.Frame) bool { return f.Header().Type == http2.FramePing })
			r.vm.resume()
		}
		got := map[uint32]string{}
		ended := 0
		c.until("all answers", func(f http2.Frame) bool {
			switch f := f.(type) {
			case *http2.DataFrame:
				got[f.StreamID] += string(f.Data())
			case *http2.MetaHeadersFrame:
				if f.StreamEnded() {
					ended++
				}
			}
			return ended == 4
		})
		for i, n := range []string{"one", "two", "three", "four"} {
			if got[uint32(2*i+1)] != string(message(n)) {
				t.Errorf("asleep %v: answer to %s = %q", asleep, n, got[uint32(2*i+1)])
			}
		}
		c.conn.Close()
	}
}

// Calls to two ports over one client connection each reach theirs.
func TestTunnelTwoPorts(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	r.vm.serveGRPC(t, 8081)
	cc := dialGRPC(t, r.addr)
	a, b := r.grpcContext(t, 8080), r.grpcContext(t, 8081)
	in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
	chat, err := cc.NewStream(a, &echoService.Streams[2], "/test.Echo/Chat")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		for _, ctx := range []context.Context{a, b} {
			if err := cc.Invoke(ctx, "/test.Echo/Echo", in, out); err != nil {
				t.Error(err)
			}
		}
		// A stream opened before goes on.
		if err := chat.SendMsg(in); err != nil {
			t.Error(err)
		}
		if err := chat.RecvMsg(out); err != nil {
			t.Error(err)
		}
	}
}

func TestTunnelAppWithoutHTTP2(t *testing.T) {
	r := newRig(t)
	r.vm.serveServer(t, 8080, &http.Server{Handler: http.NotFoundHandler()})
	r.vm.serveGRPC(t, 8081)
	cc := dialGRPC(t, r.addr)
	in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
	if err := cc.Invoke(r.grpcContext(t, 8080), "/test.Echo/Echo", in, out); status.Code(err) != codes.Unavailable {
		t.Errorf("err = %v", err)
	}
	if err := cc.Invoke(r.grpcContext(t, 8081), "/test.Echo/Echo", in, out); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// An app that goes away takes the streams with it; calls after that work as
// soon as it is back.
func TestTunnelAppRestarts(t *testing.T) {
	r := newRig(t)
	cc := dialGRPC(t, r.addr)
	in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
	for range 3 {
		ln := listen(t)
		srv := grpc.NewServer()
		srv.RegisterService(&echoService, nil)
		go srv.Serve(ln)
		r.vm.listenOn(8080, ln)
		ctx := r.grpcContext(t, 8080)
		if err := cc.Invoke(ctx, "/test.Echo/Echo", in, out, grpc.WaitForReady(true)); err != nil {
			t.Fatal(err)
		}
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
		srv.Stop()
		if err := chat.RecvMsg(out); status.Code(err) != codes.Unavailable {
			t.Errorf("stream ended with %v", err)
		}
	}
}

func TestTunnelCaps(t *testing.T) {
	r := newRig(t)
	r.vm.caps.Connections = 2
	r.vm.serveGRPC(t, 8080)
	cc, ctx := dialGRPC(t, r.addr), r.grpcContext(t, 8080)
	in, out := &wrapperspb.BytesValue{Value: []byte("hello")}, new(wrapperspb.BytesValue)
	open, cancel := context.WithCancel(ctx)
	for range 2 {
		chat, err := cc.NewStream(open, &echoService.Streams[2], "/test.Echo/Chat")
		if err != nil {
			t.Fatal(err)
		}
		if err := chat.SendMsg(in); err != nil {
			t.Fatal(err)
		}
		if err := chat.RecvMsg(out); err != nil {
			t.Fatal(err)
		}
	}
	if err := cc.Invoke(ctx, "/test.Echo/Echo", in, out); status.Code(err) != codes.Unavailable { // as gRPC maps 429
		t.Errorf("third: %v", err)
	}
	c := r.rawH2(t)
	c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.call(r.token(t, 8080)), EndHeaders: true})
	if head, _ := c.untilEnd(1); head.Get(":status") != "429" || head.Get(headerError) != CodeTooMany {
		t.Errorf("fourth: %v", head)
	}
	cancel()
	eventually(t, "a place is free", func() bool {
		return cc.Invoke(ctx, "/test.Echo/Echo", in, out) == nil
	})
}

// Pings keep a connection, not a VM.
func TestTunnelActivity(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	c := r.rawH2(t)
	c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.call(r.token(t, 8080)), EndHeaders: true})
	c.fr.WriteData(1, true, message("hi"))
	c.untilEnd(1)
	touched := r.vm.touched.Load()
	if touched < 4 {
		t.Errorf("a call touched the VM %d times", touched)
	}
	for i := range 10 {
		c.fr.WritePing(false, [8]byte{byte(i)})
		c.until("a ping's answer", func(f http2.Frame) bool { return f.Header().Type == http2.FramePing })
	}
	if got := r.vm.touched.Load(); got != touched {
		t.Errorf("pings touched the VM %d times", got-touched)
	}
}

// What an app sees of a call's head.
func TestTunnelHeaders(t *testing.T) {
	r := newRig(t)
	seen := make(chan *http.Request, 1)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		seen <- q
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", "0")
	}))
	c := r.rawH2(t)
	c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, EndStream: true, BlockFragment: c.call(r.token(t, 8080),
		"x-aws-proxy-port", "8080", "x-aws-proxy-force-h2", "true", "x-aws-proxy-future", "1", "x-amzn-requestid", "mine", "x-access-token", "abc")})
	head, _ := c.untilEnd(1)
	if head.Get("Grpc-Status") != "0" {
		t.Errorf("answer = %v", head)
	}
	q := <-seen
	for k := range q.Header {
		switch k {
		case "Content-Type", "Te", "X-Access-Token", headerID:
		default:
			t.Errorf("app saw header %s", k)
		}
	}
	if id := q.Header[headerID]; len(id) != 1 || id[0] == "mine" || q.Host != testHost || q.Header.Get("Te") != "trailers" {
		t.Errorf("app saw %s %v", q.Host, q.Header)
	}
}

// A deaf client's call reaches the app, and the answer nobody.
func TestTunnelDeaf(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	ln := listen(t)
	h := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("X-Drop") != "" {
			r.proxy.ServeHTTP(Deaf(w), q)
			panic(http.ErrAbortHandler)
		}
		r.proxy.ServeHTTP(w, q)
	})
	srv := NewServer(h, r.proxy.cfg.Log)
	go srv.Serve(r.proxy.Listen(t.Context(), ln, h))
	t.Cleanup(func() { srv.Close() })
	cc, ctx := dialGRPC(t, ln.Addr().String()), r.grpcContext(t, 8080)
	drop := metadata.AppendToOutgoingContext(ctx, "x-drop", "1")
	for range 3 {
		if n, _, err := download(drop, cc, 20_000_000); err == nil || n != 0 {
			t.Errorf("a deaf client got %d bytes, %v", n, err)
		}
		if n, _, err := download(ctx, cc, 20_000_000); err != nil || n != 20_000_000 {
			t.Errorf("another got %d bytes, %v", n, err)
		}
	}
}

// Nothing that a client sends may do more than end its own connection.
func TestTunnelHostile(t *testing.T) {
	r := newRig(t)
	r.vm.serveGRPC(t, 8080)
	good := func(c *rawClient) {
		c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.call(r.token(t, 8080)), EndHeaders: true})
		c.fr.WriteData(1, true, message("hi"))
		c.untilEnd(1)
	}
	heads := func(fields ...string) func(c *rawClient) {
		return func(c *rawClient) {
			c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: c.block(fields...), EndHeaders: true, EndStream: true})
			if head, _ := c.untilEnd(3); head.Get("Reset") != "PROTOCOL_ERROR" {
				c.t.Errorf("answer = %v", head)
			}
			c.conn.Close()
		}
	}
	tests := []struct {
		name string
		send func(c *rawClient)
	}{
		{"even stream", func(c *rawClient) {
			c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 4, BlockFragment: c.call("t"), EndHeaders: true})
		}},
		{"data of no stream", func(c *rawClient) { c.fr.AllowIllegalWrites = true; c.fr.WriteData(0, false, []byte("x")) }},
		{"data of a stream to come", func(c *rawClient) { c.fr.WriteData(9, false, []byte("x")) }},
		{"reset of a stream to come", func(c *rawClient) { c.fr.WriteRSTStream(9, 0) }},
		{"a promise", func(c *rawClient) {
			c.fr.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, EndHeaders: true})
		}},
		{"continuation of nothing", func(c *rawClient) { c.fr.WriteContinuation(1, true, nil) }},
		{"another frame within a head", func(c *rawClient) {
			c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: c.call("t")})
			c.fr.WritePing(false, [8]byte{})
		}},
		{"rubbish in a head", func(c *rawClient) {
			c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true})
		}},
		{"endless head", func(c *rawClient) {
			c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: []byte{}})
			for range 200 {
				if c.fr.WriteContinuation(3, false, make([]byte, 16384)) != nil {
					return
				}
			}
		}},
		{"a head that unpacks to much", func(c *rawClient) {
			c.fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: bomb(c), EndHeaders: true, EndStream: true})
		}},
		{"short ping", func(c *rawClient) { c.fr.WriteRawFrame(http2.FramePing, 0, 0, []byte("abc")) }},
		{"odd settings", func(c *rawClient) { c.fr.WriteRawFrame(http2.FrameSettings, 0, 0, []byte("abcd")) }},
		{"huge settings", func(c *rawClient) { c.fr.WriteRawFrame(http2.FrameSettings, 0, 0, make([]byte, 60_000)) }},
		{"padding beyond the frame", func(c *rawClient) {
			c.fr.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersPadded|http2.FlagHeadersEndHeaders, 3, []byte{200, 1, 2})
		}},
		{"half a frame", func(c *rawClient) {
			c.conn.Write([]byte{0, 1, 0, 0, 0, 0, 0, 0, 1, 'x'})
			c.conn.(*net.TCPConn).CloseWrite()
		}},
		{"no path", heads(":method", "POST", ":scheme", "http", ":authority", testHost)},
		{"two paths", heads(":method", "POST", ":path", "/a", ":path", "/b", ":scheme", "http", ":authority", testHost)},
		{"unknown pseudo-header", heads(":method", "POST", ":path", "/a", ":scheme", "http", ":authority", testHost, ":x", "y")},
		{"pseudo-header after others", heads(":method", "POST", ":scheme", "http", ":authority", testHost, "a", "b", ":path", "/")},
		{"capital letters", heads(":method", "POST", ":path", "/a", ":scheme", "http", ":authority", testHost, "X-Big", "y")},
		{"line feed", heads(":method", "POST", ":path", "/a", ":scheme", "http", ":authority", testHost, "x", "a\r\nb: c")},
		{"relative path", heads(":method", "POST", ":path", "a b", ":scheme", "http", ":authority", testHost)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := r.rawH2(t)
			good(c)
			tt.send(c)
			io.Copy(io.Discard, c.conn) // until it is closed
		})
	}
	good(r.rawH2(t))
}

// FuzzTunnel sends frames to a tunnel that leads to a real app.
func FuzzTunnel(f *testing.F) {
	r := newRig(f)
	r.vm.serveGRPC(f, 8080)
	c := &rawClient{t: f}
	c.enc = hpack.NewEncoder(&c.buf)
	head := c.call(r.token(f, 8080))
	var start bytes.Buffer
	fr := http2.NewFramer(&start, nil)
	fr.WriteSettings()
	fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head, EndHeaders: true})
	f.Add([]byte{})
	var more bytes.Buffer
	fr = http2.NewFramer(&more, nil)
	fr.WriteData(1, false, message("hello"))
	fr.WriteWindowUpdate(1, 1000)
	fr.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: c.call("rubbish"), EndHeaders: true})
	fr.WriteRSTStream(1, http2.ErrCodeCancel)
	fr.WritePing(false, [8]byte{})
	f.Add(more.Bytes())
	f.Fuzz(func(t *testing.T, frames []byte) {
		conn, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		go io.Copy(io.Discard, conn)
		for _, b := range [][]byte{[]byte(preface), start.Bytes(), frames} {
			if _, err := conn.Write(b); err != nil {
				return // refused by now
			}
		}
	})
}

func TestAppendString(t *testing.T) {
	for _, n := range []int{0, 1, 126, 127, 128, 254, 255, 300, 16384} {
		want := hpack.HeaderField{Name: "x-" + strings.Repeat("n", n), Value: strings.Repeat("v", n)}
		got, err := hpack.NewDecoder(4096, nil).DecodeFull(appendField(appendStatus(nil, 403), want.Name, want.Value))
		if err != nil || len(got) != 2 || got[0].Value != strconv.Itoa(403) || got[0].Name != ":status" || got[1] != want {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
