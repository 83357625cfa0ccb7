// Package fleet knows which sandboxes exist and whose they are. It makes them
// when a call needs one, finds them again after a cut or a restart, and ends
// them when nobody holds them any more.
package fleet

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/sandbox"
)

// The times of a fleet. Those of AWS are measured ones.
const (
	grace        = 10 * time.Second // for a bridge, or who follows a call, to come back
	shareWithin  = 3 * time.Minute  // from one bridge of a connection to the next
	leaseWithin  = 5 * time.Second  // for a lease to show up whose calls are here already
	readyWithin  = 90 * time.Second // from RunMicrovm to an agent that answers
	kernelWithin = 90 * time.Second
	endedKept    = time.Hour // in lists
	maxEnded     = 200       // in lists
	defaultLife  = time.Hour
	watchedEvery = 5 * time.Second
	unseenEvery  = 60 * time.Second
	slowestEvery = 5 * time.Minute
	settleTime   = 30 * time.Second // in which a new VM may be missing from lists
	overdue      = 15 * time.Second // beyond a life, for the cloud to have ended it: then we do
)

// A Config says what a Fleet works with. All but Keeps, Meter, Clock and Log are required.
type Config struct {
	// Open returns the cloud of a profile. It is called when a sandbox is
	// wanted, and may start things. With wake false it returns nil for a cloud
	// that has nothing alive and would have to be started to say so.
	Open func(ctx context.Context, p sandbox.Profile, wake bool) (Cloud, error)
	// Keeps reports whether the credentials of a profile outside this computer
	// are to be had without any bridge. Nil is no.
	Keeps   func(profile string) bool
	Store   Store
	Secrets Secrets
	Meter   Meter  // nil: nothing is counted
	Version string // of the engine, for snapshots
	Paused  bool   // see [Fleet.Pause]
	Clock   clockwork.Clock
	Log     *slog.Logger
}

// A Fleet is all sandboxes that this computer's owner has.
type Fleet struct {
	cfg   Config
	clock clockwork.Clock
	log   *slog.Logger

	base context.Context // of work that outlives the call that began it
	stop context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex               // guards what follows, and all of leases, boxes and runs
	closed   bool                     // no more work may begin
	paused   bool                     // no sandbox is made
	settings uint64                   // how often the owner has set something
	leases   map[string]*lease        // by id
	boxes    map[string]*box          // by key
	runs     map[string]*run          // by the id of their Exec or Cell
	profiles map[string]*reach        // by name
	makers   map[string]chan struct{} // by profile: a place for each sandbox that is being made
	seq      uint64                   // of the last change
	changed  chan struct{}            // closed, and replaced, by every change
	watchers int
	poke     chan struct{} // wakes Serve
}

// New returns a fleet that knows what store does. It begins work only in Serve.
func New(cfg Config) (*Fleet, error) {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	f := &Fleet{
		cfg: cfg, clock: cfg.Clock, log: cfg.Log,
		leases: map[string]*lease{}, boxes: map[string]*box{}, runs: map[string]*run{}, profiles: map[string]*reach{},
		makers: map[string]chan struct{}{}, paused: cfg.Paused,
		changed: make(chan struct{}), poke: make(chan struct{}, 1),
	}
	f.base, f.stop = context.WithCancel(context.Background())
	f.load()
	if f.cfg.Meter != nil {
		f.cfg.Meter.TakeUp(f.Snapshot().Sandboxes)
	}
	return f, nil
}

// Serve takes up what an earlier process left, and looks after time and the
// clouds until ctx is done. Then it waits for everything it began, and leaves
// the sandboxes alone.
func (f *Fleet) Serve(ctx context.Context) error {
	f.mu.Lock()
	f.takeUpLocked()
	f.mu.Unlock()
	f.watchTime(ctx)
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	// First the connections: a cell whose call is cancelled is interrupted, and
	// one whose connection is lost goes on for whoever comes back.
	f.closeAgents()
	f.stop()
	f.work.Wait()
	f.closeAgents()
	return ctx.Err()
}

// closeAgents ends all connections to agents.
func (f *Fleet) closeAgents() {
	f.mu.Lock()
	var agents []Agent
	for _, b := range f.boxes {
		if b.agent != nil {
			agents = append(agents, b.agent)
		}
	}
	f.mu.Unlock()
	for _, a := range agents {
		a.Close()
	}
}

func (f *Fleet) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// begin runs work until it ends by itself or the fleet does. f.mu is held.
func (f *Fleet) beginLocked(work func(ctx context.Context)) bool {
	if f.closed {
		return false
	}
	f.work.Go(func() { work(f.base) })
	return true
}

// changedLocked tells watchers that there is something new to see.
func (f *Fleet) changedLocked() {
	f.seq++
	close(f.changed)
	f.changed = make(chan struct{})
}

// pokeServe has Serve look at the time again.
func (f *Fleet) pokeServe() {
	select {
	case f.poke <- struct{}{}:
	default:
	}
}

// Ended is to be called when a cloud has ended by itself: what a profile has there
// is looked for at once, and not only when its turn comes.
func (f *Fleet) Ended(profile string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.profiles[profile]; r != nil {
		r.asked, r.every, r.again = time.Time{}, 0, r.busy
		f.pokeServe()
	}
}

// Alive counts sandboxes that may still cost something, and calls that run.
func (f *Fleet) Alive() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, b := range f.boxes {
		if b.State.Alive() {
			n++
		}
	}
	return n
}

// errClosing refuses work while the engine ends.
func errClosing() error {
	return &sandbox.Error{Code: sandbox.Unreachable, Msg: "the engine is ending", Retryable: true}
}
