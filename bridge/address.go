package bridge

import (
	"errors"
	"net"
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
