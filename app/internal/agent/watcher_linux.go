package agent

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A change is one thing that happened to one name.
type change struct {
	name string // relative to the watched directory
	kind agentpb.FilesystemEventType
}

const (
	created = agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_CREATE
	written = agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_WRITE
	removed = agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_REMOVE
	renamed = agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_RENAME
	chmoded = agentpb.FilesystemEventType_FILESYSTEM_EVENT_TYPE_CHMOD
)

const watchMask = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_ATTRIB | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK

// maxKnown bounds the names a watcher remembers. Beyond it, a file replaced by
// rename shows as CREATE.
const maxKnown = 200_000

// A watcher reads inotify. It uses it directly, and not through fsnotify: a
// directory is watched by the descriptor that was checked, so no link can be
// put in its way, and the two halves of a rename are told by their cookie.
type watcher struct {
	f         *filesystem
	who       *identity
	recursive bool
	file      *os.File
	fd        int

	// Only install, and then only serve, touch what follows.
	root  string // canonical
	top   int    // watch descriptor of root
	dirs  map[int]*watched
	moves map[uint32]string // directories that left, by cookie
	known int
}

// A watched is one directory under watch.
type watched struct {
	rel   string // relative to root; "" is root
	names map[string]struct{}
}

func newWatcher(f *filesystem, who *identity, recursive bool) (*watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fileError(err)
	}
	return &watcher{
		f: f, who: who, recursive: recursive,
		file: os.NewFile(uintptr(fd), "inotify"), fd: fd,
		dirs: map[int]*watched{}, moves: map[uint32]string{},
	}, nil
}

func (w *watcher) close() { w.file.Close() }

// wake makes serve look at its context.
func (w *watcher) wake() { w.file.SetReadDeadline(time.Unix(1, 0)) }

// install starts to watch the directory p.
func (w *watcher) install(p string) error {
	h, err := w.f.directory(p)
	if err != nil {
		return err
	}
	defer h.close()
	w.root = h.path
	w.top, err = w.add(h, "", nil)
	return err
}

// add watches the directory h, and those below it if the watch is recursive.
// With emit, what is found in it is told as created: it came before the watch.
func (w *watcher) add(h *place, rel string, emit func(change)) (int, error) {
	wd, err := unix.InotifyAddWatch(w.fd, magic(h.fd), watchMask)
	if err == unix.ENOSPC {
		return 0, status.Error(codes.ResourceExhausted, "the system has no more watches")
	}
	if err != nil {
		return 0, fileError(err)
	}
	if d := w.dirs[wd]; d != nil { // found by a scan before its event came
		d.rel = rel
		return wd, nil
	}
	d := &watched{rel: rel, names: map[string]struct{}{}}
	w.dirs[wd] = d
	fd, err := unix.Open(magic(h.fd), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return wd, nil // may be watched, not listed
	}
	defer unix.Close(fd)
	names, err := readNames(fd, maxKnown)
	if err != nil {
		return wd, nil
	}
	for _, name := range names {
		if isTemp(name) || w.f.deny.holds(joinName(h.path, name)) {
			continue
		}
		if w.learn(d, name) && emit != nil {
			emit(change{joinName(rel, name), created})
		}
		if w.recursive {
			if err := w.below(fd, name, joinName(rel, name), emit); err != nil {
				return wd, err
			}
		}
	}
	return wd, nil
}

// below adds the directory name in fd, if it is one and may be looked into.
func (w *watcher) below(fd int, name, rel string, emit func(change)) error {
	sub, err := unix.Openat(fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	h, err := w.f.hold(sub)
	if err != nil {
		unix.Close(sub)
		return nil
	}
	defer h.close()
	_, err = w.add(h, rel, emit)
	if status.Code(err) == codes.ResourceExhausted {
		return err
	}
	return nil
}

// learn reports whether name is new in d.
func (w *watcher) learn(d *watched, name string) bool {
	if _, ok := d.names[name]; ok {
		return false
	}
	if w.known < maxKnown {
		d.names[name] = struct{}{}
		w.known++
	}
	return true
}

func (w *watcher) forget(d *watched, name string) {
	if _, ok := d.names[name]; ok {
		delete(d.names, name)
		w.known--
	}
}

// serve turns what the kernel tells into changes until ctx is done, the
// directory is gone or the queue is full.
func (w *watcher) serve(ctx context.Context, out chan<- change) error {
	var full error
	emit := func(c change) {
		select {
		case out <- c:
		default:
			full = errWatchOverflow
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := w.file.Read(buf)
		if ctx.Err() != nil {
			return status.FromContextError(ctx.Err()).Err()
		}
		if err != nil {
			return fileError(err)
		}
		err = w.who.run(func() error { return w.batch(buf[:n], emit) })
		if full != nil {
			return full
		}
		if err != nil {
			return err
		}
	}
}

// batch takes the events in b, each a fixed header and a padded name.
func (w *watcher) batch(b []byte, emit func(change)) error {
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int(int32(binary.NativeEndian.Uint32(b)))
		mask, cookie, size := binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint32(b[12:])
		b = b[unix.SizeofInotifyEvent:]
		name, _, _ := bytes.Cut(b[:size], []byte{0})
		b = b[size:]
		if err := w.event(wd, mask, cookie, string(name), emit); err != nil {
			return err
		}
	}
	for _, rel := range w.moves { // to where is not watched
		w.drop(rel)
	}
	clear(w.moves)
	return nil
}

func (w *watcher) event(wd int, mask, cookie uint32, name string, emit func(change)) error {
	d := w.dirs[wd]
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		return errWatchOverflow
	case d == nil:
		return nil
	case mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0 && wd == w.top:
		return status.Error(codes.NotFound, "the watched directory is gone")
	case mask&unix.IN_IGNORED != 0:
		w.known -= len(d.names)
		delete(w.dirs, wd)
		return nil
	case name == "", isTemp(name), w.leaving(d.rel), w.f.deny.holds(joinName(w.root, joinName(d.rel, name))):
		return nil
	}
	rel, isDir := joinName(d.rel, name), mask&unix.IN_ISDIR != 0
	switch {
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		if w.learn(d, name) {
			emit(change{rel, created})
		} else if mask&unix.IN_MOVED_TO != 0 {
			emit(change{rel, written})
		}
		if from, ok := w.moves[cookie]; ok {
			delete(w.moves, cookie)
			w.moved(from, rel)
			return nil
		}
		if isDir && w.recursive {
			return w.appeared(rel, emit)
		}
	case mask&unix.IN_MOVED_FROM != 0:
		w.forget(d, name)
		if isDir && w.recursive {
			w.moves[cookie] = rel
		}
		emit(change{rel, renamed})
	case mask&unix.IN_DELETE != 0:
		w.forget(d, name)
		emit(change{rel, removed})
	case mask&unix.IN_MODIFY != 0:
		if !w.nameless(d, name) {
			emit(change{rel, written})
		}
	case mask&unix.IN_ATTRIB != 0:
		if !w.nameless(d, name) {
			emit(change{rel, chmoded})
		}
	}
	return nil
}

// leaving reports whether rel is in a directory that was moved to where we do
// not know yet. The kernel tells both halves of a move at once, so this is one
// that left.
func (w *watcher) leaving(rel string) bool {
	for _, from := range w.moves {
		if within(rel, from) {
			return true
		}
	}
	return false
}

// nameless reports whether name is what the kernel makes up for a file of no
// name ("#123"), such as Write has until it is done.
func (w *watcher) nameless(d *watched, name string) bool {
	if name[0] != '#' || strings.Trim(name[1:], "0123456789") != "" {
		return false
	}
	_, real := d.names[name]
	return !real
}

// appeared watches a directory that came to be at rel.
func (w *watcher) appeared(rel string, emit func(change)) error {
	// The path is canonical but for what changed since, so no link is followed
	// but one put there this moment; and then what it leads to is checked.
	h, err := w.f.open(joinName(w.root, rel), false)
	if err != nil {
		return nil // gone again
	}
	defer h.close()
	if h.kind() != unix.S_IFDIR || !within(h.path, w.root) {
		return nil
	}
	_, err = w.add(h, rel, emit)
	if status.Code(err) == codes.ResourceExhausted {
		return err
	}
	return nil
}

// moved gives the watches at from and below their new paths.
func (w *watcher) moved(from, to string) {
	for _, d := range w.dirs {
		if within(d.rel, from) {
			d.rel = to + d.rel[len(from):]
		}
	}
}

// drop ends the watch of rel and of what is below it.
func (w *watcher) drop(rel string) {
	for wd, d := range w.dirs {
		if within(d.rel, rel) {
			unix.InotifyRmWatch(w.fd, uint32(wd))
			w.known -= len(d.names)
			delete(w.dirs, wd) // so that what is still queued of it is no event
		}
	}
}

// joinName puts name below dir, where "" is the top.
func joinName(dir, name string) string {
	if dir == "" {
		return name
	}
	return path.Join(dir, name)
}
