package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestHTTPProgress(t *testing.T) {
	s, g := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{})
	close(g.gate("open"))
	check := func(t *testing.T, got []reply, steps int) {
		t.Helper()
		if len(got) != steps+1 {
			t.Errorf("%d messages, want %d and the result", len(got), steps)
			return
		}
		for i, r := range got[:steps] {
			if want := fmt.Sprintf(`"progress":%d,`, i+1); r.Method != "notifications/progress" || !strings.Contains(string(r.Params), want) {
				t.Errorf("message %d is %s", i, r.line)
				return
			}
		}
		if last := got[steps]; last.ID == nil || last.Result.IsError {
			t.Errorf("last is %s", last.line)
		}
	}
	sess := w.begin()
	t.Run("450 calls", func(t *testing.T) {
		var wg sync.WaitGroup
		for worker := range 10 {
			wg.Go(func() {
				for i := range 45 {
					id := worker*100 + i
					body, headers := call2026(id, "wait", `{"gate":"open","steps":3}`, `,"progressToken":1`)
					if i%2 == 0 {
						body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"wait","arguments":{"gate":"open","steps":3},"_meta":{"progressToken":"p"}}}`, id)
						headers = []string{sess}
					}
					check(t, w.call(body, headers...), 3)
				}
			})
		}
		wg.Wait()
	})
	t.Run("burst", func(t *testing.T) {
		body, headers := call2026(1, "wait", `{"gate":"open","steps":3000}`, `,"progressToken":1`)
		check(t, w.call(body, headers...), 3000)
	})
	t.Run("nobody asked", func(t *testing.T) {
		check(t, w.call(toolCall(1, "wait", `{"gate":"open","steps":3}`), sess), 0)
	})
	t.Run("client that takes JSON only", func(t *testing.T) {
		body, headers := call2026(1, "wait", `{"gate":"open","steps":3}`, `,"progressToken":1`)
		r, err := http.NewRequest(http.MethodPost, "http://"+w.addr+Endpoint, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range append(headers, "Accept: application/json", "Content-Type: application/json") {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if kind := resp.Header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("content type = %s", kind)
		}
		check(t, replies(t, "application/json", string(b)), 0)
	})
}

func TestHTTPKeepAlive(t *testing.T) {
	s, g := testServer(t, Config{})
	w := serve(t, s, HTTPConfig{KeepAlive: time.Millisecond})
	body, headers := call2026(1, "wait", `{"gate":"a"}`, "")
	resp, err := w.do(t.Context(), http.MethodPost, Endpoint, body, headers...) // returns with the first comment
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	br := bufio.NewReader(resp.Body)
	if line, err := br.ReadString('\n'); err != nil || line[0] != ':' {
		t.Errorf("first line = %q, %v", line, err)
	}
	close(g.gate("a"))
	rest, err := io.ReadAll(br)
	if err != nil {
		t.Fatal(err)
	}
	if got := replies(t, resp.Header.Get("Content-Type"), string(rest)); len(got) != 1 || got[0].Result.IsError {
		t.Errorf("got %s", rest)
	}
}

func TestHTTPEnd(t *testing.T) {
	t.Run("calls that end", func(t *testing.T) {
		s, g := testServer(t, Config{Grace: patience})
		w := serve(t, s, HTTPConfig{})
		sess := w.begin()
		got := make(chan []reply, 1)
		go func() { got <- w.call(toolCall(1, "wait", `{"gate":"a"}`), sess) }()
		<-g.started
		w.stop()
		close(g.gate("a"))
		if r := <-got; len(r) != 1 || r[0].Result.IsError {
			t.Errorf("got %v", r)
		}
		w.end()
	})
	t.Run("calls that don't", func(t *testing.T) {
		var mu sync.Mutex
		var cleaned []string
		s, g := testServer(t, Config{
			Grace: time.Millisecond,
			Setup: func(_ context.Context, c *Conn) error { c.Value = "mine"; return nil },
			Cleanup: func(_ context.Context, c *Conn) {
				mu.Lock()
				defer mu.Unlock()
				cleaned = append(cleaned, fmt.Sprint(c.Value))
			},
		})
		w := serve(t, s, HTTPConfig{})
		sess := w.begin()
		go w.do(t.Context(), http.MethodGet, Endpoint, "", sess)
		go w.do(t.Context(), http.MethodPost, Endpoint, toolCall(1, "wait", `{"gate":"a"}`), sess)
		go w.do(t.Context(), http.MethodPost, Endpoint, toolCall(2, "wait", `{"gate":"a","deaf":true}`), sess)
		<-g.started
		<-g.started
		w.end()
		mu.Lock()
		defer mu.Unlock()
		if len(cleaned) != 1 || cleaned[0] != "mine" {
			t.Errorf("cleaned up: %v, want the one session", cleaned)
		}
	})
}

func TestServeListenerRefusesWildcard(t *testing.T) {
	s, _ := testServer(t, Config{})
	ln, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := s.ServeListener(t.Context(), ln, HTTPConfig{Host: "x:1"}); err == nil {
		t.Error("it listens on every address")
	}
}

func TestAddresses(t *testing.T) {
	tests := []struct {
		host               string
		wildcard, loopback bool
	}{
		{"127.0.0.1", false, true},
		{"127.9.9.9", false, true},
		{"::1", false, true},
		{"[::1]", false, true},
		{"localhost", false, true},
		{"a.localhost", false, false},
		{"192.168.1.5", false, false},
		{"sandbox.example", false, false},
		{"localhost.example", false, false},
		{"0.0.0.0", true, false},
		{"::", true, false},
		{"[::]", true, false},
		{"::%eth0", true, false},
		{"::ffff:0.0.0.0", true, false},
		{"0:0:0:0:0:0:0:0", true, false},
		{"0", true, false},
		{"0x0", true, false},
		{"0.0", true, false},
		{"", true, false},
		{"*", true, false},
	}
	for _, tt := range tests {
		if got := CheckHost(tt.host) != nil; got != tt.wildcard {
			t.Errorf("CheckHost(%q) refuses: %v, want %v", tt.host, got, tt.wildcard)
		}
		if got := IsLoopback(tt.host); got != tt.loopback {
			t.Errorf("IsLoopback(%q) = %v, want %v", tt.host, got, tt.loopback)
		}
	}
}
