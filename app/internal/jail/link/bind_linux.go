package link

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// bindLoopback gives the socket a local address before it connects.
func bindLoopback(fd int, host string) (netip.AddrPort, error) {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	var sa unix.Sockaddr = &unix.SockaddrInet6{Addr: ip.As16()}
	if ip.Is4() {
		sa = &unix.SockaddrInet4{Addr: ip.As4()}
	}
	if err := unix.Bind(fd, sa); err != nil {
		return netip.AddrPort{}, fmt.Errorf("bind: %w", err)
	}
	if sa, err = unix.Getsockname(fd); err != nil {
		return netip.AddrPort{}, fmt.Errorf("getsockname: %w", err)
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(ip, uint16(sa.Port)), nil
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(ip, uint16(sa.Port)), nil
	}
	return netip.AddrPort{}, fmt.Errorf("bind: unexpected address")
}
