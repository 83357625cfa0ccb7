package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
	"github.com/arenero/arenero/bridge/tools"
)

// A service is this process's MCP server, and its lease.
type service struct {
	st     *settings
	log    *slog.Logger
	engine *control.Client
	lease  sandbox.Lease

	life context.Context // of the lease
	end  context.CancelFunc

	mu   sync.Mutex    // guards what follows
	held chan struct{} // closed when the lease has been given back; nil: it was never asked for
}

func newService(st *settings, path string, log *slog.Logger) *service {
	s := &service{st: st, log: log, engine: control.NewClient(path)}
	s.engine.Launch = control.Launcher()
	s.lease = sandbox.Lease{ID: uuid.NewString(), Connection: st.connection, Parent: parent(), Spec: st.spec}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// lend asks for the lease, once, and does not wait for it: the engine has calls
// wait for their lease. host is as the host calls itself.
func (s *service) lend(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil || s.life.Err() != nil {
		return
	}
	lease := s.lease
	lease.Host = host
	held := make(chan struct{})
	s.held = held
	go func() {
		err := s.engine.Hold(s.life, lease, nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		close(held)
		if s.life.Err() == nil { // refused, or no engine to be had: the next call tries again
			s.log.Warn("no lease", "code", sandbox.CodeOf(err))
			s.held = nil
		}
	}()
}

// attach asks for the lease where an engine runs already, so that its owner sees
// this connection. It starts none.
func (s *service) attach(ctx context.Context, host string) {
	if _, err := s.engine.Status(ctx); err == nil {
		s.lend(host)
	}
}

// giveBack ends the lease, and waits for that as long as ctx lasts.
func (s *service) giveBack(ctx context.Context) {
	s.end()
	s.mu.Lock()
	held := s.held
	s.mu.Unlock()
	if held == nil {
		return
	}
	select {
	case <-held:
	case <-ctx.Done():
		s.log.Warn("lease not given back in time")
	}
}

// server makes the MCP server. cleanup is for its end.
func (s *service) server(cfg bridge.Config) (srv *bridge.Server, cleanup func(), err error) {
	tx := s.st.texts
	cfg.Name, cfg.Title, cfg.Version = "arenero", tx.Get("server.title"), versionText()
	cfg.Language, cfg.Log = tx.Language, s.log
	cfg.Instructions = tx.Get("server.instructions")
	for _, t := range s.st.toolsets {
		if key := "server.instructions." + string(t); tx.Has(key) {
			cfg.Instructions += " " + tx.Get(key)
		}
	}
	srv = bridge.New(cfg)
	cleanup, err = tools.Add(srv, tools.Config{
		Engine: s.engine, Lease: s.lease.ID, Spec: s.st.spec,
		Texts: tx, Toolsets: s.st.toolsets, Log: s.log,
		Lend: func(ctx context.Context) { s.lend(s.hostOf(bridge.ConnOf(ctx))) },
	})
	return srv, cleanup, err
}

const (
	firstWithin = time.Minute // for a host to say anything at all
	nameWithin  = time.Second // for it to say who it is
)

// serveStdio serves the host that has started this process.
func (s *service) serveStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var cleanup func()
	srv, cleanup, err := s.server(bridge.Config{
		Setup: func(ctx context.Context, c *bridge.Conn) error {
			go func() { s.attach(ctx, s.name(ctx, c)) }()
			return nil
		},
		Cleanup: func(ctx context.Context, _ *bridge.Conn) {
			cleanup()
			s.giveBack(ctx)
		},
	})
	if err != nil {
		return err
	}
	go watchParent(ctx, func() {
		s.log.Info("the host has ended")
		stop()
	})
	heard := &firstByte{Reader: in}
	silent := time.AfterFunc(firstWithin, func() {
		if !heard.yes.Load() {
			s.log.Info("the host says nothing")
			stop()
		}
	})
	defer silent.Stop()
	return srv.ServeStdio(ctx, heard, out)
}

// hostOf names the host of a connection. All clients over HTTP share a lease.
func (s *service) hostOf(c *bridge.Conn) string {
	if s.st.http {
		return "http"
	}
	return c.Client().Name
}

// name waits a moment for the host to say who it is.
func (s *service) name(ctx context.Context, c *bridge.Conn) string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(nameWithin)
	for {
		if who := s.hostOf(c); who != "" {
			return who
		}
		select {
		case <-tick.C:
		case <-limit:
			return ""
		case <-ctx.Done():
			return ""
		}
	}
}

// A firstByte notes whether anything was read.
type firstByte struct {
	io.Reader
	yes atomic.Bool
}

func (f *firstByte) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if n > 0 {
		f.yes.Store(true)
	}
	return n, err
}

// serveHTTP serves anyone who reaches the address, all with one sandbox.
func (s *service) serveHTTP(ctx context.Context) error {
	srv, cleanup, err := s.server(bridge.Config{})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(s.st.host, strconv.Itoa(s.st.port)))
	if err != nil {
		return &usageError{err.Error()}
	}
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	address := net.JoinHostPort(s.st.host, port)
	if !bridge.IsLoopback(s.st.host) {
		s.log.Warn(s.st.texts.Get("start.public", "address", address))
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, s.st.texts.Get("start.serving", "url", "http://"+address+bridge.Endpoint))
	s.attach(ctx, "http")
	err = srv.ServeListener(ctx, ln, bridge.HTTPConfig{Host: address})
	cleanup()
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.giveBack(last)
	return err
}

func itoa(n int) string { return strconv.Itoa(n) }
