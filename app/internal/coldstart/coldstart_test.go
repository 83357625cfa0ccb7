package coldstart_test

import (
	"os"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/arenero/arenero/app/internal/coldstart"
)

func TestOver(t *testing.T) {
	want := 100
	if set := os.Getenv("GOGC"); set == "off" {
		want = -1
	} else if n, err := strconv.Atoi(set); err == nil {
		want = n
	}
	growth := func() int {
		g := debug.SetGCPercent(100)
		debug.SetGCPercent(g)
		return g
	}
	if got := growth(); got == want {
		t.Errorf("memory is tidied at a growth of %d%% from the start", got)
	}
	coldstart.Over()
	if got := growth(); got != want {
		t.Errorf("memory is tidied at a growth of %d%%, want %d%%", got, want)
	}
}
