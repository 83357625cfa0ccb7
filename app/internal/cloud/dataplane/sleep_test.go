package dataplane

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestHeldWhileAsleep(t *testing.T) {
	both(t, func(t *testing.T, h2 bool) {
		r := newRig(t)
		r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			io.Copy(w, q.Body)
		}))
		c := r.client(t, h2)
		if _, got := do(t, c, r.request(t, "POST", "/", 8080, strings.NewReader("warm"))); got != "warm" {
			t.Fatalf("got %q", got)
		}
		r.vm.suspend()
		eventually(t, "the session has ended", func() bool { return r.lanes() == 0 })
		big := strings.Repeat("x", 300_000)
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				body := big[:i*30_000]
				if _, got := do(t, c, r.request(t, "POST", "/", 8080, strings.NewReader(body))); got != body {
					t.Errorf("%d of %d bytes came back", len(got), len(body))
				}
			})
		}
		woken := r.vm.woken.Load()
		eventually(t, "all are held", func() bool { return r.vm.woken.Load() >= woken+10 || r.vm.woken.Load() >= 11 })
		if n := r.vm.dialled.Load(); n != 1 {
			t.Errorf("dialled %d times into a VM asleep", n-1)
		}
		r.vm.resume()
		wg.Wait()
	})
}

// A client that leaves while it is held lets go of the VM.
func TestHeldClientLeaves(t *testing.T) {
	both(t, func(t *testing.T, h2 bool) {
		r := newRig(t)
		r.vm.suspend()
		c := r.client(t, h2)
		for _, body := range []string{"", "some", strings.Repeat("x", bufferSize-1)} {
			ctx, cancel := context.WithCancel(t.Context())
			woken := r.vm.woken.Load()
			failed := make(chan error)
			q := r.request(t, "POST", "/", 8080, strings.NewReader(body)).WithContext(ctx)
			go func() {
				resp, err := c.Do(q)
				if err == nil {
					resp.Body.Close()
				}
				failed <- err
			}()
			eventually(t, "it is held", func() bool { return r.vm.woken.Load() > woken })
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("err = %v", err)
			}
			eventually(t, "it is let go", func() bool { return r.lanes() == 0 })
		}
	})
}

// Falling asleep cuts what streams, resets it, and leaves nothing to reuse.
func TestCut(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run("force-h2="+strconv.FormatBool(force), func(t *testing.T) {
			both(t, func(t *testing.T, h2 bool) {
				r := newRig(t)
				arrived, left := make(chan struct{}, 2), make(chan struct{}, 2)
				r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					if q.URL.Path == "/stream" {
						io.WriteString(w, "one")
						http.NewResponseController(w).Flush()
					}
					if q.URL.Path != "/" {
						arrived <- struct{}{}
						<-q.Context().Done()
						left <- struct{}{}
					}
				}))
				c := r.client(t, h2)
				get := func(path string) *http.Request {
					q := r.request(t, "GET", path, 8080, nil)
					if force {
						q.Header.Set(headerForceH2, "true")
					}
					return q
				}
				resp, err := c.Do(get("/stream"))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				silent := make(chan *http.Response)
				q := get("/silent")
				go func() {
					resp, err := c.Do(q)
					if err != nil {
						t.Errorf("silent: %v", err)
					}
					silent <- resp
				}()
				<-arrived
				<-arrived
				r.vm.suspend()
				if _, err := io.ReadAll(resp.Body); err == nil {
					t.Error("the stream ended as if in order")
				}
				if resp := <-silent; resp != nil {
					if resp.StatusCode != 502 || resp.Header.Get(headerError) != CodeVMUnreachable {
						t.Errorf("silent: %d %s", resp.StatusCode, resp.Header.Get(headerError))
					}
					resp.Body.Close()
				}
				<-left
				r.vm.resume()
				dialled := r.vm.dialled.Load()
				if resp, _ := do(t, c, get("/")); resp.StatusCode != 200 {
					t.Errorf("after resume: %d", resp.StatusCode)
				}
				if r.vm.dialled.Load() == dialled {
					t.Error("a connection from before the sleep was used")
				}
			})
		})
	}
}

// A VM that falls asleep while it is dialled is woken again.
func TestCutWhileDialling(t *testing.T) {
	r := newRig(t)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { io.Copy(w, q.Body) }))
	r.vm.stuck = make(chan struct{})
	got := make(chan string)
	q := r.request(t, "POST", "/", 8080, strings.NewReader("hello"))
	c := r.client(t, false)
	go func() {
		_, text := do(t, c, q)
		got <- text
	}()
	eventually(t, "it dials", func() bool { return r.vm.dialled.Load() == 1 })
	r.vm.suspend()
	eventually(t, "it wakes the VM again", func() bool { return r.vm.woken.Load() == 2 })
	close(r.vm.stuck)
	r.vm.resume()
	if text := <-got; text != "hello" {
		t.Errorf("got %q", text)
	}
}

// A client that vanishes ends the request to the app.
func TestClientVanishes(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run("force-h2="+strconv.FormatBool(force), func(t *testing.T) {
			both(t, func(t *testing.T, h2 bool) {
				r := newRig(t)
				left := make(chan struct{})
				r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					io.WriteString(w, "one")
					http.NewResponseController(w).Flush()
					<-q.Context().Done()
					close(left)
				}))
				ctx, cancel := context.WithCancel(t.Context())
				q := r.request(t, "GET", "/", 8080, nil).WithContext(ctx)
				if force {
					q.Header.Set(headerForceH2, "true")
				}
				resp, err := r.client(t, h2).Do(q)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				cancel()
				<-left
			})
		})
	}
}

// A client that stops reading stops the app's writing.
func TestBackPressure(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run("force-h2="+strconv.FormatBool(force), func(t *testing.T) {
			both(t, func(t *testing.T, h2 bool) {
				r := newRig(t)
				const most = 256 << 20
				var written int64
				done := make(chan struct{})
				r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					defer close(done)
					buf := make([]byte, 1<<20)
					for written < most {
						if _, err := w.Write(buf); err != nil {
							return
						}
						written += int64(len(buf))
					}
				}))
				ctx, cancel := context.WithCancel(t.Context())
				q := r.request(t, "GET", "/", 8080, nil).WithContext(ctx)
				if force {
					q.Header.Set(headerForceH2, "true")
				}
				resp, err := r.client(t, h2).Do(q)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				// Bytes have stopped moving when nothing touches the VM any more.
				// On a slow machine that is seen too early, which does no harm.
				for last := int64(-1); last != r.vm.touched.Load(); time.Sleep(200 * time.Millisecond) {
					last = r.vm.touched.Load()
				}
				cancel()
				<-done
				if written >= most {
					t.Error("the proxy took all of an answer that nobody reads")
				}
			})
		})
	}
}

// A client that still sends sees the cut too, held before or not.
func TestCutWhileSending(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		t.Run("asleep="+strconv.FormatBool(asleep), func(t *testing.T) { cutWhileSending(t, asleep) })
	}
}

func cutWhileSending(t *testing.T, asleep bool) {
	r := newRig(t)
	over := make(chan struct{})
	defer close(over)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		io.CopyN(w, q.Body, 4)
		http.NewResponseController(w).Flush()
		<-over
	}))
	if asleep {
		r.vm.suspend()
	}
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\n%s: %s\r\nContent-Length: 100\r\n\r\nhalf", testHost, headerAuth, r.token(t, 8080))
	if asleep {
		eventually(t, "it is held", func() bool { return r.vm.woken.Load() > 0 })
		r.vm.resume()
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	r.vm.suspend()
	if err := conn.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err == nil || isTimeout(err) {
		t.Errorf("after the cut: %v", err)
	}
}
