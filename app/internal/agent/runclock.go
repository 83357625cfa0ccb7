package agent

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// A runClock counts running time. It stands still from the suspend hook to the
// resume hook, whatever the clocks of the system do meanwhile, so a process
// with ten seconds left before a suspension has ten seconds left after it.
type runClock struct {
	base clockwork.Clock

	mu     sync.Mutex // guards what follows
	ran    time.Duration
	since  time.Time // start of the present stretch
	paused bool
	timers map[*runTimer]struct{}
}

func newRunClock(base clockwork.Clock) *runClock {
	return &runClock{base: base, since: base.Now(), timers: map[*runTimer]struct{}{}}
}

// now is the running time since the clock was made.
func (c *runClock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *runClock) nowLocked() time.Duration {
	if c.paused {
		return c.ran
	}
	return c.ran + c.base.Since(c.since)
}

// A runTimer calls a function once, after some running time.
type runTimer struct {
	clock *runClock
	due   time.Duration
	f     func()
	t     clockwork.Timer // nil while the clock is paused
}

// afterFunc calls f in a goroutine of its own after d of running time.
func (c *runClock) afterFunc(d time.Duration, f func()) *runTimer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &runTimer{clock: c, due: c.nowLocked() + d, f: f}
	c.timers[t] = struct{}{}
	if !c.paused {
		t.t = c.base.AfterFunc(d, t.fire)
	}
	return t
}

// after returns a channel that is closed after d of running time, and a
// function that gives the timer up.
func (c *runClock) after(d time.Duration) (<-chan struct{}, func()) {
	ch := make(chan struct{})
	t := c.afterFunc(d, func() { close(ch) })
	return ch, func() { t.stop() }
}

func (t *runTimer) fire() {
	c := t.clock
	c.mu.Lock()
	_, live := c.timers[t]
	// A timer that went off while the clock was being stopped runs when the
	// clock does.
	if !live || c.paused || c.nowLocked() < t.due {
		c.mu.Unlock()
		return
	}
	delete(c.timers, t)
	c.mu.Unlock()
	t.f()
}

// stop reports whether it kept the function from being called. A nil timer is
// a stopped one.
func (t *runTimer) stop() bool {
	if t == nil {
		return false
	}
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	_, live := t.clock.timers[t]
	delete(t.clock.timers, t)
	if t.t != nil {
		t.t.Stop()
	}
	return live
}

// pause stops the clock. A second pause does nothing.
func (c *runClock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused {
		return
	}
	c.ran = c.nowLocked()
	c.paused = true
	for t := range c.timers {
		t.t.Stop()
		t.t = nil
	}
}

// resume starts the clock again where it stood.
func (c *runClock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.paused {
		return
	}
	c.paused = false
	c.since = c.base.Now()
	for t := range c.timers {
		t.t = c.base.AfterFunc(max(0, t.due-c.ran), t.fire)
	}
}
