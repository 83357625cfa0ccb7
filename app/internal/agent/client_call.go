package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

// facts are what was seen of one call.
type facts struct {
	jwe   string
	sent  atomic.Bool // its headers left for the sandbox
	ended atomic.Bool // with a status of gRPC, so of the agent and not the proxy
}

type factsKey struct{}

// reset forgets what was seen, before another call with the same context.
func (f *facts) reset() {
	f.sent.Store(false)
	f.ended.Store(false)
}

func (f *facts) answered() bool { return f != nil && f.ended.Load() }

// watchCalls notes the facts of each call. The proxy's own refusals are plain
// HTTP, which the library turns into a status but not into a trailer.
type watchCalls struct{}

var _ stats.Handler = watchCalls{}

func (watchCalls) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (watchCalls) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (watchCalls) HandleConn(context.Context, stats.ConnStats)                       {}

func (watchCalls) HandleRPC(ctx context.Context, s stats.RPCStats) {
	f, ok := ctx.Value(factsKey{}).(*facts)
	if !ok {
		return
	}
	switch s.(type) {
	case *stats.OutHeader:
		f.sent.Store(true)
	case *stats.InTrailer:
		f.ended.Store(true)
	}
}

// A verdict is what to do after a call failed.
type verdict string

const (
	verdictFail      verdict = "fail"
	verdictRemint    verdict = "remint"    // the token was refused
	verdictSuspended verdict = "suspended" // the agent refused, or ended, for a suspension: nothing ran
	verdictUnsent    verdict = "unsent"    // it never left
	verdictCut       verdict = "cut"       // it may have arrived
)

// judge sorts what ended a call of ctx.
func judge(ctx context.Context, err error, f *facts) verdict {
	if ctx.Err() != nil {
		return verdictFail
	}
	if errors.Is(err, errStreamSuspended) {
		return verdictSuspended
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return verdictFail
	}
	s, ok := status.FromError(err)
	if !ok {
		return verdictFail
	}
	if f.ended.Load() {
		switch s.Code() {
		case codes.Unavailable:
			if s.Message() == tokenSuspending {
				return verdictSuspended
			}
			if CodeOf(translate(err, f)) != CodeAway {
				return verdictFail // a kernel that starts, a sandbox that ends
			}
			return verdictCut
		case codes.Canceled: // not by us
			return verdictCut
		}
		return verdictFail
	}
	switch code := httpStatus(s); {
	case code == http.StatusForbidden && f.jwe != "":
		return verdictRemint
	case code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return verdictCut
	case code != 0, unsendable(s):
		return verdictFail
	case !f.sent.Load():
		return verdictUnsent
	case s.Code() == codes.DeadlineExceeded, s.Code() == codes.ResourceExhausted:
		return verdictFail
	}
	return verdictCut
}

// errStreamSuspended stands for an end that says suspending.
var errStreamSuspended = errors.New("the sandbox is being suspended")

const (
	maxBarren    = 3                // reconnections without anything new before giving up
	returnWithin = 60 * time.Second // for a sandbox to come back
	lifeEvery    = 5 * time.Second
)

// persist calls try until it succeeds, fails for good, or fails in vain too
// often. In between it waits for the sandbox. try reports whether it brought
// anything new, and is told what the last verdict was, "" at first; it fails
// with an *Error where trying again makes no sense.
func (c *Client) persist(ctx context.Context, background bool, try func(ctx context.Context, f *facts, last verdict) (bool, error)) error {
	var last verdict
	var barren int
	var since time.Time // of the first try in vain
	minted := false
	for {
		f := &facts{}
		out, err := c.outgoing(ctx, f)
		if err != nil {
			return err
		}
		fresh, err := try(out, f, last)
		if err == nil {
			return nil
		}
		if fresh {
			barren, minted, since = 0, false, time.Time{}
		}
		switch v := judge(ctx, err, f); v {
		case verdictFail:
			return failure(ctx, err, f)
		case verdictRemint:
			if minted {
				return failure(ctx, err, f)
			}
			minted = true
			c.tokens.reject(f.jwe)
			continue // with the last verdict: this one says nothing new
		default:
			last = v
		}
		if since.IsZero() {
			since = c.clock.Now()
		}
		if last != verdictSuspended {
			barren++
		}
		if barren > maxBarren || last == verdictSuspended && !background && c.clock.Since(since) > 2*returnWithin {
			return failure(ctx, err, f)
		}
		c.log.DebugContext(ctx, "agent connection lost", "verdict", string(last), "barren", barren)
		if err := c.awaken(ctx, background); err != nil {
			return err
		}
	}
}

// failure is err in our terms. What the callback of a stream failed with is
// passed on as it is.
func failure(ctx context.Context, err error, f *facts) error {
	if e, ok := errors.AsType[*callbackError](err); ok {
		return e.err
	}
	if ctx.Err() != nil {
		return translate(ctx.Err(), f)
	}
	if errors.Is(err, errStreamSuspended) {
		return &Error{Code: CodeAway, Msg: "the sandbox is being suspended", Retryable: true}
	}
	return translate(err, f)
}

// A callbackError is what the caller's function failed with.
type callbackError struct{ err error }

func (e *callbackError) Error() string { return e.err.Error() }

// call wraps a unary method: persist, at most once more, with the rule of what
// may be repeated. A call that is not repeatable is sent again only if it
// can't have run. unsure tells that it may have run before the try that err is
// of.
func call[Req, Res any](ctx context.Context, c *Client, repeatable bool,
	method func(context.Context, Req, ...grpc.CallOption) (Res, error), req Req,
) (res Res, unsure bool, err error) {
	cuts := 0
	err = c.persist(ctx, false, func(ctx context.Context, f *facts, _ verdict) (bool, error) {
		var err error
		res, err = method(ctx, req)
		if err != nil && judge(ctx, err, f) == verdictCut {
			if cuts++; !repeatable {
				return false, &Error{Code: CodeUnsure, Msg: "the connection was cut before the answer", Err: err}
			} else if cuts > 1 {
				return false, translate(err, f)
			}
		}
		return false, err
	})
	return res, cuts > 0, err
}

// awaken waits until the agent answers. A background caller waits asleep, and
// as long as it takes, where asking the agent would wake the sandbox.
func (c *Client) awaken(ctx context.Context, background bool) error {
	away := &Error{Code: CodeAway, Msg: "the sandbox does not come back", Retryable: true}
	if background && c.cfg.Life == nil {
		return away
	}
	end := c.clock.Now().Add(returnWithin)
	var asked time.Time
	for delay := 500 * time.Millisecond; ; delay = min(2*delay, 4*time.Second) {
		if err := c.pause(ctx, time.Duration(float64(delay)*(0.75+rand.Float64()/2))); err != nil {
			return err
		}
		if c.cfg.Life != nil && (background || c.clock.Since(asked) >= lifeEvery) {
			asked = c.clock.Now()
			life, err := c.cfg.Life(ctx)
			switch {
			case life == Gone:
				return &Error{Code: CodeGone, Msg: "the sandbox has ended"}
			case background && (err != nil || life == Asleep):
				end = c.clock.Now().Add(returnWithin)
				delay = lifeEvery
				continue
			}
		}
		c.short.ResetConnectBackoff()
		c.long.ResetConnectBackoff()
		h, err := c.healthOnce(ctx)
		if err == nil && h.AgentReady && h.SandboxID != "" {
			return nil
		}
		if ctx.Err() != nil {
			return translate(ctx.Err(), nil)
		}
		if !c.clock.Now().Before(end) {
			return away
		}
	}
}

// pause waits for d of the client's clock.
func (c *Client) pause(ctx context.Context, d time.Duration) error {
	t := c.clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.Chan():
		return nil
	case <-ctx.Done():
		return translate(ctx.Err(), nil)
	}
}
