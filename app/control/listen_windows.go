package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"github.com/arenero/arenero/app/internal/paths"
)

const dialTimeout = 5 * time.Second

// ErrTaken means that an engine answers at the path already.
var ErrTaken = errors.New("an engine is running already")

// Path returns where the engine of this user listens: a pipe named for the user
// and for where our files are.
func Path() (string, error) {
	dirs, err := paths.Find()
	if err != nil {
		return "", err
	}
	sid, err := ownSID()
	if err != nil {
		return "", err
	}
	return pipeName(sid, dirs.Runtime), nil
}

func ownSID() (string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", fmt.Errorf("find own user: %w", err)
	}
	return user.User.Sid.String(), nil
}

// Listen opens the control pipe. Only this user and the system may open it, and
// nobody over the network.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if !strings.HasPrefix(path, pipePrefix) {
		return nil, fmt.Errorf("use %s: not a pipe", path)
	}
	sid, err := ownSID()
	if err != nil {
		return nil, err
	}
	if conn, err := dial(ctx, path); err == nil {
		conn.Close()
		return nil, ErrTaken
	}
	ln, err := winio.ListenPipe(path, &winio.PipeConfig{SecurityDescriptor: pipeACL(sid), InputBufferSize: 64 << 10, OutputBufferSize: 64 << 10})
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) { // the first instance is another's
		return nil, ErrTaken
	}
	if err != nil {
		return nil, fmt.Errorf("listen on control pipe: %w", err)
	}
	return ln, nil
}

func dial(ctx context.Context, path string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := winio.DialPipeContext(ctx, path)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: err}
	}
	return conn, nil
}
