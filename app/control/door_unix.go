//go:build unix

package control

import (
	"errors"
	"io"
	"path/filepath"

	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/paths"
)

// DoorPath returns where the windows of this user have their door.
func DoorPath() (string, error) {
	dirs, err := paths.Find()
	if err != nil {
		return "", err
	}
	return paths.Socket(dirs.Runtime, "window.sock")
}

// doorLock sees to it that of two programs that start at once one alone takes
// the socket of one that has ended.
func doorLock(path string) (io.Closer, error) {
	if err := paths.Private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := filelock.Try(path + ".lock")
	if errors.Is(err, filelock.ErrTaken) {
		return nil, ErrTaken
	}
	return lock, err
}
