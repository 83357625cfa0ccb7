package atomicfile_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	writers := []struct {
		name  string
		write func(string, []byte, fs.FileMode) error
	}{
		{"Write", atomicfile.Write},
		{"WriteSync", atomicfile.WriteSync},
	}
	tests := []struct {
		name string
		old  string // content before, if any
		data string
		mode fs.FileMode
	}{
		{"new file", "", "one", 0o600},
		{"replaces", "before", "after", 0o600},
		{"empty", "before", "", 0o600},
		{"mode wider than the umask", "", "one", 0o666},
		{"read only", "", "one", 0o400},
	}
	for _, w := range writers {
		for _, tt := range tests {
			t.Run(w.name+"/"+tt.name, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "file")
				if tt.old != "" {
					mustWrite(t, path, tt.old)
				}
				if err := w.write(path, []byte(tt.data), tt.mode); err != nil {
					t.Fatal(err)
				}
				if got := read(t, path); got != tt.data {
					t.Errorf("content = %q, want %q", got, tt.data)
				}
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != tt.mode {
					t.Errorf("mode = %v, want %v", got, tt.mode)
				}
				wantNames(t, dir, "file")
			})
		}
	}
}

func TestWriteFailsClean(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string) string // returns the path to write
		want []string                              // names in dir afterwards
	}{
		{"no folder", func(_ *testing.T, dir string) string { return filepath.Join(dir, "none", "file") }, nil},
		{"a folder is there", func(t *testing.T, dir string) string {
			mustDo(t, os.Mkdir(filepath.Join(dir, "file"), 0o700))
			return filepath.Join(dir, "file")
		}, []string{"file"}},
		{"a link to itself", func(t *testing.T, dir string) string {
			mustDo(t, os.Symlink("file", filepath.Join(dir, "file")))
			return filepath.Join(dir, "file")
		}, []string{"file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := tt.make(t, dir)
			if err := atomicfile.Write(path, []byte("x"), 0o600); err == nil {
				t.Errorf("Write(%s) = nil, want an error", path)
			}
			wantNames(t, dir, tt.want...)
		})
	}
}

func TestWriteKeepsLink(t *testing.T) {
	tests := []struct {
		name, old string
	}{
		{"target there", "before"},
		{"target missing", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			mustDo(t, os.Mkdir(filepath.Join(dir, "kept"), 0o700))
			target := filepath.Join(dir, "kept", "real")
			if tt.old != "" {
				mustWrite(t, target, tt.old)
			}
			link := filepath.Join(dir, "link")
			mustDo(t, os.Symlink(filepath.Join("kept", "real"), link))
			mustDo(t, atomicfile.Write(link, []byte("after"), 0o600))
			if to, err := os.Readlink(link); err != nil {
				t.Errorf("link is gone: now %q, %v", to, err)
			}
			if got := read(t, target); got != "after" {
				t.Errorf("target = %q, want %q", got, "after")
			}
		})
	}
}

// TestTargetInLinkedFolder has a relative link in a folder that is reached by a
// link itself: ".." leads out of the folder, not out of the link.
func TestTargetInLinkedFolder(t *testing.T) {
	dir := t.TempDir()
	mustDo(t, os.MkdirAll(filepath.Join(dir, "deep", "kept"), 0o700))
	mustDo(t, os.Symlink(filepath.Join("deep", "kept"), filepath.Join(dir, "short")))
	mustDo(t, os.Symlink(filepath.Join("..", "real"), filepath.Join(dir, "short", "link")))
	mustDo(t, atomicfile.Write(filepath.Join(dir, "short", "link"), []byte("x"), 0o600))
	if got := read(t, filepath.Join(dir, "deep", "real")); got != "x" {
		t.Errorf("the target holds %q", got)
	}
}

// TestWriteConcurrent has readers look while writers replace: each must see one
// of the whole contents.
func TestWriteConcurrent(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 64<<10) }
	mustDo(t, atomicfile.Write(path, content(0), 0o600))
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for range 25 {
				if err := atomicfile.Write(path, content(i), 0o600); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		writers.Wait()
		close(done)
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 64<<10 || !bytes.Equal(got, bytes.Repeat(got[:1], len(got))) {
			t.Fatalf("read a mix of %d bytes", len(got))
		}
	}
	wantNames(t, dir, "file")
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("names in folder = %q, want %q", got, want)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func mustWrite(t *testing.T, path, content string) {
	t.Helper()
	mustDo(t, os.WriteFile(path, []byte(content), 0o600))
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
