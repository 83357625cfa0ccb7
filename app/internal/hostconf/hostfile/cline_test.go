package hostfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// lockAs makes the lock of Cline as another program holds it.
func (r *rig) lockAs(owner string) string {
	r.Helper()
	lock := r.path + ".lock"
	must(r.T, os.Mkdir(lock, 0o700))
	must(r.T, os.WriteFile(filepath.Join(lock, "owner."+owner), []byte(owner), 0o600))
	return lock
}

func TestClineLock(t *testing.T) {
	t.Run("is held while we write", func(t *testing.T) {
		r := newRig(t, doc)
		req := install(r.path)
		req.Lock = hostfile.Cline
		seen := map[string]bool{}
		r.fail = func(step string) {
			if owners, err := os.ReadDir(r.path + ".lock"); err == nil && len(owners) == 1 && strings.HasPrefix(owners[0].Name(), "owner.") {
				seen[step] = true
			}
		}
		r.change(req)
		if !seen[hostfile.StepRead] || !seen[hostfile.StepSwapped] || !seen[hostfile.StepDone] || seen[hostfile.StepStaged] {
			t.Errorf("the lock was there at %v", seen)
		}
		r.wantNames("mcp.json")
	})
	t.Run("is waited for", func(t *testing.T) {
		r := newRig(t, doc)
		req := install(r.path)
		req.Lock = hostfile.Cline
		lock := r.lockAs("123.456.abc")
		r.clock.onWait = func(n int) {
			if _, err := os.Stat(lock); err == nil && n == 5 {
				r.write(newer) // what it held the lock for
				must(t, os.RemoveAll(lock))
			}
		}
		r.change(req)
		r.want(with(t, newer))
		r.wantNames("mcp.json")
	})
	t.Run("of a dead owner is taken over", func(t *testing.T) {
		r := newRig(t, doc)
		req := install(r.path)
		req.Lock = hostfile.Cline
		lock := r.lockAs("123.456.abc")
		// Its time says nothing: the clock that set it was wrong.
		must(t, os.Chtimes(lock, time.Now().Add(-time.Hour), time.Now().Add(-time.Hour)))
		start := time.Now()
		now := start
		r.store = openAt(t, r.state, &tick{clock: r.clock, now: &now})
		r.change(req)
		if waited := now.Sub(start); waited < 10*time.Second || waited > 20*time.Second {
			t.Errorf("waited %v for a lock nobody holds", waited)
		}
		r.want(with(t, doc))
		r.wantNames("mcp.json")
	})
	t.Run("of others is left alone", func(t *testing.T) {
		r := newRig(t, doc)
		req := install(r.path)
		req.Lock = hostfile.Cline
		r.fail = func(step string) {
			if step == hostfile.StepSettled { // somebody thinks that we are dead
				must(t, os.RemoveAll(r.path+".lock"))
				r.lockAs("1.2.other")
			}
		}
		r.change(req)
		r.wantNames("mcp.json", "mcp.json.lock")
		r.store = openAt(t, r.state, r.clock)
		must(t, r.store.Recover(t.Context()))
		r.wantNames("mcp.json", "mcp.json.lock")
	})
}

// tick is a clock on which a wait takes as long as it should.
type tick struct {
	*clock
	now *time.Time
}

func (c *tick) Now() time.Time                      { return *c.now }
func (c *tick) Since(since time.Time) time.Duration { return c.now.Sub(since) }
func (c *tick) After(d time.Duration) <-chan time.Time {
	*c.now = c.now.Add(d)
	return c.clock.After(d)
}
