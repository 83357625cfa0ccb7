package app

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/windows"
)

// ownedByUs is always true: folders of a user's profile are closed to others by
// the system.
func ownedByUs(fs.FileInfo) bool { return true }

// freeSpace is how many bytes this user may still write where dir is.
func freeSpace(dir string) (free uint64, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err
}

// isFull reports whether err says that there is no room left, or none for this
// user.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
