//go:build amd64 || arm64

package jail

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Host user ids for jails that root starts. The range belongs to nobody: it
// begins where systemd's container range ends.
const (
	firstUID = 1879048192
	uidRange = 1 << 20
)

// mapTo chooses the host user and group that uid 1000 of a jail stands for: an
// id of its own if root asks, since root itself must not be it, and otherwise
// the only one an ordinary user may map.
func mapTo() (uid, gid int) {
	if os.Geteuid() != 0 || !allUsersMapped() {
		return os.Geteuid(), os.Getegid()
	}
	id := firstUID + rand.IntN(uidRange)
	return id, id
}

// allUsersMapped reports whether this process sees every user id there is,
// which is not so in a container of an ordinary user.
func allUsersMapped() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && strings.Join(strings.Fields(string(b)), " ") == "0 0 4294967295"
}

// openAgent opens the agent's program for the nest, and says under which path
// the nest can find it again. Root's jails run as a user that may not see the
// folder, so they get a mount and no path.
func openAgent(path string) (*os.File, string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "", fmt.Errorf("%s is not a file", path)
	}
	if os.Geteuid() == 0 {
		if info.Mode().Perm()&0o005 != 0o005 {
			return nil, "", fmt.Errorf("%s must be readable and executable by all (chmod a+rx)", path)
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err == nil {
			return os.NewFile(uintptr(fd), path), "", nil
		}
		// Root without its powers, as in some containers: go on as a user.
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", os.NewSyscallError("open", err)
	}
	return os.NewFile(uintptr(fd), path), path, nil
}

func exitOf(st *os.ProcessState, killed bool) Exit {
	e := Exit{Killed: killed}
	if st == nil {
		return e
	}
	ws, _ := st.Sys().(syscall.WaitStatus)
	switch {
	case killed:
		e.Code = 128 + int(unix.SIGKILL)
		e.Reason = "killed"
	case ws.Signaled():
		e.Code = 128 + int(ws.Signal())
		e.Reason = fmt.Sprintf("the agent was ended by signal %d (%s)", ws.Signal(), ws.Signal())
	default:
		e.Code = st.ExitCode()
		e.Reason = fmt.Sprintf("the agent exited with code %d", e.Code)
	}
	return e
}

func closeFDs(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
