package ledger_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// other is the variable that makes the test binary another process: what it does.
const other = "LEDGER_TEST_OTHER"

func TestMain(m *testing.M) {
	do := map[string]func(context.Context, *ledger.Ledger, []string) error{"reserve": reserveMany, "load": load, "hold": holdFile}[os.Getenv(other)]
	if do == nil {
		os.Exit(m.Run())
	}
	if err := runOther(do, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runOther(do func(context.Context, *ledger.Ledger, []string) error, args []string) error {
	ctx := context.Background()
	l, err := ledger.Open(ctx, ledger.Config{Path: args[0], Busy: time.Minute})
	if err != nil {
		return err
	}
	defer l.Close()
	return do(ctx, l, args[1:])
}

// process is another process that does something with the ledger at path.
func process(t testing.TB, do, path string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), other+"="+do)
	cmd.Stderr = os.Stderr
	return cmd
}

// reserveMany asks for 50 orders of a grant, 10 at a time, and prints how many
// it got.
func reserveMany(ctx context.Context, l *ledger.Ledger, args []string) error {
	grant, hold := args[0], args[1]
	n, err := strconv.ParseInt(hold, 10, 64)
	if err != nil {
		return err
	}
	var got atomic.Int64
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			for j := range 5 {
				_, rerr := l.Reserve(ctx, want(order(fmt.Sprintf("%d-%d-%d", os.Getpid(), i, j), grant, sandbox.Micro(n))))
				switch {
				case rerr == nil:
					got.Add(1)
				case sandbox.CodeOf(rerr) != sandbox.BudgetExceeded:
					err = rerr
				}
			}
		})
	}
	wg.Wait()
	fmt.Println(got.Load())
	return err
}

// load reserves, runs, settles and releases without an end, and prints the order
// and its state after each.
func load(ctx context.Context, l *ledger.Ledger, args []string) error {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%s-%d-%d", args[1], worker, i)
				said := func(state sandbox.OrderState, err error) bool {
					if err != nil {
						fmt.Println("error", err)
						return false
					}
					fmt.Println(id, state)
					return true
				}
				w := want(order(id, args[0], sandbox.Micro(100+rand.IntN(100))))
				w.Tool, w.Key, w.Hash = "create_sandbox", id, "h"
				if _, err := l.Reserve(ctx, w); !said(sandbox.OrderHeld, err) {
					return
				}
				if rand.IntN(4) == 0 {
					said(sandbox.OrderReleased, l.Release(ctx, id, sandbox.EndFailed))
					continue
				}
				said(sandbox.OrderCreating, l.Advance(ctx, id, sandbox.OrderCreating, nil))
				if l.Put("box", id, []byte(`{}`), rand.IntN(2) == 0) != nil {
					fmt.Println("error put")
				}
				said(sandbox.OrderRunning, l.Advance(ctx, id, sandbox.OrderRunning, nil))
				if rand.IntN(4) > 0 {
					said(sandbox.OrderSettled, l.Settle(ctx, id, sandbox.Cost{Total: sandbox.Micro(rand.IntN(250))}, time.Now(), sandbox.EndAsked))
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// holdFile keeps others from writing until its input ends.
func holdFile(_ context.Context, _ *ledger.Ledger, args []string) error {
	db, err := sql.Open("sqlite", "file:"+args[0])
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("held")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// Test1_Processes has four processes ask for ten holds' worth: ten pass.
func Test1_Processes(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000, func(g *sandbox.Grant) { g.ExpiresAt = time.Now().AddDate(1, 0, 0) })
	total := 0
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			out, err := process(t, "reserve", r.path, g.ID, "100").Output()
			n, cerr := strconv.Atoi(strings.TrimSpace(string(out)))
			if err := errors.Join(err, cerr); err != nil {
				t.Errorf("%v: %q", err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			total += n
		})
	}
	wg.Wait()
	if total != 10 {
		t.Errorf("%d orders passed, want 10", total)
	}
	r.wantBudget(sandbox.LevelGrant, g.ID, 0, 1000)
	r.wantBudget(sandbox.LevelGlobal, "", 0, 1000)
	r.wantClean()
}

// Test4_Killed kills a process at work at moments of no choice: what it was told
// is kept, and no rule is broken.
func Test4_Killed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "ledger.db")
	r := openRig(t, path, newClock(time.Now()))
	g := r.grant("agent", 1<<40)
	r.must(r.Close())
	for round := range 6 {
		cmd := process(t, "load", path, g.ID, strconv.Itoa(round))
		out, err := cmd.StdoutPipe()
		r.must(err)
		r.must(cmd.Start())
		last := map[string]string{} // state by order
		lines := 1 + rand.IntN(100)
		sc := bufio.NewScanner(out)
		for n := 0; sc.Scan(); n++ {
			id, state, ok := strings.Cut(sc.Text(), " ")
			if !ok || id == "error" {
				t.Errorf("the process says %q", sc.Text())
			}
			last[id] = state
			if n == lines {
				r.must(cmd.Process.Kill())
			}
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("the process ended by itself")
		}
		r = openRig(t, path, r.clock)
		r.wantClean()
		for id, state := range last {
			o, err := r.Order(r.ctx(), id)
			r.must(err)
			if rank(o.State) < rank(sandbox.OrderState(state)) {
				t.Errorf("order %s is %s, though the process was told it is %s", id, o.State, state)
			}
		}
		r.must(r.Close())
	}
}

// rank is how far an order got.
func rank(s sandbox.OrderState) int {
	return map[sandbox.OrderState]int{
		sandbox.OrderHeld: 1, sandbox.OrderCreating: 2, sandbox.OrderRunning: 3, sandbox.OrderSettled: 4, sandbox.OrderReleased: 4,
	}[s]
}
