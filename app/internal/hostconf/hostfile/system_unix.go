//go:build unix

package hostfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openFlags keep open from waiting at a pipe.
const openFlags = unix.O_NONBLOCK | unix.O_NOCTTY

func isReadOnly(err error) bool { return errors.Is(err, unix.EROFS) }

func isFull(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.EFBIG)
}

// isInUse tells what renaming over a file says that something else is mounted
// on or runs from.
func isInUse(err error) bool { return errors.Is(err, unix.EBUSY) || errors.Is(err, unix.ETXTBSY) }

// writable tells whether the user means the file to be written. Replacing it
// would work without that, and so would writing for root.
func writable(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 {
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrPermission}
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// folderWritable tells whether a file can be made in dir.
func folderWritable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write", Path: dir, Err: err}
	}
	return nil
}

func links(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// makeTemp makes a file that nobody else can read.
func makeTemp(path string, _ snapshot, _ string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
}

// adopt gives f the owner, mode and attributes of the file at path. It never
// lets in anyone whom the old file kept out.
func adopt(f *os.File, path string, old fs.FileInfo) ([]Note, error) {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, f.Chmod(old.Mode().Perm())
	}
	var notes []Note
	mode := old.Mode().Perm()
	uid, gid, err := ownerOf(f)
	if err != nil {
		return nil, err
	}
	if uid != st.Uid && f.Chown(int(st.Uid), -1) != nil {
		notes = append(notes, OwnerLost)
	}
	if gid != st.Gid && f.Chown(-1, int(st.Gid)) != nil {
		notes = append(notes, GroupLost)
		mode = groupAsOthers(mode)
	}
	if err := f.Chmod(mode); err != nil {
		return nil, err
	}
	lost, listLost := copyAttributes(path, f)
	if listLost { // the bits of the group were the limit of the list, not the group's
		if err := f.Chmod(groupAsOthers(mode)); err != nil {
			return nil, err
		}
	}
	if lost || listLost {
		notes = append(notes, AttrsLost)
	}
	return notes, nil
}

func ownerOf(f *os.File) (uid, gid uint32, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, errors.ErrUnsupported
	}
	return st.Uid, st.Gid, nil
}

// groupAsOthers is mode with no more for the group than for others.
func groupAsOthers(mode fs.FileMode) fs.FileMode {
	return mode&^0o070 | mode&0o070&(mode&0o007<<3)
}
