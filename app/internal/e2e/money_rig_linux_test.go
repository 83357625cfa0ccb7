package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

// A purse is a person who has an account in AWS, which a listening local cloud
// plays, and a token for their agents whose limit is exactly that many
// sandboxes' worth.
type purse struct {
	*tour
	engine *control.Client // the owner's, which starts none
	api    *microvm.Client // of the account, beside Arenero
	token  control.NewToken
	hold   sandbox.Micro // of one sandbox of an hour
	limit  sandbox.Micro
	memory int64 // thousandths of a GB of the snapshot that the cloud's image has

	mu       sync.Mutex
	most     int // VMs that were alive at once, as far as was seen
	spenders []*spender
}

// enough is how long the slowest of what is waited for may take: with faults on,
// and calls that are told to come again in a minute.
const enough = 10 * time.Minute

// comes polls until cond holds, for as long as these tests may take.
func comes(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for limit := time.Now().Add(enough); time.Now().Before(limit); pause() {
		if cond() {
			return
		}
	}
	t.Fatalf("never came about: %s", what)
}

// newPurse starts a cloud with faults, and makes a profile and a token. The token
// is worth that many sandboxes.
func newPurse(t *testing.T, sandboxes int, faults string) *purse {
	t.Helper()
	buildBridge(t)
	home, err := shortDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, home) })
	r := &tour{t: t, home: home, user: t.TempDir(), scratch: t.TempDir(), been: map[string]bool{}, secrets: &canaries{all: map[string]bool{}}}
	p := &purse{tour: r}
	r.cloud = startCloud(t, t.TempDir())
	p.api = r.cloud.client(t)
	p.memory = p.snapshot()
	r.bus()
	p.engine = control.NewClient(filepath.Join(home, "run", "control.sock"))
	r.keyring()
	t.Cleanup(p.close)
	r.secrets.add(r.cloud.info.SecretAccessKey)
	r.stdin = r.cloud.info.AccessKeyID + "\n" + r.cloud.info.SecretAccessKey + "\n"
	r.run("profiles", "add", "lab", "--kind", "keys", "--region", r.cloud.info.Region, "--no-session", "--endpoint", r.cloud.info.Endpoint, "--template", "arenero-local")

	q, err := p.engine.Quote(t.Context(), sandbox.Spec{Profile: sandbox.Profile{Name: "lab"}, Timeout: time.Hour, Asked: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := p.priceOf(q.SizeMiB, time.Hour, 0, 0); q.Hold != want || q.Local || q.Unpriced || q.Region != r.cloud.info.Region {
		t.Fatalf("an hour is quoted as %+v, want %s to be held", q, want)
	}
	p.hold, p.limit = q.Hold, q.Hold*sandbox.Micro(sandboxes)
	said := r.run("tokens", "create", "agents", "--limit", p.limit.String(), "--rate", "6000", "--expires", "30d", "--json")
	if err := json.Unmarshal([]byte(said), &p.token); err != nil || p.token.Secret == "" {
		t.Fatalf("the new token is %q, %v", said, err)
	}
	if got := p.token.Grant.Limit; got == nil || *got != p.limit {
		t.Fatalf("the limit is %v, want %s", got, p.limit)
	}
	r.secrets.add(string(p.token.Secret))
	r.watch()
	p.faults(faults)
	return p
}

// close ends the engine, and shows its log if something went wrong.
func (p *purse) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p.engine.Stop(ctx)
	p.engine.Close()
	if p.t.Failed() {
		text, _ := os.ReadFile(filepath.Join(p.home, "state", "log", "engine.log"))
		p.t.Logf("the engine's log:\n%s", text)
	}
}

// faults has the cloud do other things wrong.
func (p *purse) faults(rules string) {
	p.t.Helper()
	put(p.t, p.cloud.faults+".new", rules, 0o600)
	if err := os.Rename(p.cloud.faults+".new", p.cloud.faults); err != nil {
		p.t.Fatal(err)
	}
}

// vms are all VMs that the cloud ever had, by its own API, with faults or not.
func (p *purse) vms() (all []wire.MicrovmItem) {
	p.t.Helper()
	comes(p.t, "the cloud lists its VMs", func() bool {
		all = nil
		for pages := microvm.NewListMicrovmsPaginator(p.api, &microvm.ListMicrovmsInput{}); pages.HasMorePages(); {
			page, err := pages.NextPage(p.t.Context())
			if err != nil {
				return false
			}
			all = append(all, page.Items...)
		}
		return true
	})
	return all
}

// vm is one VM.
func (p *purse) vm(id string) (out *microvm.GetMicrovmOutput) {
	p.t.Helper()
	comes(p.t, "the cloud describes a VM", func() bool {
		var err error
		out, err = p.api.GetMicrovm(p.t.Context(), &microvm.GetMicrovmInput{MicrovmIdentifier: &id})
		return err == nil
	})
	return out
}

func (p *purse) alive() (n int) {
	p.t.Helper()
	for _, vm := range p.vms() {
		if vm.State != wire.MicrovmStateTerminated {
			n++
		}
	}
	return n
}

// count counts what is alive, all the time until the test ends.
func (p *purse) count(atMost int) {
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(p.t.Context())
	wg.Go(func() {
		for ; ctx.Err() == nil; pause() {
			out, err := p.api.ListMicrovms(ctx, &microvm.ListMicrovmsInput{})
			if err != nil {
				continue
			}
			n := 0
			for _, vm := range out.Items {
				if vm.State != wire.MicrovmStateTerminated {
					n++
				}
			}
			if n > atMost {
				p.t.Errorf("%d sandboxes are alive at once, %d are paid for", n, atMost)
			}
			p.mu.Lock()
			p.most = max(p.most, n)
			p.mu.Unlock()
		}
	})
	wg.Go(func() {
		for ; ctx.Err() == nil; pause() {
			all, err := p.engine.Tokens(ctx, p.token.Grant.ID)
			if err != nil {
				continue // it was killed
			}
			if b := all[0].Budget; b.Spent+b.Held > p.limit || b.OverLimit {
				p.t.Errorf("%+v is more than the limit", b)
			}
		}
	})
	p.t.Cleanup(func() {
		stop()
		wg.Wait()
	})
}

func (p *purse) atMost() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// orders are those of the token, open ones or all.
func (p *purse) orders(open bool) (all []sandbox.Order) {
	p.t.Helper()
	comes(p.t, "the engine lists orders", func() bool {
		page, err := p.engine.Orders(p.t.Context(), sandbox.OrderQuery{Grant: p.token.Grant.ID, Open: open, Limit: 1000})
		all = page.Orders
		return err == nil
	})
	return all
}

// running counts the orders of sandboxes that are there.
func (p *purse) running() (n int) {
	p.t.Helper()
	for _, o := range p.orders(true) {
		if o.State == sandbox.OrderRunning {
			n++
		}
	}
	return n
}

// kill kills the engine. Whoever needs one starts the next, but in the end there
// may be no bridge left: so one is started as bridges do.
func (p *purse) kill() {
	p.t.Helper()
	var pid int
	comes(p.t, "there is an engine", func() bool {
		s, err := p.engine.Status(p.t.Context())
		pid = s.PID
		return err == nil
	})
	kill9(pid)
	next := exec.Command(filepath.Join(programs, "arenero"), "engine", "--started")
	next.Env = p.environ()
	if err := next.Start(); err != nil {
		p.t.Fatal(err)
	}
	go next.Wait()
	comes(p.t, "there is another engine", func() bool {
		s, err := p.engine.Status(p.t.Context())
		return err == nil && s.PID != pid
	})
}

// snapshot is how large the cloud says that the snapshot of its image is.
func (p *purse) snapshot() int64 {
	p.t.Helper()
	image, version := localImage, "1.0"
	list, err := p.api.ListMicrovmImageBuilds(p.t.Context(), &microvm.ListMicrovmImageBuildsInput{ImageIdentifier: &image, ImageVersion: &version})
	if err != nil || len(list.Items) == 0 {
		p.t.Fatalf("the builds of the image: %+v, %v", list, err)
	}
	build, err := p.api.GetMicrovmImageBuild(p.t.Context(), &microvm.GetMicrovmImageBuildInput{ImageIdentifier: &image, ImageVersion: &version, BuildId: list.Items[0].BuildId})
	if err != nil || build.SnapshotBuild == nil {
		p.t.Fatalf("a build of the image: %+v, %v", build, err)
	}
	return (*build.SnapshotBuild.MemorySnapshotSizeInBytes + 999_999) / 1_000_000
}

// priceOf is what a sandbox costs by the prices of us-east-1 and by the strict
// rules, reckoned anew from the published figures: for all the time that it runs
// it takes four times its baseline. It is rounded up once.
func (p *purse) priceOf(sizeMiB int, running, asleep time.Duration, cycles int64) sandbox.Micro {
	p.t.Helper()
	if sizeMiB%2048 != 0 {
		p.t.Fatalf("%d MiB are no whole vCPUs", sizeMiB)
	}
	const vcpu, gb, write, read, storage = 27_694_400, 3_666_700, 3_800_000_000, 1_550_000_000, 30_865 // millionths of a millionth of a dollar
	sum := new(big.Int)
	add := func(factors ...int64) {
		n := big.NewInt(1)
		for _, f := range factors {
			n.Mul(n, big.NewInt(f))
		}
		sum.Add(sum, n)
	}
	// In millionths of that: times are in thousandths of a second, snapshots in
	// thousandths of a GB.
	add(4*(int64(sizeMiB/2048)*vcpu+int64(sizeMiB/1024)*gb), running.Milliseconds(), 1000)
	add(p.memory, read, 1000)
	add(cycles, p.memory, write+read, 1000)
	add(p.memory, storage, asleep.Milliseconds())
	whole, rest := sum.DivMod(sum, big.NewInt(1_000_000*1_000_000), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return sandbox.Micro(whole.Int64())
}

// A span is how long the cloud had a VM, to the millisecond, in which it tells
// times.
type span struct{ from, to time.Time }

// spanOf is what the API tells of a VM that has ended. The cloud's own file of it
// must say the same.
func (p *purse) spanOf(id string) span {
	p.t.Helper()
	vm := p.vm(id)
	if vm.State != wire.MicrovmStateTerminated || vm.StartedAt == nil || vm.TerminatedAt == nil {
		p.t.Fatalf("%s has not ended: %s, from %v to %v", id, vm.State, vm.StartedAt, vm.TerminatedAt)
	}
	s := span{*vm.StartedAt, *vm.TerminatedAt}
	text, err := os.ReadFile(filepath.Join(p.cloud.dir, "data", "microvms", id+".json"))
	var kept struct{ StartedAt, TerminatedAt time.Time }
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&kept)
	}
	if err != nil || kept.StartedAt.UnixMilli() != s.from.UnixMilli() || kept.TerminatedAt.UnixMilli() != s.to.UnixMilli() {
		p.t.Errorf("%s: the API tells %v to %v, the file %+v, %v", id, s.from, s.to, kept, err)
	}
	return s
}

// clean checks that the account holds nothing it should not.
func (p *purse) clean() {
	p.t.Helper()
	if said := p.run("ledger", "check"); strings.Count(said, "\n") != 1 {
		p.t.Errorf("ledger check: %s", said)
	}
	if found, err := p.engine.CheckLedger(p.t.Context()); err != nil || len(found) > 0 {
		p.t.Errorf("ledger check: %v, %v", found, err)
	}
}
