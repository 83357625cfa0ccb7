package dataplane

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// do sends a request and reads the whole answer.
func do(t *testing.T, c *http.Client, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	defer resp.Body.Close()
	return resp, readAll(t, resp.Body)
}

// both runs a test with an HTTP/1.1 and an HTTP/2 client.
func both(t *testing.T, f func(t *testing.T, h2 bool)) {
	t.Run("http1", func(t *testing.T) { f(t, false) })
	t.Run("http2", func(t *testing.T) { f(t, true) })
}

// TestStatuses is the table of lambda-microvms.md section 6.3.
func TestStatuses(t *testing.T) {
	tests := []struct {
		name string
		edit func(t *testing.T, r *rig, q *http.Request)
		want int
		code string
		text string
	}{
		{"good", func(*testing.T, *rig, *http.Request) {}, 418, "", "app"},
		{"default port", func(t *testing.T, r *rig, q *http.Request) { q.Header.Del(headerPort) }, 418, "", "app"},
		{"host with a port and in capitals", func(t *testing.T, r *rig, q *http.Request) { q.Host = strings.ToUpper(testHost) + ":443" }, 418, "", "app"},
		{"unknown host", func(t *testing.T, r *rig, q *http.Request) { q.Host = "x." + testHost }, 403, CodeUnauthorized, ""},
		{"no token", func(t *testing.T, r *rig, q *http.Request) { q.Header.Del(headerAuth) }, 403, CodeUnauthorized, "authentication is missing"},
		{"garbage token", func(t *testing.T, r *rig, q *http.Request) { q.Header.Set(headerAuth, "a.b.c.d.e") }, 403, CodeUnauthorized, ""},
		{"token of another VM", func(t *testing.T, r *rig, q *http.Request) {
			q.Header.Set(headerAuth, mint(t, r.keys, "vm2", []PortRange{AllPorts}, false, r.clock.Now().Add(time.Hour)))
		}, 403, CodeUnauthorized, ""},
		{"expired token", func(t *testing.T, r *rig, q *http.Request) { r.clock.Advance(time.Hour) }, 403, CodeUnauthorized, "expired"},
		{"port not allowed", func(t *testing.T, r *rig, q *http.Request) { q.Header.Set(headerPort, "3000") }, 403, CodePortDenied, "Access to port denied"},
		{"hook port", func(t *testing.T, r *rig, q *http.Request) { q.Header.Set(headerPort, "9000") }, 403, CodePortDenied, ""},
		{"hook port with a token for it", func(t *testing.T, r *rig, q *http.Request) {
			q.Header.Set(headerPort, "9000")
			q.Header.Set(headerAuth, r.token(t, 9000))
		}, 418, "", "app"},
		{"bad port", func(t *testing.T, r *rig, q *http.Request) { q.Header.Set(headerPort, "http") }, 400, CodeBadRequest, ""},
		{"bad port and no token", func(t *testing.T, r *rig, q *http.Request) {
			q.Header.Set(headerPort, "0")
			q.Header.Del(headerAuth)
		}, 400, CodeBadRequest, ""},
		{"nothing listens", func(t *testing.T, r *rig, q *http.Request) {
			q.Header.Set(headerPort, "8081")
			q.Header.Set(headerAuth, r.token(t, 8081))
		}, 502, CodeAppConnect, ""},
		{"force-h2 to an HTTP/1.1 app", func(t *testing.T, r *rig, q *http.Request) {
			q.Header.Set(headerForceH2, "true")
			q.Header.Set(headerPort, "8082")
			q.Header.Set(headerAuth, r.token(t, 8082))
		}, 502, CodeAppConnect, ""},
		{"app hangs up", func(t *testing.T, r *rig, q *http.Request) {
			q.Header.Set(headerPort, "8083")
			q.Header.Set(headerAuth, r.token(t, 8083))
		}, 502, CodeAppConnect, ""},
		{"suspended for good", func(t *testing.T, r *rig, q *http.Request) {
			r.vm.refuse = &Refusal{502, CodeVMSuspended, "asleep"}
		}, 502, CodeVMSuspended, "asleep"},
		{"terminated", func(t *testing.T, r *rig, q *http.Request) {
			r.vm.refuse = &Refusal{502, CodeVMUnreachable, "gone"}
		}, 502, CodeVMUnreachable, "gone"},
		{"always falls asleep", func(t *testing.T, r *rig, q *http.Request) { close(r.vm.cut) }, 502, CodeVMUnreachable, ""},
		{"shell token for a plain request", func(t *testing.T, r *rig, q *http.Request) {
			q.Header.Set(headerAuth, r.token(t))
			q.Header.Del(headerPort)
		}, 502, CodeAppConnect, ""},
		{"shell token for a port", func(t *testing.T, r *rig, q *http.Request) { q.Header.Set(headerAuth, r.token(t)) }, 403, CodePortDenied, ""},
	}
	both(t, func(t *testing.T, h2 bool) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				r := newRig(t)
				app := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					w.Header().Set(headerError, "FROM_THE_APP")
					w.WriteHeader(418)
					io.WriteString(w, "app")
				})
				r.vm.serve(t, 8080, app)
				r.vm.serve(t, 9000, app)
				r.vm.serveServer(t, 8082, &http.Server{Handler: app})
				mute := listen(t)
				go func() {
					for {
						c, err := mute.Accept()
						if err != nil {
							return
						}
						c.Close()
					}
				}()
				r.vm.listenOn(8083, mute)
				q := r.request(t, "GET", "/", 8080, nil)
				tt.edit(t, r, q)
				resp, text := do(t, r.client(t, h2), q)
				if resp.StatusCode != tt.want || resp.Header.Get(headerError) != tt.code {
					t.Errorf("got %d %q, want %d %q", resp.StatusCode, resp.Header.Get(headerError), tt.want, tt.code)
				}
				if !strings.Contains(text, tt.text) {
					t.Errorf("body = %q, want %q in it", text, tt.text)
				}
				if touched := r.vm.touched.Load(); (tt.want == 400 || tt.want == 403) && touched+r.vm.woken.Load() != 0 {
					t.Errorf("a refused request touched the VM %d times and woke it %d times", touched, r.vm.woken.Load())
				}
				if token := q.Header.Get(headerAuth); token != "" && strings.Contains(r.log.String()+text, token) {
					t.Error("the token is in the log or in the answer")
				}
			})
		}
	})
}

func TestHeaders(t *testing.T) {
	both(t, func(t *testing.T, h2 bool) {
		r := newRig(t)
		var got *http.Request
		r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			got = q
			w.Header().Set("X-App", "yes")
			w.Header().Set("X-Aws-Proxy-Other", "no")
			http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
			http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
			w.WriteHeader(204)
		}))
		q := r.request(t, "DELETE", "/a%2Fb//c/..?x=1;y=%20&", 8080, nil)
		q.Header.Set("X-Aws-Proxy-Future", "1")
		q.Header.Set(headerID, "mine")
		q.Header.Set("Traceparent", "00-1-2-3")
		q.Header.Add("X-Twice", "1")
		q.Header.Add("X-Twice", "2")
		q.Header["User-Agent"] = []string{""}
		if !h2 {
			q.Header.Set("Connection", "x-secret-hop")
			q.Header.Set("X-Secret-Hop", "1")
			q.Header.Set("Keep-Alive", "1")
		}
		resp, _ := do(t, r.client(t, h2), q)
		if resp.StatusCode != 204 || resp.Header.Get("X-App") != "yes" || len(resp.Header["Set-Cookie"]) != 2 {
			t.Errorf("answer = %d %v", resp.StatusCode, resp.Header)
		}
		if resp.Header.Get("X-Aws-Proxy-Other") != "" {
			t.Error("the app can set headers of the proxy")
		}
		if got.Host != testHost || got.RequestURI != "/a%2Fb//c/..?x=1;y=%20&" || got.Method != "DELETE" {
			t.Errorf("app saw %s %s at %s", got.Method, got.RequestURI, got.Host)
		}
		for k := range got.Header {
			switch k {
			case "Traceparent", "X-Twice", headerID:
			default:
				t.Errorf("app saw header %s: %q", k, got.Header[k])
			}
		}
		if id := got.Header.Get(headerID); id == "" || id == "mine" {
			t.Errorf("%s = %q", headerID, id)
		}
		if len(got.Header["X-Twice"]) != 2 {
			t.Errorf("X-Twice = %q", got.Header["X-Twice"])
		}
		if host, _, _ := net.SplitHostPort(got.RemoteAddr); host != "127.0.0.1" {
			t.Errorf("app saw a client at %s", got.RemoteAddr)
		}
	})
}

// What the app writes must arrive at once, and so must what the client writes.
func TestStreams(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run("force-h2="+strconv.FormatBool(force), func(t *testing.T) {
			both(t, func(t *testing.T, h2 bool) {
				r := newRig(t)
				r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					rc := http.NewResponseController(w)
					_ = rc.EnableFullDuplex() // HTTP/2 always is
					w.Header().Set("Content-Type", "text/event-stream")
					w.Header().Set("Trailer", "X-Sum")
					rc.Flush()
					in := bufio.NewReader(q.Body)
					for {
						line, err := in.ReadString('\n')
						if err != nil {
							break
						}
						fmt.Fprintf(w, "data: %s\n", line)
						rc.Flush()
					}
					w.Header().Set("X-Sum", "42")
					w.Header().Set(http.TrailerPrefix+"X-Late", "43")
				}))
				pr, pw := io.Pipe()
				q := r.request(t, "POST", "/", 8080, pr)
				if force {
					q.Header.Set(headerForceH2, "true")
				}
				resp, err := r.client(t, h2).Do(q) // the answer begins before the request ends
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				out := bufio.NewReader(resp.Body)
				for i := range 5 {
					fmt.Fprintf(pw, "event %d\n", i)
					got, err := out.ReadString('\n')
					if want := fmt.Sprintf("data: event %d\n", i); err != nil || got != want {
						t.Fatalf("got %q, %v, want %q", got, err, want)
					}
					if _, err := out.ReadString('\n'); err != nil {
						t.Fatal(err)
					}
				}
				pw.Close()
				readAll(t, out)
				if resp.Trailer.Get("X-Sum") != "42" || resp.Trailer.Get("X-Late") != "43" {
					t.Errorf("trailers = %v", resp.Trailer)
				}
			})
		})
	}
}

// What fills the proxy's buffer to the last byte must not wait for more.
func TestStreamsOfWholeBuffers(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run("force-h2="+strconv.FormatBool(force), func(t *testing.T) {
			both(t, func(t *testing.T, h2 bool) {
				r := newRig(t)
				next := make(chan struct{}, 10)
				r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					for range next {
						w.Write(make([]byte, bufferSize))
						http.NewResponseController(w).Flush()
					}
				}))
				next <- struct{}{}
				q := r.request(t, "GET", "/", 8080, nil)
				if force {
					q.Header.Set(headerForceH2, "true")
				}
				resp, err := r.client(t, h2).Do(q)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				for range 5 {
					if _, err := io.ReadFull(resp.Body, make([]byte, bufferSize)); err != nil {
						t.Fatal(err)
					}
					next <- struct{}{}
				}
				close(next)
			})
		})
	}
}

func TestBodies(t *testing.T) {
	for _, force := range []bool{false, true} {
		t.Run("force-h2="+strconv.FormatBool(force), func(t *testing.T) {
			both(t, func(t *testing.T, h2 bool) {
				r := newRig(t)
				r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
					if q.ContentLength >= 0 {
						w.Header().Set("Content-Length", strconv.FormatInt(q.ContentLength, 10))
					}
					_ = http.NewResponseController(w).EnableFullDuplex()
					io.Copy(w, q.Body)
				}))
				c := r.client(t, h2)
				for _, size := range []int{0, 1, 100, bufferSize, 5_000_000} {
					want := strings.Repeat("0123456789", size/10+1)[:size]
					for _, chunked := range []bool{false, true} {
						var body io.Reader = strings.NewReader(want)
						if chunked {
							body = struct{ io.Reader }{body}
						}
						q := r.request(t, "PUT", "/", 8080, body)
						if force {
							q.Header.Set(headerForceH2, "true")
						}
						if _, got := do(t, c, q); got != want {
							t.Errorf("size %d, chunked %v: %d bytes came back", size, chunked, len(got))
						}
					}
				}
			})
		})
	}
}

// A client that sends all of a big body before it reads must still get the
// answer of an app that doesn't want it.
func TestEarlyAnswer(t *testing.T) {
	r := newRig(t)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(413)
		io.WriteString(w, "too big")
	}))
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const size = 3 << 20
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\n%s: %s\r\nContent-Length: %d\r\n\r\n", testHost, headerAuth, r.token(t, 8080), size)
	if _, err := conn.Write(make([]byte, size)); err != nil {
		t.Fatalf("send: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, resp.Body); resp.StatusCode != 413 || got != "too big" {
		t.Errorf("got %d %q", resp.StatusCode, got)
	}
}

func TestCaps(t *testing.T) {
	both(t, func(t *testing.T, h2 bool) {
		t.Run("connections", func(t *testing.T) {
			r := newRig(t)
			r.vm.caps.Connections = 2
			release := make(chan struct{})
			r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				http.NewResponseController(w).Flush()
				if q.URL.Path == "/wait" {
					<-release
				}
			}))
			c := r.client(t, h2)
			for range 2 {
				resp, err := c.Do(r.request(t, "GET", "/wait", 8080, nil))
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
			}
			resp, _ := do(t, c, r.request(t, "GET", "/", 8080, nil))
			if resp.StatusCode != 429 || resp.Header.Get(headerError) != CodeTooMany {
				t.Errorf("got %d %s", resp.StatusCode, resp.Header.Get(headerError))
			}
			close(release)
			eventually(t, "a place is free", func() bool {
				resp, _ := do(t, c, r.request(t, "GET", "/", 8080, nil))
				return resp.StatusCode == 200
			})
		})
		t.Run("requests per second", func(t *testing.T) {
			r := newRig(t)
			r.vm.caps.RequestsPerSecond = 3
			r.vm.serve(t, 8080, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			c := r.client(t, h2)
			var got []int
			for i := range 8 {
				if i == 5 {
					r.clock.Advance(time.Second / 3)
				}
				resp, _ := do(t, c, r.request(t, "GET", "/", 8080, nil))
				got = append(got, resp.StatusCode)
			}
			if fmt.Sprint(got) != "[200 200 200 429 429 200 429 429]" {
				t.Errorf("statuses = %v", got)
			}
			if woken := r.vm.woken.Load(); woken != 4 {
				t.Errorf("woken %d times, want 4", woken)
			}
		})
	})
}

// A token is checked when a stream opens, not after.
func TestTokenExpiresOnStream(t *testing.T) {
	r := newRig(t)
	next := make(chan struct{})
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.NewResponseController(w).Flush()
		<-next
		io.WriteString(w, "still here")
	}))
	resp, err := r.client(t, true).Do(r.request(t, "GET", "/", 8080, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r.clock.Advance(2 * time.Hour)
	close(next)
	if got := readAll(t, resp.Body); got != "still here" {
		t.Errorf("got %q", got)
	}
}

// Close cuts everything, and later requests are refused.
func TestClose(t *testing.T) {
	r := newRig(t)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		http.NewResponseController(w).Flush()
		<-q.Context().Done()
	}))
	p := New(Config{Directory: r, Keys: r.keys, Clock: r.clock, Log: r.proxy.cfg.Log})
	srv := NewServer(p, r.proxy.cfg.Log)
	ln := listen(t)
	go srv.Serve(ln)
	defer srv.Close()
	r.addr = ln.Addr().String()
	c := r.client(t, false)
	resp, err := c.Do(r.request(t, "GET", "/", 8080, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("the stream ended as if in order")
	}
	if resp, _ := do(t, c, r.request(t, "GET", "/", 8080, nil)); resp.StatusCode != 502 {
		t.Errorf("got %d", resp.StatusCode)
	}
}
