package ledger_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// An index that lacks a row is found where money is.
func TestCheckIndex(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000)
	r.reserve(order("open", g.ID, 100))
	r.wantClean()
	r.must(r.Close())
	define := "UPDATE sqlite_schema SET sql = 'CREATE INDEX entries_order ON entries (order_id)%s' WHERE name = 'entries_order'"
	execute(t, r.path, "PRAGMA writable_schema = 1", fmt.Sprintf(define, " WHERE amount_micro <> 100"))
	execute(t, r.path, "REINDEX entries_order")
	execute(t, r.path, "PRAGMA writable_schema = 1", fmt.Sprintf(define, ""))
	violations, err := openRig(t, r.path, r.clock).Check(r.ctx())
	r.must(err)
	if !slices.ContainsFunc(violations, func(v ledger.Violation) bool {
		return v.Rule == ledger.RuleFile && strings.Contains(v.Detail, "entries_order")
	}) {
		t.Errorf("found %+v", violations)
	}
}

// TestCheck breaks each rule from outside.
func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		query string
		rules []string // that are to be found broken, among others
	}{
		{"more held", "UPDATE budgets SET held_micro = held_micro + 1 WHERE level = 'grant' AND owner = 'grt_1'", []string{ledger.RuleHeld}},
		{"less spent", "UPDATE budgets SET spent_micro = spent_micro - 1 WHERE level = 'global'", []string{ledger.RuleSpent}},
		{"a settlement less", "DELETE FROM entries WHERE seq = (SELECT min(seq) FROM entries WHERE kind = 'settle')", []string{ledger.RuleSpent, ledger.RuleResolved}},
		{"another limit", "UPDATE budgets SET limit_micro = 1 WHERE owner = 'grt_1'", []string{ledger.RuleLimit}},
		{"marked for nothing", "UPDATE budgets SET over_limit = 1 WHERE owner = 'grt_1'", []string{ledger.RuleLimit}},
		{"not held everywhere", "DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries WHERE order_id = 'open')", []string{ledger.RuleHold, ledger.RuleHeld}},
		{"another amount", "UPDATE entries SET amount_micro = 1 WHERE order_id = 'open' AND kind = 'hold'", []string{ledger.RuleAmount}},
		{"open again", "UPDATE orders SET state = 'running', settled_micro = NULL WHERE id = 'done'", []string{ledger.RuleResolved, ledger.RuleHeld}},
		{"settled otherwise", "UPDATE orders SET settled_micro = 7 WHERE id = 'done'", []string{ledger.RuleResolved}},
		{"released without an entry", "UPDATE orders SET state = 'released' WHERE id = 'open'", []string{ledger.RuleResolved, ledger.RuleIdempotency}},
		{"no order", "DELETE FROM orders WHERE id = 'open'", []string{ledger.RuleOrphan, ledger.RuleIdempotency, ledger.RuleFile}},
		{"no grant", "DELETE FROM grants WHERE id = 'grt_1'", []string{ledger.RuleOrphan, ledger.RuleFile}},
		{"a key of another grant", "UPDATE idempotency SET grant_id = 'owner' WHERE order_id = 'open'", []string{ledger.RuleIdempotency}},
		{"a key for ever", "UPDATE idempotency SET expires_at = 0", []string{ledger.RuleIdempotency}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			g := r.grant("agent", 1000, func(g *sandbox.Grant) { g.ID = "grt_1" })
			for _, id := range []string{"done", "open"} {
				_, err := r.Reserve(r.ctx(), keyed(order(id, g.ID, 100), id, "h"))
				r.must(err)
				r.run(id)
			}
			r.settle("done", 60)
			r.reserve(order("nothing", g.ID, 100))
			r.must(r.Release(r.ctx(), "nothing", sandbox.EndFailed))
			r.wantClean()
			execute(t, r.path, "PRAGMA foreign_keys = 0", tt.query)
			violations, err := r.Check(r.ctx())
			r.must(err)
			for _, rule := range tt.rules {
				if !slices.ContainsFunc(violations, func(v ledger.Violation) bool { return v.Rule == rule && v.Subject != "" && v.Detail != "" }) {
					t.Errorf("rule %q is not found broken: %+v", rule, violations)
				}
			}
		})
	}
}

// TestExport writes orders and entries as JSON and CSV.
func TestExport(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000)
	o := order("a", g.ID, 400)
	o.Name = `=HYPERLINK("x")` // of an agent
	r.reserve(o)
	r.run("a")
	r.clock.Advance(time.Minute)
	r.settle("a", 300)
	r.reserve(order("b", g.ID, 1))

	out := r.export(ledger.TableOrders, ledger.TableEntries)
	if len(out.Orders) != 2 || out.Orders[0].ID != "a" || *out.Orders[0].Settled != 300 || out.Orders[0].Name != o.Name || len(out.Entries) != 9 {
		t.Errorf("JSON: %+v", out)
	}
	if e := out.Entries[3]; e.Event != "settle:a" || e.Order != "a" || e.Level != sandbox.LevelGrant || e.Owner != g.ID || e.Kind != "settle" || e.Amount != 300 || !e.At.Equal(noon.Add(time.Minute)) {
		t.Errorf("entry: %+v", e)
	}
	table := func(what ledger.Table) [][]string {
		t.Helper()
		var text bytes.Buffer
		r.must(r.Export(r.ctx(), &text, ledger.FormatCSV, what))
		rows, err := csv.NewReader(&text).ReadAll()
		r.must(err)
		return rows
	}
	rows := table(ledger.TableOrders)
	col := func(name string) int { return slices.Index(rows[0], name) }
	if len(rows) != 3 || rows[1][col("id")] != "a" || rows[1][col("settled_micro")] != "300" || rows[2][col("settled_micro")] != "" ||
		rows[1][col("name")] != "'"+o.Name || rows[1][col("ended_at")] != "2026-06-10T12:01:00Z" || rows[2][col("ended_at")] != "" {
		t.Errorf("orders: %q", rows)
	}
	rows = table(ledger.TableEntries)
	if len(rows) != 10 || strings.Join(rows[4][1:7], " ") != "settle:a a grant "+g.ID+" settle 300" {
		t.Errorf("entries: %q", rows)
	}
	for _, bad := range []error{
		r.Export(r.ctx(), &bytes.Buffer{}, "xml", ledger.TableOrders),
		r.Export(r.ctx(), &bytes.Buffer{}, ledger.FormatCSV, ledger.TableOrders, ledger.TableEntries),
		r.Export(r.ctx(), &bytes.Buffer{}, ledger.FormatJSON, "secrets"),
		r.Export(r.ctx(), &bytes.Buffer{}, ledger.FormatJSON),
	} {
		r.wantCode(bad, sandbox.Invalid)
	}
}

// TestOrders pages through orders, the newest first, each once.
func TestOrders(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", -1)
	for i := range 25 {
		owner := g.ID
		if i%5 == 0 {
			owner = sandbox.GrantOwner
		}
		r.reserve(order(fmt.Sprintf("o%02d", i), owner, 1))
		if i%2 == 0 { // some share their moment
			r.clock.Advance(time.Second)
		}
	}
	r.must(r.Release(r.ctx(), "o24", sandbox.EndFailed))
	all := func(ask sandbox.OrderQuery) (ids []string, pages int) {
		t.Helper()
		for {
			page, err := r.Orders(r.ctx(), ask)
			r.must(err)
			pages++
			for _, o := range page.Orders {
				ids = append(ids, o.ID)
			}
			if page.Next == "" {
				return ids, pages
			}
			ask.Cursor = page.Next
		}
	}
	ids, pages := all(sandbox.OrderQuery{Limit: 5})
	if len(ids) != 25 || pages != 5 || ids[0] != "o24" || ids[24] != "o00" || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("%d pages: %v", pages, ids)
	}
	for _, tt := range []struct {
		ask  sandbox.OrderQuery
		want int
	}{
		{sandbox.OrderQuery{Grant: g.ID, Limit: 3}, 20},
		{sandbox.OrderQuery{Grant: sandbox.GrantOwner}, 5},
		{sandbox.OrderQuery{Open: true, Limit: 7}, 24},
		{sandbox.OrderQuery{State: sandbox.OrderReleased}, 1},
		{sandbox.OrderQuery{Profile: "work"}, 25},
		{sandbox.OrderQuery{Profile: "none"}, 0},
		{sandbox.OrderQuery{Since: noon.Add(time.Second)}, 24},
		{sandbox.OrderQuery{Until: noon.Add(time.Second)}, 1},
	} {
		if ids, _ := all(tt.ask); len(ids) != tt.want {
			t.Errorf("%+v: %d orders, want %d", tt.ask, len(ids), tt.want)
		}
	}
	_, err := r.Orders(r.ctx(), sandbox.OrderQuery{Cursor: "rubbish"})
	r.wantCode(err, sandbox.Invalid)
}

// TestSpend sums up by each heading.
func TestSpend(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", -1)
	add := func(id, grant, profile, host, template string, total sandbox.Micro) {
		t.Helper()
		o := order(id, grant, 1000)
		o.Profile, o.Host, o.Template = profile, host, template
		r.reserve(o)
		r.run(id)
		if total >= 0 {
			r.clock.Advance(time.Hour)
			r.must(r.Settle(r.ctx(), id, sandbox.Cost{Compute: total - 1, Launch: 1, Total: total}, r.clock.Now(), sandbox.EndAsked))
		}
	}
	add("a", g.ID, "work", "claude", "one", 10)
	add("b", g.ID, "home", "cursor", "one", 20)
	r.clock.Advance(12 * time.Hour) // the next day
	add("c", sandbox.GrantOwner, "work", "claude", "two", 40)
	add("d", sandbox.GrantOwner, "work", "claude", "two", -1) // it runs
	row := func(key string, total, held sandbox.Micro, n int, seconds int64) sandbox.SpendRow {
		ended := n
		if held > 0 {
			ended--
		}
		cost := sandbox.Cost{Compute: total - sandbox.Micro(ended), Launch: sandbox.Micro(ended), Total: total}
		return sandbox.SpendRow{Key: key, Cost: cost, Held: held, Sandboxes: n, Seconds: seconds}
	}
	for _, tt := range []struct {
		by           ledger.Heading
		grant        string
		since, until time.Time
		want         []sandbox.SpendRow
	}{
		{ledger.ByDay, "", time.Time{}, time.Time{}, []sandbox.SpendRow{row("2026-06-10", 30, 0, 2, 7200), row("2026-06-11", 40, 1000, 2, 3600)}},
		{ledger.ByHost, "", time.Time{}, time.Time{}, []sandbox.SpendRow{row("claude", 50, 1000, 3, 7200), row("cursor", 20, 0, 1, 3600)}},
		{ledger.ByProfile, g.ID, time.Time{}, time.Time{}, []sandbox.SpendRow{row("home", 20, 0, 1, 3600), row("work", 10, 0, 1, 3600)}},
		{ledger.ByTemplate, "", noon.Add(12 * time.Hour), time.Time{}, []sandbox.SpendRow{row("two", 40, 1000, 2, 3600)}},
		{ledger.ByGrant, "", time.Time{}, noon.Add(2 * time.Hour), []sandbox.SpendRow{row(g.ID, 10, 0, 1, 3600)}},
	} {
		got, err := r.Spend(r.ctx(), tt.by, tt.grant, tt.since, tt.until)
		r.must(err)
		if !slices.Equal(got, tt.want) {
			t.Errorf("by %s: %+v, want %+v", tt.by, got, tt.want)
		}
	}
	_, err := r.Spend(r.ctx(), "moon", "", time.Time{}, time.Time{})
	r.wantCode(err, sandbox.Invalid)
}
