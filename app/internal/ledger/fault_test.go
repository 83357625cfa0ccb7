package ledger_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// wantDown checks that a ledger can't be used, why, and that the error says what
// to do.
func wantDown(t *testing.T, err error, reason string) {
	t.Helper()
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok || e.Code != sandbox.StoreDown || e.Details["reason"] != reason || e.Hint == "" {
		t.Fatalf("error %#v (%v), want a ledger that is down: %s", err, err, reason)
	}
}

// closed is the path of a ledger with some orders, closed in order.
func closed(t *testing.T) string {
	t.Helper()
	r := newRig(t)
	g := r.grant("agent", 1_000_000)
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			if _, err := r.Reserve(r.ctx(), want(order(fmt.Sprint(i), g.ID, 100))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r.must(r.Close())
	return r.path
}

// sums are the digests of all files in the folder of path.
func sums(t *testing.T, path string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(e.Name(), ".lock") && !strings.HasSuffix(e.Name(), "-shm") {
			out[e.Name()] = sha256.Sum256(text)
		}
	}
	return out
}

// TestDamage opens files that no ledger wrote: each is refused with a reason,
// and stays as it is.
func TestDamage(t *testing.T) {
	edit := func(change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, change(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	run := func(query string) func(*testing.T, string) {
		return func(t *testing.T, path string) { execute(t, path, query) }
	}
	tests := []struct {
		name   string
		spoil  func(*testing.T, string)
		reason string
	}{
		{"empty", edit(func([]byte) []byte { return nil }), ledger.ReasonDamaged},
		{"a few bytes", edit(func(b []byte) []byte { return b[:50] }), ledger.ReasonDamaged},
		{"half", edit(func(b []byte) []byte { return b[:len(b)/2] }), ledger.ReasonDamaged},
		{"one byte less", edit(func(b []byte) []byte { return b[:len(b)-1] }), ledger.ReasonDamaged},
		{"another header", edit(func(b []byte) []byte { b[3]++; return b }), ledger.ReasonDamaged},
		{"rubbish", edit(func(b []byte) []byte { return bytes.Repeat([]byte("rubbish "), len(b)/8) }), ledger.ReasonDamaged},
		{"rubbish after the header", edit(func(b []byte) []byte {
			for i := range b[100:] {
				b[100+i] = 0xa5
			}
			return b
		}), ledger.ReasonDamaged},
		{"of another program", run("PRAGMA application_id = 7"), ledger.ReasonDamaged},
		{"without a version", run("PRAGMA user_version = 0"), ledger.ReasonDamaged},
		{"newer", run("PRAGMA user_version = 99"), ledger.ReasonNewer},
		{"gone, and its log is there", func(t *testing.T, path string) {
			if err := os.Rename(path, path+"-wal"); err != nil {
				t.Fatal(err)
			}
		}, ledger.ReasonDamaged},
		{"a folder", func(t *testing.T, path string) {
			if err := errors.Join(os.Rename(path, path+".old"), os.Mkdir(path+".dir", 0o700), os.Symlink(path+".dir", path)); err != nil {
				t.Skip(err) // where there are no symbolic links
			}
		}, ledger.ReasonDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := closed(t)
			tt.spoil(t, path)
			var before map[string][32]byte
			if tt.name != "a folder" {
				before = sums(t, path)
			}
			_, err := ledger.Open(t.Context(), ledger.Config{Path: path})
			wantDown(t, err, tt.reason)
			if before != nil && fmt.Sprint(sums(t, path)) != fmt.Sprint(before) {
				t.Error("files have changed")
			}
		})
	}
}

// execute runs SQL on a file from outside.
func execute(t testing.TB, path string, queries ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// TestDamagedPage spoils one page that Open does not read: what needs it says
// so, and so does Check.
func TestDamagedPage(t *testing.T) {
	path := closed(t)
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	var page int64
	if err := errors.Join(db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = 'entries'").Scan(&page), db.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 4096), (page-1)*4096)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	r := openRig(t, path, newClock(noon))
	_, err = r.Reserve(r.ctx(), want(order("new", sandbox.GrantOwner, 1)))
	wantDown(t, err, ledger.ReasonDamaged)
	wantDown(t, r.Release(r.ctx(), "1", sandbox.EndFailed), ledger.ReasonDamaged)
	r.wantBudget(sandbox.LevelGlobal, "", 0, 4000)
	violations, err := r.Check(r.ctx())
	if err != nil {
		wantDown(t, err, ledger.ReasonDamaged)
	} else if len(violations) == 0 {
		t.Error("nothing is found")
	}
	r.must(r.Put("box", "a", []byte(`1`), true)) // other parts work
}

// TestLocked has another process hold the file for longer than is waited for.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	clock := newClock(noon)
	l, err := ledger.Open(t.Context(), ledger.Config{Path: path, Clock: clock, Busy: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := process(t, "hold", path, path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	_, err = l.Reserve(t.Context(), want(order("a", sandbox.GrantOwner, 1)))
	wantDown(t, err, ledger.ReasonLocked)
	if !sandbox.ToError(err).Retryable {
		t.Error("it is not to be retried")
	}
	if _, err := l.Budgets(t.Context()); err != nil {
		t.Errorf("reading: %v", err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(t.Context(), want(order("a", sandbox.GrantOwner, 1))); err != nil {
		t.Errorf("when it is free again: %v", err)
	}
}

// TestClosed uses a ledger after its end.
func TestClosed(t *testing.T) {
	r := newRig(t)
	r.must(r.Close())
	wantDown(t, r.Put("box", "a", []byte("1"), true), ledger.ReasonClosed)
	_, err := r.Reserve(r.ctx(), want(order("a", sandbox.GrantOwner, 1)))
	wantDown(t, err, ledger.ReasonClosed)
	_, err = r.Budgets(r.ctx())
	wantDown(t, err, ledger.ReasonClosed)
}
