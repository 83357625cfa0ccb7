package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// TestSweep leaves all that is not what a killed writer of our files leaves.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".a.tmp-123", ".a.tmp-", ".b.tmp-1", ".a.tmp-x1", "a.tmp-1", ".a", "a"} {
		mustWrite(t, filepath.Join(dir, name), "x")
	}
	mustDo(t, os.Mkdir(filepath.Join(dir, ".a.tmp-7"), 0o700))
	mustDo(t, atomicfile.Sweep(dir, func(name string) bool { return name == "a" }))
	wantNames(t, dir, ".a", ".a.tmp-7", ".a.tmp-x1", ".b.tmp-1", "a", "a.tmp-1")
	mustDo(t, atomicfile.Sweep(filepath.Join(dir, "none"), func(string) bool { return true }))
}
