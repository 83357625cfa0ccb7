package fleet_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// A rig is a fleet over fakes, in a bubble of its own time: that stands still
// while anybody has something to do.
type rig struct {
	t     *testing.T
	clock clock
	cloud *fakeCloud
	store *memory
	meter *fakeMeter // nil: nothing is counted
	fleet *fleet.Fleet
	stop  func()
	calls int
}

// A clock is that of the bubble.
type clock struct{ clockwork.Clock }

// Advance lets time pass, and everybody act on it.
func (clock) Advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// inBubble is t.Run for tests that make a rig.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// newRig works in a bubble alone.
func newRig(t *testing.T) *rig {
	t.Helper()
	clock := clock{clockwork.NewRealClock()}
	r := &rig{t: t, clock: clock, cloud: newCloud(clock), store: newMemory()}
	r.open()
	return r
}

// open starts a fleet on what the last one left.
func (r *rig) open() {
	r.t.Helper()
	cfg := fleet.Config{
		Open: func(context.Context, sandbox.Profile, bool) (fleet.Cloud, error) {
			r.cloud.mu.Lock()
			defer r.cloud.mu.Unlock()
			if r.cloud.down {
				return nil, nil
			}
			return r.cloud, nil
		},
		Store: r.store, Secrets: keys{r.store}, Clock: r.clock,
	}
	if r.meter != nil {
		cfg.Meter = r.meter
	}
	f, err := fleet.New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Serve(ctx)
	}()
	r.fleet = f
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	r.t.Cleanup(r.stop)
}

// restart replaces the fleet as the end of its process would.
func (r *rig) restart() {
	r.stop()
	r.open()
}

// hold attaches a lease. cut detaches it without a word.
func (r *rig) hold(l sandbox.Lease) (cut func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	held, done := make(chan struct{}), make(chan error, 1)
	f := r.fleet
	go func() {
		done <- f.Hold(ctx, l, func() error {
			close(held)
			return nil
		})
	}()
	select {
	case <-held:
	case err := <-done:
		r.t.Fatal(err)
	}
	cut = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	r.t.Cleanup(cut)
	return cut
}

// exec makes a call in the background.
func (r *rig) exec(lease string, args ...string) *result {
	r.calls++
	res := &result{id: fmt.Sprintf("exec-%d", r.calls), done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	res.cancel = cancel
	f := r.fleet
	go func() {
		defer close(res.done)
		res.exit, res.err = f.Exec(ctx, sandbox.Exec{ID: res.id, Target: sandbox.Target{Lease: lease}, Args: args}, 0, func(o sandbox.Output) error {
			if o.Notice != "" {
				res.mu.Lock()
				res.notices = append(res.notices, o.Notice)
				res.mu.Unlock()
			}
			res.data += string(o.Data)
			return nil
		})
	}()
	r.t.Cleanup(cancel)
	return res
}

type result struct {
	id      string
	done    chan struct{}
	cancel  func()
	mu      sync.Mutex
	notices []sandbox.Notice
	data    string
	exit    sandbox.Exit
	err     error
}

func (res *result) over() bool {
	select {
	case <-res.done:
		return true
	default:
		return false
	}
}

func (res *result) told(n sandbox.Notice) bool {
	res.mu.Lock()
	defer res.mu.Unlock()
	for _, have := range res.notices {
		if have == n {
			return true
		}
	}
	return false
}

// must makes a call that has to succeed, without turning the clock by much.
func (r *rig) must(lease string, args ...string) *result {
	r.t.Helper()
	res := r.exec(lease, args...)
	r.turn("the call ends", time.Second, res.over)
	if res.err != nil {
		r.t.Fatalf("%v: %v", args, res.err)
	}
	return res
}

// now fails unless cond holds once nobody has anything to do.
func (r *rig) now(what string, cond func() bool) {
	r.t.Helper()
	synctest.Wait()
	if !cond() {
		r.t.Fatalf("not so now: %s", what)
	}
}

// turn lets time pass until cond holds, and returns how much that took. It
// fails beyond limit.
func (r *rig) turn(what string, limit time.Duration, cond func() bool) time.Duration {
	r.t.Helper()
	begin := r.clock.Now()
	for r.clock.Since(begin) <= limit {
		synctest.Wait()
		if cond() {
			return r.clock.Since(begin)
		}
		r.clock.Advance(max(limit/400, time.Millisecond))
	}
	r.t.Fatalf("not within %s: %s", limit, what)
	return 0
}

// box is the sandbox of that id.
func (r *rig) box(id string) sandbox.Sandbox {
	for _, s := range r.fleet.Snapshot().Sandboxes {
		if s.ID == id {
			return s
		}
	}
	return sandbox.Sandbox{}
}
