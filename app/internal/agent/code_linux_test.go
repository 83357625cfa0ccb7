package agent

import (
	"fmt"
	"os"
	"regexp"
	"slices"
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

func TestExecute(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "print('a')\nx = 5\nx"})
	if got := s.rest(t); got != "o:a\n|r:5" || s.count != 1 {
		t.Errorf("cell %d gave %q", s.count, got)
	}
	if !regexp.MustCompile(`^exec-[0-9a-f]{16}$`).MatchString(s.id) {
		t.Errorf("execution id is %q", s.id)
	}
	s = r.execute(t, &agentpb.ExecuteRequest{Code: "import os\nx, os.environ['A']", Envs: map[string]string{"A": "b"}, Language: proto.String("python")})
	if got := s.rest(t); got != "r:(5, 'b')" || s.count != 2 {
		t.Errorf("cell %d gave %q", s.count, got)
	}
	if got := r.run(t, "print(1)\n1/0"); got != "o:1\n|!:ZeroDivisionError" {
		t.Errorf("cell gave %q", got)
	}
}

func TestExecuteRefused(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	tests := []struct {
		name string
		req  *agentpb.ExecuteRequest
		want codes.Code
	}{
		{"bad id", &agentpb.ExecuteRequest{ContextId: proto.String("no/way")}, codes.InvalidArgument},
		{"empty id", &agentpb.ExecuteRequest{ContextId: proto.String("")}, codes.InvalidArgument},
		{"long id", &agentpb.ExecuteRequest{ContextId: proto.String(strings.Repeat("a", 65))}, codes.InvalidArgument},
		{"unknown id", &agentpb.ExecuteRequest{ContextId: proto.String("ctx-000000000000")}, codes.NotFound},
		{"much code", &agentpb.ExecuteRequest{Code: strings.Repeat(" ", maxCode+1)}, codes.InvalidArgument},
		{"both", &agentpb.ExecuteRequest{ContextId: proto.String("default"), Language: proto.String("python")}, codes.InvalidArgument},
		{"language", &agentpb.ExecuteRequest{Language: proto.String("bash")}, codes.Unimplemented},
		{"bad envs", &agentpb.ExecuteRequest{Envs: map[string]string{"A-B": ""}}, codes.InvalidArgument},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := status.Code(r.execute(t, tt.req).fails(t)); got != tt.want {
				t.Errorf("code is %v, want %v", got, tt.want)
			}
		})
	}
	if got := status.Code(r.reattach(t, "default", "exec-0000000000000000", 1).fails(t)); got != codes.NotFound {
		t.Errorf("reattach to nothing: %v, want NotFound", got)
	}
	if got := r.execute(t, &agentpb.ExecuteRequest{Code: strings.Repeat(" ", maxCode-1) + "1"}).rest(t); got != "r:1" && got != "!:IndentationError" {
		t.Errorf("a cell of 1 MiB gave %q", got)
	}
}

func TestCellsOfAContextWaitInOrder(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	first := r.execute(t, &agentpb.ExecuteRequest{Code: "print('on')\nimport time, os\nl = [0]\nwhile not os.path.exists('go'): time.sleep(.01)"})
	first.until(t, "on\n")
	var others []*codeStream
	for i := range 5 {
		others = append(others, r.execute(t, &agentpb.ExecuteRequest{Code: fmt.Sprintf("l.append(%d)\nl", i+1)}))
		c, _ := r.service.context(defaultContext)
		eventually(t, "the cell to queue", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.queue) == i+1
		})
	}
	others[2].cancel() // one that waits is cancelled: it never runs
	eventually(t, "the cell to leave the queue", func() bool {
		c, _ := r.service.context(defaultContext)
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.queue) == 4
	})
	made, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{})
	if err != nil {
		t.Fatal(err)
	}
	dir := r.service.all()[0].place()
	// Another context is not held up, and lets the first go on.
	other := r.execute(t, &agentpb.ExecuteRequest{ContextId: &made.ContextId, Code: "open('" + dir + "/go', 'w').close()"})
	if got := other.rest(t); got != "" {
		t.Fatalf("cell gave %q", got)
	}
	first.rest(t)
	for i, want := range []string{"r:[0, 1]", "r:[0, 1, 2]", "", "r:[0, 1, 2, 4]", "r:[0, 1, 2, 4, 5]"} {
		if i == 2 {
			continue
		}
		if got := others[i].rest(t); got != want {
			t.Errorf("cell %d gave %q, want %q", i, got, want)
		}
	}
}

func TestContexts(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	dir := t.TempDir()
	made, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{Language: "python", Cwd: &dir, Envs: map[string]string{"A": "b"}})
	if err != nil {
		t.Fatal(err)
	}
	id := made.GetContextId()
	if !regexp.MustCompile(`^ctx-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("context id is %q", id)
	}
	if got, want := r.execute(t, &agentpb.ExecuteRequest{ContextId: &id, Code: "import os\nx = 1\nos.getcwd(), os.environ['A']"}).rest(t), fmt.Sprintf("r:('%s', 'b')", dir); got != want {
		t.Errorf("cell gave %q, want %q", got, want)
	}
	if got := r.run(t, "x"); got != "!:NameError" {
		t.Errorf("contexts share variables: %q", got)
	}
	list, err := r.ListContexts(t.Context(), &agentpb.ListContextsRequest{})
	if err != nil || len(list.GetContexts()) != 2 || list.Contexts[0].ContextId != "default" || list.Contexts[1].ContextId != id || list.Contexts[1].Cwd != dir || list.Contexts[1].Language != "python" {
		t.Errorf("list is %v, %v", list, err)
	}
	if _, err := r.DestroyContext(t.Context(), &agentpb.DestroyContextRequest{ContextId: "default"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("destroy the default: %v", err)
	}
	waits := r.execute(t, &agentpb.ExecuteRequest{ContextId: &id, Code: "print('on')\nimport time; time.sleep(600)"})
	waits.until(t, "on\n")
	if _, err := r.DestroyContext(t.Context(), &agentpb.DestroyContextRequest{ContextId: id}); err != nil {
		t.Error(err)
	}
	if got := waits.rest(t); got != "o:on\n|!:ContextDestroyed" {
		t.Errorf("the cell of a destroyed context gave %q", got)
	}
	if _, err := r.DestroyContext(t.Context(), &agentpb.DestroyContextRequest{ContextId: id}); status.Code(err) != codes.NotFound {
		t.Errorf("destroy twice: %v", err)
	}
	if _, err := r.RestartContext(t.Context(), &agentpb.RestartContextRequest{ContextId: id}); status.Code(err) != codes.NotFound {
		t.Errorf("restart what is gone: %v", err)
	}
	for _, tt := range []struct {
		name string
		req  *agentpb.CreateContextRequest
		want codes.Code
	}{
		{"language", &agentpb.CreateContextRequest{Language: "javascript"}, codes.Unimplemented},
		{"relative cwd", &agentpb.CreateContextRequest{Cwd: proto.String("tmp")}, codes.InvalidArgument},
		{"no such cwd", &agentpb.CreateContextRequest{Cwd: proto.String(dir + "/none")}, codes.InvalidArgument},
		{"bad envs", &agentpb.CreateContextRequest{Envs: map[string]string{"": "x"}}, codes.InvalidArgument},
	} {
		if _, err := r.CreateContext(t.Context(), tt.req); status.Code(err) != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	for i := 1; i < maxContexts; i++ {
		if _, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{}); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("ninth context: %v", err)
	}
}

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

func TestReattach(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "for i in range(3): display(i)"})
	all := s.rest(t)
	if got := r.reattach(t, "default", s.id, 1).rest(t); got != all {
		t.Errorf("replay gave %q, want %q", got, all)
	}
	if got := r.reattach(t, "default", s.id, 3).rest(t); got != "r:1|r:2" {
		t.Errorf("replay from 3 gave %q", got)
	}
	if got := status.Code(r.reattach(t, "default", s.id, 99).fails(t)); got != codes.OutOfRange {
		t.Errorf("replay from 99: %v", got)
	}
	if got := status.Code(r.reattach(t, "other", s.id, 1).fails(t)); got != codes.NotFound {
		t.Errorf("replay in another context: %v", got)
	}
	s = r.execute(t, &agentpb.ExecuteRequest{Code: "for i in range(60): print('x' * 100_000)\nprint('end')"})
	s.rest(t)
	if got := status.Code(r.reattach(t, "default", s.id, 1).fails(t)); got != codes.OutOfRange {
		t.Errorf("replay of 6 MB from 1: %v", got)
	}
	if got := r.reattach(t, "default", s.id, s.seq-1).rest(t); !strings.HasSuffix(got, "end\n") {
		t.Errorf("replay of the tail gave %.100q", got)
	}
	for range maxFinished {
		r.run(t, "")
	}
	if got := status.Code(r.reattach(t, "default", s.id, s.seq).fails(t)); got != codes.NotFound {
		t.Errorf("the 33rd last execution: %v", got)
	}
}

func TestFinishedAreForgottenInRunningTime(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newCodeRig(t, clock)
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "1"})
	s.rest(t)
	r.clock.pause()
	clock.Advance(time.Hour)
	r.clock.resume()
	clock.Advance(keepFinished - time.Second)
	if got := r.reattach(t, "default", s.id, 1).rest(t); got != "r:1" {
		t.Errorf("replay gave %q", got)
	}
	clock.Advance(2 * time.Second)
	eventually(t, "the execution to be forgotten", func() bool {
		r.service.mu.Lock()
		defer r.service.mu.Unlock()
		return len(r.service.runs) == 0
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
const deaf = `import time
begun = False
while True:
    try:
        if not begun:
            begun = True
            print('on')
        time.sleep(600)
    except KeyboardInterrupt:
        print('no')`

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

func TestSuspend(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "import time, os\nprint('on')\nwhile not os.path.exists('go'): time.sleep(.01)\nprint('off')\n9"})
	s.until(t, "on\n")
	r.gate.close(t.Context(), closingSuspend)
	err := s.fails(t)
	if status.Code(err) != codes.Unavailable || status.Convert(err).Message() != "suspending" {
		t.Errorf("stream ended with %v", err)
	}
	r.clock.pause()
	if err := r.service.quiesce(t.Context()); err != nil {
		t.Error(err)
	}
	r.clock.resume()
	if r.service.probe(t.Context()) {
		t.Error("a kernel is said to be lost")
	}
	r.gate.openFrom(closingSuspend)
	back := r.reattach(t, "default", s.id, s.seq+1)
	made, err := r.CreateContext(t.Context(), &agentpb.CreateContextRequest{})
	if err != nil {
		t.Fatal(err)
	}
	r.execute(t, &agentpb.ExecuteRequest{ContextId: &made.ContextId, Code: "open('go', 'w').close()"}).rest(t)
	if got := back.rest(t); got != "o:off\n|r:9" {
		t.Errorf("the rest is %q", got)
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

func TestRotate(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	c, _ := r.service.context(defaultContext)
	before, _ := c.state()
	if err := r.service.rotate(t.Context(), map[string]string{"A": "1"}); err != nil {
		t.Fatal(err)
	}
	if after, _ := c.state(); after != before {
		t.Error("a fresh kernel was replaced")
	}
	if got := r.run(t, "import os\nos.environ['A']"); got != "r:'1'" {
		t.Errorf("cell gave %q", got)
	}
	r.env["A"] = "2" // the session has it before the hooks rotate
	if err := r.service.rotate(t.Context(), map[string]string{"A": "2"}); err != nil {
		t.Fatal(err)
	}
	if after, _ := c.state(); after == before {
		t.Error("a used kernel was kept")
	}
	if got := r.run(t, "import os\nos.environ['A']"); got != "r:'2'" {
		t.Errorf("cell gave %q", got)
	}
	if err := r.service.warm(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestSubscribers(t *testing.T) {
	r := newCodeRig(t, clockwork.NewRealClock())
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "print('on')\nimport time; time.sleep(600)"})
	s.until(t, "on\n")
	for range maxSubscribers - 1 {
		r.reattach(t, "default", s.id, 1).until(t, "on\n")
	}
	if got := status.Code(r.reattach(t, "default", s.id, 1).fails(t)); got != codes.ResourceExhausted {
		t.Errorf("ninth subscriber: %v", got)
	}
	s.cancel()
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
		for cut := false; !cut; time.Sleep(50 * time.Millisecond) {
			clock.Advance(time.Second)
			ring.mu.Lock()
			for sub := range ring.subs {
				cut = cut || sub.cut
			}
			ring.mu.Unlock()
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

func TestKeepAlive(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newCodeRig(t, clock)
	s := r.execute(t, &agentpb.ExecuteRequest{Code: "import time; time.sleep(600)"})
	if err := s.next(); err != nil {
		t.Fatal(err)
	}
	beat := make(chan struct{})
	go func() {
		defer close(beat)
		if e, err := s.stream.Recv(); err != nil || e.GetKeepalive() == nil || e.GetSeq() != 0 {
			t.Errorf("after silence came %v, %v", e, err)
		}
	}()
	for waiting := true; waiting; {
		select {
		case <-beat:
			waiting = false
		case <-time.After(10 * time.Millisecond):
			clock.Advance(cellSilence)
		}
	}
	s.cancel()
}

// BenchmarkExecute is a warm 1+1 from the client to the kernel and back.
func BenchmarkExecute(b *testing.B) {
	for _, plain := range []bool{false, true} {
		b.Run(map[bool]string{false: "ipython", true: "plain"}[plain], func(b *testing.B) {
			r := &codeRig{}
			r.serve(b, clockwork.NewRealClock(), func(string, map[string]string) (kernel.Config, error) {
				return kernel.Config{Python: "/usr/bin/python3", Plain: plain, Dir: "/tmp", Env: []string{"PATH=/usr/bin", "HOME=/tmp"}}, nil
			})
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				stream, err := r.Execute(b.Context(), &agentpb.ExecuteRequest{Code: "1+1"})
				for err == nil {
					_, err = stream.Recv()
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
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
