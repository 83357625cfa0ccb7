package agent

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// searchPath is the PATH of every process, unless its variables say otherwise.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

var (
	errNoProgram   = status.Error(codes.InvalidArgument, "cmd is empty")
	errNotFound    = status.Error(codes.InvalidArgument, tokenNoProgram)
	errNoExec      = status.Error(codes.InvalidArgument, tokenNoExec)
	errBadCwd      = status.Error(codes.InvalidArgument, "cwd is not an absolute path of a directory")
	errBadEnv      = status.Error(codes.InvalidArgument, "envs has a name or value no process can have")
	errBadArgument = status.Error(codes.InvalidArgument, "an argument has a NUL byte or all are too long")
)

// A spawn is a program about to run.
type spawn struct {
	id         *identity
	cmd        string
	args       []string
	env        map[string]string
	cwd        string
	cpuSeconds int // 0: no limit
}

// environ is the environment as the system wants it.
func (s *spawn) environ() ([]string, error) {
	env := make([]string, 0, len(s.env))
	for k, v := range s.env {
		if k == "" || strings.ContainsAny(k, "=\x00") || strings.IndexByte(v, 0) >= 0 {
			return nil, errBadEnv
		}
		env = append(env, k+"="+v)
	}
	return env, nil
}

// program finds the program as execvp would: in the PATH the process has, or
// from its working directory if the name has a slash.
func (s *spawn) program() (string, error) {
	if s.cmd == "" {
		return "", errNoProgram
	}
	if strings.IndexByte(s.cmd, 0) >= 0 {
		return "", errNotFound
	}
	if strings.Contains(s.cmd, "/") {
		p := s.cmd
		if !filepath.IsAbs(p) {
			p = filepath.Join(s.cwd, p)
		}
		return p, executable(p)
	}
	missing := errNotFound
	for dir := range strings.SplitSeq(s.env["PATH"], ":") {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.cwd, dir)
		}
		p := filepath.Join(dir, s.cmd)
		err := executable(p)
		if err == nil {
			return p, nil
		}
		if info, serr := os.Stat(p); serr == nil && info.Mode().IsRegular() {
			missing = err // a later one may do
		}
	}
	return "", missing
}

// executable says why p is no program, as far as its mode tells.
func executable(p string) error {
	info, err := os.Stat(p)
	switch {
	case errors.Is(err, os.ErrPermission):
		return errNoExec
	case err != nil:
		return errNotFound
	case !info.Mode().IsRegular(), info.Mode()&0o111 == 0:
		return errNoExec
	}
	return nil
}

func (s *spawn) checkCwd() error {
	if !filepath.IsAbs(s.cwd) || strings.IndexByte(s.cwd, 0) >= 0 {
		return errBadCwd
	}
	if info, err := os.Stat(s.cwd); err != nil || !info.IsDir() {
		return errBadCwd
	}
	return nil
}

// start runs the program on files. It returns a pidfd of -1 where there is
// none.
func (s *spawn) start(files [3]int, sys *syscall.SysProcAttr) (pid, pidfd int, err error) {
	if err := s.checkCwd(); err != nil {
		return 0, -1, err
	}
	env, err := s.environ()
	if err != nil {
		return 0, -1, err
	}
	path, err := s.program()
	if err != nil {
		return 0, -1, err
	}
	argv := append([]string{s.cmd}, s.args...)
	if s.cpuSeconds > 0 {
		path, argv = limitCPU(s.cpuSeconds, path, s.args)
	}
	pidfd = -1
	sys.PidFD = &pidfd
	pid, err = syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir: s.cwd, Env: env, Sys: sys,
		Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])},
	})
	if err != nil {
		return 0, -1, spawnError(err)
	}
	return pid, pidfd, nil
}

// limitCPU puts a shell in front that takes the limit on itself and becomes
// the program. A limit set on a running process would leave it a moment to
// have children without one, and a limit of the agent's own would hit the
// agent; all other limits are inherited from it.
func limitCPU(seconds int, path string, args []string) (string, []string) {
	soft, hard := strconv.Itoa(seconds), strconv.Itoa(seconds+5)
	script := "ulimit -S -t " + soft + " && ulimit -H -t " + hard + ` && exec "$0" "$@"`
	return "/bin/sh", append([]string{"sh", "-c", script, path}, args...)
}

// spawnError turns what the system says into a status.
func spawnError(err error) error {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return status.Error(codes.Internal, "the process could not be started")
	}
	switch no {
	case unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.ENAMETOOLONG:
		return errNotFound
	case unix.EACCES, unix.ENOEXEC, unix.EISDIR:
		return errNoExec
	case unix.EINVAL, unix.E2BIG:
		return errBadArgument
	case unix.EAGAIN, unix.ENOMEM, unix.EMFILE, unix.ENFILE:
		return status.Error(codes.ResourceExhausted, "the sandbox has no room for another process")
	case unix.EPERM:
		return status.Error(codes.PermissionDenied, "the system does not let this process start")
	case unix.ENOSYS:
		return status.Error(codes.Unimplemented, "this platform can't start processes")
	default:
		return status.Error(codes.Internal, "the process could not be started")
	}
}
