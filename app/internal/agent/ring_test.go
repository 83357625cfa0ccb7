package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"
)

var testLimits = ringLimits{bytes: 100, queue: 4, patience: 30 * time.Second}

func testRing(clock clockwork.Clock) *ring[string] {
	return newRing[string](testLimits, newRunClock(clock), newBudget(1000, 2000))
}

func put(r *ring[string], items ...string) {
	for _, s := range items {
		r.push(s, len(s), nil)
	}
}

// read takes all there is, and tells what came after.
func read(s *subscriber[string]) (string, taken) {
	var all []string
	for {
		item, _, what := s.take()
		if what != tookEvent {
			return strings.Join(all, " "), what
		}
		all = append(all, item)
	}
}

func TestRingReplay(t *testing.T) {
	r := testRing(clockwork.NewFakeClock())
	put(r, "a", "b", "c")
	for _, tt := range []struct {
		name string
		from uint64
		want string
		code codes.Code
	}{
		{"all", 1, "a b c", codes.OK},
		{"some", 2, "b c", codes.OK},
		{"the next", 4, "", codes.OK},
		{"new ones", 0, "", codes.OK},
		{"ahead", 5, "", codes.OutOfRange},
		{"far ahead", 1 << 63, "", codes.OutOfRange},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := r.subscribe(tt.from)
			wantCode(t, err, tt.code)
			if err != nil {
				return
			}
			defer s.leave()
			if got, what := read(s); got != tt.want || what != tookNothing {
				t.Errorf("read %q, then %v; want %q", got, what, tt.want)
			}
		})
	}
}

func TestRingEvicts(t *testing.T) {
	r := testRing(clockwork.NewFakeClock())
	for _, c := range "abcdefghijklmnopqrstuvwxyz" {
		put(r, strings.Repeat(string(c), 10))
	}
	if _, err := r.subscribe(16); err != errSeqGone {
		t.Errorf("subscribe to what is gone: %v", err)
	}
	s, err := r.subscribe(17)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := read(s)
	if want := "qqqqqqqqqq rrrrrrrrrr"; !strings.HasPrefix(got, want) {
		t.Errorf("oldest = %q, want %q", got, want)
	}
	// One larger than the ring leaves itself alone in it.
	put(r, strings.Repeat("!", 1000))
	if got, _ := read(s); len(got) != 1000 {
		t.Errorf("%d bytes of a large event", len(got))
	}
	if r.size != 1000 || r.budget.used.Load() != 1000 {
		t.Errorf("size %d, budget %d, want 1000", r.size, r.budget.used.Load())
	}
	r.drop()
	if r.size != 0 || r.budget.used.Load() != 0 {
		t.Errorf("after drop: size %d, budget %d", r.size, r.budget.used.Load())
	}
}

func TestRingWaitsForItsReaders(t *testing.T) {
	for _, tt := range []struct {
		name  string
		items []string // the last has to wait
	}{
		{"too many", []string{"a", "b", "c", "d", "e"}},
		{"too large", []string{strings.Repeat("a", 60), strings.Repeat("b", 60)}},
		{"much too large", []string{strings.Repeat("a", 30), strings.Repeat("b", 30), strings.Repeat("c", 90)}},
	} {
		for _, reads := range []bool{true, false} {
			t.Run(tt.name, func(t *testing.T) {
				clock := clockwork.NewFakeClock()
				r := testRing(clock)
				s, err := r.subscribe(1)
				if err != nil {
					t.Fatal(err)
				}
				fast, err := r.subscribe(1)
				if err != nil {
					t.Fatal(err)
				}
				last := len(tt.items) - 1
				for _, item := range tt.items[:last] {
					put(r, item)
					read(fast)
				}
				done := make(chan struct{})
				go func() {
					put(r, tt.items[last])
					close(done)
				}()
				if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				if reads {
					read(s)
				} else {
					clock.Advance(testLimits.patience)
				}
				<-done
				got, what := read(s)
				if reads && (got != tt.items[last] || what != tookNothing) {
					t.Errorf("after reading: %q, %v", got, what)
				}
				if !reads && what != tookCut {
					t.Errorf("after not reading: %q, %v; want to be cut off", got, what)
				}
				if got, what := read(fast); got != tt.items[last] || what != tookNothing {
					t.Errorf("the other reader: %q, %v", got, what)
				}
				s.leave()
				r.end()
				if _, what := read(fast); what != tookEnd {
					t.Errorf("after the end: %v", what)
				}
			})
		}
	}
}

func TestRingGivesUpWaiting(t *testing.T) {
	r := testRing(clockwork.NewFakeClock())
	s, err := r.subscribe(1)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	close(stop)
	for range 6 {
		r.push("x", 1, stop)
	}
	if _, what := read(s); what != tookCut {
		t.Errorf("take = %v, want to be cut off", what)
	}
}

func TestBudget(t *testing.T) {
	clock := clockwork.NewFakeClock()
	run := newRunClock(clock)
	b := newBudget(250, 320)
	ring := func(fill int) *ring[string] {
		r := newRing[string](testLimits, run, b)
		clock.Advance(time.Second)
		for range fill {
			put(r, strings.Repeat("x", 10))
		}
		return r
	}
	old, ended := ring(10), ring(10)
	ended.end()
	reader, err := old.subscribe(1)
	if err != nil {
		t.Fatal(err)
	}
	ring(10)
	if ended.size != 50 || old.size != 100 {
		t.Errorf("ended has %d, old %d; want 50 and 100: what has ended goes first", ended.size, old.size)
	}
	ring(10)
	if ended.size != 0 || old.size != 100 {
		t.Errorf("ended has %d, old %d; want 0 and 100: a reader waits for it", ended.size, old.size)
	}
	last := ring(10)
	if used := b.used.Load(); used > 320 {
		t.Errorf("%d bytes are kept, want at most 320", used)
	}
	if last.size == 0 {
		t.Error("the newest output went before the oldest")
	}
	if _, what := read(reader); what == tookCut && old.size == 100 {
		t.Error("a reader was cut off for nothing")
	}
}

func TestRunClock(t *testing.T) {
	clock := clockwork.NewFakeClock()
	c := newRunClock(clock)
	fired := make(chan string, 10)
	at := func(name string, d time.Duration) *runTimer {
		return c.afterFunc(d, func() { fired <- name })
	}
	at("one", time.Second)
	at("two", 2*time.Second)
	gone := at("gone", 2*time.Second)
	if !gone.stop() || gone.stop() {
		t.Error("stop = false, true; want true, false")
	}
	clock.Advance(time.Second)
	if got := <-fired; got != "one" {
		t.Errorf("fired %s", got)
	}
	c.pause()
	c.pause()
	at("while paused", time.Second/2)
	clock.Advance(time.Hour)
	if got := c.now(); got != time.Second {
		t.Errorf("now = %v while paused, want 1s", got)
	}
	c.resume()
	c.resume()
	clock.Advance(time.Second / 2)
	if got := <-fired; got != "while paused" {
		t.Errorf("fired %s", got)
	}
	clock.Advance(time.Second / 2)
	if got := <-fired; got != "two" {
		t.Errorf("fired %s", got)
	}
	if got := c.now(); got != 2*time.Second {
		t.Errorf("now = %v, want 2s", got)
	}
	if len(fired) != 0 || len(c.timers) != 0 {
		t.Errorf("%d more fired, %d are left", len(fired), len(c.timers))
	}
}
