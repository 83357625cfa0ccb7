package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

const (
	secretPrefix = "arenero_agt_" // of every token
	maxSecret    = 255
	cacheFor     = 2 * time.Second  // what the engine said of a token; it checks each call itself
	checkWithin  = 20 * time.Second // an engine may have to be started first
	maxCached    = 1000

	// The engine counts calls of tools. Requests of all kinds, which it does not hear
	// of, may be some times as many.
	usualCalls      = 60 // a minute, of a grant without a rate of its own
	requestsPerCall = 10
)

// A gate lets in the requests that bring a token of a grant.
type gate struct {
	authorize func(ctx context.Context) (sandbox.Grant, error)
	explain   func(err error) error

	mu       sync.Mutex
	cached   map[[sha256.Size]byte]admission // by digest: tokens are not kept
	until    map[string]time.Time            // by grant: when it may call again
	requests map[string]*rate.Limiter        // by grant
}

type admission struct {
	grant sandbox.Grant
	at    time.Time
}

// admitted is what the ctx of a request has that was let in.
type admitted struct {
	grant sandbox.Grant
	token sandbox.Secret
}

type admittedKey struct{}

// admittedAs returns who has sent the request of ctx.
func admittedAs(ctx context.Context) (admitted, bool) {
	a, ok := ctx.Value(admittedKey{}).(admitted)
	return a, ok
}

func (a admitted) caller() sandbox.Caller { return sandbox.Caller{Token: a.token, HTTP: true} }

// owner names who has sent a request.
func owner(r *http.Request) string {
	a, _ := admittedAs(r.Context())
	return a.grant.ID
}

// check finds the grant of a token.
func (g *gate) check(ctx context.Context, token string) (context.Context, error) {
	if len(token) > maxSecret {
		return nil, g.explain(&sandbox.Error{Code: sandbox.Unauthenticated, Msg: "the token is not valid"})
	}
	in := admitted{token: sandbox.Secret(token)}
	digest := sha256.Sum256([]byte(token))
	g.mu.Lock()
	known, ok := g.cached[digest]
	g.mu.Unlock()
	if ok && time.Since(known.at) < cacheFor {
		in.grant = known.grant
		return g.admit(ctx, in)
	}
	asking, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	asking, _ = sandbox.WithCall(asking, in.caller())
	var err error
	if in.grant, err = g.authorize(asking); err != nil {
		g.forget(digest)
		return nil, g.explain(err)
	}
	g.remember(digest, in.grant)
	return g.admit(ctx, in)
}

// admit lets in a request of a grant that is known, unless the grant calls or asks
// too often.
func (g *gate) admit(ctx context.Context, in admitted) (context.Context, error) {
	g.mu.Lock()
	wait := time.Until(g.until[in.grant.ID])
	if wait <= 0 {
		delete(g.until, in.grant.ID)
	}
	g.mu.Unlock()
	if _, again := admittedAs(ctx); !again && wait <= 0 { // else it is one that is open
		wait = g.count(in.grant)
	}
	if wait > 0 {
		return nil, g.explain(&sandbox.Error{Code: sandbox.RateLimited, Msg: "too many calls", Retryable: true, RetryAfter: wait})
	}
	return context.WithValue(ctx, admittedKey{}, in), nil
}

// count counts a request of a grant, and returns how long the next has to wait if
// there are too many.
func (g *gate) count(grant sandbox.Grant) time.Duration {
	perMinute := requestsPerCall * cmp.Or(grant.Rate, usualCalls)
	limit, burst := rate.Limit(float64(perMinute)/60), perMinute/3
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.requests[grant.ID]
	if l == nil {
		if g.requests == nil || len(g.requests) >= maxCached {
			g.requests = map[string]*rate.Limiter{}
		}
		l = rate.NewLimiter(limit, burst)
		g.requests[grant.ID] = l
	}
	if l.Limit() != limit { // its owner changed it
		l.SetLimitAt(now, limit)
		l.SetBurstAt(now, burst)
	}
	r := l.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// kindHTTP is what the engine counts calls over HTTP as, in the details of its
// refusals. It counts other things, which say nothing of the next request.
const kindHTTP = "http"

// failed takes in what the call of ctx has failed with. A token that opens nothing
// any more is not let in again. A grant whose calls are too many is kept out until
// it may call again, and its requests are not even read.
func (g *gate) failed(ctx context.Context, err error) {
	a, ok := admittedAs(ctx)
	if !ok {
		return
	}
	e := sandbox.ToError(err)
	switch e.Code {
	case sandbox.Unauthenticated, sandbox.TokenExpired, sandbox.TokenRevoked:
		g.forget(sha256.Sum256([]byte(a.token)))
		return
	}
	if e.Code != sandbox.RateLimited || e.Details["kind"] != kindHTTP || e.RetryAfter <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.until == nil {
		g.until = map[string]time.Time{}
	}
	g.until[a.grant.ID] = time.Now().Add(e.RetryAfter)
}

func (g *gate) forget(digest [sha256.Size]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.cached, digest)
}

func (g *gate) remember(digest [sha256.Size]byte, grant sandbox.Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.cached) >= maxCached {
		clear(g.cached)
	}
	if g.cached == nil {
		g.cached = map[[sha256.Size]byte]admission{}
	}
	g.cached[digest] = admission{grant, time.Now()}
}

// bearer is the way in.
func (s *service) bearer(explain func(error) error) bridge.Bearer {
	s.gate.explain = explain
	missing := s.st.texts.Get("error.unauthenticated.missing")
	return bridge.Bearer{Realm: "arenero", Missing: missing, Secret: secretPrefix, Check: s.gate.check, Log: func(err error) {
		if e, ok := errors.AsType[*bridge.Error](err); ok {
			s.log.Warn("tokens can't be checked", "code", e.Code)
			return
		}
		s.log.Error("tokens can't be checked", "err", err)
	}}
}
