package fleet_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

func contains(text []byte, part string) bool { return part != "" && bytes.Contains(text, []byte(part)) }

// TestRestart finds a lease's sandbox again.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		r.restart()
		r.hold(lease("a"))
		if res := r.must("a", "echo"); res.exit.Sandbox != id || r.cloud.runs != 1 || res.told(sandbox.NoticeReplaced) {
			t.Errorf("after a restart: in %s, %d creates", res.exit.Sandbox, r.cloud.runs)
		}
	})
}

// TestRestartWithBadRecords has the disk spoil two records: the fleet starts,
// with all that can be read.
func TestRestartWithBadRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		for _, kind := range []string{"box", "run"} {
			for key, text := range map[string]string{"of no kind": `7`, "of another": `{}`, "list": `[]`} {
				if err := r.store.Put(kind, key, []byte(text), true); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.restart()
		r.hold(lease("a"))
		if res := r.must("a", "echo"); res.exit.Sandbox != id || r.cloud.runs != 1 {
			t.Errorf("after a restart: in %s, %d creates", res.exit.Sandbox, r.cloud.runs)
		}
	})
}

// TestRestartAlone ends what nobody comes back for.
func TestRestartAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		r.restart()
		r.clock.Advance(9 * time.Second)
		if s := r.box(id); s.EndReason != "" {
			t.Errorf("after 9 s: %s", s.EndReason)
		}
		r.turn("it ends", 2*time.Second, func() bool { return r.box(id).EndReason == sandbox.EndCut })
	})
}

// TestRestartInCreate ends the engine between the request and its answer.
func TestRestartInCreate(t *testing.T) {
	for _, acted := range []bool{true, false} {
		for _, back := range []bool{true, false} {
			inBubble(t, fmt.Sprintf("acted %v, bridge back %v", acted, back), func(t *testing.T) {
				r := newRig(t)
				asked := make(chan struct{})
				r.cloud.run = func(n int) (bool, error) {
					if n == 1 {
						close(asked)
						return acted, doubt()
					}
					return true, nil
				}
				r.hold(lease("a"))
				r.exec("a", "echo")
				<-asked
				r.restart()
				if back {
					r.hold(lease("a"))
					res := r.exec("a", "echo")
					r.turn("the call ends", 5*time.Second, res.over)
					if res.err != nil || len(r.cloud.vms) != 1 {
						t.Errorf("the call: %v; %d VMs", res.err, len(r.cloud.vms))
					}
					return
				}
				r.turn("nothing is left", time.Minute, func() bool { return r.fleet.Alive() == 0 && r.cloud.alive() == 0 })
			})
		}
	}
}

// TestRestartInCreateOfNobodys ends the engine while a sandbox is made that is
// no lease's. Who asked for it asks again, and gets that one; if nobody does,
// nothing is left.
func TestRestartInCreateOfNobodys(t *testing.T) {
	for _, back := range []bool{true, false} {
		inBubble(t, fmt.Sprintf("back %v", back), func(t *testing.T) {
			r := newRig(t)
			r.cloud.run = func(n int) (bool, error) { return true, map[bool]error{true: doubt()}[n == 1] }
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			spec := sandbox.Spec{Key: "key-1", Name: "mine"}
			first := make(chan error, 1)
			go func() {
				_, err := r.fleet.Create(ctx, spec)
				first <- err
			}()
			r.now("it is in doubt", func() bool { return r.fleet.Snapshot().Sandboxes[0].State == sandbox.InDoubt })
			r.restart()
			if err := <-first; sandbox.CodeOf(err) != sandbox.Unreachable {
				t.Errorf("the first: %v", err)
			}
			if !back {
				r.turn("nothing is left", time.Minute, func() bool { return r.fleet.Alive() == 0 && r.cloud.alive() == 0 })
				return
			}
			r.clock.Advance(grace - time.Second)
			for range 2 {
				if s, err := r.fleet.Create(t.Context(), spec); err != nil || s.ID != "vm-1" || s.Name != "mine" {
					t.Errorf("the same again: %+v, %v", s, err)
				}
			}
			r.clock.Advance(10 * time.Minute)
			if r.cloud.alive() != 1 || len(r.cloud.tokens) != 1 {
				t.Errorf("%d VMs for %d tokens, want one", r.cloud.alive(), len(r.cloud.tokens))
			}
		})
	}
}

const grace = 10 * time.Second // that a fleet gives those who may be back

// TestRestartInEnd takes up an end that was decided.
func TestRestartInEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		r.cloud.mu.Lock()
		r.cloud.term = func() error { return &sandbox.Error{Code: sandbox.RateLimited, Msg: "slow down"} }
		r.cloud.mu.Unlock()
		r.fleet.Release("a")
		r.now("it is to end", func() bool { return r.box(id).State == sandbox.Terminating })
		r.stop()
		r.cloud.mu.Lock()
		r.cloud.term = nil
		r.cloud.mu.Unlock()
		r.open()
		r.turn("it ends", time.Minute, func() bool { return r.box(id).EndReason == sandbox.EndClosed && r.cloud.alive() == 0 })
	})
}

// TestRestartAfterLoss finds that the sandbox ended meanwhile: the call that
// comes back is told.
func TestRestartAfterLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		r.stop()
		r.cloud.set(id, func(vm *fleet.VM) { vm.State, vm.Reason = sandbox.Terminated, "exceeded maximum lifetime" })
		r.open()
		r.hold(lease("a"))
		r.now("it is found out", func() bool { return r.box(id).EndReason == sandbox.EndExpired })
		res := r.exec("a", "echo")
		r.turn("the call ends", time.Second, res.over)
		if sandbox.CodeOf(res.err) != sandbox.Gone {
			t.Errorf("the call: %v", res.err)
		}
		if next := r.must("a", "echo"); !next.told(sandbox.NoticeReplaced) {
			t.Errorf("the next: notices %v", next.notices)
		}
	})
}

// TestRestartWithoutKey ends what can't be used any more.
func TestRestartWithoutKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		r.stop()
		r.store.mu.Lock()
		clear(r.store.secrets)
		r.store.mu.Unlock()
		r.open()
		r.turn("it ends", time.Minute, func() bool { return r.box(id).State == sandbox.Terminated && r.cloud.alive() == 0 })
	})
}

// TestRestartInCall follows a command again, and does not run it again.
func TestRestartInCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		res := r.exec("a", "hang", "x")
		r.turn("it runs", time.Second, func() bool { return res.told(sandbox.NoticeStarted) })
		r.restart()
		r.hold(lease("a"))
		var got string
		var notices []sandbox.Notice
		exit, err := r.fleet.Exec(t.Context(), sandbox.Exec{ID: res.id, Target: sandbox.Target{Lease: "a"}, Args: []string{"hang", "x"}}, 2, func(o sandbox.Output) error {
			got += string(o.Data)
			if o.Notice != "" {
				notices = append(notices, o.Notice)
			}
			return nil
		})
		if err != nil || got != "connected" || exit.Sandbox != "vm-1" || fmt.Sprint(notices) != "[again]" {
			t.Errorf("exit %+v, %v, said %q, notices %v", exit, err, got, notices)
		}
	})
}

// TestFollowerGone kills a command that nobody follows any more, and no job.
func TestFollowerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		res := r.exec("a", "hang")
		r.turn("it runs", time.Second, func() bool { return res.told(sandbox.NoticeStarted) })
		job, err := r.fleet.StartJob(t.Context(), sandbox.Exec{ID: "job-long", Target: sandbox.Target{Lease: "a"}, Args: []string{"hang"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		res.cancel()
		<-res.done
		r.clock.Advance(9 * time.Second)
		if s := r.box("vm-1"); s.Running != 2 {
			t.Errorf("after 9 s %d run", s.Running)
		}
		r.turn("it is killed", 10*time.Second, func() bool { return r.box("vm-1").Running == 1 })
		if _, j, err := r.fleet.ReadJob(t.Context(), job.ID, 1, 0); err != nil || j.Exit != nil {
			t.Errorf("the job: %+v, %v", j, err)
		}
		if j, err := r.fleet.StopJob(t.Context(), job.ID); err != nil || j.Exit == nil || j.Exit.Signal != 9 {
			t.Errorf("stopped: %+v, %v", j, err)
		}
	})
}

// TestSlowReader reads slowly what comes fast. Nothing is lost, and little is
// kept.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		var n, held int
		_, err := r.fleet.Exec(t.Context(), sandbox.Exec{ID: "flood", Target: sandbox.Target{Lease: "a"}, Args: []string{"flood"}}, 0, func(o sandbox.Output) error {
			n += len(o.Data)
			held = max(held, r.fleet.Kept("flood"))
			return nil
		})
		if err != nil || n != 1000*(32<<10) || held > 2<<20 {
			t.Errorf("%d bytes, %v; %d kept at once", n, err, held)
		}
	})
}

// TestJobsEnd forgets the job that ended first when there are too many.
func TestJobsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		start := func(i int, what string) error {
			_, err := r.fleet.StartJob(t.Context(), sandbox.Exec{ID: fmt.Sprintf("job-%d", i), Target: sandbox.Target{Lease: "a"}, Args: []string{what}}, nil)
			r.clock.Advance(time.Millisecond)
			return err
		}
		for i := range 20 {
			if err := start(i, "echo"); err != nil {
				t.Fatal(err)
			}
			r.now("it ends", func() bool {
				_, j, err := r.fleet.ReadJob(context.Background(), fmt.Sprintf("job-%d", i), 1, 0)
				return err == nil && j.Exit != nil
			})
		}
		jobs := r.fleet.Jobs(sandbox.Target{Lease: "a"})
		if len(jobs) != 16 || jobs[0].ID != "job-4" {
			t.Errorf("%d jobs from %s on", len(jobs), jobs[0].ID)
		}
		if _, _, err := r.fleet.ReadJob(t.Context(), "job-0", 1, 0); sandbox.CodeOf(err) != sandbox.NotFound {
			t.Errorf("a forgotten one: %v", err)
		}
	})
}
