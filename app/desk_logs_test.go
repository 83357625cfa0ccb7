package app

import (
	"strings"
	"testing"
)

// TestLinesFrom picks the lines of a level and of worse ones, with what follows
// them, and of many the last.
func TestLinesFrom(t *testing.T) {
	const text = "half a line\ntime=1 level=DEBUG msg=a\ntime=2 level=INFO msg=b\n\tmore of b\ntime=3 level=WARN msg=c\ntime=4 level=ERROR+4 msg=d\npanic: at the disco\ntime=5 level=INFO msg=\"level=ERROR is a word\"\n"
	for level, want := range map[int]string{
		0: "level=DEBUG msg=a|level=INFO msg=b|more of b|level=WARN msg=c|level=ERROR+4 msg=d|panic:|a word",
		1: "level=INFO msg=b|more of b|level=WARN msg=c|level=ERROR+4 msg=d|panic:|a word",
		2: "level=WARN msg=c|level=ERROR+4 msg=d|panic:",
		3: "level=ERROR+4 msg=d|panic:",
	} {
		got := strings.Split(strings.TrimSuffix(linesFrom(text, level), "\n"), "\n")
		parts := strings.Split(want, "|")
		if len(got) != len(parts) {
			t.Errorf("from level %d: %q", level, got)
			continue
		}
		for i, part := range parts {
			if !strings.Contains(got[i], part) {
				t.Errorf("from level %d: line %q, want %q", level, got[i], part)
			}
		}
	}
	many := linesFrom(strings.Repeat("time=1 level=ERROR msg=x\n", 2000)+"time=2 level=ERROR msg=last\n", 3)
	if len(many) > logTail || !strings.HasPrefix(many, "time=1") || !strings.HasSuffix(many, "last\n") {
		t.Errorf("%d bytes, that begin %.20q", len(many), many)
	}
}
