package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

func lease(id string) sandbox.Lease { return sandbox.Lease{ID: id} }

// TestR03_Lazy makes no sandbox before a call needs one, and one for all calls.
func TestR03_Lazy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		if list, err := r.fleet.List(t.Context(), sandbox.ListRequest{Lease: "a"}); err != nil || len(list) != 0 || r.cloud.runs != 0 {
			t.Fatalf("list %v, %v; %d creates", list, err, r.cloud.runs)
		}
		first := r.must("a", "echo", "x")
		second := r.must("a", "echo", "y")
		if first.data != "[x]" || first.exit.Sandbox != second.exit.Sandbox || r.cloud.runs != 1 {
			t.Errorf("said %q in %s and %s, %d creates", first.data, first.exit.Sandbox, second.exit.Sandbox, r.cloud.runs)
		}
		if !first.told(sandbox.NoticeCreating) || second.told(sandbox.NoticeCreating) {
			t.Errorf("notices %v, then %v", first.notices, second.notices)
		}
	})
}

func TestNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		res := r.exec("nobody", "echo")
		r.turn("the call ends", time.Minute, res.over)
		if sandbox.CodeOf(res.err) != sandbox.WrongState || r.cloud.runs != 0 {
			t.Errorf("the call: %v; %d creates", res.err, r.cloud.runs)
		}
	})
}

// TestEnds ends a lease in each way, and looks at its sandbox.
func TestEnds(t *testing.T) {
	inBubble(t, "in order", func(t *testing.T) {
		r := newRig(t)
		cut := r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		cut()
		if err := r.fleet.Release("a"); err != nil {
			t.Fatal(err)
		}
		r.now("it ends at once", func() bool { return r.box(id).EndReason == sandbox.EndClosed })
	})
	inBubble(t, "cut", func(t *testing.T) {
		r := newRig(t)
		cut := r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		cut()
		r.clock.Advance(9 * time.Second)
		if s := r.box(id); s.EndReason != "" {
			t.Errorf("after 9 s: %s", s.EndReason)
		}
		r.turn("it ends", 3*time.Second, func() bool { return r.box(id).EndReason == sandbox.EndCut })
		// Back too late: a new sandbox, and a word about the old one.
		r.hold(lease("a"))
		if res := r.must("a", "echo"); res.exit.Sandbox == id || !res.told(sandbox.NoticeReplaced) {
			t.Errorf("back too late: in %s, notices %v", res.exit.Sandbox, res.notices)
		}
	})
	inBubble(t, "cut and back", func(t *testing.T) {
		r := newRig(t)
		cut := r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		cut()
		r.clock.Advance(9 * time.Second)
		r.hold(lease("a"))
		r.clock.Advance(time.Minute)
		if res := r.must("a", "echo"); res.exit.Sandbox != id || res.told(sandbox.NoticeReplaced) {
			t.Errorf("back in time: in %s, notices %v", res.exit.Sandbox, res.notices)
		}
	})
	inBubble(t, "kept", func(t *testing.T) {
		r := newRig(t)
		l := lease("a")
		l.Spec.Keep, l.Spec.Name = true, "mine"
		cut := r.hold(l)
		id := r.must("a", "echo").exit.Sandbox
		cut()
		r.fleet.Release("a")
		r.now("it is nobody's", func() bool { return r.box(id).Lease == "" })
		r.clock.Advance(10 * time.Minute)
		if s := r.box(id); s.EndReason != "" || len(r.cloud.ended) != 0 {
			t.Errorf("it ended: %+v", s)
		}
		// Another lease shares it by its name.
		other := lease("b")
		other.Spec.Name = "mine"
		r.hold(other)
		if res := r.must("b", "echo"); res.exit.Sandbox != id {
			t.Errorf("the other lease has %s, want %s", res.exit.Sandbox, id)
		}
	})
	inBubble(t, "while it is being made", func(t *testing.T) {
		r := newRig(t)
		wait := make(chan struct{})
		r.cloud.run = func(int) (bool, error) {
			<-wait
			return true, nil
		}
		cut := r.hold(lease("a"))
		r.exec("a", "echo")
		r.now("it is asked for", func() bool { return len(r.fleet.Snapshot().Sandboxes) == 1 })
		cut()
		r.fleet.Release("a")
		close(wait)
		r.now("it ends as soon as it is there", func() bool { return r.box("vm-1").EndReason == sandbox.EndClosed })
	})
}

// TestTwins starts two bridges for one connection, as some hosts do.
func TestTwins(t *testing.T) {
	twin := func(id, parent string) sandbox.Lease {
		return sandbox.Lease{ID: id, Connection: "c", Parent: parent}
	}
	current := func(t *testing.T, r *rig, lease string) string {
		t.Helper()
		list, err := r.fleet.List(t.Context(), sandbox.ListRequest{Lease: lease})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Current {
				return s.ID
			}
		}
		return ""
	}
	inBubble(t, "share until the second makes a call", func(t *testing.T) {
		r := newRig(t)
		r.hold(twin("a", "p"))
		id := r.must("a", "echo").exit.Sandbox
		r.clock.Advance(90 * time.Second)
		r.hold(twin("b", "p"))
		if got := current(t, r, "b"); got != id || r.cloud.runs != 1 {
			t.Errorf("the second has %q after %d creates, want %s after 1", got, r.cloud.runs, id)
		}
		own := r.must("b", "echo").exit.Sandbox
		if own == id || current(t, r, "b") != own || current(t, r, "a") != id {
			t.Errorf("after its own call the second has %s, the first %s", current(t, r, "b"), current(t, r, "a"))
		}
	})
	inBubble(t, "inherit", func(t *testing.T) {
		r := newRig(t)
		cut := r.hold(twin("a", "p"))
		id := r.must("a", "echo").exit.Sandbox
		r.hold(twin("b", "p"))
		cut()
		r.fleet.Release("a")
		if res := r.must("b", "echo"); res.exit.Sandbox != id || r.box(id).Lease != "b" {
			t.Errorf("the second has %s, want %s", res.exit.Sandbox, id)
		}
	})
	for name, second := range map[string]sandbox.Lease{
		"another parent":     twin("b", "q"),
		"no parent":          twin("b", ""),
		"another connection": {ID: "b", Connection: "d", Parent: "p"},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := newRig(t)
			r.hold(twin("a", "p"))
			r.must("a", "echo")
			r.hold(second)
			if got := current(t, r, "b"); got != "" {
				t.Errorf("the second has %s", got)
			}
		})
	}
	inBubble(t, "too late", func(t *testing.T) {
		r := newRig(t)
		r.hold(twin("a", "p"))
		r.must("a", "echo")
		r.clock.Advance(3 * time.Minute)
		r.hold(twin("b", "p"))
		if got := current(t, r, "b"); got != "" {
			t.Errorf("the second has %s", got)
		}
	})
}

// TestGone loses the sandbox in each way. A call is told, once, and the one
// after it gets a new one with a notice.
func TestGone(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(r *rig, id string)
		why  sandbox.EndReason
	}{
		{"its time is up", func(r *rig, id string) {
			r.cloud.set(id, func(vm *fleet.VM) { vm.State, vm.Reason = sandbox.Terminated, "The MicroVM exceeded maximum lifetime." })
		}, sandbox.EndExpired},
		{"its program ended", func(r *rig, id string) {
			r.cloud.set(id, func(vm *fleet.VM) {
				vm.State, vm.Reason = sandbox.Terminated, "Container Stopped with Exit Code: 1"
			})
		}, sandbox.EndFailed},
		{"ended by somebody else", func(r *rig, id string) {
			r.cloud.set(id, func(vm *fleet.VM) { vm.State, vm.Reason = sandbox.Terminated, "Success." })
		}, sandbox.EndAsked},
		{"unknown to the cloud", func(r *rig, id string) {
			r.cloud.mu.Lock()
			defer r.cloud.mu.Unlock()
			delete(r.cloud.vms, id)
		}, sandbox.EndVanished},
		{"the cloud ended", func(r *rig, _ string) {
			r.cloud.mu.Lock()
			defer r.cloud.mu.Unlock()
			r.cloud.down = true
		}, sandbox.EndCloud},
	} {
		for _, found := range []string{"by a call", "by looking"} {
			inBubble(t, tt.name+", found "+found, func(t *testing.T) {
				r := newRig(t)
				r.hold(lease("a"))
				id := r.must("a", "echo").exit.Sandbox
				tt.lose(r, id)
				if found == "by looking" {
					r.turn("it is found", 3*time.Minute, func() bool { return r.box(id).EndReason != "" })
				}
				res := r.exec("a", "echo")
				r.turn("the call ends", time.Second, res.over)
				if sandbox.CodeOf(res.err) != sandbox.Gone {
					t.Errorf("the first call: %v", res.err)
				}
				if got := r.box(id).EndReason; got != tt.why {
					t.Errorf("it ended for %q, want %q", got, tt.why)
				}
				r.cloud.mu.Lock()
				r.cloud.down = false
				r.cloud.vms["spare"] = &fleet.VM{ID: "spare", State: sandbox.Terminated} // so that no id comes twice
				r.cloud.mu.Unlock()
				if next := r.must("a", "echo"); next.exit.Sandbox == id || !next.told(sandbox.NoticeReplaced) {
					t.Errorf("the next: in %s, notices %v", next.exit.Sandbox, next.notices)
				}
				if third := r.must("a", "echo"); third.told(sandbox.NoticeReplaced) {
					t.Error("it is told twice")
				}
			})
		}
	}
}
