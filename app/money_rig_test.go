package app

import (
	"context"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// A till is an engine over a cloud in memory, with a real ledger, in a bubble of
// its own time.
type till struct {
	t     *testing.T
	dir   string
	clock clockwork.Clock
	wall  *wall // the same one, to be set
	cloud *countingCloud
	gate  *gate
	stop  func()
}

// ring runs a test with a till.
func ring(t *testing.T, test func(t *testing.T, r *till)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))) // prices are not known of earlier days
		clock := &wall{Clock: clockwork.NewRealClock()}
		r := &till{t: t, dir: t.TempDir(), clock: clock, wall: clock, cloud: newCountingCloud(clock)}
		r.open()
		defer func() { r.stop() }()
		test(t, r)
	})
}

// open starts an engine on what the last one left.
func (r *till) open() {
	r.t.Helper()
	var err error
	if r.gate, r.stop, err = openTill(r.dir, r.clock, r.cloud, func(m fleet.Meter) fleet.Meter { return m }); err != nil {
		r.t.Fatal(err)
	}
}

// openTill starts an engine over what is in a folder. The fleet has the meter
// that meter makes of the books.
func openTill(dir string, clock clockwork.Clock, cloud fleet.Cloud, meter func(fleet.Meter) fleet.Meter) (*gate, func(), error) {
	dirs := paths.Dirs{Config: filepath.Join(dir, "config"), State: filepath.Join(dir, "state")}
	for _, dir := range []string{dirs.Config, dirs.State} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, nil, err
		}
	}
	log := slog.New(slog.DiscardHandler)
	secrets, err := newSecretFiles(filepath.Join(dirs.State, "keys"))
	if err != nil {
		return nil, nil, err
	}
	b := openBooks(context.Background(), dirs, clock, log)
	open := func(context.Context, sandbox.Profile, bool) (fleet.Cloud, error) { return cloud, nil }
	f, err := fleet.New(fleet.Config{
		Open: open, Keeps: func(string) bool { return true }, Store: b.store(), Secrets: secrets, Meter: meter(b), Clock: clock, Log: log,
	})
	if err != nil {
		return nil, nil, err
	}
	b.fleet = f
	a := &App{cfg: Config{Clock: clock, Log: log, Version: "test"}, fleet: f, books: b, connections: connections{settings.Open(dirs.Config)}}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { f.Serve(ctx) })
	work.Go(func() { b.serve(ctx) })
	return &gate{&engine{f, a}, b, open}, sync.OnceFunc(func() {
		cancel()
		work.Wait()
		b.close()
	}), nil
}

func (r *till) restart() {
	r.t.Helper()
	r.stop()
	r.open()
}

// crash goes on from what the disk had at one moment, as if the engine had been
// killed then: nothing that it writes as it ends is there.
func (r *till) crash() {
	r.t.Helper()
	synctest.Wait()
	left := r.t.TempDir()
	if err := os.CopyFS(left, os.DirFS(r.dir)); err != nil {
		r.t.Fatal(err)
	}
	os.Remove(filepath.Join(left, "state", "ledger.db-shm")) // which is memory, and no file
	r.stop()
	r.dir = left
	r.open()
}

// in lets time pass, and everybody act on it.
func (r *till) in(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// aws is a place in AWS that an environment describes.
func aws() sandbox.Profile {
	return sandbox.Profile{Name: "env:test", Env: map[string]string{"AWS_REGION": "us-east-1"}}
}

func living(life time.Duration) sandbox.Spec {
	return sandbox.Spec{Profile: aws(), Timeout: life, Asked: true}
}

// token makes one that has a limit.
func (r *till) token(g sandbox.Grant) control.NewToken {
	r.t.Helper()
	if g.Name == "" {
		g.Name = "t" + uuid.NewString()[:8]
	}
	made, err := r.gate.CreateToken(r.t.Context(), g)
	if err != nil {
		r.t.Fatal(err)
	}
	return made
}

// as is a context of a tool that is called with a token over HTTP.
func (r *till) as(t control.NewToken, tool string) context.Context {
	ctx, _ := sandbox.WithCall(r.t.Context(), sandbox.Caller{Token: t.Secret, Tool: tool, HTTP: true})
	return ctx
}

func (r *till) create(ctx context.Context, spec sandbox.Spec) sandbox.Sandbox {
	r.t.Helper()
	s, err := r.gate.Create(ctx, spec)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// budget is the account of a grant.
func (r *till) budget(grant string) sandbox.Budget {
	r.t.Helper()
	r.gate.books.flush()
	b, err := r.gate.books.ledger.Budget(r.t.Context(), sandbox.LevelGrant, grant)
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// clean fails if the ledger holds what it should not.
func (r *till) clean() {
	r.t.Helper()
	found, err := r.gate.CheckLedger(r.t.Context(), struct{}{})
	if err != nil || len(found) > 0 {
		r.t.Errorf("check: %v, %v", found, err)
	}
}

func (r *till) events(kind sandbox.EventKind) []sandbox.Event {
	r.t.Helper()
	r.gate.books.flush()
	page, err := r.gate.Events(r.t.Context(), sandbox.EventQuery{Limit: 100})
	if err != nil {
		r.t.Fatal(err)
	}
	var out []sandbox.Event
	for _, e := range page.Events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

func micro(n int64) *sandbox.Micro { return new(sandbox.Micro(n)) }

// What one sandbox of the cloud's image is held for: 2048 MiB for an hour that
// never sleeps.
const holdOfHour = 505_825

// A change is one that the cloud wrote down.
type change struct {
	state sandbox.State
	at    time.Time
}

// A countingCloud keeps VMs in memory and writes down each change of theirs, by
// which it reckons what they cost. It looks for silence in a VM when it
// is asked about that one, so that no sleep is too short to be seen. Its faults are functions that may answer in its place.
type countingCloud struct {
	clock clockwork.Clock
	image fleet.Image

	mu     sync.Mutex
	vms    map[string]*fleet.VM
	used   map[string]time.Time
	record map[string][]change
	tokens map[string]string
	runs   int
	images int
	run    func(n int) (act bool, err error)

	suspend func() error
}

func newCountingCloud(clock clockwork.Clock) *countingCloud {
	return &countingCloud{
		clock: clock, image: fleet.Image{ARN: "arn:aws:lambda:us-east-1:000000000000:microvm-image:test", Version: "1.0", SizeMiB: 2048, SnapshotMGB: 919},
		vms: map[string]*fleet.VM{}, used: map[string]time.Time{}, record: map[string][]change{}, tokens: map[string]string{},
	}
}

func (c *countingCloud) Image(_ context.Context, template, version string) (fleet.Image, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.images++
	i := c.image
	if template != "" && template != i.ARN {
		i.ARN = "arn:aws:lambda:us-east-1:000000000000:microvm-image:" + template
	}
	if version != "" {
		i.Version = version
	}
	return i, nil
}

func (c *countingCloud) setLocked(vm *fleet.VM, state sandbox.State, at time.Time) {
	if vm.State != state {
		vm.State = state
		c.record[vm.ID] = append(c.record[vm.ID], change{state, at})
	}
}

// tickLocked does what is due to a VM.
func (c *countingCloud) tickLocked(vm *fleet.VM) {
	now := c.clock.Now()
	switch end := vm.StartedAt.Add(vm.Life); {
	case vm.State == sandbox.Terminated:
	case !now.Before(end):
		c.setLocked(vm, sandbox.Terminated, end)
		vm.EndedAt, vm.Reason = end, "MicroVM exceeded maximum lifetime."
	case vm.State == sandbox.Running && vm.Idle > 0 && now.Sub(c.used[vm.ID]) >= vm.Idle:
		c.setLocked(vm, sandbox.Suspended, now)
	}
}

func (c *countingCloud) Run(ctx context.Context, r fleet.RunRequest) (fleet.VM, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	act, err := true, error(nil)
	if run, n := c.run, c.runs; run != nil {
		c.mu.Unlock()
		act, err = run(n)
		c.mu.Lock()
	}
	id := c.tokens[r.Token]
	if id == "" && act {
		id = fmt.Sprintf("vm-%d", len(c.vms)+1)
		now := c.clock.Now()
		c.tokens[r.Token] = id
		c.vms[id] = &fleet.VM{ID: id, Endpoint: id + ".example", Image: r.Image, Version: "1.0", Life: r.Life, Idle: r.Idle, StartedAt: now}
		c.used[id] = now
		c.setLocked(c.vms[id], sandbox.Running, now)
	}
	if ctx.Err() != nil {
		return fleet.VM{}, ctx.Err()
	}
	if err != nil {
		return fleet.VM{}, err
	}
	return *c.vms[id], nil
}

func (c *countingCloud) Get(_ context.Context, id string) (fleet.VM, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if vm := c.vms[id]; vm != nil {
		c.tickLocked(vm)
		return *vm, nil
	}
	return fleet.VM{}, &sandbox.Error{Code: sandbox.NotFound, Msg: "no such VM"}
}

func (c *countingCloud) List(context.Context) ([]fleet.VM, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []fleet.VM
	for _, vm := range c.vms {
		c.tickLocked(vm)
		short := *vm
		short.Endpoint, short.Reason, short.EndedAt = "", "", time.Time{}
		out = append(out, short)
	}
	return out, nil
}

func (c *countingCloud) to(id string, state sandbox.State) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	vm := c.vms[id]
	if vm == nil || c.overLocked(vm) {
		return &sandbox.Error{Code: sandbox.NotFound, Msg: "no such VM"}
	}
	if state == sandbox.Terminated {
		vm.EndedAt, vm.Reason = c.clock.Now(), "Success."
	}
	c.used[id] = c.clock.Now()
	c.setLocked(vm, state, c.clock.Now())
	return nil
}

func (c *countingCloud) Suspend(_ context.Context, id string) error {
	if c.suspend != nil {
		if err := c.suspend(); err != nil {
			return err
		}
	}
	return c.to(id, sandbox.Suspended)
}

func (c *countingCloud) Resume(_ context.Context, id string) error { return c.to(id, sandbox.Running) }

func (c *countingCloud) Terminate(_ context.Context, id string) error {
	return c.to(id, sandbox.Terminated)
}

func (c *countingCloud) Agent(vm fleet.VM, _ string) (fleet.Agent, error) {
	return &quietAgent{cloud: c, id: vm.ID}, nil
}

func (c *countingCloud) alive() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, vm := range c.vms {
		if !c.overLocked(vm) {
			n++
		}
	}
	return n
}

// reckon is what a VM cost by the cloud's record, in exact numbers with one
// rounding. It goes by the words of the formula, and shares nothing with the
// package that the ledger goes by.
func (c *countingCloud) reckon(t *testing.T, id string, burst sandbox.Burst) sandbox.Micro {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	vm, changes := c.vms[id], c.record[id]
	if vm.State != sandbox.Terminated {
		t.Fatalf("%s still lives", id)
	}
	var running, asleep time.Duration
	cycles := int64(0)
	for i, ch := range changes[:len(changes)-1] {
		d := changes[i+1].at.Sub(ch.at)
		if ch.state == sandbox.Suspended {
			asleep += d
			cycles++
		} else {
			running += d
		}
	}
	times := int64(1)
	if burst == sandbox.BurstStrict {
		times = 4
		if vm.Idle > 0 {
			cycles = max(cycles, int64((running+asleep)/vm.Idle))
		}
	}
	amount := func(n, of int64) *big.Rat { return big.NewRat(n, of) }
	seconds := func(d time.Duration) *big.Rat { return amount(d.Milliseconds(), 1000) }
	mul := func(a *big.Rat, rest ...*big.Rat) *big.Rat {
		out := new(big.Rat).Set(a)
		for _, r := range rest {
			out.Mul(out, r)
		}
		return out
	}
	const vcpu, gb, write, read, storage = 27_694_400, 3_666_700, 3_800_000_000, 1_550_000_000, 30_865
	snapshot := amount(int64(c.image.SnapshotMGB), 1000)
	size := int64(c.image.SizeMiB)
	perSecond := new(big.Rat).Add(mul(amount(size, 2048), amount(vcpu, 1)), mul(amount(size, 1024), amount(gb, 1)))
	sum := mul(perSecond, amount(times, 1), seconds(running))
	sum.Add(sum, mul(snapshot, amount(read, 1)))
	sum.Add(sum, mul(amount(cycles, 1), snapshot, amount(write+read, 1)))
	sum.Add(sum, mul(snapshot, amount(storage, 1), seconds(asleep)))
	sum.Quo(sum, amount(1_000_000, 1))
	q, rest := new(big.Int).DivMod(sum.Num(), sum.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return sandbox.Micro(q.Int64())
}

// A quietAgent answers, and each call wakes its sandbox.
type quietAgent struct {
	fleet.Agent
	cloud *countingCloud
	id    string
}

func (a *quietAgent) Close() error { return nil }

func (a *quietAgent) touch() error {
	a.cloud.mu.Lock()
	defer a.cloud.mu.Unlock()
	vm := a.cloud.vms[a.id]
	if vm == nil || a.cloud.overLocked(vm) || vm.State == sandbox.Suspended && vm.Idle == 0 {
		return &sandbox.Error{Code: sandbox.InTransition, Msg: "cut", Retryable: true}
	}
	a.cloud.used[a.id] = a.cloud.clock.Now()
	a.cloud.setLocked(vm, sandbox.Running, a.cloud.clock.Now())
	return nil
}

func (a *quietAgent) Health(context.Context) (fleet.Health, error) {
	if err := a.touch(); err != nil {
		return fleet.Health{}, err
	}
	return fleet.Health{Agent: true, Kernel: true, Sandbox: a.id}, nil
}

func (a *quietAgent) Start(_ context.Context, e sandbox.Exec, emit func(fleet.Event) error) (sandbox.Exit, error) {
	if err := a.touch(); err != nil {
		return sandbox.Exit{}, err
	}
	return sandbox.Exit{}, emit(fleet.Event{Output: sandbox.Output{Notice: sandbox.NoticeStarted}, Place: &fleet.Place{PID: 7}})
}

func (a *quietAgent) Stat(_ context.Context, r sandbox.FileRequest) (sandbox.File, error) {
	return sandbox.File{Path: r.Path}, a.touch()
}

// lost is the answer that got lost.
func lost() error {
	return &sandbox.Error{Code: sandbox.CreateInDoubt, Msg: "the answer was lost", Retryable: true}
}

func (c *countingCloud) ended(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.overLocked(c.vms[id])
}

// overLocked reports whether a VM has ended, be it that nobody has looked yet.
func (c *countingCloud) overLocked(vm *fleet.VM) bool {
	return vm.State == sandbox.Terminated || !c.clock.Now().Before(vm.StartedAt.Add(vm.Life))
}

// newVM is one that nobody of ours has made.
func newVM(r *till) *fleet.VM {
	return &fleet.VM{ID: "vm-9", Image: r.cloud.image.ARN, Version: "1.0", State: sandbox.Running, Life: 8 * time.Hour, StartedAt: r.clock.Now()}
}
