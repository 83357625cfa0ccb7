package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// A httpServer has the tools served over HTTP for as long as the owner wants it,
// by a program of its own that ends with this engine.
type httpServer struct {
	// serve serves until ctx is done, or fails. It calls up with the address for
	// the apps once they can come.
	serve func(ctx context.Context, o httpOrder, up func(url string)) error
	news  func() // others may look at how it is
	clock clockwork.Clock

	mu    sync.Mutex // guards what follows
	order httpOrder
	state control.Serving
	again chan struct{} // of capacity 1: the order is another one
}

// A httpOrder is what the owner wants.
type httpOrder struct {
	on      bool
	address string
	token   bool
}

const (
	httpRetry     = time.Second // after the first failure, and each time twice as long
	httpRetryMost = 30 * time.Second
	httpSteady    = time.Minute // what was served for so long has not failed to start
	httpEndWithin = 5 * time.Second
)

func newHTTPServer(o httpOrder, clock clockwork.Clock, news func()) *httpServer {
	h := &httpServer{news: news, clock: clock, again: make(chan struct{}, 1), order: o}
	h.state = control.Serving{State: control.ServingOff}
	if o.on {
		h.state.State = control.ServingStarting
	}
	return h
}

// httpOrderOf is the order in the settings.
func httpOrderOf(s settings.Settings) httpOrder {
	return httpOrder{on: s.HTTP.On, address: s.HTTP.At(), token: s.HTTP.Token}
}

// want has what is served be as o says.
func (h *httpServer) want(o httpOrder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.order == o {
		return
	}
	h.order = o
	h.state = control.Serving{State: control.ServingOff}
	if o.on {
		h.state.State = control.ServingStarting
	}
	select {
	case h.again <- struct{}{}:
	default:
	}
}

// end serves no more until somebody wants it again, and reports whether anything
// was to be served.
func (h *httpServer) end() bool {
	o := h.ordered()
	was := o.on
	o.on = false
	h.want(o)
	return was
}

// now is how it is.
func (h *httpServer) now() control.Serving {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.state
	out.On, out.Address, out.Auth, out.Open = h.order.on, h.order.address, control.AuthNone, settings.IsOpen(h.order.address)
	if h.order.token {
		out.Auth = control.AuthToken
	}
	return out
}

func (h *httpServer) ordered() httpOrder {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.order
}

// tell puts down how an order does, unless there is another one by now.
func (h *httpServer) tell(o httpOrder, s control.Serving) {
	h.mu.Lock()
	current := h.order == o
	same := reflect.DeepEqual(h.state, s)
	if current {
		h.state = s
	}
	h.mu.Unlock()
	if current && !same {
		h.news()
	}
}

// run serves as is wanted, until ctx is done.
func (h *httpServer) run(ctx context.Context) {
	for wait := httpRetry; ctx.Err() == nil; {
		select {
		case <-h.again: // it is read just below
		default:
		}
		o := h.ordered()
		if !o.on {
			select {
			case <-h.again:
			case <-ctx.Done():
			}
			continue
		}
		begun := h.clock.Now()
		err := h.once(ctx, o)
		if err == nil || h.clock.Since(begun) >= httpSteady {
			wait = httpRetry
		}
		if err == nil || ctx.Err() != nil {
			continue
		}
		why := httpWhy(o, err)
		h.tell(o, control.Serving{State: control.ServingFailed, Why: why.what, Remedy: why.remedy})
		timer := h.clock.NewTimer(wait)
		wait = min(2*wait, httpRetryMost)
		select {
		case <-timer.Chan():
		case <-h.again:
			wait = httpRetry
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// once serves until there are other orders, which is nil, until ctx is done, or it
// fails.
func (h *httpServer) once(ctx context.Context, o httpOrder) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		served <- h.serve(ctx, o, func(url string) { h.tell(o, control.Serving{State: control.ServingOn, URL: url}) })
	}()
	select {
	case <-h.again:
		stop()
		<-served
		return nil
	case err := <-served:
		return cmp.Or(err, error(&lastWordsError{}))
	}
}

// A httpFailure says why nothing is served, and what to do about it.
type httpFailure struct{ what, remedy *control.Text }

// httpWhy puts err into words.
func httpWhy(o httpOrder, err error) httpFailure {
	address := []string{"address", o.address}
	text := func(key string, args ...string) *control.Text { return &control.Text{Key: key, Args: args} }
	said, _ := errors.AsType[*lastWordsError](err)
	switch {
	case errors.Is(err, errNoAddress):
		const most = 40 // more says no more
		return httpFailure{text("verb.http.wrong", "address", fmt.Sprintf("%.*q", most, o.address)), text("verb.http.wrong.remedy", "usual", settings.UsualAddress)}
	case errors.Is(err, errAddressTaken):
		return httpFailure{text("verb.http.taken", address...), text("verb.http.taken.remedy", address...)}
	case errors.Is(err, addressElsewhere), isNoHost(err):
		return httpFailure{text("verb.http.elsewhere", address...), text("verb.http.elsewhere.remedy")}
	case errors.Is(err, addressDenied):
		return httpFailure{text("verb.http.denied", address...), text("verb.http.denied.remedy")}
	case errors.Is(err, os.ErrNotExist):
		return httpFailure{text("verb.http.missing"), text("verb.http.missing.remedy")}
	case said != nil && said.words != "":
		return httpFailure{text("verb.http.said", "why", said.words), text("verb.http.log")}
	}
	return httpFailure{text("verb.http.ended"), text("verb.http.log")}
}

func isNoHost(err error) bool {
	_, ok := errors.AsType[*net.DNSError](err)
	return ok
}

// serving changes how the tools are served over HTTP, in the settings alone.
func serving(s *settings.Settings, e *control.ServingEdit) {
	if e == nil {
		return
	}
	put(&s.HTTP.On, e.On)
	if e.Address != nil {
		s.HTTP.Address = *e.Address
		if s.HTTP.Address == settings.UsualAddress {
			s.HTTP.Address = ""
		}
	}
	if e.Auth != nil {
		s.HTTP.Token = *e.Auth == control.AuthToken
	}
}

// checkServing refuses what can't be served.
func checkServing(e *control.ServingEdit) error {
	if e == nil {
		return nil
	}
	if a := e.Address; a != nil && *a != "" {
		if err := settings.CheckAddress(*a); err != nil {
			return &sandbox.Error{Code: sandbox.Invalid, Msg: err.Error(), Details: map[string]any{"field": "http"}}
		}
	}
	if a := e.Auth; a != nil && !slices.Contains([]string{control.AuthNone, control.AuthToken}, *a) {
		return &sandbox.Error{Code: sandbox.Invalid, Msg: "there is no way " + *a + " to ask who comes over HTTP: use none or token", Details: map[string]any{"field": "http"}}
	}
	return nil
}
