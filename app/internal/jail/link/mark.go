package link

import (
	"net"
	"net/netip"
	"sync"
)

// marks remembers from which local addresses the guest has dialled its own
// listeners, until each connection has been accepted.
type marks struct {
	mu    sync.Mutex
	ports map[int]map[netip.AddrPort]bool // by listening port
}

type markedListener struct {
	net.Listener
	marks *marks
	port  int
}

type markedConn struct {
	net.Conn
	host bool
}

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
	return &markedListener{ln, m, addr.Port}
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
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	var from netip.AddrPort
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		ap := a.AddrPort()
		from = netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return &markedConn{c, l.marks.take(l.port, from)}, nil
}
