package cloud

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"
)

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
