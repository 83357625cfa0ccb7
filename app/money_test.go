package app

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// An hour is held, and what it was is settled.
func TestA22_CreateHoldsAndSettles(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(2_000_000), Burst: sandbox.BurstBaseline})
		spec := living(time.Hour)
		spec.Name = "build"
		s := r.create(r.as(tok, "create_sandbox"), spec)
		const hold = 127_525
		if s.Hold != hold || s.Grant != tok.Grant.ID || s.SizeMiB != 2048 || s.PerHour != 126_101 || s.Name != "build" || !s.EndsAt.Equal(s.StartedAt.Add(time.Hour)) {
			t.Errorf("made: %+v", s)
		}
		if b := r.budget(tok.Grant.ID); b.Held != hold || b.Spent != 0 {
			t.Errorf("held: %+v", b)
		}
		r.in(10 * time.Minute)
		if got, err := r.gate.Get(r.as(tok, "get_sandbox"), s.ID); err != nil || got.Cost.Total == 0 || got.Cost.Total >= hold {
			t.Errorf("so far: %+v, %v", got, err)
		}
		if err := r.gate.Terminate(r.as(tok, "terminate_sandbox"), s.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.in(time.Second)
		want := r.cloud.reckon(t, s.ID, sandbox.BurstBaseline)
		if b := r.budget(tok.Grant.ID); b.Held != 0 || b.Spent != want {
			t.Errorf("after its end: %+v, want %d", b, want)
		}
		if e := r.events(sandbox.EventEnded); len(e) != 1 || e[0].Data["reason"] != "asked" {
			t.Errorf("events: %v", e)
		}
		if got, err := r.gate.Get(r.as(tok, "get_sandbox"), s.ID); err != nil || got.Cost.Total != want {
			t.Errorf("afterwards: %+v, %v", got, err)
		}
		r.clean()
	})
}

// However many ask at once, no more is made than the limit pays for.
func TestA1_ManyAtOnceKeepTheLimit(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(10 * holdOfHour)})
		ctx := r.as(tok, "")
		var made, refused atomic.Int64
		var work sync.WaitGroup
		for i := range 1000 {
			work.Go(func() {
				spec := living(time.Hour)
				spec.Name = fmt.Sprint(i)
				_, err := r.gate.Create(ctx, spec)
				switch sandbox.CodeOf(err) {
				case "":
					made.Add(1)
				case sandbox.BudgetExceeded:
					refused.Add(1)
				default:
					t.Errorf("create: %v", err)
				}
			})
		}
		work.Wait()
		b := r.budget(tok.Grant.ID)
		if made.Load() != 10 || refused.Load() != 990 || b.Held != 10*holdOfHour || r.cloud.runs != 10 {
			t.Errorf("%d made, %d refused, %+v, %d asked of the cloud", made.Load(), refused.Load(), b, r.cloud.runs)
		}
		r.clean()
	})
}

// The longest life that a token allows is allowed; a second more is refused, and
// nothing is asked of the cloud.
func TestA6_LongestLife(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{MaxHours: 2})
		_, err := r.gate.Create(r.as(tok, "create_sandbox"), living(2*time.Hour+time.Second))
		e := sandbox.ToError(err)
		if sandbox.CodeOf(err) != sandbox.HoursTooLong || e.Details["max_s"] != int64(7200) || r.cloud.images != 0 || r.cloud.runs != 0 {
			t.Errorf("a second more: %v, the cloud was asked %d and %d times", err, r.cloud.images, r.cloud.runs)
		}
		r.create(r.as(tok, "create_sandbox"), living(2*time.Hour))
	})
}

// With a limit, how long has to be said. A lease says it by its timeout.
func TestA10_HoursWithALimit(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(5 * holdOfHour)})
		spec := living(time.Hour)
		spec.Asked = false
		if _, err := r.gate.Create(r.as(tok, "create_sandbox"), spec); sandbox.CodeOf(err) != sandbox.HoursRequired || r.cloud.runs != 0 {
			t.Errorf("without hours: %v", err)
		}
		free := r.token(sandbox.Grant{})
		r.create(r.as(free, "create_sandbox"), spec)
		l := r.hold(r.as(tok, ""), sandbox.Lease{Spec: sandbox.Spec{Profile: aws(), Timeout: 2 * time.Hour}})
		r.run(r.as(tok, "run_command"), l)
		if b := r.budget(tok.Grant.ID); b.Held != 1_010_226 {
			t.Errorf("for a lease of two hours: %+v", b)
		}
	})
}

// What is left is enough or not, to the millionth.
func TestA11_ExactLimit(t *testing.T) {
	for _, tt := range []struct {
		limit int64
		want  sandbox.Code
	}{{holdOfHour - 1, sandbox.BudgetExceeded}, {holdOfHour, ""}, {holdOfHour + 1, ""}} {
		t.Run(fmt.Sprint(tt.limit), func(t *testing.T) {
			ring(t, func(t *testing.T, r *till) {
				tok := r.token(sandbox.Grant{Limit: micro(tt.limit)})
				_, err := r.gate.Create(r.as(tok, "create_sandbox"), living(time.Hour))
				if sandbox.CodeOf(err) != tt.want {
					t.Fatalf("create: %v", err)
				}
				if tt.want == "" {
					return
				}
				e := sandbox.ToError(err)
				if e.Details["level"] != "grant" || e.Details["asked_micro"] != int64(holdOfHour) || e.Details["left_micro"] != tt.limit || e.Details["longest_s"] != int64(3599) {
					t.Errorf("details: %v", e.Details)
				}
				if r.cloud.runs != 0 || r.budget(tok.Grant.ID).Held != 0 {
					t.Error("something was asked for or is held")
				}
				if ev := r.events(sandbox.EventRefused); len(ev) != 1 || ev[0].Data["code"] != "budget_exceeded" {
					t.Errorf("events: %v", ev)
				}
			})
		})
	}
}

// A key makes one sandbox, however often it is sent, and over the end of an
// engine.
func TestA35_A36_KeyMakesOne(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(5 * holdOfHour)})
		spec := living(time.Hour)
		spec.IdempotencyKey = "order 7"
		first := r.create(r.as(tok, "create_sandbox"), spec)
		if first.Replay != "" {
			t.Errorf("the first: %+v", first)
		}
		r.in(time.Hour / 2)
		r.restart()
		r.in(time.Second)
		again := r.create(r.as(tok, "create_sandbox"), spec)
		if again.ID != first.ID || again.Replay != sandbox.ReplayKey || r.cloud.runs != 1 {
			t.Errorf("again: %+v, %d asked of the cloud", again, r.cloud.runs)
		}
		if b := r.budget(tok.Grant.ID); b.Held != holdOfHour {
			t.Errorf("held: %+v", b)
		}
		spec.IdempotencyKey = "order 8"
		if other := r.create(r.as(tok, "create_sandbox"), spec); other.ID == first.ID {
			t.Error("another key is the same sandbox")
		}
		r.clean()
	})
}

// The same request without a key within ten minutes is the same one.
func TestMoney9_A37_ImplicitWindow(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{})
		ask := func(tok control.NewToken, name string) sandbox.Sandbox {
			t.Helper()
			spec := living(time.Hour)
			spec.Name = name
			return r.create(r.as(tok, "create_sandbox"), spec)
		}
		began := r.clock.Now()
		first := ask(tok, "")
		r.in(began.Add(599 * time.Second).Sub(r.clock.Now()))
		if s := ask(tok, ""); s.ID != first.ID || s.Replay != sandbox.ReplaySame {
			t.Errorf("after 599 s: %+v", s)
		}
		if s := ask(tok, "other"); s.ID == first.ID || s.Replay != "" {
			t.Errorf("of another name: %+v", s)
		}
		if s := ask(r.token(sandbox.Grant{}), ""); s.ID == first.ID || s.Replay != "" {
			t.Errorf("of another grant: %+v", s)
		}
		r.in(began.Add(600 * time.Second).Sub(r.clock.Now()))
		second := ask(tok, "")
		if second.ID == first.ID || second.Replay != "" {
			t.Errorf("after 600 s: %+v", second)
		}
		if err := r.gate.Terminate(r.as(tok, "terminate_sandbox"), second.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.in(time.Second)
		if s := ask(tok, ""); s.ID == second.ID || s.Replay != "" {
			t.Errorf("after the end of the first: %+v", s)
		}
		// Who works at the computer means what they say.
		if a, b := r.create(t.Context(), living(time.Hour)), r.create(t.Context(), living(time.Hour)); a.ID == b.ID {
			t.Error("the owner's own second one is the first")
		}
	})
}

// What was made is told again when there is no money left, and after its end,
// and not to one whose grant is gone.
func TestMoney6_Replay(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(holdOfHour)})
		spec := living(time.Hour)
		spec.IdempotencyKey = "k"
		first := r.create(r.as(tok, "create_sandbox"), spec)
		if _, err := r.gate.Create(r.as(tok, "create_sandbox"), living(time.Hour)); sandbox.CodeOf(err) != sandbox.BudgetExceeded {
			t.Fatalf("the budget is not full: %v", err)
		}
		if s := r.create(r.as(tok, "create_sandbox"), spec); s.ID != first.ID {
			t.Errorf("with a full budget: %+v", s)
		}
		other := spec
		other.Name = "other"
		if _, err := r.gate.Create(r.as(tok, "create_sandbox"), other); sandbox.CodeOf(err) != sandbox.KeyReused {
			t.Errorf("another request: %v", err)
		}
		r.in(time.Hour + time.Minute)
		if s := r.create(r.as(tok, "create_sandbox"), spec); s.ID != first.ID || s.State != sandbox.Terminated || s.EndReason != sandbox.EndExpired {
			t.Errorf("after its end: %+v", s)
		}
		r.in(3 * time.Hour) // the fleet has forgotten it
		if s := r.create(r.as(tok, "create_sandbox"), spec); s.ID != first.ID || s.State != sandbox.Terminated || s.Replay != sandbox.ReplayKey {
			t.Errorf("long after its end: %+v", s)
		}
		if _, err := r.gate.RevokeToken(t.Context(), control.TokenRevocation{Grant: tok.Grant.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.gate.Create(r.as(tok, "create_sandbox"), spec); sandbox.CodeOf(err) != sandbox.TokenRevoked {
			t.Errorf("after it was revoked: %v", err)
		}
		if r.cloud.runs != 1 {
			t.Errorf("%d asked of the cloud", r.cloud.runs)
		}
		r.clean()
	})
}

// Twenty equal requests at once make one sandbox.
func TestMoney8_InFlight(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{})
		spec := living(time.Hour)
		spec.IdempotencyKey = "k"
		r.cloud.run = func(int) (bool, error) {
			time.Sleep(2 * time.Second)
			return true, nil
		}
		var replays atomic.Int64
		ids := make([]string, 20)
		var work sync.WaitGroup
		for i := range ids {
			work.Go(func() {
				s, err := r.gate.Create(r.as(tok, ""), spec)
				if err != nil {
					t.Error(err)
				}
				ids[i] = s.ID
				if s.Replay == sandbox.ReplayKey {
					replays.Add(1)
				}
			})
		}
		work.Wait()
		for _, id := range ids {
			if id != ids[0] {
				t.Errorf("ids: %v", ids)
			}
		}
		if replays.Load() != 19 || r.cloud.runs != 1 {
			t.Errorf("%d replays, %d asked of the cloud", replays.Load(), r.cloud.runs)
		}
	})
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{})
		spec := living(time.Hour)
		spec.IdempotencyKey = "k"
		r.cloud.run = func(int) (bool, error) {
			time.Sleep(31 * time.Second)
			return true, nil
		}
		var work sync.WaitGroup
		work.Go(func() {
			if _, err := r.gate.Create(r.as(tok, "create_sandbox"), spec); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		_, err := r.gate.Create(r.as(tok, "create_sandbox"), spec)
		if e := sandbox.ToError(err); sandbox.CodeOf(err) != sandbox.KeyInFlight || !e.Retryable || e.RetryAfter == 0 {
			t.Errorf("while the first hangs: %v", err)
		}
		work.Wait()
		if s := r.create(r.as(tok, "create_sandbox"), spec); s.Replay != sandbox.ReplayKey {
			t.Errorf("afterwards: %+v", s)
		}
	})
}

// An answer that was lost makes no second sandbox, and what is held stays so for
// as long as there may be one.
func TestMoney5_AmbiguousCreate(t *testing.T) {
	setup := func(r *till) (control.NewToken, sandbox.Spec) {
		spec := living(time.Hour)
		spec.IdempotencyKey = "k"
		return r.token(sandbox.Grant{Limit: micro(2 * holdOfHour)}), spec
	}
	t.Run("made", func(t *testing.T) {
		ring(t, func(t *testing.T, r *till) {
			tok, spec := setup(r)
			r.cloud.run = func(n int) (bool, error) {
				if n <= 2 {
					return true, lost()
				}
				return true, nil
			}
			s := r.create(r.as(tok, "create_sandbox"), spec)
			if s.ID != "vm-1" || r.cloud.alive() != 1 || r.budget(tok.Grant.ID).Held != holdOfHour {
				t.Errorf("%+v, %d alive", s, r.cloud.alive())
			}
			if e := r.events(sandbox.EventDoubt); len(e) != 1 {
				t.Errorf("events: %v", e)
			}
			r.clean()
		})
	})
	t.Run("not made", func(t *testing.T) {
		ring(t, func(t *testing.T, r *till) {
			tok, spec := setup(r)
			r.cloud.run = func(int) (bool, error) { return false, lost() }
			_, err := r.gate.Create(r.as(tok, "create_sandbox"), spec)
			if sandbox.CodeOf(err) != sandbox.CreateInDoubt {
				t.Fatalf("create: %v", err)
			}
			if _, err := r.gate.Create(r.as(tok, "create_sandbox"), spec); sandbox.CodeOf(err) != sandbox.CreateInDoubt || r.budget(tok.Grant.ID).Held != holdOfHour {
				t.Errorf("once more: %v, %+v", err, r.budget(tok.Grant.ID))
			}
			r.in(30 * time.Minute)
			if b := r.budget(tok.Grant.ID); b.Held != 0 || b.Spent != 0 {
				t.Errorf("when it did not turn up: %+v", b)
			}
			r.cloud.run = nil
			if s := r.create(r.as(tok, "create_sandbox"), spec); s.Replay != "" {
				t.Errorf("the same key then: %+v", s)
			}
			r.clean()
		})
	})
	t.Run("two that look like it", func(t *testing.T) {
		ring(t, func(t *testing.T, r *till) {
			tok, spec := setup(r)
			r.cloud.run = func(int) (bool, error) { return false, lost() }
			for i := range 2 { // somebody else's
				id := fmt.Sprintf("other-%d", i)
				r.cloud.vms[id] = &fleet.VM{ID: id, Image: r.cloud.image.ARN, Version: "1.0", State: sandbox.Running, Life: 8 * time.Hour, StartedAt: r.clock.Now()}
			}
			if _, err := r.gate.Create(r.as(tok, "create_sandbox"), spec); sandbox.CodeOf(err) != sandbox.CreateInDoubt {
				t.Fatalf("create: %v", err)
			}
			r.in(40 * time.Minute)
			if b := r.budget(tok.Grant.ID); b.Held != holdOfHour || b.Spent != 0 {
				t.Errorf("while it may be one of two: %+v", b)
			}
			r.restart()
			r.in(time.Hour)
			if b := r.budget(tok.Grant.ID); b.Held != 0 || b.Spent != holdOfHour {
				t.Errorf("when its time is up: %+v", b)
			}
			r.clean()
		})
	})
	t.Run("refused", func(t *testing.T) {
		ring(t, func(t *testing.T, r *till) {
			tok, spec := setup(r)
			r.cloud.run = func(int) (bool, error) { return false, &sandbox.Error{Code: sandbox.Quota, Msg: "no more"} }
			if _, err := r.gate.Create(r.as(tok, "create_sandbox"), spec); sandbox.CodeOf(err) != sandbox.Quota {
				t.Fatalf("create: %v", err)
			}
			if b := r.budget(tok.Grant.ID); b.Held != 0 || b.Spent != 0 {
				t.Errorf("afterwards: %+v", b)
			}
			r.cloud.run = nil
			r.create(r.as(tok, "create_sandbox"), spec)
			r.clean()
		})
	})
}

// hold keeps a lease until the test ends.
func (r *till) hold(ctx context.Context, l sandbox.Lease) string {
	r.t.Helper()
	l.ID = uuid.NewString()
	held, done := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithCancel(ctx)
	g := r.gate
	go func() {
		done <- g.Hold(ctx, l, func() error {
			close(held)
			return nil
		})
	}()
	before := r.stop
	r.stop = func() {
		cancel()
		before()
	}
	select {
	case <-held:
	case err := <-done:
		r.t.Fatal(err)
	}
	return l.ID
}

// run runs a command in the sandbox of a lease.
func (r *till) run(ctx context.Context, lease string) sandbox.Exit {
	r.t.Helper()
	exit, err := r.gate.Exec(ctx, sandbox.Exec{ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Args: []string{"true"}}, 0, func(sandbox.Output) error { return nil })
	if err != nil {
		r.t.Fatal(err)
	}
	return exit
}
