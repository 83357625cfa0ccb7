package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

const (
	portsWithin = 10 * time.Second
	maxPorts    = 256 << 10 // bytes of a table of sockets that are looked at
	// almostIdle is how long before a sandbox falls asleep it is left alone.
	almostIdle = 10 * time.Second
	socketsV4  = "/proc/net/tcp"
	socketsV6  = "/proc/net/tcp6"
	listening  = "0A" // the state of a socket in these tables
)

// What every sandbox listens at, for us: calls, hooks and, where it is of a local
// cloud, the way out, on its loopback alone.
const (
	callsPort = 8080
	hooksPort = 9000
	proxyPort = 3128
)

// A portView is what was found to listen in a sandbox, and after which use of it.
type portView struct {
	ports  []netip.AddrPort
	usedAt time.Time
	known  bool
}

// Ports are those that something in a sandbox listens at. Of one that is not
// awake by itself there are none: to look must not wake it, nor keep it awake.
// So one in which no call runs is asked once after each use, if it is of this
// computer, and not at all else.
func (f *Fleet) Ports(ctx context.Context, id string) ([]netip.AddrPort, error) {
	f.mu.Lock()
	b := f.byIDLocked(id)
	if b == nil {
		f.mu.Unlock()
		return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no sandbox " + id + " of ours"}
	}
	agent, cloud, busy, seen := b.agent, b.cloud, b.running > 0, b.ports
	usedAt, idle, local := b.usedAt, b.Request.Idle, b.Profile == sandbox.ProfileLocal
	awake := agent != nil && b.EndReason == "" && b.Ending == "" && b.State == sandbox.Running && (busy || local)
	f.mu.Unlock()
	if !awake {
		return nil, nil
	}
	if !busy {
		if seen.known && seen.usedAt.Equal(usedAt) {
			return seen.ports, nil
		}
		if idle > 0 && f.clock.Since(usedAt) > idle-almostIdle {
			return nil, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, portsWithin)
	defer cancel()
	if !busy && cloud != nil { // what we know of it may be old
		if vm, err := cloud.Get(ctx, id); err != nil || vm.State != sandbox.Running {
			return nil, nil
		}
	}
	// A command, since file calls have no business in there; its exit code tells
	// only that there is no IPv6.
	var text bytes.Buffer
	look := sandbox.Exec{ID: newKey(), Target: sandbox.Target{Sandbox: id}, Args: []string{"cat", socketsV4, socketsV6}, Timeout: portsWithin}
	_, err := agent.Start(ctx, look, func(ev Event) error {
		if ev.Stream == sandbox.Stdout && text.Len() < maxPorts {
			text.Write(ev.Data)
		}
		return nil
	})
	if err != nil {
		return nil, f.judge(ctx, b, err)
	}
	out := slices.DeleteFunc(distinct(listeners(text.String())), func(at netip.AddrPort) bool {
		return at.Port() == callsPort || at.Port() == hooksPort || at.Port() == proxyPort && at.Addr().IsLoopback()
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	b.ports = portView{out, usedAt, true}
	return out, nil
}

// listeners are the addresses in tables of sockets that something listens at.
func listeners(table string) []netip.AddrPort {
	var out []netip.AddrPort
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[3] != listening {
			continue
		}
		if at, ok := parseSocket(fields[1]); ok {
			out = append(out, at)
		}
	}
	return out
}

// parseSocket reads an address as the kernel writes it: words in the order of
// the machine, which is little-endian wherever sandboxes run, and the port.
func parseSocket(s string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(port, 16, 16)
	raw, failed := hex.DecodeString(host)
	if !ok || err != nil || failed != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for at := 0; at < len(raw); at += 4 {
		binary.BigEndian.PutUint32(raw[at:], binary.LittleEndian.Uint32(raw[at:]))
	}
	addr, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(addr.Unmap(), uint16(n)), ok
}

// distinct has each once, by port and then by address.
func distinct(all []netip.AddrPort) []netip.AddrPort {
	slices.SortFunc(all, func(a, b netip.AddrPort) int {
		return cmp.Or(cmp.Compare(a.Port(), b.Port()), a.Addr().Compare(b.Addr()))
	})
	return slices.Compact(all)
}
