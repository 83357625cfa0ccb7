//go:build linux

package jail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

func TestDial(t *testing.T) {
	j := startJail(t, newSpec(t))
	ctx := context.Background()
	if _, err := j.Dial(ctx, 1234); !errors.Is(err, ErrRefused) {
		t.Errorf("Dial of a port nobody listens on: %v, want ErrRefused", err)
	}
	if _, err := j.Dial(ctx, 70000); err == nil || errors.Is(err, ErrRefused) {
		t.Errorf("Dial of port 70000: %v", err)
	}
	t.Run("who calls", func(t *testing.T) {
		for range 5 {
			c, err := j.Dial(ctx, hooksPort)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(c)
			c.Close()
			if string(b) != "host" {
				t.Errorf("a connection of the host is taken for %q", b)
			}
			out, _ := sh(t, j, python(fmt.Sprintf("import socket\nprint(socket.create_connection(('127.0.0.1', %d)).recv(99).decode())", hooksPort)))
			if out != "inside" {
				t.Errorf("a connection from inside is taken for %q", out)
			}
		}
	})
	t.Run("only on IPv6", func(t *testing.T) {
		sh(t, j, `setsid /usr/bin/python3 -c '
import socket
s = socket.create_server(("::1", 7001), family=socket.AF_INET6)
while True: s.accept()[0].sendall(b"six")
' >/dev/null 2>&1 &`)
		eventually(t, "the server answers", func() bool {
			c, err := j.Dial(ctx, 7001)
			if err != nil {
				return false
			}
			defer c.Close()
			b := make([]byte, 3)
			io.ReadFull(c, b)
			return string(b) == "six"
		})
	})
	t.Run("many at once", func(t *testing.T) {
		var all sync.WaitGroup
		for i := range 500 {
			all.Go(func() {
				c, err := j.Dial(ctx, hooksPort)
				if err != nil {
					t.Errorf("dial %d: %v", i, err)
					return
				}
				defer c.Close()
				if b, err := io.ReadAll(c); string(b) != "host" {
					t.Errorf("dial %d: %q, %v", i, b, err)
				}
			})
		}
		all.Wait()
	})
	t.Run("cancelled", func(t *testing.T) {
		var all sync.WaitGroup
		for range 200 {
			ctx, cancel := context.WithCancel(ctx)
			all.Go(func() {
				if c, err := j.Dial(ctx, hooksPort); err == nil {
					c.Close()
				}
			})
			all.Go(cancel)
		}
		all.Wait()
		if out, _ := sh(t, j, "echo fine"); out != "fine" {
			t.Errorf("afterwards: %q", out)
		}
	})
}

func TestEgress(t *testing.T) {
	spec := newSpec(t)
	spec.Egress = func(c net.Conn) {
		defer c.Close()
		b := make([]byte, 5)
		io.ReadFull(c, b)
		io.WriteString(c, strings.ToUpper(string(b)))
	}
	j := startJail(t, spec)
	client := `import socket, os
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(b"hello")
print(s.recv(99).decode(), os.environ["https_proxy"], os.environ["ALL_PROXY"])`
	if out, _ := sh(t, j, python(client)); out != "HELLO http://127.0.0.1:3128 socks5h://127.0.0.1:3128" {
		t.Errorf("through the proxy port: %q", out)
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			out, _ := sh(t, j, python("import socket\nfor i in range(100):\n  s = socket.create_connection(('127.0.0.1', 3128))\n  s.sendall(b'hello')\n  assert s.recv(5) == b'HELLO'\nprint('all')"))
			if out != "all" {
				t.Errorf("many connections: %q", out)
			}
		})
	}
	all.Wait()
	if out, _ := sh(t, j, python("import socket\ntry:\n  socket.create_server(('127.0.0.1', 3128))\n  print('worked')\nexcept OSError as e:\n  print(e.strerror)")); !strings.HasPrefix(out, "Address already in use") {
		t.Errorf("the proxy port can be taken: %q", out)
	}
	closed := startJail(t, newSpec(t))
	if out, _ := sh(t, closed, "env | grep -ci proxy"); out != "0" {
		t.Errorf("%s proxy variables in a jail without a way out", out)
	}
}
