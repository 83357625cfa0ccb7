package hostfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const openFlags = 0

func isReadOnly(err error) bool { return errors.Is(err, windows.ERROR_WRITE_PROTECT) }

func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isInUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
}

func writable(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 { // the attribute "read-only"
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrPermission}
	}
	return nil
}

func folderWritable(string) error { return nil } // only trying tells

func links(fs.FileInfo) int { return 1 } // files of users have no other names here

// makeTemp makes a file that has the access list of the old one from the start.
// A new one has that of its folder, which in the user's profile lets in that
// user and administrators.
func makeTemp(path string, old snapshot, realPath string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	var attrs *windows.SecurityAttributes
	if old.doc != nil {
		list, err := windows.GetNamedSecurityInfo(realPath, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
		if err != nil {
			return nil, err
		}
		attrs = &windows.SecurityAttributes{SecurityDescriptor: list}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, share, attrs,
		windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// adopt has nothing left to do: the file was made with its access list.
func adopt(*os.File, string, fs.FileInfo) ([]Note, error) { return nil, nil }

// isWritten reports whether a process has the file open to write it: then it
// can't be opened by one that does not put up with that.
func isWritten(path string, _ *os.File) bool {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return false
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ, share, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return errors.Is(err, windows.ERROR_SHARING_VIOLATION)
	}
	windows.CloseHandle(h)
	return false
}

// swap is not to be had here.
func swap(string, string) error { return errors.ErrUnsupported }

// moveNew renames a to b, where nothing may be yet.
func moveNew(a, b string) error {
	from, err := windows.UTF16PtrFromString(a)
	if err != nil {
		return err
	}
	to, err := windows.UTF16PtrFromString(b)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(from, to, windows.MOVEFILE_WRITE_THROUGH)
}
