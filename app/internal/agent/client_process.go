package agent

import (
	"context"
	"crypto/rand"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A Command is a process to start.
type Command struct {
	Path     string // looked up in PATH
	Args     []string
	Env      map[string]string
	Dir      string        // "": as the sandbox was told
	User     string        // "": as the sandbox was told
	Timeout  time.Duration // of running time; zero is none
	Stdin    bool          // keep it open for SendStdin
	Tag      string        // to be found by; "" makes one
	KillTree bool          // signals also reach what left the process group

	Follow
}

// Follow says how output is followed.
type Follow struct {
	// Background waits for a sandbox that fell asleep to wake by itself. Else
	// the stream wakes it, to be continued.
	Background bool
	// KillOnCancel ends the process when ctx is done before it is.
	KillOnCancel bool
	// MaxOutput is where output is dropped. Zero is 64 MiB.
	MaxOutput int64
}

// A Stream is which output of a process.
type Stream string

const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// A Notice tells of a stream something that is no output.
type Notice string

const (
	NoticeStarted   Notice = "started"   // first, and once
	NoticeLost      Notice = "lost"      // some output is missing here
	NoticeTruncated Notice = "truncated" // from here on output is dropped: there was too much
)

// A ProcessEvent is a piece of output, or a notice.
type ProcessEvent struct {
	PID    uint32
	Notice Notice // "" is output
	Stream Stream
	Data   []byte
	Seq    uint64 // of the output: where to go on is the next
}

// An Exit is how a process ended.
type Exit struct {
	PID      uint32
	Code     int // 128 and the signal, if there was one
	Signal   int // 0: it ended by itself
	TimedOut bool
}

const (
	// processSlack is what a call may take over the time the process has. One
	// that does not heed SIGTERM gets 5 s more, and then has its end told.
	processSlack = 10 * time.Second
	maxCollected = 64 << 20
	killWithin   = 5 * time.Second
)

// Start starts a process and follows it to its end. emit gets its output in
// order, each byte once, over cut connections and suspensions; what it fails
// with is returned. The process of a Start that is given up goes on, unless
// the command says otherwise.
//
// CodeUnsure means that the connection was cut before an answer, and no
// process with the tag is alive.
func (c *Client) Start(ctx context.Context, cmd Command, emit func(ProcessEvent) error) (Exit, error) {
	if cmd.Tag == "" {
		cmd.Tag = rand.Text()
	}
	req := &agentpb.StartRequest{
		Process:   &agentpb.ProcessConfig{Cmd: cmd.Path, Args: cmd.Args, Envs: cmd.Env, Cwd: optional(cmd.Dir)},
		User:      userToWire(cmd.User),
		TimeoutMs: uint64(cmd.Timeout.Milliseconds()),
		Stdin:     cmd.Stdin,
		Tag:       &cmd.Tag,
		KillTree:  cmd.KillTree,
	}
	s := &processStream{c: c, follow: cmd.Follow, timeout: cmd.Timeout, emit: emit}
	s.start = func(ctx context.Context) (grpc.ServerStreamingClient[agentpb.ProcessEvent], error) {
		return c.procs.Start(ctx, req)
	}
	s.find = func(ctx context.Context) (uint32, error) { return c.findTag(ctx, cmd.Tag) }
	return s.run(ctx)
}

// Connect follows a process that was started before. next is the seq of the
// first output wanted; 0 is what comes from now on.
func (c *Client) Connect(ctx context.Context, pid uint32, next uint64, how Follow, emit func(ProcessEvent) error) (Exit, error) {
	s := &processStream{c: c, follow: how, emit: emit, pid: pid, next: next}
	return s.run(ctx)
}

// A processStream is one process as it is followed over several connections.
type processStream struct {
	c       *Client
	follow  Follow
	timeout time.Duration
	emit    func(ProcessEvent) error
	start   func(context.Context) (grpc.ServerStreamingClient[agentpb.ProcessEvent], error)
	find    func(context.Context) (uint32, error)

	pid  uint32 // 0 until it is known
	told bool   // NoticeStarted was given
	next uint64 // seq wanted next; 0 is any
	size int64
	over bool
	ran  time.Duration // followed so far
	exit Exit
}

func (s *processStream) run(ctx context.Context) (Exit, error) {
	err := s.c.persist(ctx, s.follow.Background, s.try)
	if err != nil && ctx.Err() != nil && s.follow.KillOnCancel {
		s.kill(ctx)
	}
	return s.exit, err
}

// kill ends the process although ctx is done.
func (s *processStream) kill(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killWithin)
	defer cancel()
	if s.pid == 0 && s.find != nil {
		s.pid, _ = s.find(ctx)
	}
	if s.pid == 0 {
		return
	}
	if err := s.c.Signal(ctx, s.pid, 9); err != nil && CodeOf(err) != CodeNotFound {
		s.c.log.WarnContext(ctx, "kill of a cancelled process failed", "err", err)
	}
}

// try follows the process over one connection.
func (s *processStream) try(ctx context.Context, f *facts, last verdict) (fresh bool, err error) {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(0, s.timeout-s.ran)+processSlack)
		defer cancel()
		begun := s.c.clock.Now()
		defer func() { s.ran += s.c.clock.Since(begun) }()
	}
	if s.pid == 0 && last == verdictCut {
		if s.pid, err = s.find(ctx); err != nil {
			return false, err
		}
		if s.pid == 0 {
			return false, &Error{Code: CodeUnsure, Msg: "the connection was cut before the process was known"}
		}
		s.next = 1
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
			err = &Error{Code: CodeLost, Msg: "how the process ended is no longer known"}
		}
		return fresh, err
	}
}

// follow1 starts the process, or connects to it, and takes its events.
func (s *processStream) follow1(ctx context.Context) (fresh bool, err error) {
	var stream grpc.ServerStreamingClient[agentpb.ProcessEvent]
	if s.pid == 0 {
		stream, err = s.start(ctx)
	} else {
		stream, err = s.c.procs.Connect(ctx, &agentpb.ConnectRequest{Pid: s.pid, FromSeq: s.next})
	}
	if err != nil {
		return false, err
	}
	for {
		ev, err := stream.Recv()
		if err == io.EOF {
			return fresh, &Error{Code: CodeInternal, Msg: "the agent ended a process without its end"}
		}
		if err != nil {
			return fresh, err
		}
		switch ev := ev.GetEvent().(type) {
		case *agentpb.ProcessEvent_Start:
			if err := s.started(ev.Start.GetPid()); err != nil {
				return fresh, err
			}
		case *agentpb.ProcessEvent_Data:
			fresh = true
			if err := s.data(ev.Data); err != nil {
				return fresh, err
			}
		case *agentpb.ProcessEvent_End:
			return fresh, s.end(ev.End)
		}
	}
}

// started takes the pid. What was started from here is wanted from its first
// output on.
func (s *processStream) started(pid uint32) error {
	if s.pid == 0 {
		s.next = 1
	}
	s.pid, s.exit.PID = pid, pid
	if s.told {
		return nil
	}
	s.told = true
	return s.notice(NoticeStarted)
}

func (s *processStream) notice(n Notice) error { return s.give(ProcessEvent{PID: s.pid, Notice: n}) }

// give calls emit, and marks what it fails with as the caller's.
func (s *processStream) give(ev ProcessEvent) error {
	if err := s.emit(ev); err != nil {
		return &callbackError{err}
	}
	return nil
}

// data passes a piece of output on, unless it was before.
func (s *processStream) data(d *agentpb.DataEvent) error {
	seq := d.GetSeq()
	switch {
	case seq < s.next && s.next > 0:
		return nil
	case seq > s.next && s.next > 0:
		if err := s.notice(NoticeLost); err != nil {
			return err
		}
	}
	s.next = seq + 1
	ev := ProcessEvent{PID: s.pid, Stream: Stdout, Data: d.GetStdout(), Seq: seq}
	if d.GetOutput() == nil {
		return nil
	}
	if _, ok := d.GetOutput().(*agentpb.DataEvent_Stderr); ok {
		ev.Stream, ev.Data = Stderr, d.GetStderr()
	}
	limit := s.follow.MaxOutput
	if limit == 0 {
		limit = maxCollected
	}
	if s.size += int64(len(ev.Data)); s.size <= limit {
		return s.give(ev)
	}
	if s.over {
		return nil
	}
	s.over = true
	return s.notice(NoticeTruncated)
}

// ending is what an EndEvent and a PtyExited have in common.
type ending interface {
	GetExitCode() int32
	GetExited() bool
	GetStatus() string
	GetSignal() int32
}

// end takes the end of a stream, which may not be that of the process.
func (s *processStream) end(e ending) error {
	exit, err := exitFromWire(e)
	exit.PID = s.pid
	s.exit = exit
	return err
}

func exitFromWire(e ending) (Exit, error) {
	switch e.GetStatus() {
	case tokenSuspending, "output_truncated": // it goes on; so do we
		return Exit{}, errStreamSuspended
	case tokenTimeout:
		return Exit{}, &Error{Code: CodeExpired, Msg: "the time of the sandbox is up"}
	}
	return Exit{Code: int(e.GetExitCode()), Signal: int(e.GetSignal()), TimedOut: e.GetStatus() == "timeout"}, nil
}
