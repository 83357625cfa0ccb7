package agent

import (
	"crypto/rand"
	"maps"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

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
