//go:build unix

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dontWait has Open not wait for the other end of a pipe.
const dontWait = unix.O_NONBLOCK | unix.O_NOCTTY

// SyncDir makes a rename in dir survive a power loss. Some file systems can't
// sync a folder, and say so with EINVAL: there is nothing more to do there.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

// noModes tells an error of Chmod that means that files have no mode here.
func noModes(error) bool { return false }
