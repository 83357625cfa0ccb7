package agent

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"
)

// An outcome is why following a run stopped.
type outcome int

const (
	followEnded  outcome = iota // all output is sent
	followCut                   // too slow
	followClosed                // the gate shut
	followLost                  // the client has gone; err says how
)

// A follower sends the output of a run down a stream.
type follower[T any] struct {
	sub     *subscriber[T]
	closed  <-chan struct{} // of the gate
	clock   clockwork.Clock
	silence time.Duration // between keepalives
	send    func(item T, seq uint64) error
	beat    func() error
}

// follow returns when the run has ended, or the stream has to.
func (f *follower[T]) follow(ctx context.Context) (outcome, error) {
	var quiet clockwork.Timer
	defer func() {
		if quiet != nil {
			quiet.Stop()
		}
	}()
	for {
		select {
		case <-f.closed:
			return followClosed, nil
		default:
		}
		item, seq, what := f.sub.take()
		switch what {
		case tookEvent:
			if err := f.send(item, seq); err != nil {
				return followLost, err
			}
			continue
		case tookEnd:
			return followEnded, nil
		case tookCut:
			return followCut, nil
		}
		if quiet == nil {
			quiet = f.clock.NewTimer(f.silence)
		} else {
			quiet.Stop()
			quiet.Reset(f.silence)
		}
		if err := f.wait(ctx, quiet); err != nil {
			return followLost, err
		}
	}
}

// wait returns when there may be something to do, and keeps the stream alive
// until then.
func (f *follower[T]) wait(ctx context.Context, quiet clockwork.Timer) error {
	for {
		select {
		case <-f.sub.wake:
			return nil
		case <-f.closed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-quiet.Chan():
			if err := f.beat(); err != nil {
				return err
			}
			quiet.Reset(f.silence)
		}
	}
}
