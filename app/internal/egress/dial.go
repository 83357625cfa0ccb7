package egress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

const (
	resolveTimeout = 15 * time.Second
	connectTimeout = 30 * time.Second
	// headStart is how long an address has to connect before the next one of
	// the same name is tried beside it (RFC 8305).
	headStart = 300 * time.Millisecond
)

// errNoName is a name that has no address. Its cause is left out: it names the
// name servers of this computer.
var errNoName = errors.New("the name has no address")

// dial connects to hostport if the policy allows it. Every address that the
// name stands for is checked, and then one of these very addresses is dialled:
// a name server that answers differently the next time changes nothing.
func (p *Proxy) dial(ctx context.Context, hostport string) (net.Conn, error) {
	t, err := parseTarget(hostport)
	if err != nil {
		return nil, &Refusal{Target: hostport, Rule: RuleBadName}
	}
	conn, err := p.dialTarget(ctx, t)
	if r, ok := errors.AsType[*Refusal](err); ok {
		return nil, &Refusal{Target: hostport, Rule: r.Rule}
	}
	return conn, err
}

func (p *Proxy) dialTarget(ctx context.Context, t target) (net.Conn, error) {
	addrs, err := p.resolve(ctx, t)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return p.dialAny(ctx, t, addrs)
}

// resolve returns the addresses of t, all of them allowed.
func (p *Proxy) resolve(ctx context.Context, t target) ([]netip.Addr, error) {
	if r := p.rules.checkPort(t.port); r != nil {
		return nil, r
	}
	local, err := p.local()
	if err != nil {
		return nil, err
	}
	addrs := []netip.Addr{t.addr}
	if t.name != "" {
		if r := p.rules.checkName(t.name); r != nil {
			return nil, r
		}
		if addrs, err = p.lookup(ctx, t.name); err != nil {
			return nil, err
		}
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
		if r := p.rules.checkAddr(t.name, addrs[i], local); r != nil {
			return nil, r
		}
	}
	return addrs, nil
}

// lookup asks for the rooted name, so that no search domain is added to it.
func (p *Proxy) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	addrs, err := p.resolver.LookupNetIP(ctx, "ip", name+".")
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("look up name: %w", ctx.Err())
	case err != nil || len(addrs) == 0:
		return nil, errNoName
	}
	return slices.Clone(addrs), nil
}

// dialAny dials all addresses, each a little after the one before it, and
// returns the first connection.
func (p *Proxy) dialAny(ctx context.Context, t target, addrs []netip.Addr) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the dials that lost
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	next := time.NewTimer(0)
	defer next.Stop()
	var first error // the error of the address that was preferred
	for started, ended := 0, 0; ended < len(addrs); {
		select {
		case <-next.C:
			addr := netip.AddrPortFrom(addrs[started], t.port)
			started++
			go func() {
				conn, err := p.connect(ctx, t, addr)
				select {
				case results <- result{conn, err}:
				case <-ctx.Done():
					if err == nil {
						conn.Close()
					}
				}
			}()
			if started < len(addrs) {
				next.Reset(headStart)
			}
		case r := <-results:
			if r.err == nil {
				return r.conn, nil
			}
			ended++
			first = cmp.Or(first, r.err)
			if started < len(addrs) {
				next.Reset(0)
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("connect: %w", cmp.Or(first, ctx.Err()))
		}
	}
	return nil, fmt.Errorf("connect: %w", first)
}

// dialTCP connects to addr and nothing else. The address is checked once more
// at the last moment, in the form in which the kernel gets it.
func (p *Proxy) dialTCP(ctx context.Context, t target, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{
		Control: func(_, address string, _ syscall.RawConn) error { return p.recheck(t, address) },
	}
	return d.DialContext(ctx, "tcp", addr.String())
}

func (p *Proxy) recheck(t target, address string) error {
	got, err := netip.ParseAddrPort(address)
	if err != nil {
		return &Refusal{Rule: RuleBadName}
	}
	local, err := p.local()
	if err != nil {
		return err
	}
	if r := p.rules.checkAddr(t.name, got.Addr().Unmap(), local); r != nil {
		return r
	}
	return nil
}

// hostNetworks are the networks that this computer is in, and its own
// addresses. A network so wide that it is half the internet says nothing about
// who is near, so only our address in it counts.
func hostNetworks() ([]netip.Prefix, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list own addresses: %w", err)
	}
	var nets []netip.Prefix
	for _, a := range addrs {
		n, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		if n.Bits() < 16 {
			n = netip.PrefixFrom(n.Addr(), n.Addr().BitLen())
		}
		nets = append(nets, n.Masked())
	}
	return nets, nil
}
