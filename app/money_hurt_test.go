package app

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// hurt spoils the first page of a table, of a ledger that nobody has open.
func hurt(t *testing.T, path, table string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	err = db.QueryRow("SELECT rootpage FROM sqlite_master WHERE name = ?", table).Scan(&page)
	if err == nil {
		err = db.QueryRow("PRAGMA page_size").Scan(&size)
	}
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(slices.Repeat([]byte{0xff}, 200), (page-1)*size); err != nil {
		t.Fatal(err)
	}
}

// A ledger that is damaged in part keeps nobody from looking and ending, who may
// do that: not tokens, nor connections that were bound to one.
func TestMoney20_DamagedInPart(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Scopes: []sandbox.Scope{sandbox.ScopeRead}})
		if _, err := r.gate.Bind(t.Context(), control.Binding{Connection: "c_bound", Grant: tok.Grant.ID}); err != nil {
			t.Fatal(err)
		}
		first, second := r.create(t.Context(), living(time.Hour)), r.create(t.Context(), living(2*time.Hour))
		r.stop()
		hurt(t, filepath.Join(r.dir, "state", "ledger.db"), "grants")
		r.open()
		if r.gate.books.ledger == nil {
			t.Fatalf("the ledger was not opened: %v", r.gate.books.down)
		}
		all, err := r.gate.List(t.Context(), sandbox.ListRequest{})
		if err != nil || len(all) != 2 {
			t.Errorf("list: %+v, %v", all, err)
		}
		for what, ctx := range map[string]context.Context{"a token": r.as(tok, "terminate_sandbox"), "a bound connection": r.by("c_bound", "terminate_sandbox")} {
			refuses(t, "an end by "+what, r.gate.Terminate(ctx, first.ID, ""), sandbox.StoreDown)
			_, err := r.gate.List(ctx, sandbox.ListRequest{})
			refuses(t, "a list for "+what, err, sandbox.StoreDown)
		}
		_, err = r.gate.Create(t.Context(), living(time.Hour))
		refuses(t, "create", err, sandbox.StoreDown)
		refuses(t, "an end by the owner", r.gate.Terminate(t.Context(), first.ID, ""), "")
		refuses(t, "an end by another connection", r.gate.Terminate(r.by("c_1", "terminate_sandbox"), second.ID, ""), "")
		if n := r.cloud.alive(); n != 0 {
			t.Errorf("%d alive", n)
		}
	})
}

// Where the ledger can't be opened at all, it is known all the same which
// connections are not the owner's.
func TestMoney20_BoundElsewhere(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Scopes: []sandbox.Scope{sandbox.ScopeRead}})
		for _, c := range []string{"c_bound", "c_freed"} {
			if _, err := r.gate.Bind(t.Context(), control.Binding{Connection: c, Grant: tok.Grant.ID}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.gate.Bind(t.Context(), control.Binding{Connection: "c_freed"}); err != nil {
			t.Fatal(err)
		}
		s := r.create(t.Context(), living(time.Hour))
		r.stop()
		if err := os.Truncate(filepath.Join(r.dir, "state", "ledger.db"), 0); err != nil {
			t.Fatal(err)
		}
		r.open()
		_, err := r.gate.List(r.by("c_bound", "list_sandboxes"), sandbox.ListRequest{})
		refuses(t, "a list", err, sandbox.StoreDown)
		refuses(t, "an end", r.gate.Terminate(r.by("c_bound", "terminate_sandbox"), s.ID, ""), sandbox.StoreDown)
		_, err = r.gate.List(r.by("c_freed", "list_sandboxes"), sandbox.ListRequest{})
		refuses(t, "a list for one that is the owner's again", err, "")
	})
}

// A ledger in whose place an older one was put says so, once.
func TestOlderLedger(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		path := filepath.Join(r.dir, "state", "ledger.db")
		r.restart()
		r.stop()
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r.open()
		r.create(t.Context(), living(time.Hour))
		r.restart()
		if e := r.events(sandbox.EventLedger); len(e) > 0 {
			t.Errorf("events of a ledger that is as it was: %v", e)
		}
		r.stop()
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		r.open()
		for range 2 {
			synctest.Wait()
			r.gate.books.flush()
			if e := r.events(sandbox.EventLedger); len(e) != 1 || e[0].Severity != sandbox.SeverityError {
				t.Errorf("events: %v", e)
			}
			r.restart()
		}
	})
}

// Whatever makes a sandbox for a token counts for how many it may ask for in a
// minute.
func TestLazyCreatesCount(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{})
		reserve := func(grant string, n int) error {
			return r.gate.books.Reserve(t.Context(), fleet.Ask{
				Key: fmt.Sprintf("%s-%d", grant, n), Grant: grant, Profile: "aws", Image: r.cloud.image, Life: time.Hour, At: r.clock.Now(),
			})
		}
		for n := range 10 {
			refuses(t, "one of ten", reserve(tok.Grant.ID, n), "")
		}
		err := reserve(tok.Grant.ID, 10)
		if e := sandbox.ToError(err); sandbox.CodeOf(err) != sandbox.RateLimited || e.RetryAfter <= 0 {
			t.Errorf("the eleventh: %v", err)
		}
		refuses(t, "one that is held for", reserve(tok.Grant.ID, 3), "")
		for n := range 12 {
			refuses(t, "the owner's", reserve(sandbox.GrantOwner, n), "")
		}
	})
}

// What is held for a suspend is given back if the cloud refuses it.
func TestRefusedSuspend(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(3 * holdOfHour)})
		s := r.create(r.as(tok, "create_sandbox"), living(time.Hour))
		r.cloud.suspend = func() error { return &sandbox.Error{Code: sandbox.CloudDown, Msg: "not now"} }
		for range 3 {
			_, err := r.gate.Suspend(r.as(tok, "suspend_sandbox"), s.ID)
			refuses(t, "suspend", err, sandbox.CloudDown)
			if b := r.budget(tok.Grant.ID); b.Held != holdOfHour {
				t.Errorf("held: %s, want %d", b.Held, holdOfHour)
			}
		}
		r.cloud.suspend = nil
		if _, err := r.gate.Suspend(r.as(tok, "suspend_sandbox"), s.ID); err != nil {
			t.Fatal(err)
		}
		if b := r.budget(tok.Grant.ID); b.Held <= holdOfHour {
			t.Errorf("held after a suspend: %s", b.Held)
		}
		r.clean()
	})
}

// Whoever asked for a sandbox is told of it, though the token was switched off
// while it was made: it goes on.
func TestDisabledWhileMade(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		tok := r.token(sandbox.Grant{Limit: micro(3 * holdOfHour)})
		asked, answer := make(chan bool), make(chan bool)
		r.cloud.run = func(int) (bool, error) {
			asked <- true
			<-answer
			return true, nil
		}
		type made struct {
			s   sandbox.Sandbox
			err error
		}
		done := make(chan made)
		go func() {
			s, err := r.gate.Create(r.as(tok, "create_sandbox"), living(time.Hour))
			done <- made{s, err}
		}()
		<-asked
		if _, err := r.gate.DisableToken(t.Context(), control.TokenSwitch{Grant: tok.Grant.ID, Disabled: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		close(answer)
		if m := <-done; m.err != nil || !m.s.State.Alive() || r.cloud.alive() != 1 {
			t.Errorf("create: %+v, %v, %d alive", m.s, m.err, r.cloud.alive())
		}
	})
}
