package egress

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// A target is where a sandbox wants to connect to: a name or an address.
type target struct {
	name string     // canonical; "" when addr is set
	addr netip.Addr // unmapped
	port uint16
}

// parseTarget reads "host:port". It takes a name, or an address in its usual
// form, and nothing that one program reads as an address and another as a name.
func parseTarget(hostport string) (target, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return target{}, err
	}
	n, err := parsePort(port)
	if err != nil {
		return target{}, err
	}
	return newTarget(host, n)
}

func newTarget(host string, port uint16) (target, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return target{}, errors.New("an address with a zone")
		}
		return target{addr: addr.Unmap(), port: port}, nil
	}
	name, err := canonicalName(host)
	if err != nil {
		return target{}, err
	}
	return target{name: name, port: port}, nil
}

// canonicalName lowers the letters and drops the one trailing dot that a name
// may have, so that lists match whatever way it is written. It refuses what no
// name server has, and what the system's resolver would read as an address
// (127.1, 0x7f000001, 2130706433, 0177.0.0.1).
func canonicalName(s string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(s, "."))
	if name == "" || len(name) > 253 {
		return "", errors.New("a name has 1 to 253 characters")
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 {
			return "", errors.New("a part of a name has 1 to 63 characters")
		}
		if l[0] == '-' || l[len(l)-1] == '-' {
			return "", errors.New("a part of a name starts and ends with no hyphen")
		}
		for _, c := range []byte(l) {
			if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
				return "", errors.New("a name has letters, digits, hyphens and dots")
			}
		}
	}
	if numeric(labels[len(labels)-1]) {
		return "", errors.New("an address in an odd form")
	}
	return name, nil
}

// numeric tells a last part that makes the whole name an address: no top-level
// domain is a number.
func numeric(label string) bool {
	digits, hex := strings.CutPrefix(label, "0x")
	return !strings.ContainsFunc(digits, func(r rune) bool {
		return !(r >= '0' && r <= '9' || hex && r >= 'a' && r <= 'f')
	})
}

// localName tells names that mean this computer or the network around it,
// whatever they resolve to.
func localName(name string) bool {
	if !strings.Contains(name, ".") {
		return true // localhost, and what a search domain completes
	}
	return slices.ContainsFunc([]string{".localhost", ".localdomain", ".local", ".internal", ".home.arpa", ".lan", ".intranet"},
		func(s string) bool { return strings.HasSuffix(name, s) })
}
