package ledger_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// noon is a Wednesday.
var noon = time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)

// A rig is a ledger with a clock of its own.
type rig struct {
	*ledger.Ledger
	t     testing.TB
	clock *clockwork.FakeClock
	path  string
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return openRig(t, filepath.Join(t.TempDir(), "state", "ledger.db"), newClock(noon))
}

func openRig(t testing.TB, path string, clock *clockwork.FakeClock) *rig {
	t.Helper()
	l, err := ledger.Open(t.Context(), ledger.Config{Path: path, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{l, t, clock, path}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func newClock(at time.Time) *clockwork.FakeClock { return clockwork.NewFakeClockAt(at) }

// exported is what Export writes as JSON.
type exported struct {
	Orders  []sandbox.Order `json:"orders"`
	Entries []ledger.Entry  `json:"entries"`
}

func (r *rig) export(tables ...ledger.Table) exported {
	r.t.Helper()
	var text bytes.Buffer
	r.must(r.Export(r.ctx(), &text, ledger.FormatJSON, tables...))
	var out exported
	r.must(json.Unmarshal(text.Bytes(), &out))
	return out
}

// ctx lasts as long as the test.
func (r *rig) ctx() context.Context { return r.t.Context() }

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// wantCode checks what an error is about.
func (r *rig) wantCode(err error, want sandbox.Code) {
	r.t.Helper()
	if got := sandbox.CodeOf(err); got != want {
		r.t.Fatalf("code %q, want %q (%v)", got, want, err)
	}
}

// grant adds a grant with a limit; below zero is none.
func (r *rig) grant(name string, limit sandbox.Micro, change ...func(*sandbox.Grant)) sandbox.Grant {
	r.t.Helper()
	g := sandbox.Grant{Name: name, Scopes: sandbox.AgentScopes(), Burst: sandbox.BurstStrict, ExpiresAt: r.clock.Now().AddDate(1, 0, 0)}
	if limit >= 0 {
		g.Limit = &limit
	}
	for _, c := range change {
		c(&g)
	}
	g, err := r.CreateGrant(r.ctx(), g)
	r.must(err)
	return g
}

// order is one of a grant.
func order(id, grant string, hold sandbox.Micro) sandbox.Order {
	return sandbox.Order{ID: id, Grant: grant, Profile: "work", Host: "claude", Template: "default", Hold: hold, Life: 3600, Burst: sandbox.BurstStrict}
}

func want(o sandbox.Order) ledger.Want { return ledger.Want{Order: o} }

// reserve opens an order that has to be fresh.
func (r *rig) reserve(o sandbox.Order) sandbox.Order {
	r.t.Helper()
	found, err := r.Reserve(r.ctx(), want(o))
	r.must(err)
	if found.Outcome != ledger.Fresh {
		r.t.Fatalf("outcome %q", found.Outcome)
	}
	return found.Order
}

// run brings a held order to running.
func (r *rig) run(id string) {
	r.t.Helper()
	r.must(r.Advance(r.ctx(), id, sandbox.OrderCreating, nil))
	r.must(r.Advance(r.ctx(), id, sandbox.OrderRunning, func(o *sandbox.Order) { o.StartedAt, o.Sandbox = r.clock.Now(), "vm-"+id }))
}

func (r *rig) settle(id string, total sandbox.Micro) {
	r.t.Helper()
	r.must(r.Settle(r.ctx(), id, sandbox.Cost{Compute: total, Total: total}, r.clock.Now(), sandbox.EndAsked))
}

// wantBudget checks what is spent and held.
func (r *rig) wantBudget(level sandbox.BudgetLevel, owner string, spent, held sandbox.Micro) {
	r.t.Helper()
	b, err := r.Budget(r.ctx(), level, owner)
	r.must(err)
	if b.Spent != spent || b.Held != held {
		r.t.Errorf("budget of %s %s: spent %d, held %d; want %d, %d", level, owner, b.Spent, b.Held, spent, held)
	}
}

// wantClean checks that no rule is broken.
func (r *rig) wantClean() {
	r.t.Helper()
	violations, err := r.Check(r.ctx())
	r.must(err)
	for _, v := range violations {
		r.t.Errorf("check: %+v", v)
	}
}

// events are those of a kind, the oldest first, by ID.
func (r *rig) events(kind sandbox.EventKind) []sandbox.Event {
	r.t.Helper()
	page, err := r.Events(r.ctx(), sandbox.EventQuery{Kind: kind, Limit: 1000})
	r.must(err)
	out := page.Events
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
