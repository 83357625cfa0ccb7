package dataplane

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	tunnelBuffer = 128 << 10
	sniffTime    = 30 * time.Second
	// sniffBytes is more than a client may send before it hears of a window.
	sniffBytes = 128 << 10
)

// Listen wraps ln so that gRPC connections take a short way into VMs: their
// frames are passed on as they are. Each call still goes through h, which must
// be the server's handler and lead to the proxy. Give the result to Serve of a
// server made by [NewServer]. Requests have the values of ctx, not its end.
func (p *Proxy) Listen(ctx context.Context, ln net.Listener, h http.Handler) net.Listener {
	l := &listener{
		Listener: ln, proxy: p, handler: h,
		conns: make(chan net.Conn), failed: make(chan error, 1), done: make(chan struct{}),
		sniffing: map[net.Conn]struct{}{},
	}
	go l.run(context.WithoutCancel(ctx))
	return l
}

// A listener gives the server what is no tunnel.
type listener struct {
	net.Listener
	proxy   *Proxy
	handler http.Handler
	conns   chan net.Conn
	failed  chan error
	done    chan struct{}
	once    sync.Once

	mu       sync.Mutex // guards sniffing
	sniffing map[net.Conn]struct{}
}

func (l *listener) run(ctx context.Context) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			select {
			case l.failed <- err:
			case <-l.done:
			}
			if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
				continue
			}
			if closed(l.done) || errors.Is(err, net.ErrClosed) {
				return
			}
			continue // the server waits before it calls Accept again
		}
		if l.track(conn) {
			go l.sniff(ctx, conn)
		}
	}
}

func (l *listener) track(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sniffing == nil {
		conn.Close()
		return false
	}
	l.sniffing[conn] = struct{}{}
	return true
}

// Accept returns the next connection that is no tunnel.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case err := <-l.failed:
		return nil, err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close stops listening. Tunnels live on until the proxy closes.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	l.mu.Lock()
	for conn := range l.sniffing {
		conn.Close()
	}
	l.sniffing = nil
	l.mu.Unlock()
	return l.Listener.Close()
}

// sniff finds out what speaks on conn.
func (l *listener) sniff(ctx context.Context, conn net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(sniffTime)) // a closed one fails below
	br := bufio.NewReader(conn)
	seen, grpc, err := look(br, conn)
	l.mu.Lock()
	delete(l.sniffing, conn)
	l.mu.Unlock()
	if err != nil || conn.SetReadDeadline(time.Time{}) != nil {
		conn.Close()
		return
	}
	if grpc {
		l.proxy.runTunnel(ctx, l.handler, conn, &replay{seen, br})
		return
	}
	select {
	case l.conns <- &sniffed{conn, replay{seen, br}}:
	case <-l.done:
		conn.Close()
	}
}

// look reads up to the first request of an HTTP/2 connection and says whether
// that is gRPC. It returns what it has read and is still to be served: all but
// the client's answer to the settings that it sends to get so far.
func look(br *bufio.Reader, conn net.Conn) (seen []byte, grpc bool, err error) {
	for n := range len(preface) {
		b, err := br.Peek(n + 1)
		if err != nil || b[n] != preface[n] {
			return nil, false, err
		}
	}
	if _, err := br.Discard(len(preface)); err != nil {
		return nil, false, err
	}
	if err := conn.SetReadDeadline(time.Now().Add(idleTime)); err != nil {
		return nil, false, err
	}
	// No body may come before the app has said how much it takes.
	me := &peer{conn: conn, br: br, bw: bufio.NewWriter(conn)}
	if err := me.send(frameSettings, 0, 0, appendSetting(nil, settingWindow, 0)); err != nil {
		return nil, false, err
	}
	seen = append(seen, preface...)
	acked, asked := false, false
	for !asked || !acked && !grpc {
		f, err := me.next()
		if err != nil {
			return nil, false, err
		}
		switch {
		case f.kind == frameSettings && f.has(flagAck) && !acked:
			acked = true
			if err := me.skip(f); err != nil {
				return nil, false, err
			}
			continue
		case f.kind == framePing:
			if err := pong(me, f); err != nil {
				return nil, false, err
			}
			continue
		}
		if len(seen)+f.length > sniffBytes {
			return nil, false, errProtocol
		}
		seen = f.appendTo(seen)
		from := len(seen)
		for range f.length {
			c, err := br.ReadByte()
			if err != nil {
				return nil, false, err
			}
			seen = append(seen, c)
		}
		if f.kind == frameHeaders && !asked {
			asked, grpc = true, startsGRPC(f, seen[from:])
		}
	}
	return seen, grpc, nil
}

// startsGRPC says whether the first request of a connection is gRPC. One with
// a head in several frames isn't taken for it, which costs only speed.
func startsGRPC(f frame, payload []byte) bool {
	block, ok := headerBlock(f, payload)
	if !ok || !f.has(flagEndHeaders) {
		return false
	}
	fields, err := newHeadDecoder().decode(block)
	if err != nil {
		return false
	}
	for _, hf := range fields {
		if hf.Name == "content-type" {
			return isGRPCType(hf.Value)
		}
	}
	return false
}

// headerBlock takes padding and priority off the payload of a HEADERS frame.
func headerBlock(f frame, b []byte) ([]byte, bool) {
	pad := 0
	if f.has(flagPadded) {
		if len(b) < 1 {
			return nil, false
		}
		pad, b = int(b[0]), b[1:]
	}
	if f.has(flagPriority) {
		if len(b) < 5 {
			return nil, false
		}
		b = b[5:]
	}
	if pad > len(b) {
		return nil, false
	}
	return b[:len(b)-pad], true
}

func isGRPCType(t string) bool {
	t, _, _ = strings.Cut(t, ";")
	return t == "application/grpc" || strings.HasPrefix(t, "application/grpc+")
}

// A replay gives first what was read already.
type replay struct {
	seen []byte
	rest *bufio.Reader
}

func (r *replay) Read(p []byte) (int, error) {
	if len(r.seen) > 0 {
		n := copy(p, r.seen)
		r.seen = r.seen[n:]
		return n, nil
	}
	if n := r.rest.Buffered(); n > 0 {
		return r.rest.Read(p[:min(n, len(p))])
	}
	return r.rest.Read(p)
}

// A sniffed is a connection some of whose bytes were read.
type sniffed struct {
	net.Conn
	replay replay
}

func (s *sniffed) Read(p []byte) (int, error) { return s.replay.Read(p) }

// CloseWrite lets the server end an answer without a reset.
func (s *sniffed) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SetLinger lets abort do its work.
func (s *sniffed) SetLinger(sec int) error {
	if tcp, ok := s.Conn.(interface{ SetLinger(int) error }); ok {
		return tcp.SetLinger(sec)
	}
	return errors.ErrUnsupported
}
