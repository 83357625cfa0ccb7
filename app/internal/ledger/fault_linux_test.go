package ledger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// disk mounts a small disk of its own, where the user may.
func disk(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=700"); err != nil {
		t.Skip("only root may mount:", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Test20_FullDisk fills the disk under an open ledger, and opens one on a full
// disk: nothing that was kept is lost, and with room it works again.
func Test20_FullDisk(t *testing.T) {
	dir := disk(t)
	path := filepath.Join(dir, "state", "ledger.db")
	r := openRig(t, path, newClock(noon))
	g := r.grant("agent", 1_000_000)
	r.reserve(order("a", g.ID, 100))
	r.run("a")
	ballast := filepath.Join(dir, "ballast")
	fillDisk(t, ballast)

	var err error
	for i := range 2000 { // the log may have some room left
		w := want(order(strings.Repeat("x", 500)+string(rune('0'+i%10)), g.ID, 1))
		w.Order.ID += strings.Repeat("y", i%97) + string(rune('a'+i/97))
		if _, err = r.Reserve(r.ctx(), w); err != nil {
			break
		}
	}
	wantDown(t, err, ledger.ReasonFull)
	wantDown(t, r.Put("box", "big", []byte(strings.Repeat("x", 100_000)), true), ledger.ReasonFull)
	before, err := r.Budget(r.ctx(), sandbox.LevelGrant, g.ID)
	if err != nil || before.Held < 100 {
		t.Errorf("reading: %+v, %v", before, err)
	}
	r.must(os.Remove(ballast))
	r.reserve(order("b", g.ID, 100)) // no new start is needed
	r.settle("a", 70)
	r.wantBudget(sandbox.LevelGrant, g.ID, 70, before.Held)
	r.wantClean()
	r.must(r.Close())

	fillDisk(t, ballast)
	_, err = ledger.Open(t.Context(), ledger.Config{Path: path})
	if err != nil { // it may have room left for its log
		wantDown(t, err, ledger.ReasonFull)
	}
	_, err = ledger.Open(t.Context(), ledger.Config{Path: filepath.Join(dir, "state", "new.db")})
	wantDown(t, err, ledger.ReasonFull)
	if _, err := os.Stat(filepath.Join(dir, "state", "new.db")); err == nil {
		t.Error("half a file is left")
	}
	r.must(os.Remove(ballast))
	r = openRig(t, path, r.clock)
	r.wantBudget(sandbox.LevelGrant, g.ID, 70, before.Held)
	r.wantClean()
}

// fillDisk takes all room that is left on a disk.
func fillDisk(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// Test20_ReadOnly opens a ledger that can't be written to, and has an open one
// become so.
func Test20_ReadOnly(t *testing.T) {
	dir := disk(t)
	path := filepath.Join(dir, "state", "ledger.db")
	r := openRig(t, path, newClock(noon))
	r.reserve(order("a", sandbox.GrantOwner, 100))
	r.must(r.Close())
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	before := sums(t, path)
	_, err := ledger.Open(t.Context(), ledger.Config{Path: path})
	wantDown(t, err, ledger.ReasonReadOnly)
	_, err = ledger.Open(t.Context(), ledger.Config{Path: filepath.Join(dir, "state", "new.db")})
	wantDown(t, err, ledger.ReasonReadOnly)
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	if len(sums(t, path)) != len(before) {
		t.Error("files were made or lost")
	}
	r = openRig(t, path, r.clock)
	r.wantBudget(sandbox.LevelGlobal, "", 0, 100)
	r.wantClean()
}
