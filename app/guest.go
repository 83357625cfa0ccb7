package app

import (
	"context"
	"errors"
	"io"
	"math"
	"path"
	"strings"

	"github.com/arenero/arenero/app/internal/agent"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/sandbox"
)

// A guest is the agent of one sandbox in the fleet's terms.
type guest struct {
	client  *agent.Client
	sandbox string
}

var _ fleet.Agent = (*guest)(nil)

func (g *guest) Close() error { return g.client.Close() }

func (g *guest) Health(ctx context.Context) (fleet.Health, error) {
	h, err := g.client.Health(ctx)
	if err != nil {
		return fleet.Health{}, guestError(err)
	}
	return fleet.Health{Agent: h.AgentReady, Kernel: h.KernelReady, Sandbox: h.SandboxID}, nil
}

func (g *guest) Start(ctx context.Context, e sandbox.Exec, emit func(fleet.Event) error) (sandbox.Exit, error) {
	how := agent.Follow{MaxOutput: math.MaxInt64} // whoever reads it knows how much is enough
	if e.Size != nil {
		t := agent.Terminal{Columns: e.Size.Columns, Rows: e.Size.Rows, Env: e.Env, Dir: e.Dir, User: e.User, Timeout: e.Timeout, Follow: how}
		if len(e.Args) > 0 {
			t.Shell = e.Args[0]
		}
		exit, err := g.client.OpenTerminal(ctx, t, processEmit(true, emit))
		return g.exit(exit), guestError(err)
	}
	exit, err := g.client.Start(ctx, agent.Command{
		Path: e.Args[0], Args: e.Args[1:], Env: e.Env, Dir: e.Dir, User: e.User, Timeout: e.Timeout,
		Stdin: e.Stdin, Tag: e.ID, KillTree: true, Follow: how,
	}, processEmit(false, emit))
	return g.exit(exit), guestError(err)
}

func (g *guest) Connect(ctx context.Context, at fleet.Place, next uint64, emit func(fleet.Event) error) (sandbox.Exit, error) {
	follow := g.client.Connect
	if at.Terminal {
		follow = g.client.ConnectTerminal
	}
	exit, err := follow(ctx, at.PID, next, agent.Follow{MaxOutput: math.MaxInt64}, processEmit(at.Terminal, emit))
	return g.exit(exit), guestError(err)
}

func (g *guest) exit(e agent.Exit) sandbox.Exit {
	return sandbox.Exit{Sandbox: g.sandbox, Code: e.Code, Signal: e.Signal, TimedOut: e.TimedOut}
}

// processEmit turns what a process says into events. The first tells where it
// is.
func processEmit(terminal bool, emit func(fleet.Event) error) func(agent.ProcessEvent) error {
	return func(ev agent.ProcessEvent) error {
		out := fleet.Event{Output: sandbox.Output{Seq: ev.Seq, Stream: sandbox.Stream(ev.Stream), Data: ev.Data, Notice: sandbox.Notice(ev.Notice)}}
		if ev.Notice == agent.NoticeStarted {
			out.Place = &fleet.Place{PID: ev.PID, Terminal: terminal}
		}
		return emit(out)
	}
}

func (g *guest) Find(ctx context.Context, execID string) (uint32, error) {
	all, err := g.client.Processes(ctx)
	if err != nil {
		return 0, guestError(err)
	}
	for _, p := range all {
		if p.Tag == execID && !p.Terminal {
			return p.PID, nil
		}
	}
	return 0, nil
}

func (g *guest) Signal(ctx context.Context, at fleet.Place, signal int) error {
	if at.Terminal && signal == 9 {
		return guestError(g.client.KillTerminal(ctx, at.PID))
	}
	return guestError(g.client.Signal(ctx, at.PID, signal))
}

func (g *guest) Input(ctx context.Context, at fleet.Place, data []byte) error {
	if at.Terminal {
		return guestError(g.client.Type(ctx, at.PID, data))
	}
	return guestError(g.client.SendStdin(ctx, at.PID, data))
}

func (g *guest) CloseInput(ctx context.Context, at fleet.Place) error {
	return guestError(g.client.CloseStdin(ctx, at.PID))
}

func (g *guest) Resize(ctx context.Context, at fleet.Place, size sandbox.Size) error {
	return guestError(g.client.Resize(ctx, at.PID, size.Columns, size.Rows))
}

func (g *guest) Execute(ctx context.Context, c sandbox.Cell, emit func(fleet.Event) error) (sandbox.Exit, error) {
	kernel := kernelOf(c)
	count, err := g.client.Execute(ctx, agent.Cell{Code: c.Code, Context: c.Context, Language: c.Language, Timeout: c.Timeout}, cellEmit(kernel, emit))
	return sandbox.Exit{Sandbox: g.sandbox, Count: count}, guestError(err)
}

// kernelOf names the kernel that a cell runs in.
func kernelOf(c sandbox.Cell) string {
	switch {
	case c.Context != "":
		return c.Context
	case c.Language == "", c.Language == "python":
		return "default"
	}
	return "default-" + c.Language
}

func (g *guest) Reattach(ctx context.Context, at fleet.Place, next uint64, emit func(fleet.Event) error) (sandbox.Exit, error) {
	count, err := g.client.Reattach(ctx, at.Kernel, at.Execution, next, cellEmit(at.Kernel, emit))
	return sandbox.Exit{Sandbox: g.sandbox, Count: count}, guestError(err)
}

func (g *guest) RestartKernel(ctx context.Context, kernel string) error {
	return guestError(g.client.RestartContext(ctx, kernel))
}

func cellEmit(kernel string, emit func(fleet.Event) error) func(agent.CellEvent) error {
	return func(ev agent.CellEvent) error {
		out := fleet.Event{Output: sandbox.Output{Seq: ev.Seq, Notice: sandbox.Notice(ev.Notice)}}
		switch {
		case ev.Started != nil:
			out.Place = &fleet.Place{Kernel: kernel, Execution: ev.Started.Execution}
		case ev.Stdout != "":
			out.Stream, out.Data = sandbox.Stdout, []byte(ev.Stdout)
		case ev.Stderr != "":
			out.Stream, out.Data = sandbox.Stderr, []byte(ev.Stderr)
		case ev.Result != nil:
			out.Result = &sandbox.Result{Main: ev.Result.Main, Data: ev.Result.Data}
		case ev.Error != nil:
			out.Exception = &sandbox.Exception{Name: ev.Error.Name, Value: ev.Error.Value, Traceback: ev.Error.Traceback}
		}
		return emit(out)
	}
}

// home is where relative paths begin.
const home = "/home/user"

// in makes p absolute.
func in(p string) string {
	if strings.HasPrefix(p, "/") {
		return p
	}
	return path.Join(home, p)
}

func fileOf(i agent.FileInfo) sandbox.File {
	f := sandbox.File{
		Name: i.Name, Path: i.Path, Type: sandbox.TypeOther, Size: i.Size, Mode: i.Mode, Modified: i.Modified,
		Target: i.Target, Owner: i.Owner, Group: i.Group,
	}
	switch i.Kind {
	case agent.KindFile:
		f.Type = sandbox.TypeFile
	case agent.KindDirectory:
		f.Type = sandbox.TypeDir
	case agent.KindLink:
		f.Type = sandbox.TypeSymlink
	}
	return f
}

func (g *guest) Stat(ctx context.Context, r sandbox.FileRequest) (sandbox.File, error) {
	info, err := g.client.Stat(ctx, in(r.Path), r.User)
	return fileOf(info), guestError(err)
}

func (g *guest) List(ctx context.Context, r sandbox.FileRequest) ([]sandbox.File, error) {
	infos, err := g.client.List(ctx, in(r.Path), r.Depth, r.User)
	files := make([]sandbox.File, 0, len(infos))
	for _, i := range infos {
		files = append(files, fileOf(i))
	}
	return files, guestError(err)
}

func (g *guest) Read(ctx context.Context, r sandbox.FileRequest, w io.Writer) error {
	_, err := g.client.ReadFile(ctx, in(r.Path), r.User, w)
	return guestError(err)
}

func (g *guest) Write(ctx context.Context, r sandbox.FileRequest, content io.Reader) (sandbox.File, error) {
	info, err := g.client.WriteFile(ctx, agent.Upload{Path: in(r.Path), User: r.User, Mode: r.Mode, Content: content})
	return fileOf(info), guestError(err)
}

func (g *guest) MakeDir(ctx context.Context, r sandbox.FileRequest) (sandbox.File, error) {
	info, err := g.client.MakeDir(ctx, in(r.Path), r.User)
	return fileOf(info), guestError(err)
}

func (g *guest) Move(ctx context.Context, r sandbox.FileRequest) (sandbox.File, error) {
	info, err := g.client.Move(ctx, in(r.Path), in(r.To), r.User)
	return fileOf(info), guestError(err)
}

func (g *guest) Remove(ctx context.Context, r sandbox.FileRequest) error {
	return guestError(g.client.Remove(ctx, in(r.Path), r.All, r.User))
}

// guestError is the one table from what an agent fails with to our codes. What
// a callback failed with is passed on as it is. That an agent says it is of no
// use to whoever reads it.
func guestError(err error) error {
	if err == nil {
		return nil
	}
	a, ok := errors.AsType[*agent.Error](err)
	if !ok {
		return err
	}
	e := &sandbox.Error{Code: sandbox.Internal, Msg: strings.TrimPrefix(a.Msg, "agent: "), Hint: a.Hint, Retryable: a.Retryable, Err: a.Err}
	if code, ok := guestCodes[a.Code]; ok {
		e.Code = code
	}
	switch a.Code {
	case agent.CodeStarting:
		e.Err = fleet.ErrStarting
	case agent.CodeNoProgram:
		e.Details = map[string]any{sandbox.DetailProgram: sandbox.ProgramMissing}
	case agent.CodeNoExec:
		e.Details = map[string]any{sandbox.DetailProgram: sandbox.ProgramNotExecutable}
	}
	return e
}

var guestCodes = map[agent.Code]sandbox.Code{
	agent.CodeInvalid:  sandbox.Invalid,
	agent.CodeNotFound: sandbox.NotFound,
	agent.CodeExists:   sandbox.Exists,
	agent.CodeDenied:   sandbox.Denied,
	agent.CodeSecret:   sandbox.Internal,
	agent.CodeToken:    sandbox.Access,
	agent.CodeState:    sandbox.WrongState,
	agent.CodeBusy:     sandbox.TooMuch,
	agent.CodeFull:     sandbox.DiskFull,
	agent.CodeStarting: sandbox.InTransition,
	agent.CodeAway:     sandbox.InTransition,
	agent.CodeGone:     sandbox.Gone,
	agent.CodeExpired:  sandbox.Gone,
	agent.CodeOld:      sandbox.Unsupported,
	agent.CodeLost:     sandbox.OutputLost,
	agent.CodeUnsure:   sandbox.ExecInDoubt,
	agent.CodeTooBig:   sandbox.TooMuch,
	agent.CodeTimeout:  sandbox.Timeout,
	agent.CodeCanceled: sandbox.Canceled,

	agent.CodeNoProgram: sandbox.Invalid,
	agent.CodeNoExec:    sandbox.Invalid,
}
