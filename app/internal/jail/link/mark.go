package link

import (
	"net"
	"net/netip"
	"sync"
)

// maxInside is how many connections of programs inside the jail a marked
// listener has open at a time. More would leave the agent without descriptors
// for those of the host.
const maxInside = 64

// marks remembers from which local addresses the guest has dialled its own
// listeners, until each connection has been accepted.
type marks struct {
	mu    sync.Mutex
	ports map[int]map[netip.AddrPort]bool // by listening port
}

type markedListener struct {
	net.Listener
	marks  *marks
	port   int
	inside chan struct{} // one for each open connection of programs in the jail
}

type markedConn struct {
	net.Conn
	host  bool
	close func() error
}

func (c *markedConn) Close() error { return c.close() }

func (m *marks) listen(ln net.Listener) net.Listener {
	addr, ok := ln.Addr().(*net.TCPAddr)
	if !ok {
		return ln
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ports == nil {
		m.ports = map[int]map[netip.AddrPort]bool{}
	}
	m.ports[addr.Port] = map[netip.AddrPort]bool{}
	return &markedListener{ln, m, addr.Port, make(chan struct{}, maxInside)}
}

func (m *marks) has(port int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.ports[port]
	return ok
}

// add notes that the guest is about to connect from local to port. It must be
// called while local is bound and before the connection is made.
func (m *marks) add(port int, local netip.AddrPort) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if set, ok := m.ports[port]; ok {
		set[local] = true
	}
}

// take reports whether the guest has dialled port from remote, and forgets it.
func (m *marks) take(port int, remote netip.AddrPort) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	set := m.ports[port]
	was := set[remote]
	delete(set, remote)
	return was
}

func (l *markedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if l.fromHost(c) {
			return &markedConn{c, true, c.Close}, nil
		}
		select {
		case l.inside <- struct{}{}:
			return &markedConn{c, false, sync.OnceValue(func() error {
				defer func() { <-l.inside }()
				return c.Close()
			})}, nil
		default:
			c.Close()
		}
	}
}

func (l *markedListener) fromHost(c net.Conn) bool {
	a, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return false
	}
	ap := a.AddrPort()
	return l.marks.take(l.port, netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()))
}
