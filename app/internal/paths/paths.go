// Package paths says where this program keeps its files, and makes the folders
// that only their owner may enter.
package paths

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
)

// Home is the environment variable that puts everything below one folder, for
// tests and for second instances.
const Home = "ARENERO_HOME"

// MaxSocket is the longest path of a Unix socket that every system takes: macOS
// has room for 104 bytes with the closing NUL, Linux for 108.
const MaxSocket = 103

// Dirs are the folders of this program. They need not exist: make each with
// [Private] before its first use.
type Dirs struct {
	Config  string // settings
	State   string // what must outlive the program: ledger, local sandboxes, logs
	Cache   string // what can be made again
	Runtime string // sockets; gone after a restart of the computer
}

// Find returns the folders below [Home] where that is set, else those that the
// system keeps for such files. They are nowhere for a user without a home.
func Find() (Dirs, error) {
	if home := os.Getenv(Home); home != "" {
		home, err := filepath.Abs(home)
		if err != nil {
			return Dirs{}, fmt.Errorf("find %s: %w", Home, err)
		}
		return Dirs{
			Config:  filepath.Join(home, "config"),
			State:   filepath.Join(home, "state"),
			Cache:   filepath.Join(home, "cache"),
			Runtime: filepath.Join(home, "run"),
		}, nil
	}
	if home, err := os.UserHomeDir(); err != nil || !filepath.IsAbs(home) {
		return Dirs{}, fmt.Errorf("find the home folder: the environment does not name it: set %s to a folder", Home)
	}
	return Dirs{
		Config:  filepath.Join(xdg.ConfigHome, "arenero"),
		State:   filepath.Join(xdg.StateHome, "arenero"),
		Cache:   filepath.Join(xdg.CacheHome, "arenero"),
		Runtime: runtimeDir(xdg.RuntimeDir, os.TempDir()),
	}, nil
}

// Cloud is where the local cloud keeps its records and its sandboxes.
func (d Dirs) Cloud() string { return filepath.Join(d.State, "cloud") }

// OwnCloud is where a cloud that the user starts does so. The engine starts the
// other one, and neither may keep the other from its folder.
func (d Dirs) OwnCloud() string { return filepath.Join(d.State, "own-cloud") }

// Private makes dir, and its parents where they are missing, so that only this
// user may enter, and checks that of a folder that was there.
func Private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make private folder: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at private folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("use %s: not a folder (a symbolic link will not do)", dir)
	}
	return private(dir, info)
}

// Socket returns the path of a Unix socket in dir. A path that is too long for
// some system is an error here, where it can be explained: the system itself
// says no more than "invalid argument".
func Socket(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if len(path) > MaxSocket {
		return "", fmt.Errorf("use socket %s: the path has %d bytes, %d are allowed: set %s to a shorter folder", path, len(path), MaxSocket, Home)
	}
	return path, nil
}
