package egress

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

const greeting = "\x05\x01\x00"

func byName(name string) string { return "\x03" + string(rune(len(name))) + name }

func TestSOCKS(t *testing.T) {
	connect := "\x05\x01\x00"
	tests := []struct {
		name    string
		request string
		err     error // of the dial
		want    byte
	}{
		{"name", connect + byName("public.example") + "\x00\x50", nil, repOK},
		{"IPv4", connect + "\x01\x5d\xb8\xd8\x22\x00\x50", nil, repOK},
		{"IPv6", connect + "\x04" + string(netip.MustParseAddr(public6).AsSlice()) + "\x00\x50", nil, repOK},
		{"IPv4 loopback", connect + "\x01\x7f\x00\x00\x01\x00\x50", nil, repNotAllowed},
		{"IPv6 mapped private", connect + "\x04" + strings.Repeat("\x00", 10) + "\xff\xff\x0a\x00\x00\x01\x00\x50", nil, repNotAllowed},
		{"name of a private address", connect + byName("private.example") + "\x00\x50", nil, repNotAllowed},
		{"address as a name", connect + byName("127.0.0.1") + "\x00\x50", nil, repNotAllowed},
		{"odd address as a name", connect + byName("0x7f.1") + "\x00\x50", nil, repNotAllowed},
		{"localhost", connect + byName("localhost") + "\x00\x50", nil, repNotAllowed},
		{"port 0", connect + byName("public.example") + "\x00\x00", nil, repNotAllowed},
		{"unknown name", connect + byName("nowhere.example") + "\x00\x50", nil, repHost},
		{"server says no", connect + byName("public.example") + "\x00\x50", syscall.ECONNREFUSED, repConnRefused},
		{"no way", connect + byName("public.example") + "\x00\x50", syscall.ENETUNREACH, repNetwork},
		{"no host", connect + byName("public.example") + "\x00\x50", syscall.EHOSTUNREACH, repHost},
		{"silence", connect + byName("public.example") + "\x00\x50", context.DeadlineExceeded, repTimeout},
		{"something else", connect + byName("public.example") + "\x00\x50", io.ErrUnexpectedEOF, repFailure},
		{"bind", "\x05\x02\x00" + byName("public.example") + "\x00\x50", nil, repCommand},
		{"udp", "\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00", nil, repCommand},
		{"no such type", connect + "\x02", nil, repAddressType},
		{"empty name", connect + "\x03\x00", nil, repAddressType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNet(t, Policy{})
			n.serveWith(func(c net.Conn) { io.Copy(c, c); c.Close() })
			if tt.err != nil {
				n.proxy.connect = func(context.Context, target, netip.AddrPort) (net.Conn, error) { return nil, tt.err }
			}
			c := n.dialProxy(t)
			send(t, c, greeting)
			if got := recv(t, c, 2); got != "\x05\x00" {
				t.Fatalf("greeting is answered by %q", got)
			}
			send(t, c, tt.request)
			got := recv(t, c, 10)
			if want := "\x05" + string(rune(tt.want)) + "\x00\x01\x00\x00\x00\x00\x00\x00"; got != want {
				t.Fatalf("reply = %q, want %q", got, want)
			}
			if tt.want == repOK {
				send(t, c, "ping")
				if got := recv(t, c, 4); got != "ping" {
					t.Errorf("echo = %q", got)
				}
				return
			}
			if b, err := io.ReadAll(c); len(b) > 0 || err != nil {
				t.Errorf("after the reply: %q, %v, want the end", b, err)
			}
		})
	}
}

func TestSOCKSGreetings(t *testing.T) {
	tests := []struct {
		name, send, want string
	}{
		{"wants to sign in", "\x05\x01\x02", "\x05\xff"},
		{"no methods", "\x05\x00", "\x05\xff"},
		{"one of many", "\x05\x02\x02\x00", "\x05\x00"},
		{"SOCKS4", "\x04\x01\x00\x50\x5d\xb8\xd8\x22\x00", socks4Rejected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newNet(t, Policy{})
			c := n.dialProxy(t)
			send(t, c, tt.send)
			if got := recv(t, c, len(tt.want)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzSOCKS reads what a client might send: whatever it is, the answer is a
// target that can be parsed or refused, and no more is read than was sent.
func FuzzSOCKS(f *testing.F) {
	f.Add([]byte(greeting + "\x05\x01\x00" + byName("public.example") + "\x00\x50"))
	f.Add([]byte(greeting + "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"))
	f.Add([]byte(greeting + "\x05\x03\x00\x04"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var answer bytes.Buffer
		hostport, rep, err := readSOCKS(struct {
			io.Reader
			io.Writer
		}{bytes.NewReader(b), &answer})
		if err != nil || rep != repOK {
			if hostport != "" {
				t.Fatalf("target %q beside reply %d, %v", hostport, rep, err)
			}
			return
		}
		if _, _, err := net.SplitHostPort(hostport); err != nil && !strings.ContainsAny(hostport, "[]:") {
			t.Fatalf("target %q: %v", hostport, err)
		}
		if answer.String() != "\x05\x00" {
			t.Fatalf("answered %q", answer.String())
		}
	})
}
