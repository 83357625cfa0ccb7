package link

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair returns a host that serves, and the raw descriptor of a guest that the
// test plays itself. ended gets what Serve returned.
func pair(t *testing.T, egress func(net.Conn)) (h *SocketHost, guest int, ended <-chan error) {
	t.Helper()
	conn, f, err := SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	h = NewSocketHost(conn, egress)
	ch := make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() { ch <- h.Serve() })
	t.Cleanup(func() {
		h.Close()
		unix.Close(fd)
		wg.Wait()
	})
	return h, fd, ch
}

// runGuest serves the guest's end for real.
func runGuest(t *testing.T, fd int) *Guest {
	t.Helper()
	d, err := unix.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	g, err := OpenGuest(fmt.Sprintf("fd:%d", d))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { g.Serve(context.Background()) })
	t.Cleanup(func() {
		g.Close()
		wg.Wait()
	})
	return g
}

// echoServer listens on the loopback and returns what it gets.
func echoServer(t *testing.T, wrap func(net.Listener) net.Listener) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := ln.Addr().(*net.TCPAddr).Port
	if wrap != nil {
		ln = wrap(ln)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				if FromHost(c) {
					io.WriteString(c, "host:")
				}
				io.Copy(c, c)
			})
		}
	})
	t.Cleanup(func() {
		ln.Close()
		wg.Wait()
	})
	return port
}

// exchange sends text, ends its side and returns what comes back.
func exchange(c net.Conn, text string) (string, error) {
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		return "", err
	}
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

func TestSocketLine(t *testing.T) {
	h, fd, _ := pair(t, nil)
	g := runGuest(t, fd)
	<-h.Ready()
	ctx := context.Background()
	plain, marked := echoServer(t, nil), echoServer(t, g.Mark)
	for _, tt := range []struct {
		port int
		want string
	}{{plain, "hello"}, {marked, "host:hello"}} {
		c, err := h.Dial(ctx, tt.port)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := exchange(c, "hello"); got != tt.want || err != nil {
			t.Errorf("echo = %q, %v, want %q", got, err, tt.want)
		}
	}
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", marked))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := exchange(c, "hello"); got != "hello" || err != nil {
		t.Errorf("echo to another client = %q, %v", got, err)
	}
	if _, err := h.Dial(ctx, 1); !errors.Is(err, ErrRefused) {
		t.Errorf("Dial(1) = %v, want ErrRefused", err)
	}
	for _, port := range []int{-1, 0, 65536} {
		if _, err := h.Dial(ctx, port); err == nil {
			t.Errorf("Dial(%d) succeeded", port)
		}
	}
}

// Programs in the jail can't keep the host from a marked listener, however many
// connections they make.
func TestMarkFlood(t *testing.T) {
	h, fd, _ := pair(t, nil)
	g := runGuest(t, fd)
	<-h.Ready()
	port := echoServer(t, g.Mark)
	inside := func() (net.Conn, string) {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 1)
		io.WriteString(c, "x")
		n, _ := c.Read(b)
		return c, string(b[:n])
	}
	for i := range 2 * maxInside {
		c, got := inside()
		defer c.Close()
		if want := map[bool]string{true: "x"}[i < maxInside]; got != want {
			t.Fatalf("connection %d says %q, want %q", i, got, want)
		}
		if i == 0 {
			c.Close() // makes room for one
			for {
				c, got := inside()
				defer c.Close()
				if got == "x" {
					break
				}
			}
		}
	}
	c, err := h.Dial(context.Background(), port)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := exchange(c, "hello"); got != "host:hello" || err != nil {
		t.Errorf("echo = %q, %v", got, err)
	}
}

func TestSocketDeadlines(t *testing.T) {
	h, fd, _ := pair(t, nil)
	runGuest(t, fd)
	c, err := h.Dial(context.Background(), echoServer(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetReadDeadline(time.Now())
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read past its deadline = %v", err)
	}
	c.SetReadDeadline(time.Time{})
	go c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Read of a closed connection = %v", err)
	}
}

// A guest that answers nothing blocks no one for longer than they want.
func TestSilentGuest(t *testing.T) {
	h, fd, _ := pair(t, nil)
	for range maxPending + 10 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if _, err := h.Dial(ctx, 80); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Dial = %v, want a deadline", err)
		}
		cancel()
	}
	// The late answers are taken, and their sockets closed.
	port := echoServer(t, nil)
	buf := make([]byte, 64)
	for range maxPending {
		n, err := unix.Read(fd, buf)
		if err != nil {
			t.Fatal(err)
		}
		m, err := decode(buf[:n])
		if err != nil || m.port != 80 {
			t.Fatalf("asked for %+v, %v", m, err)
		}
		if err := unix.Sendmsg(fd, message{kindRefused, 0, m.id}.encode(), nil, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	runGuest(t, fd)
	c, err := h.Dial(context.Background(), port)
	if err != nil {
		t.Fatalf("Dial after the silence: %v", err)
	}
	c.Close()
}

func TestHostileGuest(t *testing.T) {
	file, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	socket := func(domain, typ int) int {
		fd, err := unix.Socket(domain, typ, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		return fd
	}
	other := echoServer(t, nil)
	elsewhere := socket(unix.AF_INET, unix.SOCK_STREAM)
	if err := unix.Connect(elsewhere, &unix.SockaddrInet4{Port: other, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	null := int(file.Fd())
	tests := []struct {
		name string
		data []byte
		fds  []int
	}{
		{"short", []byte("h"), nil},
		{"long", make([]byte, 100), nil},
		{"unknown kind", message{kind: 'x'}.encode(), nil},
		{"reserved byte", []byte{'h', 1, 0, 0, 0, 0, 0, 0}, nil},
		{"host's own kind", message{kind: kindDial, port: 80}.encode(), nil},
		{"answer to no question", message{kind: kindRefused, id: 77}.encode(), nil},
		{"socket to no question", message{kind: kindDone, id: 77}.encode(), []int{elsewhere}},
		{"no socket", message{kind: kindDone, id: 1}.encode(), nil},
		{"two sockets", message{kind: kindDone, id: 1}.encode(), []int{elsewhere, elsewhere}},
		{"many sockets", message{kind: kindDone, id: 1}.encode(), []int{null, null, null, null, null, null}},
		{"a file", message{kind: kindDone, id: 1}.encode(), []int{null}},
		{"a unix socket", message{kind: kindDone, id: 1}.encode(), []int{socket(unix.AF_UNIX, unix.SOCK_STREAM)}},
		{"a datagram socket", message{kind: kindDone, id: 1}.encode(), []int{socket(unix.AF_INET, unix.SOCK_DGRAM)}},
		{"a socket that is not connected", message{kind: kindDone, id: 1}.encode(), []int{socket(unix.AF_INET, unix.SOCK_STREAM)}},
		{"a socket to another port", message{kind: kindDone, id: 1}.encode(), []int{elsewhere}},
		{"socket with a refusal", message{kind: kindRefused, id: 1}.encode(), []int{elsewhere}},
		{"listener not asked for", message{kind: kindEgress}.encode(), []int{elsewhere}},
		{"nothing, but a socket", nil, []int{elsewhere}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, fd, ended := pair(t, nil)
			dialed := make(chan error, 1)
			go func() {
				c, err := h.Dial(context.Background(), 80)
				if err == nil {
					c.Close()
				}
				dialed <- err
			}()
			if _, err := unix.Read(fd, make([]byte, 64)); err != nil { // the question, with id 1
				t.Fatal(err)
			}
			before := openFDs(t)
			var oob []byte
			if tt.fds != nil {
				oob = unix.UnixRights(tt.fds...)
			}
			if err := unix.Sendmsg(fd, tt.data, oob, nil, 0); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err == nil {
				t.Error("Serve returned nil")
			}
			if err := <-dialed; !errors.Is(err, ErrClosed) {
				t.Errorf("Dial = %v, want ErrClosed", err)
			}
			// The line itself is closed by now, and nothing else may be open.
			if after := openFDs(t); after > before {
				t.Errorf("%d descriptors open, %d before", after, before)
			}
		})
	}
}

func openFDs(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// A guest that keeps a copy of the socket and makes it blocking can't hold a
// thread of the host, nor keep deadlines from working.
func TestBlockingSocket(t *testing.T) {
	h, fd, _ := pair(t, nil)
	port := echoServer(t, nil)
	mine, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(mine)
	if err := unix.Connect(mine, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 64)
		n, err := unix.Read(fd, buf)
		if err != nil {
			return
		}
		m, _ := decode(buf[:n])
		unix.Sendmsg(fd, message{kindDone, m.port, m.id}.encode(), unix.UnixRights(mine), nil, 0)
	}()
	c, err := h.Dial(context.Background(), port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := unix.SetNonblock(mine, false); err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read = %v, want a deadline", err)
	}
}

func TestEgressListener(t *testing.T) {
	h, fd, ended := pair(t, func(c net.Conn) { io.Copy(c, c) })
	var lc net.ListenConfig
	lc.SetMultipathTCP(false) // as in the nest, which makes a plain socket
	ln, err := lc.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ln.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(l uintptr) { err = SendEgress(fd, int(l)) })
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close() // the host has its own
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := exchange(c, "out"); got != "out" || err != nil {
		t.Errorf("echo = %q, %v", got, err)
	}
	idle, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	io.WriteString(idle, "x")
	if _, err := io.ReadFull(idle, make([]byte, 1)); err != nil { // it is being served
		t.Fatal(err)
	}
	h.Close()
	<-ended
	if _, err := idle.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives the line")
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("the listener outlives the line")
	}
}

func TestGuestSeesTheEnd(t *testing.T) {
	host, f, err := SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	g, err := OpenGuest(fmt.Sprintf("fd:%d", fd))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(context.Background()) }()
	host.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("Serve = %v, want ErrClosed", err)
	}
}

func TestOpenGuest(t *testing.T) {
	for _, name := range []string{"", "fd:", "fd:x", "fd:0", "fd:-1", "tcp:3", "fd:999"} {
		if g, err := OpenGuest(name); err == nil {
			g.Close()
			t.Errorf("OpenGuest(%q) succeeded", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(message{kindDone, 80, 7}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err == nil && string(m.encode()) != string(b) {
			t.Errorf("%x decodes to %+v, which encodes to %x", b, m, m.encode())
		}
	})
}
