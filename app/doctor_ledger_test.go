package app

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// The doctor tells of an account that can't be used, or does not add up, and
// leaves it as it is.
func TestDoctorLooksAtTheLedger(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, file string)
		level Level
		key   string
	}{
		{"there is none", func(t *testing.T, file string) { must(t, os.RemoveAll(filepath.Dir(file))) }, OK, "doctor.ledger.none"},
		{"all is well", func(*testing.T, string) {}, OK, "doctor.ledger.ok"},
		{"it is no database", func(t *testing.T, file string) {
			must(t, os.WriteFile(file, bytes.Repeat([]byte("noise"), 600), 0o600))
		}, Fail, "doctor.ledger.damaged"},
		{"only its log is left", func(t *testing.T, file string) { must(t, os.Rename(file, file+"-wal")) }, Fail, "doctor.ledger.damaged"},
		{"it does not add up", func(t *testing.T, file string) {
			db, err := sql.Open("sqlite", "file:"+file)
			must(t, err)
			_, err = db.Exec("UPDATE budgets SET held_micro = 7")
			must(t, err)
			must(t, db.Close())
		}, Fail, "doctor.ledger.odd"},
		{"it can't be written to", func(t *testing.T, file string) { // nor by root
			must(t, os.Remove(file))
			must(t, os.Mkdir(file, 0o700))
		}, Fail, "doctor.ledger.closed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("ARENERO_HOME", t.TempDir())
			d, err := NewDoctor(DoctorConfig{Version: "1"})
			must(t, err)
			must(t, os.MkdirAll(d.dirs.State, 0o700))
			file := filepath.Join(d.dirs.State, "ledger.db")
			l, err := ledger.Open(t.Context(), ledger.Config{Path: file})
			must(t, err)
			_, err = l.SetBudget(t.Context(), sandbox.LevelGlobal, "", micro(1_000_000), sandbox.PeriodNone)
			must(t, err)
			must(t, l.Close())
			tt.spoil(t, file)
			before, _ := os.ReadFile(file)
			x := exam{finding: Finding{Name: "ledger", Details: map[string]any{}}}
			d.ledger(context.Background(), &x)
			x.sum()
			if f := x.finding; f.Level != tt.level || f.What.Key != tt.key || f.Level == Fail && f.Remedy.Key == "" {
				t.Errorf("%s: %s %v, %v", f.Level, f.What.Key, f.What.Args, f.Remedy)
			}
			if after, _ := os.ReadFile(file); !bytes.Equal(before, after) {
				t.Error("the file is another one now")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
