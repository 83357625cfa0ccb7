package agent

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/jonboulle/clockwork"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	// diskReserve is what writes leave free, so that the sandbox itself goes on.
	diskReserve = 256 << 20
	// reserveShare bounds the reserve to this fraction of a small file system:
	// a home of 512 MiB keeps 51 MiB free, not half of itself.
	reserveShare = 10
)

// A filesystem is the FilesystemService. It works on a path only through a
// descriptor it has checked, and with the rights of the user who is asked for.
// Its gRPC server has to use the fileCodec.
type filesystem struct {
	agentpb.UnimplementedFilesystemServiceServer

	gate    *gate
	who     func(*agentpb.User) (*identity, error)
	clock   clockwork.Clock
	deny    denyList
	reserve uint64 // 0 is none
	boot    string // tells this agent's temp files from those of one before
	named   atomic.Bool
	opener  opener
	chunks  *chunkPool // of readChunk each

	mu      sync.Mutex
	watches int
	swept   map[[2]uint64]bool // directories, by device and inode
}

// newFilesystem serves files to the users that who finds. denied is added
// to what is closed to everyone.
func newFilesystem(gate *gate, who func(*agentpb.User) (*identity, error), clock clockwork.Clock, denied ...string) *filesystem {
	f := &filesystem{
		gate: gate, who: who, clock: clock,
		reserve: diskReserve, boot: tempDigits(), swept: map[[2]uint64]bool{},
		chunks: newChunkPool(readChunk),
	}
	denied = append(denied, "/proc", "/sys", "/dev", "/run/rayito", "/run/arenero", "/etc", "/usr", "/opt/rayito", "/opt/arenero")
	if exe, err := os.Executable(); err == nil {
		denied = append(denied, exe)
	}
	f.deny = canonical(denied)
	return f
}

// Stat describes what is at a path, a link itself and not where it leads.
func (f *filesystem) Stat(ctx context.Context, req *agentpb.StatRequest) (*agentpb.StatResponse, error) {
	res := &agentpb.StatResponse{}
	err := f.call(ctx, req.GetUser(), req.GetPath(), func(p string) (err error) {
		res.Entry, err = f.stat(p)
		return err
	})
	return res, err
}

func (f *filesystem) stat(p string) (*agentpb.EntryInfo, error) {
	h, err := f.open(p, false)
	if err != nil {
		return nil, err
	}
	defer h.close()
	return newDescriber().place(p, h), nil
}

// ListDir describes what is in a directory, and below it as deep as asked.
func (f *filesystem) ListDir(ctx context.Context, req *agentpb.ListDirRequest) (*agentpb.ListDirResponse, error) {
	res := &agentpb.ListDirResponse{}
	err := f.call(ctx, req.GetUser(), req.GetPath(), func(p string) error {
		h, err := f.directory(p)
		if err != nil {
			return err
		}
		defer h.close()
		fd, err := unix.Open(magic(h.fd), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fileError(err)
		}
		l := lister{f: f, say: newDescriber()}
		err = l.walk(fd, p, h.path, max(req.GetDepth(), 1))
		res.Entries = l.out
		return err
	})
	return res, err
}

// MakeDir makes a directory with those above it.
func (f *filesystem) MakeDir(ctx context.Context, req *agentpb.MakeDirRequest) (*agentpb.MakeDirResponse, error) {
	res := &agentpb.MakeDirResponse{}
	err := f.call(ctx, req.GetUser(), req.GetPath(), func(p string) error {
		h, err := f.open(p, true)
		if err == nil {
			defer h.close()
			if h.kind() == unix.S_IFDIR {
				return status.Error(codes.AlreadyExists, "the directory exists")
			}
			return status.Error(codes.InvalidArgument, "the path exists and is no directory")
		}
		if status.Code(err) != codes.NotFound {
			return err
		}
		if h, err = f.makeAll(p); err != nil {
			return err
		}
		defer h.close()
		res.Entry = newDescriber().place(p, h)
		return nil
	})
	return res, err
}

// Move renames.
func (f *filesystem) Move(ctx context.Context, req *agentpb.MoveRequest) (*agentpb.MoveResponse, error) {
	res := &agentpb.MoveResponse{}
	err := f.call(ctx, req.GetUser(), req.GetSource(), func(from string) error {
		who, err := f.who(req.GetUser())
		if err != nil {
			return err
		}
		to, err := cleanPath(who.home, req.GetDestination())
		if err != nil {
			return err
		}
		if err := f.move(from, to); err != nil {
			return err
		}
		res.Entry, err = f.stat(to)
		return err
	})
	return res, err
}

func (f *filesystem) move(from, to string) error {
	src, oldName, err := f.movable(from)
	if err != nil {
		return err
	}
	defer src.close()
	dst, newName, err := f.movable(to)
	if err != nil {
		return err
	}
	defer dst.close()
	switch err := unix.Renameat(src.fd, oldName, dst.fd, newName); err {
	case nil:
		return nil
	case unix.ENOTDIR, unix.EINVAL: // a file over a directory, a directory into itself
		return status.Error(codes.FailedPrecondition, err.Error())
	default:
		return fileError(err)
	}
}

// movable holds the directory of p, if p may be moved or removed.
func (f *filesystem) movable(p string) (*place, string, error) {
	if p == "/" {
		return nil, "", errDenied
	}
	h, base, err := f.parent(p, false)
	if err != nil {
		return nil, "", err
	}
	if f.deny.leadsTo(path.Join(h.path, base)) {
		h.close()
		return nil, "", errDenied
	}
	return h, base, nil
}

// Remove removes a file, a link, or a directory: an empty one, or any with
// recursive.
func (f *filesystem) Remove(ctx context.Context, req *agentpb.RemoveRequest) (*agentpb.RemoveResponse, error) {
	return &agentpb.RemoveResponse{}, f.call(ctx, req.GetUser(), req.GetPath(), func(p string) error {
		dir, base, err := f.movable(p)
		if err != nil {
			return err
		}
		defer dir.close()
		var st unix.Stat_t
		if err := unix.Fstatat(dir.fd, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fileError(err)
		}
		switch {
		case st.Mode&unix.S_IFMT != unix.S_IFDIR:
			err = unix.Unlinkat(dir.fd, base, 0)
		case req.GetRecursive():
			// RemoveAll goes down by descriptors and follows no link, and this
			// is its one path that leads to the directory we hold.
			err = os.RemoveAll(path.Join(magic(dir.fd), base))
		default:
			err = unix.Unlinkat(dir.fd, base, unix.AT_REMOVEDIR)
		}
		if err != nil {
			return fileError(err)
		}
		return nil
	})
}

// call runs one unary call.
func (f *filesystem) call(ctx context.Context, u *agentpb.User, p string, do func(p string) error) error {
	if err := ctx.Err(); err != nil {
		return status.FromContextError(err).Err()
	}
	return f.as(u, p, do)
}

// untilClosed runs work, which must end soon after its stream, and stops
// waiting for it when the gate shuts.
func (f *filesystem) untilClosed(work func() error) error {
	closed := f.gate.suspending()
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-closed:
		return f.closing()
	}
}

// closing is why the gate shut. It may have opened again meanwhile.
func (f *filesystem) closing() error {
	if why := f.gate.reason(); why != nil {
		return why
	}
	return closingSuspend
}

// canonical resolves the links in paths, of which not all need exist.
func canonical(paths []string) denyList {
	var d denyList
	for _, p := range paths {
		if real, err := filepath.EvalSymlinks(p); err == nil && real != p {
			d = append(d, real)
		}
		d = append(d, p)
	}
	return d
}
