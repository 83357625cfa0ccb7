package dataplane

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

var secret = bytes.Repeat([]byte{7}, KeySize)

func testKeys(t testing.TB) *Keys {
	t.Helper()
	k, err := NewKeys(secret)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func mint(t testing.TB, k *Keys, vm string, ports []PortRange, shell bool, expiry time.Time) string {
	t.Helper()
	token, err := k.Mint(vm, ports, shell, expiry)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokenLength(t *testing.T) {
	k, now := testKeys(t), time.Now()
	var many []PortRange
	for p := 1; p <= 100; p++ {
		many = append(many, PortRange{p * 2, p * 2})
	}
	tests := []struct {
		name  string
		ports []PortRange
		shell bool
		after time.Duration
		want  int
	}{
		{"one port", []PortRange{{8080, 8080}}, false, time.Minute, 823},
		{"an hour", []PortRange{{8080, 8080}}, false, time.Hour, 823},
		{"a hundred ports", many, false, time.Hour, 823},
		{"all ports", []PortRange{AllPorts}, false, time.Hour, 767},
		{"all ports in pieces", []PortRange{{1000, 65535}, {1, 5000}}, false, time.Hour, 767},
		{"shell", nil, true, time.Hour, 767},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			token := mint(t, k, "microvm-11111111-2222-4333-8444-555555555555", tt.ports, tt.shell, now.Add(tt.after))
			if got := len(token); got != tt.want {
				t.Errorf("token has %d characters, want %d", got, tt.want)
			}
		})
	}
}

// A token is what the standard says, not just what we can read.
func TestTokenIsJWE(t *testing.T) {
	k := testKeys(t)
	token := mint(t, k, "vm", []PortRange{{80, 80}}, false, time.Now())
	obj, err := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
	if err != nil {
		t.Fatal(err)
	}
	if obj.Header.KeyID == "" || obj.Header.Algorithm != "dir" || obj.Header.ExtraHeaders["enc"] != "A256GCM" {
		t.Errorf("header = %+v", obj.Header)
	}
	plain, err := obj.Decrypt(secret)
	if err != nil {
		t.Fatal(err)
	}
	if g, ok := decodeClaims(plain); !ok || g.VM != "vm" {
		t.Errorf("claims = %+v, %v", g, ok)
	}
}

func TestTokenCheck(t *testing.T) {
	k, now := testKeys(t), time.UnixMilli(1_800_000_000_000)
	other, err := NewKeys(bytes.Repeat([]byte{8}, KeySize))
	if err != nil {
		t.Fatal(err)
	}
	good := mint(t, k, "vm", []PortRange{{8080, 8080}, {3000, 3010}}, false, now.Add(time.Minute))
	flip := func(i int) string {
		b := []byte(good)
		b[i] ^= 1
		return string(b)
	}
	parts := strings.Split(good, ".")
	with := func(i int, s string) string {
		p := append([]string{}, parts...)
		p[i] = s
		return strings.Join(p, ".")
	}
	tests := []struct {
		name  string
		token string
		vm    string
		port  int
		after time.Duration
		want  error
	}{
		{"good", good, "vm", 8080, 0, nil},
		{"first of a range", good, "vm", 3000, 0, nil},
		{"last of a range", good, "vm", 3010, 0, nil},
		{"past a range", good, "vm", 3011, 0, errPortDenied},
		{"below a range", good, "vm", 2999, 0, errPortDenied},
		{"hook port", good, "vm", 9000, 0, errPortDenied},
		{"shell", good, "vm", 0, 0, errPortDenied},
		{"last moment", good, "vm", 8080, time.Minute - time.Millisecond, nil},
		{"expired", good, "vm", 8080, time.Minute, errExpiredToken},
		{"another VM", good, "vm2", 8080, 0, errForeignToken},
		{"none", "", "vm", 8080, 0, errNoToken},
		{"garbage", "garbage", "vm", 8080, 0, errBadToken},
		{"five empty parts", "....", "vm", 8080, 0, errBadToken},
		{"another key", mint(t, other, "vm", []PortRange{{8080, 8080}}, false, now.Add(time.Minute)), "vm", 8080, 0, errBadToken},
		{"changed header", flip(5), "vm", 8080, 0, errBadToken},
		{"changed nonce", flip(len(parts[0]) + 4), "vm", 8080, 0, errBadToken},
		{"changed text", flip(300), "vm", 8080, 0, errBadToken},
		{"changed tag", flip(len(good) - 3), "vm", 8080, 0, errBadToken},
		{"changed last bit", flip(len(good) - 1), "vm", 8080, 0, errBadToken},
		{"cut short", good[:len(good)-4], "vm", 8080, 0, errBadToken},
		{"longer", good + "AAAA", "vm", 8080, 0, errBadToken},
		{"another part", good + ".AAAA", "vm", 8080, 0, errBadToken},
		{"wrapped key", with(1, "AAAA"), "vm", 8080, 0, errBadToken},
		{"no nonce", with(2, ""), "vm", 8080, 0, errBadToken},
		{"no text", with(3, ""), "vm", 8080, 0, errBadToken},
		{"huge", good + strings.Repeat("A", 1<<20), "vm", 8080, 0, errBadToken},
		{"line feed", good[:400] + "\n" + good[400:], "vm", 8080, 0, errBadToken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := k.Check(tt.token, tt.vm, tt.port, now.Add(tt.after)); !errors.Is(got, tt.want) {
				t.Errorf("Check = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestMintRefuses(t *testing.T) {
	k := testKeys(t)
	var tooMany []PortRange
	for p := 1; p <= 300; p++ {
		tooMany = append(tooMany, PortRange{p * 2, p * 2})
	}
	tests := []struct {
		name  string
		vm    string
		ports []PortRange
		shell bool
	}{
		{"port 0", "vm", []PortRange{{0, 1}}, false},
		{"port 65536", "vm", []PortRange{{1, 65536}}, false},
		{"backwards", "vm", []PortRange{{2, 1}}, false},
		{"nothing", "vm", nil, false},
		{"shell and ports", "vm", []PortRange{{1, 2}}, true},
		{"too many ranges", "vm", tooMany, false},
		{"long id", strings.Repeat("x", 600), []PortRange{{1, 2}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if token, err := k.Mint(tt.vm, tt.ports, tt.shell, time.Now()); err == nil {
				t.Errorf("Mint gave a token of %d characters", len(token))
			}
		})
	}
	if _, err := k.Mint("vm", tooMany, false, time.Now()); !errors.Is(err, ErrTooManyPorts) {
		t.Errorf("Mint = %v, want ErrTooManyPorts", err)
	}
	if _, err := NewKeys(secret[1:]); err == nil {
		t.Error("NewKeys took a key of 31 bytes")
	}
}

func FuzzToken(f *testing.F) {
	k := testKeys(f)
	now := time.UnixMilli(1_800_000_000_000)
	good := mint(f, k, "vm", []PortRange{{8080, 8080}}, false, now.Add(time.Minute))
	f.Add(good)
	f.Add("a.b.c.d.e")
	f.Fuzz(func(t *testing.T, token string) {
		g, err := k.Open(token)
		obj, refErr := jose.ParseEncryptedCompact(token, []jose.KeyAlgorithm{jose.DIRECT}, []jose.ContentEncryption{jose.A256GCM})
		var plain []byte
		if refErr == nil {
			plain, refErr = obj.Decrypt(secret)
		}
		if err == nil && refErr != nil {
			t.Errorf("Open took what the library refuses: %v", refErr)
		}
		if want, ok := decodeClaims(plain); err == nil && (!ok || !reflect.DeepEqual(g, want)) {
			t.Errorf("Open = %+v, want %+v", g, want)
		}
	})
}

func FuzzClaims(f *testing.F) {
	good, err := encodeClaims(Grant{"vm", []PortRange{{1, 2}, {80, 80}}, false, time.UnixMilli(1)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		g, ok := decodeClaims(b)
		if !ok || g.Shell || len(g.VM) > 200 || len(g.Ports) > 50 {
			return
		}
		again, err := encodeClaims(g)
		if err != nil {
			t.Fatal(err)
		}
		if g2, ok := decodeClaims(again); !ok || !reflect.DeepEqual(g, g2) {
			t.Errorf("claims %+v became %+v", g, g2)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	k := testKeys(b)
	token := mint(b, k, "vm", []PortRange{{8080, 8080}}, false, time.Now())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.Open(token); err != nil {
			b.Fatal(err)
		}
	}
}
