//go:build amd64 || arm64

package nest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/jail/link"
)

// main runs on one thread, because most of what it gives up belongs to a
// thread. The exec at the end ends all others.
func main() int {
	runtime.LockOSThread()
	fmt.Fprintln(os.Stderr, "nest:", run())
	return ExitCode
}

// run returns only if it fails.
func run() error {
	cfg, err := readConfig()
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if err := unix.Sethostname([]byte(cfg.Hostname)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bring the loopback up: %w", err)
	}
	if cfg.Egress {
		if err := openEgress(); err != nil {
			return fmt.Errorf("open the proxy port: %w", err)
		}
	}
	if err := buildRoot(cfg); err != nil {
		return err
	}
	if err := limit(cfg); err != nil {
		return err
	}
	unix.Umask(0o022)
	if err := unix.Chdir(Home); err != nil {
		return fmt.Errorf("enter %s: %w", Home, err)
	}
	// Everything but the standard three and the line ends with the exec.
	if err := unix.CloseRange(LinkFD+1, 1<<30, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("close descriptors: %w", err)
	}
	if err := clearCloseOnExec(LinkFD); err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	argv := append([]string{AgentPath}, cfg.Args...)
	return fmt.Errorf("start the agent: %w", unix.Exec(AgentPath, argv, cfg.Environment()))
}

func readConfig() (Config, error) {
	f := os.NewFile(ConfigFD, "config")
	defer f.Close()
	var cfg Config
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<24))
	if err != nil {
		return cfg, err
	}
	return cfg, json.Unmarshal(b, &cfg)
}

func clearCloseOnExec(fd int) error {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
		return fmt.Errorf("keep the line: %w", err)
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req)
}

// openEgress opens the proxy port, gives the listener to the host and keeps
// no copy, so nothing in the jail can serve that port or meddle with it.
func openEgress() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: link.ProxyPort, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	if err := unix.Listen(fd, 1024); err != nil {
		return err
	}
	return link.SendEgress(LinkFD, fd)
}

// limit sets what every process in the jail inherits. Spawn narrows it for
// the user's.
func limit(cfg Config) error {
	file := uint64(cfg.DiskMiB) << 20
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"core", unix.RLIMIT_CORE, 0},
		{"nofile", unix.RLIMIT_NOFILE, 65536},
		{"nproc", unix.RLIMIT_NPROC, uint64(cfg.PIDs + Reserve)},
		{"fsize", unix.RLIMIT_FSIZE, file},
		{"memlock", unix.RLIMIT_MEMLOCK, 8 << 20},
		{"msgqueue", unix.RLIMIT_MSGQUEUE, 1 << 20},
		{"sigpending", unix.RLIMIT_SIGPENDING, 4096}, // with timers; they count as the host user's too
		{"rtprio", unix.RLIMIT_RTPRIO, 0},
		{"nice", unix.RLIMIT_NICE, 0},
	} {
		var have unix.Rlimit
		if err := unix.Prlimit(0, l.resource, nil, &have); err != nil {
			return fmt.Errorf("read limit %s: %w", l.name, err)
		}
		v := min(l.value, have.Max) // nobody here may raise a hard limit
		if err := unix.Prlimit(0, l.resource, &unix.Rlimit{Cur: v, Max: v}, nil); err != nil {
			return fmt.Errorf("set limit %s: %w", l.name, err)
		}
	}
	// When the computer itself runs out of memory, a sandbox goes first. The
	// file is missing where /proc could not be mounted, and that is no reason
	// to stop.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("300"), 0)
	return nil
}

// Bits of PR_SET_SECUREBITS: no capabilities for uid 0, none kept, none
// raised, and all of that locked.
const securebits = 1 | 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7

// dropPrivileges leaves this thread, and so the agent, with no capability in
// any set, no way to gain one, and the system call filter.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, securebits, 0, 0, 0); err != nil {
		return fmt.Errorf("lock the secure bits: %w", err)
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL && c > 0 { // past the last one
			break
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no new privileges: %w", err)
	}
	return loadFilter(program())
}

// loadFilter puts the filter on this thread, and so on all that comes of it.
func loadFilter(p []bpf.Instruction) error {
	raw, err := filter(p)
	if err != nil {
		return fmt.Errorf("build the system call filter: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(raw)), Filter: &raw[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("load the system call filter: %w", errno)
	}
	return nil
}
