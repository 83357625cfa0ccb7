package tray

import (
	"context"
	"errors"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

const (
	retryFirst  = 100 * time.Millisecond // after an engine is lost
	retryLast   = 2 * time.Second
	launchAfter = 3 * time.Second // most that end have another in their place by then
	launchEvery = 30 * time.Second
)

// watch follows what the engine tells, over the end of any, until ctx is done.
func (t *tray) watch(ctx context.Context) {
	var lost, launched time.Time
	for delay := retryFirst; ; delay = min(2*delay, retryLast) {
		err := t.cfg.Client.Glance(ctx, func(s sandbox.Snapshot) error {
			lost, delay = time.Time{}, retryFirst
			t.post(ctx, func() { t.saw(s) })
			return nil
		})
		if ctx.Err() != nil {
			return
		}
		now := t.cfg.Clock.Now()
		if lost.IsZero() {
			lost = now
			t.cfg.Log.Warn("engine lost", "err", err)
		}
		t.post(ctx, func() { t.lose(err) })
		if t.cfg.Launch != nil && now.Sub(lost) >= launchAfter && now.Sub(launched) >= launchEvery {
			launched = now
			if err := t.cfg.Launch(ctx); err != nil {
				t.cfg.Log.Warn("engine does not start", "err", err)
				t.post(ctx, func() { t.lose(err) })
			}
		}
		if !t.pause(ctx, delay) {
			return
		}
	}
}

// saw takes in a snapshot.
func (t *tray) saw(s sandbox.Snapshot) {
	if t.state.Link != ui.Linked {
		t.clicked = true // it is worth showing at once
		t.spendDay = time.Time{}
	}
	t.state.Link, t.state.Snapshot, t.state.Why = ui.Linked, s, nil
}

// lose takes in that there is no engine to hear of.
func (t *tray) lose(err error) {
	if t.state.Link != ui.Lost {
		t.clicked = true
	}
	t.state.Link, t.state.Settled, t.asked = ui.Lost, nil, false
	// That nothing answers is known; anything else is worth a word, until an
	// answer comes.
	if e, ok := errors.AsType[*sandbox.Error](err); ok && (e.Code != sandbox.Unreachable || e.Err == nil) {
		t.state.Why = e
	}
}

// follow tells of events that are worth a notice.
func (t *tray) follow(ctx context.Context) {
	for delay := retryLast; ; delay = min(2*delay, time.Minute) {
		t.cfg.Client.FollowEvents(ctx, func(e sandbox.Event) error { // its end is the engine's, which watch tells of
			delay = retryLast
			t.post(ctx, func() {
				if n, ok := ui.OfEvent(e, t.tx); ok {
					t.tell(ctx, n)
				}
			})
			return nil
		})
		if !t.pause(ctx, delay) {
			return
		}
	}
}

// pause lets time pass, and reports whether ctx goes on.
func (t *tray) pause(ctx context.Context, d time.Duration) bool {
	timer := t.cfg.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return true
	case <-ctx.Done():
		return false
	}
}
