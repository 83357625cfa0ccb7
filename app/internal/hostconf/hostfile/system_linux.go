package hostfile

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const accessList = "system.posix_acl_access"

// copyAttributes copies what the user, access lists and SELinux attached to the
// file at path. listLost: it has an access list that could not be copied.
func copyAttributes(path string, f *os.File) (lost, listLost bool) {
	names, err := attributes(path)
	if err != nil {
		return !errors.Is(err, unix.ENOTSUP), false
	}
	for _, name := range names {
		if name != accessList && name != "security.selinux" && !strings.HasPrefix(name, "user.") {
			continue
		}
		value, err := attribute(path, name)
		if err == nil {
			err = unix.Fsetxattr(int(f.Fd()), name, value, 0)
		}
		switch {
		case err == nil:
		case name == accessList:
			listLost = true
		default:
			lost = true
		}
	}
	return lost, listLost
}

func attributes(path string) ([]string, error) {
	buf, err := grown(func(b []byte) (int, error) { return unix.Listxattr(path, b) })
	if err != nil {
		return nil, err
	}
	names := strings.Split(string(buf), "\x00")
	slices.Sort(names)
	return names, nil
}

func attribute(path, name string) ([]byte, error) {
	return grown(func(b []byte) (int, error) { return unix.Getxattr(path, name, b) })
}

// grown calls get with more and more room until that is enough.
func grown(get func([]byte) (int, error)) ([]byte, error) {
	for size := 1 << 10; ; size *= 4 {
		buf := make([]byte, size)
		n, err := get(buf)
		if err == nil {
			return buf[:n], nil
		}
		if !errors.Is(err, unix.ERANGE) || size > 1<<20 {
			return nil, err
		}
	}
}

// isWritten reports whether a process has the file open to write it. The system
// says so when asked for a read lease; file systems without leases, and files
// of other users, leave it unknown.
func isWritten(_ string, f *os.File) bool {
	written := false
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		if err == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
		}
		written = errors.Is(err, unix.EAGAIN)
	})
	return written
}

// swap puts a in the place of b, and b in that of a, at once.
func swap(a, b string) error {
	return unswappable(unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE))
}

// moveNew renames a to b, where nothing may be yet.
func moveNew(a, b string) error {
	err := unswappable(unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_NOREPLACE))
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
