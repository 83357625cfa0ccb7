package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A stubKernel is a code service whose every answer is set by a test.
type stubKernel struct {
	noKernels
	isReady  atomic.Bool
	rotated  chan map[string]string
	rotating chan struct{} // rotate waits for it
	lost     bool
	warmed   chan error // warm waits for it
}

func newStubKernel() *stubKernel {
	return &stubKernel{rotated: make(chan map[string]string, 1), rotating: make(chan struct{}), warmed: make(chan error)}
}

func (k *stubKernel) ready() bool                { return k.isReady.Load() }
func (k *stubKernel) probe(context.Context) bool { return k.lost }

func (k *stubKernel) rotate(ctx context.Context, env map[string]string) error {
	k.rotated <- env
	select {
	case <-k.rotating:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (k *stubKernel) warm(ctx context.Context) error {
	select {
	case err := <-k.warmed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stubbed is a rig whose kernel is a stub.
func stubbed(t *testing.T, clock clockwork.Clock) (*rig, *stubKernel) {
	k := newStubKernel()
	r := newRig(t, func(c *Config) { c.Clock = clock }, func(s *Server) {
		s.cfg.NoKernel = false
		s.kernels = k
	})
	return r, k
}

func TestHookOrder(t *testing.T) {
	const run = "run {}"
	for _, tt := range []struct {
		name      string
		calls     []string // hook, and body after a space
		want      []string // outcomes
		phase     phase
		anomalies uint64
	}{
		{"a life", []string{"ready", run, "suspend", "resume", "suspend", "resume"}, []string{"changed", "tokenless", "changed", "changed", "changed", "changed"}, phaseResumed, 0},
		{"twice", []string{"ready", "ready", run, run, "suspend", "suspend", "resume", "resume"}, []string{"changed", "unchanged", "tokenless", "already_ran", "changed", "unchanged", "changed", "unchanged"}, phaseResumed, 1},
		{"run without ready", []string{run}, []string{"tokenless"}, phaseRunning, 0},
		{"ready after run", []string{run, "ready"}, []string{"tokenless", "illegal"}, phaseRunning, 1},
		{"suspend too early", []string{"suspend", "resume", run}, []string{"illegal", "illegal", "tokenless"}, phaseRunning, 2},
		{"resume of what runs", []string{run, "resume"}, []string{"tokenless", "illegal"}, phaseRunning, 1},
		{"run while suspending", []string{run, "suspend", run}, []string{"tokenless", "changed", "already_ran"}, phaseSuspending, 1},
		{"validate without a kernel", []string{"validate"}, []string{"validate_skipped"}, phaseBooting, 0},
		{"no body", []string{"run"}, []string{"tokenless"}, phaseRunning, 0},
		{"garbage", []string{"run \x00\xff{"}, []string{"tokenless"}, phaseRunning, 0},
		{"a list", []string{"run []"}, []string{"tokenless"}, phaseRunning, 0},
		{"huge", []string{"run {\"x\":\"" + strings.Repeat("x", 2*maxHookBody) + "\"}"}, []string{"tokenless"}, phaseRunning, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			var last hookAnswer
			for i, call := range tt.calls {
				name, body, _ := strings.Cut(call, " ")
				last = r.hook(name, body)
				if last.Outcome != tt.want[i] || last.status != http.StatusOK || last.Hook != name {
					t.Errorf("%s (call %d) = %d %+v, want %s", name, i, last.status, last, tt.want[i])
				}
			}
			if last.Phase != tt.phase {
				t.Errorf("phase = %s, want %s", last.Phase, tt.phase)
			}
			if got := r.health().GetHookAnomalies(); got != tt.anomalies {
				t.Errorf("anomalies = %d, want %d", got, tt.anomalies)
			}
		})
	}
}

func TestRunHook(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r, k := stubbed(t, clock)
	k.isReady.Store(true)
	if h := r.health(); h.GetSandboxId() != "" || !h.GetAgentReady() || !h.GetKernelReady() || h.GetFeatures() == nil {
		t.Errorf("health before run = %v", h)
	}
	r.run(map[string]any{
		"envs": map[string]string{"A": "b"}, "metadata": map[string]string{"k": "v"}, "workdir": "/usr", "user": "user",
	})
	if env := <-k.rotated; env["A"] != "b" {
		t.Errorf("kernel environment = %v", env)
	}
	if r.health().GetKernelReady() {
		t.Error("the kernel is ready while it is being replaced")
	}
	close(k.rotating)
	eventually(t, "the kernel to be ready", func() bool { return r.health().GetKernelReady() })
	clock.Advance(time.Second)
	h := r.health()
	if h.GetSandboxId() != "microvm-1" || h.GetMetadata()["k"] != "v" || h.GetAgentVersion() != Version || h.GetUptimeMs() != 1000 ||
		h.GetLifecycle().GetPhase() != agentpb.LifecyclePhase_LIFECYCLE_PHASE_UNMANAGED || h.GetCpuCount() == 0 ||
		h.GetMemoryTotalBytes() == 0 || h.GetEgressEnforcement() != agentpb.EgressEnforcement_EGRESS_ENFORCEMENT_NONE {
		t.Errorf("health = %v", h)
	}
	if s := r.start(sh("pwd")).rest(); s.out.String() != "/usr\n" {
		t.Errorf("workdir = %q", s.out.String())
	}

	// A second one changes nothing.
	if a := r.hook("run", `{"microvmId":"other"}`); a.Outcome != "already_ran" || r.health().GetSandboxId() != "microvm-1" {
		t.Errorf("second run = %+v", a)
	}
}

// Without a token nobody gets in, but the sandbox has its name.
func TestTokenlessRun(t *testing.T) {
	r := newRig(t, nil)
	if a := r.hook("run", `{"microvmId":"m","runHookPayload":"{\"v\":1}"}`); a.Outcome != "tokenless" {
		t.Errorf("run = %+v", a)
	}
	if got := r.health().GetSandboxId(); got != "m" {
		t.Errorf("id = %q", got)
	}
	_, err := r.process().List(r.ctx(), &agentpb.ListRequest{})
	wantCode(t, err, codes.Unauthenticated)
}

func TestEnforceIsNeverReady(t *testing.T) {
	r := newRig(t, nil).run(map[string]any{"network": map[string]any{"enforce": true}})
	if r.health().GetAgentReady() {
		t.Error("the sandbox says that it keeps traffic in")
	}
}

func TestReadyWaitsForTheKernel(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r, k := stubbed(t, clock)
	if a := r.hook("ready", ""); a.Outcome != "kernel_warming" || a.status != http.StatusServiceUnavailable {
		t.Errorf("ready = %d %+v", a.status, a)
	}
	clock.Advance(readyEscape)
	if a := r.hook("ready", ""); a.Outcome != "ready_escape" || a.status != http.StatusOK || a.Phase != phaseReady {
		t.Errorf("ready = %d %+v", a.status, a)
	}
	k.isReady.Store(true)
	if a := r.hook("ready", ""); a.Outcome != "unchanged" || a.status != http.StatusOK {
		t.Errorf("ready = %d %+v", a.status, a)
	}
}

func TestValidate(t *testing.T) {
	for want, err := range map[string]error{"validated": nil, "validate_failed": errors.New("no")} {
		t.Run(want, func(t *testing.T) {
			r, k := stubbed(t, clockwork.NewRealClock())
			for range 2 {
				if a := r.hook("validate", ""); a.Outcome != "validating" || a.status != http.StatusServiceUnavailable {
					t.Errorf("validate = %d %+v", a.status, a)
				}
			}
			k.warmed <- err
			var a hookAnswer
			eventually(t, "the outcome", func() bool {
				a = r.hook("validate", "")
				return a.Outcome != "validating"
			})
			if a.Outcome != want || a.status != http.StatusOK {
				t.Errorf("validate = %d %+v, want %s", a.status, a, want)
			}
		})
	}
}

func TestResumeTellsOfLostKernels(t *testing.T) {
	r, k := stubbed(t, clockwork.NewRealClock())
	close(k.rotating)
	r.run(nil)
	r.hook("suspend", "")
	k.lost = true
	if a := r.hook("resume", ""); !*a.KernelLost {
		t.Errorf("resume = %+v", a)
	}
	if h := r.health(); !h.GetKernelStateLost() || h.GetResumeGeneration() != 1 {
		t.Errorf("health = %v", h)
	}
}

// An announced suspension that never comes ends by itself.
func TestSuspendWatchdog(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
	r.hook("suspend", "")
	list := func() error {
		_, err := r.process().List(r.ctx(), &agentpb.ListRequest{})
		return err
	}
	for range watchTicks - 1 {
		if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		clock.Advance(watchTick)
		wantCode(t, list(), codes.Unavailable)
	}
	eventually(t, "the sandbox to go on", func() bool {
		clock.Advance(watchTick)
		return list() == nil
	})
	if a := r.hook("resume", ""); a.Outcome != "changed" || a.Resumes != 1 {
		t.Errorf("resume after the watchdog = %+v", a)
	}
}

func TestHooksSurviveNoise(t *testing.T) {
	r := newRig(t, nil)
	addr := strings.TrimSuffix(strings.TrimPrefix(r.hooks, "http://"), hookPath)
	for name, noise := range map[string]string{
		"TLS":          "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"HTTP/2":       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"nothing":      "",
		"a long line":  strings.Repeat("x", 100_000),
		"bad length":   "POST " + hookPath + "run HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"no host":      "POST " + hookPath + "run HTTP/1.1\r\n\r\n",
		"other method": "GET " + hookPath + "run HTTP/1.1\r\nHost: x\r\n\r\n",
		"other path":   "POST /run HTTP/1.1\r\nHost: x\r\n\r\n",
		"dots":         "POST " + hookPath + "../v1/terminate HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			io.WriteString(conn, noise)
			conn.(*net.TCPConn).CloseWrite()
			answer, _ := io.ReadAll(conn)
			if bytes.HasPrefix(answer, []byte("HTTP/1.1 2")) {
				t.Errorf("answer = %q", answer)
			}
		})
	}
	r.run(nil)
}

func TestHookPeers(t *testing.T) {
	fromInside := func(h *hooks) *http.Request {
		ctx := context.WithValue(context.Background(), peerKey{}, true)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://x", strings.NewReader(`{"microvmId":"m"}`))
		return req
	}
	r := newRig(t, nil)
	h := r.s.hooks
	for _, f := range []func(context.Context, *http.Request) hookAnswer{h.run, h.terminate, h.validate} {
		if a := f(t.Context(), fromInside(h)); a.Outcome != "peer_refused" {
			t.Errorf("outcome = %s, want peer_refused", a.Outcome)
		}
	}
	r.run(nil) // was not used up
	for i, f := range []func(context.Context, *http.Request) hookAnswer{h.suspend, h.resume} {
		if a := f(t.Context(), fromInside(h)); a.Outcome != "changed" {
			t.Errorf("outcome = %s, want changed", a.Outcome)
		}
		if got := r.health().GetHookAnomalies(); got != uint64(4+i) {
			t.Errorf("anomalies = %d, want %d", got, 4+i)
		}
	}
}

// What is in the kernel's table and what is not.
func TestFromSandbox(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Platform = nil })
	ln := listen(t)
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	uid, err := peerUID(conn)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.s.hooks.fromSandbox(conn), uid >= minUserID; got != want {
		t.Errorf("fromSandbox = %v for uid %d", got, uid)
	}
	r.s.cfg.Platform = func(c net.Conn) bool { return c == conn }
	if r.s.hooks.fromSandbox(conn) {
		t.Error("the platform's own is taken for the sandbox's")
	}
	r.s.cfg.Platform = func(net.Conn) bool { return false }
	if !r.s.hooks.fromSandbox(conn) {
		t.Error("who is not the platform is taken for it because of who they are")
	}
	r.s.cfg.Platform = nil
	client.Close()
	eventually(t, "the connection to be nobody's", func() bool { return r.s.hooks.fromSandbox(conn) })
}

func TestOwnerOf(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	line := func(local, remote, state string, uid int) string {
		return fmt.Sprintf("   0: %s %s %s 00000000:00000000 00:00000000 00000000 %5d 0 1 1 0 20 0 0 10 -1\n", local, remote, state, uid)
	}
	v4 := line("0100007F:C350", "0100007F:2328", "01", 991)
	mapped := line("0000000000000000FFFF00000100007F:C350", "0000000000000000FFFF00000100007F:2328", "01", 1000)
	v6 := line("00000000000000000000000001000000:C350", "00000000000000000000000001000000:2328", "01", 5)
	loop4, loop6 := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1")
	for _, tt := range []struct {
		name, table string
		addr        netip.Addr
		uid         uint32
		ok          bool
	}{
		{"empty", "", loop4, 0, false},
		{"IPv4", head + v4, loop4, 991, true},
		{"IPv4 in IPv6", head + mapped, loop4, 1000, true},
		{"IPv6", head + v6, loop6, 5, true},
		{"other end", head + line("0100007F:2328", "0100007F:C350", "01", 0), loop4, 0, false},
		{"closing", head + line("0100007F:C350", "0100007F:2328", "06", 0), loop4, 0, false},
		{"garbage", "a b c\n:: :: 01 x x x x x\n" + strings.Repeat("z ", 20) + "\n", loop4, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			uid, ok := ownerOf([]byte(tt.table), netip.AddrPortFrom(tt.addr, 50000), netip.AddrPortFrom(tt.addr, 9000))
			if uid != tt.uid || ok != tt.ok {
				t.Errorf("owner = %d, %v; want %d, %v", uid, ok, tt.uid, tt.ok)
			}
		})
	}
}

func FuzzRunBody(f *testing.F) {
	f.Add([]byte(`{"microvmId":"m","runHookPayload":"{\"v\":1,` + strings.ReplaceAll(someDigest, `"`, `\"`) + `}"}`))
	f.Add([]byte(`{"microvmId":1}`))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, body []byte) {
		se := parseRunBody(body)
		if len(se.id) > maxSandboxID {
			t.Errorf("id of %d bytes", len(se.id))
		}
		if (se.digest() != nil) != (se.payload != nil) {
			t.Error("a digest without a payload")
		}
	})
}

func FuzzOwnerOf(f *testing.F) {
	f.Add([]byte("   0: 0100007F:C350 0100007F:2328 01 00000000:00000000 00:00000000 00000000 991 0\n"))
	f.Fuzz(func(_ *testing.T, table []byte) {
		a := netip.MustParseAddrPort("127.0.0.1:50000")
		ownerOf(table, a, a)
		parseStat(1, table)
	})
}
