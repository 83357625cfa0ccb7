package agent

import (
	"context"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	defaultShell = "/bin/bash"
	maxPtySide   = 4096
	ptySilence   = 30 * time.Second
)

var (
	errNoPty   = status.Error(codes.FailedPrecondition, "the sandbox has no terminal device")
	errPtySize = status.Error(codes.InvalidArgument, "cols and rows are at most 4096")
	errShell   = status.Error(codes.InvalidArgument, "shell is not an absolute path")
)

// A ptyService is the PtyService.
type ptyService struct {
	agentpb.UnimplementedPtyServiceServer
	s *Server
}

// Create runs a login shell in a new terminal and follows it.
func (v *ptyService) Create(req *agentpb.PtyStart, stream grpc.ServerStreamingServer[agentpb.PtyServerMessage]) error {
	p, err := v.s.startPty(req)
	if err != nil {
		return err
	}
	return v.follow(p, p.first, stream)
}

// Connect follows a terminal that was created before.
func (v *ptyService) Connect(req *agentpb.ConnectRequest, stream grpc.ServerStreamingServer[agentpb.PtyServerMessage]) error {
	p, err := v.s.processes.find(req.GetPid(), agentpb.ProcessKind_PROCESS_KIND_PTY, true)
	if err != nil {
		return err
	}
	sub, err := p.out.subscribe(req.GetFromSeq())
	if err != nil {
		return err
	}
	return v.follow(p, sub, stream)
}

func (v *ptyService) follow(p *process, sub *subscriber[chunk], stream grpc.ServerStreamingServer[agentpb.PtyServerMessage]) error {
	defer sub.leave()
	closed := v.s.gate.suspending()
	if err := stream.Send(&agentpb.PtyServerMessage{Message: &agentpb.PtyServerMessage_Started{
		Started: &agentpb.PtyStarted{Pid: uint32(p.pid)},
	}}); err != nil {
		return err
	}
	f := follower[chunk]{
		sub: sub, closed: closed, clock: v.s.clock, silence: ptySilence,
		send: func(c chunk, seq uint64) error {
			return stream.Send(&agentpb.PtyServerMessage{Message: &agentpb.PtyServerMessage_Data{Data: c.data}, Seq: seq})
		},
		beat: func() error {
			return stream.Send(&agentpb.PtyServerMessage{Message: &agentpb.PtyServerMessage_Keepalive{Keepalive: &agentpb.KeepAlive{}}})
		},
	}
	why, err := f.follow(stream.Context())
	if err != nil {
		return err
	}
	end := v.s.endOf(p, why)
	return stream.Send(&agentpb.PtyServerMessage{Message: &agentpb.PtyServerMessage_Exited{Exited: &agentpb.PtyExited{
		ExitCode: end.GetExitCode(), Exited: end.GetExited(), Status: end.GetStatus(), Error: end.Error, Signal: end.Signal,
	}}})
}

// startPty starts the shell of a new terminal.
func (s *Server) startPty(req *agentpb.PtyStart) (*process, error) {
	size, err := winsize(req.GetSize())
	if err != nil {
		return nil, err
	}
	shell := defaultShell
	if req.Shell != nil {
		shell = req.GetShell()
	}
	if !filepath.IsAbs(shell) {
		return nil, errShell
	}
	sp, err := s.spawnFor(req.GetUser(), req.GetEnvs(), req.GetCwd(), map[string]string{
		"TERM": "xterm-256color", "LANG": "C.UTF-8", "SHELL": shell,
	})
	if err != nil {
		return nil, err
	}
	sp.cmd, sp.args = shell, []string{"-i", "-l"}
	master, slave, err := openTerminal(size)
	if err != nil {
		return nil, errNoPty
	}
	defer unix.Close(slave)
	if cred := s.identities.credential(sp.id); cred != nil {
		// The shell may open its terminal again by name.
		if err := unix.Fchown(slave, int(cred.Uid), -1); err != nil {
			master.Close()
			return nil, errNoPty
		}
	}
	p := &process{
		table: s.processes, kind: agentpb.ProcessKind_PROCESS_KIND_PTY, tty: master,
		config: &agentpb.ProcessConfig{Cmd: shell, Args: sp.args, Envs: req.GetEnvs(), Cwd: req.Cwd},
	}
	sys := &syscall.SysProcAttr{Setsid: true, Setctty: true, Credential: s.identities.credential(sp.id)}
	err = s.processes.start(p, sp, [3]int{slave, slave, slave}, sys, req.GetTimeoutMs(),
		[]*outlet{{file: master, chunk: ptyChunk, grace: ptyGrace}}, master)
	if err != nil {
		master.Close()
		return nil, err
	}
	return p, nil
}

// winsize is size as the terminal wants it.
func winsize(size *agentpb.PtySize) (*unix.Winsize, error) {
	cols, rows := size.GetCols(), size.GetRows()
	if cols > maxPtySide || rows > maxPtySide {
		return nil, errPtySize
	}
	if cols == 0 {
		cols = 80
	}
	if rows == 0 {
		rows = 24
	}
	return &unix.Winsize{Col: uint16(cols), Row: uint16(rows)}, nil
}

// SendInput types.
func (v *ptyService) SendInput(ctx context.Context, req *agentpb.SendInputRequest) (*agentpb.SendInputResponse, error) {
	p, err := v.find(req.GetPid())
	if err != nil {
		return nil, err
	}
	return &agentpb.SendInputResponse{}, p.input.write(ctx, req.GetData())
}

// Resize changes the size of a terminal.
func (v *ptyService) Resize(_ context.Context, req *agentpb.ResizeRequest) (*agentpb.ResizeResponse, error) {
	size, err := winsize(req.GetSize())
	if err != nil {
		return nil, err
	}
	p, err := v.find(req.GetPid())
	if err != nil {
		return nil, err
	}
	if err := setSize(p.tty, size); err != nil {
		return nil, errUnknownPid // it ended just now
	}
	return &agentpb.ResizeResponse{}, nil
}

// Kill ends a terminal.
func (v *ptyService) Kill(_ context.Context, req *agentpb.KillPtyRequest) (*agentpb.KillPtyResponse, error) {
	p, err := v.find(req.GetPid())
	if err != nil {
		return nil, err
	}
	p.signal(syscall.SIGKILL)
	return &agentpb.KillPtyResponse{}, nil
}

func (v *ptyService) find(pid uint32) (*process, error) {
	return v.s.processes.find(pid, agentpb.ProcessKind_PROCESS_KIND_PTY, false)
}
