package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// The variables by which the test has itself started again, as an engine that
// makes one sandbox and is killed on the way.
const (
	crashDir   = "ARENERO_TEST_CRASH_DIR"
	crashPoint = "ARENERO_TEST_CRASH_POINT" // "" is nowhere
	crashKey   = "ARENERO_TEST_CRASH_KEY"   // of the client's request
)

// The points at which an engine is killed.
const (
	pointReserved = "reserved"                     // its hold is on the disk
	pointIntent   = "intent"                       // and what is to be sent, but not that it is
	pointCreating = "creating"                     // and that
	pointSent     = "made, and not written down"   // the cloud has made it
	pointKnown    = "written down, and not told"   // and is known to have
	pointAnswered = "answered, and not written in" // whoever asked has the answer
)

func init() {
	if dir := os.Getenv(crashDir); dir != "" {
		if err := crash(dir, os.Getenv(crashPoint), os.Getenv(crashKey)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func die() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// A killer is a meter at which the process is killed.
type killer struct {
	fleet.Meter
	books *books
	point string
}

func (k *killer) Reserve(ctx context.Context, a fleet.Ask) error {
	err := k.Meter.Reserve(ctx, a)
	if k.point == pointReserved {
		die()
	}
	return err
}

func (k *killer) Creating(key string) error {
	if k.point == pointIntent {
		die()
	}
	err := k.Meter.Creating(key)
	if k.point == pointCreating {
		k.books.flush()
		die()
	}
	return err
}

func (k *killer) Running(key string, vm fleet.VM) {
	k.Meter.Running(key, vm)
	if k.point == pointKnown {
		k.books.flush()
		die()
	}
}

// A diskCloud is a countingCloud that outlives its process.
type diskCloud struct {
	*countingCloud
	path  string
	point string
}

func openDiskCloud(dir, point string) (*diskCloud, error) {
	c := &diskCloud{newCountingCloud(clockwork.NewRealClock()), filepath.Join(dir, "cloud.json"), point}
	text, err := os.ReadFile(c.path)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c.tokens)
	}
	for _, id := range c.tokens {
		c.vms[id] = &fleet.VM{ID: id, Endpoint: id + ".example", Image: c.image.ARN, Version: "1.0", State: sandbox.Running, Life: time.Hour, StartedAt: time.Now()}
		c.record[id] = []change{{sandbox.Running, time.Now()}}
	}
	return c, err
}

func (c *diskCloud) Run(ctx context.Context, r fleet.RunRequest) (fleet.VM, error) {
	vm, err := c.countingCloud.Run(ctx, r)
	if err == nil {
		c.mu.Lock()
		err = atomicfile.WriteSync(c.path, encode(c.tokens), 0o600)
		c.mu.Unlock()
	}
	if c.point == pointSent {
		die()
	}
	return vm, err
}

// A crashReport is what an engine that was not killed found.
type crashReport struct {
	First, Again sandbox.Sandbox
	Alive, Asked int
	Held         sandbox.Micro
	Open         int
	Found        []sandbox.Violation
}

// crash is an engine that makes a sandbox for one token, the same for each
// process of a test, and sends the request once more by another key of its
// client's.
func crash(dir, point, key string) error {
	ctx := context.Background()
	cloud, err := openDiskCloud(dir, point)
	if err != nil {
		return err
	}
	g, stop, err := openTill(dir, clockwork.NewRealClock(), cloud, func(m fleet.Meter) fleet.Meter { return &killer{m, m.(*books), point} })
	if err != nil {
		return err
	}
	defer stop()
	secret, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		made, err := g.CreateToken(ctx, sandbox.Grant{Name: "t", Limit: micro(3 * holdOfHour)})
		if err != nil {
			return err
		}
		secret = []byte(made.Secret)
		if err := atomicfile.WriteSync(filepath.Join(dir, "token"), secret, 0o600); err != nil {
			return err
		}
	}
	ctx, _ = sandbox.WithCall(ctx, sandbox.Caller{Token: sandbox.Secret(secret), Tool: "create_sandbox", HTTP: true})
	spec := living(time.Hour)
	spec.Key, spec.IdempotencyKey = key, "order 7"
	var r crashReport
	if r.First, err = g.Create(ctx, spec); err != nil {
		return err
	}
	if point == pointAnswered {
		die()
	}
	spec.Key += "-other"
	if r.Again, err = g.Create(ctx, spec); err != nil {
		return err
	}
	g.books.flush()
	b, err := g.Authorize(ctx, struct{}{})
	if err != nil {
		return err
	}
	account, err := g.books.ledger.Budget(ctx, sandbox.LevelGrant, b.ID)
	if err != nil {
		return err
	}
	open, err := g.books.ledger.Open(ctx)
	if err != nil {
		return err
	}
	if r.Found, err = g.CheckLedger(context.Background(), struct{}{}); err != nil {
		return err
	}
	r.Alive, r.Asked, r.Held, r.Open = cloud.alive(), cloud.runs, account.Held, len(open)
	_, err = os.Stdout.Write(encode(r))
	return err
}

// An engine is killed at each step of making a sandbox. The next one has one
// sandbox and one hold, and tells of it whoever asks again.
func TestMoney4_A36_KilledAtEachStep(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(dir, point string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), crashDir+"="+dir, crashPoint+"="+point, crashKey+"=request-1")
		cmd.Stderr = os.Stderr
		return cmd.Output()
	}
	for _, point := range []string{pointReserved, pointIntent, pointCreating, pointSent, pointKnown, pointAnswered} {
		t.Run(point, func(t *testing.T) {
			dir := t.TempDir()
			_, err := start(dir, point)
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
				t.Fatalf("it was not killed: %v", err)
			}
			out, err := start(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			var r crashReport
			if err := json.Unmarshal(out, &r); err != nil {
				t.Fatal(err)
			}
			if r.Alive != 1 || r.Open != 1 || r.Held != holdOfHour || len(r.Found) > 0 {
				t.Errorf("afterwards: %+v", r)
			}
			if r.First.ID != "vm-1" || r.Again.ID != "vm-1" || r.Again.Replay != sandbox.ReplayKey || r.First.State != sandbox.Running {
				t.Errorf("told: %+v, then %+v", r.First, r.Again)
			}
		})
	}
}
