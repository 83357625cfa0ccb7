package agent

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// A proxy stands before an agent as the platform's does: it checks the token,
// takes its own headers away and passes HTTP/2 on. Its hook can do worse.
type proxy struct {
	t     *testing.T
	front *httptest.Server
	back  http.Handler

	mu    sync.Mutex // guards what follows
	token string     // the one accepted
	seen  []string   // methods, in order
	conns map[net.Conn]bool
	// hook answers itself, or returns the writer to pass the call on with.
	hook func(method string, w http.ResponseWriter) http.ResponseWriter
}

const proxyHost = "vm-1.lambda-microvm.us-east-1.on.aws"

// newProxy stands before the agent at addr. With secure it speaks TLS.
func newProxy(t *testing.T, addr string, secure bool) *proxy {
	t.Helper()
	var h2c http.Protocols
	h2c.SetUnencryptedHTTP2(true)
	p := &proxy{t: t, token: "jwe-1", conns: map[net.Conn]bool{}}
	target := &url.URL{Scheme: "http", Host: addr}
	transport := &http.Transport{Protocols: &h2c}
	p.back = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			for name := range r.Out.Header {
				if strings.HasPrefix(strings.ToLower(name), "x-aws-proxy-") {
					r.Out.Header.Del(name)
				}
			}
		},
		Transport:    transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { page(w, http.StatusBadGateway) },
	}
	p.front = httptest.NewUnstartedServer(p)
	p.front.Config.ConnState = func(c net.Conn, s http.ConnState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if s == http.StateClosed {
			delete(p.conns, c)
		} else {
			p.conns[c] = true
		}
	}
	if secure {
		p.front.EnableHTTP2 = true
		p.front.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
		p.front.StartTLS()
	} else {
		p.front.Config.Protocols = &h2c
		p.front.Start()
	}
	t.Cleanup(func() {
		p.cut()
		p.front.Close()
		transport.CloseIdleConnections()
	})
	return p
}

// certificate is one for proxyHost that vouches for itself.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{proxyHost}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// page answers as the platform does: HTML, and nothing of gRPC.
func page(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("X-Aws-Proxy-Error", "SOMETHING")
	w.WriteHeader(code)
	io.WriteString(w, "<html>token jwe-1 refused</html>")
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	p.mu.Lock()
	token, hook := p.token, p.hook
	p.seen = append(p.seen, method)
	p.mu.Unlock()
	h := r.Header
	if r.Host != proxyHost || h.Get("X-Aws-Proxy-Port") != "8080" || h.Get("X-Aws-Proxy-Force-H2") != "true" {
		page(w, http.StatusBadRequest)
		return
	}
	if h.Get("X-Aws-Proxy-Auth") != token {
		page(w, http.StatusForbidden)
		return
	}
	if hook != nil {
		if w = hook(method, w); w == nil {
			return
		}
	}
	p.back.ServeHTTP(w, r)
}

func (p *proxy) set(hook func(string, http.ResponseWriter) http.ResponseWriter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hook = hook
}

func (p *proxy) accept(token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = token
}

// count tells how often method was called.
func (p *proxy) count(method string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, m := range p.seen {
		if m == method {
			n++
		}
	}
	return n
}

// cut closes all connections, as a suspension does.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// A cutter aborts an answer once it got that long, and may be cut: a cut takes
// along what is on its way, and a client that gets nothing new gives up.
type cutter struct {
	http.ResponseWriter
	left int
	may  func() bool // nil is always
}

func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left < 0 {
		for end := time.Now().Add(time.Minute); c.may != nil && !c.may() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(b)
}

// past returns whether n is more than it is now.
func past(n *atomic.Int64) func() bool {
	now := n.Load()
	return func() bool { return n.Load() > now }
}

func (c *cutter) Flush() { http.NewResponseController(c.ResponseWriter).Flush() }

// A clientRig is a client, a proxy and an agent.
type clientRig struct {
	*rig
	*Client
	proxy  *proxy
	minted atomic.Int32
	life   atomic.Value // of Life
}

func newClientRig(t *testing.T, secure bool, edit func(*Config)) *clientRig {
	t.Helper()
	r := &clientRig{rig: newRig(t, func(c *Config) {
		c.Platform = func(net.Conn) bool { return true } // the test is, whoever runs it
		if edit != nil {
			edit(c)
		}
	}).run(nil)}
	r.proxy = newProxy(t, strings.TrimPrefix(r.rig.conn.Target(), "passthrough:///"), secure)
	r.life.Store(Awake)
	cfg := ClientConfig{
		Host:        proxyHost,
		Plain:       !secure,
		AccessToken: base64.RawURLEncoding.EncodeToString(r.token),
		Dial: func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", r.proxy.front.Listener.Addr().String())
		},
		Tokens: func(context.Context) (Token, error) {
			n := r.minted.Add(1)
			return Token{JWE: "jwe-" + string(rune('0'+n)), Expires: time.Now().Add(time.Hour)}, nil
		},
		Life:  func(context.Context) (Life, error) { return r.life.Load().(Life), nil },
		Clock: quick{clockwork.NewRealClock()},
	}
	if secure {
		cfg.Roots = x509.NewCertPool()
		cfg.Roots.AddCert(r.proxy.front.Certificate())
	}
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Client = c
	t.Cleanup(func() { c.Close() })
	return r
}

func (r *clientRig) path(name string) string { return filepath.Join(r.home, name) }

// quick is a clock on which waiting takes a hundredth of the time it should.
type quick struct{ clockwork.Clock }

func (q quick) NewTimer(d time.Duration) clockwork.Timer { return q.Clock.NewTimer(d / 100) }
