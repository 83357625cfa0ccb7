package agent

import (
	"path"
	"slices"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// maxEntries is how many entries one listing may have.
const maxEntries = 10_000

var errTooManyEntries = status.Errorf(codes.ResourceExhausted, "more than %d entries", maxEntries)

// A lister gathers a listing, depth first, a directory before what is in it,
// names in the order of their bytes.
type lister struct {
	f   *filesystem
	say *describer
	out []*agentpb.EntryInfo
}

// walk adds what is in the directory fd, which the caller knows as p and the
// kernel as canon. It goes depth levels down. It closes fd.
func (l *lister) walk(fd int, p, canon string, depth uint32) error {
	defer unix.Close(fd)
	names, err := readNames(fd, maxEntries-len(l.out))
	if err != nil {
		return err
	}
	slices.Sort(names)
	reach := magic(fd) + "/"
	for _, name := range names {
		below := path.Join(canon, name)
		if l.f.deny.holds(below) {
			continue
		}
		var st unix.Stat_t
		switch err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err {
		case nil:
		case unix.ENOENT:
			continue // removed meanwhile
		default:
			return fileError(err)
		}
		if len(l.out) == maxEntries {
			return errTooManyEntries
		}
		l.out = append(l.out, l.say.entry(path.Join(p, name), &st, reach+name))
		if depth <= 1 || st.Mode&unix.S_IFMT != unix.S_IFDIR {
			continue
		}
		sub, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // closed to this user, or no directory any more
		}
		if err := l.walk(sub, path.Join(p, name), below, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// readNames returns the names in the directory fd, and fails once there are
// more than most, so that a huge directory costs no more than a full one.
func readNames(fd, most int) ([]string, error) {
	var names []string
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.ReadDirent(fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, fileError(err)
		}
		if n == 0 {
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
		if len(names) > most {
			return nil, errTooManyEntries
		}
	}
}
