package fleet_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A sandbox that was put to sleep wakes for a call, also one that its cloud
// would let sleep on.
func TestCallWakes(t *testing.T) {
	for _, idle := range []time.Duration{0, 5 * time.Minute} {
		inBubble(t, idle.String(), func(t *testing.T) {
			r := newRig(t)
			l := lease("a")
			l.Spec.Idle = idle
			r.hold(l)
			id := r.must("a", "echo").exit.Sandbox
			if b, err := r.fleet.Suspend(t.Context(), id); err != nil || b.State != sandbox.Suspended {
				t.Fatalf("Suspend: %s, %v", b.State, err)
			}
			res := r.must("a", "echo", "x")
			if res.data != "[x]" || res.exit.Sandbox != id || !res.told(sandbox.NoticeResuming) {
				t.Errorf("said %q in %s, notices %v", res.data, res.exit.Sandbox, res.notices)
			}
			if got := r.box(id).State; got != sandbox.Running {
				t.Errorf("state = %s", got)
			}
		})
	}
}

// A sandbox that nobody waits for any more, and that nobody could know of, is
// not left behind.
func TestCreateGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		asked, answer := make(chan bool), make(chan bool)
		r.cloud.run = func(int) (bool, error) {
			asked <- true
			<-answer
			return true, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := r.fleet.Create(ctx, sandbox.Spec{})
			done <- err
		}()
		<-asked
		cancel()
		if err := <-done; sandbox.CodeOf(err) != sandbox.Canceled {
			t.Errorf("Create: %v", err)
		}
		answer <- true
		r.turn("it ends", time.Minute, func() bool { return r.cloud.alive() == 0 && r.box("vm-1").EndReason == sandbox.EndClosed })
	})
}
