package grant

import (
	"fmt"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Limits of what a clock may do.
const (
	maxBack   = 5 * time.Minute  // behind the latest time that was seen
	maxAhead  = 10 * time.Minute // from one reading to the next
	maxOffset = 5 * time.Minute  // from the time of AWS, which then refuses signatures
	markEvery = time.Minute
	// Two clocks of one computer drift apart by themselves, so that they are
	// compared over a day at most.
	anchorFor = day
)

// A ClockGuard watches the clock of the computer, by which grants end and
// sandboxes are counted. Whoever sets it back could spend what was granted for
// another day, so nothing that costs may begin while it is behind the latest
// time that was seen. It is safe for use by many at once.
//
// It is told the time by the wall, and the time on a clock that nobody sets
// (monotonic: since the program began, say). Read it once a minute and before
// what costs.
type ClockGuard struct {
	mu     sync.Mutex // guards what follows
	read   bool       // once
	wall   time.Time  // of the last reading
	mark   time.Time  // the latest time that was seen, over restarts
	noted  time.Time  // the mark as it was last handed out
	anchor anchor

	behind time.Duration // how far the clock is behind; 0 is not suspect
	jumps  int           // how often it was ahead
	looked int           // how many of these somebody knew of who looked around
	skewed bool          // AWS has another time
}

// An anchor says that it was this time by the wall when the other clock had that.
type anchor struct {
	wall time.Time
	mono time.Duration
}

// A Verdict is what a reading of the clock means.
type Verdict struct {
	Suspect   bool            // nothing that costs may begin
	Reconcile bool            // the clock was ahead, as after sleep: see what became of sandboxes first
	Mark      time.Time       // to be kept on disk, if it is not zero
	Events    []sandbox.Event // to be told

	jumps int // that there were
}

// NewClockGuard starts from the mark that is on disk. Zero is none.
func NewClockGuard(mark time.Time) *ClockGuard {
	return &ClockGuard{mark: mark.Round(0), noted: mark.Round(0)}
}

// Saw takes in a reading of both clocks.
func (c *ClockGuard) Saw(wall time.Time, mono time.Duration) Verdict {
	wall = wall.Round(0) // or Sub would not go by the wall
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.wall
	if !c.read {
		last, c.anchor = c.mark, anchor{wall, mono}
	}
	if !last.IsZero() && wall.Sub(last) > maxAhead {
		c.jumps++ // which is nothing to tell: computers sleep
	}
	c.read, c.wall = true, wall

	// What the time should be at least: the mark, and the time of an earlier
	// reading plus what went by since.
	least := c.anchor.wall.Add(mono - c.anchor.mono)
	if c.mark.After(least) {
		least = c.mark
	}
	wasBehind := c.behind > 0
	c.behind = 0
	if back := least.Sub(wall); back > maxBack {
		c.behind = back
		v := c.verdictLocked()
		if !wasBehind {
			v.Events = []sandbox.Event{clockEvent("back", sandbox.SeverityError, wall, back)}
		}
		return v
	}
	if !wall.Before(c.anchor.wall.Add(mono-c.anchor.mono)) || mono-c.anchor.mono >= anchorFor {
		c.anchor = anchor{wall, mono}
	}
	if wall.After(c.mark) {
		c.mark = wall
	}
	v := c.verdictLocked()
	v.Mark = c.noteLocked()
	return v
}

// noteLocked is the mark, if it has moved enough to be written again.
func (c *ClockGuard) noteLocked() time.Time {
	if d := c.mark.Sub(c.noted); d < markEvery && d >= 0 && !c.noted.IsZero() {
		return time.Time{}
	}
	c.noted = c.mark
	return c.mark
}

// Date takes in the time that AWS gave with an answer, when the clocks had
// these. AWS agreeing with the wall ends a suspicion. It has to be AWS indeed:
// a cloud on this computer has the same clock.
func (c *ClockGuard) Date(aws, wall time.Time, mono time.Duration) Verdict {
	wall = wall.Round(0)
	offset := aws.Round(0).Sub(wall)
	c.mu.Lock()
	defer c.mu.Unlock()
	if offset.Abs() <= maxOffset {
		c.skewed = false
		if c.behind == 0 {
			return c.verdictLocked()
		}
		return c.trustLocked(wall, mono)
	}
	v := c.verdictLocked()
	if !c.skewed {
		c.skewed = true
		v.Events = []sandbox.Event{clockEvent("aws", sandbox.SeverityWarn, wall, offset)}
	}
	return v
}

// Confirm takes the word of the computer's owner that the clock is right.
func (c *ClockGuard) Confirm(wall time.Time, mono time.Duration) Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trustLocked(wall.Round(0), mono)
}

// trustLocked begins anew with a time that is right.
func (c *ClockGuard) trustLocked(wall time.Time, mono time.Duration) Verdict {
	c.behind, c.read, c.wall, c.mark, c.noted = 0, true, wall, wall, wall
	c.anchor = anchor{wall, mono}
	v := c.verdictLocked()
	v.Mark = wall
	return v
}

// Reconciled says that somebody has looked what became of sandboxes because of
// v. If the computer slept again while they did, it was in vain.
func (c *ClockGuard) Reconciled(v Verdict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked = max(c.looked, v.jumps)
}

func (c *ClockGuard) verdictLocked() Verdict {
	return Verdict{Suspect: c.behind > 0, Reconcile: c.jumps > c.looked, jumps: c.jumps}
}

// Billable refuses what costs while the clock is not to be trusted.
func (c *ClockGuard) Billable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.behind > 0:
		return &sandbox.Error{
			Code: sandbox.ClockSuspect, Msg: fmt.Sprintf("the clock of the computer went back by %s", c.behind.Round(time.Second)),
			Hint:    "set it right; or its owner says that it is right now",
			Details: map[string]any{"why": "back", "seconds": int64(c.behind / time.Second)},
		}
	case c.jumps > c.looked:
		return &sandbox.Error{
			Code: sandbox.ClockSuspect, Msg: "the clock of the computer went ahead: sandboxes are being looked at first",
			Hint: "try again in some seconds", Retryable: true, RetryAfter: 3 * time.Second,
			Details: map[string]any{"why": "ahead"},
		}
	}
	return nil
}

func clockEvent(why string, severity sandbox.Severity, wall time.Time, by time.Duration) sandbox.Event {
	return sandbox.Event{
		ID: fmt.Sprintf("clock:%s:%d", why, wall.UnixMilli()), At: wall, Kind: sandbox.EventClock, Severity: severity,
		Origin: sandbox.OriginLocal, Data: map[string]any{"why": why, "seconds": int64(by / time.Second)},
	}
}
