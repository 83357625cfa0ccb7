package dataplane

import (
	"errors"
	"log/slog"
	"net"
	"net/http"

	"github.com/jonboulle/clockwork"
)

// A Config is what a [Proxy] is made of.
type Config struct {
	Directory Directory
	Keys      *Keys
	Clock     clockwork.Clock // for token expiry and request rates
	Log       *slog.Logger
}

// A Proxy answers requests whose Host is the endpoint of a VM.
type Proxy struct {
	cfg Config
}

// New returns a proxy. Close ends what it keeps open.
func New(cfg Config) *Proxy {
	return &Proxy{cfg: cfg}
}

// ServeHTTP serves one request to a VM.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	http.Error(w, "not yet", http.StatusBadGateway)
}

// Close cuts every stream and closes every connection into a VM. It returns
// when nothing of the proxy is left running.
func (p *Proxy) Close() error { return nil }

// NewServer returns a server for h that speaks HTTP/1.1 and HTTP/2 without TLS.
func NewServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{Handler: h}
}

// Listen wraps ln so that gRPC connections to VMs take a short way. Give the
// result to Serve of a server made by [NewServer].
func (p *Proxy) Listen(ln net.Listener) net.Listener { return ln }

var errNotYet = errors.New("not yet")
