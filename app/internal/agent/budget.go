package agent

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// What all rings of a sandbox may keep together. Above budgetHigh the oldest
// output that nobody waits for goes, above budgetMax any.
const (
	budgetHigh = 96 << 20
	budgetMax  = 128 << 20
)

// A budget bounds the memory of many rings.
type budget struct {
	high, max int
	used      atomic.Int64

	mu    sync.Mutex // guards rings, and makes one goroutine reclaim at a time
	rings map[shedder]struct{}
}

// A shedder is a ring of any kind.
type shedder interface {
	age() (live bool, wrote time.Duration)
	shed(n int, force bool) int
}

func newBudget(high, limit int) *budget {
	return &budget{high: high, max: limit, rings: map[shedder]struct{}{}}
}

func (b *budget) adopt(r shedder) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rings[r] = struct{}{}
}

func (b *budget) disown(r shedder) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.rings, r)
}

// add counts n bytes more. The caller holds no ring's lock if n is positive.
func (b *budget) add(n int) {
	if used := b.used.Add(int64(n)); n > 0 && used > int64(b.high) {
		b.reclaim()
	}
}

// reclaim takes output from the rings of ended runs first, then from those
// written longest ago.
func (b *budget) reclaim() {
	b.mu.Lock()
	defer b.mu.Unlock()
	type aged struct {
		ring  shedder
		live  bool
		wrote time.Duration
	}
	var all []aged
	for r := range b.rings {
		live, wrote := r.age()
		all = append(all, aged{r, live, wrote})
	}
	slices.SortFunc(all, func(x, y aged) int {
		if x.live != y.live {
			if y.live {
				return -1
			}
			return 1
		}
		return cmp.Compare(x.wrote, y.wrote)
	})
	for _, a := range all {
		a.ring.shed(int(b.used.Load())-b.high, false)
	}
	for _, a := range all {
		a.ring.shed(int(b.used.Load())-b.max, true)
	}
}
