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

// A Cell is code to run in a kernel, which keeps its variables.
type Cell struct {
	Code     string
	Context  string // "" is the default context of the language
	Language string // "" is python; not together with Context
	Env      map[string]string
	Timeout  time.Duration // of running time; zero is none
	// Background waits for a sandbox that fell asleep to wake by itself.
	Background bool
}

// A CellEvent is one thing a cell said. One field besides Seq is set.
type CellEvent struct {
	Seq     uint64
	Notice  Notice // NoticeStarted comes with Started
	Started *CellStarted
	Stdout  string
	Stderr  string
	Result  *CellResult
	Error   *CellError
}

// CellStarted is what it takes to find a running cell again.
type CellStarted struct {
	Execution string
	Count     uint64
}

// A CellResult is one value in as many forms as the kernel has of it, by MIME
// type. Those of images and PDF are base64.
type CellResult struct {
	Main bool // the value of the last expression, not something displayed
	Data map[string]string
}

// A CellError is an exception, or one of the names the agent makes up, such as
// ExecutionTimeout and KernelDied. A cell that raised has still been run.
type CellError struct {
	Name, Value string
	Traceback   []string
}

const codeSlack = 15 * time.Second // what a call may take over the time the cell has

// errOutputTruncated is the name by which the agent says that this stream, and
// not the cell, has ended.
const errOutputTruncated = "OutputTruncated"

// Execute runs a cell and follows it to its end, each event once, over cut
// connections and suspensions. When ctx is done first, the cell is interrupted,
// if its first connection still stands. It returns the count of the cell.
func (c *Client) Execute(ctx context.Context, cell Cell, emit func(CellEvent) error) (uint64, error) {
	s := &cellStream{c: c, cell: cell, emit: emit}
	err := c.persist(ctx, cell.Background, s.try)
	return s.count, err
}

// Reattach follows a cell that was started before. next is the seq of the first
// event wanted. Giving up does not interrupt it.
func (c *Client) Reattach(ctx context.Context, kernelContext, execution string, next uint64, emit func(CellEvent) error) (uint64, error) {
	s := &cellStream{c: c, cell: Cell{Context: kernelContext}, emit: emit, execution: execution, next: next, told: true}
	err := c.persist(ctx, false, s.try)
	return s.count, err
}

// A cellStream is one cell as it is followed over several connections.
type cellStream struct {
	c         *Client
	cell      Cell
	emit      func(CellEvent) error
	execution string // "" until it is known
	told      bool
	next      uint64
	short     bool // this connection was too slow
	count     uint64
	ran       time.Duration
}

func (s *cellStream) try(ctx context.Context, f *facts, last verdict) (fresh bool, err error) {
	if s.execution == "" && last == verdictCut {
		return false, &Error{Code: CodeUnsure, Msg: "the connection was cut before the code was known to run"}
	}
	if s.cell.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(0, s.cell.Timeout-s.ran)+codeSlack)
		defer cancel()
		begun := s.c.clock.Now()
		defer func() { s.ran += s.c.clock.Since(begun) }()
	}
	for {
		fresh, err = s.follow1(ctx)
		switch {
		case status.Code(err) == codes.OutOfRange && f.ended.Load() && s.next != 0:
			s.next = 0
			f.reset()
			if err := s.give(CellEvent{Notice: NoticeLost}); err != nil {
				return true, err
			}
			continue
		case status.Code(err) == codes.NotFound && f.ended.Load() && s.told:
			err = &Error{Code: CodeLost, Msg: "how the code ended is no longer known"}
		}
		return fresh, err
	}
}

func (s *cellStream) open(ctx context.Context) (grpc.ServerStreamingClient[agentpb.ExecuteEvent], error) {
	if s.execution == "" {
		return s.c.cells.Execute(ctx, &agentpb.ExecuteRequest{
			ContextId: optional(s.cell.Context), Code: s.cell.Code, Envs: s.cell.Env,
			Language: optional(s.cell.Language), TimeoutMs: uint64(s.cell.Timeout.Milliseconds()),
		})
	}
	id := s.cell.Context
	switch {
	case id != "":
	case s.cell.Language == "" || s.cell.Language == "python":
		id = "default"
	default:
		id = "default-" + s.cell.Language
	}
	return s.c.cells.Reattach(ctx, &agentpb.ReattachRequest{ContextId: id, ExecutionId: s.execution, FromSeq: s.next})
}

func (s *cellStream) follow1(ctx context.Context) (fresh bool, err error) {
	stream, err := s.open(ctx)
	if err != nil {
		return false, err
	}
	s.short = false
	for {
		ev, err := stream.Recv()
		if err == io.EOF {
			return fresh, &Error{Code: CodeInternal, Msg: "the agent ended a cell without its end"}
		}
		if err != nil {
			return fresh, err
		}
		if e := ev.GetEnd(); e != nil {
			if s.short {
				return true, errStreamSuspended // the cell goes on; so do we
			}
			s.count = e.GetExecutionCount()
			return true, nil
		}
		if ev.GetError().GetName() == errOutputTruncated {
			s.short = true
			continue
		}
		if ev.GetSeq() == 0 || s.next > 0 && ev.GetSeq() < s.next {
			continue // a keepalive, or known
		}
		if s.next > 0 && ev.GetSeq() > s.next {
			if err := s.give(CellEvent{Notice: NoticeLost}); err != nil {
				return fresh, err
			}
		}
		s.next, fresh = ev.GetSeq()+1, true
		if err := s.give(s.fromWire(ev)); err != nil {
			return fresh, err
		}
	}
}

// give calls emit, and marks what it fails with as the caller's. An event of a
// kind we don't know is none.
func (s *cellStream) give(ev CellEvent) error {
	seq := ev.Seq
	ev.Seq = 0
	if ev == (CellEvent{}) {
		return nil
	}
	ev.Seq = seq
	if err := s.emit(ev); err != nil {
		return &callbackError{err}
	}
	return nil
}

func (s *cellStream) fromWire(ev *agentpb.ExecuteEvent) CellEvent {
	out := CellEvent{Seq: ev.GetSeq()}
	switch e := ev.GetEvent().(type) {
	case *agentpb.ExecuteEvent_Started:
		s.execution, s.told = e.Started.GetExecutionId(), true
		out.Notice = NoticeStarted
		out.Started = &CellStarted{e.Started.GetExecutionId(), e.Started.GetExecutionCount()}
	case *agentpb.ExecuteEvent_Stdout:
		out.Stdout = e.Stdout.GetText()
	case *agentpb.ExecuteEvent_Stderr:
		out.Stderr = e.Stderr.GetText()
	case *agentpb.ExecuteEvent_Result:
		out.Result = resultFromWire(e.Result)
	case *agentpb.ExecuteEvent_Error:
		out.Error = &CellError{e.Error.GetName(), e.Error.GetValue(), e.Error.GetTraceback()}
	}
	return out
}

func resultFromWire(r *agentpb.ExecutionResult) *CellResult {
	out := &CellResult{Main: r.GetIsMainResult(), Data: map[string]string{}}
	for mime, v := range map[string]*string{
		"text/plain": r.Text, "text/html": r.Html, "text/markdown": r.Markdown, "text/latex": r.Latex,
		"application/json": r.Json, "application/javascript": r.Javascript, "image/png": r.Png, "image/jpeg": r.Jpeg,
		"image/svg+xml": r.Svg, "application/pdf": r.Pdf, "e2b/chart": r.Chart, "e2b/data": r.Data,
	} {
		if v != nil {
			out.Data[mime] = *v
		}
	}
	for mime, v := range r.GetExtra() {
		out.Data[mime] = v
	}
	return out
}
