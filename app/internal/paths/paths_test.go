//go:build unix

package paths_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"github.com/arenero/arenero/app/internal/paths"
)

func TestFind(t *testing.T) {
	home, run := t.TempDir(), t.TempDir()
	tests := []struct {
		name string
		env  map[string]string
		want paths.Dirs
	}{
		{
			"one folder",
			map[string]string{paths.Home: home},
			paths.Dirs{Config: home + "/config", State: home + "/state", Cache: home + "/cache", Runtime: home + "/run"},
		},
		{
			"xdg",
			map[string]string{
				"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/k", "XDG_RUNTIME_DIR": run,
			},
			paths.Dirs{Config: "/c/arenero", State: "/s/arenero", Cache: "/k/arenero", Runtime: run + "/arenero"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Cleanup(xdg.Reload)
			t.Setenv(paths.Home, "")
			for k, v := range tt.env {
				t.Setenv(k, v)
			}
			xdg.Reload()
			got, err := paths.Find()
			if err != nil {
				t.Fatal(err)
			}
			if got != tt.want {
				t.Errorf("Find() = %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestFindWithoutHome(t *testing.T) {
	for _, home := range []string{"", "relative"} {
		t.Setenv(paths.Home, "")
		t.Setenv("HOME", home)
		if got, err := paths.Find(); err == nil || !strings.Contains(err.Error(), paths.Home) {
			t.Errorf("home %q: Find() = %+v, %v, want an error that names %s", home, got, err, paths.Home)
		}
		t.Setenv(paths.Home, t.TempDir())
		if _, err := paths.Find(); err != nil {
			t.Errorf("home %q, %s set: Find() = %v", home, paths.Home, err)
		}
	}
}

func TestFindWithoutRuntimeFolder(t *testing.T) {
	t.Cleanup(xdg.Reload)
	temp := t.TempDir()
	t.Setenv(paths.Home, "")
	t.Setenv("XDG_RUNTIME_DIR", "/nonexistent/run")
	t.Setenv("TMPDIR", temp)
	xdg.Reload()
	got, err := paths.Find()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Runtime, temp+"/arenero-") {
		t.Errorf("runtime folder = %s, want one in %s", got.Runtime, temp)
	}
}

func TestPrivate(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		ok   bool
	}{
		{"missing", func(*testing.T, string) {}, true},
		{"there", func(t *testing.T, dir string) { must(t, os.Mkdir(dir, 0o700)) }, true},
		{"too open", func(t *testing.T, dir string) {
			must(t, os.Mkdir(dir, 0o700))
			must(t, os.Chmod(dir, 0o777))
		}, true},
		{"a link", func(t *testing.T, dir string) { must(t, os.Symlink(t.TempDir(), dir)) }, false},
		{"a file", func(t *testing.T, dir string) { must(t, os.WriteFile(dir, nil, 0o600)) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			tt.make(t, dir)
			err := paths.Private(dir)
			if (err == nil) != tt.ok {
				t.Fatalf("Private() = %v, want ok %v", err, tt.ok)
			}
			if !tt.ok {
				return
			}
			info, err := os.Stat(dir)
			must(t, err)
			if got := info.Mode().Perm(); got != 0o700 {
				t.Errorf("mode = %v, want 0700", got)
			}
		})
	}
}

func TestSocket(t *testing.T) {
	tests := []struct {
		name, dir string
		ok        bool
	}{
		{"short", "/run/user/1000/arenero", true},
		{"just fits", "/" + strings.Repeat("d", paths.MaxSocket-len("/")-len("/cloud.sock")), true},
		{"one too long", "/" + strings.Repeat("d", paths.MaxSocket-len("/")-len("/cloud.sock")+1), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := paths.Socket(tt.dir, "cloud.sock")
			if (err == nil) != tt.ok {
				t.Fatalf("Socket() = %v, want ok %v", err, tt.ok)
			}
			if tt.ok && got != tt.dir+"/cloud.sock" {
				t.Errorf("Socket() = %q", got)
			}
			if !tt.ok && !strings.Contains(err.Error(), paths.Home) {
				t.Errorf("error %q does not name %s", err, paths.Home)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
