package agent

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

func (r *rig) pty() agentpb.PtyServiceClient { return agentpb.NewPtyServiceClient(r.conn) }

// A screen is a terminal as a client sees it.
type screen struct {
	r    *rig
	grpc grpc.ServerStreamingClient[agentpb.PtyServerMessage]
	pid  uint32
	out  bytes.Buffer
	seq  uint64
	end  *agentpb.PtyExited
}

func (r *rig) shown(st grpc.ServerStreamingClient[agentpb.PtyServerMessage], err error) *screen {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := st.Recv()
	if err != nil {
		r.t.Fatal(err)
	}
	if m.GetStarted() == nil || m.GetSeq() != 0 {
		r.t.Fatalf("first message = %v, want started", m)
	}
	return &screen{r: r, grpc: st, pid: m.GetStarted().GetPid()}
}

// terminal starts a shell that greets nobody and has no prompt.
func (r *rig) terminal(req *agentpb.PtyStart) *screen {
	r.t.Helper()
	if req.Shell == nil {
		req.Shell = ptr("/bin/sh")
	}
	req.Envs = map[string]string{"PS1": "", "ENV": "/dev/null"}
	st, err := r.pty().Create(r.ctx(), req)
	return r.shown(st, err)
}

func (s *screen) next() bool {
	s.r.t.Helper()
	m, err := s.grpc.Recv()
	if errors.Is(err, io.EOF) {
		return false
	}
	if err != nil {
		s.r.t.Fatal(err)
	}
	if s.end != nil {
		s.r.t.Fatalf("message after the end: %v", m)
	}
	switch e := m.GetMessage().(type) {
	case *agentpb.PtyServerMessage_Data:
		if s.seq != 0 && m.GetSeq() != s.seq+1 || len(e.Data) == 0 || len(e.Data) > ptyChunk {
			s.r.t.Fatalf("seq %d after %d, %d bytes", m.GetSeq(), s.seq, len(e.Data))
		}
		s.seq = m.GetSeq()
		s.out.Write(e.Data)
	case *agentpb.PtyServerMessage_Exited:
		s.end = e.Exited
	case *agentpb.PtyServerMessage_Keepalive:
	default:
		s.r.t.Fatalf("message = %v", m)
	}
	return true
}

func (s *screen) until(text string) *screen {
	s.r.t.Helper()
	for !strings.Contains(s.out.String(), text) {
		if !s.next() {
			s.r.t.Fatalf("the stream ended before %q: %q", text, s.out.String())
		}
	}
	return s
}

func (s *screen) rest() *screen {
	s.r.t.Helper()
	for s.next() {
	}
	if s.end == nil {
		s.r.t.Fatal("the stream ended without an end")
	}
	return s
}

func (s *screen) send(text string) {
	s.r.t.Helper()
	if _, err := s.r.pty().SendInput(s.r.ctx(), &agentpb.SendInputRequest{Pid: s.pid, Data: []byte(text)}); err != nil {
		s.r.t.Fatal(err)
	}
}

func TestPty(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.terminal(&agentpb.PtyStart{})
	s.send("echo $((6*7)) $TERM $LANG $(tty | cut -c 1-9) $(stty size) $0\n")
	s.until("42 xterm-256color C.UTF-8 /dev/pts/ 24 80 /bin/sh")
	if _, err := r.pty().Resize(r.ctx(), &agentpb.ResizeRequest{Pid: s.pid, Size: &agentpb.PtySize{Cols: 132, Rows: 50}}); err != nil {
		t.Fatal(err)
	}
	s.send("stty size\n")
	s.until("50 132")
	st, err := r.pty().Connect(r.ctx(), &agentpb.ConnectRequest{Pid: s.pid, FromSeq: 1})
	again := r.shown(st, err).until("50 132")
	list, err := r.process().List(r.ctx(), &agentpb.ListRequest{})
	if err != nil || len(list.GetProcesses()) != 1 || list.GetProcesses()[0].GetKind() != agentpb.ProcessKind_PROCESS_KIND_PTY {
		t.Errorf("list = %v, %v", list, err)
	}
	s.send("exit 3\n")
	for _, s := range []*screen{s, again} {
		if s.rest(); s.end.GetExitCode() != 3 || !s.end.GetExited() || s.end.GetStatus() != "exited" {
			t.Errorf("end = %v", s.end)
		}
	}
	st, err = r.pty().Connect(r.ctx(), &agentpb.ConnectRequest{Pid: s.pid, FromSeq: 1})
	if late := r.shown(st, err).rest(); late.out.String() != again.out.String() {
		t.Errorf("late replay = %q, want %q", late.out.String(), again.out.String())
	}
}

func TestPtyIsALoginShell(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.terminal(&agentpb.PtyStart{Shell: ptr("/bin/bash"), Cwd: ptr("/usr")})
	s.send("shopt -q login_shell && case $- in *i*) echo both $SHELL $PWD;; esac; exit\n")
	s.until("both /bin/bash /usr").rest()
}

func TestPtyKill(t *testing.T) {
	r := newRig(t, nil).run(nil)
	s := r.terminal(&agentpb.PtyStart{})
	s.send("trap '' TERM HUP INT; sh -c 'echo $((1+1))up $$ end; exec sleep 1000'\n")
	s.until("2up").until(" end")
	_, text, _ := strings.Cut(s.out.String(), "2up ")
	text, _, _ = strings.Cut(text, " end")
	job := atoi(t, text)
	if _, err := r.pty().Kill(r.ctx(), &agentpb.KillPtyRequest{Pid: s.pid}); err != nil {
		t.Fatal(err)
	}
	if s.rest(); s.end.GetExitCode() != 137 || s.end.GetSignal() != 9 || s.end.GetStatus() != "signaled" {
		t.Errorf("end = %v", s.end)
	}
	eventually(t, "the job to end", func() bool { return !alive(job) })
	_, err := r.pty().Kill(r.ctx(), &agentpb.KillPtyRequest{Pid: s.pid})
	wantCode(t, err, codes.NotFound)
}

func TestPtyTimeoutAndSuspension(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
	s := r.terminal(&agentpb.PtyStart{TimeoutMs: 60_000})
	s.send("echo $((1+1))up\n")
	s.until("2up")
	r.hook("suspend", "")
	if s.rest(); s.end.GetStatus() != "suspending" || s.end.GetError().GetCode() != "suspending" {
		t.Errorf("end = %v", s.end)
	}
	clock.Advance(time.Hour)
	r.hook("resume", "")
	st, err := r.pty().Connect(r.ctx(), &agentpb.ConnectRequest{Pid: s.pid, FromSeq: s.seq + 1})
	back := r.shown(st, err)
	clock.Advance(time.Minute)
	r.expiring(s.pid, agentpb.ProcessKind_PROCESS_KIND_PTY)
	clock.Advance(termGrace) // an interactive shell ignores SIGTERM
	if back.rest(); back.end.GetStatus() != "timeout" || back.end.GetExitCode() != 137 {
		t.Errorf("end = %v", back.end)
	}
}

func TestPtyRefusals(t *testing.T) {
	r := newRig(t, nil).run(nil)
	for _, tt := range []struct {
		name string
		req  *agentpb.PtyStart
		want codes.Code
	}{
		{"relative shell", &agentpb.PtyStart{Shell: ptr("bash")}, codes.InvalidArgument},
		{"empty shell", &agentpb.PtyStart{Shell: ptr("")}, codes.InvalidArgument},
		{"missing shell", &agentpb.PtyStart{Shell: ptr("/no/such/shell")}, codes.InvalidArgument},
		{"too wide", &agentpb.PtyStart{Size: &agentpb.PtySize{Cols: maxPtySide + 1}}, codes.InvalidArgument},
		{"too high", &agentpb.PtyStart{Size: &agentpb.PtySize{Rows: 1 << 31}}, codes.InvalidArgument},
		{"bad cwd", &agentpb.PtyStart{Cwd: ptr("x")}, codes.InvalidArgument},
		{"root", &agentpb.PtyStart{User: &agentpb.User{Username: "root"}}, codes.PermissionDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			st, err := r.pty().Create(r.ctx(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			_, err = st.Recv()
			wantCode(t, err, tt.want)
		})
	}
	s := r.terminal(&agentpb.PtyStart{})
	wantCode(t, r.refusedConnect(s.pid, 0), codes.FailedPrecondition)
	_, err := r.process().SendInput(r.ctx(), &agentpb.SendInputRequest{Pid: s.pid})
	wantCode(t, err, codes.FailedPrecondition)
	_, err = r.pty().Resize(r.ctx(), &agentpb.ResizeRequest{Pid: 1<<22 + 1})
	wantCode(t, err, codes.NotFound)
}
