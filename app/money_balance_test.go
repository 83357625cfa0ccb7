package app

import (
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A balance says what is left and for how long that would do.
func TestA21_Balance(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		const perHour = 504_401 // in strict mode
		tok := r.token(sandbox.Grant{Limit: micro(3 * holdOfHour), Period: sandbox.PeriodMonth, Profile: "env:test"})
		r.create(r.as(tok, "create_sandbox"), living(time.Hour))
		b, err := r.gate.Balance(r.as(tok, "get_balance"), control.BalanceQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if *b.Left != 2*holdOfHour || b.Running != 1 || b.PerHour != perHour || b.Grant.ID != tok.Grant.ID || b.Grant.ExpiresAt.IsZero() {
			t.Errorf("balance: %+v, %d left", b, *b.Left)
		}
		// What runs is paid for; the next one takes of what is left.
		if want := b.At.Add(time.Hour + 2*time.Hour + 20*time.Second); b.RunsOutAt.Sub(want).Abs() > 2*time.Second {
			t.Errorf("runs out at %v, want %v", b.RunsOutAt, want)
		}
		if _, err := r.gate.Balance(r.as(tok, "get_balance"), control.BalanceQuery{Grant: sandbox.GrantOwner}); sandbox.CodeOf(err) != sandbox.Forbidden {
			t.Errorf("of another: %v", err)
		}
		q, err := r.gate.Quote(r.as(tok, "quote"), living(3*time.Hour))
		if err != nil || q.Fits || q.Level != "grant" || q.Hold != 1_514_626 || q.Longest < 7190 || q.Longest > 7210 {
			t.Errorf("quote: %+v, %v", q, err)
		}
		if q, err = r.gate.Quote(r.as(tok, "quote"), living(time.Hour)); err != nil || !q.Fits || q.Hold != holdOfHour || q.Expected != holdOfHour {
			t.Errorf("quote: %+v, %v", q, err)
		}
	})
}

// A balance is that of the place where the caller's sandboxes would be made.
func TestA21_BalanceOfTheCallersProfile(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(100_000_000)})
		ask := func(q control.BalanceQuery) sandbox.Balance {
			t.Helper()
			b, err := r.gate.Balance(r.as(tok, "get_balance"), q)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		near := func(what string, b sandbox.Balance, want sandbox.Seconds) {
			t.Helper()
			if b.Longest == nil || *b.Longest < want-10 || *b.Longest > want+10 {
				t.Errorf("%s: longest %v, want %d", what, b.Longest, want)
			}
		}
		there := control.BalanceQuery{Profile: aws()}
		near("no limit but the token's, which is large", ask(there), 8*3600)
		near("on this computer", ask(control.BalanceQuery{}), 8*3600)
		small := r.token(sandbox.Grant{Limit: micro(holdOfHour / 2)})
		b, err := r.gate.Balance(r.as(small, "get_balance"), there)
		if err != nil {
			t.Fatal(err)
		}
		near("the token's own limit alone", b, 1800)
		if _, err := r.gate.SetBudget(t.Context(), sandbox.Budget{Level: sandbox.LevelProfile, Owner: aws().Name, Limit: micro(2 * holdOfHour)}); err != nil {
			t.Fatal(err)
		}
		r.create(r.as(tok, "create_sandbox"), living(time.Hour))
		b = ask(there)
		near("the profile's limit", b, 3600)
		if len(b.Budgets) != 3 || b.Budgets[1].Owner != aws().Name || *b.Left != holdOfHour {
			t.Errorf("left %v of %+v", b.Left, b.Budgets)
		}
		r.create(r.as(tok, "create_sandbox"), sandbox.Spec{Profile: aws(), Timeout: time.Hour, Asked: true, Name: "second"})
		b = ask(there)
		if *b.Left != 0 || b.Longest == nil || *b.Longest != 0 {
			t.Errorf("with nothing left: %v, longest %v", *b.Left, b.Longest)
		}
	})
}

// What a quote expects is what is booked for a sandbox that runs all its life.
func TestQuoteExpectsWhatIsBooked(t *testing.T) {
	for _, burst := range []sandbox.Burst{sandbox.BurstStrict, sandbox.BurstBaseline} {
		t.Run(string(burst), func(t *testing.T) {
			ring(t, func(t *testing.T, r *till) {
				tok := r.token(sandbox.Grant{Limit: micro(10 * holdOfHour), Burst: burst})
				q, err := r.gate.Quote(r.as(tok, "quote"), living(time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				r.create(r.as(tok, "create_sandbox"), living(time.Hour))
				r.in(time.Hour + 5*time.Minute)
				if b := r.budget(tok.Grant.ID); b.Held != 0 || b.Spent != q.Expected || b.Spent > q.Hold {
					t.Errorf("%+v was booked, where %d was expected and %d held", b, q.Expected, q.Hold)
				}
			})
		})
	}
}

// A token that may not know what others spend is told what they leave it.
func TestBalanceKeepsOthersToThemselves(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		if _, err := r.gate.SetBudget(t.Context(), sandbox.Budget{Level: sandbox.LevelGlobal, Limit: micro(5 * holdOfHour)}); err != nil {
			t.Fatal(err)
		}
		r.create(t.Context(), living(time.Hour))
		for _, billing := range []bool{false, true} {
			scopes := []sandbox.Scope{sandbox.ScopeRead}
			if billing {
				scopes = append(scopes, sandbox.ScopeBilling)
			}
			tok := r.token(sandbox.Grant{Scopes: scopes})
			b, err := r.gate.Balance(r.as(tok, "get_balance"), control.BalanceQuery{Profile: aws()})
			if err != nil {
				t.Fatal(err)
			}
			all := b.Budgets[2]
			if all.Level != sandbox.LevelGlobal || *all.Left() != 4*holdOfHour || *b.Left != 4*holdOfHour {
				t.Errorf("billing %t: %+v", billing, all)
			}
			if told := all.Held != 0; told != billing || all.LeftOnly == billing || *all.Limit == 5*holdOfHour != billing {
				t.Errorf("billing %t: held %d of %d", billing, all.Held, *all.Limit)
			}
			if profile := b.Budgets[1]; profile.Held != 0 != billing {
				t.Errorf("billing %t: %+v", billing, profile)
			}
		}
	})
}
