package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func openGuest(name string) (*Guest, error) {
	switch name {
	case Stdio:
		return newStreamGuest(stdio{}, nil), nil
	case StdioEgress:
		ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(ProxyPort)))
		if err != nil {
			return nil, err
		}
		return newStreamGuest(stdio{}, ln), nil
	}
	n, ok := strings.CutPrefix(name, "fd:")
	fd, err := strconv.Atoi(n)
	if !ok || err != nil || fd < 3 {
		return nil, fmt.Errorf("no line is called %q", name)
	}
	unix.CloseOnExec(fd)
	c, err := unixConn(fd)
	if err != nil {
		return nil, fmt.Errorf("take the line: %w", err)
	}
	g := &Guest{}
	g.end = &socketGuest{conn: c, marks: &g.marks}
	return g, nil
}

// SendEgress hands the host the listener of the proxy port, over the raw
// descriptor of the line. The nest does so before the agent exists.
func SendEgress(line, listener int) error {
	return unix.Sendmsg(line, message{kind: kindEgress}.encode(), unix.UnixRights(listener), nil, 0)
}

// A socketGuest is the guest's end of a socket pair.
type socketGuest struct {
	conn  *net.UnixConn
	marks *marks
	dials sync.WaitGroup
}

func (g *socketGuest) Close() error { return g.conn.Close() }

func (g *socketGuest) serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { g.conn.Close() })
	defer stop()
	defer g.dials.Wait()
	defer g.conn.Close()
	if _, err := g.conn.Write(message{kind: kindReady}.encode()); err != nil {
		return ErrClosed
	}
	buf := make([]byte, messageSize+1)
	for {
		n, err := g.conn.Read(buf)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || n == 0 {
			return ErrClosed
		}
		m, err := decode(buf[:n])
		if err != nil || m.kind != kindDial {
			return fmt.Errorf("host: message %q", m.kind)
		}
		g.dials.Go(func() { g.dial(ctx, m) })
	}
}

// dial connects and passes the socket on. It keeps nothing: the host talks to
// the server in the jail without us.
func (g *socketGuest) dial(ctx context.Context, m message) {
	tcp, err := dialLoopback(ctx, int(m.port), g.marks)
	if err != nil {
		reply := message{kindFailed, uint16(unix.EIO), m.id}
		if errors.Is(err, errRefusedByKernel) {
			reply.kind = kindRefused
		} else if errno, ok := errors.AsType[syscall.Errno](err); ok {
			reply.port = uint16(errno)
		}
		g.conn.Write(reply.encode())
		return
	}
	defer tcp.Close()
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		g.conn.WriteMsgUnix(message{kindDone, m.port, m.id}.encode(), unix.UnixRights(int(fd)), nil)
	})
}

type stdio struct{}

func (stdio) Read(b []byte) (int, error)  { return os.Stdin.Read(b) }
func (stdio) Write(b []byte) (int, error) { return os.Stdout.Write(b) }
func (stdio) Close() error {
	os.Stdin.Close()
	return os.Stdout.Close()
}
