package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/assets"
)

// A stall is a program that serves as a test says.
type stall struct {
	breaks chan error // while it serves

	mu    sync.Mutex // guards what follows
	fails error      // at once
	begun []string   // addresses
	open  int
}

func (s *stall) serve(ctx context.Context, o httpOrder, up func(string)) error {
	s.mu.Lock()
	s.begun = append(s.begun, o.address)
	fails := s.fails
	s.mu.Unlock()
	if fails != nil {
		return fails
	}
	s.opened(1)
	defer s.opened(-1)
	up("http://" + o.address + "/mcp")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-s.breaks:
		return err
	}
}

// opened counts one more or less that is open, and returns how many are.
func (s *stall) opened(by int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += by
	return s.open
}

// tries are the addresses that were begun with.
func (s *stall) tries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.begun)
}

func (s *stall) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

// TestHTTPServer follows orders, one after the other, and tries again what fails:
// later each time, until something serves for long.
func TestHTTPServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stall{breaks: make(chan error)}
		var news atomic.Int32
		h := newHTTPServer(httpOrder{address: "127.0.0.1:1"}, clockwork.NewRealClock(), func() { news.Add(1) })
		h.serve = s.serve
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			h.run(ctx)
			close(ended)
		}()
		is := func(state string, open int) control.Serving {
			t.Helper()
			synctest.Wait()
			now := h.now()
			if now.State != state || s.opened(0) != open {
				t.Fatalf("%+v with %d open, want %s with %d", now, s.opened(0), state, open)
			}
			return now
		}
		if now := is(control.ServingOff, 0); now.On || now.Address != "127.0.0.1:1" || now.Auth != control.AuthNone || now.Open {
			t.Errorf("at first: %+v", now)
		}
		h.want(httpOrder{on: true, address: "10.0.0.1:1", token: true})
		if h.now().State != control.ServingStarting {
			t.Errorf("at once: %+v", h.now())
		}
		if now := is(control.ServingOn, 1); now.URL != "http://10.0.0.1:1/mcp" || now.Auth != control.AuthToken || !now.Open || !now.On || news.Load() != 1 {
			t.Errorf("served: %+v, %d news", now, news.Load())
		}
		h.want(httpOrder{on: true, address: "127.0.0.1:2"})
		h.want(httpOrder{on: false, address: "127.0.0.1:2"})
		h.want(httpOrder{on: true, address: "127.0.0.1:2"})
		if now := is(control.ServingOn, 1); now.URL != "http://127.0.0.1:2/mcp" || len(s.tries()) != 2 {
			t.Errorf("elsewhere: %+v, begun %q", now, s.tries())
		}

		time.Sleep(httpSteady)
		s.fail(fmt.Errorf("%w: no", errAddressTaken))
		s.breaks <- &lastWordsError{"out of luck"}
		now := is(control.ServingFailed, 0)
		if now.Why.Key != "verb.http.said" || !strings.Contains(fmt.Sprint(now.Why.Args), "out of luck") {
			t.Errorf("broken: %+v", now.Why)
		}
		before := len(s.tries())
		time.Sleep(httpRetry)
		if now := is(control.ServingFailed, 0); now.Why.Key != "verb.http.taken" || now.Remedy == nil || len(s.tries()) != before+1 {
			t.Errorf("begun again: %+v, begun %q", now.Why, s.tries())
		}
		seen := news.Load()
		time.Sleep(5 * time.Minute)
		if n := len(s.tries()) - before; n < 10 || n > 16 {
			t.Errorf("tried %d times in five minutes", n)
		}
		if is(control.ServingFailed, 0); news.Load() != seen {
			t.Error("there is news of what is as it was")
		}
		s.fail(nil)
		time.Sleep(httpRetryMost)
		is(control.ServingOn, 1)
		h.want(httpOrder{address: "127.0.0.1:2"})
		is(control.ServingOff, 0)
		h.want(httpOrder{on: true, address: "127.0.0.1:2"})
		is(control.ServingOn, 1)
		cancel()
		<-ended
		if s.open != 0 {
			t.Error("something serves after the end")
		}
	})
}

// TestHTTPFailures tells each kind of failure, in both languages, and what to do.
func TestHTTPFailures(t *testing.T) {
	o := httpOrder{address: "127.0.0.1:80"}
	for name, tt := range map[string]struct {
		err   error
		wants string
	}{
		"no address": {fmt.Errorf("%w: x", errNoAddress), "127.0.0.1:80"},
		"taken":      {fmt.Errorf("%w: x", errAddressTaken), "127.0.0.1:80"}, "elsewhere": {&net.OpError{Err: addressElsewhere}, "127.0.0.1:80"}, "no such name": {&net.DNSError{}, "127.0.0.1:80"},
		"denied": {os.NewSyscallError("bind", addressDenied), "127.0.0.1:80"}, "missing": {syscall.ENOENT, "arenero-bridge"}, "said": {&lastWordsError{"xyzzy"}, "xyzzy"}, "silent": {&lastWordsError{}, ""}, "other": {errors.New("secret"), ""},
	} {
		why := httpWhy(o, tt.err)
		for _, language := range []string{assets.English, assets.Spanish} {
			tx := assets.Load(language, "http")
			for _, part := range []*control.Text{why.what, why.remedy} {
				if part == nil || !tx.Has(part.Key) {
					t.Fatalf("%s: nothing in %s for %+v", name, language, part)
				}
				if text := tx.Get(part.Key, part.Args...); strings.Contains(text, "{") || strings.Contains(text, "secret") {
					t.Errorf("%s: %s", name, text)
				}
			}
			if text := tx.Get(why.what.Key, why.what.Args...); !strings.Contains(text, tt.wants) {
				t.Errorf("%s does not say %s: %s", name, tt.wants, text)
			}
		}
	}
}
