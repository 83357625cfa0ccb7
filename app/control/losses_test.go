package control_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// answer has each connection at a new path served by do, and then closed.
func answer(t *testing.T, do func(net.Conn)) (path string, taken *atomic.Int64) {
	t.Helper()
	path, taken = filepath.Join(shortDir(t), "s"), new(atomic.Int64)
	ln, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			taken.Add(1)
			go func() {
				defer conn.Close()
				do(conn)
			}()
		}
	}()
	return path, taken
}

// TestDropped meets something that takes connections and drops them, before or
// after the request: the client gives up, and does not hammer at it meanwhile.
func TestDropped(t *testing.T) {
	for name, do := range map[string]func(net.Conn){
		"at once":           func(net.Conn) {},
		"after the request": func(conn net.Conn) { http.ReadRequest(bufio.NewReader(conn)) },
		"with rubbish": func(conn net.Conn) {
			http.ReadRequest(bufio.NewReader(conn))
			io.WriteString(conn, "\x00\xff\x00\xff\n\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, taken := answer(t, do)
			c := &control.Client{Path: path, Patience: time.Second}
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := c.List(ctx, sandbox.ListRequest{}); sandbox.CodeOf(err) != sandbox.Unreachable {
				t.Errorf("list: %v", err)
			}
			if _, err := c.ReadFile(ctx, sandbox.FileRequest{Target: sandbox.Target{Lease: "l"}, Path: "/f"}, nil, io.Discard); sandbox.CodeOf(err) != sandbox.Unreachable {
				t.Errorf("read: %v", err)
			}
			if n := taken.Load(); n > 200 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// TestSilent meets something that takes calls and says nothing: the client gives
// up when it doesn't say either that it is there.
func TestSilent(t *testing.T) {
	path, _ := answer(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	clock := clockwork.NewFakeClock()
	c := &control.Client{Path: path, Clock: clock}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for name, call := range map[string]func() error{
		"status": func() error { _, err := c.Status(ctx); return err },
		"list":   func() error { _, err := c.List(ctx, sandbox.ListRequest{}); return err },
	} {
		done := make(chan error, 1)
		go func() { done <- call() }()
		for err, waits := error(nil), true; waits; {
			select {
			case err = <-done:
				waits = false
				if sandbox.CodeOf(err) != sandbox.Unreachable {
					t.Errorf("%s: %v", name, err)
				}
			default:
				clock.Advance(time.Second)
				time.Sleep(time.Millisecond)
			}
		}
	}
}

// TestSlow has an engine that works for long without a word: it is there, and
// is waited for.
func TestSlow(t *testing.T) {
	p, path := newParrot(), filepath.Join(shortDir(t), "run", "s")
	p.block = make(chan struct{})
	serve(t, path, p)
	clock := clockwork.NewFakeClock()
	c := &control.Client{Path: path, Clock: clock}
	defer c.Close()
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(t.Context(), sandbox.Exec{ID: "e", Target: sandbox.Target{Lease: "l"}, Args: []string{"a"}}, func(sandbox.Output) error { return nil })
		done <- err
	}()
	<-p.started
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := clock.BlockUntilContext(ctx, 1); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Hour)
	select {
	case <-p.asked:
	case <-ctx.Done():
		t.Fatal("the engine is not asked")
	}
	close(p.block)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestOddFrames meets frames that no call has: they are passed over.
func TestOddFrames(t *testing.T) {
	path, _ := answer(t, func(conn net.Conn) {
		http.ReadRequest(bufio.NewReader(conn))
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n{}\nnull\n"+`{"held":true}`+"\n"+`{"done":{}}`+"\n")
	})
	c := control.NewClient(path)
	defer c.Close()
	if err := c.Release(t.Context(), "l"); err != nil {
		t.Error(err)
	}
	if err := c.Cancel(t.Context(), "e"); err != nil {
		t.Error(err)
	}
}
