package ledger_test

import (
	"os"
	"runtime"
	"testing"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// TestLife leads an order from its hold to its settlement, over a new start.
func TestLife(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000)
	r.reserve(order("a", g.ID, 400))
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 400)
	r.run("a")
	r.must(r.Close())
	r = openRig(t, r.path, r.clock)
	open, err := r.Open(r.ctx())
	r.must(err)
	if len(open) != 1 || open[0].ID != "a" || open[0].Sandbox != "vm-a" || open[0].State != sandbox.OrderRunning {
		t.Fatalf("open: %+v", open)
	}
	r.settle("a", 300)
	r.wantBudget(sandbox.LevelGrant, g.ID, 300, 0)
	r.wantBudget(sandbox.LevelProfile, "work", 300, 0)
	r.wantBudget(sandbox.LevelGlobal, "", 300, 0)
	o, err := r.Order(r.ctx(), "a")
	r.must(err)
	if o.State != sandbox.OrderSettled || o.Settled == nil || *o.Settled != 300 || o.Hold != 400 || o.EndReason != sandbox.EndAsked {
		t.Errorf("order: %+v", o)
	}
	rows, err := r.Spend(r.ctx(), ledger.ByDay, "", noon.AddDate(0, 0, -1), noon.AddDate(0, 0, 1))
	r.must(err)
	if len(rows) != 1 || rows[0].Key != "2026-06-10" || rows[0].Cost.Total != 300 || rows[0].Sandboxes != 1 {
		t.Errorf("spend: %+v", rows)
	}
	r.wantClean()
	info, err := os.Stat(r.path)
	r.must(err)
	if info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v", info.Mode())
	}
}
