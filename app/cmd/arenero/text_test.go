package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

func TestMatch(t *testing.T) {
	all := []sandbox.Sandbox{
		{ID: "microvm-aa11", Name: "web", State: sandbox.Terminated},
		{ID: "microvm-aa12", Name: "web", State: sandbox.Running},
		{ID: "microvm-ab34", Name: "aa1", State: sandbox.Suspended},
		{ID: "microvm-cc56", State: sandbox.Running},
		{ID: "microvm-cc57", State: sandbox.Running},
		{ID: "microvm-cc", State: sandbox.Running},
		{ID: "", Key: "k", State: sandbox.Creating},
		{ID: "microvm-dd1", Name: "old", State: sandbox.Terminated},
		{ID: "microvm-dd2", Name: "old", State: sandbox.Terminated},
	}
	tests := []struct {
		name, ref, want string
		code            sandbox.Code
	}{
		{"id", "microvm-ab34", "microvm-ab34", ""},
		{"name of a living and a dead one", "web", "microvm-aa12", ""},
		{"start of an id", "microvm-ab", "microvm-ab34", ""},
		{"start without what all begin with", "ab", "microvm-ab34", ""},
		{"name before start", "aa1", "microvm-ab34", ""},
		{"whole id before longer ones", "microvm-cc", "microvm-cc", ""},
		{"start of two", "cc5", "", sandbox.Invalid},
		{"start of all", "microvm-", "", sandbox.Invalid},
		{"id of a dead one", "microvm-aa11", "microvm-aa11", ""},
		{"name of dead ones: the newest", "old", "microvm-dd2", ""},
		{"nothing", "", "", sandbox.NotFound},
		{"unknown", "zz", "", sandbox.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := match(all, tt.ref)
			if got.ID != tt.want || sandbox.CodeOf(err) != tt.code {
				t.Errorf("match(%q) = %q, %v, want %q, %q", tt.ref, got.ID, err, tt.want, tt.code)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{-time.Second, "0s"},
		{0, "0s"},
		{59*time.Second + 600*time.Millisecond, "1m"},
		{59 * time.Second, "59s"},
		{90 * time.Second, "1m"},
		{59*time.Minute + 59*time.Second, "59m"},
		{time.Hour, "1h"},
		{time.Hour + 5*time.Minute, "1h05m"},
		{49 * time.Hour, "2d"},
	}
	for _, tt := range tests {
		if got := span(tt.d); got != tt.want {
			t.Errorf("span(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all := []sandbox.Sandbox{
		{ID: "microvm-1", State: sandbox.Running, Profile: "local", StartedAt: now.Add(-time.Minute), EndsAt: now.Add(time.Hour), Running: 1},
		{State: sandbox.InDoubt, Profile: "prod", Host: "Cürsor"},
		{ID: "microvm-3", State: sandbox.Running, Profile: "local", Host: "a\x1b[31mb", UsedAt: now.Add(-90 * time.Second)},
		{ID: "microvm-4", State: sandbox.Running, Profile: "prod", Orphan: true},
	}
	check := func(want string) {
		t.Helper()
		var got strings.Builder
		if err := writeTable(&got, table(all, now)); err != nil {
			t.Fatal(err)
		}
		if got.String() != want[1:] {
			t.Errorf("table:\n%s\nwant:%s", got.String(), want)
		}
	}
	check(`
ID         STATE     HOST      PROFILE  AGE  IDLE  LIFE
microvm-1  running   -         local    1m   0s    1h
-          in doubt  Cürsor    prod     -    -     -
microvm-3  running   a?[31mb   local    -    1m    -
microvm-4  running   not ours  prod     -    -     -
`)
	all = []sandbox.Sandbox{{ID: "microvm-2", State: sandbox.Running, Profile: "local", Host: strings.Repeat("ñ", 300)}, all[0]}
	check(`
ID         STATE    HOST                              AGE  IDLE  LIFE
microvm-2  running  ñññññññññññññññññññññññññññññññ…  -    -     -
microvm-1  running  -                                 1m   0s    1h
`)
	all = []sandbox.Sandbox{all[1], {ID: "microvm-5", State: sandbox.Terminated, Profile: "local", EndReason: sandbox.EndCut}}
	check(`
ID         STATE    AGE  IDLE  LIFE  WHY IT ENDED
microvm-1  running  1m   0s    1h    -
microvm-5  ended    -    -     -     the app it was made for crashed, or was killed
`)
}

func TestBar(t *testing.T) {
	tests := []struct {
		name                       string
		files, count, bytes, total int64
		want                       string
	}{
		{"begun", 0, 1, 0, 1 << 20, "[                        ]   0%  0 B of 1.0 MiB  0 B/s"},
		{"half of several", 3, 9, 512, 1024, "[============            ]  50%  512 B of 1.0 KiB  256 B/s  3/9"},
		{"grown meanwhile", 1, 1, 2048, 1024, "[========================] 100%  2.0 KiB of 1.0 KiB  1.0 KiB/s"},
		{"all empty", 1, 2, 0, 0, "[========================] 100%  0 B of 0 B  0 B/s  1/2"},
		{"no end known", 0, 1, 3 << 30, -1, "3.0 GiB  1.5 GiB/s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := bar(tt.files, tt.count, tt.bytes, tt.total, 2*time.Second); got != tt.want {
				t.Errorf("bar() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlaceOf(t *testing.T) {
	tests := []struct {
		arg  string
		want place
	}{
		{"file", place{"", "file"}},
		{"-", place{"", "-"}},
		{"web:", place{"web", "./"}},
		{"web:~", place{"web", "./"}},
		{"web:~/a b", place{"web", "./a b"}},
		{"web:/etc/x:y", place{"web", "/etc/x:y"}},
		{"./odd:name", place{"", "./odd:name"}},
		{"/a/b:c", place{"", "/a/b:c"}},
		{":x", place{"", ":x"}},
	}
	for _, tt := range tests {
		if got := placeOf(tt.arg); got != tt.want {
			t.Errorf("placeOf(%q) = %q, want %q", tt.arg, got, tt.want)
		}
	}
}

// TestInside holds that no link of a sandbox that is copied leads to a file of
// this computer.
func TestInside(t *testing.T) {
	tests := []struct {
		rel, target string
		want        bool
	}{
		{"l", "a", true},
		{"l", "a/b/", true},
		{"d/l", "../a", true},
		{"d/l", "..", true},
		{"l", "..", false},
		{"d/l", "../..", false},
		{"d/l", "../../x", false},
		{"l", "/etc/passwd", false},
		{"l", "", false},
		{"l", "a/../b", false}, // a may be a link
		{"l", "./a", false},    // not worth a thought
	}
	for _, tt := range tests {
		if got := inside(tt.rel, tt.target); got != tt.want {
			t.Errorf("inside(%q, %q) = %v, want %v", tt.rel, tt.target, got, tt.want)
		}
	}
}

func TestLastLines(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"", 3, ""},
		{"a\nb\nc\n", 0, "a\nb\nc\n"},
		{"a\nb\nc\n", 1, "c\n"},
		{"a\nb\nc\n", 2, "b\nc\n"},
		{"a\nb\nc\n", 9, "a\nb\nc\n"},
		{"a\nb", 1, "b"},
	}
	for _, tt := range tests {
		if got := string(lastLines([]byte(tt.text), tt.n)); got != tt.want {
			t.Errorf("lastLines(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

func TestFields(t *testing.T) {
	tests := []struct{ line, want string }{
		{`level=INFO msg="a \"b\" c" pid=12 lease=""`, `map[lease: level:INFO msg:a "b" c pid:12]`},
		{`level=INFO msg=one`, `map[level:INFO msg:one]`},
		{`a word="x`, `map[msg:a word="x]`},
		{``, `map[]`},
	}
	for _, tt := range tests {
		if got := fmt.Sprint(fields(tt.line)); got != tt.want {
			t.Errorf("fields(%s) = %s, want %s", tt.line, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	tests := []struct {
		name     string
		in, want string
		more     bool
	}{
		{"short", "añb", "añb", false},
		{"not UTF-8", "a\xffb", "a\uFFFDb", false},
		{"just fits", strings.Repeat("ñ", maxText), strings.Repeat("ñ", maxText), false},
		{"one too many", strings.Repeat("ñ", maxText+1), strings.Repeat("ñ", maxText), true},
		{"far too many", strings.Repeat("€", 5*maxText), strings.Repeat("€", maxText), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var x text
			for in := []byte(tt.in); len(in) > 0; {
				n, _ := x.Write(in[:min(len(in), 1000)])
				in = in[n:]
			}
			if got, more := x.cut(); got != tt.want || more != tt.more {
				t.Errorf("cut() = %d bytes, %v, want %d, %v", len(got), more, len(tt.want), tt.more)
			}
		})
	}
}
