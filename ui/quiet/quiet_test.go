package quiet

import (
	"log"
	"strings"
	"testing"
)

// TestFilter leaves out the complaints about a locale, and nothing else.
func TestFilter(t *testing.T) {
	var got strings.Builder
	l := log.New(&filter{to: &got}, "", 0)
	for _, line := range []string{
		"before",
		"Fyne error:  Error parsing user locale C", "  Cause: language: tag is not well-formed", "  At: lang/locale.go:23",
		"Fyne error:  something else", "  Cause: a reason", "  At: a.go:1",
		"Fyne error:  Error parsing user locale C", "after",
	} {
		l.Println(line)
	}
	want := "before\nFyne error:  something else\n  Cause: a reason\n  At: a.go:1\nafter\n"
	if got.String() != want {
		t.Errorf("left is %q, want %q", got.String(), want)
	}
}

// TestSet holds that what the standard logger writes goes through the filter.
func TestSet(t *testing.T) {
	if _, ok := log.Writer().(*filter); !ok {
		t.Errorf("the logger writes to %T", log.Writer())
	}
}
