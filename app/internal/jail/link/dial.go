package link

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// dialLoopback connects to port on 127.0.0.1, or on ::1 if nothing listens
// there. Where the listener is marked it notes the address it comes from.
func dialLoopback(ctx context.Context, port int, m *marks) (*net.TCPConn, error) {
	c, err := dialHost(ctx, "127.0.0.1", port, m)
	if errors.Is(err, errRefusedByKernel) {
		if c6, err6 := dialHost(ctx, "::1", port, m); err6 == nil {
			return c6, nil
		}
	}
	return c, err
}

var errRefusedByKernel = syscall.ECONNREFUSED

func dialHost(ctx context.Context, host string, port int, m *marks) (*net.TCPConn, error) {
	d := net.Dialer{KeepAlive: -1}
	var from netip.AddrPort
	if m.has(port) {
		d.Control = func(_, _ string, raw syscall.RawConn) error {
			var err error
			if cerr := raw.Control(func(fd uintptr) { from, err = bindLoopback(int(fd), host) }); cerr != nil {
				return cerr
			}
			if err == nil {
				m.add(port, from)
			}
			return err
		}
	}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		m.take(port, from)
		return nil, err
	}
	return c.(*net.TCPConn), nil
}
