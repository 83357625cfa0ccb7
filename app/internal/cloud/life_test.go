package cloud

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// at is when the VM came into its present state, as seconds since the start of
// the test.
func (r *rig) at(id string) float64 {
	v := r.vm(id)
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.since.Sub(testStart).Seconds()
}

// reason is the VM's stateReason, or nothing.
func (r *rig) reason(id string) string {
	if reason := r.get(id).StateReason; reason != nil {
		return *reason
	}
	return ""
}

func TestIdle(t *testing.T) {
	r := newRig(t, nil)
	id := r.run(&wire.RunMicrovmInput{IdlePolicy: idle(60, 3600, true)})
	r.clock.Advance(40 * time.Second)
	r.vm(id).Touch()
	r.get(id) // a call of the API is no activity
	r.clock.Advance(59 * time.Second)
	if got := r.get(id).State; got != wire.MicrovmStateRunning {
		t.Fatalf("59 s after traffic: %s", got)
	}
	r.clock.Advance(time.Second)
	r.reach(id, wire.MicrovmStateSuspended)
	if got := r.at(id); got != 100 {
		t.Errorf("suspended at %v s, want 100", got)
	}
	if got := r.reason(id); got != "" {
		t.Errorf("reason = %q, want none", got)
	}
	if out := r.get(id); *out.IdlePolicy.MaxIdleDurationSeconds != 60 || !*out.IdlePolicy.AutoResumeEnabled {
		t.Errorf("idle policy = %+v", out.IdlePolicy)
	}

	// Waking restarts the idle timer.
	r.clock.Advance(10 * time.Second)
	if err := r.vm(id).Awake(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.clock.Advance(60 * time.Second)
	r.reach(id, wire.MicrovmStateSuspended)
	if got := r.at(id); got != 170 {
		t.Errorf("suspended again at %v s, want 170", got)
	}
}

func TestNoIdlePolicy(t *testing.T) {
	r := newRig(t, nil)
	id := r.run(nil)
	r.clock.Advance(time.Hour)
	if got := r.get(id).State; got != wire.MicrovmStateRunning {
		t.Errorf("state = %s", got)
	}
	r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateSuspended)
	r.clock.Advance(time.Hour)
	if got := r.get(id).State; got != wire.MicrovmStateSuspended {
		t.Errorf("state = %s", got)
	}
}

func TestLifetime(t *testing.T) {
	for _, asleep := range []bool{false, true} {
		r := newRig(t, nil)
		id := r.run(&wire.RunMicrovmInput{MaximumDurationInSeconds: new(int32(150))})
		if asleep {
			r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
			r.reach(id, wire.MicrovmStateSuspended)
		}
		r.clock.Advance(149 * time.Second)
		if got := r.get(id).State; got == wire.MicrovmStateTerminating || got == wire.MicrovmStateTerminated {
			t.Fatalf("asleep %v: %s a second too early", asleep, got)
		}
		r.clock.Advance(time.Second)
		r.reach(id, wire.MicrovmStateTerminated)
		if got := r.at(id); got != 150 {
			t.Errorf("asleep %v: terminated at %v s, want 150", asleep, got)
		}
		if got := r.reason(id); !strings.Contains(got, "exceeded maximum lifetime") {
			t.Errorf("asleep %v: reason = %q", asleep, got)
		}
		want := 1
		if asleep {
			want = 0 // not woken to be told
		}
		if got := r.guests.of(id).count("terminate"); got != want {
			t.Errorf("asleep %v: %d terminate hooks, want %d", asleep, got, want)
		}
	}
}

func TestSuspendedTooLong(t *testing.T) {
	tests := []struct {
		name   string
		limit  int32
		ask    bool
		keep   bool
		ends   bool
		atSecs float64
	}{
		{"idle", 30, false, false, true, 90},
		{"explicit", 30, true, false, true, 30},
		{"explicit, not counted", 30, true, true, false, 0},
		{"zero", 0, false, false, true, 60},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Policy.KeepExplicitSuspends = tt.keep })
			id := r.run(&wire.RunMicrovmInput{IdlePolicy: idle(60, tt.limit, true)})
			if tt.ask {
				r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
			} else {
				r.clock.Advance(60 * time.Second)
			}
			if tt.limit > 0 {
				r.reach(id, wire.MicrovmStateSuspended)
				r.asleep(id)
				r.clock.Advance(30 * time.Second)
			}
			if !tt.ends {
				if got := r.get(id).State; got != wire.MicrovmStateSuspended {
					t.Errorf("state = %s", got)
				}
				return
			}
			r.reach(id, wire.MicrovmStateTerminated)
			if got := r.at(id); got != tt.atSecs {
				t.Errorf("terminated at %v s, want %v", got, tt.atSecs)
			}
			if got := r.reason(id); !strings.Contains(got, "exceeded maximum lifetime") {
				t.Errorf("reason = %q", got)
			}
		})
	}
}

// asleep waits until the timer of a suspended VM is set, so that turning the
// clock is what ends it: one timer for its lifetime, one for its sleep.
func (r *rig) asleep(id string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	timers := 2
	if limit, ok := r.vm(id).sleepLimit(); !ok || limit == 0 {
		timers = 1
	}
	if err := r.clock.BlockUntilContext(ctx, timers); err != nil {
		r.t.Fatal(err)
	}
}

func TestHookFailures(t *testing.T) {
	tests := []struct {
		hook   string
		status int // 0 hangs
		want   string
	}{
		{"run", 500, "Run lifecycle hook returned HTTP status 500"},
		{"run", 204, "Run lifecycle hook returned HTTP status 204"},
		{"run", 0, "Run lifecycle hook timed out"},
		{"suspend", 500, "Suspend lifecycle hook returned HTTP status 500"},
		{"suspend", 0, "Suspend lifecycle hook timed out"},
		{"resume", 503, "Resume lifecycle hook returned HTTP status 503"},
		{"resume", 0, "Resume lifecycle hook timed out"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			r := newRig(t, nil)
			r.guests.prep = func(g *guest) error { g.answer(tt.hook, tt.status); return nil }
			var out wire.RunMicrovmOutput
			r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, &out)
			id := *out.MicrovmId
			if tt.hook != "run" {
				r.reach(id, wire.MicrovmStateRunning)
				r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
			}
			if tt.hook == "resume" {
				r.reach(id, wire.MicrovmStateSuspended)
				r.must("ResumeMicrovm", &wire.ResumeMicrovmInput{MicrovmIdentifier: &id}, nil)
			}
			if tt.status == 0 {
				r.eventually("the hook is called", func() bool { g := r.guests.of(id); return g != nil && g.count(tt.hook) == 1 })
				r.clock.Advance(30 * time.Second)
			}
			r.reach(id, wire.MicrovmStateTerminated)
			if got := r.reason(id); !strings.HasPrefix(got, tt.want) || got == tt.want {
				t.Errorf("reason = %q, want %q and advice", got, tt.want)
			}
			if n := r.guests.of(id).count("terminate"); n != 0 {
				t.Errorf("the terminate hook was called")
			}
			if !isClosed(r.guests.of(id).Done()) {
				t.Error("the machine is still there")
			}
		})
	}
}

// TestHookPortClosed uses an image whose hooks are on a port where nothing
// listens.
func TestHookPortClosed(t *testing.T) {
	r := newRig(t, nil)
	in := boxImage("box")
	in.Hooks = &wire.Hooks{
		Port:              new(int32(1)),
		MicrovmHooks:      &wire.MicrovmHooks{Run: wire.HookStateEnabled},
		MicrovmImageHooks: &wire.MicrovmImageHooks{Ready: wire.HookStateEnabled},
	}
	r.must("CreateMicrovmImage", in, nil)
	r.clock.Advance(time.Second)
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN("box"))}, &out)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := r.clock.BlockUntilContext(ctx, 2); err != nil { // lifetime, and the wait for the port
		t.Fatal(err)
	}
	r.clock.Advance(bootTime)
	r.reach(*out.MicrovmId, wire.MicrovmStateTerminated)
	if got := r.reason(*out.MicrovmId); !strings.HasPrefix(got, "Run lifecycle hook connection was refused.") {
		t.Errorf("reason = %q", got)
	}
}

// TestDefaultHookTimeout uses an image whose hooks name no timeouts: they have
// one second.
func TestDefaultHookTimeout(t *testing.T) {
	v := &microvm{hooks: wire.Hooks{Port: new(int32(9000)), MicrovmHooks: &wire.MicrovmHooks{Run: wire.HookStateEnabled, Suspend: wire.HookStateDisabled}}}
	if on, limit := v.hook(hookRun); !on || limit != time.Second {
		t.Errorf("run = %v, %v", on, limit)
	}
	for _, name := range []string{hookSuspend, hookResume, hookTerminate} {
		if on, _ := v.hook(name); on {
			t.Errorf("%s is on", name)
		}
	}
}

func TestExit(t *testing.T) {
	for _, code := range []int{0, 124} {
		r := newRig(t, nil)
		id := r.run(nil)
		g := r.guests.of(id)
		g.exit(code)
		r.reach(id, wire.MicrovmStateTerminated)
		want := map[int]string{0: "Container Stopped with Exit Code: 0", 124: "Container Stopped with Exit Code: 124"}[code]
		if got := r.reason(id); got != want {
			t.Errorf("reason = %q, want %q", got, want)
		}
		if n := g.count("terminate"); n != 0 {
			t.Error("the terminate hook was called")
		}
	}
}

func TestLaunchFails(t *testing.T) {
	r := newRig(t, nil)
	r.guests.prep = func(*guest) error { return errors.New("the kernel refuses namespaces") }
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, &out)
	r.reach(*out.MicrovmId, wire.MicrovmStateTerminated)
	if got := r.reason(*out.MicrovmId); !strings.Contains(got, "the kernel refuses namespaces") {
		t.Errorf("reason = %q", got)
	}
}

func TestTerminate(t *testing.T) {
	// From SUSPENDED: without resuming, without the hook.
	r := newRig(t, nil)
	id := r.run(nil)
	r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateSuspended)
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.reach(id, wire.MicrovmStateTerminated)
	if got := r.guests.of(id).called(); strings.Join(got, " ") != "run suspend" {
		t.Errorf("hooks = %v", got)
	}
	if got := r.reason(id); got != "Success." {
		t.Errorf("reason = %q", got)
	}
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)

	// While a hook is being called: the call is given up.
	r.guests.prep = func(g *guest) error { g.answer("run", 0); return nil }
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, &out)
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: out.MicrovmId}, nil)
	r.reach(*out.MicrovmId, wire.MicrovmStateTerminated)
	if got := r.reason(*out.MicrovmId); got != "Success." {
		t.Errorf("reason = %q", got)
	}

	// A hook that hangs holds the end up only for its time.
	r.guests.prep = func(g *guest) error { g.answer("terminate", 0); return nil }
	id = r.run(nil)
	r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
	r.eventually("the hook is called", func() bool { return r.guests.of(id).count("terminate") == 1 })
	if got := r.get(id).State; got != wire.MicrovmStateTerminating {
		t.Errorf("state = %s", got)
	}
	r.clock.Advance(10 * time.Second)
	r.reach(id, wire.MicrovmStateTerminated)
}

func TestRepeats(t *testing.T) {
	for _, conflicts := range []bool{false, true} {
		r := newRig(t, func(c *Config) { c.Policy.RepeatConflicts = conflicts })
		id := r.run(nil)
		want := ""
		if conflicts {
			want = wire.Conflict
		}
		if got := r.call("ResumeMicrovm", &wire.ResumeMicrovmInput{MicrovmIdentifier: &id}, nil); got.class != want {
			t.Errorf("resume of RUNNING = %+v, want %q", got, want)
		}
		r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
		r.reach(id, wire.MicrovmStateSuspended)
		if got := r.call("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil); got.class != want {
			t.Errorf("suspend of SUSPENDED = %+v, want %q", got, want)
		}
		r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
		r.reach(id, wire.MicrovmStateTerminated)
		for _, op := range []string{"SuspendMicrovm", "ResumeMicrovm"} {
			var got answer
			if op == "SuspendMicrovm" {
				got = r.call(op, &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
			} else {
				got = r.call(op, &wire.ResumeMicrovmInput{MicrovmIdentifier: &id}, nil)
			}
			if got.class != wire.Validation {
				t.Errorf("%s of TERMINATED = %+v", op, got)
			}
		}
		got := r.call("CreateMicrovmAuthToken", &wire.CreateMicrovmAuthTokenInput{
			MicrovmIdentifier: &id, ExpirationInMinutes: new(int32(1)), AllowedPorts: []wire.PortSpecification{{AllPorts: &wire.Unit{}}},
		}, nil)
		if got.class != wire.Conflict {
			t.Errorf("token for TERMINATED = %+v", got)
		}
	}
}

func TestSuspendWhilePending(t *testing.T) {
	r := newRig(t, nil)
	r.guests.prep = func(g *guest) error { g.answer("run", 0); return nil }
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, &out)
	if got := r.call("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: out.MicrovmId}, nil); got.class != wire.Conflict {
		t.Errorf("got %+v", got)
	}
}

func TestLags(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Lags = Lags{Run: 2 * time.Second, Read: 500 * time.Millisecond, Exit: 15 * time.Second}
	})
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, &out)
	id := *out.MicrovmId
	truth := func() wire.MicrovmState { s, _ := r.vm(id).now(); return s }
	r.eventually("the machine runs", func() bool { return r.guests.of(id) != nil })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := r.clock.BlockUntilContext(ctx, 2); err != nil { // lifetime, and the lag
		t.Fatal(err)
	}
	r.clock.Advance(2 * time.Second)
	r.eventually("RUNNING in truth", func() bool { return truth() == wire.MicrovmStateRunning })
	if got := r.get(id).State; got != wire.MicrovmStatePending {
		t.Errorf("shown at once: %s", got)
	}
	r.clock.Advance(500 * time.Millisecond)
	if got := r.get(id).State; got != wire.MicrovmStateRunning {
		t.Errorf("shown after the lag: %s", got)
	}

	r.guests.of(id).exit(3)
	r.eventually("TERMINATED in truth", func() bool { return truth() == wire.MicrovmStateTerminated })
	r.clock.Advance(14 * time.Second)
	if got := r.get(id); got.State != wire.MicrovmStateRunning || got.TerminatedAt != nil {
		t.Errorf("14 s after the exit: %s", got.State)
	}
	r.clock.Advance(time.Second)
	if got := r.get(id); got.State != wire.MicrovmStateTerminated || got.TerminatedAt == nil {
		t.Errorf("15 s after the exit: %s", got.State)
	}
}
