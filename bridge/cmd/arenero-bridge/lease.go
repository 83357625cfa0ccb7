package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A lease is a claim to a sandbox that this process holds for somebody.
type lease struct {
	sandbox.Lease
	engine *control.Client
	log    *slog.Logger

	life context.Context // of the lease
	end  context.CancelFunc

	called chan struct{} // of capacity 1: somebody needs it now

	mu   sync.Mutex    // guards what follows
	held chan struct{} // closed when the lease has been given back; nil: it was never asked for
	used time.Time
}

func newLease(l sandbox.Lease, engine *control.Client, log *slog.Logger) *lease {
	l.ID = uuid.NewString()
	out := &lease{Lease: l, engine: engine, log: log, called: make(chan struct{}, 1)}
	out.life, out.end = context.WithCancel(context.Background())
	return out
}

// lend asks for the lease, once, and does not wait for it: the engine has calls
// wait for their lease. host is as the host calls itself.
func (l *lease) lend(host string, caller sandbox.Caller) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.called <- struct{}{}:
	default:
	}
	if l.held != nil || l.life.Err() != nil {
		return
	}
	asked := l.Lease
	asked.Host = host
	held := make(chan struct{})
	l.held = held
	go func() {
		ctx, _ := sandbox.WithCall(l.life, caller)
		err := l.hold(ctx, asked)
		l.mu.Lock()
		defer l.mu.Unlock()
		close(held)
		if l.life.Err() == nil { // refused: the next call tries again
			l.log.Warn("no lease", "code", sandbox.CodeOf(err))
			l.held = nil
		}
	}()
}

// backEvery is how often a lease looks for an engine that is gone: one that is
// back ends what nobody has come back for in ten seconds.
const backEvery = 2 * time.Second

// hold holds the lease for as long as it lives or until an engine refuses it.
// Where none can be had it is there for the next one, whoever starts that.
func (l *lease) hold(ctx context.Context, asked sandbox.Lease) error {
	quiet := &control.Client{Path: l.engine.Path, Patience: time.Millisecond} // starts none
	defer quiet.Close()
	tries := time.NewTicker(backEvery)
	defer tries.Stop()
	select {
	case <-l.called: // by whom this is done
	default:
	}
	for engine := l.engine; ; {
		held := false
		err := engine.Hold(ctx, asked, func() { held = true })
		if l.life.Err() != nil || sandbox.CodeOf(err) != sandbox.Unreachable {
			return err
		}
		if engine == l.engine {
			l.log.Warn("no lease", "code", sandbox.CodeOf(err))
		}
		if engine = quiet; held {
			engine = l.engine
			continue
		}
		select {
		case <-l.called:
			engine = l.engine
		case <-tries.C:
		case <-ctx.Done():
		}
	}
}

// isLent reports whether the lease was asked for.
func (l *lease) isLent() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held != nil
}

// giveBack ends the lease, and waits for that as long as ctx lasts.
func (l *lease) giveBack(ctx context.Context) {
	l.end()
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if held == nil {
		return
	}
	select {
	case <-held:
	case <-ctx.Done():
		l.log.Warn("lease not given back in time")
	}
}

// leaseIdle is when the lease of a grant ends that nobody has called with, where
// there are no sessions whose end would end it. No call takes so long.
const leaseIdle = 2 * time.Hour

// leases are those of all who come with tokens: one for each grant and session
// or, without sessions, for each grant.
type leases struct {
	make func() *lease

	mu  sync.Mutex
	all map[leaseKey]*lease
}

type leaseKey struct{ grant, session string }

func newLeases(make func() *lease) *leases {
	return &leases{make: make, all: map[leaseKey]*lease{}}
}

// of returns the lease of a grant in a session; "" is none.
func (ls *leases) of(grant, session string) *lease {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	key := leaseKey{grant, session}
	l := ls.all[key]
	if l == nil {
		l = ls.make()
		ls.all[key] = l
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = time.Now()
	return l
}

// take removes the leases that a function picks.
func (ls *leases) take(pick func(leaseKey, *lease) bool) (taken []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for key, l := range ls.all {
		if pick(key, l) {
			delete(ls.all, key)
			taken = append(taken, l)
		}
	}
	return taken
}

// endSession gives back what was held for a session.
func (ls *leases) endSession(ctx context.Context, session string) {
	giveBack(ctx, ls.take(func(key leaseKey, _ *lease) bool { return session != "" && key.session == session }))
}

// sweep gives back what nobody has used for long.
func (ls *leases) sweep(ctx context.Context, now time.Time) {
	giveBack(ctx, ls.take(func(key leaseKey, l *lease) bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return key.session == "" && now.Sub(l.used) >= leaseIdle
	}))
}

func (ls *leases) endAll(ctx context.Context) {
	giveBack(ctx, ls.take(func(leaseKey, *lease) bool { return true }))
}

func giveBack(ctx context.Context, all []*lease) {
	var wg sync.WaitGroup
	for _, l := range all {
		wg.Go(func() { l.giveBack(ctx) })
	}
	wg.Wait()
}
