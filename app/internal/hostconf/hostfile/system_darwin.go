package hostfile

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// copyAttributes copies the extended attributes of the file at path.
func copyAttributes(path string, f *os.File) (lost, listLost bool) {
	buf := make([]byte, 64<<10)
	n, err := unix.Listxattr(path, buf)
	if err != nil {
		return !errors.Is(err, unix.ENOTSUP), false
	}
	for name := range strings.SplitSeq(string(buf[:n]), "\x00") {
		if name == "" {
			continue
		}
		value := make([]byte, 1<<20)
		size, err := unix.Getxattr(path, name, value)
		if err == nil {
			err = unix.Fsetxattr(int(f.Fd()), name, value[:size], 0)
		}
		lost = lost || err != nil
	}
	return lost, false
}

// isWritten is not known here.
func isWritten(string, *os.File) bool { return false }

// swap puts a in the place of b, and b in that of a, at once.
func swap(a, b string) error { return unswappable(unix.RenamexNp(a, b, unix.RENAME_SWAP)) }

// moveNew renames a to b, where nothing may be yet.
func moveNew(a, b string) error {
	err := unswappable(unix.RenamexNp(a, b, unix.RENAME_EXCL))
	if errors.Is(err, errors.ErrUnsupported) {
		return linkNew(a, b)
	}
	return err
}

func unswappable(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}
