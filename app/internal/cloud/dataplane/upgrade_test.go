package dataplane

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// serveWebSocket runs an app that echoes messages. It likes subprotocol chat.
func (v *testVM) serveWebSocket(t testing.TB, port int, seen func(*http.Request)) {
	v.serve(t, port, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if seen != nil {
			seen(q)
		}
		ws, err := websocket.Accept(w, q, &websocket.AcceptOptions{Subprotocols: []string{"chat"}, InsecureSkipVerify: true})
		if err != nil {
			return
		}
		defer ws.CloseNow()
		ws.SetReadLimit(8 << 20)
		for {
			kind, data, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			if string(data) == "bye" {
				ws.Close(4000, "as you like")
				return
			}
			if ws.Write(context.Background(), kind, data) != nil {
				return
			}
		}
	}))
}

func (r *rig) dialWebSocket(t testing.TB, h http.Header, protocols ...string) (*websocket.Conn, *http.Response, error) {
	ws, resp, err := websocket.Dial(t.Context(), "ws://"+testHost+"/ws?q=1", &websocket.DialOptions{
		HTTPClient: r.client(t, false), HTTPHeader: h, Subprotocols: protocols,
	})
	if err == nil {
		t.Cleanup(func() { ws.CloseNow() })
		ws.SetReadLimit(8 << 20)
	}
	return ws, resp, err
}

func TestWebSocket(t *testing.T) {
	r := newRig(t)
	var mu sync.Mutex
	var seen *http.Request
	r.vm.serveWebSocket(t, 3000, func(q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = q
	})
	token := r.token(t, 3000)
	ours := []string{marker, authPrefix + token, portPrefix + "3000"}
	header := http.Header{headerAuth: {token}, headerPort: {"3000"}}
	tests := []struct {
		name   string
		header http.Header
		offers []string
		app    string // what the app sees
		want   string // what the client is told
	}{
		{"subprotocols", nil, ours, "", marker},
		{"and one the app likes", nil, append(ours, "chat"), "chat", "chat"},
		{"and one it does not", nil, append([]string{"mqtt"}, ours...), "mqtt", marker},
		{"headers", header, nil, "", ""},
		{"headers and chat", header, []string{"chat", "mqtt"}, "chat, mqtt", "chat"},
		{"headers go first", header, []string{marker, authPrefix + "rubbish", portPrefix + "1"}, "", marker},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, resp, err := r.dialWebSocket(t, tt.header, tt.offers...)
			if err != nil {
				t.Fatal(err)
			}
			if got := resp.Header.Get("Sec-Websocket-Protocol"); got != tt.want {
				t.Errorf("client is told %q, want %q", got, tt.want)
			}
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(seen.Header["Sec-Websocket-Protocol"], ", "); got != tt.app {
				t.Errorf("app sees %q, want %q", got, tt.app)
			}
			if seen.Host != testHost || seen.RequestURI != "/ws?q=1" || seen.Header.Get(headerID) == "" || seen.Header.Get(headerAuth) != "" {
				t.Errorf("app sees %s %s %v", seen.Host, seen.RequestURI, seen.Header)
			}
			for _, size := range []int{0, 5, 70_000, 5_000_000} {
				want := bytes.Repeat([]byte{0xff}, size)
				if err := ws.Write(t.Context(), websocket.MessageBinary, want); err != nil {
					t.Fatal(err)
				}
				if kind, got, err := ws.Read(t.Context()); err != nil || kind != websocket.MessageBinary || !bytes.Equal(got, want) {
					t.Fatalf("%d bytes of %d came back, %v", len(got), size, err)
				}
			}
			if err := ws.Write(t.Context(), websocket.MessageText, []byte("bye")); err != nil {
				t.Fatal(err)
			}
			var end websocket.CloseError
			if _, _, err := ws.Read(t.Context()); !errors.As(err, &end) || end.Code != 4000 || end.Reason != "as you like" {
				t.Errorf("end = %v", err)
			}
		})
	}
}

func TestWebSocketRefused(t *testing.T) {
	r := newRig(t)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(426)
		io.WriteString(w, strings.Repeat("no sockets here ", 200_000))
	}))
	r.vm.serveWebSocket(t, 3000, nil)
	token := r.token(t, 8080)
	tests := []struct {
		name   string
		offers []string
		want   int
		code   string
	}{
		{"no token", []string{marker}, 403, CodeUnauthorized},
		{"bad token", []string{marker, authPrefix + "x"}, 403, CodeUnauthorized},
		{"another port", []string{marker, authPrefix + token, portPrefix + "1"}, 403, CodePortDenied},
		{"bad port", []string{marker, authPrefix + token, portPrefix + "x"}, 400, CodeBadRequest},
		{"app refuses", []string{marker, authPrefix + token}, 426, ""},
		{"nothing listens", []string{marker, authPrefix + r.token(t, 81), portPrefix + "81"}, 502, CodeAppConnect},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, resp, err := r.dialWebSocket(t, nil, tt.offers...)
			if err == nil {
				t.Fatal("dialled")
			}
			if resp.StatusCode != tt.want || resp.Header.Get(headerError) != tt.code {
				t.Errorf("got %d %q, want %d %q", resp.StatusCode, resp.Header.Get(headerError), tt.want, tt.code)
			}
		})
	}
	r.vm.caps.Connections = 1 // no request is under way
	offers := []string{marker, authPrefix + r.token(t, 3000), portPrefix + "3000"}
	eventually(t, "the place is free", func() bool {
		_, _, err := r.dialWebSocket(t, nil, offers...)
		return err == nil
	})
	if _, resp, err := r.dialWebSocket(t, nil, offers...); err == nil || resp.StatusCode != 429 {
		t.Errorf("second socket: %v", err)
	}
}

func TestWebSocketCut(t *testing.T) {
	r := newRig(t)
	r.vm.serveWebSocket(t, 8080, nil)
	ws, _, err := r.dialWebSocket(t, http.Header{headerAuth: {r.token(t, 8080)}})
	if err != nil {
		t.Fatal(err)
	}
	r.vm.suspend()
	var end websocket.CloseError
	if _, _, err := ws.Read(t.Context()); err == nil || errors.As(err, &end) {
		t.Errorf("socket ended with %v, want a reset", err)
	}
}

// Bytes that come with the handshake, from either side, are not lost.
func TestUpgradeEarlyBytes(t *testing.T) {
	r := newRig(t)
	ln := listen(t)
	r.vm.listenOn(8080, ln)
	got := make(chan string, 1)
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		in := bufio.NewReader(c)
		if _, err := http.ReadRequest(in); err != nil {
			t.Error(err)
		}
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nfrom app")
		c.(*net.TCPConn).CloseWrite()
		b, _ := io.ReadAll(in)
		got <- string(b)
	}()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n%s: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\nfrom client", testHost, headerAuth, r.token(t, 8080))
	out := bufio.NewReader(conn)
	resp, err := http.ReadResponse(out, nil)
	if err != nil || resp.StatusCode != 101 {
		t.Fatalf("%v, %v", resp, err)
	}
	if b, _ := io.ReadAll(out); string(b) != "from app" {
		t.Errorf("client got %q", b)
	}
	if s := <-got; s != "from client" {
		t.Errorf("app got %q", s)
	}
}

// A shellVM gives a terminal that shouts back.
type shellVM struct {
	*testVM
	sizes chan string
}

var _ Sheller = (*shellVM)(nil)

type testTerminal struct {
	io.Reader
	in    *io.PipeWriter
	sizes chan string
}

func (v *shellVM) Shell(_ context.Context, cols, rows int) (Terminal, error) {
	v.sizes <- strconv.Itoa(cols) + "x" + strconv.Itoa(rows)
	pr, pw := io.Pipe()
	return &testTerminal{pr, pw, v.sizes}, nil
}

func (s *testTerminal) Write(p []byte) (int, error) {
	if string(p) == "exit" {
		return len(p), s.in.Close()
	}
	return s.in.Write(bytes.ToUpper(p))
}

func (s *testTerminal) Close() error { return s.in.Close() }

func (s *testTerminal) Resize(cols, rows int) error {
	s.sizes <- strconv.Itoa(cols) + "x" + strconv.Itoa(rows)
	return nil
}

type shellRig struct{ vm *shellVM }

func (r *shellRig) VM(string) (VM, bool) { return r.vm, true }

func TestShell(t *testing.T) {
	r := newRig(t)
	if _, resp, err := r.dialWebSocket(t, nil, marker, authPrefix+r.token(t)); err == nil || resp.StatusCode != 502 {
		t.Errorf("a VM without a shell: %v", err)
	}
	vm := &shellVM{r.vm, make(chan string, 10)}
	r.proxy.cfg.Directory = &shellRig{vm} // no request is under way
	for _, offers := range [][]string{
		{marker, authPrefix + r.token(t)},
		{marker, authPrefix + r.token(t), portPrefix + "8022"},
	} {
		ws, resp, err := r.dialWebSocket(t, nil, offers...)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Sec-Websocket-Protocol"); got != marker {
			t.Errorf("subprotocol = %q", got)
		}
		kind, data, err := ws.Read(t.Context())
		var first map[string]any
		if err != nil || kind != websocket.MessageText || json.Unmarshal(data, &first) != nil || first["type"] != "session_init" || first["session_id"] == "" {
			t.Fatalf("first frame = %s, %v", data, err)
		}
		if got := <-vm.sizes; got != "80x24" {
			t.Errorf("size = %s", got)
		}
		send := func(kind websocket.MessageType, s string) {
			if err := ws.Write(t.Context(), kind, []byte(s)); err != nil {
				t.Fatal(err)
			}
		}
		send(websocket.MessageText, `{"type":"resize","cols":132,"rows":50}`)
		if got := <-vm.sizes; got != "132x50" {
			t.Errorf("size = %s", got)
		}
		send(websocket.MessageText, `{"type":"resize","cols":-1,"rows":50}`)
		for _, in := range []struct {
			kind websocket.MessageType
			text string
		}{{websocket.MessageBinary, "ls\r"}, {websocket.MessageText, `{"type":"other"}`}} {
			send(in.kind, in.text)
			if kind, data, err := ws.Read(t.Context()); err != nil || kind != websocket.MessageBinary || string(data) != strings.ToUpper(in.text) {
				t.Errorf("answer = %q, %v", data, err)
			}
		}
		send(websocket.MessageBinary, "exit")
		var end websocket.CloseError
		if _, _, err := ws.Read(t.Context()); !errors.As(err, &end) || end.Code != 1000 || end.Reason != "shell exited" {
			t.Errorf("end = %v", err)
		}
	}
	// The client's leaving and the VM's sleep both hang up.
	ws, _, err := r.dialWebSocket(t, nil, marker, authPrefix+r.token(t))
	if err != nil {
		t.Fatal(err)
	}
	ws.CloseNow()
	ws, _, err = r.dialWebSocket(t, nil, marker, authPrefix+r.token(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.vm.suspend()
	if _, _, err := ws.Read(t.Context()); err == nil {
		t.Error("the shell outlived the VM's sleep")
	}
}
