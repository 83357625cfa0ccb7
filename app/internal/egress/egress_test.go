package egress

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// client returns an HTTP client that goes through the proxy: scheme is http or
// socks5. It sends names to the proxy, never addresses it looked up.
func (n *testNet) client(t *testing.T, scheme string) *http.Client {
	t.Helper()
	tr := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: scheme, Host: n.addr}),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: time.Minute}
}

func get(t *testing.T, c *http.Client, url string) (status int, body string, h http.Header) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

func TestPlainHTTP(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		t.Run(scheme, func(t *testing.T) {
			n := newNet(t, Policy{})
			for range 3 {
				status, body, _ := get(t, n.client(t, scheme), "http://public.example/x")
				if status != 200 || body != "hello from public.example" {
					t.Errorf("got %d %q", status, body)
				}
			}
			for _, d := range n.dialled() {
				if want := public + ":80"; d.String() != want {
					t.Errorf("dialled %s, want %s", d, want)
				}
			}
		})
	}
}

// TestKeepAlive has one client connection ask twice: the connection to the
// server is kept as well.
func TestKeepAlive(t *testing.T) {
	n := newNet(t, Policy{})
	c := n.client(t, "http")
	for range 3 {
		get(t, c, "http://public.example/")
	}
	if got := n.dialled(); len(got) != 1 {
		t.Errorf("dialled %v, want once", got)
	}
}

func TestTLS(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		t.Run(scheme, func(t *testing.T) {
			web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, "secret of "+r.Host)
			}))
			t.Cleanup(web.Close)
			n := newNet(t, Policy{})
			n.proxy.connect = func(ctx context.Context, _ target, _ netip.AddrPort) (net.Conn, error) {
				var d net.Dialer
				return d.DialContext(ctx, "tcp", web.Listener.Addr().String())
			}
			status, body, _ := get(t, n.client(t, scheme), "https://public.example/")
			if status != 200 || body != "secret of public.example" {
				t.Errorf("got %d %q", status, body)
			}
		})
	}
}

// TestRedirect follows a redirect of a public server into the network around
// this computer: it is a request like any other.
func TestRedirect(t *testing.T) {
	tests := []struct {
		to   string
		want Rule
	}{
		{"http://127.0.0.1/", RuleLoopback},
		{"http://loop.example/", RuleLoopback},
		{"http://169.254.169.254/latest/meta-data/", RuleMetadata},
		{"http://[::ffff:10.0.0.1]/", RulePrivate},
		{"http://localhost/", RuleLocalName},
		{"http://2130706433/", RuleBadName},
	}
	for _, tt := range tests {
		t.Run(tt.to, func(t *testing.T) {
			n := newNet(t, Policy{})
			status, body, h := get(t, n.client(t, "http"), "http://public.example/?to="+url.QueryEscape(tt.to))
			if status != http.StatusForbidden || h.Get("X-Arenero-Refused") != string(tt.want) {
				t.Errorf("got %d, refused by %q, want 403 and %q", status, h.Get("X-Arenero-Refused"), tt.want)
			}
			if !strings.Contains(body, "is refused") || strings.Count(body, "\n") != 2 {
				t.Errorf("body %q does not say what happened and what to do", body)
			}
			if len(n.dialled()) != 1 {
				t.Errorf("dialled %v, want the public server alone", n.dialled())
			}
		})
	}
}

// TestRefusalHidesAddress: what a local name stands for is not the sandbox's
// business.
func TestRefusalHidesAddress(t *testing.T) {
	n := newNet(t, Policy{})
	_, body, _ := get(t, n.client(t, "http"), "http://private.example/")
	if strings.Contains(body, "10.1.2.3") {
		t.Errorf("body %q tells the address", body)
	}
}

// rebinder answers the first question with a public address and all others
// with loopback.
type rebinder struct{ asked atomic.Int32 }

func (r *rebinder) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	if r.asked.Add(1) == 1 {
		return []netip.Addr{netip.MustParseAddr(public)}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestRebinding(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		t.Run(scheme, func(t *testing.T) {
			r := &rebinder{}
			n := newNet(t, Policy{}, func(c *Config) { c.Resolver = r })
			if status, _, _ := get(t, n.client(t, scheme), "http://rebind.example/"); status != 200 {
				t.Errorf("first request got %d, want 200", status)
			}
			if got := r.asked.Load(); got != 1 {
				t.Errorf("asked %d times for one connection, want 1", got)
			}
			if got := n.dialled(); len(got) != 1 || got[0].Addr().String() != public {
				t.Errorf("dialled %v, want the address that was checked", got)
			}
			_, err := n.proxy.dial(t.Context(), "rebind.example:80")
			if r, ok := errors.AsType[*Refusal](err); !ok || r.Rule != RuleLoopback {
				t.Errorf("second dial = %v, want it refused as loopback", err)
			}
		})
	}
}

// TestRecheck dials for real with an address that slipped through: the kernel
// never gets it.
func TestRecheck(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.dialTCP(t.Context(), target{name: "x.example"}, netip.MustParseAddrPort(ln.Addr().String()))
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Rule != RuleLoopback {
		t.Errorf("dialTCP = %v, want it refused as loopback", err)
	}
}

// TestRealDial opens loopback by policy, and nothing is put in the way.
func TestRealDial(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "here") }))
	t.Cleanup(web.Close)
	p, err := New(Config{Policy: Policy{Allow: []string{"127.0.0.1/32"}}, Resolver: names})
	if err != nil {
		t.Fatal(err)
	}
	n := &testNet{proxy: p, addr: listen(t, p)}
	for _, scheme := range []string{"http", "socks5"} {
		port := web.Listener.Addr().(*net.TCPAddr).Port
		status, body, _ := get(t, n.client(t, scheme), fmt.Sprintf("http://loop.example:%d/", port))
		if status != 200 || body != "here" {
			t.Errorf("%s: got %d %q", scheme, status, body)
		}
	}
}

func TestErrors(t *testing.T) {
	dead := func(err error) func(*Proxy) {
		return func(p *Proxy) {
			p.connect = func(context.Context, target, netip.AddrPort) (net.Conn, error) { return nil, err }
		}
	}
	tests := []struct {
		name   string
		url    string
		edit   func(*Proxy)
		status int
		body   string
	}{
		{"unknown name", "http://nowhere.example/", func(*Proxy) {}, 502, "has no address"},
		{"server down", "http://public.example/", dead(errors.New("no")), 502, "can't be reached"},
		{"server silent", "http://public.example/", dead(context.DeadlineExceeded), 504, "does not answer"},
		{"refused", "http://10.0.0.1/", func(*Proxy) {}, 403, "private"},
	}
	for _, tt := range tests {
		for _, method := range []string{"GET", "CONNECT"} {
			t.Run(tt.name+"/"+method, func(t *testing.T) {
				n := newNet(t, Policy{})
				tt.edit(n.proxy)
				c := n.dialProxy(t)
				u, err := url.Parse(tt.url)
				if err != nil {
					t.Fatal(err)
				}
				if method == "GET" {
					send(t, c, "GET "+tt.url+" HTTP/1.1\r\nHost: "+u.Host+"\r\n\r\n")
				} else {
					send(t, c, "CONNECT "+u.Host+":80 HTTP/1.1\r\nHost: "+u.Host+":80\r\n\r\n")
				}
				resp, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != tt.status || !strings.Contains(string(body), tt.body) {
					t.Errorf("got %d %q, want %d with %q", resp.StatusCode, body, tt.status, tt.body)
				}
			})
		}
	}
}

func TestBadRequests(t *testing.T) {
	tests := []struct {
		name, request string
		want          int // status; 0: closed without a word
	}{
		{"not for a proxy", "GET / HTTP/1.1\r\nHost: public.example\r\n\r\n", 400},
		{"https without CONNECT", "GET https://public.example/ HTTP/1.1\r\nHost: public.example\r\n\r\n", 400},
		{"ftp", "GET ftp://public.example/ HTTP/1.1\r\nHost: public.example\r\n\r\n", 400},
		{"no such version", "GET http://public.example/ HTTP/3.0\r\nHost: x\r\n\r\n", 505},
		{"two lengths", "GET http://public.example/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
		{"header too large", "GET http://public.example/ HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 431},
		{"host header does not decide", "GET http://10.0.0.1/ HTTP/1.1\r\nHost: public.example\r\n\r\n", 403},
		{"TLS", "\x16\x03\x01\x00\x05hello", 0},
		{"nonsense", "\x00\x01\x02", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNet(t, Policy{})
			c := n.dialProxy(t)
			io.WriteString(c, tt.request) // an early answer may cut it short
			if tt.want == 0 {
				if b, _ := io.ReadAll(c); len(b) != 0 {
					t.Errorf("got %q, want nothing", b)
				}
				return
			}
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("got %d, want %d", resp.StatusCode, tt.want)
			}
			if len(n.dialled()) > 0 {
				t.Errorf("dialled %v", n.dialled())
			}
		})
	}
}

// TestAsIs: what the client sends is what the server gets, but for headers
// that are for the proxy.
func TestAsIs(t *testing.T) {
	n := newNet(t, Policy{})
	got := make(chan *http.Request, 1)
	n.serveWith(func(c net.Conn) {
		defer c.Close()
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		got <- r
	})
	c := n.dialProxy(t)
	send(t, c, "GET http://public.example:8080/a%2Fb?x=1;y=2&z HTTP/1.1\r\nHost: other.example\r\n"+
		"X-Forwarded-For: me\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: keep-alive\r\nAccept-Encoding: br\r\n\r\n")
	r := <-got
	if r.RequestURI != "/a%2Fb?x=1;y=2&z" || r.Host != "public.example:8080" {
		t.Errorf("server was asked for %q of %q", r.RequestURI, r.Host)
	}
	want := http.Header{"X-Forwarded-For": {"me"}, "Accept-Encoding": {"br"}}
	if fmt.Sprint(r.Header) != fmt.Sprint(want) {
		t.Errorf("server got headers %v, want %v", r.Header, want)
	}
}

// TestTunnel sends much both ways at once, and ends each way by itself.
func TestTunnel(t *testing.T) {
	var out, in atomic.Int64
	n := newNet(t, Policy{}, func(c *Config) {
		c.Count = func(o, i int64) { out.Add(o); in.Add(i) }
	})
	n.serveWith(func(c net.Conn) {
		defer c.Close()
		io.Copy(c, c) // an echo that ends when the client has said all
	})
	c := n.dialProxy(t)
	// The first bytes come along with the request.
	send(t, c, "CONNECT public.example:7 HTTP/1.1\r\nHost: public.example:7\r\n\r\nahead")
	const status = "HTTP/1.1 200 Connection established\r\n\r\n"
	if got := recv(t, c, len(status)+5); got != status+"ahead" {
		t.Fatalf("got %q", got)
	}
	data := make([]byte, 4<<20)
	rand.Read(data)
	go func() {
		c.Write(data)
		c.CloseWrite()
	}()
	back, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if string(back) != string(data) {
		t.Errorf("%d bytes came back, want the %d that were sent", len(back), len(data))
	}
	want := int64(len(data) + 5)
	if out.Load() != want || in.Load() != want {
		t.Errorf("counted %d out and %d in, want %d each", out.Load(), in.Load(), want)
	}
}

func TestUpgrade(t *testing.T) {
	n := newNet(t, Policy{})
	n.serveWith(func(c net.Conn) {
		defer c.Close()
		r := bufio.NewReader(c)
		if _, err := http.ReadRequest(r); err != nil {
			t.Error(err)
		}
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		io.Copy(c, r)
	})
	c := n.dialProxy(t)
	send(t, c, "GET http://public.example/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	r := bufio.NewReader(c)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatalf("got %v, %v", resp, err)
	}
	send(t, c, "ping")
	if got := recv(t, r, 4); got != "ping" {
		t.Errorf("got %q", got)
	}
}

// TestIdle closes what nobody uses. It waits for the end, however late.
func TestIdle(t *testing.T) {
	tests := []struct {
		name, open string
		skip       int // bytes to read first
	}{
		{"tunnel", "CONNECT public.example:7 HTTP/1.1\r\nHost: x\r\n\r\n", len("HTTP/1.1 200 Connection established\r\n\r\n")},
		{"silent client", "", 0},
		{"half a request", "GET http://pub", 0},
		{"half a greeting", "\x05\x01", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			short := 20 * time.Millisecond
			n := newNet(t, Policy{}, func(c *Config) {
				c.Idle, c.FirstByte = short, short
				if tt.skip > 0 { // the request itself has all the time it needs
					c.FirstByte = time.Minute
				}
			})
			n.serveWith(func(c net.Conn) { io.Copy(io.Discard, c); c.Close() })
			c := n.dialProxy(t)
			send(t, c, tt.open)
			recv(t, c, tt.skip)
			if _, err := io.ReadAll(c); errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("connection was not closed: %v", err)
			}
		})
	}
}

// TestSilentServer has a server take a request and say nothing.
func TestSilentServer(t *testing.T) {
	n := newNet(t, Policy{}, func(c *Config) { c.FirstByte = 50 * time.Millisecond })
	n.serveWith(func(c net.Conn) { io.Copy(io.Discard, c); c.Close() })
	status, body, _ := get(t, n.client(t, "http"), "http://public.example/")
	if status != http.StatusGatewayTimeout {
		t.Errorf("got %d %q, want 504", status, body)
	}
}

func TestMaxConns(t *testing.T) {
	n := newNet(t, Policy{}, func(c *Config) { c.MaxConns = 1 })
	n.serveWith(func(c net.Conn) { io.Copy(c, c); c.Close() })
	first := n.dialProxy(t)
	send(t, first, "CONNECT public.example:7 HTTP/1.1\r\nHost: x\r\n\r\n")
	recv(t, first, len("HTTP/1.1 200 Connection established\r\n\r\n"))
	second := n.dialProxy(t)
	if b, _ := io.ReadAll(second); len(b) != 0 {
		t.Errorf("second connection got %q, want it closed", b)
	}
	first.Close()
	// The slot comes back once the first is wound up.
	for deadline := time.Now().Add(time.Minute); ; {
		third := n.dialProxy(t)
		io.WriteString(third, "CONNECT public.example:7 HTTP/1.1\r\nHost: x\r\n\r\n")
		if b := make([]byte, 12); readAll(third, b) && string(b) == "HTTP/1.1 200" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the slot never came back")
		}
	}
}

func readAll(r io.Reader, b []byte) bool {
	_, err := io.ReadFull(r, b)
	return err == nil
}

// TestSecondAddress: a dead address of a name does not hide a live one.
func TestSecondAddress(t *testing.T) {
	n := newNet(t, Policy{})
	live := n.proxy.connect
	n.proxy.connect = func(ctx context.Context, t target, addr netip.AddrPort) (net.Conn, error) {
		if addr.Addr().Is6() { // hangs like a network that drops packets
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return live(ctx, t, addr)
	}
	if status, _, _ := get(t, n.client(t, "http"), "http://both.example/"); status != 200 {
		t.Errorf("got %d, want 200", status)
	}
}
