//go:build unix

package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// None of these waits, and each says which file it is about.
func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link, dir, os.DevNull} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_CREATE | os.O_APPEND, os.O_WRONLY | os.O_CREATE | os.O_TRUNC} {
			f, err := atomicfile.Open(path, flag, 0o600)
			if !errors.Is(err, atomicfile.ErrNotRegular) || !strings.Contains(err.Error(), path) {
				t.Errorf("open %s with %#x: %v, %v", path, flag, f, err)
			}
		}
		if text, err := atomicfile.Read(path); !errors.Is(err, atomicfile.ErrNotRegular) {
			t.Errorf("read %s: %q, %v", path, text, err)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if _, err := atomicfile.Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		f, err := atomicfile.Open(link, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("line\n"); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if text, err := atomicfile.Read(path); string(text) != "line\nline\n" {
		t.Errorf("read %q, %v", text, err)
	}
}
