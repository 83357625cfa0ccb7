//go:build unix

package control_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/paths"
)

func TestListen(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		want func(error) bool // nil: it listens
	}{
		{"nothing there", func(*testing.T, string) {}, nil},
		{"a folder open to all", func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Dir(path), 0o777))
			must(t, os.Chmod(filepath.Dir(path), 0o777))
		}, nil},
		{"a socket that a dead engine left", func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			must(t, err)
			ln.SetUnlinkOnClose(false)
			must(t, ln.Close())
		}, nil},
		{"a socket that answers", func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			ln, err := net.Listen("unix", path)
			must(t, err)
			t.Cleanup(func() { ln.Close() })
		}, func(err error) bool { return errors.Is(err, control.ErrTaken) }},
		{"a plain file", func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.WriteFile(path, []byte("mine"), 0o600))
		}, func(err error) bool { return err != nil }},
		{"a link to a socket", func(t *testing.T, path string) {
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.Symlink(path+".other", path))
		}, func(err error) bool { return err != nil }},
		{"a folder that is a link", func(t *testing.T, path string) {
			must(t, os.Symlink(t.TempDir(), filepath.Dir(path)))
		}, func(err error) bool { return err != nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(shortDir(t), "run", "s")
			tt.make(t, path)
			ln, err := control.Listen(t.Context(), path)
			if tt.want != nil {
				if !tt.want(err) {
					t.Errorf("Listen() = %v", err)
				}
				if text, rerr := os.ReadFile(path); rerr == nil && string(text) != "mine" {
					t.Errorf("the file holds %q now", text)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			info, err := os.Stat(filepath.Dir(path))
			must(t, err)
			if got := info.Mode().Perm(); got != 0o700 {
				t.Errorf("the folder's mode is %o", got)
			}
		})
	}
}

func TestListenTooLong(t *testing.T) {
	_, err := control.Listen(t.Context(), filepath.Join(shortDir(t), strings.Repeat("d", 100), "control.sock"))
	if err == nil || !strings.Contains(err.Error(), paths.Home) {
		t.Errorf("Listen() = %v, want an error that names %s", err, paths.Home)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
