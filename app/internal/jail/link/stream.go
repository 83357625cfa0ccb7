package link

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
)

// Names of a line over standard input and output, for [OpenGuest].
const (
	Stdio       = "stdio"
	StdioEgress = "stdio,egress" // with the proxy port open
)

// ProxyPort is where programs in a jail find the way out, on 127.0.0.1.
const ProxyPort = 3128

// What the first byte of a channel says. The values are the wire's.
const (
	streamReady  byte = 'h' // guest to host: the agent's ports are open
	streamEgress byte = 'e' // guest to host: a connection that wants out
	streamDial   byte = 'd' // host to guest: two bytes of port follow, then the guest's status byte

	statusOK      byte = 0
	statusRefused byte = 1
	statusFailed  byte = 2
)

// streamConfig suits a container that may be paused for days: nothing may time
// out because the other end is silent.
func streamConfig() *yamux.Config {
	c := yamux.DefaultConfig()
	c.EnableKeepAlive = false
	c.ConnectionWriteTimeout = 30 * 24 * time.Hour
	c.StreamOpenTimeout = 0
	c.MaxStreamWindowSize = 1 << 20
	c.LogOutput = io.Discard
	return c
}

// A streamConn is one channel. Its CloseWrite is what yamux calls Close.
type streamConn struct{ *yamux.Stream }

func (c streamConn) CloseWrite() error { return c.Stream.Close() }

// Close also makes a pending Read return.
func (c streamConn) Close() error {
	c.SetReadDeadline(time.Unix(1, 0))
	return c.Stream.Close()
}

// A StreamHost is the host's end of a line over any stream of bytes.
type StreamHost struct {
	mux    *yamux.Session
	egress func(net.Conn)
	slots  chan struct{}
	exits  chan struct{}
	ready  chan struct{}
	once   sync.Once
}

// NewStreamHost returns the host's end. egress serves the connections that
// come out of the jail; nil refuses them.
func NewStreamHost(rw io.ReadWriteCloser, egress func(net.Conn)) (*StreamHost, error) {
	mux, err := yamux.Client(rw, streamConfig())
	if err != nil {
		return nil, err
	}
	return &StreamHost{
		mux:    mux,
		egress: egress,
		slots:  make(chan struct{}, 128),
		exits:  make(chan struct{}, 256),
		ready:  make(chan struct{}),
	}, nil
}

// Ready is closed when the agent has opened its ports.
func (h *StreamHost) Ready() <-chan struct{} { return h.ready }

// Close breaks the line; Serve then returns.
func (h *StreamHost) Close() error { return h.mux.Close() }

// Serve takes what the guest sends until the line breaks. The error is never
// nil.
func (h *StreamHost) Serve() error {
	defer h.mux.Close()
	for {
		s, err := h.mux.AcceptStream()
		if err != nil {
			return ErrClosed
		}
		select {
		case h.exits <- struct{}{}:
		default: // more at once than we serve
			s.Close()
			continue
		}
		go func() {
			defer func() { <-h.exits }()
			h.accept(streamConn{s})
		}()
	}
}

func (h *StreamHost) accept(c streamConn) {
	defer c.Close()
	var first [1]byte
	c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(c, first[:]); err != nil {
		return
	}
	c.SetReadDeadline(time.Time{})
	switch {
	case first[0] == streamReady:
		h.once.Do(func() { close(h.ready) })
	case first[0] == streamEgress && h.egress != nil:
		h.egress(c)
	}
}

// Dial connects to port on the loopback of the jail.
func (h *StreamHost) Dial(ctx context.Context, port int) (net.Conn, error) {
	if port < 1 || port > 65535 {
		return nil, fmt.Errorf("port %d is out of range", port)
	}
	select {
	case h.slots <- struct{}{}:
	case <-h.mux.CloseChan():
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type result struct {
		conn net.Conn
		err  error
	}
	got := make(chan result)
	go func() { // yamux knows no contexts
		defer func() { <-h.slots }()
		c, err := h.dial(port)
		select {
		case got <- result{c, err}:
		case <-ctx.Done():
			if err == nil {
				c.Close()
			}
		}
	}()
	select {
	case r := <-got:
		return r.conn, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (h *StreamHost) dial(port int) (net.Conn, error) {
	s, err := h.mux.OpenStream()
	if err != nil {
		return nil, ErrClosed
	}
	c := streamConn{s}
	status := []byte{statusFailed}
	if _, err = c.Write(binary.BigEndian.AppendUint16([]byte{streamDial}, uint16(port))); err == nil {
		_, err = io.ReadFull(c, status)
	}
	switch {
	case err != nil:
		err = ErrClosed
	case status[0] == statusOK:
		return c, nil
	case status[0] == statusRefused:
		err = fmt.Errorf("dial port %d in the jail: %w", port, ErrRefused)
	default:
		err = fmt.Errorf("dial port %d in the jail: unreachable", port)
	}
	c.Close()
	return nil, err
}

// A streamGuest is the guest's end: it relays.
type streamGuest struct {
	rw    io.ReadWriteCloser
	exit  net.Listener // of the proxy port; nil for no way out
	marks *marks
	close sync.Once
}

// newStreamGuest takes over rw and exit.
func newStreamGuest(rw io.ReadWriteCloser, exit net.Listener) *Guest {
	g := &Guest{}
	g.end = &streamGuest{rw: rw, exit: exit, marks: &g.marks}
	return g
}

func (g *streamGuest) Close() error {
	var err error
	g.close.Do(func() { err = g.rw.Close() })
	return err
}

func (g *streamGuest) serve(ctx context.Context) error {
	mux, err := yamux.Server(g.rw, streamConfig())
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	defer all.Wait()
	defer mux.Close()
	stop := context.AfterFunc(ctx, func() { mux.Close() })
	defer stop()
	hello, err := mux.OpenStream()
	if err != nil {
		return ErrClosed
	}
	if _, err := hello.Write([]byte{streamReady}); err != nil {
		return ErrClosed
	}
	hello.Close()
	if g.exit != nil {
		defer g.exit.Close()
		all.Go(func() { relayOut(mux, g.exit) })
	}
	for {
		s, err := mux.AcceptStream()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return ErrClosed
		}
		all.Go(func() { g.relayIn(ctx, streamConn{s}) })
	}
}

// relayIn connects a channel of the host to a port in the jail.
func (g *streamGuest) relayIn(ctx context.Context, c streamConn) {
	defer c.Close()
	var head [3]byte
	if _, err := io.ReadFull(c, head[:]); err != nil || head[0] != streamDial {
		return
	}
	tcp, err := dialLoopback(ctx, int(binary.BigEndian.Uint16(head[1:])), g.marks)
	if err != nil {
		status := statusFailed
		if errors.Is(err, errRefusedByKernel) {
			status = statusRefused
		}
		c.Write([]byte{status})
		return
	}
	defer tcp.Close()
	if _, err := c.Write([]byte{statusOK}); err == nil {
		relay(c, tcp)
	}
}

// relayOut carries each connection to the proxy port to the host.
func relayOut(mux *yamux.Session, ln net.Listener) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		all.Go(func() {
			defer nc.Close()
			s, err := mux.OpenStream()
			if err != nil {
				return
			}
			c := streamConn{s}
			defer c.Close()
			if _, err := c.Write([]byte{streamEgress}); err == nil {
				relay(c, nc.(*net.TCPConn))
			}
		})
	}
}

// relay copies both ways until both have ended, passing on each end.
func relay(a streamConn, b *net.TCPConn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := io.Copy(a, b); err != nil {
			a.Close()
		}
		a.CloseWrite()
	}()
	if _, err := io.Copy(b, a); err != nil {
		b.Close()
	}
	b.CloseWrite()
	<-done
}
