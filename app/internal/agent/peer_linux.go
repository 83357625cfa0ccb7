package agent

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
)

// errNoPeer says that the other end of a connection is not, or no more, a
// socket of this system.
var errNoPeer = errors.New("the peer's socket is not known")

// tcpEstablished is the state of a connection with two live ends. In any other
// the kernel may tell user 0, since nobody owns the socket any more.
const tcpEstablished = "01"

// peerUID is the user who owns the other end of c, from the kernel's table of
// the sockets of this system.
func peerUID(c net.Conn) (uint32, error) {
	far, err1 := netip.ParseAddrPort(c.RemoteAddr().String())
	near, err2 := netip.ParseAddrPort(c.LocalAddr().String())
	if err1 != nil || err2 != nil {
		return 0, errNoPeer
	}
	// Either end may be written as an IPv4 address in IPv6 form.
	data, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0, err
	}
	if uid, ok := ownerOf(data, far, near); ok {
		return uid, nil
	}
	if data, err = os.ReadFile("/proc/net/tcp6"); err != nil {
		return 0, errNoPeer
	}
	if uid, ok := ownerOf(data, far, near); ok {
		return uid, nil
	}
	return 0, errNoPeer
}

// ownerOf finds the established connection from local to remote in a table of
// /proc/net.
func ownerOf(table []byte, local, remote netip.AddrPort) (uint32, bool) {
	for line := range bytes.Lines(table) {
		f := bytes.Fields(line)
		if len(f) < 8 || string(f[3]) != tcpEstablished {
			continue
		}
		l, err1 := parseProcAddr(f[1])
		r, err2 := parseProcAddr(f[2])
		if err1 != nil || err2 != nil || l != unmap(local) || r != unmap(remote) {
			continue
		}
		uid, err := strconv.ParseUint(string(f[7]), 10, 32)
		return uint32(uid), err == nil
	}
	return 0, false
}

func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// parseProcAddr reads an address as /proc/net writes it: words of four bytes
// in the order of the machine, and the port.
func parseProcAddr(s []byte) (netip.AddrPort, error) {
	host, port, ok := bytes.Cut(s, []byte(":"))
	raw := make([]byte, hex.DecodedLen(len(host)))
	if _, err := hex.Decode(raw, host); err != nil || !ok || len(raw)%4 != 0 {
		return netip.AddrPort{}, fmt.Errorf("address %q: %w", s, errNoPeer)
	}
	for i := 0; i < len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	addr, ok := netip.AddrFromSlice(raw)
	n, err := strconv.ParseUint(string(port), 16, 16)
	if err != nil || !ok {
		return netip.AddrPort{}, fmt.Errorf("address %q: %w", s, errNoPeer)
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), nil
}
