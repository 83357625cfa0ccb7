package fleet_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

func (c *fakeCloud) counts() (lists, healths int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lists, c.healths
}

// pass lets time pass, and returns how many lists that took.
func (r *rig) pass(d time.Duration) int {
	before, _ := r.cloud.counts()
	r.clock.Advance(d)
	after, _ := r.cloud.counts()
	return after - before
}

// TestCloudEnded finds at once what a cloud has taken with it that is known to
// have ended, in the middle of being asked, too.
func TestCloudEnded(t *testing.T) {
	for _, asked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t)
			r.fleet.Ended("test") // of which nothing is known
			r.hold(lease("a"))
			id := r.must("a", "echo").exit.Sandbox
			answer := make(chan struct{})
			if asked {
				r.cloud.mu.Lock()
				r.cloud.list = func(int) error {
					r.cloud.mu.Unlock()
					<-answer
					r.cloud.mu.Lock()
					return &sandbox.Error{Code: sandbox.CloudDown, Msg: "it hangs up"}
				}
				lists := r.cloud.lists
				r.cloud.mu.Unlock()
				r.turn("it is asked", 3*time.Minute, func() bool { n, _ := r.cloud.counts(); return n > lists })
			}
			r.cloud.mu.Lock()
			r.cloud.down = true
			r.cloud.mu.Unlock()
			r.fleet.Ended(r.box(id).Profile)
			close(answer)
			r.turn("it is found", time.Second, func() bool { return r.box(id).EndReason == sandbox.EndCloud })
		})
	}
}

// TestHowOften asks the cloud often while somebody looks, seldom else, and not
// at all when there is nothing. Nobody asks the agent.
func TestHowOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		if n := r.pass(10 * time.Minute); n != 0 {
			t.Errorf("%d lists of nothing", n)
		}
		r.hold(lease("a"))
		r.must("a", "echo")
		r.turn("its Python is there", time.Minute, func() bool {
			_, healths := r.cloud.counts()
			return healths >= 2
		})
		_, before := r.cloud.counts()
		if n := r.pass(10 * time.Minute); n < 5 || n > 11 {
			t.Errorf("%d lists in ten minutes that nobody looks", n)
		}
		glancing, look := context.WithCancel(t.Context())
		seen := make(chan struct{}, 1000)
		go r.fleet.Glance(glancing, func(sandbox.Snapshot) error {
			seen <- struct{}{}
			return nil
		})
		<-seen
		if n := r.pass(10 * time.Minute); n < 5 || n > 11 {
			t.Errorf("%d lists in ten minutes of glancing", n)
		}
		look()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.fleet.Watch(ctx, func(sandbox.Snapshot) error { return nil })
		}()
		r.pass(time.Minute)
		if n := r.pass(2 * time.Minute); n < 12 || n > 26 {
			t.Errorf("%d lists in two minutes of looking", n)
		}
		r.cloud.mu.Lock()
		r.cloud.list = func(int) error { return &sandbox.Error{Code: sandbox.RateLimited, Msg: "slow down"} }
		r.cloud.mu.Unlock()
		if n := r.pass(10 * time.Minute); n > 10 {
			t.Errorf("%d lists in ten minutes of a cloud that asks for patience", n)
		}
		if s := r.fleet.Snapshot(); len(s.Profiles) != 1 || s.Profiles[0].Error == nil || s.Profiles[0].Error.Code != sandbox.RateLimited {
			t.Errorf("profiles %+v", s.Profiles)
		}
		cancel()
		<-done
		if _, after := r.cloud.counts(); after != before {
			t.Errorf("the agent was asked %d times", after-before)
		}
	})
}

// TestNewest shows a slow watcher the newest snapshot, not each.
func TestNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var mu sync.Mutex
		var seen []sandbox.Snapshot
		go1 := make(chan struct{})
		go func() {
			r.fleet.Watch(ctx, func(s sandbox.Snapshot) error {
				mu.Lock()
				seen = append(seen, s)
				mu.Unlock()
				<-go1
				return nil
			})
		}()
		r.now("the present state", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(seen) == 1
		})
		r.hold(lease("a"))
		for range 20 {
			r.must("a", "echo")
		}
		close(go1)
		r.now("the newest", func() bool {
			mu.Lock()
			defer mu.Unlock()
			last := seen[len(seen)-1]
			return len(last.Sandboxes) == 1 && last.Sandboxes[0].Running == 0
		})
		mu.Lock()
		defer mu.Unlock()
		if len(seen) > 5 {
			t.Errorf("%d snapshots for a watcher that read two", len(seen))
		}
	})
}

// TestR98_R99_Orphans shows sandboxes that are nobody's, and ends one.
func TestR98_R99_Orphans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud.vms["stray"] = &fleet.VM{ID: "stray", Image: image, State: sandbox.Running, StartedAt: r.clock.Now()}
		list, err := r.fleet.List(t.Context(), sandbox.ListRequest{})
		if err != nil || len(list) != 1 || !list[0].Orphan || list[0].ID != "stray" {
			t.Fatalf("list %+v, %v", list, err)
		}
		if err := r.fleet.Terminate(t.Context(), "stray", ""); err != nil || r.cloud.alive() != 0 {
			t.Errorf("terminate: %v, %d alive", err, r.cloud.alive())
		}
		if err := r.fleet.Terminate(t.Context(), "nonsense", ""); sandbox.CodeOf(err) != sandbox.NotFound {
			t.Errorf("of one that is not there: %v", err)
		}
	})
}

// TestEndsOnTime asks again when a sandbox's time is up, and forgets it later.
func TestEndsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := lease("a")
		l.Spec.Timeout = 10 * time.Minute
		r.hold(l)
		id := r.must("a", "echo").exit.Sandbox
		r.pass(10*time.Minute - 10*time.Second)
		r.cloud.set(id, func(vm *fleet.VM) { vm.State, vm.Reason = sandbox.Terminated, "exceeded maximum lifetime" })
		r.turn("it is seen", 25*time.Second, func() bool { return r.box(id).EndReason == sandbox.EndExpired })
		r.turn("it is forgotten", 3*time.Hour, func() bool { return len(r.fleet.Snapshot().Sandboxes) == 0 })
		if len(r.store.All("box")) != 0 || len(r.store.All("run")) != 0 {
			t.Errorf("records left: %d and %d", len(r.store.All("box")), len(r.store.All("run")))
		}
	})
}
