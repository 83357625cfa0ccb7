package link

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// streams joins a host and a guest over pipes, as a container does.
func streams(t *testing.T, exit net.Listener, egress func(net.Conn)) (*StreamHost, *Guest) {
	t.Helper()
	a, b := net.Pipe()
	h, err := NewStreamHost(a, egress)
	if err != nil {
		t.Fatal(err)
	}
	g := newStreamGuest(b, exit)
	var wg sync.WaitGroup
	wg.Go(func() { h.Serve() })
	wg.Go(func() {
		if err := g.Serve(context.Background()); !errors.Is(err, ErrClosed) {
			t.Errorf("guest's Serve = %v, want ErrClosed", err)
		}
	})
	t.Cleanup(func() {
		h.Close()
		wg.Wait()
	})
	<-h.Ready()
	return h, g
}

func TestStreamLine(t *testing.T) {
	exit, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, g := streams(t, exit, func(c net.Conn) {
		defer c.Close()
		io.Copy(c, c)
	})
	ctx := context.Background()
	plain, marked := echoServer(t, nil), echoServer(t, g.Mark)
	big := string(make([]byte, 5<<20))
	for _, tt := range []struct {
		port       int
		send, want string
	}{{plain, "hello", "hello"}, {marked, "hello", "host:hello"}, {plain, big, big}} {
		c, err := h.Dial(ctx, tt.port)
		if err != nil {
			t.Fatal(err)
		}
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			io.WriteString(c, tt.send)
			c.(interface{ CloseWrite() error }).CloseWrite()
		}()
		got, err := io.ReadAll(c)
		<-sent
		c.Close()
		if string(got) != tt.want || err != nil {
			t.Errorf("echo of %d bytes = %d bytes, %v", len(tt.send), len(got), err)
		}
	}
	if _, err := h.Dial(ctx, 1); !errors.Is(err, ErrRefused) {
		t.Errorf("Dial(1) = %v, want ErrRefused", err)
	}
	c, err := net.Dial("tcp", exit.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := exchange(c, "out"); got != "out" || err != nil {
		t.Errorf("echo by egress = %q, %v", got, err)
	}
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			c, err := h.Dial(ctx, plain)
			if err != nil {
				t.Errorf("one of many: %v", err)
				return
			}
			if got, err := exchange(c, "x"); got != "x" || err != nil {
				t.Errorf("one of many: %q, %v", got, err)
			}
		})
	}
	all.Wait()
	h.Close()
	if _, err := h.Dial(ctx, plain); !errors.Is(err, ErrClosed) {
		t.Errorf("Dial after Close = %v, want ErrClosed", err)
	}
}

// A guest that answers nothing, as when it is paused.
func TestStreamSilentGuest(t *testing.T) {
	a, b := net.Pipe()
	defer b.Close()
	h, err := NewStreamHost(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for range 200 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if _, err := h.Dial(ctx, 80); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Dial = %v, want a deadline", err)
		}
		cancel()
	}
}

func TestStreamGarbage(t *testing.T) {
	a, b := net.Pipe()
	h, err := NewStreamHost(a, nil)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve() }()
	go io.Copy(io.Discard, b)
	io.WriteString(b, "GET / HTTP/1.1\r\n\r\n")
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("Serve = %v, want ErrClosed", err)
	}
	b.Close()
}
