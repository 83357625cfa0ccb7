package coldstart_test

import (
	"runtime/debug"
	"testing"

	"github.com/arenero/arenero/app/internal/coldstart"
)

func TestOver(t *testing.T) {
	coldstart.Over()
	got := debug.SetGCPercent(100)
	debug.SetGCPercent(got)
	if want := 100; got != want {
		t.Errorf("memory is tidied at a growth of %d%%, want %d%%", got, want)
	}
}
