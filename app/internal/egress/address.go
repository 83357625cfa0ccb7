package egress

import "net/netip"

// block is a part of the address space that is not the public internet.
type block struct {
	net  netip.Prefix
	rule Rule
}

// metadata are the addresses at which clouds hand out credentials to whoever
// asks. They come first: most lie in a block that is closed anyway, but a
// policy that opens the block must not open them with it.
var metadata = blocks(RuleMetadata,
	"169.254.169.254/32",  // AWS, Google, Azure and most others
	"169.254.169.253/32",  // AWS: name server
	"169.254.169.123/32",  // AWS: clock
	"169.254.170.2/32",    // AWS: credentials of containers
	"169.254.170.23/32",   // AWS: credentials of pods
	"100.100.100.200/32",  // Alibaba
	"168.63.129.16/32",    // Azure: a public address that only its machines reach
	"192.0.0.192/32",      // Oracle
	"fd00:ec2::254/128",   // AWS
	"fd00:ec2::253/128",   // AWS: name server
	"fd00:ec2::123/128",   // AWS: clock
	"fd00:ec2::23/128",    // AWS: credentials of pods
	"fd20:ce::254/128",    // Google
	"fe80::a9fe:a9fe/128", // 169.254.169.254 written as a link-local address
)

// special4 and special6 are from the registries of special-purpose addresses
// that IANA keeps (RFC 6890 and its updates), with multicast.
var special4 = concat(
	blocks(RuleUnspecified, "0.0.0.0/8"),
	blocks(RulePrivate, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
	blocks(RuleShared, "100.64.0.0/10"),
	blocks(RuleLoopback, "127.0.0.0/8"),
	blocks(RuleLinkLocal, "169.254.0.0/16"),
	blocks(RuleReserved,
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.88.99.0/24",  // relays of 6to4
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
	),
	blocks(RuleMulticast, "224.0.0.0/4"),
	blocks(RuleReserved, "240.0.0.0/4"), // with the broadcast address
)

var special6 = concat(
	blocks(RuleUnspecified, "::/128"),
	blocks(RuleLoopback, "::1/128"),
	blocks(RuleDisguised,
		"::/96",         // IPv4-compatible
		"::ffff:0:0/96", // IPv4-mapped; classify takes these apart before
		"::ffff:0:0:0/96",
		"64:ff9b:1::/48", // NAT64 of this site
		"2001::/32",      // Teredo
		"2002::/16",      // 6to4
	),
	blocks(RuleReserved,
		"100::/64",      // discard
		"2001::/23",     // protocol assignments
		"2001:db8::/32", // documentation
		"3fff::/20",     // documentation
		"5f00::/16",     // segment routing
	),
	blocks(RulePrivate, "fc00::/7", "fec0::/10"),
	blocks(RuleLinkLocal, "fe80::/10"),
	blocks(RuleMulticast, "ff00::/8"),
)

var (
	// nat64 addresses are a public IPv4 address as seen from a network that
	// has only IPv6. They are as good as the address inside.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
	// global is all that has been given out of IPv6 so far.
	global = netip.MustParsePrefix("2000::/3")
)

// classify says which rule closes addr and the block that it lies in. The rule
// is "" for an address of the public internet. local are the networks that this
// computer is in: with IPv6 its neighbours, and it itself, have public
// addresses too.
func classify(addr netip.Addr, local []netip.Prefix) (Rule, netip.Prefix) {
	if addr.Zone() != "" || !addr.IsValid() {
		return RuleLinkLocal, netip.PrefixFrom(addr.WithZone(""), addr.BitLen())
	}
	addr = addr.Unmap()
	for _, b := range metadata {
		if b.net.Contains(addr) {
			return b.rule, b.net
		}
	}
	special := special6
	if addr.Is4() {
		special = special4
	}
	for _, b := range special {
		if b.net.Contains(addr) {
			return b.rule, b.net
		}
	}
	if nat64.Contains(addr) {
		if rule, _ := classify(inner(addr), local); rule != "" {
			return rule, netip.PrefixFrom(addr, addr.BitLen())
		}
		return "", netip.Prefix{}
	}
	for _, n := range local {
		if n.Contains(addr) {
			return RuleNeighbour, n
		}
	}
	if addr.Is6() && !global.Contains(addr) {
		return RuleReserved, netip.PrefixFrom(addr, addr.BitLen())
	}
	return "", netip.Prefix{}
}

// inner is the IPv4 address that addr leads to: through NAT64 another one, else
// itself.
func inner(addr netip.Addr) netip.Addr {
	if !nat64.Contains(addr) {
		return addr
	}
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:]))
}

func blocks(rule Rule, nets ...string) []block {
	var bs []block
	for _, n := range nets {
		bs = append(bs, block{netip.MustParsePrefix(n), rule})
	}
	return bs
}

func concat(lists ...[]block) []block {
	var all []block
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}
