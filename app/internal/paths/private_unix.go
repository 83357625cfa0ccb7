//go:build unix

package paths

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// runtimeDir is our folder in the system's runtime folder. That exists only for
// users who logged in; for others (cron, containers) a folder of their own in
// temp does, which Private refuses if someone else made it first.
func runtimeDir(system, temp string) string {
	if info, err := os.Stat(system); err == nil && info.IsDir() && owner(info) == os.Geteuid() {
		return filepath.Join(system, "arenero")
	}
	return filepath.Join(temp, "arenero-"+strconv.Itoa(os.Geteuid()))
}

func private(dir string, info fs.FileInfo) error {
	if uid := owner(info); uid != os.Geteuid() {
		return fmt.Errorf("use %s: it belongs to user %d, not to us", dir, uid)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return fmt.Errorf("make folder private: %w", err)
	}
	return nil
}

func owner(info fs.FileInfo) int {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1
	}
	return int(st.Uid)
}
