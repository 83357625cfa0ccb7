package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

func TestConnect(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
	req := sh("for i in 1 2 3; do read x; echo $x; done")
	req.Stdin = true
	say := func(pid uint32, text string) {
		t.Helper()
		if _, err := r.process().SendInput(r.ctx(), &agentpb.SendInputRequest{Pid: pid, Data: []byte(text + "\n")}); err != nil {
			t.Fatal(err)
		}
	}
	first := r.start(req)
	say(first.pid, "one")
	first.until("one\n")
	say(first.pid, "two")
	first.until("two\n")
	if first.seq != 2 {
		t.Fatalf("seq = %d, want 2", first.seq)
	}
	again := r.connect(first.pid, 2)
	fresh := r.connect(first.pid, 0)
	for name, from := range map[string]uint64{"ahead": 4} {
		t.Run(name, func(t *testing.T) { wantCode(t, r.refusedConnect(first.pid, from), codes.OutOfRange) })
	}
	say(first.pid, "three")
	for _, s := range []*stream{first, again, fresh} {
		if s.rest(); !s.end.GetExited() || s.end.GetStatus() != "exited" {
			t.Errorf("end = %v", s.end)
		}
	}
	if got := again.out.String(); got != "two\nthree\n" {
		t.Errorf("replay from 2 = %q", got)
	}
	if got := fresh.out.String(); got != "three\n" {
		t.Errorf("new output = %q", got)
	}

	// The tail and the end stay for a while, of running time.
	late := r.connect(first.pid, 3).rest()
	if late.out.String() != "three\n" || !late.end.GetExited() {
		t.Errorf("late: output %q, end %v", late.out.String(), late.end)
	}
	if ended := r.connect(first.pid, 4).rest(); ended.out.Len() != 0 || !ended.end.GetExited() {
		t.Errorf("after the last: output %q, end %v", ended.out.String(), ended.end)
	}
	r.hook("suspend", "")
	clock.Advance(time.Hour)
	r.hook("resume", "")
	r.connect(first.pid, 1).rest()
	clock.Advance(keepEnded)
	eventually(t, "the process to be forgotten", func() bool {
		return status.Code(r.refusedConnect(first.pid, 1)) == codes.NotFound
	})
	if used := r.s.processes.budget.used.Load(); used != 0 {
		t.Errorf("%d bytes of output are still kept", used)
	}
}

// refusedConnect is why Connect does not work.
func (r *rig) refusedConnect(pid uint32, from uint64) error {
	r.t.Helper()
	st, err := r.process().Connect(r.ctx(), &agentpb.ConnectRequest{Pid: pid, FromSeq: from})
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = st.Recv()
	return err
}

func TestConnectAfterEviction(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.start(sh("head -c 3000000 /dev/zero")).rest()
	if s.out.Len() != 3000000 {
		t.Errorf("%d bytes of output", s.out.Len())
	}
	wantCode(t, r.refusedConnect(s.pid, 1), codes.OutOfRange)
	p, err := r.s.processes.find(s.pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS, true)
	if err != nil {
		t.Fatal(err)
	}
	tail := r.connect(s.pid, p.out.first).rest()
	if n := tail.out.Len(); n > 1<<20 || n < 1<<20-pipeChunk {
		t.Errorf("%d bytes are kept, want about 1 MiB", n)
	}
}

func TestSubscribersAreBounded(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.start(sh("exec sleep 1000"))
	for range maxSubscribers - 1 {
		r.connect(s.pid, 0)
	}
	wantCode(t, r.refusedConnect(s.pid, 0), codes.ResourceExhausted)
	wantCode(t, r.refusedConnect(1<<22+1, 0), codes.NotFound)
}

func TestKeepalive(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
	req := sh("read x; echo $x")
	req.Stdin = true
	s := r.start(req)
	for s.last < 2 {
		// The sampler of metrics and the stream wait for the clock.
		if err := clock.BlockUntilContext(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		clock.Advance(processSilence)
		if !s.next() {
			t.Fatal("the stream ended")
		}
	}
	if s.seq != 0 {
		t.Errorf("seq = %d after keepalives", s.seq)
	}
}

func TestSuspendEndsProcessStreams(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
	req := sh("while read x; do echo $x; done")
	req.Stdin, req.TimeoutMs = true, 60_000
	s := r.start(req)
	if _, err := r.process().SendInput(r.ctx(), &agentpb.SendInputRequest{Pid: s.pid, Data: []byte("one\n")}); err != nil {
		t.Fatal(err)
	}
	s.until("one")
	clock.Advance(59 * time.Second)
	a := r.hook("suspend", "")
	if a.Outcome != "changed" || *a.Streams != 1 || a.Phase != phaseSuspending {
		t.Errorf("suspend = %+v", a)
	}
	s.rest()
	if s.end.GetStatus() != "suspending" || s.end.GetExited() || s.end.GetExitCode() != 0 || s.end.Signal != nil ||
		s.end.GetError().GetCode() != "suspending" {
		t.Errorf("end = %v", s.end)
	}
	_, err := r.process().List(r.ctx(), &agentpb.ListRequest{})
	wantCode(t, err, codes.Unavailable)
	if got := status.Convert(err).Message(); got != "suspending" {
		t.Errorf("message = %q, want the frozen token", got)
	}
	wantCode(t, r.refused(sh("true")), codes.Unavailable)
	if h := r.health(); !h.GetAgentReady() {
		t.Errorf("health while suspending = %v", h)
	}

	// Time passes for all but the process.
	clock.Advance(time.Hour)
	if a := r.hook("resume", ""); a.Outcome != "changed" || a.Phase != phaseResumed || a.Resumes != 1 {
		t.Errorf("resume = %+v", a)
	}
	back := r.connect(s.pid, s.seq+1)
	if _, err := r.process().SendInput(r.ctx(), &agentpb.SendInputRequest{Pid: s.pid, Data: []byte("two\n")}); err != nil {
		t.Fatal(err)
	}
	back.until("two")
	clock.Advance(time.Second)
	if back.rest(); back.end.GetStatus() != "timeout" {
		t.Errorf("end = %v", back.end)
	}
}

// A client that does not read holds the process up, and is then cut off.
func TestStalledReader(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
	s := r.start(sh("head -c 50000000 /dev/zero; echo done > done"))
	p, err := r.s.processes.find(s.pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS, true)
	if err != nil {
		t.Fatal(err)
	}
	blocked := func() bool {
		p.out.mu.Lock()
		defer p.out.mu.Unlock()
		return p.out.changed != nil
	}
	eventually(t, "the output to be held up", blocked)
	if err := clock.BlockUntilContext(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	// The first time may have passed without anyone being held up for all of it.
	eventually(t, "the process to go on", func() bool {
		clock.Advance(processRing.patience)
		_, err := os.Stat(r.home + "/done")
		return err == nil
	})
	s.rest()
	if s.end.GetStatus() != "output_truncated" || s.end.GetExited() {
		t.Errorf("end = %v", s.end)
	}
	if n := s.out.Len(); n == 0 || n >= 50000000 {
		t.Errorf("%d bytes of output", n)
	}
}

// A client that goes leaves the process alone.
func TestVanishedClient(t *testing.T) {
	r := newRig(t, nil).run(nil)
	ctx, cancel := context.WithCancel(r.ctx())
	st, err := r.process().Start(ctx, sh("sleep 1000"))
	s := r.opened(st, err)
	p, err := r.s.processes.find(s.pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS, false)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, "the subscriber to be taken off", func() bool {
		p.out.mu.Lock()
		defer p.out.mu.Unlock()
		return len(p.out.subs) == 0
	})
	if !alive(p.pid) {
		t.Error("the process went with its client")
	}
	r.connect(s.pid, 1)
}

func TestProcessesAreBounded(t *testing.T) {
	r := newRig(t, nil).run(nil)
	r.s.processes.starting = maxProcesses - 1
	s := r.start(sh("exec sleep 1000"))
	wantCode(t, r.refused(sh("true")), codes.ResourceExhausted)
	_, err := r.process().SendSignal(r.ctx(), &agentpb.SendSignalRequest{Pid: s.pid, Signal: 9})
	if err != nil {
		t.Fatal(err)
	}
	s.rest()
	r.start(sh("true")).rest()
	r.s.processes.mu.Lock()
	r.s.processes.starting = 0
	r.s.processes.mu.Unlock()
}

// After many processes and the end of the server nothing is left.
func TestNothingIsLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	fds := openFiles(t)
	t.Run("work", func(t *testing.T) {
		r := newRig(t, nil).run(nil)
		for range 200 {
			r.start(sh("echo x")).rest()
		}
		req := sh("sleep 1000 & cat")
		req.Stdin = true
		left := r.start(req)
		if _, err := r.process().CloseStdin(r.ctx(), &agentpb.CloseStdinRequest{Pid: left.pid}); err != nil {
			t.Fatal(err)
		}
		left.rest() // its child holds the pipes
		for _, p := range readProcs() {
			if p.group == int(left.pid) {
				defer syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		r.start(sh("trap '' TERM; echo up; sleep 1000")).until("up")
	})
	runtime.GC()
	goleak.VerifyNone(t, before)
	eventually(t, "the files to be closed", func() bool { return openFiles(t) <= fds })
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestServerEnds(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.start(sh("trap '' TERM; echo up; sleep 1000")).until("up")
	if a := r.hook("terminate", ""); a.Outcome != "terminating" || a.status != 200 {
		t.Errorf("terminate = %+v", a)
	}
	s.rest()
	if s.end.GetStatus() != "terminating" {
		t.Errorf("end = %v", s.end)
	}
	err := <-r.served
	r.served <- err
	if err != nil {
		t.Errorf("Serve = %v", err)
	}
	if alive(int(s.pid)) {
		t.Error("the process outlives its server")
	}
}

func TestServeFailsWithItsListener(t *testing.T) {
	s := NewServer(Config{User: "user", Home: t.TempDir(), NoKernel: true})
	broken := listen(t)
	broken.Close()
	if err := s.Serve(t.Context(), broken, listen(t)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve = %v, want that of the listener", err)
	}
}

func TestUnimplemented(t *testing.T) {
	r := newRig(t, nil).run(nil)
	ctx := r.ctx()
	for name, call := range map[string]func() error{
		"GetNetwork": func() error {
			_, err := agentpb.NewNetworkServiceClient(r.conn).GetNetwork(ctx, &agentpb.GetNetworkRequest{})
			return err
		},
		"Configure": func() error {
			_, err := agentpb.NewConfigureServiceClient(r.conn).Configure(ctx, &agentpb.ConfigureRequest{})
			return err
		},
		"GetTransfer": func() error {
			_, err := agentpb.NewFilesystemServiceClient(r.conn).GetTransfer(ctx, &agentpb.GetTransferRequest{})
			return err
		},
		"Execute without a kernel": func() error {
			st, err := agentpb.NewCodeServiceClient(r.conn).Execute(ctx, &agentpb.ExecuteRequest{})
			if err == nil {
				_, err = st.Recv()
			}
			return err
		},
		"unknown": func() error {
			return r.conn.Invoke(ctx, "/rayito.v1.NoService/Nothing", &agentpb.KeepAlive{}, &agentpb.KeepAlive{})
		},
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, call(), codes.Unimplemented) })
	}
}

func TestRequestSize(t *testing.T) {
	r := newRig(t, nil).run(nil)
	_, err := r.process().SendInput(r.ctx(), &agentpb.SendInputRequest{Pid: 1, Data: make([]byte, maxRequest+1)})
	wantCode(t, err, codes.InvalidArgument)
	wantCode(t, r.refused(sh(strings.Repeat("x", maxRequest))), codes.InvalidArgument)
}

func TestCompression(t *testing.T) {
	r := newRig(t, nil).run(nil)
	for _, tt := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"plain", r.ctx(), "identity"},
		{"asked for", withMetadata(r.ctx(), compressKey, "gzip"), "gzip"},
		{"something else", withMetadata(r.ctx(), compressKey, "br"), "identity"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			watch := &encodings{}
			conn := r.dial(r.conn.Target()[len("passthrough:///"):], grpc.WithStatsHandler(watch))
			defer conn.Close()
			st, err := agentpb.NewProcessServiceClient(conn).Start(tt.ctx, sh("echo x"), grpc.UseCompressor("gzip"))
			if err != nil {
				t.Fatal(err)
			}
			for {
				if _, err := st.Recv(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if got := watch.seen.Load(); got == nil || *got != tt.want {
				t.Errorf("answer's encoding is not %q", tt.want)
			}
		})
	}
}
