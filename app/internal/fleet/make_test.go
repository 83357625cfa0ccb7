package fleet_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

func doubt() error { return &sandbox.Error{Code: sandbox.CreateInDoubt, Msg: "lost"} }

// TestAnswerLost asks again with the same token where an answer was lost.
func TestAnswerLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, acted := range []bool{true, false} {
			r := newRig(t)
			r.cloud.run = func(n int) (bool, error) {
				if n < 4 {
					return acted, doubt()
				}
				return true, nil
			}
			r.hold(lease("a"))
			res := r.exec("a", "echo")
			r.now("it is in doubt", func() bool {
				s := r.fleet.Snapshot().Sandboxes
				return len(s) == 1 && s[0].State == sandbox.InDoubt
			})
			r.turn("the call ends", time.Minute, res.over)
			if res.err != nil || len(r.cloud.vms) != 1 || len(r.cloud.tokens) != 1 {
				t.Errorf("acted %v: %v; %d VMs for %d tokens", acted, res.err, len(r.cloud.vms), len(r.cloud.tokens))
			}
		}
	})
}

// TestFoundInList adopts the one VM that may be the one in doubt.
func TestFoundInList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud.run = func(n int) (bool, error) { return n == 1, doubt() }
		r.hold(lease("a"))
		res := r.exec("a", "echo")
		r.turn("the call ends", 5*time.Minute, res.over)
		if res.err != nil || res.exit.Sandbox != "vm-1" {
			t.Errorf("the call: %v in %s", res.err, res.exit.Sandbox)
		}
		if next := r.must("a", "echo"); next.exit.Sandbox != "vm-1" || len(r.cloud.tokens) != 1 {
			t.Errorf("the next call: in %s, %d tokens", next.exit.Sandbox, len(r.cloud.tokens))
		}
	})
}

// TestNeverWas gives up on a VM that does not turn up, and not before time.
func TestNeverWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud.run = func(int) (bool, error) { return false, doubt() }
		r.hold(lease("a"))
		res := r.exec("a", "echo")
		r.turn("the call ends", 5*time.Minute, res.over)
		again := r.exec("a", "echo")
		r.turn("the next call ends", time.Minute, again.over)
		if sandbox.CodeOf(again.err) != sandbox.CreateInDoubt || len(r.cloud.asked) != 1 {
			t.Errorf("the next call: %v, %d tokens", again.err, len(r.cloud.asked))
		}
		took := r.turn("it is given up", time.Hour, func() bool { return r.fleet.Alive() == 0 })
		if took < 20*time.Minute {
			t.Errorf("given up after %s", took)
		}
		r.cloud.mu.Lock()
		r.cloud.run = nil
		r.cloud.mu.Unlock()
		r.must("a", "echo")
		if len(r.cloud.asked) != 2 {
			t.Errorf("%d tokens, want a second", len(r.cloud.asked))
		}
	})
}

// TestR68_NotMade has the cloud refuse. The lease stays empty, and the next call
// tries again.
func TestR68_NotMade(t *testing.T) {
	for _, tt := range []struct{ refusal, want sandbox.Code }{
		{sandbox.Quota, sandbox.Quota},
		{sandbox.Capacity, sandbox.Capacity},
		{sandbox.Access, sandbox.Access},
		{sandbox.Invalid, sandbox.Invalid},
		{sandbox.NotFound, sandbox.CreateFailed},
	} {
		inBubble(t, string(tt.refusal), func(t *testing.T) {
			r := newRig(t)
			r.cloud.run = func(n int) (bool, error) {
				if n == 1 {
					return false, &sandbox.Error{Code: tt.refusal, Msg: "no"}
				}
				return true, nil
			}
			r.hold(lease("a"))
			res := r.exec("a", "echo")
			r.now("the call ends", res.over)
			if sandbox.CodeOf(res.err) != tt.want {
				t.Errorf("the call: %v, want %s", res.err, tt.want)
			}
			if r.fleet.Alive() != 0 || len(r.store.secrets) != 0 || len(r.store.All("box")) != 0 {
				t.Errorf("left: %d alive, %d keys, %d records", r.fleet.Alive(), len(r.store.secrets), len(r.store.All("box")))
			}
			r.must("a", "echo")
			if len(r.cloud.asked) != 2 {
				t.Errorf("%d tokens for two attempts", len(r.cloud.asked))
			}
		})
	}
}

// TestThrottled waits out a cloud that asks for patience.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud.run = func(n int) (bool, error) {
			if n < 4 {
				return false, &sandbox.Error{Code: sandbox.RateLimited, Msg: "slow down"}
			}
			return true, nil
		}
		r.hold(lease("a"))
		res := r.exec("a", "echo")
		r.turn("the call ends", time.Minute, res.over)
		if res.err != nil || len(r.cloud.asked) != 1 {
			t.Errorf("the call: %v, %d tokens", res.err, len(r.cloud.asked))
		}
	})
}

// TestWrittenDownFirst has a full disk: nothing is asked for that could not be
// found again, and what is there can still be ended.
func TestWrittenDownFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		r.hold(lease("b"))
		id := r.must("a", "echo").exit.Sandbox
		r.store.mu.Lock()
		r.store.full = true
		r.store.mu.Unlock()
		runs := r.cloud.runs
		res := r.exec("b", "echo")
		r.now("the call ends", res.over)
		if sandbox.CodeOf(res.err) != sandbox.StoreDown || r.cloud.runs != runs {
			t.Errorf("the call: %v, %d creates", res.err, r.cloud.runs-runs)
		}
		if err := r.fleet.Terminate(t.Context(), id, ""); err != nil || len(r.cloud.ended) != 1 {
			t.Errorf("terminate: %v, ended %v", err, r.cloud.ended)
		}
	})
}

// TestBusy meets a sandbox that takes no more calls for a moment.
func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		r.must("a", "echo")
		r.cloud.mu.Lock()
		r.cloud.busy = 5
		r.cloud.mu.Unlock()
		res := r.exec("a", "echo", "x")
		r.turn("the call ends", 10*time.Second, res.over)
		if res.err != nil || res.data != "[x]" {
			t.Errorf("the call: %v, said %q", res.err, res.data)
		}
	})
}

// TestTerminateAgain does not stop before the cloud says yes.
func TestTerminateAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		tries := 0
		r.cloud.term = func() error {
			if tries++; tries < 5 {
				return &sandbox.Error{Code: sandbox.RateLimited, Msg: "slow down"}
			}
			return nil
		}
		r.fleet.Release("a")
		r.turn("it ends", time.Minute, func() bool { return r.box(id).State == sandbox.Terminated })
		if r.cloud.alive() != 0 || tries != 5 {
			t.Errorf("%d alive after %d tries", r.cloud.alive(), tries)
		}
	})
}

// TestTerminateSaysWhyNot has whoever ends a sandbox told in time what is in the
// way, and has it end at once when that is gone.
func TestTerminateSaysWhyNot(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code sandbox.Code
		took time.Duration
	}{
		{"no profile", &sandbox.Error{Code: sandbox.Access, Msg: "there is no profile lab", Hint: "add it"}, sandbox.Access, 0},
		{"no answer", &sandbox.Error{Code: sandbox.CloudDown, Msg: "the cloud does not answer", Retryable: true}, sandbox.CloudDown, 30 * time.Second},
	}
	for _, tt := range tests {
		inBubble(t, tt.name, func(t *testing.T) {
			r := newRig(t)
			r.hold(lease("a"))
			id := r.must("a", "echo").exit.Sandbox
			wrong := tt.err
			r.cloud.term = func() error { return wrong }
			begun := r.clock.Now()
			err := r.fleet.Terminate(t.Context(), id, "")
			e, ok := errors.AsType[*sandbox.Error](err)
			if !ok || e.Code != tt.code || !strings.Contains(e.Msg, sandbox.ToError(tt.err).Msg) || e.Details["sandbox_id"] != id {
				t.Errorf("Terminate() = %v, want %v", err, tt.err)
			}
			if took := r.clock.Since(begun); took != tt.took {
				t.Errorf("it took %v, want %v", took, tt.took)
			}
			r.clock.Advance(time.Minute * 10) // until it is tried rarely
			r.cloud.mu.Lock()
			wrong = nil
			r.cloud.mu.Unlock()
			begun = r.clock.Now()
			if err := r.fleet.Terminate(t.Context(), id, ""); err != nil || r.clock.Since(begun) != 0 || r.cloud.alive() != 0 {
				t.Errorf("again: %v after %v, %d live", err, r.clock.Since(begun), r.cloud.alive())
			}
		})
	}
}

// TestRemoval ends a sandbox at a time that was asked for.
func TestRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		at := r.clock.Now().Add(10 * time.Minute)
		if _, err := r.fleet.ScheduleRemoval(t.Context(), id, at.Add(5*time.Hour)); sandbox.CodeOf(err) != sandbox.CannotExtend {
			t.Errorf("beyond its life: %v", err)
		}
		_, err := r.fleet.ScheduleRemoval(t.Context(), id, at.AddDate(-1, 0, 0))
		if e := sandbox.ToError(err); e.Code != sandbox.Invalid || e.Details["now"] != r.clock.Now().UTC().Format(time.RFC3339) {
			t.Errorf("a year ago: %v, %v", err, e.Details)
		}
		r.clock.Advance(time.Second)
		if s := r.box(id); !s.State.Alive() {
			t.Errorf("it is %s for having been told to end a year ago", s.State)
		}
		last := r.box(id).EndsAt
		if s, err := r.fleet.ScheduleRemoval(t.Context(), id, at); err != nil || !s.EndsAt.Equal(at) || !s.Extendable.Equal(last) {
			t.Errorf("earlier: %+v, %v", s, err)
		}
		if s, err := r.fleet.ScheduleRemoval(t.Context(), id, last); err != nil || !s.EndsAt.Equal(last) || !s.Extendable.IsZero() {
			t.Errorf("as late as can be: %+v, %v", s, err)
		}
		if s, err := r.fleet.ScheduleRemoval(t.Context(), id, at); err != nil || !s.EndsAt.Equal(at) {
			t.Errorf("earlier again: %+v, %v", s, err)
		}
		r.clock.Advance(9 * time.Minute)
		if s := r.box(id); s.EndReason != "" {
			t.Errorf("it ended too early: %s", s.EndReason)
		}
		r.turn("it ends", 2*time.Minute, func() bool { return r.box(id).EndReason == sandbox.EndRemoval })
		if s := r.box(id); !s.Extendable.IsZero() {
			t.Errorf("ended, it can go on until %s", s.Extendable)
		}
		id = r.must("a", "echo").exit.Sandbox
		now := r.clock.Now()
		if s, err := r.fleet.ScheduleRemoval(t.Context(), id, now.Add(-2*time.Second)); err != nil || s.EndsAt.Before(now) {
			t.Errorf("just now: ends at %s, %v", s.EndsAt, err)
		}
		r.turn("it ends at once", time.Second, func() bool { return r.box(id).EndReason == sandbox.EndRemoval })
	})
}

// TestLife asks for the life and the idle time of the spec.
func TestLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := lease("a")
		l.Spec = sandbox.Spec{Timeout: 20 * time.Minute, Idle: 2 * time.Minute, Env: map[string]string{"A": "secret"}}
		r.hold(l)
		id := r.must("a", "echo").exit.Sandbox
		var asked fleet.RunRequest
		for _, asked = range r.cloud.asked {
		}
		if asked.Life != 20*time.Minute || asked.Idle != 2*time.Minute || asked.Env["A"] != "secret" {
			t.Errorf("asked for %+v", asked)
		}
		if s := r.box(id); s.EndsAt.Sub(s.StartedAt) != 20*time.Minute {
			t.Errorf("it ends %s after its start", s.EndsAt.Sub(s.StartedAt))
		}
		for _, text := range r.store.All("box") {
			for _, secret := range []string{"secret", asked.Secret} {
				if contains(text, secret) {
					t.Errorf("the record holds a secret: %s", text)
				}
			}
		}
	})
}

// TestCloudEndsInCreate has the cloud end before the agent of a new sandbox has
// answered: that is known soon, and not when the time to get ready is up.
func TestCloudEndsInCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.cloud.changes = 1000
		r.hold(lease("a"))
		res := r.exec("a", "echo")
		r.now("it is asked whether it is ready", func() bool {
			r.cloud.mu.Lock()
			defer r.cloud.mu.Unlock()
			return r.cloud.healths > 0
		})
		r.cloud.mu.Lock()
		r.cloud.down = true
		r.cloud.mu.Unlock()
		r.turn("the call ends", 5*time.Second, res.over)
		if sandbox.CodeOf(res.err) != sandbox.CreateFailed {
			t.Errorf("the call: %v", res.err)
		}
		r.cloud.mu.Lock()
		r.cloud.down, r.cloud.changes, r.cloud.vms = false, 0, map[string]*fleet.VM{}
		r.cloud.mu.Unlock()
		r.must("a", "echo")
	})
}

// TestEndedWhilePending ends a sandbox whose agent does not answer yet: whoever
// waits for it is told that it is gone, and the engine goes on.
func TestEndedWhilePending(t *testing.T) {
	inBubble(t, "terminate", func(t *testing.T) {
		r := newRig(t)
		r.cloud.mu.Lock()
		r.cloud.changes = 1 << 30 // no agent ever answers
		r.cloud.mu.Unlock()
		made := make(chan error, 1)
		go func() {
			_, err := r.fleet.Create(t.Context(), sandbox.Spec{Template: "image"})
			made <- err
		}()
		r.turn("it has an id", time.Minute, func() bool {
			all := r.fleet.Snapshot().Sandboxes
			return len(all) == 1 && all[0].ID != ""
		})
		if err := r.fleet.Terminate(t.Context(), r.fleet.Snapshot().Sandboxes[0].ID, ""); err != nil {
			t.Fatal(err)
		}
		r.turn("the wait for it ends", time.Minute, func() bool { return len(made) == 1 })
		if err := <-made; sandbox.CodeOf(err) != sandbox.Gone {
			t.Errorf("Create() = %v, want that it is gone", err)
		}
		if r.cloud.alive() != 0 {
			t.Error("it lives on")
		}
	})
}
