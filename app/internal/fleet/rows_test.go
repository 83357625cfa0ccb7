package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A sandbox that its cloud does not end in time is ended from here, and whoever
// works in it is told.
func TestR08_R72_OutlivesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := lease("a")
		l.Spec.Timeout = 10 * time.Minute
		r.hold(l)
		id := r.must("a", "echo").exit.Sandbox
		r.clock.Advance(10*time.Minute - time.Second)
		if b := r.box(id); b.State != sandbox.Running {
			t.Fatalf("before its time: %+v", b)
		}
		took := r.turn("it is ended", time.Minute, func() bool { return r.box(id).State == sandbox.Terminated })
		if took < time.Second {
			t.Errorf("ended %v early", time.Second-took)
		}
		r.cloud.mu.Lock()
		ended := len(r.cloud.ended)
		r.cloud.mu.Unlock()
		if b := r.box(id); ended != 1 || b.EndReason != sandbox.EndExpired {
			t.Errorf("%d calls to end it, for %s", ended, b.EndReason)
		}
		res := r.exec("a", "echo")
		r.now("the next call ends", res.over)
		if sandbox.CodeOf(res.err) != sandbox.Gone {
			t.Errorf("the next call: %v", res.err)
		}
		if again := r.must("a", "echo"); again.exit.Sandbox == id || !again.told(sandbox.NoticeReplaced) {
			t.Errorf("the one after it: in %s, notices %v", again.exit.Sandbox, again.notices)
		}
	})
}

// A lease that is given back twice ends its sandbox once, and a cloud that does
// not know that any more is content.
func TestRX2_ClosedTwice(t *testing.T) {
	for name, refusal := range map[string]error{"there": nil, "gone": &sandbox.Error{Code: sandbox.NotFound, Msg: "no such VM"}} {
		inBubble(t, name, func(t *testing.T) {
			r := newRig(t)
			cut := r.hold(lease("a"))
			id := r.must("a", "echo").exit.Sandbox
			asked := 0
			r.cloud.mu.Lock()
			r.cloud.term = func() error {
				asked++
				return refusal
			}
			r.cloud.mu.Unlock()
			for range 2 {
				if err := r.fleet.Release("a"); err != nil {
					t.Errorf("Release: %v", err)
				}
			}
			cut()
			r.now("it has ended", func() bool { return r.box(id).EndReason == sandbox.EndClosed })
			if err := r.fleet.Release("a"); err != nil {
				t.Errorf("Release once more: %v", err)
			}
			r.clock.Advance(time.Minute) // time for a cut lease to end
			if err := r.fleet.Terminate(t.Context(), id, ""); err != nil {
				t.Errorf("Terminate of one that has ended: %v", err)
			}
			r.cloud.mu.Lock()
			defer r.cloud.mu.Unlock()
			if asked != 1 {
				t.Errorf("the cloud was asked %d times to end it", asked)
			}
		})
	}
}

// An access token that is asked for is the one of the sandbox, over a restart
// too; else each has its own. No record holds it.
func TestAccessToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const token = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
		r := newRig(t)
		l := lease("a")
		l.Spec.AccessToken = token
		r.hold(l)
		r.hold(lease("b"))
		r.hold(lease("c"))
		for _, name := range []string{"a", "b", "c"} {
			r.must(name, "echo")
		}
		seen := map[string]int{}
		r.cloud.mu.Lock()
		for _, asked := range r.cloud.asked {
			seen[asked.Secret]++
		}
		r.cloud.mu.Unlock()
		if len(seen) != 3 || seen[token] != 1 {
			t.Errorf("%d tokens for 3 sandboxes, the one asked for %d times", len(seen), seen[token])
		}
		for _, kind := range []string{"box", "run"} {
			for _, text := range r.store.All(kind) {
				if contains(text, token) {
					t.Errorf("a record holds the token: %s", text)
				}
			}
		}
	})
}

// A sandbox that its cloud is just putting to sleep or waking takes no call.
// Whoever calls is told to come back, and finds the same one.
func TestR71_TransitionKeepsTheSandbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		r.cloud.mu.Lock()
		r.cloud.changes = 1
		r.cloud.mu.Unlock()
		res := r.exec("a", "echo")
		r.turn("the call ends", time.Minute, res.over)
		if e := sandbox.ToError(res.err); e.Code != sandbox.InTransition || !e.Retryable {
			t.Errorf("the call: %v", res.err)
		}
		if again := r.must("a", "echo", "x"); again.exit.Sandbox != id || again.data != "[x]" || r.cloud.runs != 1 || again.told(sandbox.NoticeReplaced) {
			t.Errorf("the next call: %q in %s, was in %s; %d creates, notices %v", again.data, again.exit.Sandbox, id, r.cloud.runs, again.notices)
		}
	})
}
