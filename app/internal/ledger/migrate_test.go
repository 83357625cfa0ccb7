package ledger_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// oldFile is a ledger as the program wrote it that had a version, with some of
// everything in it.
func oldFile(t *testing.T, version int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", fmt.Sprintf("v%d.sql", version)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	execute(t, path, string(text))
	return path
}

// TestOldVersions opens a file of each version there has been: what is in it is
// the same, and a copy of it is kept.
func TestOldVersions(t *testing.T) {
	for version := 1; version <= ledger.Versions(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := oldFile(t, version)
			r := openRig(t, path, newClock(noon))
			r.wantClean()
			g, err := r.Grant(r.ctx(), "agent")
			r.must(err)
			if g.Limit == nil || *g.Limit != 5_000_000 || g.Period != sandbox.PeriodWeek || g.MaxConcurrent != 4 || len(g.Templates) != 1 {
				t.Errorf("grant: %+v", g)
			}
			r.wantBudget(sandbox.LevelGrant, g.ID, 120_000, 186_627)
			var hash [32]byte
			copy(hash[:], bytes.Repeat([]byte{7}, 32))
			if c, _, err := r.ByHash(r.ctx(), hash); err != nil || c.Grant != g.ID || c.Hint != "aB3x" {
				t.Errorf("credential: %+v, %v", c, err)
			}
			if bound, err := r.GrantOf(r.ctx(), "con_1"); err != nil || bound.ID != g.ID {
				t.Errorf("connection: %+v, %v", bound, err)
			}
			if got := string(r.All("box")["b1"]); got != `{"n":1}` {
				t.Errorf("record: %s", got)
			}
			if page, err := r.Events(r.ctx(), sandbox.EventQuery{}); err != nil || len(page.Events) != 1 || page.Events[0].Data["code"] != "budget_exceeded" {
				t.Errorf("events: %+v, %v", page, err)
			}
			found, err := r.Look(r.ctx(), keyed(order("x", g.ID, 1), "key", "h1"))
			if err != nil || found.Outcome != ledger.Replay || found.Order.ID != "running" {
				t.Errorf("key: %+v, %v", found, err)
			}
			if mark, err := r.LastMark(r.ctx()); err != nil || !mark.Equal(noon) {
				t.Errorf("mark %v, %v", mark, err)
			}
			r.settle("running", 1)
			r.wantClean()
			for v := version; v < ledger.Versions(); v++ {
				if _, err := os.Stat(fmt.Sprintf("%s.v%d.bak", path, v)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestMigration goes to a version to come: the file is copied before, and one
// step that fails leaves what the step before it left.
func TestMigration(t *testing.T) {
	path := closed(t)
	cfg := ledger.Config{Path: path, Clock: newClock(noon)}
	now := ledger.Versions()
	_, err := ledger.OpenWith(t.Context(), cfg, "ALTER TABLE orders ADD COLUMN note TEXT NOT NULL DEFAULT ''", "CREATE TABLE half (a); DROP TABLE no_such_table")
	if err == nil || !strings.Contains(err.Error(), "no such table") {
		t.Fatalf("a broken step: %v", err)
	}
	for v := now; v <= now+1; v++ {
		info, err := os.Stat(fmt.Sprintf("%s.v%d.bak", path, v))
		if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Fatalf("copy of version %d: %v", v, err)
		}
	}
	_, err = ledger.Open(t.Context(), cfg) // this program knows one version less
	wantDown(t, err, ledger.ReasonNewer)

	l, err := ledger.OpenWith(t.Context(), cfg, "ALTER TABLE orders ADD COLUMN note TEXT NOT NULL DEFAULT ''", "CREATE TABLE half (a)")
	if err != nil {
		t.Fatal(err)
	}
	if open, err := l.Open(t.Context()); err != nil || len(open) != 40 {
		t.Errorf("%d orders, %v", len(open), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}

	// The copy is a ledger of the version before, with all that was in it.
	r := openRig(t, fmt.Sprintf("%s.v%d.bak", path, now), newClock(noon))
	if open, err := r.Open(r.ctx()); err != nil || len(open) != 40 {
		t.Errorf("%d orders in the copy, %v", len(open), err)
	}
	r.wantClean()
}
