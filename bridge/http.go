package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// Endpoint is the path that MCP is served at.
const Endpoint = "/mcp"

// HTTPConfig says how a server is reached over HTTP.
type HTTPConfig struct {
	// Host is the value of the Host header, "host:port", or another way to write
	// the same. Requests with another name or address are refused, since a web page
	// can make any name point here. Origin is then "http://" and Host.
	Host string

	Hosts   []string // further values of Host, exactly
	Origins []string // further values of Origin, exactly

	// Inside wraps what serves a request that has the right Host, Origin, path and
	// method, and says no size that is too large: there it is decided who may come
	// in, before the body is read. Nil: everyone. See [Bearer].
	Inside func(next http.Handler) http.Handler

	// Caller names who sends a request, as Inside knows them. A session is only
	// open to the caller that began it. Nil: one caller.
	Caller func(*http.Request) string

	IdleTime    time.Duration // sessions without requests end after this; zero means 30 minutes
	MaxSessions int           // zero means 10,000
	KeepAlive   time.Duration // silence before a comment goes to who waits for a tool; zero means 15 s
}

const (
	idleTime    = 30 * time.Minute
	maxSessions = 10_000
	keepAlive   = 15 * time.Second
	slowest     = time.Minute
)

const headerSession = server.HeaderKeySessionID

// A Handler serves MCP over HTTP at [Endpoint].
type Handler struct {
	srv      *Server
	cfg      HTTPConfig
	inside   http.Handler
	lib      *server.StreamableHTTPServer
	sessions *sessions
	maxBody  int
	slowest  time.Duration // a body may take

	life context.Context // of calls; they outlive a shutdown by the grace period
	end  context.CancelFunc

	mu      sync.Mutex
	closing bool
	busy    int           // requests being served
	idle    chan struct{} // closed when closing and no longer busy
	streams map[*http.Request]context.CancelFunc
}

// HTTP makes a handler. Close must be called in the end.
func (s *Server) HTTP(cfg HTTPConfig) (*Handler, error) {
	if cfg.Host == "" {
		return nil, errors.New("a handler needs to know the value of Host")
	}
	life, end := context.WithCancel(context.Background())
	h := &Handler{
		srv: s, cfg: cfg, maxBody: orDefault(s.cfg.MaxMessage, maxBody), slowest: slowest,
		life: life, end: end, idle: make(chan struct{}), streams: map[*http.Request]context.CancelFunc{},
	}
	h.sessions = newSessions(h)
	h.inside = http.HandlerFunc(h.dispatch)
	if cfg.Inside != nil {
		h.inside = cfg.Inside(h.inside)
	}
	h.lib = server.NewStreamableHTTPServer(s.core,
		server.WithSessionIdManagerResolver(h.sessions),
		server.WithDisableLocalhostProtection(true), // ours is stricter
		server.WithStreamableHTTPLogger(s.log),
	)
	return h, nil
}

// ServeListener serves HTTP on ln until ctx is done, then ends gracefully.
func (s *Server) ServeListener(ctx context.Context, ln net.Listener, cfg HTTPConfig) error {
	if a, ok := ln.Addr().(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		return fmt.Errorf("refuse to listen on %s: %w", a, ErrWildcard)
	}
	h, err := s.HTTP(cfg)
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	sweep := time.NewTicker(max(orDefault(cfg.IdleTime, idleTime)/10, time.Millisecond))
	defer sweep.Stop()
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	for {
		select {
		case now := <-sweep.C:
			h.sessions.sweep(now)
			continue
		case err = <-ended: // the listener broke
		case <-ctx.Done():
			ln.Close() // Serve returns; what has been accepted goes on
			err = nil
		}
		break
	}
	h.Close()
	last, cancel := context.WithTimeout(context.Background(), graceCancel)
	defer cancel()
	if srv.Shutdown(last) != nil {
		srv.Close()
	}
	return err
}

// Close lets the calls in flight end for the grace period, cancels the rest,
// and ends all sessions.
func (h *Handler) Close() {
	h.mu.Lock()
	first := !h.closing
	h.closing = true
	if first && h.busy == 0 {
		close(h.idle)
	}
	for _, cancel := range h.streams {
		cancel()
	}
	h.mu.Unlock()
	if !first {
		return
	}
	if !within(h.idle, orDefault(h.srv.cfg.Grace, grace)) {
		h.end()
		within(h.idle, graceCancel)
	}
	h.end()
	ctx, cancel := context.WithTimeout(context.Background(), graceCleanup)
	defer cancel()
	h.sessions.closeAll(ctx)
}

func within(done <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// ServeHTTP lets in who may come in.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.enter() {
		http.Error(w, "the server is ending", http.StatusServiceUnavailable)
		return
	}
	defer h.leave()
	if r.ContentLength != 0 {
		// Stays set until the body is read: what a refused request still owes is
		// read after us, and would be waited for without end.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.slowest))
	}
	switch {
	case !isAt(h.cfg.Host, r.Host) && !slices.Contains(h.cfg.Hosts, r.Host):
		http.Error(w, "this server is "+h.cfg.Host+": write its address just so", http.StatusMisdirectedRequest)
	case !h.originAllowed(r.Header.Values("Origin")):
		http.Error(w, "web pages of this origin may not come here", http.StatusForbidden)
	case r.URL.Path != Endpoint:
		http.NotFound(w, r)
	case r.Method != http.MethodPost && r.Method != http.MethodGet && r.Method != http.MethodDelete:
		w.Header().Set("Allow", "POST, GET, DELETE")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case r.ContentLength > int64(h.maxBody):
		tooLarge(w, h.maxBody)
	default:
		h.inside.ServeHTTP(w, r)
	}
}

func (h *Handler) dispatch(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		h.post(w, r)
		return
	}
	h.getOrDelete(w, r)
}

func (h *Handler) originAllowed(origins []string) bool {
	for _, o := range origins {
		at, plain := strings.CutPrefix(o, "http://")
		if (!plain || !isAt(h.cfg.Host, at)) && !slices.Contains(h.cfg.Origins, o) {
			return false
		}
	}
	return true
}

func (h *Handler) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return false
	}
	h.busy++
	return true
}

func (h *Handler) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy--; h.busy == 0 && h.closing {
		close(h.idle)
	}
}
