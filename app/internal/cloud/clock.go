package cloud

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// A wallClock tells times of the wall's clock alone. The ordinary ones carry
// another reading too, of a clock that stands still while the computer sleeps,
// and are compared by that.
type wallClock struct{ clockwork.Clock }

func (c wallClock) Now() time.Time                  { return c.Clock.Now().Round(0) }
func (c wallClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c wallClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// maxNap is how long a timer may run before the clock is looked at again:
// timers stand still while the computer sleeps.
const maxNap = time.Minute

// alarm calls f once the clock has reached at. The caller calls stop, which
// waits for f if it has begun.
func alarm(ctx context.Context, clock clockwork.Clock, at time.Time, f func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var g sync.WaitGroup
	g.Go(func() {
		timer := clock.NewTimer(maxNap)
		defer timer.Stop()
		for {
			timer.Reset(min(max(clock.Until(at), 0), maxNap))
			// Asked after the timer was set: a clock that was turned in between
			// can't be missed.
			if clock.Until(at) <= 0 {
				f()
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-timer.Chan():
			}
		}
	})
	return func() {
		cancel()
		g.Wait()
	}
}

// wait waits on the cloud's clock.
func wait(ctx context.Context, clock clockwork.Clock, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.Chan():
		return nil
	}
}

// withLimit is context.WithTimeout on the cloud's clock. The context has no
// deadline to ask for: on another clock than the wall's that would mislead
// whoever dials under it.
func withLimit(ctx context.Context, clock clockwork.Clock, d time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := clock.AfterFunc(d, func() { cancel(context.DeadlineExceeded) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}
