package control_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

func TestExec(t *testing.T) {
	p, c, _ := start(t)
	e := sandbox.Exec{
		ID: "e-1", Target: sandbox.Target{Lease: "l"}, Args: []string{"a", "b\x01ü", strings.Repeat("long", 1<<18)},
		Dir: "/tmp", Env: map[string]string{"A": "ü"}, Timeout: time.Second, Stdin: true,
	}
	var got []string
	exit, err := c.Exec(t.Context(), e, func(o sandbox.Output) error {
		got = append(got, string(o.Data))
		return nil
	})
	if err != nil || exit != (sandbox.Exit{Sandbox: "sb", Code: 7}) || fmt.Sprint(got) != fmt.Sprint(e.Args) {
		t.Errorf("exit %+v, %v, %d outputs", exit, err, len(got))
	}
	if fmt.Sprintf("%+v", p.last) != fmt.Sprintf("%+v", e) {
		t.Errorf("the engine got %.200v\nwant %.200v", fmt.Sprint(p.last), fmt.Sprint(e))
	}
	for dir, want := range map[string]sandbox.Code{"/missing": sandbox.Invalid, "/broken": sandbox.Internal} {
		e.Dir = dir
		_, err := c.Exec(t.Context(), e, func(sandbox.Output) error { return nil })
		if sandbox.CodeOf(err) != want || strings.Contains(fmt.Sprint(err), "secret") {
			t.Errorf("%s: %v, want code %s and no cause", dir, err, want)
		}
	}
}

// TestExecCancel gives up a command: the engine sees it, and is told to kill.
func TestExecCancel(t *testing.T) {
	p, c, _ := start(t)
	p.block = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-p.started
		cancel()
	}()
	_, err := c.Exec(ctx, sandbox.Exec{ID: "e-1", Target: sandbox.Target{Lease: "l"}, Args: []string{"x"}}, func(sandbox.Output) error { return nil })
	if sandbox.CodeOf(err) != sandbox.Canceled {
		t.Errorf("the call: %v", err)
	}
	if err := <-p.gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the engine saw %v", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if fmt.Sprint(p.canceled) != "[e-1]" {
		t.Errorf("to be killed: %v", p.canceled)
	}
}

// TestExecAfterRestart ends the engine in the middle of a command: the next one
// gets the same request, from where the output stopped.
func TestExecAfterRestart(t *testing.T) {
	path := filepath.Join(shortDir(t), "run", "s")
	first, second := newParrot(), newParrot()
	first.block = make(chan struct{})
	stop := serve(t, path, first)
	c := control.NewClient(path)
	defer c.Close()
	launched := 0
	c.Launch = func(context.Context) error {
		launched++
		serve(t, path, second)
		return nil
	}
	go func() {
		<-first.started
		stop()
	}()
	var got []string
	exit, err := c.Exec(t.Context(), sandbox.Exec{ID: "e-1", Target: sandbox.Target{Lease: "l"}, Args: []string{"a", "b"}}, func(o sandbox.Output) error {
		got = append(got, string(o.Data))
		return nil
	})
	if err != nil || exit.Code != 7 || fmt.Sprint(got) != "[a b]" || launched != 1 {
		t.Errorf("exit %+v, %v, outputs %v, %d engines started", exit, err, got, launched)
	}
	if fmt.Sprint(second.nexts) != "[3]" {
		t.Errorf("asked for outputs from %v on, want 3", second.nexts)
	}
}

// TestHold keeps a lease over the end of an engine, and gives it back.
func TestHold(t *testing.T) {
	path := filepath.Join(shortDir(t), "run", "s")
	first, second := newParrot(), newParrot()
	stop := serve(t, path, first)
	c := control.NewClient(path)
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	held, done := make(chan struct{}, 10), make(chan error, 1)
	go func() { done <- c.Hold(ctx, sandbox.Lease{ID: "l-1"}, func() { held <- struct{}{} }) }()
	<-held
	stop()
	serve(t, path, second)
	<-held
	cancel()
	if err := <-done; err != nil {
		t.Errorf("hold: %v", err)
	}
	second.mu.Lock()
	defer second.mu.Unlock()
	if fmt.Sprint(second.released) != "[l-1]" {
		t.Errorf("released %v", second.released)
	}
}

func TestWatch(t *testing.T) {
	p, c, _ := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	got, done := make(chan uint64), make(chan error, 1)
	go func() {
		done <- c.Watch(ctx, func(s sandbox.Snapshot) error {
			got <- s.Seq
			return nil
		})
	}()
	for seq := range uint64(3) {
		p.watch <- sandbox.Snapshot{Seq: seq}
		if g := <-got; g != seq {
			t.Errorf("snapshot %d, want %d", g, seq)
		}
	}
	cancel()
	if err := <-done; sandbox.CodeOf(err) != sandbox.Canceled {
		t.Errorf("watch: %v", err)
	}
}

func TestFiles(t *testing.T) {
	_, c, _ := start(t)
	var notices []sandbox.Notice
	tell := func(o sandbox.Output) error {
		notices = append(notices, o.Notice)
		return nil
	}
	big := strings.Repeat("x", 5<<20)
	f, err := c.WriteFile(t.Context(), sandbox.FileRequest{Target: sandbox.Target{Lease: "l"}, Path: "ünïcode\n\"quoted\""}, tell, strings.NewReader(big))
	if err != nil || f.Size != int64(len(big)) || f.Path != "ünïcode\n\"quoted\"" {
		t.Errorf("write: %+v, %v", f, err)
	}
	var out strings.Builder
	n, err := c.ReadFile(t.Context(), sandbox.FileRequest{Target: sandbox.Target{Lease: "l"}, Path: "abc"}, tell, &out)
	if err != nil || out.String() != "abcabcabc" || n != 9 {
		t.Errorf("read: %q, %d, %v", out.String(), n, err)
	}
	if fmt.Sprint(notices) != "[creating creating]" {
		t.Errorf("notices %v", notices)
	}
	broken := errors.New("disk full")
	if _, err := c.ReadFile(t.Context(), sandbox.FileRequest{Target: sandbox.Target{Lease: "l"}, Path: "abc"}, nil, writer(func([]byte) (int, error) { return 0, broken })); !errors.Is(err, broken) {
		t.Errorf("read into a full disk: %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestNoEngine asks where nobody listens.
func TestNoEngine(t *testing.T) {
	c := control.NewClient(filepath.Join(shortDir(t), "run", "s"))
	defer c.Close()
	if _, err := c.Status(t.Context()); sandbox.CodeOf(err) != sandbox.Unreachable {
		t.Errorf("status: %v", err)
	}
	if _, err := c.List(t.Context(), sandbox.ListRequest{}); sandbox.CodeOf(err) != sandbox.Unreachable {
		t.Errorf("list: %v", err)
	}
	if err := c.Stop(t.Context()); sandbox.CodeOf(err) != sandbox.Unreachable {
		t.Errorf("stop: %v", err)
	}
	c.Launch = func(context.Context) error {
		return &sandbox.Error{Code: sandbox.Unreachable, Msg: "Arenero can't be started"}
	}
	if _, err := c.List(t.Context(), sandbox.ListRequest{}); err == nil || err.Error() != "Arenero can't be started" {
		t.Errorf("list: %v", err)
	}
}

// TestRefused sends what no client of ours sends.
func TestRefused(t *testing.T) {
	p, _, path := start(t)
	protocol := fmt.Sprintf("Arenero-Protocol: %d\r\n", control.Protocol)
	tests := []struct {
		name, head, body string
		status           int
	}{
		{"ours", "POST /v1/hello HTTP/1.1\r\nHost: arenero\r\n" + protocol, "{}", 200},
		{"a web page", "POST /v1/hello HTTP/1.1\r\nHost: arenero\r\nOrigin: https://evil.example\r\n" + protocol, "{}", 403},
		{"a file opened in a browser", "POST /v1/hello HTTP/1.1\r\nHost: arenero\r\nOrigin: null\r\n" + protocol, "{}", 403},
		{"an empty Origin", "POST /v1/hello HTTP/1.1\r\nHost: arenero\r\nOrigin: \r\n" + protocol, "{}", 403},
		{"another host", "POST /v1/hello HTTP/1.1\r\nHost: localhost\r\n" + protocol, "{}", 403},
		{"no protocol", "POST /v1/hello HTTP/1.1\r\nHost: arenero\r\n", "{}", 426},
		{"another protocol", "POST /v1/hello HTTP/1.1\r\nHost: arenero\r\nArenero-Protocol: 99\r\n", "{}", 426},
		{"GET", "GET /v1/hello HTTP/1.1\r\nHost: arenero\r\n" + protocol, "", 405},
		{"no such call", "POST /v1/nonsense HTTP/1.1\r\nHost: arenero\r\n" + protocol, "{}", 404},
		{"no JSON", "POST /v1/exec HTTP/1.1\r\nHost: arenero\r\n" + protocol, "rubbish", 400},
		{"wrong JSON", "POST /v1/exec HTTP/1.1\r\nHost: arenero\r\n" + protocol, `{"exec":[]}`, 400},
		{"no exec", "POST /v1/exec HTTP/1.1\r\nHost: arenero\r\n" + protocol, `{}`, 400},
		{"too big", "POST /v1/exec HTTP/1.1\r\nHost: arenero\r\n" + protocol, strings.Repeat(" ", 17<<20), 400},
		{"headers without end", "POST /v1/exec HTTP/1.1\r\nHost: arenero\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n", "", 431},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			conn, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", tt.head, len(tt.body), tt.body)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != tt.status {
				t.Errorf("status %d, want %d: %s", res.StatusCode, tt.status, body)
			}
			if strings.Contains(string(body), "rubbish") {
				t.Errorf("what was sent comes back: %s", body)
			}
		})
	}
	if p.runs != 0 {
		t.Errorf("%d commands ran", p.runs)
	}
}

// TestOtherVersion meets an engine of another protocol, and what is no engine.
func TestOtherVersion(t *testing.T) {
	for name, answer := range map[string]string{
		"another protocol": "HTTP/1.1 426 Upgrade Required\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n" +
			`{"error":{"code":"other_version","message":"the engine that runs is version 9"}}` + "\n",
		"a web server": "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(shortDir(t), "s")
			ln, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			go func() {
				for {
					conn, err := ln.Accept()
					if err != nil {
						return
					}
					http.ReadRequest(bufio.NewReader(conn))
					io.WriteString(conn, answer)
					conn.Close()
				}
			}()
			c := control.NewClient(path)
			defer c.Close()
			if _, err := c.Status(t.Context()); sandbox.CodeOf(err) != sandbox.OtherVersion {
				t.Errorf("status: %v", err)
			}
			if _, err := c.List(t.Context(), sandbox.ListRequest{}); sandbox.CodeOf(err) != sandbox.OtherVersion {
				t.Errorf("list: %v", err)
			}
		})
	}
}

func TestStop(t *testing.T) {
	path := filepath.Join(shortDir(t), "run", "s")
	p := newParrot()
	stop := serve(t, path, p)
	c := control.NewClient(path)
	defer c.Close()
	go func() {
		for {
			p.mu.Lock()
			stopped := p.stopped
			p.mu.Unlock()
			if stopped {
				stop()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := c.Status(t.Context()); sandbox.CodeOf(err) != sandbox.Unreachable {
		t.Errorf("after that: %v", err)
	}
}

// FuzzAnswer sends the client what no engine does: it fails, and does no more.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"out":{"seq":1,"stream":"stdout"},"raw":3}` + "\nabc" + `{"done":{"exit":{"sandbox":"s","code":0}}}` + "\n"))
	f.Add([]byte(`{"raw":-1,"out":{}}` + "\n"))
	f.Add([]byte(`{"raw":999999999,"out":{}}` + "\n"))
	f.Add([]byte(`{"error":{"code":"internal"}}` + "\n"))
	f.Add([]byte(`{"done":{}}` + "\n"))
	f.Add([]byte(`null` + "\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		control.ReadAnswer(t.Context(), body)
	})
}
