package dataplane

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A lane is what the proxy knows of one VM: its limits, and its session while
// it is awake. A lane with neither a request nor a session is forgotten.
type lane struct {
	id string

	mu      sync.Mutex // guards all below
	users   int        // requests that hold the lane
	open    int        // of these, those that count as connections
	caps    Caps
	bucket  *rate.Limiter
	session *session
}

// lane returns the lane of a VM, held until release.
func (p *Proxy) lane(vm VM) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lanes[vm.ID()]
	if l == nil {
		l = &lane{id: vm.ID()}
		p.lanes[l.id] = l
	}
	l.mu.Lock()
	l.users++
	l.mu.Unlock()
	return l
}

func (p *Proxy) release(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users--
	p.forgetLocked(l)
}

// forgetLocked needs p.mu and l.mu.
func (p *Proxy) forgetLocked(l *lane) {
	if l.users == 0 && l.session == nil {
		delete(p.lanes, l.id)
	}
}

// enter takes a place in the lane, or says which cap is reached. A place is
// given back by leave.
func (l *lane) enter(caps Caps, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bucket == nil || l.caps.RequestsPerSecond != caps.RequestsPerSecond {
		limit := rate.Inf
		if caps.RequestsPerSecond > 0 {
			limit = rate.Limit(caps.RequestsPerSecond)
		}
		l.bucket = rate.NewLimiter(limit, max(caps.RequestsPerSecond, 1))
	}
	l.caps = caps
	if caps.Connections > 0 && l.open >= caps.Connections {
		return &Refusal{http.StatusTooManyRequests, CodeTooMany, "Too many connections to this MicroVM"}
	}
	if !l.bucket.AllowN(now, 1) {
		return &Refusal{http.StatusTooManyRequests, CodeTooFast, "Too many requests to this MicroVM"}
	}
	l.open++
	return nil
}

func (l *lane) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
}

// A session is the time between two sleeps of a VM. No connection outlives it.
type session struct {
	vm    VM
	cut   <-chan struct{} // of vm, for this session
	done  chan struct{}   // closed when the session has ended
	plain *http.Transport // HTTP/1.1
	h2    *http.Transport // HTTP/2 with prior knowledge

	mu    sync.Mutex // guards conns
	conns map[net.Conn]struct{}
}

// awake waits until vm may take traffic and returns its session.
func (p *Proxy) awake(ctx context.Context, l *lane, vm VM) (*session, error) {
	// The VM may fall asleep again before its session is looked up. That it
	// does so every time would be a fault of its own.
	for range 16 {
		if err := vm.Awake(ctx); err != nil {
			return nil, err
		}
		cut := vm.Cut()
		if closed(cut) {
			continue
		}
		if s := p.session(l, vm, cut); s != nil {
			return s, nil
		}
	}
	return nil, errUnreachable
}

// session returns the session of an awake VM, nil if it is just ending.
func (p *Proxy) session(l *lane, vm VM, cut <-chan struct{}) *session {
	p.mu.Lock() // so that Close waits for every session
	defer p.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.session; s != nil && s.cut == cut {
		if s.ended() {
			return nil
		}
		return s // else it is of before a sleep, and about to end
	}
	if closed(p.done) {
		return nil
	}
	s := &session{vm: vm, cut: cut, done: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	s.plain, s.h2 = newTransport(s), newTransportH2(s)
	l.session = s
	p.wg.Go(func() {
		select {
		case <-cut:
		case <-p.done:
		}
		s.end()
		p.mu.Lock()
		defer p.mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.session == s {
			l.session = nil
			p.forgetLocked(l)
		}
	})
	return s
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func (s *session) ended() bool { return closed(s.done) }

// end closes what is open into the VM, without waiting for anybody.
func (s *session) end() {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	close(s.done)
	s.mu.Unlock()
	for c := range conns {
		c.Close()
	}
	s.plain.CloseIdleConnections()
	s.h2.CloseIdleConnections()
}

// dial connects to a port of the VM. The connection ends with the session.
func (s *session) dial(ctx context.Context, port int) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	dialled := make(chan struct{})
	defer cancel()
	defer close(dialled)
	go func() {
		select {
		case <-s.done:
			cancel()
		case <-dialled:
		}
	}()
	conn, err := s.vm.Dial(ctx, port)
	if err != nil {
		return nil, &dialError{err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		conn.Close()
		return nil, &dialError{net.ErrClosed}
	}
	c := &sessionConn{conn, s}
	s.conns[c] = struct{}{}
	return c, nil
}

func (s *session) dialAddr(ctx context.Context, _, addr string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	return s.dial(ctx, n)
}

// dialTimeout is for a port whose backlog is full: apps that listen answer at
// once.
const dialTimeout = 10 * time.Second

// A sessionConn takes itself off its session's list when it is closed.
type sessionConn struct {
	net.Conn
	session *session
}

func (c *sessionConn) Close() error {
	c.session.mu.Lock()
	delete(c.session.conns, c)
	c.session.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite ends the direction into the VM alone, where that can be done.
func (c *sessionConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// A dialError says that a request failed before any of it was sent.
type dialError struct{ err error }

func (e *dialError) Error() string { return "dial into MicroVM: " + e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }
