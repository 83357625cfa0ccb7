package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// LookupNetIP knows only rooted names, since we should ask for no others.
func (d dns) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	name, rooted := strings.CutSuffix(host, ".")
	if !rooted {
		return nil, errors.New("asked for a name that is not rooted")
	}
	var addrs []netip.Addr
	for _, a := range d[name] {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	}
	return addrs, nil
}

// A testNet is a public internet of our own: whatever address is dialled, a
// web server answers that says which address that was.
type testNet struct {
	proxy *Proxy
	addr  string // the proxy, on loopback

	mu    sync.Mutex
	dials []netip.AddrPort
	serve func(net.Conn) // in place of the web server, if set
}

func newNet(t *testing.T, policy Policy, edits ...func(*Config)) *testNet {
	t.Helper()
	cfg := Config{Policy: policy, Resolver: names}
	for _, edit := range edits {
		edit(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n := &testNet{proxy: p}
	p.local = func() ([]netip.Prefix, error) { return []netip.Prefix{netip.MustParsePrefix("198.0.0.0/24")}, nil }
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		io.WriteString(w, "hello from "+r.Host)
	}))
	t.Cleanup(web.Close)
	var served sync.WaitGroup
	p.connect = func(ctx context.Context, _ target, addr netip.AddrPort) (net.Conn, error) {
		n.mu.Lock()
		n.dials = append(n.dials, addr)
		serve := n.serve
		n.mu.Unlock()
		if serve != nil {
			near, far := tcpPair(t)
			served.Go(func() { serve(far) })
			return near, nil
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", web.Listener.Addr().String())
	}
	n.addr = listen(t, p)
	t.Cleanup(served.Wait)
	return n
}

func (n *testNet) dialled() []netip.AddrPort {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dials)
}

func (n *testNet) serveWith(f func(net.Conn)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.serve = f
}

// listen serves p on loopback until the test ends, and waits for every
// connection to end.
func listen(t *testing.T, p *Proxy) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		conns []net.Conn
	)
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			all.Go(func() { p.ServeConn(conn) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return ln.Addr().String()
}

// tcpPair returns both ends of a TCP connection.
func tcpPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err = ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// dialProxy connects to the proxy, with a deadline that only a hung test meets.
func (n *testNet) dialProxy(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

func send(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		t.Fatal(err)
	}
}

func recv(t *testing.T, c io.Reader, n int) string {
	t.Helper()
	b := make([]byte, n)
	if m, err := io.ReadFull(c, b); err != nil {
		t.Fatalf("read %q, then: %v", b[:m], err)
	}
	return string(b)
}
