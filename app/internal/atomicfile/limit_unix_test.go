//go:build unix

package atomicfile_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// TestWriteBreaksOff has a write fail in the middle, as it does on a full disk:
// what was there stays, and nothing is left beside it.
func TestWriteBreaksOff(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	mustWrite(t, path, "before")

	signal.Ignore(syscall.SIGXFSZ) // the error is enough
	defer signal.Reset(syscall.SIGXFSZ)
	var before unix.Rlimit
	mustDo(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &before))
	mustDo(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 4096, Max: before.Max}))
	err := atomicfile.Write(path, make([]byte, 1<<20), 0o600)
	mustDo(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &before))

	if err == nil {
		t.Error("a file over the limit was written")
	}
	wantNames(t, dir, "file")
	if got, err := os.ReadFile(path); err != nil || string(got) != "before" {
		t.Errorf("file holds %d bytes, %v; want what was there", len(got), err)
	}
}
