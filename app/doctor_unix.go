//go:build unix

package app

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether a file belongs to this user.
func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
