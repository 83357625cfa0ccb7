package ledger_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// Test1_A1_Goroutines has a thousand goroutines ask for ten holds' worth: ten
// pass, and at no time is more held than the limit.
func Test1_A1_Goroutines(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for i := range 1000 {
		wg.Go(func() {
			_, err := r.Reserve(r.ctx(), want(order(fmt.Sprint("o", i), g.ID, 100)))
			switch {
			case err == nil:
				passed.Add(1)
			case sandbox.CodeOf(err) != sandbox.BudgetExceeded:
				t.Error(err)
			}
			if i%10 > 0 {
				return
			}
			if b, err := r.Budget(r.ctx(), sandbox.LevelGrant, g.ID); err != nil || b.Spent+b.Held > 1000 {
				t.Errorf("spent %d and held %d of 1000, %v", b.Spent, b.Held, err)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 10 {
		t.Errorf("%d orders passed, want 10", passed.Load())
	}
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 1000)
	r.wantClean()
}

// Test2_A11_Limits asks for just less, just as much and just more than is left.
func Test2_A11_Limits(t *testing.T) {
	tests := []struct {
		name  string
		limit sandbox.Micro // below zero: none
		hold  sandbox.Micro
		left  sandbox.Micro // where it is refused
		want  sandbox.Code
	}{
		{"one less", 1000, 999, 0, ""},
		{"all", 1000, 1000, 0, ""},
		{"one more", 1000, 1001, 1000, sandbox.BudgetExceeded},
		{"nothing of zero", 0, 0, 0, ""},
		{"one of zero", 0, 1, 0, sandbox.BudgetExceeded},
		{"no limit", -1, math.MaxInt64 - 1, 0, ""},
		{"more than can be counted", -1, math.MaxInt64, 0, sandbox.Invalid},
		{"below zero", 1000, -1, 0, sandbox.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			g := r.grant("agent", tt.limit)
			_, err := r.Reserve(r.ctx(), want(order("a", g.ID, tt.hold)))
			r.wantCode(err, tt.want)
			held := tt.hold
			if tt.want != "" {
				held = 0
			}
			r.wantBudget(sandbox.LevelGrant, g.ID, 0, held)
			if tt.want == sandbox.BudgetExceeded {
				no, ok := errors.AsType[*ledger.Refused](err)
				if !ok || no.Level != sandbox.LevelGrant || no.Owner != g.ID || no.Asked != tt.hold || no.Left != tt.left || no.Over {
					t.Errorf("refused: %+v", no)
				}
				if d := sandbox.ToError(err).Details; d["level"] != "grant" || d["left_micro"] != int64(tt.left) || d["asked_micro"] != int64(tt.hold) {
					t.Errorf("details: %v", d)
				}
			}
			r.wantClean()
		})
	}
}

// Test3_Levels has each level refuse after the ones before it have agreed.
func Test3_Levels(t *testing.T) {
	tests := []struct {
		level sandbox.BudgetLevel
		owner string
	}{{sandbox.LevelProfile, "work"}, {sandbox.LevelGlobal, ""}}
	for _, tt := range tests {
		t.Run(string(tt.level), func(t *testing.T) {
			r := newRig(t)
			g := r.grant("agent", 1000)
			_, err := r.SetBudget(r.ctx(), tt.level, tt.owner, new(sandbox.Micro(500)), sandbox.PeriodNone)
			r.must(err)
			w := want(order("a", g.ID, 600))
			w.Tool, w.Key, w.Hash = "create_sandbox", "k", "h"
			_, err = r.Reserve(r.ctx(), w)
			r.wantCode(err, sandbox.BudgetExceeded)
			if no, ok := errors.AsType[*ledger.Refused](err); !ok || no.Level != tt.level || no.Left != 500 || no.Asked != 600 {
				t.Errorf("refused: %v", no)
			}
			r.wantBudget(sandbox.LevelGrant, g.ID, 0, 0)
			r.wantBudget(sandbox.LevelProfile, "work", 0, 0)
			r.wantBudget(sandbox.LevelGlobal, "", 0, 0)
			if _, err := r.Order(r.ctx(), "a"); sandbox.CodeOf(err) != sandbox.NotFound {
				t.Errorf("an order is left: %v", err)
			}
			if events := r.events(""); len(events) != 1 || events[0].Kind != sandbox.EventBudgetSet {
				t.Errorf("events are left: %v", events)
			}
			if entries := r.export(ledger.TableEntries).Entries; len(entries) != 0 {
				t.Errorf("entries are left: %v", entries)
			}
			w.Order.Hold = 500 // the key is free, since nothing came of it
			if found, err := r.Reserve(r.ctx(), w); err != nil || found.Outcome != ledger.Fresh {
				t.Errorf("a smaller one: %q, %v", found.Outcome, err)
			}
			r.wantClean()
		})
	}
}

// TestRefusedByGrant has grants that open nothing be looked at inside of the
// transaction.
func TestRefusedByGrant(t *testing.T) {
	tests := []struct {
		name   string
		change func(*sandbox.Grant)
		want   sandbox.Code
	}{
		{"disabled", func(g *sandbox.Grant) { g.Disabled = true }, sandbox.TokenRevoked},
		{"expires now", func(g *sandbox.Grant) { g.ExpiresAt = noon }, sandbox.TokenExpired},
		{"expires in a moment", func(g *sandbox.Grant) { g.ExpiresAt = noon.Add(time.Nanosecond) }, ""},
		{"begins in a minute", func(g *sandbox.Grant) { g.NotBefore = noon.Add(time.Minute) }, ""},
		{"begins later", func(g *sandbox.Grant) { g.NotBefore = noon.Add(time.Minute + 1) }, sandbox.Unauthenticated},
	}
	r := newRig(t)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := r.grant(tt.name, 1000, tt.change)
			_, err := r.Reserve(r.ctx(), want(order(fmt.Sprint(i), g.ID, 1)))
			r.wantCode(err, tt.want)
		})
	}
	_, err := r.Reserve(r.ctx(), want(order("nobody", "grt_none", 1)))
	r.wantCode(err, sandbox.NotFound)

	g := r.grant("with a token", 1000)
	c, err := r.AddCredential(r.ctx(), sandbox.Credential{Grant: g.ID}, [32]byte{1})
	r.must(err)
	w := want(order("by token", g.ID, 1))
	w.Credential = c.ID
	r.must(r.RevokeCredential(r.ctx(), c.ID))
	_, err = r.Reserve(r.ctx(), w)
	r.wantCode(err, sandbox.TokenRevoked)
}

// TestConcurrent counts what runs, local ones too, inside of the transaction.
func TestConcurrent(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000, func(g *sandbox.Grant) { g.MaxConcurrent = 3 })
	local := order("local", g.ID, 0)
	local.Local = true
	r.reserve(local)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, err := r.Reserve(r.ctx(), want(order(fmt.Sprint(i), g.ID, 1)))
			switch {
			case err == nil:
				passed.Add(1)
			case sandbox.CodeOf(err) != sandbox.Concurrency:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 2 {
		t.Errorf("%d passed beside the local one, want 2", passed.Load())
	}
	r.must(r.Release(r.ctx(), "local", sandbox.EndFailed))
	r.reserve(order("after", g.ID, 1))
	if n, err := r.Running(r.ctx(), g.ID); err != nil || n != 3 {
		t.Errorf("%d run, %v", n, err)
	}
	r.wantClean()
}

// Test11_Revoke races a reservation against a revocation, many times: none is
// opened after the other has been done.
func Test11_Revoke(t *testing.T) {
	r := newRig(t)
	const rounds, atOnce = 1000, 100
	for round := 0; round < rounds; round += atOnce {
		var wg sync.WaitGroup
		for i := round; i < round+atOnce; i++ {
			wg.Go(func() {
				g := r.grant(fmt.Sprint("g", i), 1000)
				id := fmt.Sprint("o", i)
				var race sync.WaitGroup
				race.Go(func() {
					r.clock.Advance(time.Millisecond)
					if _, err := r.Reserve(r.ctx(), want(order(id, g.ID, 1))); err != nil && sandbox.CodeOf(err) != sandbox.TokenRevoked {
						t.Error(err)
					}
				})
				race.Go(func() {
					r.clock.Advance(time.Millisecond)
					if _, err := r.Revoke(r.ctx(), g.ID); err != nil {
						t.Error(err)
					}
				})
				race.Wait()
				g, err := r.Grant(r.ctx(), g.ID)
				if err != nil || g.RevokedAt.IsZero() {
					t.Errorf("the grant is not revoked: %v", err)
				}
				if o, err := r.Order(r.ctx(), id); err == nil && o.AskedAt.After(g.RevokedAt) {
					t.Errorf("asked at %v, revoked at %v", o.AskedAt, g.RevokedAt)
				}
			})
		}
		wg.Wait()
	}
	r.wantClean()
}

// TestLocal opens an order that costs nothing: no budget knows of it.
func TestLocal(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 0)
	o := order("a", g.ID, 0)
	o.Local = true
	r.reserve(o)
	r.run("a")
	r.must(r.Add(r.ctx(), "a", 70, "suspend:1"))
	r.settle("a", 5000)
	o, err := r.Order(r.ctx(), "a")
	r.must(err)
	if *o.Settled != 0 || o.Would != 5000 || o.Cost.Total != 5000 || o.Hold != 0 {
		t.Errorf("order: %+v", o)
	}
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 0)
	rows, err := r.Spend(r.ctx(), ledger.ByGrant, "", time.Time{}, time.Time{})
	r.must(err)
	if len(rows) != 1 || rows[0].Key != g.ID || rows[0].Cost.Total != 0 || rows[0].Would != 5000 || rows[0].Cost.Compute != 0 {
		t.Errorf("spend: %+v", rows)
	}
	o.ID, o.Hold = "b", 1
	_, err = r.Reserve(r.ctx(), want(o))
	r.wantCode(err, sandbox.Invalid)
	r.wantClean()
}

// TestUnpriced refuses what has no price where any budget has a limit.
func TestUnpriced(t *testing.T) {
	r := newRig(t)
	o := order("a", sandbox.GrantOwner, 0)
	o.Unpriced = true
	r.reserve(o)
	_, err := r.SetBudget(r.ctx(), sandbox.LevelProfile, "work", new(sandbox.Micro(500)), "")
	r.must(err)
	o.ID = "b"
	_, err = r.Reserve(r.ctx(), want(o))
	r.wantCode(err, sandbox.PriceUnknown)
	r.wantClean()
}

// TestAddAndLower changes what is held for an open order.
func TestAddAndLower(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000)
	r.reserve(order("a", g.ID, 400))
	r.must(r.Add(r.ctx(), "a", 100, "suspend:1"))
	r.must(r.Add(r.ctx(), "a", 100, "suspend:1")) // the same
	r.wantBudget(sandbox.LevelGlobal, "", 0, 500)
	r.wantCode(r.Add(r.ctx(), "a", 501, "suspend:2"), sandbox.BudgetExceeded)
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 500)
	r.must(r.Lower(r.ctx(), "a", 200))
	r.must(r.Lower(r.ctx(), "a", 300)) // never up
	r.wantBudget(sandbox.LevelProfile, "work", 0, 200)
	r.must(r.Add(r.ctx(), "a", 800, "suspend:2"))
	r.must(r.Lower(r.ctx(), "a", 200))
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 200)
	r.wantClean()
	r.must(r.Release(r.ctx(), "a", sandbox.EndFailed))
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 0)
	r.wantCode(r.Add(r.ctx(), "a", 1, "suspend:3"), sandbox.WrongState)
	r.wantCode(r.Lower(r.ctx(), "a", 0), sandbox.WrongState)
	r.wantClean()
}
