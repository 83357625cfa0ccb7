package scene_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/e2e/scene"
	"github.com/arenero/arenero/app/sandbox"
)

var day = time.Date(2026, 11, 26, 15, 4, 5, 0, time.UTC)

// play plays a scene on a socket, and returns a client of it.
func play(t *testing.T, kind scene.Kind) (*control.Client, *clockwork.FakeClock) {
	t.Helper()
	clock := clockwork.NewFakeClockAt(day)
	s, err := scene.New(scene.Config{Kind: kind, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s")
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, path) }()
	client := control.NewClient(path)
	client.Launch = func(context.Context) error { return nil } // it comes by itself
	t.Cleanup(func() {
		client.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return client, clock
}

// first is the first snapshot that a client gets.
func first(t *testing.T, c *control.Client) (snap sandbox.Snapshot) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Watch(ctx, func(s sandbox.Snapshot) error {
		snap = s
		cancel()
		return ctx.Err()
	})
	if snap.Seq == 0 {
		t.Fatal("there is no snapshot")
	}
	return snap
}

func TestScenesAreTheSameEachTime(t *testing.T) {
	for _, kind := range scene.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			var texts [2]string
			for i := range texts {
				s, err := scene.New(scene.Config{Kind: kind, Clock: clockwork.NewFakeClockAt(day)})
				if err != nil {
					t.Fatal(err)
				}
				snap, _ := s.Snapshot()
				orders, _ := s.Orders(t.Context(), sandbox.OrderQuery{Limit: 1000})
				events, _ := s.Events(t.Context(), sandbox.EventQuery{Limit: 1000})
				hosts, _ := s.Hosts(t.Context(), control.HostQuery{})
				text, err := json.Marshal([]any{snap, orders, events, hosts})
				if err != nil {
					t.Fatal(err)
				}
				texts[i] = string(text)
			}
			if texts[0] != texts[1] {
				t.Errorf("two scenes differ:\n%s\n%s", texts[0], texts[1])
			}
		})
	}
}

func TestBusyHasAllStates(t *testing.T) {
	c, _ := play(t, scene.Busy)
	snap := first(t, c)
	for _, want := range []sandbox.State{
		sandbox.Creating, sandbox.InDoubt, sandbox.Pending, sandbox.Running, sandbox.Suspending, sandbox.Suspended, sandbox.Terminating, sandbox.Terminated,
	} {
		if !slices.ContainsFunc(snap.Sandboxes, func(b sandbox.Sandbox) bool { return b.State == want }) {
			t.Errorf("there is no sandbox that is %s", want)
		}
	}
	if len(snap.Sandboxes) != 12 || len(snap.Leases) != 5 || len(snap.Profiles) != 4 {
		t.Errorf("there are %d sandboxes, %d leases and %d profiles, want 12, 5 and 4", len(snap.Sandboxes), len(snap.Leases), len(snap.Profiles))
	}
}

func TestManyHasAThousand(t *testing.T) {
	c, _ := play(t, scene.Many)
	if snap := first(t, c); len(snap.Sandboxes) != 1000 || len(snap.Leases) != 100 {
		t.Errorf("there are %d sandboxes and %d leases", len(snap.Sandboxes), len(snap.Leases))
	}
}

func TestWhatIsAskedForHappens(t *testing.T) {
	c, clock := play(t, scene.Busy)
	ctx := t.Context()
	state := func(id string) sandbox.State {
		b, err := c.Get(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return b.State
	}
	snap := first(t, c)
	i := slices.IndexFunc(snap.Sandboxes, func(b sandbox.Sandbox) bool { return b.Name == "entrenar-faro" })
	id, cost := snap.Sandboxes[i].ID, snap.Sandboxes[i].Cost.Total
	clock.Advance(time.Hour)
	if b, err := c.Suspend(ctx, id); err != nil || b.State != sandbox.Suspended || b.Cost.Total <= cost {
		t.Errorf("suspend: %v, %s at %d; it was at %d an hour ago", err, b.State, b.Cost.Total, cost)
	}
	if ports, err := c.Ports(ctx, id); err != nil || len(ports) != 0 {
		t.Errorf("one that sleeps has ports %v, %v", ports, err)
	}
	if _, err := c.Resume(ctx, id); err != nil || state(id) != sandbox.Running {
		t.Errorf("resume: %v, it is %s", err, state(id))
	}
	var out strings.Builder
	exit, err := c.Exec(ctx, sandbox.Exec{ID: "one", Target: sandbox.Target{Sandbox: id}, Args: []string{"echo", "hola"}}, func(o sandbox.Output) error {
		out.Write(o.Data)
		return nil
	})
	if err != nil || exit.Code != 0 || !strings.Contains(out.String(), "hola") {
		t.Errorf("exec: %v, %v, %q", err, exit, out.String())
	}
	if err := c.Terminate(ctx, id, ""); err != nil || state(id) != sandbox.Terminated {
		t.Errorf("terminate: %v, it is %s", err, state(id))
	}
	events, err := c.Events(ctx, sandbox.EventQuery{Limit: 3})
	if err != nil || len(events.Events) != 3 || events.Events[0].Kind != sandbox.EventEnded || events.Events[0].Subject != id {
		t.Errorf("the last events are %+v, %v", events.Events, err)
	}
	today, err := c.Spend(ctx, sandbox.SpendQuery{By: sandbox.SpendByProfile, Since: clock.Now().Add(-time.Minute)})
	if err != nil || !slices.ContainsFunc(today, func(r sandbox.SpendRow) bool { return r.Cost.Total > cost }) {
		t.Errorf("what has ended is not in the account: %+v, %v", today, err)
	}
}

func TestFilesOfAScene(t *testing.T) {
	c, _ := play(t, scene.Busy)
	at := sandbox.Target{Sandbox: "informe-trimestral"}
	if f, err := c.WriteFile(t.Context(), sandbox.FileRequest{Target: at, Path: "notas/uno.txt"}, nil, strings.NewReader("hola")); err != nil || f.Path != "/home/user/notas/uno.txt" || f.Size != 4 {
		t.Errorf("write: %+v, %v", f, err)
	}
	files, err := c.ListFiles(t.Context(), sandbox.FileRequest{Target: at, Path: ".", Depth: 1}, nil)
	if err != nil || !slices.ContainsFunc(files, func(f sandbox.File) bool { return f.Name == "notas" && f.Type == sandbox.TypeDir }) {
		t.Errorf("list: %+v, %v", files, err)
	}
	if f, err := c.MoveFile(t.Context(), sandbox.FileRequest{Target: at, Path: "notas", To: "apuntes"}, nil); err != nil || f.Path != "/home/user/apuntes" {
		t.Errorf("move: %+v, %v", f, err)
	}
	var b strings.Builder
	if _, err := c.ReadFile(t.Context(), sandbox.FileRequest{Target: at, Path: "apuntes/uno.txt"}, nil, &b); err != nil || b.String() != "hola" {
		t.Errorf("read: %q, %v", b.String(), err)
	}
}

func TestErrorsOfAScene(t *testing.T) {
	c, _ := play(t, scene.Error)
	snap := first(t, c)
	if snap.Profiles[1].Error == nil || snap.Profiles[1].Error.Code != sandbox.SignIn {
		t.Errorf("the first profile of AWS is %+v, and nobody should be signed in", snap.Profiles[1])
	}
	budgets, err := c.Budgets(t.Context())
	if err != nil || !budgets[0].OverLimit {
		t.Errorf("the budget is not used up: %+v, %v", budgets, err)
	}
	hosts, err := c.Hosts(t.Context(), control.HostQuery{})
	if err != nil || hosts[1].Entries[0].State != "edited" || hosts[1].Connected {
		t.Errorf("no host has drifted: %+v, %v", hosts, err)
	}
	if _, err := c.ChangeHost(t.Context(), control.HostOrder{Action: control.HostConnect, Host: "cursor"}); err != nil {
		t.Error(err)
	}
	if hosts, err = c.Hosts(t.Context(), control.HostQuery{Host: "cursor"}); err != nil || !hosts[0].Connected {
		t.Errorf("the host is not connected: %+v, %v", hosts, err)
	}
	down, _ := play(t, scene.Down)
	if _, err := down.Spend(t.Context(), sandbox.SpendQuery{By: sandbox.SpendByDay}); sandbox.CodeOf(err) != sandbox.StoreDown {
		t.Errorf("the account answers %v", err)
	}
}

func TestEndOfAScene(t *testing.T) {
	c, clock := play(t, scene.Busy)
	const name = "informe-trimestral"
	before, err := c.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	sooner := clock.Now().Add(5 * time.Minute)
	if b, err := c.ScheduleRemoval(t.Context(), name, sooner); err != nil || !b.EndsAt.Equal(sooner) || !b.Extendable.Equal(before.EndsAt) {
		t.Errorf("sooner: it ends at %v, and can be put off until %v: %v", b.EndsAt, b.Extendable, err)
	}
	if _, err := c.ScheduleRemoval(t.Context(), name, before.EndsAt.Add(time.Minute)); sandbox.CodeOf(err) != sandbox.CannotExtend {
		t.Errorf("later than it may: %v", err)
	}
	if b, err := c.ScheduleRemoval(t.Context(), name, before.EndsAt); err != nil || !b.EndsAt.Equal(before.EndsAt) || !b.Extendable.IsZero() {
		t.Errorf("as it was: it ends at %v, and can be put off until %v: %v", b.EndsAt, b.Extendable, err)
	}
}
