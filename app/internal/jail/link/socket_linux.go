package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// SocketPair makes a line for a process on this computer. Hand guest to the
// child as an extra file, then close it here.
func SocketPair() (host *net.UnixConn, guest *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	guest = os.NewFile(uintptr(fds[1]), "link")
	host, err = unixConn(fds[0])
	if err != nil {
		guest.Close()
		return nil, nil, err
	}
	return host, guest, nil
}

// unixConn takes over fd.
func unixConn(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "link")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	uc, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("the line is not a unix socket")
	}
	return uc, nil
}

// A SocketHost is the host's end of a socket pair. Nothing the guest does can
// block it, make it hold what it did not ask for, or bring it down.
type SocketHost struct {
	conn   *net.UnixConn
	egress func(net.Conn)
	slots  chan struct{} // one for each dial without an answer
	ready  chan struct{}
	done   chan struct{}
	exits  *exits // Serve's own; nil until the guest has sent its listener

	mu      sync.Mutex
	nextID  uint32
	pending map[uint32]*pending
}

type pending struct {
	port      uint16
	answer    chan answer // capacity 1
	abandoned bool        // nobody waits any more
}

type answer struct {
	conn net.Conn
	err  error
}

// NewSocketHost returns the host's end. egress serves the connections that
// come out of the jail; nil refuses to take any. Serve must be running for
// anything to happen.
func NewSocketHost(conn *net.UnixConn, egress func(net.Conn)) *SocketHost {
	return &SocketHost{
		conn:    conn,
		egress:  egress,
		slots:   make(chan struct{}, maxPending),
		ready:   make(chan struct{}),
		done:    make(chan struct{}),
		pending: map[uint32]*pending{},
	}
}

// Ready is closed when the agent has opened its ports.
func (h *SocketHost) Ready() <-chan struct{} { return h.ready }

// Close breaks the line; Serve then returns.
func (h *SocketHost) Close() error { return h.conn.Close() }

// Dial connects to port on the loopback of the jail.
func (h *SocketHost) Dial(ctx context.Context, port int) (net.Conn, error) {
	if port < 1 || port > 65535 {
		return nil, fmt.Errorf("port %d is out of range", port)
	}
	select {
	case h.slots <- struct{}{}:
	case <-h.done:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p := &pending{port: uint16(port), answer: make(chan answer, 1)}
	h.mu.Lock()
	h.nextID++
	id := h.nextID
	h.pending[id] = p
	h.mu.Unlock()

	if _, err := h.conn.Write(message{kindDial, p.port, id}.encode()); err != nil {
		h.take(id)
		<-h.slots
		return nil, fmt.Errorf("%w: %w", ErrClosed, err)
	}
	select {
	case a := <-p.answer:
		return a.conn, a.err
	case <-h.done:
		h.abandon(p)
		return nil, ErrClosed
	case <-ctx.Done():
		h.abandon(p)
		return nil, ctx.Err()
	}
}

// abandon sees to it that a connection still to come for p is closed.
func (h *SocketHost) abandon(p *pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.abandoned = true
	select {
	case a := <-p.answer:
		if a.conn != nil {
			a.conn.Close()
		}
	default:
	}
}

// take removes and returns the dial with this id, nil if there is none.
func (h *SocketHost) take(id uint32) *pending {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pending[id]
	delete(h.pending, id)
	return p
}

// Serve reads what the guest says until the line breaks. The error is never
// nil; it is [ErrClosed] when the guest has gone or Close was called, and
// something else when the guest broke the rules.
func (h *SocketHost) Serve() error {
	defer close(h.done)
	defer h.conn.Close()
	defer func() {
		if h.exits != nil { // only this goroutine sets it
			h.exits.close()
		}
	}()
	buf := make([]byte, messageSize+1)
	oob := make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := h.conn.ReadMsgUnix(buf, oob)
		fds := received(oob[:oobn])
		if err != nil || n == 0 {
			closeAll(fds)
			return ErrClosed
		}
		m, err := decode(buf[:n])
		if err != nil {
			closeAll(fds)
			return fmt.Errorf("guest: %w", err)
		}
		if err := h.handle(m, fds); err != nil {
			return fmt.Errorf("guest: %w", err)
		}
	}
}

// handle acts on one message and takes over its descriptors.
func (h *SocketHost) handle(m message, fds []int) error {
	want := 0
	if m.kind == kindDone || m.kind == kindEgress {
		want = 1
	}
	if len(fds) != want {
		closeAll(fds)
		return fmt.Errorf("%d descriptors with message %q", len(fds), m.kind)
	}
	switch m.kind {
	case kindReady:
		select {
		case <-h.ready:
			return errors.New("ready twice")
		default:
			close(h.ready)
			return nil
		}
	case kindEgress:
		return h.openExit(fds[0])
	case kindDone, kindRefused, kindFailed:
		return h.answer(m, fds)
	}
	return fmt.Errorf("unknown message %q", m.kind)
}

func (h *SocketHost) answer(m message, fds []int) error {
	h.mu.Lock()
	p := h.pending[m.id]
	h.mu.Unlock()
	if p == nil {
		closeAll(fds)
		return errors.New("answer to no question")
	}
	var a answer
	switch m.kind {
	case kindDone:
		c, err := checkedConn(fds[0], p.port)
		if err != nil {
			return err
		}
		a.conn = c
	case kindRefused:
		a.err = fmt.Errorf("dial port %d in the jail: %w", p.port, ErrRefused)
	default:
		a.err = fmt.Errorf("dial port %d in the jail: %w", p.port, unix.Errno(m.port))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pending, m.id)
	<-h.slots
	if p.abandoned {
		if a.conn != nil {
			a.conn.Close()
		}
		return nil
	}
	p.answer <- a
	return nil
}

func (h *SocketHost) openExit(fd int) error {
	if h.egress == nil || h.exits != nil {
		unix.Close(fd)
		return errors.New("a listener that was not asked for")
	}
	x, err := newExits(fd, h.egress)
	if err != nil {
		return err
	}
	h.exits = x
	go x.serve()
	return nil
}

// received returns the descriptors in a control message.
func received(oob []byte) []int {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	var fds []int
	for _, m := range msgs {
		if got, err := unix.ParseUnixRights(&m); err == nil {
			fds = append(fds, got...)
		}
	}
	return fds
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
