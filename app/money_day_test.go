package app

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A day of fifty sandboxes at a time, that are used, left alone, put to sleep and
// ended in all ways, with an engine that crashes every hour. What was spent
// is what the cloud reckons by its own record, to the millionth.
func TestDayOfFifty(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		const many, hours = 50, 24
		rnd := rand.New(rand.NewPCG(1, 2))
		bursts := []sandbox.Burst{sandbox.BurstStrict, sandbox.BurstBaseline}
		var tokens []control.NewToken
		for _, burst := range bursts {
			tokens = append(tokens, r.token(sandbox.Grant{Limit: micro(5_000_000_000), Burst: burst}))
		}
		live := map[string]int{} // which token's, by id
		all := map[string]int{}
		fill := func() {
			for n := 0; len(live) < many; n++ {
				i := rnd.IntN(len(tokens))
				spec := living(time.Duration(20+rnd.IntN(460)) * time.Minute)
				spec.Name = fmt.Sprint(len(all))
				if rnd.IntN(3) > 0 {
					spec.Idle = time.Duration(60+rnd.IntN(600)) * time.Second
				}
				s := r.create(r.as(tokens[i], ""), spec)
				live[s.ID], all[s.ID] = i, i
			}
		}
		fill()
		for hour := range hours {
			for range 10 {
				for id, i := range live {
					tok := tokens[i]
					ctx := r.as(tok, "")
					var err error
					switch rnd.IntN(30) {
					case 0:
						_, err = r.gate.Suspend(ctx, id)
					case 1:
						_, err = r.gate.Resume(ctx, id)
					case 2, 3:
						_, err = r.gate.Stat(ctx, sandbox.FileRequest{Target: sandbox.Target{Sandbox: id}, Path: "x"}, nil)
					case 6:
						if rnd.IntN(4) == 0 {
							err = r.gate.Terminate(ctx, id, "")
						}
					case 7:
						if rnd.IntN(4) == 0 {
							_, err = r.gate.ScheduleRemoval(ctx, id, r.clock.Now().Add(10*time.Minute))
						}
					}
					switch code := sandbox.CodeOf(err); code {
					case "", sandbox.Gone, sandbox.InTransition, sandbox.CannotExtend, sandbox.NotFound, sandbox.WrongState:
					default:
						t.Fatalf("hour %d, %s: %v", hour, id, err)
					}
				}
				r.in(6 * time.Minute)
				for id := range live {
					if r.cloud.ended(id) {
						delete(live, id)
					}
				}
				fill()
			}
			r.crash()
			r.in(time.Second)
		}
		for id, i := range live {
			if err := r.gate.Terminate(r.as(tokens[i], ""), id, ""); err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
				t.Fatal(err)
			}
		}
		r.in(10 * time.Minute)
		if n := r.cloud.alive(); n != 0 {
			t.Errorf("%d are still there", n)
		}
		for i, tok := range tokens {
			var want sandbox.Micro
			for id, of := range all {
				if of == i {
					want += r.cloud.reckon(t, id, bursts[i])
				}
			}
			if b := r.budget(tok.Grant.ID); b.Held != 0 || b.Spent != want || b.OverLimit {
				t.Errorf("%s: %+v, the cloud reckons %d", bursts[i], b, want)
			}
		}
		if len(all) < 3*many {
			t.Errorf("only %d sandboxes", len(all))
		}
		r.clean()
	})
}

// Each sleep is told of, and each wake-up: one that is asked for, however soon,
// and one by a call, also where the cloud wakes nothing by itself.
func TestSleepAndWakeUpAreTold(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		for _, idle := range []time.Duration{0, 10 * time.Minute} {
			spec := living(time.Hour)
			spec.Idle = idle
			s := r.create(t.Context(), spec)
			told := func(kind sandbox.EventKind) (n int) {
				for _, e := range r.events(kind) {
					if e.Subject == s.ID {
						n++
					}
				}
				return n
			}
			for n, wake := range []func() error{
				func() error { _, err := r.gate.Resume(t.Context(), s.ID); return err },
				func() error {
					_, err := r.gate.Stat(t.Context(), sandbox.FileRequest{Target: sandbox.Target{Sandbox: s.ID}, Path: "x"}, func(sandbox.Output) error { return nil })
					return err
				},
			} {
				if _, err := r.gate.Suspend(t.Context(), s.ID); err != nil {
					t.Fatal(err)
				}
				if err := wake(); err != nil {
					t.Fatal(err)
				}
				if slept, woke := told(sandbox.EventSuspended), told(sandbox.EventResumed); slept != n+1 || woke != n+1 {
					t.Errorf("idle %s, wake-up %d: told %d times that it sleeps, %d times that it woke", idle, n, slept, woke)
				}
			}
		}
	})
}

// The life of a sandbox goes on while it sleeps, and so does what it is held for.
func TestR31_LifeCountsSleep(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(2_000_000), Burst: sandbox.BurstBaseline})
		s := r.create(r.as(tok, ""), living(time.Hour))
		r.in(30 * time.Minute)
		asleep, err := r.gate.Suspend(r.as(tok, "suspend_sandbox"), s.ID)
		if err != nil || !asleep.EndsAt.Equal(s.EndsAt) || asleep.Hold <= s.Hold {
			t.Fatalf("asleep: %+v, %v", asleep, err)
		}
		r.in(s.EndsAt.Sub(r.clock.Now()) - time.Second)
		if n := r.cloud.alive(); n != 1 {
			t.Error("it ended early")
		}
		r.in(time.Minute)
		if n := r.cloud.alive(); n != 0 {
			t.Error("it lives longer for having slept")
		}
		b := r.budget(tok.Grant.ID)
		if want := r.cloud.reckon(t, s.ID, sandbox.BurstBaseline); b.Held != 0 || b.Spent != want || want >= 127_525 {
			t.Errorf("%+v, the cloud reckons %d", b, want)
		}
		r.clean()
	})
}
