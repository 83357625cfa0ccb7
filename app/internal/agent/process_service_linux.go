package agent

import (
	"context"
	"crypto/rand"
	"maps"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// processSilence is how long a process may be silent before its streams say
// that they live.
const processSilence = 30 * time.Second

// maxSignal is the last of the real-time signals.
const maxSignal = 64

// A processService is the ProcessService.
type processService struct {
	agentpb.UnimplementedProcessServiceServer
	s *Server
}

// Start runs a program and follows it.
func (v *processService) Start(req *agentpb.StartRequest, stream grpc.ServerStreamingServer[agentpb.ProcessEvent]) error {
	p, err := v.s.startProcess(req)
	if err != nil {
		return err
	}
	return v.follow(p, p.first, stream)
}

// Connect follows a program that was started before.
func (v *processService) Connect(req *agentpb.ConnectRequest, stream grpc.ServerStreamingServer[agentpb.ProcessEvent]) error {
	p, err := v.s.processes.find(req.GetPid(), agentpb.ProcessKind_PROCESS_KIND_PROCESS, true)
	if err != nil {
		return err
	}
	sub, err := p.out.subscribe(req.GetFromSeq())
	if err != nil {
		return err
	}
	return v.follow(p, sub, stream)
}

func (v *processService) follow(p *process, sub *subscriber[chunk], stream grpc.ServerStreamingServer[agentpb.ProcessEvent]) error {
	defer sub.leave()
	closed := v.s.gate.suspending()
	if err := stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_Start{
		Start: &agentpb.StartEvent{Pid: uint32(p.pid)},
	}}); err != nil {
		return err
	}
	f := follower[chunk]{
		sub: sub, closed: closed, clock: v.s.clock, silence: processSilence,
		send: func(c chunk, seq uint64) error {
			data := &agentpb.DataEvent{Seq: seq}
			if c.stderr {
				data.Output = &agentpb.DataEvent_Stderr{Stderr: c.data}
			} else {
				data.Output = &agentpb.DataEvent_Stdout{Stdout: c.data}
			}
			return stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_Data{Data: data}})
		},
		beat: func() error {
			return stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_Keepalive{Keepalive: &agentpb.KeepAlive{}}})
		},
	}
	why, err := f.follow(stream.Context())
	if err != nil {
		return err
	}
	return stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_End{End: v.s.endOf(p, why)}})
}

// endOf is the last event of a stream that stopped for the reason why.
func (s *Server) endOf(p *process, why outcome) *agentpb.EndEvent {
	switch why {
	case followEnded:
		return p.ending()
	case followCut:
		return &agentpb.EndEvent{Status: "output_truncated", Error: &agentpb.StreamError{
			Code: "output_truncated", Message: "the stream was not read for too long",
		}}
	default:
		c := s.gate.cause()
		code := c.token
		if c == closingTerminate {
			code = "unavailable"
		}
		return &agentpb.EndEvent{Status: c.token, Error: &agentpb.StreamError{Code: code, Message: "the sandbox stops"}}
	}
}

// startProcess starts what req asks for, with its first subscriber on it.
func (s *Server) startProcess(req *agentpb.StartRequest) (*process, error) {
	config := req.GetProcess()
	sp, err := s.spawnFor(req.GetUser(), config.GetEnvs(), config.GetCwd(), nil)
	if err != nil {
		return nil, err
	}
	sp.cmd, sp.args = config.GetCmd(), config.GetArgs()
	p := &process{
		table: s.processes, kind: agentpb.ProcessKind_PROCESS_KIND_PROCESS, config: config, tag: req.Tag,
	}
	if req.GetKillTree() {
		p.marker = rand.Text()
		sp.env[markerName] = p.marker
	}
	lines := pipes{stdin: -1}
	if err := lines.open(req.GetStdin()); err != nil {
		lines.close()
		return nil, err
	}
	sys := &syscall.SysProcAttr{Setpgid: true, Credential: s.identities.credential(sp.id)}
	err = s.processes.start(p, sp, lines.theirs(), sys, req.GetTimeoutMs(), []*outlet{
		{file: lines.out, chunk: pipeChunk, grace: pipeGrace},
		{file: lines.err, stderr: true, chunk: pipeChunk, grace: pipeGrace},
	}, lines.in)
	lines.closeTheirs()
	if err != nil {
		lines.close()
		return nil, err
	}
	return p, nil
}

// spawnFor begins a spawn: who, where, and with what environment. Later
// variables win: ours, extra, those of the sandbox, those of the request.
func (s *Server) spawnFor(u *agentpb.User, envs map[string]string, cwd string, extra map[string]string) (*spawn, error) {
	terms := s.session.Load().terms()
	id, err := s.identities.find(u, terms.user)
	if err != nil {
		return nil, err
	}
	sp := &spawn{id: id, cwd: cwd, cpuSeconds: terms.cpuSeconds}
	if sp.cwd == "" {
		sp.cwd = terms.workdir
	}
	if sp.cwd == "" {
		sp.cwd = id.home
	}
	sp.env = s.environ(id)
	maps.Copy(sp.env, extra)
	maps.Copy(sp.env, terms.envs)
	maps.Copy(sp.env, envs)
	return sp, nil
}

// start runs sp as p. It takes over the files of outlets and in only if it
// succeeds.
func (t *processes) start(p *process, sp *spawn, files [3]int, sys *syscall.SysProcAttr, timeoutMs uint64, outlets []*outlet, in *os.File) error {
	if err := t.reserve(); err != nil {
		return err
	}
	var pid, pidfd int
	err := t.spawn(func() (err error) {
		pid, pidfd, err = sp.start(files, sys)
		return err
	})
	if err != nil {
		t.add(nil)
		return err
	}
	p.pid = pid
	p.out = newRing[chunk](processRing, t.clock, t.budget)
	p.first, _ = p.out.subscribe(1)
	if in != nil {
		p.input = newInput(in)
	}
	if timeoutMs > 0 {
		p.mu.Lock()
		p.deadline = t.clock.afterFunc(milliseconds(timeoutMs), p.expire)
		p.mu.Unlock()
	}
	t.add(p)
	go p.run(newWaiter(pid, pidfd), outlets)
	return nil
}

// milliseconds is n as a duration, and the longest there is for what is more.
func milliseconds(n uint64) time.Duration {
	return time.Duration(min(n, uint64(1<<63-1)/uint64(time.Millisecond))) * time.Millisecond
}

// pipes are the lines of a new process.
type pipes struct {
	in, out, err          *os.File
	stdin, stdout, stderr int
}

func (l *pipes) open(stdin bool) (err error) {
	l.stdin, l.stdout, l.stderr = -1, -1, -1
	if stdin {
		l.stdin, l.in, err = pipe(true)
	} else {
		l.stdin, err = unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return spawnError(err)
	}
	if l.stdout, l.out, err = pipe(false); err != nil {
		return err
	}
	l.stderr, l.err, err = pipe(false)
	return err
}

func (l *pipes) theirs() [3]int { return [3]int{l.stdin, l.stdout, l.stderr} }

func (l *pipes) closeTheirs() {
	for _, fd := range []*int{&l.stdin, &l.stdout, &l.stderr} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

// close gives up all ends.
func (l *pipes) close() {
	l.closeTheirs()
	for _, f := range []*os.File{l.in, l.out, l.err} {
		if f != nil {
			f.Close()
		}
	}
}

// SendInput writes to the input of a process.
func (v *processService) SendInput(ctx context.Context, req *agentpb.SendInputRequest) (*agentpb.SendInputResponse, error) {
	in, err := v.input(req.GetPid())
	if err != nil {
		return nil, err
	}
	return &agentpb.SendInputResponse{}, in.write(ctx, req.GetData())
}

// CloseStdin ends the input of a process.
func (v *processService) CloseStdin(_ context.Context, req *agentpb.CloseStdinRequest) (*agentpb.CloseStdinResponse, error) {
	in, err := v.input(req.GetPid())
	if err != nil {
		return nil, err
	}
	return &agentpb.CloseStdinResponse{}, in.close()
}

func (v *processService) input(pid uint32) (*input, error) {
	p, err := v.s.processes.find(pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS, false)
	if err != nil {
		return nil, err
	}
	if p.input == nil {
		return nil, errNoInput
	}
	return p.input, nil
}

// SendSignal reaches the group of a process, or its tree.
func (v *processService) SendSignal(_ context.Context, req *agentpb.SendSignalRequest) (*agentpb.SendSignalResponse, error) {
	if n := req.GetSignal(); n < 1 || n > maxSignal {
		return nil, status.Error(codes.InvalidArgument, "signal is not between 1 and 64")
	}
	p, err := v.s.processes.find(req.GetPid(), agentpb.ProcessKind_PROCESS_KIND_PROCESS, false)
	if err != nil {
		return nil, err
	}
	p.signal(syscall.Signal(req.GetSignal()))
	return &agentpb.SendSignalResponse{}, nil
}

// List tells what lives, terminals with it.
func (v *processService) List(context.Context, *agentpb.ListRequest) (*agentpb.ListResponse, error) {
	res := &agentpb.ListResponse{}
	for _, p := range v.s.processes.all() {
		res.Processes = append(res.Processes, &agentpb.ProcessInfo{
			Pid: uint32(p.pid), Config: p.config, Tag: p.tag, Kind: p.kind,
		})
	}
	return res, nil
}
