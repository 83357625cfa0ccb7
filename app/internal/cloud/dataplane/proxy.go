package dataplane

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/google/uuid"
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
	cfg     Config
	buffers sync.Pool // of *[bufferSize]byte

	done chan struct{}  // closed by Close
	wg   sync.WaitGroup // sessions

	mu    sync.Mutex // guards lanes; taken before any lane's own
	lanes map[string]*lane
}

// New returns a proxy. Close ends what it keeps open.
func New(cfg Config) *Proxy {
	p := &Proxy{cfg: cfg, done: make(chan struct{}), lanes: map[string]*lane{}}
	p.buffers.New = func() any { return new([bufferSize]byte) }
	return p
}

// Close cuts every stream and closes every connection into a VM. It is called
// once; later requests are refused.
func (p *Proxy) Close() error {
	p.mu.Lock()
	close(p.done)
	p.mu.Unlock()
	p.wg.Wait()
	return nil
}

var (
	errUnknownHost = &Refusal{http.StatusForbidden, CodeUnauthorized, "There is no MicroVM at this endpoint"}
	errUnreachable = &Refusal{http.StatusBadGateway, CodeVMUnreachable, "The MicroVM can't be reached"}
	errApp         = &Refusal{http.StatusBadGateway, CodeAppConnect, "The app in the MicroVM can't be reached"}
	errInternal    = &Refusal{http.StatusInternalServerError, CodeInternal, "The proxy has failed"}
)

// ServeHTTP serves one request to a VM.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := uuid.NewString()
	err := p.serve(w, r, id)
	if err == errAborted {
		panic(http.ErrAbortHandler)
	}
	if err == nil || r.Context().Err() != nil {
		return // answered, or nobody is left to answer
	}
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		refusal = errInternal
		p.cfg.Log.ErrorContext(r.Context(), "proxy failed", "request", id, "err", err)
	} else {
		p.cfg.Log.DebugContext(r.Context(), "request refused", "request", id, "code", refusal.Code)
	}
	h := w.Header()
	clear(h)
	h.Set(headerError, refusal.Code)
	h.Set(headerID, id)
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(refusal.Status)
	_, _ = w.Write([]byte(refusal.Message + "\n")) // the client may be gone
}

// serve answers r, or returns why it did not: a [*Refusal], as a rule.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, id string) error {
	vm, ok := p.cfg.Directory.VM(hostName(r.Host))
	if !ok {
		return errUnknownHost
	}
	c, err := parseCall(r)
	if err != nil {
		return err
	}
	grant, err := p.cfg.Keys.Open(c.token)
	if err != nil {
		return err
	}
	shell := grant.Shell && (c.port == 0 || c.port == shellPort)
	switch {
	case shell:
		c.port = 0
	case c.port == 0:
		c.port = defaultPort
	}
	now := p.cfg.Clock.Now()
	if err := grant.check(vm.ID(), c.port, now); err != nil {
		return err
	}
	l := p.lane(vm)
	defer p.release(l)
	if err := l.enter(vm.Caps(), now); err != nil {
		return err
	}
	defer l.leave()
	if shell {
		return p.serveShell(w, r, c, l, vm)
	}
	return p.forward(w, r, &exchange{id: id, call: c, lane: l, vm: vm})
}

// hostName returns the name in a Host header, lower case and without its port.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(host)
}
