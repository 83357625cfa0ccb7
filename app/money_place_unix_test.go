//go:build unix

package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// While the file of the ledger is not where it was, nothing is done that would
// be lost with it; looking and ending go on.
func TestReplacedLedger(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		path := filepath.Join(r.dir, "state", "ledger.db")
		s := r.create(t.Context(), living(time.Hour))
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		_, err := r.gate.Create(t.Context(), called("new"))
		refuses(t, "create", err, sandbox.StoreDown)
		_, err = r.gate.CreateToken(t.Context(), sandbox.Grant{Name: "t"})
		refuses(t, "a token", err, sandbox.StoreDown)
		_, err = r.gate.CheckLedger(t.Context(), struct{}{})
		refuses(t, "a check", err, sandbox.StoreDown)
		all, err := r.gate.List(t.Context(), sandbox.ListRequest{})
		if err != nil || len(all) != 1 {
			t.Errorf("list: %+v, %v", all, err)
		}
		refuses(t, "an end", r.gate.Terminate(t.Context(), s.ID, ""), "")
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		r.create(t.Context(), called("later"))
		r.clean()
	})
}
