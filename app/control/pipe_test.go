package control

import (
	"strings"
	"testing"
)

func TestPipeName(t *testing.T) {
	const sid = "S-1-5-21-1-2-3-1001"
	a, b := pipeName(sid, `C:\one`), pipeName(sid, `C:\two`)
	if a == b {
		t.Errorf("two homes share the pipe %s", a)
	}
	if other := pipeName("S-1-5-21-1-2-3-1002", `C:\one`); other == a {
		t.Errorf("two users share the pipe %s", a)
	}
	for _, name := range []string{a, b} {
		if !strings.HasPrefix(name, pipePrefix) || len(name) > 256 || strings.Count(name, `\`) != 4 {
			t.Errorf("%q can't be a pipe", name)
		}
	}
}

// TestPipeACL holds the list to the owner and the system: one entry more would
// open every sandbox to somebody.
func TestPipeACL(t *testing.T) {
	const sid = "S-1-5-21-1-2-3-1001"
	want := "D:P(D;;GA;;;NU)(A;;GA;;;" + sid + ")(A;;GA;;;SY)"
	if got := pipeACL(sid); got != want {
		t.Errorf("pipeACL() = %s, want %s", got, want)
	}
}
