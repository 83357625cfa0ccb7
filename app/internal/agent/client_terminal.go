package agent

import (
	"context"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A Terminal is a shell to start with a terminal of its own.
type Terminal struct {
	Columns, Rows int // zero is 80 by 24
	Env           map[string]string
	Dir           string
	User          string
	Shell         string // absolute; "" is the user's
	Timeout       time.Duration

	Follow
}

// OpenTerminal starts a shell and follows its terminal to its end, as Start
// does with a process. All output is Stdout's.
func (c *Client) OpenTerminal(ctx context.Context, t Terminal, emit func(ProcessEvent) error) (Exit, error) {
	req := &agentpb.PtyStart{
		Size: &agentpb.PtySize{Cols: uint32(t.Columns), Rows: uint32(t.Rows)},
		Envs: t.Env, Cwd: optional(t.Dir), User: userToWire(t.User), Shell: optional(t.Shell),
		TimeoutMs: uint64(t.Timeout.Milliseconds()),
	}
	s := &terminalStream{processStream{c: c, follow: t.Follow, emit: emit}, func(ctx context.Context) (ptyClient, error) {
		return c.ptys.Create(ctx, req)
	}}
	return s.run(ctx)
}

// ConnectTerminal follows a terminal that was opened before.
func (c *Client) ConnectTerminal(ctx context.Context, pid uint32, next uint64, how Follow, emit func(ProcessEvent) error) (Exit, error) {
	s := &terminalStream{processStream{c: c, follow: how, emit: emit, pid: pid, next: next}, nil}
	return s.run(ctx)
}

type ptyClient = grpc.ServerStreamingClient[agentpb.PtyServerMessage]

// A terminalStream is a processStream whose events come as terminals have them.
type terminalStream struct {
	processStream
	open func(context.Context) (ptyClient, error)
}

func (s *terminalStream) run(ctx context.Context) (Exit, error) {
	err := s.c.persist(ctx, s.follow.Background, s.try)
	if err != nil && ctx.Err() != nil && s.follow.KillOnCancel && s.pid != 0 {
		killCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killWithin)
		defer cancel()
		s.c.KillTerminal(killCtx, s.pid)
	}
	return s.exit, err
}

func (s *terminalStream) try(ctx context.Context, f *facts, last verdict) (fresh bool, err error) {
	if s.pid == 0 && last == verdictCut { // terminals carry no tag to be found by
		return false, &Error{Code: CodeUnsure, Msg: "the connection was cut before the terminal was known"}
	}
	for {
		fresh, err = s.follow1(ctx)
		switch {
		case status.Code(err) == codes.OutOfRange && f.ended.Load() && s.next != 0:
			s.next = 0
			f.reset()
			if err := s.notice(NoticeLost); err != nil {
				return true, err
			}
			continue
		case status.Code(err) == codes.NotFound && f.ended.Load() && s.told:
			err = &Error{Code: CodeLost, Msg: "how the terminal ended is no longer known"}
		}
		return fresh, err
	}
}

func (s *terminalStream) follow1(ctx context.Context) (fresh bool, err error) {
	var stream ptyClient
	if s.pid == 0 {
		stream, err = s.open(ctx)
	} else {
		stream, err = s.c.ptys.Connect(ctx, &agentpb.ConnectRequest{Pid: s.pid, FromSeq: s.next})
	}
	if err != nil {
		return false, err
	}
	for {
		msg, err := stream.Recv()
		if err == io.EOF {
			return fresh, &Error{Code: CodeInternal, Msg: "the agent ended a terminal without its end"}
		}
		if err != nil {
			return fresh, err
		}
		switch m := msg.GetMessage().(type) {
		case *agentpb.PtyServerMessage_Started:
			if err := s.started(m.Started.GetPid()); err != nil {
				return fresh, err
			}
		case *agentpb.PtyServerMessage_Data:
			fresh = true
			err := s.data(&agentpb.DataEvent{Seq: msg.GetSeq(), Output: &agentpb.DataEvent_Stdout{Stdout: m.Data}})
			if err != nil {
				return fresh, err
			}
		case *agentpb.PtyServerMessage_Exited:
			return fresh, s.end(m.Exited)
		}
	}
}

// Type sends what is typed into a terminal. CodeUnsure means that it may have
// got there.
func (c *Client) Type(ctx context.Context, pid uint32, data []byte) error {
	_, _, err := call(ctx, c, false, c.terminals.SendInput, &agentpb.SendInputRequest{Pid: pid, Data: data})
	return err
}

// Resize tells a terminal its new size.
func (c *Client) Resize(ctx context.Context, pid uint32, columns, rows int) error {
	size := &agentpb.PtySize{Cols: uint32(columns), Rows: uint32(rows)}
	_, _, err := call(ctx, c, true, c.terminals.Resize, &agentpb.ResizeRequest{Pid: pid, Size: size})
	return err
}

// KillTerminal ends a terminal and its shell.
func (c *Client) KillTerminal(ctx context.Context, pid uint32) error {
	_, _, err := call(ctx, c, true, c.terminals.Kill, &agentpb.KillPtyRequest{Pid: pid})
	return err
}
