package agent

import (
	"crypto/rand"
	"encoding/hex"
	"path"
	"strings"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A temp file has a name for the blink between link and rename, or for as long
// as it is written where the file system has no nameless files. What a killed
// agent left is removed when its directory is next written to.
const (
	tempPrefix = ".arenero-write-"
	tempLength = len(tempPrefix) + 32 // 16 digits for the agent, 16 for the file
)

// isTemp reports whether name is one of a temp file, of any agent's.
func isTemp(name string) bool {
	return len(name) == tempLength && strings.HasPrefix(name, tempPrefix)
}

func tempDigits() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// An upload is one file on its way: nameless beside its place until commit.
type upload struct {
	f    *filesystem
	who  *identity
	path string // as the caller knows it
	dir  *place
	base string
	fd   int
	temp string // the name it has meanwhile; "" is none
	mode uint32
	meta map[string]string
}

// begin opens the file a request with a path asks for.
func (f *filesystem) begin(req *agentpb.WriteRequest) (*upload, error) {
	if err := checkMetadata(req.GetMetadata()); err != nil {
		return nil, err
	}
	who, err := f.who(req.GetUser())
	if err != nil {
		return nil, err
	}
	p, err := cleanPath(who.home, req.GetPath())
	if err != nil {
		return nil, err
	}
	if p == "/" {
		return nil, status.Error(codes.InvalidArgument, "the path is a directory")
	}
	u := &upload{f: f, who: who, path: p, fd: -1, mode: 0o644, meta: req.GetMetadata()}
	if req.Mode != nil {
		u.mode = req.GetMode() & 0o7777
	}
	if err := who.run(u.open); err != nil {
		u.discard()
		return nil, err
	}
	return u, nil
}

func (u *upload) open() (err error) {
	if u.dir, u.base, err = u.f.parent(u.path, true); err != nil {
		return err
	}
	var st unix.Stat_t
	err = unix.Fstatat(u.dir.fd, u.base, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return status.Error(codes.InvalidArgument, "the path is a directory")
	case err != nil && err != unix.ENOENT:
		return fileError(err)
	}
	u.f.sweep(u.dir)
	if !u.f.named.Load() {
		u.fd, err = unix.Open(magic(u.dir.fd), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		switch err {
		case nil:
			return nil
		case unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL: // this file system has no such thing
		default:
			return fileError(err)
		}
	}
	u.temp = tempPrefix + u.f.boot + tempDigits()
	u.fd, err = unix.Openat(u.dir.fd, u.temp,
		unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		u.temp = ""
		return fileError(err)
	}
	return nil
}

// write appends b, if that leaves the reserve free. A file system that says no
// size has no reserve.
func (u *upload) write(body mem.BufferSlice) error {
	size := body.Len()
	if size == 0 {
		return nil
	}
	var fs unix.Statfs_t
	if u.f.reserve > 0 && unix.Fstatfs(u.fd, &fs) == nil && fs.Blocks > 0 {
		block := uint64(fs.Bsize)
		if fs.Bavail*block < uint64(size)+min(u.f.reserve, fs.Blocks*block/reserveShare) {
			return status.Error(codes.ResourceExhausted, "disk_reserve")
		}
	}
	vec := make([][]byte, 0, min(len(body), maxVector))
	for i, b := range body {
		vec = append(vec, b.ReadOnlyData())
		if len(vec) < maxVector && i < len(body)-1 {
			continue
		}
		if err := writeAll(u.fd, vec); err != nil {
			return fileError(err)
		}
		vec = vec[:0]
	}
	return nil
}

// maxVector is how many pieces the kernel takes at once.
const maxVector = 1024

func writeAll(fd int, vec [][]byte) error {
	for len(vec) > 0 {
		n, err := unix.Writev(fd, vec)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		for len(vec) > 0 && n >= len(vec[0]) {
			n -= len(vec[0])
			vec = vec[1:]
		}
		if n > 0 {
			vec[0] = vec[0][n:]
		}
	}
	return nil
}

// commit puts the file in its place, whole, and describes it. Either way the
// upload is over.
func (u *upload) commit() (e *agentpb.EntryInfo, err error) {
	defer u.discard()
	err = u.who.run(func() error {
		if err := writeMetadata(u.fd, u.meta); err != nil {
			return err
		}
		if err := unix.Fchmod(u.fd, u.mode); err != nil {
			return fileError(err)
		}
		if err := unix.Fsync(u.fd); err != nil {
			return fileError(err)
		}
		if err := u.publish(); err != nil {
			return fileError(err)
		}
		var st unix.Stat_t
		if err := unix.Fstat(u.fd, &st); err != nil {
			return fileError(err)
		}
		e = newDescriber().entry(u.path, &st, magic(u.fd))
		return nil
	})
	return e, err
}

// publish gives the file its name. The place may have moved since it was
// opened, even to where no call may write.
func (u *upload) publish() error {
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(magic(u.dir.fd), buf[:])
	if err != nil {
		return err
	}
	if u.f.deny.holds(path.Join(string(buf[:n]), u.base)) {
		return errDenied
	}
	if u.temp == "" {
		err := unix.Linkat(unix.AT_FDCWD, magic(u.fd), u.dir.fd, u.base, unix.AT_SYMLINK_FOLLOW)
		if err != unix.EEXIST {
			return err
		}
		temp := tempPrefix + u.f.boot + tempDigits()
		if err := unix.Linkat(unix.AT_FDCWD, magic(u.fd), u.dir.fd, temp, unix.AT_SYMLINK_FOLLOW); err != nil {
			return err
		}
		u.temp = temp
	}
	if err := unix.Renameat(u.dir.fd, u.temp, u.dir.fd, u.base); err != nil {
		return err
	}
	u.temp = ""
	return nil
}

// discard lets go of the file; it is gone unless it was published.
func (u *upload) discard() {
	if u.temp != "" {
		u.who.run(func() error { return unix.Unlinkat(u.dir.fd, u.temp, 0) })
		u.temp = ""
	}
	if u.fd >= 0 {
		unix.Close(u.fd)
		u.fd = -1
	}
	if u.dir != nil {
		u.dir.close()
		u.dir = nil
	}
}

// maxSwept bounds what the agent remembers of where it swept.
const maxSwept = 4096

// sweep removes temp files that another agent, killed meanwhile, left in h. It
// does so once for each directory.
func (f *filesystem) sweep(h *place) {
	key := [2]uint64{h.stat.Dev, h.stat.Ino}
	f.mu.Lock()
	done := f.swept[key]
	if len(f.swept) >= maxSwept {
		clear(f.swept)
	}
	f.swept[key] = true
	f.mu.Unlock()
	if done {
		return
	}
	fd, err := unix.Open(magic(h.fd), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // writable, but not to be listed: nothing to do about it
	}
	defer unix.Close(fd)
	names, err := readNames(fd, 100*maxEntries)
	if err != nil {
		return
	}
	for _, name := range names {
		if isTemp(name) && name[len(tempPrefix):len(tempPrefix)+len(f.boot)] != f.boot {
			unix.Unlinkat(fd, name, 0)
		}
	}
}
