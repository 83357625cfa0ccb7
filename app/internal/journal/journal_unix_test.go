//go:build unix

package journal_test

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/journal"
)

// A pipe where the file should be is refused, and not waited for.
func TestOpenRefusesPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fleet.journal")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(path); !errors.Is(err, atomicfile.ErrNotRegular) || errors.Is(err, journal.ErrDamaged) {
		t.Errorf("open: %v", err)
	}
}
