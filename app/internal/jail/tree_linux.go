//go:build amd64 || arm64

package jail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/jail/link"
	"github.com/arenero/arenero/app/internal/jail/nest"
)

// A tree is a jail made of namespaces.
type tree struct {
	kind    Kind
	log     *slog.Logger
	line    *link.SocketHost
	cmd     *exec.Cmd
	errors  *os.File // the agent's standard error
	home    string   // of a plain process; empty where the nest has one
	last    lastLine // what came out of it last
	readers sync.WaitGroup
	group   *group        // nil where no control group can be made
	stop    chan struct{} // closed when the first process has ended
	done    chan struct{} // closed when nothing is left
	exit    Exit          // settled before done is closed

	watch *watchdog // nil where the kernel holds the memory limit

	mu     sync.Mutex
	pidfd  int // of the first process; closed when ended
	ended  bool
	killed bool

	freezing sync.Mutex // one freeze or thaw at a time; guards the two below
	frozen   bool
	stopped  []int // pidfds of the processes stopped by signal
}

var _ Jail = (*tree)(nil)

func startTree(ctx context.Context, spec Spec) (Jail, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return launch(ctx, spec, Namespaces)
}

// startPlain runs the agent as an ordinary child in its own session.
func startPlain(ctx context.Context, spec Spec) (Jail, error) {
	return launch(ctx, spec, NotIsolated)
}

func launch(ctx context.Context, spec Spec, kind Kind) (_ Jail, err error) {
	host, guest, err := link.SocketPair()
	if err != nil {
		return nil, fmt.Errorf("make the line: %w", err)
	}
	defer guest.Close()
	t := &tree{
		kind:  kind,
		log:   spec.Log,
		line:  link.NewSocketHost(host, spec.Egress),
		pidfd: -1,
		done:  make(chan struct{}),
		stop:  make(chan struct{}),
	}
	var command func() *exec.Cmd
	var files []*os.File
	if kind == Namespaces {
		command, files, err = nestCommand(spec, guest)
	} else if t.home, err = os.MkdirTemp("", "arenero-home-"); err == nil {
		command = plainCommand(spec, guest, t.home)
	}
	if err != nil {
		host.Close()
		return nil, err
	}
	t.group = newGroup(spec)
	err = t.run(command, spec)
	closeFiles(files)
	if err != nil {
		host.Close()
		t.group.remove()
		t.removeHome()
		return nil, err
	}
	select {
	case <-t.line.Ready():
		return t, nil
	case <-t.stop:
		<-t.done
		return nil, t.startError()
	case <-ctx.Done():
		t.Kill()
		return nil, ctx.Err()
	}
}

// startError says why a jail ended before its agent was ready.
func (t *tree) startError() error {
	last := t.last.get()
	if t.exit.Code == nest.ExitCode {
		return unsupported(errors.New(last))
	}
	if last == "" {
		return fmt.Errorf("start the jail: %s", t.exit.Reason)
	}
	return fmt.Errorf("start the jail: %s: %s", t.exit.Reason, last)
}

// nestCommand prepares the command that becomes the agent inside new
// namespaces. The caller closes the files once the command runs.
func nestCommand(spec Spec, guest *os.File) (func() *exec.Cmd, []*os.File, error) {
	agent, path, err := openAgent(spec.Agent)
	if err != nil {
		return nil, nil, fmt.Errorf("open the agent: %w", err)
	}
	b, err := json.Marshal(nest.Config{
		Hostname:  "sandbox",
		Agent:     path,
		Args:      agentArgs(spec, fmt.Sprintf("fd:%d", nest.LinkFD)),
		Env:       spec.Env,
		MemoryMiB: spec.MemoryMiB,
		DiskMiB:   spec.DiskMiB,
		PIDs:      spec.PIDs,
		Egress:    spec.Egress != nil,
	})
	if err != nil {
		agent.Close()
		return nil, nil, err
	}
	config, err := memfile("config", b)
	if err != nil {
		agent.Close()
		return nil, nil, err
	}
	uid, gid := mapTo()
	command := func() *exec.Cmd {
		return &exec.Cmd{
			Path:       fmt.Sprintf("/proc/self/fd/%d", nest.AgentFD),
			Args:       []string{"arenero-agent", nest.Arg},
			Env:        []string{"GOGC=off"}, // it allocates little and lives for milliseconds
			Dir:        "/",
			ExtraFiles: []*os.File{guest, config, agent},
			SysProcAttr: &syscall.SysProcAttr{
				Cloneflags:  cloneflags,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: nest.UID, HostID: uid, Size: 1}},
				GidMappings: []syscall.SysProcIDMap{{ContainerID: nest.GID, HostID: gid, Size: 1}},
				Credential:  &syscall.Credential{Uid: nest.UID, Gid: nest.GID, NoSetGroups: true},
				AmbientCaps: nestCapabilities,
				Setsid:      true, // no terminal of the host's
				Pdeathsig:   unix.SIGKILL,
			},
		}
	}
	return command, []*os.File{config, agent}, nil
}

const cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWNET | unix.CLONE_NEWCGROUP

// nestCapabilities are what the nest needs in its own user namespace.
var nestCapabilities = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_SYS_RESOURCE}

// plainCommand prepares the command that is the agent with no walls around it.
// It has a home of its own all the same: what programs leave there is not to be
// found among the user's files.
func plainCommand(spec Spec, guest *os.File, home string) func() *exec.Cmd {
	spec.Args = append(slices.Clone(spec.Args), "--home", home, "--as-self")
	return func() *exec.Cmd {
		cmd := exec.Command(spec.Agent, agentArgs(spec, fmt.Sprintf("fd:%d", nest.LinkFD))...)
		cmd.Env = append([]string{}, spec.Env...) // empty, not nil: nothing of ours
		cmd.ExtraFiles = []*os.File{guest}
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
		return cmd
	}
}

// removeHome takes away the home of a plain process.
func (t *tree) removeHome() {
	if t.home == "" {
		return
	}
	if err := os.RemoveAll(t.home); err != nil {
		t.log.Warn("home of a sandbox stays behind", "dir", t.home, "err", err)
	}
}

// run starts the command and the goroutines that follow it.
func (t *tree) run(command func() *exec.Cmd, spec Spec) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	t.errors = r
	started := make(chan error, 1)
	go t.keep(started, command, w, spec)
	err = <-started
	w.Close()
	if err != nil {
		r.Close()
		return explain(err)
	}
	return nil
}

// keep starts the process and waits for it, all on one thread: the kernel
// sends the parent-death signal when the thread that forked ends, so that
// thread has to live as long as the jail.
func (t *tree) keep(started chan<- error, command func() *exec.Cmd, stderr *os.File, spec Spec) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := t.start(command(), stderr)
	if err != nil && t.group != nil { // it may be the group that was refused
		t.group.remove()
		t.group = nil
		err = t.start(command(), stderr)
	}
	if err != nil {
		started <- err
		return
	}
	if !t.group.holdsMemory() && t.kind == Namespaces {
		t.watch = newWatchdog(t, spec.MemoryMiB)
	}
	started <- nil
	t.readers.Go(func() { t.readErrors(spec.Output) })
	t.readers.Go(t.serveLine)
	err = t.cmd.Wait()
	close(t.stop)
	t.line.Close()
	t.watch.stop()
	t.group.kill() // what a plain process leaves behind; namespaces leave nothing
	if t.kind == NotIsolated {
		t.errors.Close() // something may still hold the other end
	}
	t.readers.Wait()
	t.group.remove()
	t.removeHome()
	t.mu.Lock()
	t.ended = true
	unix.Close(t.pidfd)
	killed := t.killed
	t.mu.Unlock()
	t.freezing.Lock()
	closeFDs(t.stopped)
	t.stopped = nil
	t.freezing.Unlock()
	t.exit = exitOf(t.cmd.ProcessState, killed)
	if err != nil && t.cmd.ProcessState == nil {
		t.exit.Reason = err.Error()
	}
	close(t.done)
}

func (t *tree) start(cmd *exec.Cmd, stderr *os.File) error {
	cmd.Stderr = stderr
	cmd.SysProcAttr.PidFD = &t.pidfd
	t.group.enter(cmd.SysProcAttr)
	t.cmd = cmd
	defer t.group.entered()
	return cmd.Start()
}

func (t *tree) serveLine() {
	err := t.line.Serve()
	if !errors.Is(err, link.ErrClosed) {
		t.log.Warn("jail broke the rules of its line", "err", err)
	}
	t.signal(unix.SIGKILL) // an agent without a line is no use to anyone
}

func (t *tree) readErrors(output func(string)) {
	readLines(t.errors, func(line string) {
		t.last.set(line)
		if output != nil {
			output(line)
		}
	})
}

func (t *tree) signal(sig unix.Signal) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil
	}
	err := unix.PidfdSendSignal(t.pidfd, sig, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func (t *tree) Kind() Kind            { return t.kind }
func (t *tree) Done() <-chan struct{} { return t.done }

func (t *tree) Exit() Exit {
	select {
	case <-t.done:
		return t.exit
	default:
		return Exit{}
	}
}

func (t *tree) Dial(ctx context.Context, port int) (net.Conn, error) {
	c, err := t.line.Dial(ctx, port)
	if errors.Is(err, link.ErrClosed) {
		return nil, ErrEnded
	}
	return c, err
}

func (t *tree) Kill() error {
	t.mu.Lock()
	t.killed = true
	t.mu.Unlock()
	t.group.kill()
	if err := t.signal(unix.SIGKILL); err != nil {
		return fmt.Errorf("kill the jail: %w", err)
	}
	<-t.done
	return nil
}

// memfile returns a file in memory with these contents.
func memfile(name string, b []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(b); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
