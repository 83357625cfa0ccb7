package agent

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
	"github.com/arenero/arenero/app/internal/agent/kernel"
)

func TestRestart(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	r.run(t, "x = 1")
	runs := r.execute(t, &agentpb.ExecuteRequest{Code: "print('on')\nimport time; time.sleep(600)"})
	runs.until(t, "on\n")
	waits := r.execute(t, &agentpb.ExecuteRequest{Code: "x"})
	c, _ := r.service.context(defaultContext)
	eventually(t, "the cell to queue", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.queue) == 1 })
	if _, err := r.RestartContext(t.Context(), &agentpb.RestartContextRequest{ContextId: "default"}); err != nil {
		t.Fatal(err)
	}
	if got := runs.rest(t); got != "o:on\n|!:KernelRestarted" {
		t.Errorf("the cell that ran gave %q", got)
	}
	if got := waits.rest(t); got != "!:ExecutionAborted" {
		t.Errorf("the cell that waited gave %q", got)
	}
	if got := r.run(t, "x"); got != "!:NameError" { // and no notice: it was asked for
		t.Errorf("the next cell gave %q", got)
	}
}

func TestKernelDies(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	made, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{})
	if err != nil {
		t.Fatal(err)
	}
	other := func(code string) string {
		return r.execute(t, &agentpb.ExecuteRequest{ContextId: &made.ContextId, Code: code}).rest(t)
	}
	other("y = 3")
	for _, code := range []string{"import os; os._exit(1)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "import ctypes; ctypes.string_at(0)"} {
		if got := r.run(t, "print('on'); "+code); !strings.HasPrefix(got, "o:on\n") || !strings.HasSuffix(got, "|!:KernelDied") {
			t.Errorf("%s gave %q", code, got)
		}
		got := r.run(t, "6 * 7")
		if !strings.HasPrefix(got, "e:[the Python kernel was restarted: ") || !strings.HasSuffix(got, "|r:42") {
			t.Errorf("the next cell gave %q, want a notice and 42", got)
		}
		if got := r.run(t, "1"); got != "r:1" {
			t.Errorf("the cell after gave %q", got)
		}
	}
	if got := other("y"); got != "r:3" {
		t.Errorf("the other context gave %q", got)
	}
	// Between cells.
	c, _ := r.service.context(defaultContext)
	k, _ := c.state()
	k.Kill()
	<-k.Done()
	if got := r.run(t, "6 * 7"); !strings.HasPrefix(got, "e:[the Python kernel was restarted: kernel died: signal: killed;") || !strings.HasSuffix(got, "|r:42") {
		t.Errorf("the cell after a silent death gave %q", got)
	}
}

func TestCancel(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "x = 1\nprint('on')\nimport time; time.sleep(600)"})
	s.until(t, "on\n")
	watch := r.reattach(t, "default", s.id, 1)
	watch.until(t, "on\n")
	again := r.reattach(t, "default", s.id, 1)
	again.until(t, "on\n")
	again.cancel() // leaves the cell alone
	again.fails(t)
	s.cancel()
	if got := watch.rest(t); got != "o:on\n|!:KeyboardInterrupt" {
		t.Errorf("cancelled cell gave %q", got)
	}
	if got := r.run(t, "x"); got != "r:1" {
		t.Errorf("next cell gave %q: a cancelled cell costs no state", got)
	}
}

// TestCut loses the connection: the cell runs on for those who come back in
// time, by the clock that stands still while the sandbox is suspended.
func TestCut(t *testing.T) {
	const waits = "import time, os\nprint('on')\nwhile not os.path.exists('go'): time.sleep(.01)\n9"
	orphaned := func(t *testing.T, r *codeRig, id string) *execution {
		t.Helper()
		r.service.mu.Lock()
		x := r.service.runs[id]
		r.service.mu.Unlock()
		eventually(t, "the service to miss its client", func() bool {
			x.mu.Lock()
			defer x.mu.Unlock()
			return x.orphan
		})
		return x
	}
	t.Run("back in time", func(t *testing.T) {
		clock := clockwork.NewFakeClock()
		r := newCodeRig(t, clock)
		s := r.execute(t, &agentpb.ExecuteRequest{Code: waits})
		s.until(t, "on\n")
		r.reconnect()
		orphaned(t, r, s.id)
		r.clock.pause()
		clock.Advance(time.Hour)
		r.clock.resume()
		clock.Advance(reattachGrace - time.Second)
		r.reattach(t, "default", s.id, s.seq+1)
		eventually(t, "the client to be back", func() bool {
			r.service.mu.Lock()
			defer r.service.mu.Unlock()
			return r.service.runs[s.id].ring.followed()
		})
		r.reconnect() // this one may go as it likes
		clock.Advance(time.Minute)
		if err := os.WriteFile(r.service.all()[0].place()+"/go", nil, 0o644); err != nil {
			t.Fatal(err)
		}
		back := r.reattach(t, "default", s.id, s.seq+1)
		if got := back.rest(t); got != "r:9" {
			t.Errorf("the rest is %q", got)
		}
	})
	t.Run("too late", func(t *testing.T) {
		clock := clockwork.NewFakeClock()
		r := newCodeRig(t, clock)
		s := r.execute(t, &agentpb.ExecuteRequest{Code: waits})
		s.until(t, "on\n")
		r.reconnect()
		x := orphaned(t, r, s.id)
		clock.Advance(reattachGrace)
		eventually(t, "the cell to end", func() bool {
			select {
			case <-x.done:
				return true
			default:
				return false
			}
		})
		if got := r.reattach(t, "default", s.id, 1).rest(t); got != "o:on\n|!:KeyboardInterrupt" {
			t.Errorf("the cell gave %q", got)
		}
	})
	t.Run("before its turn", func(t *testing.T) {
		r := newCodeRig(t, clockwork.NewFakeClock())
		first := r.execute(t, &agentpb.ExecuteRequest{Code: waits})
		first.until(t, "on\n")
		r.execute(t, &agentpb.ExecuteRequest{Code: "1"})
		c, _ := r.service.context(defaultContext)
		queued := func(want int) func() bool {
			return func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.queue) == want }
		}
		eventually(t, "the cell to queue", queued(1))
		r.reconnect()
		eventually(t, "the cell to leave the queue", queued(0)) // nobody could ask for it
	})
	t.Run("cancelled", func(t *testing.T) {
		r := newCodeRig(t, clockwork.NewFakeClock())
		s := r.execute(t, &agentpb.ExecuteRequest{Code: waits})
		s.until(t, "on\n")
		s.cancel()
		// The clock stands still, so this takes no grace.
		if got := r.reattach(t, "default", s.id, 1).rest(t); got != "o:on\n|!:KeyboardInterrupt" {
			t.Errorf("the cell gave %q", got)
		}
	})
}

func TestTimeout(t *testing.T) {
	tests := []struct{ name, code, want, next string }{
		{"interrupted", "print('on'); time.sleep(600)", "o:on\n|!:ExecutionTimeout", "r:1"},
		{"swallowed", "try: print('on'); time.sleep(600)\nexcept KeyboardInterrupt: pass", "o:on\n|!:ExecutionTimeout", "r:1"},
		{"own error", "try: print('on'); time.sleep(600)\nexcept KeyboardInterrupt: raise ValueError", "o:on\n|!:ValueError", "r:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := clockwork.NewFakeClock()
			r := newCodeRig(t, clock)
			s := r.execute(t, &agentpb.ExecuteRequest{Code: "import time\nx = 1\n" + tt.code, TimeoutMs: 60_000})
			s.until(t, "on\n")
			clock.Advance(61 * time.Second)
			if got := s.rest(t); got != tt.want {
				t.Errorf("cell gave %q, want %q", got, tt.want)
			}
			if got := r.run(t, "x"); got != tt.next {
				t.Errorf("next cell gave %q, want %q", got, tt.next)
			}
		})
	}
}

// deaf is a cell that no interrupt ends.
const deaf = `import signal, time
signal.signal(signal.SIGINT, lambda *args: print('no'))
print('on')
while True: time.sleep(600)`

func TestTimeoutOfADeafCell(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newCodeRig(t, clock)
	s := r.execute(t, &agentpb.ExecuteRequest{TimeoutMs: 60_000, Code: deaf})
	s.until(t, "on\n")
	waits := r.execute(t, &agentpb.ExecuteRequest{Code: "1"})
	c, _ := r.service.context(defaultContext)
	eventually(t, "the cell to queue", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.queue) == 1 })
	clock.Advance(61 * time.Second)
	s.until(t, "no\n")
	clock.Advance(3 * time.Second)
	s.until(t, "no\nno\n")
	clock.Advance(3 * time.Second)
	if got := s.rest(t); got != "o:on\nno\nno\n|!:ExecutionTimeout" {
		t.Errorf("cell gave %q", got)
	}
	if got := waits.rest(t); got != "!:ExecutionAborted" {
		t.Errorf("the cell that waited gave %q", got)
	}
	if got := r.run(t, "1"); !strings.HasPrefix(got, "e:[the Python kernel was restarted") || !strings.HasSuffix(got, "|r:1") {
		t.Errorf("the next cell gave %q", got)
	}
}

func TestCancelOfADeafCell(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newCodeRig(t, clock)
	s := r.execute(t, &agentpb.ExecuteRequest{Code: deaf})
	s.until(t, "on\n")
	watch := r.reattach(t, "default", s.id, 1)
	s.cancel()
	watch.until(t, "no\n")
	clock.Advance(interruptGrace / 2)
	watch.until(t, "no\nno\n")
	clock.Advance(interruptGrace)
	if got := watch.rest(t); got != "o:on\nno\nno\n|!:KernelRestarted" {
		t.Errorf("cell gave %q", got)
	}
}

func TestProbeFindsTheDead(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	c, _ := r.service.context(defaultContext)
	k, _ := c.state()
	k.Kill()
	<-k.Done()
	r.service.probe(t.Context()) // it may have been replaced already: no matter which
	eventually(t, "a new kernel", func() bool { n, _ := c.state(); return n != nil && n != k })
}

// TestSlowReader leaves one stream unread: it is cut off, the other gets all.
func TestSlowReader(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newCodeRig(t, clock)
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "print('on')\nfor i in range(16): print('x' * 999_999)"})
	s.until(t, "on\n")
	slow := r.reattach(t, "default", s.id, 1)
	slow.until(t, "on\n")
	r.service.mu.Lock()
	ring := r.service.runs[s.id].ring
	r.service.mu.Unlock()
	turned := make(chan struct{})
	go func() { // patience runs out in the time of the fake clock, for the one that needs it
		defer close(turned)
		for cut := false; !cut; time.Sleep(time.Millisecond) {
			ring.mu.Lock()
			read := false // by somebody, all there is
			for sub := range ring.subs {
				cut = cut || sub.cut
				read = read || sub.pos == ring.nextLocked()
			}
			ring.mu.Unlock()
			if read {
				clock.Advance(time.Second)
			}
		}
	}()
	n := len(s.rest(t))
	<-turned
	if n < 16_000_000 {
		t.Errorf("the fast reader got %d bytes", n)
	}
	if got := slow.rest(t); !strings.HasSuffix(got, "|!:OutputTruncated") {
		t.Errorf("the slow reader's last words are %q", got[max(0, len(got)-60):])
	}
}

func TestNoPython(t *testing.T) {
	r := &codeRig{}
	r.serve(t, clockwork.NewRealClock(), func(string, map[string]string) (kernel.Config, error) {
		return kernel.Config{}, kernel.ErrNoPython
	})
	if got := status.Code(r.execute(t, &agentpb.ExecuteRequest{Code: "1"}).fails(t)); got != codes.Unimplemented {
		t.Errorf("execute: %v, want Unimplemented", got)
	}
	if _, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("create: %v, want Unimplemented", err)
	}
	if err := r.service.rotate(t.Context(), nil); err != nil {
		t.Errorf("rotate: %v", err)
	}
}

// TestNoKernel is about a sandbox for commands alone: clients wait for its
// kernel before they use it.
func TestNoKernel(t *testing.T) {
	r := newRig(t, func(c *Config) { c.NoKernel = true }).run(nil)
	if h := r.health(); !h.GetAgentReady() || !h.GetKernelReady() {
		t.Errorf("health = %v, want all ready", h)
	}
	stream, err := agentpb.NewCodeServiceClient(r.conn).Execute(r.ctx(), &agentpb.ExecuteRequest{Code: "1"})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("execute: %v, want Unimplemented", err)
	}
}

func TestKernelNotReady(t *testing.T) {
	r := newCodeRig(t, clockwork.NewFakeClock())
	made, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{Cwd: proto.String(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.service.context(made.GetContextId())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(c.dir); err != nil { // no kernel starts there any more
		t.Fatal(err)
	}
	k, _ := c.state()
	k.Kill()
	eventually(t, "the next start to fail", func() bool { _, err := c.state(); return err != nil })
	s := r.execute(t, &agentpb.ExecuteRequest{ContextId: &c.id, Code: "1"})
	if err := s.fails(t); status.Code(err) != codes.Unavailable || !strings.HasPrefix(status.Convert(err).Message(), "kernel not ready: ") {
		t.Errorf("execute: %v, want Unavailable with the frozen words", err)
	}
	if got := r.run(t, "1"); got != "r:1" {
		t.Errorf("the default context gave %q", got)
	}
}
