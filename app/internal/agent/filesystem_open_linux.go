package agent

import (
	"errors"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A place is one thing in the file system, held by a descriptor that can't be
// read or written (O_PATH) and whose opening touches nothing: no FIFO waits
// and no device wakes. All checks are made on what is held, so a name that
// changes meanwhile changes nothing.
type place struct {
	fd   int
	path string // canonical, as the kernel tells it
	stat unix.Stat_t
}

func (p *place) close() { unix.Close(p.fd) }

// magic is the path under which the kernel opens again what fd holds.
func magic(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

func (p *place) kind() uint32 { return p.stat.Mode & unix.S_IFMT }

// An opener opens paths without following the links of /proc that jump.
// Where the kernel, or a filter before it, refuses openat2, they are followed,
// and then found out by the canonical path of where they led.
type opener struct{ noOpenat2 atomic.Bool }

// path opens p for nothing but looking. It follows links in all elements of p
// but the last, and in the last if follow is set.
func (o *opener) path(p string, follow bool) (int, error) {
	flags := unix.O_PATH | unix.O_CLOEXEC
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	for {
		if !o.noOpenat2.Load() {
			fd, err := unix.Openat2(unix.AT_FDCWD, p, &unix.OpenHow{
				Flags: uint64(flags), Resolve: unix.RESOLVE_NO_MAGICLINKS,
			})
			switch {
			case err == unix.EINTR || err == unix.EAGAIN:
				continue
			case err != unix.ENOSYS && err != unix.EPERM:
				return fd, err
			}
			o.noOpenat2.Store(true)
		}
		fd, err := unix.Open(p, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// open holds the thing at p, or answers with the status of why not.
func (f *filesystem) open(p string, follow bool) (*place, error) {
	if f.deny.holds(p) { // also for what is not there, and before the kernel looks
		return nil, errDenied
	}
	fd, err := f.opener.path(p, follow)
	if err != nil {
		return nil, fileError(err)
	}
	h, err := f.hold(fd)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return h, nil
}

// hold looks at what fd, an O_PATH descriptor, holds, and checks that it may
// be touched.
func (f *filesystem) hold(fd int) (*place, error) {
	h := &place{fd: fd}
	if err := unix.Fstat(fd, &h.stat); err != nil {
		return nil, fileError(err)
	}
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(magic(fd), buf[:])
	if err != nil {
		return nil, status.Errorf(codes.Internal, "find the canonical path: %v", err)
	}
	h.path = string(buf[:n])
	if h.stat.Nlink == 0 {
		return nil, fileError(unix.ENOENT) // removed since it was opened
	}
	// What is no path ("socket:[7]") was reached by a jump through /proc.
	if !strings.HasPrefix(h.path, "/") || f.deny.holds(h.path) {
		return nil, errDenied
	}
	return h, nil
}

// parent holds the directory p is in, and returns it with the last element of
// p. With create it makes the directories that are missing, mode 0755.
func (f *filesystem) parent(p string, create bool) (*place, string, error) {
	if f.deny.holds(p) {
		return nil, "", errDenied
	}
	dir, base := path.Split(p)
	dir = path.Clean(dir)
	h, err := f.directory(dir)
	if create && status.Code(err) == codes.NotFound {
		h, err = f.makeAll(dir)
	}
	if err != nil {
		return nil, "", err
	}
	if f.deny.holds(path.Join(h.path, base)) {
		h.close()
		return nil, "", errDenied
	}
	return h, base, nil
}

// directory holds the directory at p.
func (f *filesystem) directory(p string) (*place, error) {
	h, err := f.open(p, true)
	if err != nil {
		return nil, err
	}
	if h.kind() != unix.S_IFDIR {
		h.close()
		return nil, fileError(unix.ENOTDIR)
	}
	return h, nil
}

// makeAll makes the directory p with those above it, and holds it.
func (f *filesystem) makeAll(p string) (*place, error) {
	var missing []string
	h, err := f.directory(p)
	for status.Code(err) == codes.NotFound && p != "/" {
		missing = append(missing, path.Base(p))
		p = path.Dir(p)
		h, err = f.directory(p)
	}
	if err != nil {
		return nil, err
	}
	for i := len(missing) - 1; i >= 0; i-- {
		next, err := f.makeOne(h, missing[i])
		h.close()
		if err != nil {
			return nil, err
		}
		h = next
	}
	return h, nil
}

// makeOne makes the directory name in h unless it is there, and holds it.
func (f *filesystem) makeOne(h *place, name string) (*place, error) {
	if f.deny.holds(path.Join(h.path, name)) {
		return nil, errDenied
	}
	made := unix.Mkdirat(h.fd, name, 0o755)
	if made != nil && made != unix.EEXIST {
		return nil, fileError(made)
	}
	fd, err := unix.Openat(h.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fileError(err)
	}
	next, err := f.hold(fd)
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	if made == nil && next.stat.Mode&0o755 != 0o755 { // the umask took something
		if err := unix.Chmod(magic(fd), 0o755); err != nil {
			next.close()
			return nil, fileError(err)
		}
	}
	return next, nil
}

var errDenied = status.Error(codes.PermissionDenied, "the path is closed to file calls")

// fileError is the one table from what the kernel says to what the wire says.
// An error that is a status already stays as it is.
func fileError(err error) error {
	if _, ok := status.FromError(err); ok {
		return err
	}
	var no syscall.Errno
	if !errors.As(err, &no) {
		return status.Error(codes.Internal, err.Error())
	}
	switch no {
	case unix.ENOENT:
		return status.Error(codes.NotFound, no.Error())
	case unix.EACCES, unix.EPERM, unix.EROFS:
		return status.Error(codes.PermissionDenied, no.Error())
	case unix.ENOTDIR, unix.ELOOP, unix.ENAMETOOLONG, unix.EINVAL:
		return status.Error(codes.InvalidArgument, no.Error())
	case unix.EEXIST, unix.ENOTEMPTY, unix.EXDEV, unix.EISDIR, unix.EBUSY:
		return status.Error(codes.FailedPrecondition, no.Error())
	case unix.ENOSPC, unix.EDQUOT, unix.EFBIG:
		return status.Error(codes.ResourceExhausted, "disk_full")
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM:
		return status.Error(codes.ResourceExhausted, no.Error())
	}
	return status.Error(codes.Internal, no.Error())
}
