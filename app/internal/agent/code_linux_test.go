package agent

import (
	"fmt"
	"os"
	"path/filepath"
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

// TestServerRunsCode goes through the whole server: kernels are processes of
// the sandbox's user, with what the run hook brought.
func TestServerRunsCode(t *testing.T) {
	r := newRig(t, func(c *Config) { c.NoKernel = false; c.Env = map[string]string{"BOTH": "config", "C": "c"} })
	dir := t.TempDir()
	for d := dir; os.Geteuid() == 0 && strings.HasPrefix(d, os.TempDir()+"/"); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.run(map[string]any{"envs": map[string]string{"BOTH": "run", "R": "r"}, "workdir": dir})
	health := agentpb.NewHealthServiceClient(r.conn)
	eventually(t, "the kernel", func() bool {
		h, err := health.Health(t.Context(), &agentpb.HealthRequest{})
		return err == nil && h.GetKernelReady()
	})
	stream, err := agentpb.NewCodeServiceClient(r.conn).Execute(r.ctx(), &agentpb.ExecuteRequest{
		Code: "import os\n[os.environ.get(k) for k in ('BOTH', 'C', 'R', 'HOME')], os.getcwd(), os.getuid() != 0",
	})
	if err != nil {
		t.Fatal(err)
	}
	s := &codeStream{stream: stream}
	if got, want := s.rest(t), fmt.Sprintf("r:(['run', 'c', 'r', '%s'], '%s', True)", r.home, dir); strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("cell gave\n%q, want\n%q", got, want)
	}
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
