package egress

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	local := []netip.Prefix{
		netip.MustParsePrefix("198.0.0.0/24"), netip.MustParsePrefix("2a00:1234::/64"), netip.MustParsePrefix("10.0.0.0/24"),
	}
	tests := []struct {
		addr string
		want Rule
	}{
		{"8.8.8.8", ""},
		{"172.15.255.255", ""},
		{"172.32.0.1", ""},
		{"100.63.255.255", ""},
		{"100.128.0.1", ""},
		{"192.0.1.1", ""},
		{"223.255.255.255", ""},
		{"2606:4700:4700::1111", ""},
		{"2a00:1235::1", ""},
		{"0.0.0.0", RuleUnspecified},
		{"0.1.2.3", RuleUnspecified},
		{"127.0.0.1", RuleLoopback},
		{"127.255.255.254", RuleLoopback},
		{"10.0.0.1", RulePrivate},
		{"10.255.255.255", RulePrivate},
		{"172.16.0.1", RulePrivate},
		{"172.31.255.255", RulePrivate},
		{"192.168.1.1", RulePrivate},
		{"100.64.0.1", RuleShared},
		{"100.127.255.255", RuleShared},
		{"169.254.0.1", RuleLinkLocal},
		{"169.254.169.254", RuleMetadata},
		{"169.254.170.2", RuleMetadata},
		{"100.100.100.200", RuleMetadata},
		{"168.63.129.16", RuleMetadata},
		{"192.0.0.192", RuleMetadata},
		{"192.0.0.1", RuleReserved},
		{"192.0.2.1", RuleReserved},
		{"198.18.0.1", RuleReserved},
		{"198.19.255.255", RuleReserved},
		{"198.51.100.1", RuleReserved},
		{"203.0.113.1", RuleReserved},
		{"192.88.99.1", RuleReserved},
		{"224.0.0.1", RuleMulticast},
		{"239.255.255.255", RuleMulticast},
		{"240.0.0.1", RuleReserved},
		{"255.255.255.255", RuleReserved},
		{"::", RuleUnspecified},
		{"::1", RuleLoopback},
		{"::7f00:1", RuleDisguised},
		{"::808:808", RuleDisguised},
		{"::ffff:8.8.8.8", ""},
		{"::ffff:127.0.0.1", RuleLoopback},
		{"::ffff:10.0.0.1", RulePrivate},
		{"::ffff:169.254.169.254", RuleMetadata},
		{"::ffff:0:7f00:1", RuleDisguised},
		{"64:ff9b::808:808", ""},
		{"64:ff9b::7f00:1", RuleLoopback},
		{"64:ff9b::a9fe:a9fe", RuleMetadata},
		{"64:ff9b::c0a8:101", RulePrivate},
		{"64:ff9b:1::a00:1", RuleDisguised},
		{"2002:7f00:1::", RuleDisguised},
		{"2002:808:808::1", RuleDisguised},
		{"2001:0:808:808::1", RuleDisguised},
		{"2001:2::1", RuleReserved},
		{"2001:db8::1", RuleReserved},
		{"3fff::1", RuleReserved},
		{"5f00::1", RuleReserved},
		{"100::1", RuleReserved},
		{"4000::1", RuleReserved},
		{"fc00::1", RulePrivate},
		{"fd12:3456::1", RulePrivate},
		{"fec0::1", RulePrivate},
		{"fd00:ec2::254", RuleMetadata},
		{"fd20:ce::254", RuleMetadata},
		{"fe80::1", RuleLinkLocal},
		{"fe80::1%eth0", RuleLinkLocal},
		{"2606:4700::1%eth0", RuleLinkLocal},
		{"ff02::1", RuleMulticast},
		{"198.0.0.7", RuleNeighbour},
		{"2a00:1234::42", RuleNeighbour},
	}
	for _, tt := range tests {
		t.Run(tt.addr, func(t *testing.T) {
			if got, _ := classify(netip.MustParseAddr(tt.addr), local); got != tt.want {
				t.Errorf("classify(%s) = %q, want %q", tt.addr, got, tt.want)
			}
		})
	}
}

// dns answers names in tests, and counts how often it is asked.
type dns map[string][]string

const public, public6 = "93.184.216.34", "2606:2800:220:1::1"

var names = dns{
	"public.example":     {public},
	"six.example":        {public6},
	"both.example":       {public6, public},
	"loop.example":       {"127.0.0.1"},
	"loop6.example":      {"::1"},
	"private.example":    {"10.1.2.3"},
	"ula.example":        {"fd00::7"},
	"cgnat.example":      {"100.64.9.9"},
	"link.example":       {"169.254.7.7"},
	"meta.example":       {"169.254.169.254"},
	"meta6.example":      {"fd00:ec2::254"},
	"mapped.example":     {"::ffff:192.168.0.1"},
	"mappedok.example":   {"::ffff:" + public},
	"nat64.example":      {"64:ff9b::a00:1"},
	"sixtofour.example":  {"2002:a00:1::1"},
	"teredo.example":     {"2001:0:a00:1::1"},
	"multi.example":      {"224.0.0.251"},
	"broad.example":      {"255.255.255.255"},
	"zero.example":       {"0.0.0.0"},
	"mixed.example":      {public, public6, "10.0.0.1"},
	"localhost":          {"127.0.0.1", "::1"},
	"db.internal":        {"10.1.2.3"},
	"a.b.public.example": {public},
}

func TestPolicy(t *testing.T) {
	only := func(entries ...string) Policy { return Policy{Allow: entries} }
	tests := []struct {
		name   string
		policy Policy
		target string
		want   Rule
	}{
		{"public name", Policy{}, "public.example:443", ""},
		{"public name in capitals", Policy{}, "PUBLIC.Example:443", ""},
		{"public name with a dot behind", Policy{}, "public.example.:443", ""},
		{"public address", Policy{}, public + ":80", ""},
		{"public address 6", Policy{}, "[" + public6 + "]:80", ""},
		{"mapped public address", Policy{}, "[::ffff:" + public + "]:80", ""},
		{"name of a mapped public address", Policy{}, "mappedok.example:80", ""},
		{"two public addresses", Policy{}, "both.example:80", ""},

		{"loopback", Policy{}, "127.0.0.1:80", RuleLoopback},
		{"loopback 6", Policy{}, "[::1]:80", RuleLoopback},
		{"mapped loopback", Policy{}, "[::ffff:127.0.0.1]:80", RuleLoopback},
		{"mapped loopback in hex", Policy{}, "[::ffff:7f00:1]:80", RuleLoopback},
		{"compatible loopback", Policy{}, "[::127.0.0.1]:80", RuleDisguised},
		{"unspecified", Policy{}, "0.0.0.0:80", RuleUnspecified},
		{"unspecified 6", Policy{}, "[::]:80", RuleUnspecified},
		{"metadata", Policy{}, "169.254.169.254:80", RuleMetadata},
		{"metadata 6", Policy{}, "[fd00:ec2::254]:80", RuleMetadata},
		{"neighbour", Policy{}, "198.0.0.9:80", RuleNeighbour},
		{"zone", Policy{}, "[fe80::1%25eth0]:80", RuleBadName},
		{"zone of a public address", Policy{}, "[" + public6 + "%eth0]:80", RuleBadName},

		{"name of loopback", Policy{}, "loop.example:80", RuleLoopback},
		{"name of loopback 6", Policy{}, "loop6.example:80", RuleLoopback},
		{"name of a private address", Policy{}, "private.example:80", RulePrivate},
		{"name of a unique-local address", Policy{}, "ula.example:80", RulePrivate},
		{"name of a shared address", Policy{}, "cgnat.example:80", RuleShared},
		{"name of a link-local address", Policy{}, "link.example:80", RuleLinkLocal},
		{"name of metadata", Policy{}, "meta.example:80", RuleMetadata},
		{"name of metadata 6", Policy{}, "meta6.example:80", RuleMetadata},
		{"name of a mapped private address", Policy{}, "mapped.example:80", RulePrivate},
		{"name of NAT64", Policy{}, "nat64.example:80", RulePrivate},
		{"name of 6to4", Policy{}, "sixtofour.example:80", RuleDisguised},
		{"name of Teredo", Policy{}, "teredo.example:80", RuleDisguised},
		{"name of multicast", Policy{}, "multi.example:80", RuleMulticast},
		{"name of broadcast", Policy{}, "broad.example:80", RuleReserved},
		{"name of 0.0.0.0", Policy{}, "zero.example:80", RuleUnspecified},
		{"one private among many", Policy{}, "mixed.example:80", RulePrivate},

		{"localhost", Policy{}, "localhost:80", RuleLocalName},
		{"localhost with a dot", Policy{}, "localhost.:80", RuleLocalName},
		{"LOCALHOST", Policy{}, "LOCALHOST:80", RuleLocalName},
		{"below localhost", Policy{}, "x.localhost:80", RuleLocalName},
		{"one word", Policy{}, "printer:80", RuleLocalName},
		{"mDNS", Policy{}, "printer.local:80", RuleLocalName},
		{"metadata by name", Policy{}, "metadata.google.internal:80", RuleLocalName},
		{"short address", Policy{}, "127.1:80", RuleBadName},
		{"hex address", Policy{}, "0x7f.1:80", RuleBadName},
		{"hex number", Policy{}, "0x7f000001:80", RuleBadName},
		{"one number", Policy{}, "2130706433:80", RuleBadName},
		{"octal address", Policy{}, "0177.0.0.1:80", RuleBadName},
		{"address with a dot", Policy{}, "127.0.0.1.:80", RuleBadName},
		{"two dots", Policy{}, "public.example..:80", RuleBadName},
		{"no host", Policy{}, ":80", RuleBadName},
		{"wide digits", Policy{}, "１２７.0.0.1:80", RuleBadName},
		{"NUL", Policy{}, "public.example\x00.x:80", RuleBadName},
		{"no port", Policy{}, "public.example", RuleBadName},
		{"port 0", Policy{}, "public.example:0", RuleBadName},
		{"port too high", Policy{}, "public.example:65536", RuleBadName},
		{"port in words", Policy{}, "public.example:http", RuleBadName},

		{"allowed name", only("public.example"), "public.example:80", ""},
		{"allowed name with a dot", only("Public.example."), "public.example:80", ""},
		{"name not allowed", only("public.example"), "six.example:80", RuleNotAllowed},
		{"address not allowed", only("public.example"), public + ":80", RuleNotAllowed},
		{"allowed suffix", only("*.public.example"), "a.b.public.example:80", ""},
		{"suffix is not the name itself", only("*.public.example"), "public.example:80", RuleNotAllowed},
		{"suffix is whole parts", only("*.example"), "notexample:80", RuleLocalName},
		{"allowed network", only("93.184.216.0/24"), public + ":80", ""},
		{"name in an allowed network", only("93.184.216.0/24"), "public.example:80", ""},
		{"name out of an allowed network", only("93.184.216.0/24"), "both.example:80", RuleNotAllowed},
		{"allowed through NAT64", only("93.184.216.0/24"), "[64:ff9b::5db8:d822]:80", ""},
		{"allowed name of a private address", only("private.example"), "private.example:80", RulePrivate},
		{"allowed name and private network", only("db.internal", "10.1.0.0/16"), "db.internal:80", ""},
		{"all and a private network", only("*", "10.1.0.0/16"), "private.example:80", ""},
		{"all and another private network", only("*", "10.2.0.0/16"), "private.example:80", RulePrivate},
		{"all and loopback", only("*", "127.0.0.1"), "127.0.0.1:80", ""},
		{"all and other loopback", only("*", "127.0.0.1"), "127.0.0.2:80", RuleLoopback},
		{"localhost on purpose", only("localhost", "127.0.0.1", "::1"), "localhost:80", ""},
		{"whole internet opens nothing private", only("0.0.0.0/0", "::/0"), "10.0.0.1:80", RulePrivate},
		{"whole internet opens no loopback 6", only("0.0.0.0/0", "::/0"), "[::1]:80", RuleLoopback},
		{"link-local opens no metadata", only("*", "169.254.0.0/16"), "169.254.169.254:80", RuleMetadata},
		{"link-local opens link-local", only("*", "169.254.0.0/16"), "169.254.7.7:80", ""},
		{"metadata on purpose", only("*", "169.254.169.254"), "meta.example:80", ""},

		{"denied name", Policy{Deny: []string{"public.example"}}, "PUBLIC.example.:80", RuleDenied},
		{"denied suffix", Policy{Deny: []string{"*.example"}}, "a.b.public.example:80", RuleDenied},
		{"denied address by name", Policy{Deny: []string{public}}, "public.example:80", RuleDenied},
		{"denied address mapped", Policy{Deny: []string{public}}, "[::ffff:" + public + "]:80", RuleDenied},
		{"denied address through NAT64", Policy{Deny: []string{public}}, "[64:ff9b::5db8:d822]:80", RuleDenied},
		{"deny wins", Policy{Allow: []string{"public.example"}, Deny: []string{"public.example"}}, "public.example:80", RuleDenied},
		{"all denied", Policy{Deny: []string{"*"}}, public + ":80", RuleDenied},
		{"all names denied", Policy{Deny: []string{"*"}}, "public.example:80", RuleDenied},

		{"allowed port", Policy{AllowPorts: []string{"80", "443"}}, "public.example:443", ""},
		{"port not allowed", Policy{AllowPorts: []string{"80", "443"}}, "public.example:22", RulePort},
		{"port in a range", Policy{AllowPorts: []string{"8000-8999"}}, "public.example:8999", ""},
		{"denied port", Policy{DenyPorts: []string{"25"}}, "public.example:25", RulePort},
		{"denied port wins", Policy{AllowPorts: []string{"1-65535"}, DenyPorts: []string{"25"}}, "public.example:25", RulePort},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNet(t, tt.policy)
			conn, err := n.proxy.dial(t.Context(), tt.target)
			if err == nil {
				conn.Close()
			}
			r, refused := errors.AsType[*Refusal](err)
			switch {
			case tt.want == "" && err != nil:
				t.Fatalf("dial(%q) = %v, want a connection", tt.target, err)
			case tt.want != "" && !refused:
				t.Fatalf("dial(%q) = %v, want it refused by %q", tt.target, err, tt.want)
			case tt.want == "":
				return
			}
			if r.Rule != tt.want {
				t.Errorf("dial(%q) is refused by %q, want %q", tt.target, r.Rule, tt.want)
			}
			if got := n.dialled(); len(got) > 0 {
				t.Errorf("dial(%q) is refused, yet %v was dialled", tt.target, got)
			}
			if reasons[r.Rule] == "" || r.Target != tt.target {
				t.Errorf("refusal %+v does not say what and why", r)
			}
		})
	}
}

func TestPolicyValidate(t *testing.T) {
	tests := []struct {
		name   string
		policy string
		want   string // in the error; "" for none
	}{
		{"empty", `{}`, ""},
		{"all of it", `{"allow":["*","example.org","*.example.org","10.0.0.0/8","::1"],"deny":["x.org"],"allowPorts":["80","8000-8999"],"denyPorts":["25"]}`, ""},
		{"a URL", `{"allow":["https://example.org"]}`, `allow: "https://example.org"`},
		{"a star inside", `{"deny":["a.*.org"]}`, `deny: "a.*.org"`},
		{"a star behind", `{"deny":["example.*"]}`, `deny: "example.*"`},
		{"odd address", `{"allow":["127.1"]}`, `allow: "127.1"`},
		{"odd network", `{"allow":["10.0.0.0/40"]}`, `allow: "10.0.0.0/40"`},
		{"mapped network", `{"allow":["::ffff:10.0.0.0/104"]}`, "IPv4 network"},
		{"zone", `{"allow":["fe80::1%eth0"]}`, "zone"},
		{"empty entry", `{"allow":[""]}`, `allow: ""`},
		{"port 0", `{"allowPorts":["0"]}`, `allowPorts: "0"`},
		{"signed port", `{"allowPorts":["+80"]}`, `allowPorts: "+80"`},
		{"backward range", `{"denyPorts":["90-80"]}`, `denyPorts: "90-80"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var p Policy
			if err := json.Unmarshal([]byte(tt.policy), &p); err != nil {
				t.Fatal(err)
			}
			err := p.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Validate() = %v, want %q in it", err, tt.want)
			}
			if _, newErr := New(Config{Policy: p}); (newErr == nil) != (err == nil) {
				t.Errorf("New() = %v, Validate() = %v", newErr, err)
			}
		})
	}
}

func TestRulesAreExplained(t *testing.T) {
	for rule := range reasons {
		r := &Refusal{Target: "x:1", Rule: rule}
		if r.Hint() == "" || !strings.Contains(r.Error(), string(rule)) {
			t.Errorf("refusal by %q says %q, hint %q", rule, r.Error(), r.Hint())
		}
	}
	var rules []Rule
	for _, b := range slices.Concat(metadata, special4, special6) {
		rules = append(rules, b.rule)
	}
	for _, rule := range rules {
		if reasons[rule] == "" {
			t.Errorf("rule %q has no words", rule)
		}
	}
}

// FuzzTarget looks for a host that we take for a name and others for an
// address, and for one that changes when it is read again.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"public.example:443", "127.1:80", "0x7f.1:80", "[::1]:80", "a_b.example.:1", "1.2.3.4:5", "[fe80::1%25lo]:1", "0x:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseTarget(s)
		if err != nil {
			return
		}
		if got.port == 0 {
			t.Fatalf("%q has port 0", s)
		}
		if got.name == "" {
			if !got.addr.IsValid() || got.addr.Zone() != "" || got.addr.Is4In6() {
				t.Fatalf("%q is address %v", s, got.addr)
			}
			return
		}
		last := got.name[strings.LastIndexByte(got.name, '.')+1:]
		if strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "" {
			t.Fatalf("%q is name %q, which a resolver reads as an address", s, got.name)
		}
		again, err := canonicalName(got.name)
		if err != nil || again != got.name {
			t.Fatalf("%q is name %q, then %q, %v", s, got.name, again, err)
		}
	})
}
