package app

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// by is a context of a connection's tool.
func (r *till) by(connection, tool string) context.Context {
	ctx, _ := sandbox.WithCall(r.t.Context(), sandbox.Caller{Connection: connection, Tool: tool})
	return ctx
}

// refuses fails unless err has a code.
func refuses(t *testing.T, what string, err error, want sandbox.Code) {
	t.Helper()
	if got := sandbox.CodeOf(err); got != want {
		t.Errorf("%s: %q, want %q (%v)", what, got, want, err)
	}
}

// A token sees and touches what is its own, and nothing else.
func TestTokenKeepsToItsOwn(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		mine, other := r.token(sandbox.Grant{}), r.token(sandbox.Grant{})
		manager := r.token(sandbox.Grant{Scopes: []sandbox.Scope{sandbox.ScopeRead, sandbox.ScopeManage}})
		viewer := r.token(sandbox.Grant{Scopes: []sandbox.Scope{sandbox.ScopeRead}})
		s, theirs := r.create(r.as(mine, "create_sandbox"), living(time.Hour)), r.create(r.as(other, "create_sandbox"), living(time.Hour))
		file := func(tok control.NewToken, id string) error {
			_, err := r.gate.Stat(r.as(tok, "read_file"), sandbox.FileRequest{Target: sandbox.Target{Sandbox: id}, Path: "x"}, nil)
			return err
		}
		refuses(t, "a file of its own", file(mine, s.ID), "")
		refuses(t, "a file of another's", file(mine, theirs.ID), sandbox.Forbidden)
		refuses(t, "a file, by a viewer", file(viewer, s.ID), sandbox.Forbidden)
		_, err := r.gate.Get(r.as(mine, "get_sandbox"), theirs.ID)
		refuses(t, "another's", err, sandbox.Forbidden)
		_, err = r.gate.Get(r.as(manager, "get_sandbox"), theirs.ID)
		refuses(t, "another's, by a manager", err, "")
		_, err = r.gate.Create(r.as(viewer, "create_sandbox"), living(time.Hour))
		refuses(t, "a sandbox for a viewer", err, sandbox.Forbidden)
		_, err = r.gate.Create(r.as(viewer, "list_sandboxes"), living(time.Hour))
		refuses(t, "a sandbox by a tool that lists", err, sandbox.Forbidden)
		refuses(t, "an end of another's", r.gate.Terminate(r.as(mine, "terminate_sandbox"), theirs.ID, ""), sandbox.Forbidden)
		list := func(tok control.NewToken) int {
			all, err := r.gate.List(r.as(tok, "list_sandboxes"), sandbox.ListRequest{Profile: aws()})
			if err != nil {
				t.Fatal(err)
			}
			return len(all)
		}
		if list(mine) != 1 || list(viewer) != 0 || list(manager) != 2 {
			t.Errorf("lists: %d, %d, %d", list(mine), list(viewer), list(manager))
		}
		page, err := r.gate.Events(r.as(mine, "get_events"), sandbox.EventQuery{})
		refuses(t, "events", err, "")
		for _, e := range page.Events {
			if e.Grant != mine.Grant.ID {
				t.Errorf("an event of another: %+v", e)
			}
		}
		_, err = r.gate.Events(r.as(mine, "get_events"), sandbox.EventQuery{Grant: other.Grant.ID})
		refuses(t, "events of another", err, sandbox.Forbidden)
		_, err = r.gate.Spend(r.as(mine, ""), sandbox.SpendQuery{By: sandbox.SpendByToken})
		refuses(t, "what all spend", err, sandbox.Forbidden)
		refuses(t, "an end by a manager", r.gate.Terminate(r.as(manager, "terminate_sandbox"), theirs.ID, ""), "")
	})
}

// What only the owner may do is refused to tokens and to tools, whoever's.
func TestOwnerOnly(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Scopes: sandbox.Scopes()})
		for name, ctx := range map[string]context.Context{"token": r.as(tok, ""), "tool with a token": r.as(tok, "run_command"), "tool": r.by("c_1", "run_command")} {
			none := struct{}{}
			for what, do := range map[string]func() error{
				"create": func() error { _, err := r.gate.CreateToken(ctx, sandbox.Grant{Name: "x"}); return err },
				"list":   func() error { _, err := r.gate.Tokens(ctx, ""); return err },
				"edit":   func() error { _, err := r.gate.EditToken(ctx, control.TokenEdit{Seen: tok.Grant}); return err },
				"rotate": func() error {
					_, err := r.gate.RotateToken(ctx, control.TokenRotation{Grant: tok.Grant.ID})
					return err
				},
				"revoke": func() error {
					_, err := r.gate.RevokeToken(ctx, control.TokenRevocation{Grant: tok.Grant.ID})
					return err
				},
				"disable": func() error { _, err := r.gate.DisableToken(ctx, control.TokenSwitch{Grant: tok.Grant.ID}); return err },
				"bind":    func() error { _, err := r.gate.Bind(ctx, control.Binding{Connection: "c_1"}); return err },
				"budgets": func() error { _, err := r.gate.Budgets(ctx, none); return err },
				"budget":  func() error { _, err := r.gate.SetBudget(ctx, sandbox.Budget{Level: sandbox.LevelGlobal}); return err },
				"clock":   func() error { _, err := r.gate.ConfirmClock(ctx, none); return err },
				"check":   func() error { _, err := r.gate.CheckLedger(ctx, none); return err },
				"export":  func() error { return r.gate.ExportLedger(ctx, "csv", func([]byte) error { return nil }) },
				"bill":    func() error { _, err := r.gate.Bill(ctx, control.BillQuery{}); return err },
				"prices":  func() error { _, err := r.gate.RefreshPrices(ctx, ""); return err },
				"profile": func() error { _, err := r.gate.Profile(ctx, control.ProfileRequest{}, nil); return err },
			} {
				refuses(t, what+" by a "+name, do(), sandbox.Forbidden)
			}
		}
	})
}

// Edits at once change what each of them says, and none raises what another has
// lowered.
func TestEditToken(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		was := r.token(sandbox.Grant{Limit: micro(10_000_000), MaxHours: 8}).Grant
		edit := func(e control.TokenEdit) error {
			_, err := r.gate.EditToken(t.Context(), e)
			return err
		}
		lower := control.TokenEdit{Seen: was, Limit: &control.TokenLimit{Limit: micro(1_000_000)}}
		refuses(t, "a lower limit", edit(lower), "")
		refuses(t, "shorter lives, by who saw the old limit", edit(control.TokenEdit{Seen: was, MaxHours: new(1.0)}), "")
		refuses(t, "fewer, by who saw the old limit", edit(control.TokenEdit{Seen: was, MaxConcurrent: new(2)}), "")
		now, err := r.gate.Tokens(t.Context(), was.ID)
		if err != nil {
			t.Fatal(err)
		}
		if g := now[0].Grant; *g.Limit != 1_000_000 || g.MaxHours != 1 || g.MaxConcurrent != 2 || !g.ExpiresAt.Equal(was.ExpiresAt) {
			t.Errorf("after three edits: %+v", g)
		}
		for what, to := range map[string]*sandbox.Micro{"less than was seen, more than it is": micro(5_000_000), "more than was seen": micro(20_000_000), "none": nil} {
			refuses(t, what, edit(control.TokenEdit{Seen: was, Limit: &control.TokenLimit{Limit: to}}), sandbox.WrongState)
		}
		refuses(t, "a raise from what is there", edit(control.TokenEdit{Seen: now[0].Grant, Limit: &control.TokenLimit{Limit: micro(2_000_000)}}), "")
		if now, err = r.gate.Tokens(t.Context(), was.ID); err != nil || *now[0].Grant.Limit != 2_000_000 {
			t.Errorf("after the raise: %+v, %v", now, err)
		}
	})
}

// A token that is revoked opens nothing, ends what is being done with it, and its
// sandboxes, unless those are to be kept.
func TestRevoke(t *testing.T) {
	for _, keep := range []bool{false, true} {
		ring(t, func(t *testing.T, r *till) {
			tok := r.token(sandbox.Grant{Limit: micro(3 * holdOfHour)})
			s := r.create(r.as(tok, "create_sandbox"), living(time.Hour))
			followed := make(chan error, 1)
			go func() {
				followed <- r.gate.FollowEvents(r.as(tok, "get_events"), func(sandbox.Event) error { return nil })
			}()
			synctest.Wait()
			if _, err := r.gate.RevokeToken(t.Context(), control.TokenRevocation{Grant: tok.Grant.Name, Keep: keep}); err != nil {
				t.Fatal(err)
			}
			refuses(t, "what was open", <-followed, sandbox.TokenRevoked)
			_, err := r.gate.Get(r.as(tok, "get_sandbox"), s.ID)
			refuses(t, "a look", err, sandbox.TokenRevoked)
			r.in(time.Minute)
			got, err := r.gate.Get(t.Context(), s.ID)
			if err != nil || got.State.Alive() != keep || !keep && got.EndReason != sandbox.EndBudget {
				t.Errorf("keep %t: %+v, %v", keep, got, err)
			}
			if b := r.budget(tok.Grant.ID); (b.Held > 0) != keep {
				t.Errorf("keep %t: %+v", keep, b)
			}
			r.clean()
		})
	}
}

// A token goes on with another secret, is switched off and on, and ends.
func TestTokenLife(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{ExpiresAt: r.clock.Now().Add(36 * time.Hour)})
		look := func(t *testing.T, tok control.NewToken, what string, want sandbox.Code) {
			t.Helper()
			_, err := r.gate.Authorize(r.as(tok, "get_balance"), struct{}{})
			refuses(t, what, err, want)
		}
		look(t, tok, "at first", "")
		next, err := r.gate.RotateToken(t.Context(), control.TokenRotation{Grant: tok.Grant.ID, Overlap: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		look(t, tok, "the old one beside the new one", "")
		r.in(time.Hour)
		look(t, tok, "the old one after an hour", sandbox.TokenRevoked)
		look(t, next, "the new one", "")
		for _, off := range []bool{true, false} {
			if _, err := r.gate.DisableToken(t.Context(), control.TokenSwitch{Grant: tok.Grant.ID, Disabled: off}); err != nil {
				t.Fatal(err)
			}
			want := sandbox.TokenRevoked
			if !off {
				want = ""
			}
			look(t, next, "switched", want)
		}
		tooLong := living(8 * time.Hour)
		r.in(28 * time.Hour)
		_, err = r.gate.Create(r.as(next, "create_sandbox"), tooLong)
		refuses(t, "one that outlives it", err, sandbox.HoursTooLong)
		if e := r.events(sandbox.EventExpiring); len(e) != 1 {
			t.Errorf("reminders: %v", e)
		}
		r.in(7 * time.Hour)
		look(t, next, "after its end", sandbox.TokenExpired)
		if e := r.events(sandbox.EventExpiring); len(e) != 2 {
			t.Errorf("reminders: %v", e)
		}
		r.restart()
		r.in(time.Minute)
		if e := r.events(sandbox.EventExpiring); len(e) != 2 {
			t.Errorf("reminders after a restart: %v", e)
		}
	})
}

// A connection pays from the grant that it is bound to, from its next call on.
func TestConnectionsGrant(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(2 * holdOfHour)})
		spec := sandbox.Spec{Profile: aws(), Timeout: time.Hour}
		lease := r.hold(t.Context(), sandbox.Lease{Connection: "c_1", Spec: spec})
		if _, err := r.gate.Bind(t.Context(), control.Binding{Connection: "c_1", Grant: tok.Grant.Name}); err != nil {
			t.Fatal(err)
		}
		r.run(r.by("c_1", "run_command"), lease)
		if b := r.budget(tok.Grant.ID); b.Held != holdOfHour {
			t.Errorf("bound: %+v", b)
		}
		if _, err := r.gate.Exec(r.by("c_2", "run_command"), sandbox.Exec{ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Args: []string{"true"}}, 0, nil); sandbox.CodeOf(err) != sandbox.Forbidden {
			t.Errorf("another connection's call: %v", err)
		}
		if _, err := r.gate.Bind(t.Context(), control.Binding{Connection: "c_1"}); err != nil {
			t.Fatal(err)
		}
		s := r.create(r.by("c_1", "create_sandbox"), called("own"))
		if s.Grant != sandbox.GrantOwner {
			t.Errorf("unbound: %+v", s)
		}
		if b := r.budget(sandbox.GrantOwner); b.Held != holdOfHour || b.Limit != nil {
			t.Errorf("the owner's: %+v", b)
		}
	})
}

// Each budget can refuse, and one that does leaves nothing held in the others.
func TestBudgetsOfAllLevels(t *testing.T) {
	for level, owner := range map[sandbox.BudgetLevel]string{sandbox.LevelProfile: "env:test", sandbox.LevelGlobal: ""} {
		ring(t, func(t *testing.T, r *till) {
			if _, err := r.gate.SetBudget(t.Context(), sandbox.Budget{Level: level, Owner: owner, Limit: micro(2*holdOfHour - 1), Period: sandbox.PeriodDay}); err != nil {
				t.Fatal(err)
			}
			tok := r.token(sandbox.Grant{Limit: micro(9 * holdOfHour)})
			r.create(r.as(tok, ""), called("a"))
			_, err := r.gate.Create(r.as(tok, ""), called("b"))
			if e := sandbox.ToError(err); sandbox.CodeOf(err) != sandbox.BudgetExceeded || e.Details["level"] != string(level) {
				t.Errorf("%s: %v", level, err)
			}
			if _, err := r.gate.Create(t.Context(), called("c")); sandbox.CodeOf(err) != sandbox.BudgetExceeded {
				t.Errorf("%s: the owner's: %v", level, err)
			}
			if b := r.budget(tok.Grant.ID); b.Held != holdOfHour {
				t.Errorf("%s: %+v", level, b)
			}
			if e := r.events(sandbox.EventThreshold); len(e) == 0 {
				t.Errorf("%s: no threshold was told of", level)
			}
			if a := r.gate.Alerts(r.as(tok, "get_balance")); len(a) == 0 || a[0].At.Before(a[len(a)-1].At) {
				t.Errorf("%s: alerts %v", level, a)
			}
			r.clean()
		})
	}
}

// Without a price a limit can't hold, so nothing is made; without a limit it is,
// and what it costs is not known.
func TestUnknownPrice(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		r.cloud.image.ARN = "arn:aws:lambda:mars-north-1:000000000000:microvm-image:test"
		tok := r.token(sandbox.Grant{Limit: micro(9 * holdOfHour)})
		_, err := r.gate.Create(r.as(tok, "create_sandbox"), living(time.Hour))
		refuses(t, "with a limit", err, sandbox.PriceUnknown)
		free := r.token(sandbox.Grant{})
		s := r.create(r.as(free, "create_sandbox"), living(time.Hour))
		page, err := r.gate.Orders(r.as(free, ""), sandbox.OrderQuery{})
		if err != nil || len(page.Orders) != 1 || !page.Orders[0].Unpriced || page.Orders[0].Hold != 0 || s.Hold != 0 {
			t.Errorf("without: %+v, %v", page, err)
		}
		if q, err := r.gate.Quote(r.as(tok, "quote"), living(time.Hour)); err != nil || !q.Unpriced || q.Fits {
			t.Errorf("quote: %+v, %v", q, err)
		}
		if err := r.gate.Terminate(t.Context(), s.ID, ""); err != nil {
			t.Error(err)
		}
		r.in(time.Second)
		r.clean()
	})
}

// A sandbox of this computer costs nothing, and is counted all the same.
func TestLocalIsFree(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(0), MaxConcurrent: 1})
		spec := living(time.Hour)
		spec.Profile = sandbox.Profile{Name: sandbox.ProfileLocal}
		s := r.create(r.as(tok, "create_sandbox"), spec)
		second := spec
		second.Name = "second"
		_, err := r.gate.Create(r.as(tok, "create_sandbox"), second)
		refuses(t, "a second one", err, sandbox.Concurrency)
		r.in(30 * time.Minute)
		if err := r.gate.Terminate(r.as(tok, "terminate_sandbox"), s.ID, ""); err != nil {
			t.Fatal(err)
		}
		r.in(time.Second)
		page, err := r.gate.Orders(r.as(tok, ""), sandbox.OrderQuery{})
		if err != nil || len(page.Orders) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		o := page.Orders[0]
		if want := r.cloud.reckon(t, s.ID, sandbox.BurstStrict); !o.Local || o.Hold != 0 || *o.Settled != 0 || o.Would != want || o.Cost.Total != want {
			t.Errorf("%+v, want %d", o, want)
		}
		r.clean()
	})
}

// Old prices are told of once a day, where they are used.
func TestStalePrices(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		stale := func() (n int) {
			page, err := r.gate.Events(t.Context(), sandbox.EventQuery{Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range page.Events {
				if e.Kind == sandbox.EventPriceStale {
					n++
				}
			}
			return n
		}
		local := living(time.Hour)
		local.Profile = sandbox.Profile{Name: sandbox.ProfileLocal}
		r.create(t.Context(), local)
		r.in(2 * readEvery)
		if n := stale(); n != 0 {
			t.Errorf("told %d times, and nothing costs", n)
		}
		old := living(time.Hour)
		r.cloud.image.ARN = "arn:aws:lambda:us-east-2:000000000000:microvm-image:old" // where prices are older than most
		r.create(t.Context(), old)
		r.in(3 * readEvery)
		if n := stale(); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
		r.in(24 * time.Hour)
		if n := stale(); n != 2 {
			t.Errorf("told %d times in two days", n)
		}
	})
}

// Where the ledger can't be used, nothing that costs begins; looking and ending
// go on.
func TestMoney20_WithoutLedger(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		r.stop()
		path := filepath.Join(r.dir, "state", "ledger.db")
		if err := os.WriteFile(path, []byte("this is no database, nor was it ever one"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, more := range []string{"-wal", "-shm"} {
			os.Remove(path + more)
		}
		r.cloud.vms["vm-9"] = newVM(r)
		r.open()
		_, err := r.gate.Create(t.Context(), living(time.Hour))
		if e := sandbox.ToError(err); sandbox.CodeOf(err) != sandbox.StoreDown || e.Hint == "" {
			t.Errorf("create: %v", err)
		}
		_, err = r.gate.Balance(t.Context(), control.BalanceQuery{})
		refuses(t, "balance", err, sandbox.StoreDown)
		all, err := r.gate.List(t.Context(), sandbox.ListRequest{Profile: aws(), Template: "test"})
		if err != nil || len(all) != 1 || !all[0].Orphan {
			t.Errorf("list: %+v, %v", all, err)
		}
		if err := r.gate.Terminate(r.by("c_1", "terminate_sandbox"), "vm-9", ""); err != nil || r.cloud.alive() != 0 {
			t.Errorf("terminate: %v, %d alive", err, r.cloud.alive())
		}
	})
}

// A tool that asks too often is told how long to wait.
func TestRates(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Rate: 3})
		first := func() context.Context {
			ctx, _ := sandbox.WithCall(t.Context(), sandbox.Caller{Token: tok.Secret, Tool: "get_balance", HTTP: true, First: true})
			return ctx
		}
		for range 3 {
			if _, err := r.gate.Authorize(first(), struct{}{}); err != nil {
				t.Fatal(err)
			}
		}
		_, err := r.gate.Authorize(first(), struct{}{})
		if e := sandbox.ToError(err); sandbox.CodeOf(err) != sandbox.RateLimited || e.RetryAfter <= 0 {
			t.Fatalf("the fourth: %v", err)
		}
		if _, err := r.gate.Authorize(r.as(tok, "get_balance"), struct{}{}); err != nil {
			t.Errorf("the rest of a call that was let in: %v", err)
		}
		r.in(20 * time.Second)
		if _, err := r.gate.Authorize(first(), struct{}{}); err != nil {
			t.Errorf("later: %v", err)
		}
	})
}
