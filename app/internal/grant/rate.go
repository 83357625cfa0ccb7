package grant

import (
	"fmt"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"golang.org/x/time/rate"

	"github.com/arenero/arenero/app/sandbox"
)

// Rates are how many calls a grant may make a minute. A burst is how many of
// them may come at once.
type Rates struct {
	HTTP, HTTPBurst       int // calls of tools over HTTP
	Stdio, StdioBurst     int // and from connections of this computer
	Creates, CreatesBurst int // of them, those that ask for something that costs
}

// DefaultRates are the usual ones.
func DefaultRates() Rates {
	return Rates{HTTP: 60, HTTPBurst: 20, Stdio: 300, StdioBurst: 100, Creates: 10, CreatesBurst: 10}
}

// forgetAfter is when a grant that made no call is forgotten. All buckets fill
// up in a minute, so that forgetting one changes nothing.
const forgetAfter = 2 * time.Minute

// A Limiter counts the calls of grants. It is safe for use by many at once.
type Limiter struct {
	rates Rates
	clock clockwork.Clock

	mu      sync.Mutex // guards what follows
	buckets map[bucketKey]*bucket
	swept   time.Time
}

type bucketKey struct{ grant, kind string }

type bucket struct {
	*rate.Limiter
	used time.Time
}

// NewLimiter starts counting.
func NewLimiter(r Rates, clock clockwork.Clock) *Limiter {
	return &Limiter{rates: r, clock: clock, buckets: map[bucketKey]*bucket{}, swept: clock.Now()}
}

// Call counts a call of a tool, and refuses it if it comes too soon. The
// owner's calls, which are those of all apps on this computer together, are not
// counted unless that grant was given a rate.
func (l *Limiter) Call(g sandbox.Grant, http bool) error {
	if g.ID == sandbox.GrantOwner && g.Rate == 0 {
		return nil
	}
	kind, perMinute, burst := "stdio", l.rates.Stdio, l.rates.StdioBurst
	if http {
		kind, perMinute, burst = "http", l.rates.HTTP, l.rates.HTTPBurst
	}
	if g.Rate > 0 {
		perMinute = g.Rate
	}
	return l.take(g, kind, perMinute, burst)
}

// Create counts a call that asks for something that costs, wherever it is from.
// Those of the owner are not counted.
func (l *Limiter) Create(g sandbox.Grant) error {
	if g.ID == sandbox.GrantOwner {
		return nil
	}
	return l.take(g, "create", l.rates.Creates, l.rates.CreatesBurst)
}

func (l *Limiter) take(g sandbox.Grant, kind string, perMinute, burst int) error {
	burst = max(1, min(burst, perMinute))
	limit := rate.Limit(float64(perMinute) / 60)
	now := l.clock.Now()

	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgetLocked(now)
	key := bucketKey{g.ID, kind}
	b := l.buckets[key]
	if b == nil {
		b = &bucket{Limiter: rate.NewLimiter(limit, burst)}
		l.buckets[key] = b
	}
	if b.Limit() != limit || b.Burst() != burst { // its owner changed it
		b.SetLimitAt(now, limit)
		b.SetBurstAt(now, burst)
	}
	b.used = now
	r := b.ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	r.CancelAt(now) // a refused call does not push the next one back
	wait = (wait + time.Second - 1).Truncate(time.Second)
	return &sandbox.Error{
		Code: sandbox.RateLimited, Msg: fmt.Sprintf("too many calls: %d a minute are allowed", perMinute),
		Hint: fmt.Sprintf("wait %d s", wait/time.Second), Retryable: true, RetryAfter: wait,
		Details: map[string]any{"kind": kind, "per_minute": perMinute, "retry_after_s": int64(wait / time.Second), "grant": g.ID, "name": g.Name},
	}
}

// forgetLocked drops grants that were not seen for a while.
func (l *Limiter) forgetLocked(now time.Time) {
	if now.Sub(l.swept).Abs() < forgetAfter {
		return
	}
	l.swept = now
	for key, b := range l.buckets {
		if now.Sub(b.used) >= forgetAfter {
			delete(l.buckets, key)
		}
	}
}
