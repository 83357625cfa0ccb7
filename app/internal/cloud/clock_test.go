package cloud

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A sleeperClock is a clock of a computer that can sleep: its timers stand
// still then, and the time it tells goes on.
type sleeperClock struct {
	*clockwork.FakeClock
	slept atomic.Int64
}

func (c *sleeperClock) Now() time.Time {
	return c.FakeClock.Now().Add(time.Duration(c.slept.Load()))
}
func (c *sleeperClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }
func (c *sleeperClock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// TestComputerSlept ends a VM whose time ran out while the computer slept at
// the first look at the clock, and suspends one that was idle for that long.
func TestComputerSlept(t *testing.T) {
	tests := []struct {
		name string
		in   wire.RunMicrovmInput
		want wire.MicrovmState
	}{
		{"lifetime", wire.RunMicrovmInput{MaximumDurationInSeconds: aws.Int32(7200)}, wire.MicrovmStateTerminated},
		{"idle", wire.RunMicrovmInput{IdlePolicy: &wire.IdlePolicy{
			MaxIdleDurationSeconds: aws.Int32(3600), SuspendedDurationSeconds: aws.Int32(28800), AutoResumeEnabled: aws.Bool(true),
		}}, wire.MicrovmStateSuspended},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := &sleeperClock{FakeClock: clockwork.NewFakeClockAt(testStart)}
			r := newRig(t, func(c *Config) { c.Clock = clock })
			id := r.run(&tt.in)
			clock.slept.Store(int64(3 * time.Hour))
			clock.Advance(maxNap)
			r.reach(id, tt.want)
		})
	}
}

func TestWallClock(t *testing.T) {
	c := wallClock{clockwork.NewRealClock()}
	if now := c.Now(); now != now.Round(0) {
		t.Errorf("%v carries a second reading", now)
	}
}
