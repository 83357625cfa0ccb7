package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

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

// A spender is an MCP client that has the token, or a connection bound to it.
type spender struct {
	*client.Client
	name string
	http bool
	url  string    // of its bridge, over HTTP
	cmd  *exec.Cmd // its bridge, over stdio
	lazy bool      // it begins with a command, for which a sandbox is made
	used bool      // and that was there

	created []string // sandboxes that it asked for by themselves
	refused int      // times that a budget had no more
}

// variables are what a bridge is told.
func (p *purse) variables() []string {
	return append(p.environ(), "ARENERO_PROFILE=lab", "ARENERO_TOOLSETS=core,fleet", "ARENERO_MCP_TIMEOUT_SECONDS=3600", "ARENERO_MCP_IDLE_SECONDS=0", "ARENERO_MCP_LOG_LEVEL=DEBUG")
}

// stdio starts a bridge whose connection is bound to the token.
func (p *purse) stdio(name string) *spender {
	p.t.Helper()
	id := sandbox.NewConnectionID(nil)
	p.run("tokens", "bind", id, "agents")
	s := &spender{name: name}
	command := func(_ context.Context, name string, _, args []string) (*exec.Cmd, error) {
		s.cmd = exec.Command(name, args...)
		s.cmd.Env = p.variables()
		return s.cmd, nil
	}
	var err error
	s.Client, err = client.NewStdioMCPClientWithOptions(filepath.Join(programs, "arenero-bridge"), nil, []string{"--connection", id}, transport.WithCommandFunc(command))
	if err != nil {
		p.t.Fatal(err)
	}
	said := &logBuffer{}
	if stderr, ok := client.GetStderr(s.Client); ok {
		go copyLog(said, stderr)
	}
	p.t.Cleanup(func() {
		s.Close()
		p.listen("a bridge", said.String())
	})
	return p.greet(s)
}

var listensAt = regexp.MustCompile(`http://[0-9.:]+/mcp`)

// serve starts a bridge for those who come with tokens, and returns where.
func (p *purse) serve() string {
	p.t.Helper()
	cmd := exec.Command(filepath.Join(programs, "arenero-bridge"), "--http", "--port", "0", "--auth", "token")
	said := &logBuffer{}
	cmd.Env, cmd.Stderr = p.variables(), said
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		p.listen("the bridge that serves HTTP", said.String())
		if p.t.Failed() {
			p.t.Logf("its log:\n%s", said)
		}
	})
	comes(p.t, "the bridge says where it listens", func() bool { return listensAt.MatchString(said.String()) })
	return listensAt.FindString(said.String())
}

// web is a client with the token.
func (p *purse) web(name, url string) *spender {
	p.t.Helper()
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + string(p.token.Secret)}))
	if err == nil {
		err = c.Start(p.t.Context())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	return p.greet(&spender{Client: c, name: name, http: true, url: url})
}

// leave ends the session of a client over HTTP. The client itself asks for that
// once, which is in vain while there is no engine that could tell whose it is.
func (p *purse) leave(s *spender) {
	p.t.Helper()
	id := s.GetSessionId()
	comes(p.t, "the session of "+s.name+" has ended", func() bool {
		req, err := http.NewRequestWithContext(p.t.Context(), http.MethodDelete, s.url, http.NoBody)
		if err != nil {
			p.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+string(p.token.Secret))
		req.Header.Set("Mcp-Session-Id", id)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			p.t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode < 300 || res.StatusCode == http.StatusNotFound
	})
}

func (p *purse) greet(s *spender) *spender {
	p.t.Helper()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25" // the last one that has sessions, each with a sandbox of its own
	hello.Params.ClientInfo = mcp.Implementation{Name: s.name, Version: "1"}
	if _, err := s.Initialize(p.t.Context(), hello); err != nil {
		p.t.Fatalf("%s: %v", s.name, err)
	}
	if s.http && s.GetSessionId() == "" {
		p.t.Fatalf("%s has no session", s.name)
	}
	p.spenders = append(p.spenders, s)
	return s
}

// An outcome is what a tool answered.
type outcome struct {
	Code       string  `json:"code"` // "" is success
	RetryAfter float64 `json:"retry_after_s"`
	SandboxID  string  `json:"sandbox_id"`
	text       string
}

// use calls a tool.
func (s *spender) use(ctx context.Context, tool string, args map[string]any) (o outcome, err error) {
	var req mcp.CallToolRequest
	req.Params.Name, req.Params.Arguments = tool, args
	res, err := s.CallTool(ctx, req)
	if err != nil {
		return o, err
	}
	text, err := json.Marshal(res)
	if err != nil {
		return o, err
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	o.text = string(text)
	if err == nil && res.IsError != (o.Code != "") {
		err = fmt.Errorf("the answer makes no sense: %s", text)
	}
	return o, err
}

// must calls a tool until it works: with faults on it may have to be asked again.
func (p *purse) must(s *spender, tool string, args map[string]any) outcome {
	p.t.Helper()
	var last outcome
	comes(p.t, s.name+": "+tool, func() bool {
		o, err := s.use(p.t.Context(), tool, args)
		last = o
		switch {
		case err != nil:
			p.t.Fatalf("%s, %s: %v", s.name, tool, err)
		case o.Code != "" && !again[sandbox.Code(o.Code)]:
			p.t.Fatalf("%s, %s: %s", s.name, tool, o.text)
		}
		return o.Code == ""
	})
	return last
}

// again are the codes after which the same may be asked again: the cloud does not
// do all it is asked, and an engine may have been killed.
var again = map[sandbox.Code]bool{
	sandbox.RateLimited: true, sandbox.CreateFailed: true, sandbox.CreateInDoubt: true, sandbox.KeyInFlight: true, sandbox.CloudDown: true,
	sandbox.InTransition: true, sandbox.Unreachable: true, sandbox.ExecInDoubt: true,
}

// spend asks for sandboxes until the budget has no more, and all that it allows
// are there.
func (p *purse) spend(s *spender, all int) error {
	ctx := p.t.Context()
	limit := time.Now().Add(enough)
	for n := 0; ; pause() {
		tool, args := "create_sandbox", map[string]any{"name": fmt.Sprintf("%s-%d", s.name, n), "hours": 1, "idle_seconds": 0}
		if s.lazy && !s.used {
			tool, args = "run_command", map[string]any{"cmd": "true"}
		}
		o, err := s.use(ctx, tool, args)
		switch {
		case time.Now().After(limit):
			return fmt.Errorf("there is no end to it: %s, %v", o.text, err)
		case err != nil:
			return fmt.Errorf("%s: %w", tool, err)
		case o.Code == "" && tool == "run_command":
			s.used = true
		case o.Code == "":
			s.created = append(s.created, o.SandboxID)
			n++
		case o.Code == string(sandbox.BudgetExceeded):
			if s.refused++; p.running() == all {
				return nil
			}
		case again[sandbox.Code(o.Code)]:
			time.Sleep(time.Duration(o.RetryAfter * float64(time.Second)))
		default:
			return fmt.Errorf("%s: %s", tool, o.text)
		}
	}
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
