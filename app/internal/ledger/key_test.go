package ledger_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// keyed asks with a key of the caller.
func keyed(o sandbox.Order, key, hash string) ledger.Want {
	return ledger.Want{Order: o, Tool: "create_sandbox", Key: key, Hash: hash}
}

// unkeyed asks without one.
func unkeyed(o sandbox.Order, hash string) ledger.Want {
	return ledger.Want{Order: o, Tool: "create_sandbox", Hash: hash, Implicit: true}
}

// wantFound asks and checks what came of it: Look has to say the same.
func (r *rig) wantFound(w ledger.Want, outcome ledger.Outcome, id string) {
	r.t.Helper()
	look, err := r.Look(r.ctx(), w)
	r.must(err)
	found, err := r.Reserve(r.ctx(), w)
	r.must(err)
	if found.Outcome != outcome || look.Outcome != outcome || found.Order.ID != id {
		r.t.Fatalf("found %s %s, looked %s; want %s %s", found.Outcome, found.Order.ID, look.Outcome, outcome, id)
	}
}

// TestKey asks with one key at each stage of what it made.
func TestKey(t *testing.T) {
	r := newRig(t)
	g, g2 := r.grant("agent", 1000), r.grant("other", 1000)
	o := order("a", g.ID, 1000)
	again := order("b", g.ID, 1000) // there is no room for a second one
	r.wantFound(keyed(o, "k", "h"), ledger.Fresh, "a")
	r.wantFound(keyed(again, "k", "h"), ledger.InFlight, "a")
	r.wantFound(keyed(again, "k", "x"), ledger.Reused, "")
	r.must(r.Advance(r.ctx(), "a", sandbox.OrderCreating, nil))
	r.wantFound(keyed(again, "k", "h"), ledger.InFlight, "a")
	r.must(r.Advance(r.ctx(), "a", sandbox.OrderInDoubt, nil))
	r.wantFound(keyed(again, "k", "h"), ledger.InDoubt, "a")
	r.must(r.Advance(r.ctx(), "a", sandbox.OrderRunning, nil))
	r.wantFound(keyed(again, "k", "h"), ledger.Replay, "a")
	r.wantFound(keyed(again, "k", "x"), ledger.Reused, "")
	r.settle("a", 0)
	r.wantFound(keyed(again, "k", "h"), ledger.Replay, "a")
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 0)

	r.wantFound(keyed(order("c", g2.ID, 1), "k", "h"), ledger.Fresh, "c") // of another grant
	w := keyed(order("d", g.ID, 1), "k", "h")
	w.Tool = "rent_gpu"
	r.wantFound(w, ledger.Fresh, "d")
	r.wantFound(keyed(order("e", g.ID, 1), "K", "h"), ledger.Fresh, "e")
	r.wantClean()

	_, err := r.Revoke(r.ctx(), g.ID)
	r.must(err)
	_, err = r.Reserve(r.ctx(), keyed(again, "k", "h"))
	r.wantCode(err, sandbox.TokenRevoked)
}

// TestKeyLife keeps a key for a day after it was first used and after the end of
// what it made, whichever is later.
func TestKeyLife(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", -1)
	r.wantFound(keyed(order("a", g.ID, 1), "short", "h"), ledger.Fresh, "a")
	r.run("a")
	r.settle("a", 1)
	r.wantFound(keyed(order("b", g.ID, 1), "long", "h"), ledger.Fresh, "b")
	r.run("b")
	r.clock.Advance(24*time.Hour - 1)
	r.wantFound(keyed(order("c", g.ID, 1), "short", "h"), ledger.Replay, "a")
	r.clock.Advance(1)
	r.wantFound(keyed(order("c", g.ID, 1), "short", "h"), ledger.Fresh, "c")
	r.wantFound(keyed(order("d", g.ID, 1), "long", "h"), ledger.Replay, "b") // it runs
	r.clock.Advance(72 * time.Hour)
	r.wantFound(keyed(order("d", g.ID, 1), "long", "h"), ledger.Replay, "b")
	r.settle("b", 1)
	r.clock.Advance(24*time.Hour - 1)
	r.wantFound(keyed(order("d", g.ID, 1), "long", "h"), ledger.Replay, "b")
	r.clock.Advance(1)
	r.wantFound(keyed(order("d", g.ID, 1), "long", "x"), ledger.Fresh, "d")
	r.wantClean()
}

// TestKeyOfNothing is free again when nothing came of what it asked for.
func TestKeyOfNothing(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", -1)
	r.wantFound(keyed(order("a", g.ID, 1), "k", "h"), ledger.Fresh, "a")
	r.must(r.Release(r.ctx(), "a", sandbox.EndFailed))
	r.wantFound(keyed(order("b", g.ID, 1), "k", "other"), ledger.Fresh, "b")
	r.must(r.Release(r.ctx(), "a", sandbox.EndFailed)) // once more: it takes no key of another
	r.wantFound(keyed(order("c", g.ID, 1), "k", "other"), ledger.InFlight, "b")
	r.wantClean()
}

// Test8_InFlight has twenty ask for the same at once: one is opened.
func Test8_InFlight(t *testing.T) {
	for _, implicit := range []bool{false, true} {
		t.Run(fmt.Sprint(implicit), func(t *testing.T) {
			r := newRig(t)
			g := r.grant("agent", -1)
			var fresh, flying atomic.Int64
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					w := keyed(order(fmt.Sprint(i), g.ID, 1), "k", "h")
					if implicit {
						w = unkeyed(w.Order, "h")
					}
					found, err := r.Reserve(r.ctx(), w)
					switch {
					case err != nil:
						t.Error(err)
					case found.Outcome == ledger.Fresh:
						fresh.Add(1)
					case found.Outcome == ledger.InFlight && found.Order.ID != "":
						flying.Add(1)
					}
				})
			}
			wg.Wait()
			if fresh.Load() != 1 || flying.Load() != 19 {
				t.Errorf("%d fresh, %d in flight", fresh.Load(), flying.Load())
			}
			r.wantClean()
		})
	}
}

// Test9_A37_Window asks for the same without a key inside of ten minutes and
// after them.
func Test9_A37_Window(t *testing.T) {
	r := newRig(t)
	g, g2 := r.grant("agent", -1), r.grant("other", -1)
	r.wantFound(unkeyed(order("a", g.ID, 1), "h"), ledger.Fresh, "a")
	r.run("a")
	r.clock.Advance(300 * time.Second)
	r.wantFound(unkeyed(order("b", g.ID, 1), "h"), ledger.Replay, "a") // does not prolong it
	r.wantFound(unkeyed(order("b", g.ID, 1), "other name"), ledger.Fresh, "b")
	r.wantFound(unkeyed(order("c", g2.ID, 1), "h"), ledger.Fresh, "c")
	r.wantFound(keyed(order("d", g.ID, 1), "h", "h"), ledger.Fresh, "d") // a key of the same text is none of these
	r.clock.Advance(299*time.Second + 999*time.Millisecond)
	r.wantFound(unkeyed(order("e", g.ID, 1), "h"), ledger.Replay, "a")
	r.clock.Advance(time.Millisecond) // 600 s
	r.wantFound(unkeyed(order("e", g.ID, 1), "h"), ledger.Fresh, "e")
	r.clock.Advance(599 * time.Second) // a window of its own
	r.wantFound(unkeyed(order("f", g.ID, 1), "h"), ledger.InFlight, "e")
	r.clock.Advance(time.Second)
	r.wantFound(unkeyed(order("f", g.ID, 1), "h"), ledger.Fresh, "f")
	r.run("f")
	r.settle("f", 1) // it has ended: who asks wants another
	r.wantFound(unkeyed(order("g", g.ID, 1), "h"), ledger.Fresh, "g")
	r.must(r.Release(r.ctx(), "g", sandbox.EndFailed))
	r.wantFound(unkeyed(order("h", g.ID, 1), "h"), ledger.Fresh, "h")
	r.wantClean()
}

// TestKeyInvalid asks with what is no key.
func TestKeyInvalid(t *testing.T) {
	r := newRig(t)
	both := unkeyed(order("a", sandbox.GrantOwner, 1), "h")
	both.Key = "k"
	for _, w := range []ledger.Want{
		keyed(order("a", sandbox.GrantOwner, 1), "k", ""), unkeyed(order("a", sandbox.GrantOwner, 1), ""), both,
		want(order("", sandbox.GrantOwner, 1)), want(order("a", "", 1)),
	} {
		_, err := r.Reserve(r.ctx(), w)
		r.wantCode(err, sandbox.Invalid)
	}
	r.reserve(order("a", sandbox.GrantOwner, 1))
	_, err := r.Reserve(r.ctx(), want(order("a", sandbox.GrantOwner, 1)))
	r.wantCode(err, sandbox.Exists)
	r.wantBudget(sandbox.LevelGlobal, "", 0, 1)
}
