//go:build unix

package ledger_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// A file that is deleted or replaced is noticed while it is open, and so is that
// it is back.
func TestInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	r := openRig(t, path, newClock(time.Now()))
	r.must(r.InPlace())
	replaced := func(when string) {
		t.Helper()
		if err := r.InPlace(); sandbox.CodeOf(err) != sandbox.StoreDown || sandbox.ToError(err).Details["reason"] != ledger.ReasonReplaced {
			t.Errorf("%s: %v", when, err)
		}
	}
	r.must(os.Rename(path, path+".away"))
	replaced("deleted")
	text, err := os.ReadFile(path + ".away")
	r.must(err)
	r.must(os.WriteFile(path, text, 0o600))
	replaced("replaced by a copy")
	r.must(os.Rename(path+".away", path))
	r.must(r.InPlace())
}

// What was written is never less than before.
func TestExtent(t *testing.T) {
	r := newRig(t)
	first, err := r.Extent(r.ctx())
	r.must(err)
	g := r.grant("agent", 1000)
	second, err := r.Extent(r.ctx())
	r.must(err)
	r.reserve(order("o1", g.ID, 10))
	third, err := r.Extent(r.ctx())
	r.must(err)
	if !first.Behind(second) || !second.Behind(third) || third.Behind(second) || third.Behind(third) {
		t.Errorf("%+v, then %+v, then %+v", first, second, third)
	}
}
