package fleet_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// A listener follows the calls of a sandbox.
type listener struct {
	mu     sync.Mutex
	news   []sandbox.CallNews
	err    error
	over   bool
	cancel func()
}

// listen begins to follow. pause is called with each item of news, and may be nil.
func (r *rig) listen(id string, pause func()) *listener {
	ctx, cancel := context.WithCancel(context.Background())
	l := &listener{cancel: cancel}
	go func() {
		err := r.fleet.FollowCalls(ctx, id, func(n sandbox.CallNews) error {
			l.mu.Lock()
			l.news = append(l.news, n)
			l.mu.Unlock()
			if pause != nil {
				pause()
			}
			return nil
		})
		l.mu.Lock()
		defer l.mu.Unlock()
		l.err, l.over = err, true
	}()
	r.t.Cleanup(cancel)
	return l
}

// told is what was heard, in a few words: one line each.
func (l *listener) told() string {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, n := range l.news {
		switch {
		case n.Kind != "":
			fmt.Fprintf(&b, "%s %s %q\n", n.ID, n.Kind, n.Text)
		case n.Exit != nil:
			fmt.Fprintf(&b, "%s exit %d\n", n.ID, n.Exit.Code)
		case n.Failed != nil:
			fmt.Fprintf(&b, "%s failed %s\n", n.ID, n.Failed.Code)
		default:
			fmt.Fprintf(&b, "%s %s %q cut=%t\n", n.ID, n.Stream, n.Data, n.Cut)
		}
	}
	return b.String()
}

func (l *listener) ended() (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over, l.err
}

// flood makes a call that says 32 MB, which nobody reads.
func (r *rig) flood(id string) (box string) {
	r.t.Helper()
	exit, err := r.fleet.Exec(r.t.Context(), sandbox.Exec{ID: id, Target: sandbox.Target{Lease: "a"}, Args: []string{"flood"}}, 0, func(sandbox.Output) error { return nil })
	if err != nil {
		r.t.Fatal(err)
	}
	return exit.Sandbox
}

// TestFollowCalls tells whoever comes late what ran, and then what runs, until
// the sandbox ends.
func TestFollowCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		l := lease("a")
		l.Host = "cursor"
		r.hold(l)
		id := r.must("a", "echo", "x").exit.Sandbox
		hears := r.listen(id, nil)
		first := "exec-1 command \"echo x\"\nexec-1 stdout \"[x]\" cut=false\nexec-1 exit 0\n"
		if got := hears.told(); got != first {
			t.Errorf("what ran:\n%swant:\n%s", got, first)
		}
		if n := hears.news[0]; n.Host != "cursor" || n.Sandbox != id || n.StartedAt.IsZero() {
			t.Errorf("the first is %+v", n)
		}
		hangs := r.exec("a", "hang", "y")
		then := first + "exec-2 command \"hang y\"\nexec-2 stdout \"[y]\" cut=false\n"
		if got := hears.told(); got != then {
			t.Errorf("what runs:\n%swant:\n%s", got, then)
		}
		if err := r.fleet.Cancel(hangs.id); err != nil {
			t.Error(err)
		}
		r.turn("the command is killed", time.Minute, hangs.over)
		third := r.exec("a", "hang", "z")
		then += "exec-2 exit 137\nexec-3 command \"hang z\"\nexec-3 stdout \"[z]\" cut=false\n"
		if got := hears.told(); got != then {
			t.Errorf("with the next one:\n%swant:\n%s", got, then)
		}
		if err := r.fleet.Terminate(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		r.turn("its call ends", time.Minute, third.over)
		if got := hears.told(); got != then+"exec-3 failed sandbox_gone\n" {
			t.Errorf("at the end:\n%s", got)
		}
		if over, err := hears.ended(); !over || err != nil {
			t.Errorf("it is over: %t, %v", over, err)
		}
		late := r.listen(id, nil)
		for line := range strings.Lines(then + "exec-3 failed sandbox_gone\n") {
			if got := late.told(); strings.Count(got, line) != 1 {
				t.Errorf("of a sandbox that has ended:\n%swithout %s", got, line)
			}
		}
		if over, err := late.ended(); !over || err != nil {
			t.Errorf("of a sandbox that has ended it is over: %t, %v", over, err)
		}
		if err := r.fleet.FollowCalls(t.Context(), "none", nil); sandbox.CodeOf(err) != sandbox.NotFound {
			t.Errorf("of none: %v", err)
		}
	})
}

// TestFollowCallsForgets keeps the last calls, and the end of what they said.
func TestFollowCallsForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		var id string
		for i := range 30 {
			id = r.must("a", "echo", fmt.Sprint(i)).exit.Sandbox
		}
		if got := r.listen(id, nil).told(); !strings.HasPrefix(got, "exec-11 command") || strings.Count(got, "exit 0") != 20 {
			t.Errorf("of 30 calls it tells:\n%s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		var id string
		for i := range 20 {
			id = r.flood(fmt.Sprint("flood-", i))
		}
		hears := r.listen(id, nil)
		hears.told()
		data, cuts := 0, 0
		for _, n := range hears.news {
			data += len(n.Data)
			if n.Cut {
				cuts++
			}
		}
		if data > 64<<10 || data < 32<<10 || cuts != 20 {
			t.Errorf("%d bytes are kept of floods, and %d of 20 are cut", data, cuts)
		}
	})
}

// TestFollowCallsForgetsEnded keeps what ran in the sandboxes that ended last, as
// far as there is room for all of them.
func TestFollowCallsForgetsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		const most, calls = 8 << 20, 8
		long := strings.Repeat("x", 8<<10)
		var ids []string
		for range 3 * most / 2 / (calls * len(long)) {
			id := ""
			for range calls {
				id = r.must("a", "echo", long).exit.Sandbox
			}
			if err := r.fleet.Terminate(t.Context(), id, "a"); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
			time.Sleep(time.Second) // of the clock here: none ended at the same time
		}
		total, begun := 0, false
		for i, id := range ids {
			hears := r.listen(id, nil)
			hears.told()
			kept := len(hears.news) > 0
			if begun && !kept {
				t.Errorf("of %d sandboxes number %d is forgotten, and an earlier one is not", len(ids), i)
			}
			begun = begun || kept
			for _, n := range hears.news {
				total += len(n.Data)
			}
		}
		if total > most || total < most/2 {
			t.Errorf("%d bytes are kept of sandboxes that have ended", total)
		}
	})
}

// TestFollowCallsSlowly has somebody look who does not read on: no call waits for
// them.
func TestFollowCallsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		asleep := make(chan struct{})
		hears := r.listen(id, func() { <-asleep })
		r.flood("flood")
		for range 100 {
			r.must("a", "echo", "quick")
		}
		hears.cancel()
		close(asleep)
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		began := make(chan struct{})
		var once sync.Once
		hears := r.listen(id, func() { once.Do(func() { <-began }) })
		synctest.Wait()
		r.flood("flood")
		close(began)
		hears.told()
		cut, exits, data := false, 0, 0
		for _, n := range hears.news {
			cut = cut || n.Cut
			data += len(n.Data)
			if n.Exit != nil {
				exits++
			}
		}
		if !cut || exits != 2 || data > 257<<10 || data < 200<<10 {
			t.Errorf("who slept through a flood is told %d bytes and %d ends; cut: %t", data, exits, cut)
		}
		hears.cancel()
		synctest.Wait()
		late := r.listen(id, nil)
		late.told()
		data = 0
		for _, n := range late.news {
			data += len(n.Data)
		}
		if data > 9<<10 {
			t.Errorf("%d bytes are kept when nobody looks any more", data)
		}
	})
}

// TestFollowCallsAfterRestart knows of what an earlier engine began that it runs,
// and not what it was.
func TestFollowCallsAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo", "secret").exit.Sandbox
		job, err := r.fleet.StartJob(t.Context(), sandbox.Exec{ID: "job", Target: sandbox.Target{Lease: "a"}, Args: []string{"hang", "secret"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range r.store.All("run") {
			if strings.Contains(string(text), "secret") {
				t.Errorf("the disk has what runs: %s", text)
			}
		}
		r.restart()
		r.turn("the job is followed again", time.Minute, func() bool {
			return strings.Contains(r.listen(id, nil).told(), job.ID+" job \"\"\n")
		})
		if got := r.listen(id, nil).told(); strings.Contains(got, "secret") || !strings.Contains(got, "connected") {
			t.Errorf("it tells:\n%s", got)
		}
	})
}

// TestPause makes no sandbox while it lasts, and tells so at once.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.hold(lease("a"))
		id := r.must("a", "echo").exit.Sandbox
		seen := make(chan bool, 100)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go r.fleet.Glance(ctx, func(s sandbox.Snapshot) error { seen <- s.Paused; return nil })
		synctest.Wait()
		r.fleet.Pause(true)
		synctest.Wait()
		last := false
		for len(seen) > 0 {
			last = <-seen
		}
		if !last {
			t.Error("watchers are not told")
		}
		if res := r.must("a", "echo"); res.exit.Sandbox != id {
			t.Errorf("what lives does not go on: %s", res.exit.Sandbox)
		}
		r.hold(lease("b"))
		res := r.exec("b", "echo")
		r.turn("the call ends", time.Minute, res.over)
		e := sandbox.ToError(res.err)
		if e == nil || e.Code != sandbox.WrongState || e.Retryable || e.Hint == "" {
			t.Errorf("a lease without a sandbox: %+v", e)
		}
		if _, err := r.fleet.Create(t.Context(), sandbox.Spec{}); sandbox.CodeOf(err) != sandbox.WrongState || r.cloud.runs != 1 {
			t.Errorf("another sandbox: %v; %d were made", err, r.cloud.runs)
		}
		r.fleet.Pause(false)
		r.must("b", "echo")
	})
}

// BenchmarkCall makes warm calls that say nothing, and some that say a lot, with
// nobody looking and with somebody.
func BenchmarkCall(b *testing.B) {
	for _, tt := range []struct {
		name  string
		args  []string
		looks bool
	}{{"true", []string{"echo"}, false}, {"true, looked at", []string{"echo"}, true}, {"flood", []string{"flood"}, false}, {"flood, looked at", []string{"flood"}, true}} {
		b.Run(tt.name, func(b *testing.B) {
			f, ctx := newBench(b)
			run := func(n int) string {
				exit, err := f.Exec(ctx, sandbox.Exec{ID: fmt.Sprintf("e-%d", n), Target: sandbox.Target{Lease: "a"}, Args: tt.args}, 0, func(sandbox.Output) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				return exit.Sandbox
			}
			id := run(0)
			if tt.looks {
				go f.FollowCalls(ctx, id, func(sandbox.CallNews) error { return nil })
			}
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				run(n)
			}
		})
	}
}

func newBench(b *testing.B) (*fleet.Fleet, context.Context) {
	b.Helper()
	r := &rig{clock: clock{clockwork.NewRealClock()}, store: newMemory()}
	r.cloud = newCloud(r.clock)
	f, err := fleet.New(fleet.Config{
		Open:  func(context.Context, sandbox.Profile, bool) (fleet.Cloud, error) { return r.cloud, nil },
		Store: r.store, Secrets: keys{r.store}, Clock: r.clock,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { f.Serve(ctx) })
	held := make(chan struct{})
	work.Go(func() { f.Hold(ctx, lease("a"), func() error { close(held); return nil }) })
	<-held
	b.Cleanup(func() {
		cancel()
		work.Wait()
	})
	return f, ctx
}
