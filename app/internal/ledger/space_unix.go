//go:build unix

package ledger

import "golang.org/x/sys/unix"

// freeSpace is how many bytes a user may still write to the disk of dir.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil
}
