//go:build unix

package settings

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks f, unless another has.
func tryLock(f *os.File) (taken bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return true, nil
	}
	return false, err
}
