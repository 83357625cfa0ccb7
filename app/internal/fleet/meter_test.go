package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// A fakeMeter writes down what it is told, in words. Its faults are functions
// that may refuse.
type fakeMeter struct {
	mu    sync.Mutex
	told  []string
	asks  []fleet.Ask
	known [][]sandbox.Sandbox
	ends  map[string]time.Time
	began []fleet.VM
	no    func(what string) error
}

func (m *fakeMeter) tell(format string, args ...any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(m.told, text) || !strings.HasPrefix(text, "saw") {
		m.told = append(m.told, text)
	}
	if m.no != nil {
		return m.no(text)
	}
	return nil
}

func (m *fakeMeter) Reserve(_ context.Context, a fleet.Ask) error {
	m.mu.Lock()
	m.asks = append(m.asks, a)
	m.mu.Unlock()
	return m.tell("reserve")
}
func (m *fakeMeter) Creating(string) error                          { return m.tell("creating") }
func (m *fakeMeter) Doubt(string)                                   { m.tell("doubt") }
func (m *fakeMeter) Saw(_ string, state sandbox.State, _ time.Time) { m.tell("saw %s", state) }
func (m *fakeMeter) Cycle(context.Context, string) error            { return m.tell("cycle") }
func (m *fakeMeter) Uncycle(context.Context, string) error          { return m.tell("uncycle") }
func (m *fakeMeter) Released(_ string, err error)                   { m.tell("released %s", sandbox.CodeOf(err)) }
func (m *fakeMeter) Lost(string)                                    { m.tell("lost") }
func (m *fakeMeter) Orphan(_ string, vm fleet.VM)                   { m.tell("orphan %s", vm.ID) }
func (m *fakeMeter) Describe(s *sandbox.Sandbox)                    { s.Hold = 7 }

func (m *fakeMeter) Running(_ string, vm fleet.VM) {
	m.mu.Lock()
	m.began = append(m.began, vm)
	m.mu.Unlock()
	m.tell("running %s", vm.ID)
}

func (m *fakeMeter) Ended(key string, why sandbox.EndReason, at time.Time) error {
	m.mu.Lock()
	if m.ends == nil {
		m.ends = map[string]time.Time{}
	}
	m.ends[key] = at
	m.mu.Unlock()
	return m.tell("ended %s", why)
}

func (m *fakeMeter) TakeUp(known []sandbox.Sandbox) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = append(m.known, known)
}

func (m *fakeMeter) says(want ...string) func() bool {
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return slices.Equal(m.told, want)
	}
}

// metered makes a rig with a meter.
func metered(t *testing.T) (*rig, *fakeMeter) {
	t.Helper()
	r := newRig(t)
	r.stop()
	r.meter = &fakeMeter{}
	r.open()
	return r, r.meter
}

// A sandbox that nobody wants any more by the time that its cloud has made it
// costs something until it has ended.
func TestMeterOfAnEndBeforeTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := metered(t)
		l := lease("a")
		l.Spec.Grant = "g_1"
		r.hold(l)
		r.cloud.run = func(int) (bool, error) {
			r.fleet.EndGrant("g_1", sandbox.EndBudget)
			return true, nil
		}
		r.exec("a", "echo")
		r.now("it has ended", func() bool { return r.cloud.runs == 1 && r.cloud.alive() == 0 })
		if len(m.began) != 1 || m.began[0].State != sandbox.Pending {
			t.Errorf("it began as %+v", m.began)
		}
	})
}

// A sandbox is paid for before anything is asked of the cloud, and settled when
// the cloud says that it has ended.
func TestMeterFollowsALife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := metered(t)
		l := lease("a")
		l.Spec.Grant, l.Spec.Timeout, l.Spec.Idle = "g_1", 2*time.Hour, 5*time.Minute
		r.hold(l)
		r.cloud.run = func(int) (bool, error) {
			if !m.says("reserve", "creating")() {
				t.Errorf("before the cloud is asked: %v", m.told)
			}
			return true, nil
		}
		id := r.must("a", "echo").exit.Sandbox
		a := m.asks[0]
		if a.Grant != "g_1" || a.Life != 2*time.Hour || a.Idle != 5*time.Minute || a.Image.SizeMiB != 2048 || a.Image.SnapshotMGB != 919 || a.Image.ARN != image {
			t.Errorf("asked: %+v", a)
		}
		if s := r.box(id); s.Grant != "g_1" || s.SizeMiB != 2048 || s.Hold != 7 {
			t.Errorf("shown: %+v", s)
		}
		if _, err := r.fleet.Suspend(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		r.must("a", "echo")
		ended := r.clock.Now().Add(-time.Second)
		r.cloud.term = func() error {
			r.cloud.vms[id].EndedAt = ended // mu is held
			return nil
		}
		if err := r.fleet.Terminate(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		r.now("all of it was told", m.says("reserve", "creating", "running "+id, "saw RUNNING", "cycle", "saw SUSPENDING", "saw SUSPENDED", "ended asked"))
		if at := m.ends[a.Key]; !at.Equal(ended) {
			t.Errorf("ended at %v, the cloud says %v", at, ended)
		}
	})
}

// What is refused is not asked for, and leaves nothing behind.
func TestMeterRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := metered(t)
		m.no = func(string) error { return &sandbox.Error{Code: sandbox.BudgetExceeded, Msg: "no"} }
		r.hold(lease("a"))
		res := r.exec("a", "echo")
		r.turn("the call ends", time.Second, res.over)
		if sandbox.CodeOf(res.err) != sandbox.BudgetExceeded || r.cloud.runs != 0 || len(r.fleet.Snapshot().Sandboxes) != 0 {
			t.Errorf("%v, %d asked of the cloud", res.err, r.cloud.runs)
		}
		m.no = nil
		r.must("a", "echo")
		m.no = func(what string) error {
			if what == "cycle" {
				return &sandbox.Error{Code: sandbox.BudgetExceeded, Msg: "no"}
			}
			return nil
		}
		id := r.fleet.Snapshot().Sandboxes[0].ID
		if _, err := r.fleet.Suspend(t.Context(), id); sandbox.CodeOf(err) != sandbox.BudgetExceeded || r.cloud.vms[id].State != sandbox.Running {
			t.Errorf("suspend: %v, %s", err, r.cloud.vms[id].State)
		}
	})
}

// A request that the cloud refuses, or that came to nothing, gives back what was
// held; one that may have come to something does not.
func TestMeterOfWhatNeverWas(t *testing.T) {
	for _, tt := range []struct {
		name  string
		run   error
		twins int
		want  []string
	}{
		{"refused", &sandbox.Error{Code: sandbox.Quota, Msg: "no more"}, 0, []string{"reserve", "creating", "released quota_exceeded"}},
		{"lost", doubt(), 0, []string{"reserve", "creating", "doubt", "released create_failed"}},
		{"lost among two", doubt(), 2, []string{"reserve", "creating", "doubt", "lost"}},
	} {
		inBubble(t, tt.name, func(t *testing.T) {
			r, m := metered(t)
			r.cloud.run = func(int) (bool, error) { return false, tt.run }
			for i := range tt.twins {
				id := fmt.Sprint("twin-", i)
				r.cloud.vms[id] = &fleet.VM{ID: id, Image: image, State: sandbox.Running, StartedAt: r.clock.Now(), Life: time.Hour}
			}
			cut := r.hold(lease("a"))
			res := r.exec("a", "echo")
			r.turn("the call ends", 3*time.Minute, res.over)
			r.turn("it is given up", time.Hour, m.says(tt.want...))
			cut()
		})
	}
}

// An end that the account can't take in ends the sandbox all the same, and is
// told until it is taken in, by the next engine if need be.
func TestMeterOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := metered(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		m.no = func(string) error { return errors.New("the disk is full") }
		if err := r.fleet.Terminate(t.Context(), id, ""); err != nil || r.cloud.alive() != 0 {
			t.Errorf("terminate: %v, %d alive", err, r.cloud.alive())
		}
		r.clock.Advance(2 * time.Hour) // and is not forgotten
		if s := r.box(id); s.EndReason != sandbox.EndAsked {
			t.Errorf("not settled: %+v", s)
		}
		r.restart()
		if known := m.known[len(m.known)-1]; len(known) != 1 || known[0].ID != id {
			t.Errorf("taken up: %+v", known)
		}
		r.clock.Advance(time.Second)
		n := len(m.told)
		m.mu.Lock()
		m.no = nil
		m.mu.Unlock()
		r.clock.Advance(10 * time.Minute)
		if len(m.told) != n+1 || m.told[n] != "ended asked" {
			t.Errorf("told: %v", m.told[n:])
		}
		r.clock.Advance(2 * time.Hour)
		if s := r.box(id); s.ID != "" {
			t.Errorf("settled, and still there: %+v", s)
		}
	})
}
