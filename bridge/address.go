package bridge

import (
	"errors"
	"net"
	"net/netip"
	"strings"
)

// ErrWildcard says that an address stands for every network of this machine.
var ErrWildcard = errors.New("it stands for all addresses, and the Host check needs one: give a concrete one such as 127.0.0.1")

// CheckHost refuses hosts to listen on that stand for all addresses.
func CheckHost(host string) error {
	h := strings.Trim(host, "[]")
	if h == "" || h == "*" {
		return ErrWildcard
	}
	h, _, _ = strings.Cut(h, "%")
	if ip := net.ParseIP(h); ip != nil && ip.IsUnspecified() {
		return ErrWildcard
	}
	if strings.Trim(h, "0x.") == "" { // 0, 0.0, 0x0: what C takes for 0.0.0.0
		return ErrWildcard
	}
	return nil
}

// IsLoopback says whether host is this machine only, without asking a name
// server: what another name means is for that to say.
func IsLoopback(host string) bool {
	h := strings.Trim(host, "[]")
	if ip := net.ParseIP(h); ip != nil {
		return ip.IsLoopback()
	}
	return strings.EqualFold(h, "localhost")
}

// isAt reports whether written, the value of a Host header, is the address that
// host, "host:port", is served at. Clients write it in their own way: without the
// port of HTTP, names in lower case, addresses of IPv6 as short as they get.
func isAt(host, written string) bool {
	name, port := split(host)
	otherName, otherPort := split(written)
	if port != otherPort {
		return false
	}
	a, err := netip.ParseAddr(name)
	b, otherErr := netip.ParseAddr(otherName)
	if err != nil || otherErr != nil {
		return strings.EqualFold(name, otherName)
	}
	return a == b
}

// split returns what a Host header is made of.
func split(host string) (name, port string) {
	name, port, err := net.SplitHostPort(host)
	if err == nil {
		return name, port
	}
	const usual = "80"
	if inner, ok := strings.CutPrefix(host, "["); ok {
		return strings.TrimSuffix(inner, "]"), usual
	}
	return host, usual
}
