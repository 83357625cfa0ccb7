package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Policy says where a sandbox may connect to. The zero value allows the
// public internet, every port, and nothing else.
//
// An entry of Allow and Deny is one of
//
//	example.org           that name
//	*.example.org         every name below it, at any depth, but not example.org
//	203.0.113.7        that address
//	203.0.113.0/24     those addresses
//	*                  everything that the public internet has
//
// Deny always wins. What is neither denied nor allowed is refused.
//
// A name or an address outside the public internet (see [Rule]) is reached only
// if Allow names it on purpose: a network that lies wholly inside one private
// block, such as 10.1.0.0/16 or 127.0.0.1, opens that part of the block, and
// 0.0.0.0/0 opens none of it. A metadata service is opened only by its exact
// address.
type Policy struct {
	Allow      []string `json:"allow,omitempty"`      // empty means "*"
	Deny       []string `json:"deny,omitempty"`       // wins over Allow
	AllowPorts []string `json:"allowPorts,omitempty"` // "443" or "8000-8999"; empty means every port
	DenyPorts  []string `json:"denyPorts,omitempty"`  // wins over AllowPorts
}

// Validate names the first entry that can't be understood.
func (p Policy) Validate() error {
	_, err := compile(p)
	return err
}

// rules is a Policy made ready for questions.
type rules struct {
	allow, deny           matcher
	allowPorts, denyPorts []portRange
}

// A matcher is one list of names and networks.
type matcher struct {
	all      bool            // "*"
	names    map[string]bool // exact, canonical
	suffixes []string        // ".example.org"
	nets     []netip.Prefix
}

type portRange struct{ first, last uint16 }

func compile(p Policy) (*rules, error) {
	var r rules
	var err error
	if r.allow, err = compileList(p.Allow); err != nil {
		return nil, fmt.Errorf("egress policy: allow: %w", err)
	}
	if len(p.Allow) == 0 {
		r.allow.all = true
	}
	if r.deny, err = compileList(p.Deny); err != nil {
		return nil, fmt.Errorf("egress policy: deny: %w", err)
	}
	if r.allowPorts, err = compilePorts(p.AllowPorts); err != nil {
		return nil, fmt.Errorf("egress policy: allowPorts: %w", err)
	}
	if r.denyPorts, err = compilePorts(p.DenyPorts); err != nil {
		return nil, fmt.Errorf("egress policy: denyPorts: %w", err)
	}
	return &r, nil
}

func compileList(entries []string) (matcher, error) {
	m := matcher{names: map[string]bool{}}
	for _, e := range entries {
		if e == "*" {
			m.all = true
			continue
		}
		if addr, err := netip.ParseAddr(e); err == nil {
			if addr.Zone() != "" {
				return m, fmt.Errorf("%q: an address with a zone matches nothing", e)
			}
			addr = addr.Unmap()
			m.nets = append(m.nets, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		if strings.Contains(e, "/") {
			net, err := netip.ParsePrefix(e)
			if err != nil {
				return m, fmt.Errorf("%q is no network like 203.0.113.0/24", e)
			}
			if net.Addr().Is4In6() {
				return m, fmt.Errorf("%q: write it as an IPv4 network", e)
			}
			m.nets = append(m.nets, net.Masked())
			continue
		}
		name, below := strings.CutPrefix(e, "*.")
		name, err := canonicalName(name)
		if err != nil {
			return m, fmt.Errorf("%q is no name, address or network: %w", e, err)
		}
		if below {
			m.suffixes = append(m.suffixes, "."+name)
		} else {
			m.names[name] = true
		}
	}
	return m, nil
}

func compilePorts(entries []string) ([]portRange, error) {
	var ranges []portRange
	for _, e := range entries {
		low, high, isRange := strings.Cut(e, "-")
		if !isRange {
			high = low
		}
		first, err1 := parsePort(low)
		last, err2 := parsePort(high)
		if err1 != nil || err2 != nil || first > last {
			return nil, fmt.Errorf("%q is no port like 443 or 8000-8999", e)
		}
		ranges = append(ranges, portRange{first, last})
	}
	return ranges, nil
}

// parsePort reads a port in digits alone: "+80" and "" are none, nor is 0.
func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || s[0] == '+' {
		return 0, fmt.Errorf("no port: %q", s)
	}
	return uint16(n), nil
}

// checkPort refuses a port that the policy keeps shut.
func (r *rules) checkPort(port uint16) *Refusal {
	has := func(ranges []portRange) bool {
		return slices.ContainsFunc(ranges, func(pr portRange) bool { return pr.first <= port && port <= pr.last })
	}
	if has(r.denyPorts) || len(r.allowPorts) > 0 && !has(r.allowPorts) {
		return &Refusal{Rule: RulePort}
	}
	return nil
}

// checkName refuses a canonical name before anyone is asked about it.
func (r *rules) checkName(name string) *Refusal {
	if r.deny.all || r.deny.hasName(name) {
		return &Refusal{Rule: RuleDenied}
	}
	if r.allow.hasName(name) { // named on purpose, so it may be a local name
		return nil
	}
	if localName(name) {
		return &Refusal{Rule: RuleLocalName}
	}
	// Where networks are allowed, the addresses of the name still decide.
	if !r.allow.all && len(r.allow.nets) == 0 {
		return &Refusal{Rule: RuleNotAllowed}
	}
	return nil
}

// checkAddr refuses one address: a literal (then name is "") or one that name
// stands for. local are the networks that this computer is in.
func (r *rules) checkAddr(name string, addr netip.Addr, local []netip.Prefix) *Refusal {
	if r.deny.all || r.deny.hasAddr(addr) || r.deny.hasAddr(inner(addr)) {
		return &Refusal{Rule: RuleDenied}
	}
	rule, block := classify(addr, local)
	if rule != "" && !r.allow.opens(addr, rule, block) {
		return &Refusal{Rule: rule}
	}
	if r.allow.all || name != "" && r.allow.hasName(name) || r.allow.hasAddr(addr) || r.allow.hasAddr(inner(addr)) {
		return nil
	}
	return &Refusal{Rule: RuleNotAllowed}
}

func (m *matcher) hasName(name string) bool {
	return m.names[name] || slices.ContainsFunc(m.suffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

func (m *matcher) hasAddr(addr netip.Addr) bool {
	return slices.ContainsFunc(m.nets, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// opens tells whether the list names addr on purpose: by a network inside the
// block that closes it.
func (m *matcher) opens(addr netip.Addr, rule Rule, block netip.Prefix) bool {
	return slices.ContainsFunc(m.nets, func(n netip.Prefix) bool {
		if !n.Contains(addr) {
			return false
		}
		if rule == RuleMetadata {
			return n.IsSingleIP()
		}
		return n.Bits() >= block.Bits()
	})
}
