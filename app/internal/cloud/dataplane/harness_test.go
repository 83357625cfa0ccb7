package dataplane

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testHost = "9a1b0000-0000-4000-8000-000000000001.lambda-microvm.us-east-1.on.aws"

// A testVM has its ports on this computer's loopback.
type testVM struct {
	id      string
	caps    Caps
	touched atomic.Int64
	woken   atomic.Int64
	dialled atomic.Int64

	mu     sync.Mutex // guards all below
	apps   map[int]string
	cut    chan struct{}
	asleep chan struct{} // closed on waking; nil while awake
	refuse *Refusal      // what Awake answers
	stuck  chan struct{} // Dial waits for it
	conns  map[int][]net.Conn
}

func newTestVM(id string) *testVM {
	return &testVM{id: id, apps: map[int]string{}, cut: make(chan struct{}), conns: map[int][]net.Conn{}}
}

func (v *testVM) ID() string { return v.id }
func (v *testVM) Caps() Caps { return v.caps }
func (v *testVM) Touch()     { v.touched.Add(1) }
func (v *testVM) Cut() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.cut
}

func (v *testVM) Awake(ctx context.Context) error {
	v.woken.Add(1)
	v.mu.Lock()
	asleep, refuse := v.asleep, v.refuse
	v.mu.Unlock()
	if refuse != nil {
		return refuse
	}
	if asleep == nil {
		return nil
	}
	select {
	case <-asleep:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (v *testVM) Dial(ctx context.Context, port int) (net.Conn, error) {
	v.mu.Lock()
	addr, stuck := v.apps[port], v.stuck
	v.mu.Unlock()
	v.dialled.Add(1)
	if stuck != nil {
		select {
		case <-stuck:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if addr == "" {
		addr = "127.0.0.1:1" // nothing is there
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
}

// suspend cuts every stream. The VM then holds requests until resume.
func (v *testVM) suspend() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.asleep = make(chan struct{})
	close(v.cut)
}

func (v *testVM) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cut = make(chan struct{})
	close(v.asleep)
	v.asleep = nil
}

// serve runs an app on a port: HTTP/1.1 and HTTP/2 without TLS.
func (v *testVM) serve(t testing.TB, port int, h http.Handler) {
	srv := NewServer(h, slog.New(slog.DiscardHandler))
	v.serveServer(t, port, srv)
}

func (v *testVM) serveServer(t testing.TB, port int, srv *http.Server) {
	ln := listen(t)
	v.listenOn(port, ln)
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
}

func (v *testVM) listenOn(port int, ln net.Listener) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.apps[port] = ln.Addr().String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

// A rig is a proxy in front of one VM.
type rig struct {
	vm    *testVM
	keys  *Keys
	clock *clockwork.FakeClock
	proxy *Proxy
	addr  string
	log   *syncBuffer
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (r *rig) VM(host string) (VM, bool) {
	if host != testHost {
		return nil, false
	}
	return r.vm, true
}

func newRig(t testing.TB) *rig {
	t.Helper()
	keys, err := NewKeys(bytes.Repeat([]byte{7}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{vm: newTestVM("microvm-1"), keys: keys, clock: clockwork.NewFakeClock(), log: &syncBuffer{}}
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r.proxy = New(Config{Directory: r, Keys: keys, Clock: r.clock, Log: log})
	ln := listen(t)
	r.addr = ln.Addr().String()
	srv := NewServer(r.proxy, log)
	go srv.Serve(r.proxy.Listen(t.Context(), ln, r.proxy))
	t.Cleanup(func() {
		srv.Close()
		r.proxy.Close()
		eventually(t, "lanes are forgotten", func() bool { return r.lanes() == 0 })
	})
	return r
}

func (r *rig) lanes() int {
	r.proxy.mu.Lock()
	defer r.proxy.mu.Unlock()
	return len(r.proxy.lanes)
}

func (r *rig) token(t testing.TB, ports ...int) string {
	t.Helper()
	var ranges []PortRange
	for _, p := range ports {
		ranges = append(ranges, PortRange{p, p})
	}
	token, err := r.keys.Mint(r.vm.id, ranges, len(ports) == 0, r.clock.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// client returns an HTTP client whose every host is the proxy.
func (r *rig) client(t testing.TB, h2 bool) *http.Client {
	var p http.Protocols
	p.SetHTTP1(!h2)
	p.SetUnencryptedHTTP2(h2)
	tr := &http.Transport{
		Protocols:          &p,
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", r.addr)
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// request returns a request to a port of the VM, with a token for it.
func (r *rig) request(t testing.TB, method, path string, port int, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+testHost+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(headerAuth, r.token(t, port))
	req.Header.Set(headerPort, strconv.Itoa(port))
	return req
}

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not true: %s", what)
		}
	}
}

func readAll(t testing.TB, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(b)
}
