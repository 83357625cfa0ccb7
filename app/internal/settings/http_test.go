package settings_test

import (
	"os"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/settings"
)

// TestAddresses tells those that can be served at, and those of them that other
// computers may reach.
func TestAddresses(t *testing.T) {
	for address, open := range map[string]bool{
		"127.0.0.1:8000": false, "127.1.2.3:1": false, "[::1]:65535": false, "localhost:80": false, "LocalHost:80": false,
		"192.168.1.10:8000": true, "[fe80::1]:8000": true, "box.lan:8000": true,
	} {
		if err := settings.CheckAddress(address); err != nil || settings.IsOpen(address) != open {
			t.Errorf("%s: %v, open: %t", address, err, settings.IsOpen(address))
		}
	}
	for _, address := range []string{
		"", "8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:http", ":8000", "0.0.0.0:8000", "[::]:8000", "0:8000", "0x0:8000", "*:8000",
		"http://127.0.0.1:8000", "a b:1", "me@host:1", "::1:80", "\x1b[31mx:1", "a\x1bc:1", "x\u202e:1", "x\x00:1", "a#b:1", "a\"b:1", "a\xffb:1",
	} {
		if err := settings.CheckAddress(address); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}

// TestHTTP keeps what is usual unwritten, and what it does not know.
func TestHTTP(t *testing.T) {
	f := file(t, `{"http": {"on": true, "path": "/x", "address": "127.0.0.1:9000", "token": true}}`)
	s, err := f.Read()
	if err != nil || !s.HTTP.On || !s.HTTP.Token || s.HTTP.At() != "127.0.0.1:9000" {
		t.Fatalf("%+v, %v", s.HTTP, err)
	}
	change(t, f, func(s *settings.Settings) { s.HTTP.On, s.HTTP.Address, s.HTTP.Token = false, "", false })
	text, err := os.ReadFile(f.Path())
	if err != nil || !strings.Contains(string(text), `"path": "/x"`) || strings.Contains(string(text), "address") || strings.Contains(string(text), "token") {
		t.Errorf("the file: %s, %v", text, err)
	}
	if s, err := f.Read(); err != nil || s.HTTP.On || s.HTTP.At() != settings.UsualAddress {
		t.Errorf("%+v, %v", s.HTTP, err)
	}
	for _, bad := range []string{`{"http": []}`, `{"http": {"on": 1}}`} {
		if s, err := file(t, bad).Read(); err == nil {
			t.Errorf("%s: %+v", bad, s.HTTP)
		}
	}
}
