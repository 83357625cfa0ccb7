package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

func TestProcess(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Env = map[string]string{"FROM": "config", "BASE": "config"} }).run(map[string]any{
		"envs": map[string]string{"FROM": "payload", "PAYLOAD": "payload"},
	})
	long := strings.Repeat("0123456789abcdef", 1000)
	signal := func(n int32) *int32 { return &n }
	tests := []struct {
		name     string
		req      *agentpb.StartRequest
		out, err string
		end      *agentpb.EndEvent
	}{
		{"no output", sh("true"), "", "", &agentpb.EndEvent{Exited: true, Status: "exited"}},
		{"both outputs", sh("echo a; echo b >&2"), "a\n", "b\n", &agentpb.EndEvent{Exited: true, Status: "exited"}},
		{"exit code", sh("exit 7"), "", "", &agentpb.EndEvent{ExitCode: 7, Exited: true, Status: "exited"}},
		{"shell finds nothing", sh("exec 2>/dev/null; no-such-program"), "", "", &agentpb.EndEvent{ExitCode: 127, Exited: true, Status: "exited"}},
		{"signalled", sh("kill -USR1 $$"), "", "", &agentpb.EndEvent{ExitCode: 138, Status: "signaled", Signal: signal(10)}},
		{"invalid UTF-8", sh(`printf '\xff\x00\xfe'`), "\xff\x00\xfe", "", &agentpb.EndEvent{Exited: true, Status: "exited"}},
		{"long argument", sh("printf %s " + long), long, "", &agentpb.EndEvent{Exited: true, Status: "exited"}},
		{"no input", sh("cat"), "", "", &agentpb.EndEvent{Exited: true, Status: "exited"}},
		{"by PATH", &agentpb.StartRequest{Process: &agentpb.ProcessConfig{Cmd: "echo", Args: []string{"x"}}}, "x\n", "", &agentpb.EndEvent{Exited: true, Status: "exited"}},
		{
			"environment", &agentpb.StartRequest{Process: &agentpb.ProcessConfig{
				Cmd: "/bin/bash", Args: []string{"-c", `echo $FROM $BASE $PAYLOAD $OWN $USER $LOGNAME "$HOME"`},
				Envs: map[string]string{"FROM": "request", "OWN": "o"},
			}},
			"request config payload o user user " + r.home + "\n", "",
			&agentpb.EndEvent{Exited: true, Status: "exited"},
		},
		{"starts at home", sh("pwd"), r.home + "\n", "", &agentpb.EndEvent{Exited: true, Status: "exited"}},
		{
			"cwd", &agentpb.StartRequest{Process: &agentpb.ProcessConfig{Cmd: "pwd", Cwd: ptr("/usr")}},
			"/usr\n", "", &agentpb.EndEvent{Exited: true, Status: "exited"},
		},
		{"own group", sh(`[ $$ = $(ps -o pgid= $$) ] && echo yes`), "yes\n", "", &agentpb.EndEvent{Exited: true, Status: "exited"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := r.start(tt.req).rest()
			if got := s.out.String(); got != tt.out {
				t.Errorf("output = %q, want %q", got, tt.out)
			}
			if got := s.err.String(); got != tt.err {
				t.Errorf("error output = %q, want %q", got, tt.err)
			}
			if got, want := s.end.String(), tt.end.String(); got != want {
				t.Errorf("end = %v, want %v", got, want)
			}
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestProcessEnvironmentIsBuiltFromNothing(t *testing.T) {
	t.Setenv("LEAK", "1")
	r := newRig(t, nil).run(nil)
	s := r.start(&agentpb.StartRequest{Process: &agentpb.ProcessConfig{Cmd: "env"}}).rest()
	want := map[string]string{"PATH": searchPath, "HOME": r.home, "USER": "user", "LOGNAME": "user"}
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
	if len(lines) != len(want) {
		t.Errorf("environment = %q, want %v", lines, want)
	}
	for _, line := range lines {
		if k, v, _ := strings.Cut(line, "="); want[k] != v {
			t.Errorf("%s = %q, want %q", k, v, want[k])
		}
	}
}

func TestProcessIdentity(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.start(sh("id -u; id -g; id -G")).rest()
	want := "1000\n1000\n1000\n"
	if os.Geteuid() != 0 {
		want = fmt.Sprintf("%d\n", os.Getuid())
	}
	if got := s.out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("ids = %q, want %q", got, want)
	}
	for name, want := range map[string]codes.Code{
		"root": codes.PermissionDenied, "daemon": codes.PermissionDenied, "huge": codes.PermissionDenied,
		"stranger": codes.InvalidArgument, "0": codes.InvalidArgument,
	} {
		req := sh("true")
		req.User = &agentpb.User{Username: name}
		t.Run(name, func(t *testing.T) { wantCode(t, r.refused(req), want) })
	}
}

// refused is why req does not start.
func (r *rig) refused(req *agentpb.StartRequest) error {
	r.t.Helper()
	st, err := r.process().Start(r.ctx(), req)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = st.Recv()
	return err
}

func TestProcessRefusals(t *testing.T) {
	r := newRig(t, nil).run(nil)
	script := r.home + "/plain"
	if err := os.WriteFile(script, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := r.home + "/broken"
	if err := os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := func(c *agentpb.ProcessConfig) *agentpb.StartRequest { return &agentpb.StartRequest{Process: c} }
	for _, tt := range []struct {
		name string
		req  *agentpb.StartRequest
		want codes.Code
	}{
		{"nothing", &agentpb.StartRequest{}, codes.InvalidArgument},
		{"empty cmd", config(&agentpb.ProcessConfig{}), codes.InvalidArgument},
		{"not in PATH", config(&agentpb.ProcessConfig{Cmd: "no-such-program"}), codes.InvalidArgument},
		{"no such file", config(&agentpb.ProcessConfig{Cmd: "/no/such/program"}), codes.InvalidArgument},
		{"a directory", config(&agentpb.ProcessConfig{Cmd: "/usr"}), codes.InvalidArgument},
		{"not executable", config(&agentpb.ProcessConfig{Cmd: script}), codes.InvalidArgument},
		{"no interpreter", config(&agentpb.ProcessConfig{Cmd: broken}), codes.InvalidArgument},
		{"NUL in cmd", config(&agentpb.ProcessConfig{Cmd: "a\x00b"}), codes.InvalidArgument},
		{"NUL in an argument", config(&agentpb.ProcessConfig{Cmd: "echo", Args: []string{"a\x00b"}}), codes.InvalidArgument},
		{"arguments too long", config(&agentpb.ProcessConfig{Cmd: "echo", Args: []string{strings.Repeat("x", 3<<20)}}), codes.InvalidArgument},
		{"relative cwd", config(&agentpb.ProcessConfig{Cmd: "true", Cwd: ptr("usr")}), codes.InvalidArgument},
		{"missing cwd", config(&agentpb.ProcessConfig{Cmd: "true", Cwd: ptr("/no/such/folder")}), codes.InvalidArgument},
		{"file as cwd", config(&agentpb.ProcessConfig{Cmd: "true", Cwd: ptr("/bin/bash")}), codes.InvalidArgument},
		{"bad variable", config(&agentpb.ProcessConfig{Cmd: "true", Envs: map[string]string{"A=B": "c"}}), codes.InvalidArgument},
		{"empty variable", config(&agentpb.ProcessConfig{Cmd: "true", Envs: map[string]string{"": "c"}}), codes.InvalidArgument},
	} {
		t.Run(tt.name, func(t *testing.T) { wantCode(t, r.refused(tt.req), tt.want) })
	}
	if n := len(r.s.processes.all()); n != 0 {
		t.Errorf("%d processes after refusals", n)
	}
}

// What a shell tells apart by exit codes 127 and 126, a client does by codes.
func TestProgramThatDoesNotStart(t *testing.T) {
	r := newRig(t, nil).run(nil)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := map[string]string{"PATH": dir + ":/usr/bin:/bin"}
	var answered facts
	answered.ended.Store(true)
	for cmd, want := range map[string]Code{
		"no-such-program": CodeNoProgram, "/no/such/program": CodeNoProgram, "a\x00b": CodeNoProgram, "folder": CodeNoProgram,
		"/usr": CodeNoExec, "text": CodeNoExec, filepath.Join(dir, "text"): CodeNoExec, filepath.Join(dir, "text", "x"): CodeNoProgram,
		"": CodeInvalid,
	} {
		err := translate(r.refused(&agentpb.StartRequest{Process: &agentpb.ProcessConfig{Cmd: cmd, Envs: path}}), &answered)
		if got := CodeOf(err); got != want {
			t.Errorf("%q: %v (%v), want %v", cmd, got, err, want)
		}
	}
}

func TestProcessInput(t *testing.T) {
	r := newRig(t, nil).run(nil)
	req := sh("cat")
	req.Stdin = true
	s := r.start(req)
	for _, text := range []string{"one ", "two"} {
		if _, err := r.process().SendInput(r.ctx(), &agentpb.SendInputRequest{Pid: s.pid, Data: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	s.until("one two")
	if _, err := r.process().CloseStdin(r.ctx(), &agentpb.CloseStdinRequest{Pid: s.pid}); err != nil {
		t.Fatal(err)
	}
	if s.rest(); !s.end.GetExited() {
		t.Errorf("end = %v", s.end)
	}

	sleeper := sh("exec sleep 1000")
	deaf := r.start(sleeper)
	ctx := r.ctx()
	_, err := r.process().SendInput(ctx, &agentpb.SendInputRequest{Pid: deaf.pid, Data: []byte("x")})
	wantCode(t, err, codes.FailedPrecondition)
	_, err = r.process().CloseStdin(ctx, &agentpb.CloseStdinRequest{Pid: deaf.pid})
	wantCode(t, err, codes.FailedPrecondition)
	_, err = r.process().SendInput(ctx, &agentpb.SendInputRequest{Pid: s.pid})
	wantCode(t, err, codes.NotFound) // it has ended
	_, err = agentpb.NewPtyServiceClient(r.conn).Kill(ctx, &agentpb.KillPtyRequest{Pid: deaf.pid})
	wantCode(t, err, codes.FailedPrecondition)

	// An input that nobody reads holds its writer up, until that gives up.
	sleeper.Stdin = true
	full := r.start(sleeper)
	short, cancel := context.WithCancel(ctx)
	fail := make(chan error, 1)
	go func() {
		_, err := r.process().SendInput(short, &agentpb.SendInputRequest{Pid: full.pid, Data: make([]byte, 1<<20)})
		fail <- err
	}()
	p, err := r.s.processes.find(full.pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS, false)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the writer to have its turn", func() bool { return len(p.input.turn) == 0 })
	cancel()
	wantCode(t, <-fail, codes.Canceled)
	eventually(t, "the turn to be given back", func() bool { return len(p.input.turn) == 1 })
	if _, err := r.process().CloseStdin(ctx, &agentpb.CloseStdinRequest{Pid: full.pid}); err != nil {
		t.Fatal(err)
	}
	_, err = r.process().CloseStdin(ctx, &agentpb.CloseStdinRequest{Pid: full.pid})
	wantCode(t, err, codes.FailedPrecondition)
}

func TestProcessSignals(t *testing.T) {
	r := newRig(t, nil).run(nil)
	req := sh("trap 'echo got' USR1; echo up; while :; do sleep 1000 & wait; done")
	req.Tag = ptr("mine")
	s := r.start(req).until("up")
	list, err := r.process().List(r.ctx(), &agentpb.ListRequest{})
	if err != nil || len(list.GetProcesses()) != 1 {
		t.Fatalf("list = %v, %v", list, err)
	}
	if p := list.GetProcesses()[0]; p.GetPid() != s.pid || p.GetTag() != "mine" ||
		p.GetKind() != agentpb.ProcessKind_PROCESS_KIND_PROCESS || p.GetConfig().GetCmd() != "/bin/bash" {
		t.Errorf("process = %v", p)
	}
	send := func(pid uint32, n int32) error {
		_, err := r.process().SendSignal(r.ctx(), &agentpb.SendSignalRequest{Pid: pid, Signal: n})
		return err
	}
	for _, n := range []int32{0, -1, 65} {
		wantCode(t, send(s.pid, n), codes.InvalidArgument)
	}
	wantCode(t, send(1<<22+1, 9), codes.NotFound)
	if err := send(s.pid, int32(syscall.SIGUSR1)); err != nil {
		t.Fatal(err)
	}
	s.until("got")
	if err := send(s.pid, int32(syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	if s.rest(); s.end.GetExitCode() != 137 || s.end.GetExited() || s.end.GetStatus() != "signaled" || s.end.GetSignal() != 9 {
		t.Errorf("end = %v", s.end)
	}
}

func TestProcessTimeout(t *testing.T) {
	tests := []struct {
		name   string
		script string
		steps  []time.Duration
		code   int32
	}{
		{"obeys", "echo up; exec sleep 1000", []time.Duration{time.Minute}, 143},
		{"ignores SIGTERM", "trap '' TERM; echo up; sleep 1000", []time.Duration{time.Minute, termGrace}, 137},
		{"is stopped", "echo up; kill -STOP $$; sleep 1000", []time.Duration{time.Minute}, 143},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := clockwork.NewFakeClock()
			r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
			req := sh(tt.script)
			req.TimeoutMs = uint64(time.Minute.Milliseconds())
			s := r.start(req).until("up")
			for _, d := range tt.steps {
				clock.Advance(d)
				r.expiring(s.pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS)
			}
			s.rest()
			want := &agentpb.EndEvent{ExitCode: tt.code, Status: "timeout", Signal: ptr(tt.code - 128)}
			if s.end.GetError().GetCode() != "deadline_exceeded" || s.end.GetExitCode() != want.ExitCode ||
				s.end.GetExited() || s.end.GetStatus() != want.Status || s.end.GetSignal() != *want.Signal {
				t.Errorf("end = %v, want %v", s.end, want)
			}
		})
	}
}

// expiring waits until a process has been asked to end.
func (r *rig) expiring(pid uint32, kind agentpb.ProcessKind) {
	r.t.Helper()
	p, err := r.s.processes.find(pid, kind, true)
	if err != nil {
		r.t.Fatal(err)
	}
	eventually(r.t, "the process to be asked to end", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.killing != nil
	})
}

func TestKillTree(t *testing.T) {
	for _, how := range []string{"signal", "timeout"} {
		t.Run(how, func(t *testing.T) {
			clock := clockwork.NewFakeClock()
			r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
			// The child leaves the group and the session, and its parent ends.
			req := sh(`(setsid bash -c 'trap "" TERM; echo $$ > child.tmp; mv child.tmp child; sleep 1000' >/dev/null 2>&1 &); while ! [ -e child ]; do sleep 0.01; done; echo up; exec sleep 1000`)
			req.KillTree, req.TimeoutMs = true, 60_000
			s := r.start(req).until("up")
			data, err := os.ReadFile(r.home + "/child")
			if err != nil {
				t.Fatal(err)
			}
			child := atoi(t, string(data))
			if !alive(child) {
				t.Fatal("the child is not there")
			}
			if how == "signal" {
				if _, err := r.process().SendSignal(r.ctx(), &agentpb.SendSignalRequest{Pid: s.pid, Signal: 9}); err != nil {
					t.Fatal(err)
				}
				s.rest()
				eventually(t, "the child to end", func() bool { return !alive(child) })
				return
			}
			clock.Advance(time.Minute)
			eventually(t, "the process to end", func() bool { return !alive(int(s.pid)) })
			if p, _ := r.s.processes.find(s.pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS, true); p.ending() != nil {
				t.Error("the end came before that of the tree")
			}
			clock.Advance(termGrace)
			s.rest()
			if alive(child) {
				t.Error("the child outlives the end event")
			}
			if s.end.GetStatus() != "timeout" {
				t.Errorf("end = %v", s.end)
			}
		})
	}
}

func TestBackgroundChildDoesNotHoldTheEnd(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.start(sh("sleep 1000 & echo $!; head -c 100000 /dev/zero")).rest()
	line, rest, _ := bytes.Cut(s.out.Bytes(), []byte("\n"))
	child := atoi(t, string(line))
	defer syscall.Kill(child, syscall.SIGKILL)
	if len(rest) != 100000 {
		t.Errorf("%d bytes of output, want 100000", len(rest))
	}
	if !s.end.GetExited() {
		t.Errorf("end = %v", s.end)
	}
	if !alive(child) {
		t.Error("the background process died with its parent")
	}
}

func TestLargeOutput(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.start(sh("seq 1000000 | head -c 5242880; echo end >&2")).rest()
	var want bytes.Buffer
	for i := 1; want.Len() < 5<<20; i++ {
		fmt.Fprintln(&want, i)
	}
	if !bytes.Equal(s.out.Bytes(), want.Bytes()[:5<<20]) {
		t.Errorf("%d bytes of output differ from what was written", s.out.Len())
	}
	if s.err.String() != "end\n" || s.end.GetStatus() != "exited" {
		t.Errorf("error output %q, end %v", s.err.String(), s.end)
	}
}
