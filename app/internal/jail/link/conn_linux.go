package link

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A conn is a socket that the guest made. The guest may have kept a copy of
// it, so its flags can change at any time: reads and writes ask not to block
// by themselves, whatever O_NONBLOCK says, lest they pin a thread of the host.
type conn struct {
	tcp *net.TCPConn
	raw syscall.RawConn
}

// checkedConn takes over fd, which must be a TCP socket connected to port on
// the loopback.
func checkedConn(fd int, port uint16) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "jail")
	defer f.Close() // FileConn has its own copy
	if err := checkTCP(fd, 0); err != nil {
		return nil, err
	}
	peer, err := unix.Getpeername(fd)
	if err != nil {
		return nil, os.NewSyscallError("getpeername", err)
	}
	var ip net.IP
	var got int
	switch sa := peer.(type) {
	case *unix.SockaddrInet4:
		ip, got = sa.Addr[:], sa.Port
	case *unix.SockaddrInet6:
		ip, got = sa.Addr[:], sa.Port
	}
	if got != int(port) || !ip.IsLoopback() {
		return nil, fmt.Errorf("a socket connected to port %d in place of %d", got, port)
	}
	nc, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		nc.Close()
		return nil, errors.New("a socket that is not TCP")
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		tcp.Close()
		return nil, err
	}
	tcp.SetLinger(-1)
	tcp.SetNoDelay(true)
	return &conn{tcp, raw}, nil
}

// checkTCP fails unless fd is a TCP socket that is a listener or not, as
// listening (0 or 1) says.
func checkTCP(fd, listening int) error {
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if domain != unix.AF_INET && domain != unix.AF_INET6 {
		return fmt.Errorf("a socket of family %d", domain)
	}
	for _, want := range []struct{ opt, value int }{
		{unix.SO_TYPE, unix.SOCK_STREAM},
		{unix.SO_PROTOCOL, unix.IPPROTO_TCP},
		{unix.SO_ACCEPTCONN, listening},
	} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, want.opt)
		if err != nil {
			return os.NewSyscallError("getsockopt", err)
		}
		if got != want.value {
			return fmt.Errorf("a socket with option %d = %d, want %d", want.opt, got, want.value)
		}
	}
	return nil
}

func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	var n int
	var err error
	if werr := c.raw.Read(func(fd uintptr) bool {
		for {
			n, _, err = unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT)
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	}); werr != nil {
		return 0, werr
	}
	if err != nil {
		return 0, &net.OpError{Op: "read", Net: "tcp", Addr: c.RemoteAddr(), Err: err}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (c *conn) Write(b []byte) (int, error) {
	done := 0
	var err error
	for done < len(b) && err == nil {
		if werr := c.raw.Write(func(fd uintptr) bool {
			var n int
			n, err = unix.SendmsgN(int(fd), b[done:], nil, nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
			done += max(n, 0)
			return err != unix.EAGAIN && err != unix.EINTR
		}); werr != nil {
			return done, werr
		}
	}
	if err != nil {
		return done, &net.OpError{Op: "write", Net: "tcp", Addr: c.RemoteAddr(), Err: err}
	}
	return done, nil
}

// CloseWrite ends the stream towards the jail and leaves the other way open.
func (c *conn) CloseWrite() error { return c.tcp.CloseWrite() }

func (c *conn) Close() error {
	c.tcp.SetLinger(-1) // the guest may have changed it, and close would wait
	return c.tcp.Close()
}

func (c *conn) LocalAddr() net.Addr                { return c.tcp.LocalAddr() }
func (c *conn) RemoteAddr() net.Addr               { return c.tcp.RemoteAddr() }
func (c *conn) SetDeadline(t time.Time) error      { return c.tcp.SetDeadline(t) }
func (c *conn) SetReadDeadline(t time.Time) error  { return c.tcp.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.tcp.SetWriteDeadline(t) }
