package bridge

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// A client that stops half way through a body loses its connection, whatever
// the request was.
func TestHTTPSlowBody(t *testing.T) {
	s, _ := testServer(t, Config{})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.HTTP(HTTPConfig{Host: ln.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	h.slowest = 50 * time.Millisecond
	srv := &http.Server{Handler: h}
	go srv.Serve(ln)
	t.Cleanup(func() { srv.Close() })
	for _, tt := range []struct{ name, start, host, length string }{
		{"message", "POST /mcp", ln.Addr().String(), "Content-Length: 1000"},
		{"chunks", "POST /mcp", ln.Addr().String(), "Transfer-Encoding: chunked"},
		{"another host", "POST /mcp", "example.com", "Content-Length: 1000"},
		{"another path", "POST /", ln.Addr().String(), "Content-Length: 1000"},
		{"no session", "DELETE /mcp", ln.Addr().String(), "Content-Length: 1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%s\r\n\r\n", tt.start, tt.host, tt.length)
			if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Errorf("the connection is kept: %v", err)
			}
		})
	}
}
