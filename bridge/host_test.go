package bridge

import "testing"

// Clients write the address that they were given in their own way, and none of
// the names that a web page could have point here.
func TestIsAt(t *testing.T) {
	for _, tt := range []struct {
		host, written string
		want          bool
	}{
		{"127.0.0.1:8000", "127.0.0.1:8000", true},
		{"127.0.0.1:80", "127.0.0.1", true},
		{"localhost:80", "localhost", true},
		{"[::1]:80", "[::1]", true},
		{"LOCALHOST:8000", "localhost:8000", true},
		{"Tower.Example:8000", "tower.example:8000", true},
		{"[0:0:0:0:0:0:0:1]:8000", "[::1]:8000", true},
		{"[::ffff:127.0.0.1]:8000", "[::ffff:7f00:1]:8000", true},
		{"127.0.0.1:8000", "127.0.0.1", false},
		{"127.0.0.1:80", "127.0.0.1:8000", false},
		{"127.0.0.1:80", "127.0.0.1:", false},
		{"127.0.0.1:8000", "localhost:8000", false},
		{"127.0.0.1:8000", "127.0.0.1.evil.example:8000", false},
		{"127.0.0.1:8000", "evil.example", false},
		{"127.0.0.1:8000", "user@127.0.0.1:8000", false},
		{"127.0.0.1:8000", "127.0.0.1:8000/mcp", false},
		{"127.0.0.1:8000", "[::ffff:127.0.0.1]:8000", false},
		{"127.0.0.1:8000", "0x7f.1:8000", false},
		{"localhost:8000", "localhost.:8000", false},
		{"[::1]:8000", "::1:8000", false},
		{"127.0.0.1:80", "", false},
	} {
		if got := isAt(tt.host, tt.written); got != tt.want {
			t.Errorf("at %s, %q: %v", tt.host, tt.written, got)
		}
		h := &Handler{cfg: HTTPConfig{Host: tt.host}}
		if got := h.originAllowed([]string{"http://" + tt.written}); got != tt.want {
			t.Errorf("at %s, origin http://%s: %v", tt.host, tt.written, got)
		}
		if h.originAllowed([]string{"https://" + tt.written}) {
			t.Errorf("at %s, origin https://%s is let in", tt.host, tt.written)
		}
	}
}
