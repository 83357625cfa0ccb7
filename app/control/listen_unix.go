//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/sandbox"
)

// socketName is the control socket's in the runtime folder.
const socketName = "control.sock"

const dialTimeout = 5 * time.Second

// Path returns where the engine of this user listens.
func Path() (string, error) {
	dirs, err := paths.Find()
	if err != nil {
		return "", err
	}
	return paths.Socket(dirs.Runtime, socketName)
}

// Listen opens the control socket at path: its folder is closed to others
// before the socket exists. It replaces one that nobody listens on, and nothing
// else. Connections of other users are refused.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	path, err := paths.Socket(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	if err := paths.Private(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := clearStale(ctx, path); err != nil {
		return nil, err
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on control socket: %w", err)
	}
	return &ownListener{ln.(*net.UnixListener)}, nil
}

// ErrTaken means that an engine answers at the path already.
var ErrTaken = errors.New("an engine is running already")

func clearStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at control socket: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("use %s: it is there already, and is no socket", path)
	}
	conn, err := dial(ctx, path)
	if err == nil {
		conn.Close()
		return ErrTaken
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("try control socket: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove old control socket: %w", err)
	}
	return nil
}

// dial connects to an engine of this user, and to no other program: where the
// system has no runtime folder of ours, somebody else can have made one by its
// name, to get at what clients send.
func dial(ctx context.Context, path string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	uid, err := peer(conn.(*net.UnixConn))
	if err != nil {
		conn.Close()
		return nil, &net.OpError{Op: "dial", Net: "unix", Addr: conn.RemoteAddr(), Err: err}
	}
	if uid != os.Geteuid() {
		conn.Close()
		return nil, &sandbox.Error{
			Code: sandbox.Unreachable, Msg: fmt.Sprintf("what listens at %s belongs to user %d, not to us", path, uid),
			Hint: fmt.Sprintf("remove it, run this as that user, or set %s to a folder of this user", paths.Home),
		}
	}
	return conn, nil
}

// An ownListener takes connections of its own user only.
type ownListener struct{ *net.UnixListener }

// Accept waits for a connection of this user.
func (l *ownListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := peer(conn); err == nil && uid == os.Geteuid() {
			return conn, nil
		}
		conn.Close()
	}
}

// peer is the user at the other end, as the system knows it.
func peer(conn *net.UnixConn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	uid := -1
	var perr error
	if err := raw.Control(func(fd uintptr) { uid, perr = peerUID(int(fd)) }); err != nil {
		return -1, err
	}
	return uid, perr
}
