package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipeSize is asked for, not relied on: fewer turns between the kernel and us.
const pipeSize = 256 << 10

// A process is the interpreter and our ends of its lines.
type process struct {
	cmd  *exec.Cmd
	pid  int
	line *os.File // requests; the same socket as ctrl
	ctrl int      // frames
	out  int
	err  int
	ack  int
	wake int // an eventfd, readable when the process has ended

	mu    sync.Mutex // guards what follows
	ended bool       // the process is a zombie or less: its id is not ours any more
}

// Find names the interpreter to use: the system's own, since that of PATH may
// be a slow shim without the packages of the system.
func Find() (string, error) {
	const system = "/usr/bin/python3"
	if info, err := os.Stat(system); err == nil && info.Mode()&0o111 != 0 {
		return system, nil
	}
	path, err := exec.LookPath("python3")
	if err != nil {
		return "", ErrNoPython
	}
	return path, nil
}

func startProcess(cfg Config) (*process, error) {
	code, first, err := boot(cfg.Plain)
	if err != nil {
		return nil, err
	}
	if cfg.Python == "" {
		if cfg.Python, err = Find(); err != nil {
			return nil, err
		}
	}
	p := &process{ctrl: -1, out: -1, err: -1, ack: -1, wake: -1}
	theirs, err := p.open()
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if err != nil {
		p.close()
		return nil, err
	}
	p.cmd = exec.Command(cfg.Python, "-c", code)
	p.cmd.Dir, p.cmd.Env = cfg.Dir, cfg.Env
	p.cmd.Stdout, p.cmd.Stderr = theirs[1], theirs[2]
	p.cmd.ExtraFiles = []*os.File{theirs[0], theirs[3]}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	if cfg.Sys != nil {
		*p.cmd.SysProcAttr = *cfg.Sys
	}
	p.cmd.SysProcAttr.Setsid = true
	if err := cfg.Spawn(p.cmd.Start); err != nil {
		p.close()
		return nil, err
	}
	p.pid = p.cmd.Process.Pid
	if err := p.write(first); err != nil {
		p.kill()
		p.cmd.Wait()
		p.close()
		return nil, err
	}
	return p, nil
}

// open makes the lines. It returns the kernel's ends: control, output, error
// output, acknowledgements.
func (p *process) open() (theirs []*os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("socketpair: %w", err)
	}
	p.ctrl = pair[0]
	theirs = append(theirs, os.NewFile(uintptr(pair[1]), "control"))
	for _, ours := range []*int{&p.out, &p.err, &p.ack} {
		var fds [2]int
		if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
			return theirs, fmt.Errorf("pipe: %w", err)
		}
		if ours == &p.ack {
			fds[0], fds[1] = fds[1], fds[0]
		} else {
			unix.FcntlInt(uintptr(fds[0]), unix.F_SETPIPE_SZ, pipeSize)
		}
		*ours = fds[0]
		theirs = append(theirs, os.NewFile(uintptr(fds[1]), "pipe"))
	}
	if p.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return theirs, fmt.Errorf("eventfd: %w", err)
	}
	for _, fd := range []int{p.ctrl, p.out, p.err, p.ack} {
		if err := unix.SetNonblock(fd, true); err != nil {
			return theirs, fmt.Errorf("set nonblocking: %w", err)
		}
	}
	fd, err := unix.FcntlInt(uintptr(p.ctrl), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return theirs, fmt.Errorf("dup: %w", err)
	}
	p.line = os.NewFile(uintptr(fd), "kernel")
	return theirs, nil
}

// close gives back our ends. Only the pump calls it once there is one.
func (p *process) close() {
	for _, fd := range []int{p.ctrl, p.out, p.err, p.ack, p.wake} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	if p.line != nil {
		p.line.Close()
	}
}

func (p *process) send(msg message) error {
	data, err := encode(msg)
	if err != nil {
		return err
	}
	return p.write(data)
}

// write gives up on a kernel that has not read for a long time.
func (p *process) write(data []byte) error {
	if err := p.line.SetWriteDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	_, err := p.line.Write(data)
	return err
}

// acknowledge tells the kernel that what it sent before is in its place. A
// kernel that does not read its acknowledgements harms itself only.
func (p *process) acknowledge(n uint32) {
	unix.Write(p.ack, binary.BigEndian.AppendUint32(nil, n))
}

func (p *process) interrupt() { p.signal(unix.SIGINT) }

func (p *process) kill() { p.signal(unix.SIGKILL) }

func (p *process) signal(sig unix.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		unix.Kill(-p.pid, sig)
	}
}

// wait waits for the end, kills what is left of the process group, and wakes
// the pump. The group is signalled before its leader is reaped: after that,
// the id may belong to others.
func (p *process) wait() string {
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	unix.Kill(-p.pid, unix.SIGKILL)
	p.ended = true
	p.mu.Unlock()
	reason := "exit status 0"
	var exit *exec.ExitError
	if err := p.cmd.Wait(); errors.As(err, &exit) {
		reason = exit.Error()
	} else if err != nil {
		reason = "unknown"
	}
	unix.Write(p.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	return reason
}
