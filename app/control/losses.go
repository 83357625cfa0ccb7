package control

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

const (
	// soon is how long after it was sent the loss of a call says something about
	// what it was sent to.
	soon = 10 * time.Second
	// answerWithin is how long an engine may take to say that it is there.
	answerWithin = 30 * time.Second
	firstAsk     = 15 * time.Second // of silence, before the engine is asked
	lastAsk      = 2 * time.Minute
)

// losses makes the attempts at one call. What takes connections and drops them
// looks like an engine that is there again, and what takes them and says nothing
// like one that works: neither is waited for without end.
type losses struct {
	*Client
	heard bool      // a frame came of the last attempt
	sent  time.Time // when that began
	limit time.Time // of losses in a row; zero: there was none
	delay time.Duration
}

func (c *Client) losses() *losses {
	c.setup()
	return &losses{Client: c}
}

// once makes an attempt. each may be nil.
func (l *losses) once(ctx context.Context, call string, q *request, content io.Reader, each func(frame) error) (*answer, error) {
	l.heard, l.sent = false, l.Clock.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !silent(call, q) {
		go l.ask(ctx, cancel)
	}
	a, err := l.once1(ctx, call, q, content, func(f frame) error {
		l.heard = true
		if each == nil {
			return nil
		}
		return each(f)
	})
	if e, ok := errors.AsType[*sandbox.Error](context.Cause(ctx)); ok && err != nil {
		return nil, e
	}
	return a, err
}

// silent reports whether a call may say nothing for hours. Those come back by
// themselves when an engine is lost, and asking it would wake both.
func silent(call string, q *request) bool {
	return call == callHold || call == callWatch || call == callGlance || call == callAction && q.Action != nil && (q.Action.Name == moneyFollow || q.Action.Name == deskCallsOf)
}

// ask asks the engine now and then whether it is there, and ends the attempt if
// it says nothing to that either.
func (l *losses) ask(ctx context.Context, end context.CancelCauseFunc) {
	for wait := firstAsk; l.pause(ctx, wait) == nil; wait = min(2*wait, lastAsk) {
		if _, err := l.Status(ctx); errors.Is(err, errSilent) && ctx.Err() == nil {
			end(err)
		}
	}
}

// find is that of the client, but takes its time, and gives up, where what it
// finds drops one attempt after another.
func (l *losses) find(ctx context.Context, begun bool, lost *lostError) error {
	now := l.Clock.Now()
	switch {
	case !lost.sent:
	case l.heard || l.limit.IsZero() || now.Sub(l.sent) > soon:
		l.limit, l.delay = now.Add(l.Patience), firstDelay
	case !now.Before(l.limit):
		return l.silent(lost)
	default:
		if err := l.pause(ctx, l.delay); err != nil {
			return err
		}
		l.delay = min(2*l.delay, lastDelay)
	}
	return l.Client.find(ctx, begun, lost)
}

// errSilent is the cause of errors about an engine that takes calls and does not
// answer them.
var errSilent = errors.New("no answer")

func (c *Client) silent(err error) error {
	return &sandbox.Error{
		Code: sandbox.Unreachable, Msg: "what listens at " + c.Path + " takes calls and answers none",
		Hint: "if Arenero hangs, end its processes and try again", Retryable: true, Err: errors.Join(errSilent, err),
	}
}

func (c *Client) pause(ctx context.Context, d time.Duration) error {
	timer := c.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
