package egress

import "fmt"

// A Rule names what closed a connection. It is in every refusal, and stable.
type Rule string

// The rules, in the words that a refusal uses for them.
const (
	RuleDenied      Rule = "denied"        // the policy's deny list
	RuleNotAllowed  Rule = "not-allowed"   // the policy's allow list
	RulePort        Rule = "port"          // the policy's ports
	RuleBadName     Rule = "bad-name"      // no name or address at all, or one written to mislead
	RuleLocalName   Rule = "local-name"    // localhost and names of the local network
	RuleUnspecified Rule = "unspecified"   // 0.0.0.0/8, ::
	RuleLoopback    Rule = "loopback"      // this computer
	RulePrivate     Rule = "private"       // RFC 1918, unique-local
	RuleShared      Rule = "shared"        // 100.64.0.0/10, behind a provider's NAT
	RuleLinkLocal   Rule = "link-local"    // 169.254.0.0/16, fe80::/10
	RuleMulticast   Rule = "multicast"     // 224.0.0.0/4, ff00::/8
	RuleReserved    Rule = "reserved"      // documentation, benchmarks, broadcast, not given out
	RuleMetadata    Rule = "metadata"      // credentials of a cloud machine
	RuleDisguised   Rule = "disguised"     // IPv4 inside IPv6: compatible, 6to4, Teredo
	RuleNeighbour   Rule = "local-network" // an address of this computer or its network
)

// reasons finish the sentence "NAME:PORT is refused: ...".
var reasons = map[Rule]string{
	RuleDenied:      "it is on the deny list of this sandbox's template",
	RuleNotAllowed:  "it is not on the allow list of this sandbox's template",
	RulePort:        "this port is closed by this sandbox's template",
	RuleBadName:     "it is not a plain host name or address",
	RuleLocalName:   "it is a name of this computer or of the local network",
	RuleUnspecified: "its address is unspecified",
	RuleLoopback:    "its address is a loopback address",
	RulePrivate:     "its address is private",
	RuleShared:      "its address is in the shared space behind a provider's NAT",
	RuleLinkLocal:   "its address is link-local",
	RuleMulticast:   "its address is a multicast address",
	RuleReserved:    "its address is reserved",
	RuleMetadata:    "its address is that of a cloud's metadata service",
	RuleDisguised:   "its address hides another one",
	RuleNeighbour:   "its address belongs to this computer or its local network",
}

// hints say what to do about it.
var hints = map[Rule]string{
	RuleDenied:     "Change the template's egress policy if it should be reached.",
	RuleNotAllowed: "Add it to the template's egress allow list if it should be reached.",
	RulePort:       "Change allowPorts or denyPorts in the template's egress policy if it should be reached.",
	RuleBadName:    "Write the name in ASCII (xn--...), or the address in its usual form.",
}

// A Refusal is the answer to a connection that the policy does not allow. It
// never holds the addresses that a name stands for: they would tell a sandbox
// about the network around it.
type Refusal struct {
	Target string // "name:port" as it was asked for
	Rule   Rule
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s is refused: %s (rule %s)", r.Target, reasons[r.Rule], r.Rule)
}

// Hint says what to do about the refusal.
func (r *Refusal) Hint() string {
	if h := hints[r.Rule]; h != "" {
		return h
	}
	return "A sandbox reaches the public internet only. Name the address in the template's egress allow list to open it. " +
		"An allow list closes all that is not on it: \"*\" beside the address keeps the internet open."
}
