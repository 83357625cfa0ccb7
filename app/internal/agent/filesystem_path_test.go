package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestCleanPath(t *testing.T) {
	tests := []struct{ in, want string }{
		{"f", "/home/user/f"},
		{".", "/home/user"},
		{"./a//b/", "/home/user/a/b"},
		{"/", "/"},
		{"//tmp/./x/", "/tmp/x"},
		{"...", "/home/user/..."},
		{"a\nb", "/home/user/a\nb"},
		{"ñ\U0010FFFF\U0010FF80", "/home/user/ñ\xff\x80"},
	}
	for _, tt := range tests {
		got, err := cleanPath("/home/user", tt.in)
		if got != tt.want || err != nil {
			t.Errorf("cleanPath(%q) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "\x00", "a/..", "..", "../a", "/..", "a/../b", "/a/\x00"} {
		if got, err := cleanPath("/home/user", bad); status.Code(err) != codes.InvalidArgument {
			t.Errorf("cleanPath(%q) = %q, %v; want InvalidArgument", bad, got, err)
		}
	}
}

func TestNameText(t *testing.T) {
	tests := []struct{ name, text string }{
		{"plain", "plain"},
		{"ñandú\n", "ñandú\n"},
		{"a\xffb", "a\U0010FFFFb"},
		{"\xc3", "\U0010FFC3"},
		{"\U0010FF80", "\U0010FFF4\U0010FF8F\U0010FFBE\U0010FF80"}, // a name that looks escaped
		{"\U0010F000", "\U0010F000"},
		{"\uFFFD", "\uFFFD"},
	}
	for _, tt := range tests {
		if got := nameText(tt.name); got != tt.text {
			t.Errorf("nameText(%q) = %q, want %q", tt.name, got, tt.text)
		}
		if got := nameBytes(tt.text); got != tt.name {
			t.Errorf("nameBytes(%q) = %q, want %q", tt.text, got, tt.name)
		}
	}
}

func TestDenyList(t *testing.T) {
	d := denyList{"/etc", "/opt/rayito"}
	tests := []struct {
		path           string
		holds, leadsTo bool
	}{
		{"/etc", true, true},
		{"/etc/passwd", true, true},
		{"/etcetera", false, false},
		{"/opt", false, true},
		{"/opt/rayito/x", true, true},
		{"/opt/rayitos", false, false},
		{"/", false, true},
		{"/home", false, false},
	}
	for _, tt := range tests {
		if got := d.holds(tt.path); got != tt.holds {
			t.Errorf("holds(%q) = %v", tt.path, got)
		}
		if got := d.leadsTo(tt.path); got != tt.leadsTo {
			t.Errorf("leadsTo(%q) = %v", tt.path, got)
		}
	}
}

// FuzzPath holds the rules that keep a path where it says it is.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"", "a", "/", "../x", "a/./b", "a\xff", "\U0010FF80", "\U0010FFAE\U0010FFAE/x", "a/\U0010FFFF/.."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := nameText(s)
		if !utf8.ValidString(text) {
			t.Fatalf("nameText(%q) is not UTF-8", s)
		}
		if got := nameBytes(text); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
		p, err := cleanPath("/home/user", s)
		if err != nil {
			return
		}
		if p[0] != '/' || strings.IndexByte(p, 0) >= 0 || p != "/" && strings.HasSuffix(p, "/") {
			t.Fatalf("cleanPath(%q) = %q", s, p)
		}
		for e := range strings.SplitSeq(p[1:], "/") {
			if e == ".." || e == "." || e == "" && p != "/" {
				t.Fatalf("cleanPath(%q) = %q", s, p)
			}
		}
		if s[0] != '/' && !within(p, "/home/user") {
			t.Fatalf("cleanPath(%q) = %q leaves home", s, p)
		}
	})
}
