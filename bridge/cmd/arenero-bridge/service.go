package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
	"github.com/arenero/arenero/bridge/tools"
)

// A service is this process's MCP server, and what it holds of the engine.
type service struct {
	st     *settings
	log    *slog.Logger
	engine *control.Client
	look   *control.Client // the same engine, which this one does not start
	own    *lease          // of whoever comes without a token
	tokens *leases         // of those who come with one
	may    standing        // of the former
	gate   *gate           // for the latter
}

func newService(st *settings, path string, log *slog.Logger) *service {
	s := &service{st: st, log: log, engine: control.NewClient(path)}
	if !st.attached { // else it is the engine that has started this process
		s.engine.Launch = control.Launcher()
	}
	s.look = control.NewClient(path)
	s.own = newLease(sandbox.Lease{Connection: st.connection, Parent: parent(), Spec: st.spec}, s.engine, log)
	s.tokens = newLeases(func() *lease { return newLease(sandbox.Lease{Spec: st.spec}, s.engine, log) })
	s.gate = &gate{authorize: s.engine.Authorize}
	s.may.ask = func(ctx context.Context) (sandbox.Grant, error) {
		ctx, _ = sandbox.WithCall(ctx, s.caller())
		return s.look.Authorize(ctx)
	}
	return s
}

// caller is who comes without a token.
func (s *service) caller() sandbox.Caller {
	return sandbox.Caller{Connection: s.st.connection, HTTP: s.st.http}
}

// who tells whom the call of ctx is made for.
func (s *service) who(ctx context.Context) tools.Who {
	if a, ok := admittedAs(ctx); ok {
		return tools.Who{Caller: a.caller(), Owner: a.grant.ID, Lease: s.leaseOf(ctx).ID}
	}
	s.may.soon()
	return tools.Who{Caller: s.caller(), Lease: s.own.ID}
}

// failed takes in what the call of ctx has failed with.
func (s *service) failed(ctx context.Context, err error) {
	if _, ok := admittedAs(ctx); ok {
		s.gate.failed(ctx, err)
		return
	}
	s.may.doubt(err)
}

func (s *service) leaseOf(ctx context.Context) *lease {
	if a, ok := admittedAs(ctx); ok {
		return s.tokens.of(a.grant.ID, bridge.ConnOf(ctx).ID)
	}
	return s.own
}

// lend asks for the lease of the call of ctx.
func (s *service) lend(ctx context.Context) {
	s.leaseOf(ctx).lend(s.hostOf(bridge.ConnOf(ctx)), s.who(ctx).Caller)
}

// shows reports whether a tool is listed to the caller of ctx.
func (s *service) shows(ctx context.Context, tool string) bool {
	if a, ok := admittedAs(ctx); ok {
		return tools.Shows(a.grant, tool)
	}
	s.may.soon()
	return s.may.shows(tool)
}

// attach asks for the lease where an engine runs already, so that its owner sees
// this connection, and for what it may do. It starts none.
func (s *service) attach(ctx context.Context, host string) {
	if _, err := s.engine.Status(ctx); err == nil {
		s.own.lend(host, s.caller())
		s.may.soon()
	}
}

// server makes the MCP server. Set is to be closed in the end.
func (s *service) server(cfg bridge.Config) (srv *bridge.Server, set *tools.Set, err error) {
	tx := s.st.texts
	cfg.Name, cfg.Title, cfg.Version = "arenero", tx.Get("server.title"), versionText()
	cfg.Language, cfg.Log = tx.Language, s.log
	cfg.Instructions = tx.Get("server.instructions")
	for _, t := range s.st.toolsets {
		if key := "server.instructions." + string(t); tx.Has(key) {
			cfg.Instructions += " " + tx.Get(key)
		}
	}
	set, err = tools.New(tools.Config{
		Engine: s.engine, Who: s.who, Authorize: s.look.Authorize, Spec: s.st.spec,
		Texts: tx, Toolsets: s.st.toolsets, Alerts: s.st.alerts, Log: s.log, Lend: s.lend, Failed: s.failed,
	})
	if err != nil {
		return nil, nil, err
	}
	cfg.Shows, cfg.Refused = s.shows, set.Refused
	srv = bridge.New(cfg)
	s.may.serves(srv)
	return srv, set, set.Add(srv)
}

const (
	firstWithin = time.Minute // for a host to say anything at all
	nameWithin  = time.Second // for it to say who it is
)

// serveStdio serves the host that has started this process.
func (s *service) serveStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var set *tools.Set
	srv, set, err := s.server(bridge.Config{
		Setup: func(ctx context.Context, c *bridge.Conn) error {
			go func() { s.attach(ctx, s.name(ctx, c)) }()
			return nil
		},
		Cleanup: func(ctx context.Context, _ *bridge.Conn) {
			set.Close()
			s.own.giveBack(ctx)
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
	go s.may.watch(ctx, s.own.isLent)
	return srv.ServeStdio(ctx, heard, out)
}

// hostOf names the host of a connection. Over HTTP without tokens all share a
// lease, and a name.
func (s *service) hostOf(c *bridge.Conn) string {
	const web = "http"
	if s.st.http && s.st.auth == authNone {
		return web
	}
	if name := c.Client().Name; name != "" || !s.st.http {
		return name
	}
	return web
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

// serveHTTP serves anyone who reaches the address, all with one sandbox, or who
// has a token, each with their own. Attached, it tells the address on out, and
// ends when in does, which the program at the other end need not live to close.
func (s *service) serveHTTP(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	srv, set, err := s.server(bridge.Config{
		Cleanup: func(ctx context.Context, c *bridge.Conn) { s.tokens.endSession(ctx, c.ID) },
	})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(s.st.host, strconv.Itoa(s.st.port)))
	if err != nil {
		return &usageError{err.Error()}
	}
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	address := net.JoinHostPort(s.st.host, port)
	cfg := bridge.HTTPConfig{Host: address}
	warning := "start.public"
	if s.st.auth == authToken {
		warning += ".token"
		cfg.Inside, cfg.Caller = s.bearer(set.Explain).Guard, owner
	}
	if !bridge.IsLoopback(s.st.host) {
		s.log.Warn(s.st.texts.Get(warning, "address", address))
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, s.st.texts.Get("start.serving", "url", "http://"+address+bridge.Endpoint))
	if s.st.attached {
		go func() {
			io.Copy(io.Discard, in)
			s.log.Info("the engine wants no more of this")
			stop()
		}()
		if _, err := fmt.Fprintln(out, "http://"+address+bridge.Endpoint); err != nil {
			stop()
		}
	}
	if s.st.auth == authNone {
		s.attach(ctx, s.hostOf(nil))
		go s.may.watch(ctx, s.own.isLent)
	} else {
		go s.sweep(ctx)
	}
	err = srv.ServeListener(ctx, ln, cfg)
	set.Close()
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.own.giveBack(last)
	s.tokens.endAll(last)
	return err
}

// sweep gives back the leases that nobody uses, until ctx is done.
func (s *service) sweep(ctx context.Context) {
	tick := time.NewTicker(leaseIdle / 10)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.tokens.sweep(ctx, now)
		case <-ctx.Done():
			return
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
