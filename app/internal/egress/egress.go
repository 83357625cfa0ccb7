// Package egress is the only way out of a local sandbox: a proxy that speaks
// HTTP and SOCKS5 and connects to the public internet, or to what a policy
// allows, and to nothing around this computer.
package egress

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// A Config makes a [Proxy]. The zero value is of use.
type Config struct {
	Policy Policy
	Log    *slog.Logger // nil: no log. Refusals are in it at level debug

	// Resolver finds the addresses of names, given with a trailing dot. nil:
	// that of this computer.
	Resolver Resolver

	// Count is told of the bytes that left the sandbox and came back, as they
	// pass. It is called by many goroutines at once. nil: nobody counts.
	Count func(out, in int64)

	MaxConns  int           // connections served at once, more are closed; 0: 512
	FirstByte time.Duration // for the client's request, and for the first byte of an answer to it; 0: 2 minutes
	Idle      time.Duration // a connection on which nothing moves for so long is closed; 0: 10 minutes
}

// A Resolver finds the addresses of a name. [net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// A Proxy serves the connections of one sandbox. It has no state that needs
// closing: all that a connection uses goes with it.
type Proxy struct {
	rules     *rules
	resolver  Resolver
	log       *slog.Logger
	count     func(out, in int64)
	slots     chan struct{} // one for each connection being served
	firstByte time.Duration
	idle      time.Duration

	// Tests put a network of their own here.
	connect func(ctx context.Context, t target, addr netip.AddrPort) (net.Conn, error)
	local   func() ([]netip.Prefix, error)
}

// New returns a Proxy with the policy of cfg, or an error that names the entry
// of it that can't be understood.
func New(cfg Config) (*Proxy, error) {
	r, err := compile(cfg.Policy)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		rules:     r,
		resolver:  cfg.Resolver,
		log:       cfg.Log,
		count:     cfg.Count,
		slots:     make(chan struct{}, orDefault(cfg.MaxConns, 512)),
		firstByte: orDefault(cfg.FirstByte, 2*time.Minute),
		idle:      orDefault(cfg.Idle, 10*time.Minute),
		local:     hostNetworks,
	}
	p.connect = p.dialTCP
	if p.resolver == nil {
		p.resolver = net.DefaultResolver
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	if p.count == nil {
		p.count = func(int64, int64) {}
	}
	return p, nil
}

func orDefault[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// ServeConn serves one connection from inside the sandbox and returns when it
// is closed. The first byte says which protocol it speaks. Closing conn ends it
// at once.
func (p *Proxy) ServeConn(conn net.Conn) {
	defer conn.Close()
	c := &clientConn{Conn: conn, r: bufio.NewReaderSize(conn, 4<<10), closed: make(chan struct{})}
	defer c.Close()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		p.log.Debug("egress has too many connections")
		return
	}
	conn.SetReadDeadline(time.Now().Add(p.firstByte))
	first, err := c.r.Peek(1)
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch b := first[0]; {
	case b == socks5:
		p.serveSOCKS(ctx, c)
	case b == socks4:
		io.WriteString(c, socks4Rejected)
	case b >= 'A' && b <= 'Z':
		p.serveHTTP(ctx, c)
	}
}

// refused tells the log why a target can't be reached.
func (p *Proxy) refused(target string, err error) {
	if r, ok := errors.AsType[*Refusal](err); ok {
		p.log.Debug("egress refused", "target", target, "rule", string(r.Rule))
		return
	}
	p.log.Debug("egress can't connect", "target", target, "err", err)
}

// A clientConn is the sandbox's end of a connection, with what was read ahead.
type clientConn struct {
	net.Conn
	r        *bufio.Reader
	isClosed atomic.Bool
	closed   chan struct{}
}

func (c *clientConn) Read(b []byte) (int, error) { return c.r.Read(b) }

func (c *clientConn) Close() error {
	if c.isClosed.CompareAndSwap(false, true) {
		close(c.closed)
	}
	return c.Conn.Close()
}

// CloseWrite ends what we send, where the connection can do that.
func (c *clientConn) CloseWrite() error { return closeWrite(c.Conn) }
