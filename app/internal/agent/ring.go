package agent

import (
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// maxSubscribers is how many streams may follow one run at a time.
const maxSubscribers = 8

var (
	errTooManySubscribers = status.Error(codes.ResourceExhausted, "too many subscribers")
	errSeqGone            = status.Error(codes.OutOfRange, "from_seq is not kept any more")
	errSeqAhead           = status.Error(codes.OutOfRange, "from_seq is ahead of the output")
)

// ringLimits is how much a ring keeps and how long it waits for its readers.
type ringLimits struct {
	bytes    int           // kept for replay
	queue    int           // events a subscriber may be behind before it holds up the writer
	patience time.Duration // running time it may do so before it is cut off
}

// A ring keeps the newest output of one run under sequence numbers from 1, for
// the subscribers it has and for those that come back. A slow subscriber holds
// up the writer for a while, and is then cut off.
type ring[T any] struct {
	limits ringLimits
	clock  *runClock
	budget *budget

	mu      sync.Mutex // guards what follows
	events  []ringEvent[T]
	head    int    // index in events of the oldest kept
	first   uint64 // its number
	size    int    // bytes kept
	ended   bool
	wrote   time.Duration
	subs    map[*subscriber[T]]struct{}
	changed chan struct{} // closed when a subscriber has read or gone; nil if nobody waits
}

type ringEvent[T any] struct {
	item T
	size int
}

func newRing[T any](l ringLimits, c *runClock, b *budget) *ring[T] {
	r := &ring[T]{limits: l, clock: c, budget: b, first: 1, subs: map[*subscriber[T]]struct{}{}}
	b.adopt(r)
	return r
}

// A subscriber is one reader of a ring.
type subscriber[T any] struct {
	ring *ring[T]
	pos  uint64        // number of the next event to read
	cut  bool          // too slow, or its output is not kept any more
	wake chan struct{} // has a value when there may be something to read
}

// nextLocked is the number of the next event to be written.
func (r *ring[T]) nextLocked() uint64 { return r.first + uint64(len(r.events)-r.head) }

// subscribe adds a reader that starts at event from, or at the next one if
// from is 0.
func (r *ring[T]) subscribe(from uint64) (*subscriber[T], error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.nextLocked()
	switch {
	case len(r.subs) >= maxSubscribers:
		return nil, errTooManySubscribers
	case from == 0:
		from = next
	case from < r.first:
		return nil, errSeqGone
	case from > next:
		return nil, errSeqAhead
	}
	s := &subscriber[T]{ring: r, pos: from, wake: make(chan struct{}, 1)}
	s.wake <- struct{}{}
	r.subs[s] = struct{}{}
	return s, nil
}

// followed reports whether there is a reader.
func (r *ring[T]) followed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.subs) > 0
}

// leave takes the reader off.
func (s *subscriber[T]) leave() {
	s.ring.mu.Lock()
	defer s.ring.mu.Unlock()
	delete(s.ring.subs, s)
	s.ring.changedLocked()
}

func (r *ring[T]) changedLocked() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// A taken tells what take found.
type taken int

const (
	tookEvent   taken = iota
	tookNothing       // for now: wait for wake
	tookEnd           // there is no more
	tookCut           // the reader was cut off
)

// take returns the next event and its number, if there is one.
func (s *subscriber[T]) take() (item T, seq uint64, what taken) {
	r := s.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case s.cut:
		return item, 0, tookCut
	case s.pos == r.nextLocked() && r.ended:
		return item, 0, tookEnd
	case s.pos == r.nextLocked():
		return item, 0, tookNothing
	}
	item, seq = r.events[r.head+int(s.pos-r.first)].item, s.pos
	s.pos++
	r.changedLocked()
	return item, seq, tookEvent
}

// push appends an event. It waits for subscribers that are too far behind, and
// cuts them off when they stay so. It gives up the waiting when stop is closed.
func (r *ring[T]) push(item T, size int, stop <-chan struct{}) {
	r.mu.Lock()
	if r.blockedLocked(size) {
		r.waitLocked(size, stop)
	}
	for r.size+size > r.limits.bytes && r.head < len(r.events) {
		r.evictLocked()
	}
	r.events = append(r.events, ringEvent[T]{item, size})
	r.size += size
	r.wrote = r.clock.now()
	r.wakeLocked()
	r.mu.Unlock()
	r.budget.add(size)
}

func (r *ring[T]) wakeLocked() {
	for s := range r.subs {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// waitLocked waits until nobody blocks an event of size. The lock is not held
// meanwhile.
func (r *ring[T]) waitLocked(size int, stop <-chan struct{}) {
	late, give := r.clock.after(r.limits.patience)
	defer give()
	for r.blockedLocked(size) {
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		changed := r.changed
		r.mu.Unlock()
		cut := false
		select {
		case <-changed:
		case <-late:
			cut = true
		case <-stop:
			cut = true
		}
		r.mu.Lock()
		if cut {
			floor := r.floorLocked(size)
			for s := range r.subs {
				if r.blocksLocked(s, floor) {
					r.cutLocked(s)
				}
			}
			return
		}
	}
}

func (r *ring[T]) blockedLocked(size int) bool {
	floor := r.floorLocked(size)
	for s := range r.subs {
		if r.blocksLocked(s, floor) {
			return true
		}
	}
	return false
}

// floorLocked is the number of the oldest event left when there is place for
// size bytes more.
func (r *ring[T]) floorLocked(size int) uint64 {
	floor, used := r.first, r.size
	for i := r.head; i < len(r.events) && used+size > r.limits.bytes; i++ {
		used -= r.events[i].size
		floor++
	}
	return floor
}

// blocksLocked reports whether s is too far behind, or has still to read what
// is below floor.
func (r *ring[T]) blocksLocked(s *subscriber[T], floor uint64) bool {
	return !s.cut && (s.pos < floor || r.nextLocked()-s.pos >= uint64(r.limits.queue))
}

func (r *ring[T]) cutLocked(s *subscriber[T]) {
	s.cut = true
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// evictLocked drops the oldest event, and cuts off who has not read it.
func (r *ring[T]) evictLocked() {
	for s := range r.subs {
		if s.pos == r.first && !s.cut {
			r.cutLocked(s)
		}
	}
	n := r.events[r.head].size
	r.events[r.head] = ringEvent[T]{}
	r.head++
	r.first++
	r.size -= n
	r.budget.add(-n)
	if r.head > 64 && r.head > len(r.events)/2 {
		r.events = append(r.events[:0:0], r.events[r.head:]...)
		r.head = 0
	}
}

// end says that no event follows.
func (r *ring[T]) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	r.wakeLocked()
}

// drop gives up everything kept.
func (r *ring[T]) drop() {
	r.mu.Lock()
	for r.head < len(r.events) {
		r.evictLocked()
	}
	r.mu.Unlock()
	r.budget.disown(r)
}

// age tells the budget what to take from first.
func (r *ring[T]) age() (live bool, wrote time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended, r.wrote
}

// shed drops the oldest output until n bytes are free: only what every
// subscriber has read, or anything if force is set. It returns what it freed.
func (r *ring[T]) shed(n int, force bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	freed := 0
	for freed < n && r.head < len(r.events) {
		if !force && r.unreadLocked() {
			break
		}
		freed += r.events[r.head].size
		r.evictLocked()
	}
	return freed
}

// unreadLocked reports whether a subscriber still has to read the oldest event.
func (r *ring[T]) unreadLocked() bool {
	for s := range r.subs {
		if s.pos == r.first && !s.cut {
			return true
		}
	}
	return false
}
