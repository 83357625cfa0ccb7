package grant_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

// passes is how many calls pass at once.
func passes(call func() error) int {
	n := 0
	for call() == nil {
		n++
	}
	return n
}

func TestRates(t *testing.T) {
	a, b := sandbox.Grant{ID: "g_a", Name: "a"}, sandbox.Grant{ID: "g_b"}
	slow := sandbox.Grant{ID: "g_slow", Rate: 5}
	for _, tt := range []struct {
		name      string
		call      func(*grant.Limiter) error
		burst     int // at once
		perMinute int
	}{
		{"HTTP", func(l *grant.Limiter) error { return l.Call(a, true) }, 20, 60},
		{"stdio", func(l *grant.Limiter) error { return l.Call(a, false) }, 100, 300},
		{"creates", func(l *grant.Limiter) error { return l.Create(a) }, 10, 10},
		{"a rate of its own", func(l *grant.Limiter) error { return l.Call(slow, true) }, 5, 5},
		{"a rate of its own, stdio", func(l *grant.Limiter) error { return l.Call(slow, false) }, 5, 5},
	} {
		clock := clockwork.NewFakeClockAt(noon)
		l := grant.NewLimiter(grant.DefaultRates(), clock)
		call := func() error { return tt.call(l) }
		if got := passes(call); got != tt.burst {
			t.Errorf("%s: %d calls at once, want %d", tt.name, got, tt.burst)
		}
		passed := 0
		for range 60 {
			clock.Advance(time.Second)
			passed += passes(call)
		}
		if passed != tt.perMinute {
			t.Errorf("%s: %d calls in the minute after, want %d", tt.name, passed, tt.perMinute)
		}
	}

	// Grants, and ways to call, do not count for one another.
	l := grant.NewLimiter(grant.DefaultRates(), clockwork.NewFakeClockAt(noon))
	passes(func() error { return l.Call(a, true) })
	refused(t, "another grant", l.Call(b, true), "")
	refused(t, "another way", l.Call(a, false), "")
	refused(t, "a create", l.Create(a), "")
}

// The seconds that a refusal says are whole ones, and enough.
func TestRetryAfter(t *testing.T) {
	for _, perMinute := range []int{1, 7, 60, 90, 300, 6000} {
		clock := clockwork.NewFakeClockAt(noon)
		l := grant.NewLimiter(grant.DefaultRates(), clock)
		g := sandbox.Grant{ID: "g_1", Rate: perMinute}
		call := func() error { return l.Call(g, true) }
		passes(call)
		for range 50 {
			clock.Advance(130 * time.Millisecond)
			passes(call)
			err := call()
			refused(t, "a call too many", err, sandbox.RateLimited)
			e := sandbox.ToError(err)
			wait := e.RetryAfter
			if !e.Retryable || wait < time.Second || wait%time.Second != 0 || wait > time.Minute || e.Details["retry_after_s"] != int64(wait/time.Second) {
				t.Fatalf("%d a minute: wait %s, details %v", perMinute, wait, e.Details)
			}
			for range 3 { // asking again does not make it longer
				if again := sandbox.ToError(call()); again.RetryAfter != wait {
					t.Fatalf("%d a minute: wait %s, then %s", perMinute, wait, again.RetryAfter)
				}
			}
			clock.Advance(wait)
			if err := call(); err != nil {
				t.Fatalf("%d a minute: after waiting %s: %v", perMinute, wait, err)
			}
		}
	}
}

func TestRateChanges(t *testing.T) {
	clock := clockwork.NewFakeClockAt(noon)
	l := grant.NewLimiter(grant.DefaultRates(), clock)
	g := sandbox.Grant{ID: "g_1", Rate: 60}
	passes(func() error { return l.Call(g, true) })
	clock.Advance(10 * time.Second) // ten calls are free again
	g.Rate = 3
	if got := passes(func() error { return l.Call(g, true) }); got != 3 {
		t.Errorf("%d calls pass after the rate is 3, want 3", got)
	}
}

func TestForgets(t *testing.T) {
	clock := clockwork.NewFakeClockAt(noon)
	l := grant.NewLimiter(grant.DefaultRates(), clock)
	for i := range 100 {
		g := sandbox.Grant{ID: string(rune('a' + i))}
		refused(t, "call", l.Call(g, i%2 == 0), "")
	}
	busy := sandbox.Grant{ID: "busy"}
	passed := 0
	for range 12 {
		clock.Advance(10 * time.Second)
		passed += passes(func() error { return l.Create(busy) })
	}
	if passed != 28 { // ten at once, and ten a minute for 110 seconds
		t.Errorf("%d calls pass while others are forgotten, want 28", passed)
	}
	if got := l.Buckets(); got != 1 {
		t.Errorf("%d grants are remembered, want the one that still calls", got)
	}
	if got := passes(func() error { return l.Create(busy) }); got != 0 {
		t.Errorf("%d calls more pass after the others are forgotten", got)
	}
	clock.Advance(-24 * time.Hour) // which gives nobody anything
	if got := passes(func() error { return l.Create(busy) }); got != 0 {
		t.Errorf("%d calls more pass after the clock went back", got)
	}
}

func TestRatesOfManyAtOnce(t *testing.T) {
	l := grant.NewLimiter(grant.DefaultRates(), clockwork.NewFakeClockAt(noon))
	g := sandbox.Grant{ID: "g_1"}
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if l.Call(g, true) == nil {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 20 {
		t.Errorf("%d of 200 calls at once pass, want 20", passed.Load())
	}
}

// All apps of this computer use the owner's grant, which nothing holds back but
// a rate of its own.
func TestOwnersCallsAreNotCounted(t *testing.T) {
	l := grant.NewLimiter(grant.DefaultRates(), clockwork.NewFakeClock())
	owner := sandbox.Grant{ID: sandbox.GrantOwner}
	for i := range 1000 {
		if err := errors.Join(l.Call(owner, i%2 == 0), l.Create(owner)); err != nil {
			t.Fatal(err)
		}
	}
	owner.Rate = 1
	if l.Call(owner, false) != nil || l.Call(owner, false) == nil {
		t.Error("its own rate does not count")
	}
}
