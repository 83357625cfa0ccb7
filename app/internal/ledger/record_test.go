package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/journal"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// wantRecords checks what is kept of a kind.
func (r *rig) wantRecords(kind string, want map[string]string) {
	r.t.Helper()
	got := map[string]string{}
	for k, v := range r.All(kind) {
		got[k] = string(v)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		r.t.Errorf("records of %s: %v, want %v", kind, got, want)
	}
}

// TestRecords keeps small records over a new start, durable and not.
func TestRecords(t *testing.T) {
	r := newRig(t)
	r.must(r.Put("box", "a", []byte(`{"n":1}`), true))
	r.must(r.Put("box", "b", []byte(`{"n":2}`), false))
	r.must(r.Put("run", "a", []byte(`{"n":3}`), false))
	value := []byte(`{"n":4}`)
	r.must(r.Put("box", "a", value, false))
	value[0] = 'x' // it is the caller's
	r.must(r.Delete("box", "b"))
	r.must(r.Delete("box", "none"))
	for range 2 {
		r.wantRecords("box", map[string]string{"a": `{"n":4}`})
		r.wantRecords("run", map[string]string{"a": `{"n":3}`})
		r.wantRecords("none", map[string]string{})
		r.must(r.Close())
		r = openRig(t, r.path, r.clock)
	}
}

// TestTakeOver opens a ledger beside the journal of an earlier version.
func TestTakeOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "fleet.journal")
	write := func(records ...string) {
		t.Helper()
		j, err := journal.Open(old)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range records {
			if err := j.Put("box", fmt.Sprint(i), []byte(v), true); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "ledger.db")
	reopen := func() *rig {
		t.Helper()
		l, err := ledger.Open(t.Context(), ledger.Config{Path: path, Journal: old, Clock: newClock(noon)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return &rig{l, t, newClock(noon), path}
	}
	names := func(want ...string) {
		t.Helper()
		var got []string
		for name := range sums(t, path) {
			if filepath.Ext(name) != ".db" && filepath.Ext(name) != ".db-wal" {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("files %v, want %v", got, want)
		}
	}

	write(`"one"`, `"two"`)
	text, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	r := reopen()
	r.wantRecords("box", map[string]string{"0": `"one"`, "1": `"two"`})
	names("fleet.journal.migrated")
	r.must(r.Put("box", "0", []byte(`"newer"`), true))
	r.must(r.Close())

	// The end came before the renaming: what is newer stays.
	if err := os.WriteFile(old, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r = reopen()
	r.wantRecords("box", map[string]string{"0": `"newer"`, "1": `"two"`})
	names("fleet.journal.migrated", "fleet.journal.migrated.2")
	r.must(r.Close())

	// The earlier version ran once more in between.
	write(`"again"`)
	r = reopen()
	r.wantRecords("box", map[string]string{"0": `"again"`, "1": `"two"`})
	r.must(r.Close())

	if err := os.WriteFile(old, []byte("rubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = reopen()
	r.wantRecords("box", map[string]string{"0": `"again"`, "1": `"two"`})
	names("fleet.journal.damaged", "fleet.journal.migrated", "fleet.journal.migrated.2", "fleet.journal.migrated.3")
	r.must(r.Close())
	r = reopen() // and none
	r.wantRecords("box", map[string]string{"0": `"again"`, "1": `"two"`})
}

// TestOpenAtOnce has many open a ledger that none has made yet.
func TestOpenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			l, err := ledger.Open(t.Context(), ledger.Config{Path: path, Clock: newClock(noon), Busy: time.Minute})
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			if _, err := l.Reserve(t.Context(), want(order(fmt.Sprint(i), sandbox.GrantOwner, 10))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r := openRig(t, path, newClock(noon))
	r.wantBudget(sandbox.LevelGlobal, "", 0, 60)
	r.wantClean()
}

// TestMark remembers the latest time, and an earlier one only where it is told.
func TestMark(t *testing.T) {
	r := newRig(t)
	wantMark := func(want time.Time) {
		t.Helper()
		if got, err := r.LastMark(r.ctx()); err != nil || !got.Equal(want) {
			t.Errorf("mark %v, %v; want %v", got, err, want)
		}
	}
	wantMark(time.Time{})
	r.must(r.Mark(r.ctx(), noon))
	r.must(r.Mark(r.ctx(), noon.Add(-time.Hour)))
	wantMark(noon)
	r.must(r.Mark(r.ctx(), noon.Add(time.Minute)))
	r.must(r.Close())
	r = openRig(t, r.path, r.clock)
	wantMark(noon.Add(time.Minute))
	r.must(r.ResetMark(r.ctx(), noon.Add(-time.Hour)))
	wantMark(noon.Add(-time.Hour))
}
