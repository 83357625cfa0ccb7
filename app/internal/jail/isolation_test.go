//go:build linux

package jail

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// python runs a program; its last line of output is the verdict.
func python(program string) string {
	return "/usr/bin/python3 - 2>&1 <<'END' | tail -n 1\n" + program + "\nEND"
}

// call makes a system call with the numbers of this architecture's C headers.
func call(name string, args ...string) string {
	return python(`import ctypes, os, re, platform
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": dict(clone=56, io_setup=206, mount=165, keyctl=250, bpf=321, perf_event_open=298, userfaultfd=323, io_uring_setup=425, open_by_handle_at=304, kexec_load=246, unshare=272, setns=308, init_module=175, clone3=435, ptrace=101, syslog=103, sethostname=170, settimeofday=164),
 "aarch64": dict(clone=220, io_setup=0, mount=40, keyctl=219, bpf=280, perf_event_open=241, userfaultfd=282, io_uring_setup=425, open_by_handle_at=265, kexec_load=104, unshare=97, setns=268, init_module=105, clone3=435, ptrace=117, syslog=116, sethostname=161, settimeofday=170)}[platform.machine()]
r = libc.syscall(numbers["` + name + `"], ` + strings.Join(append(args, "0", "0", "0", "0"), ", ") + `)
print("worked" if r != -1 else os.strerror(ctypes.get_errno()))`)
}

// TestIsolation proves from inside what a jail can't reach.
func TestIsolation(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Fatal("the programs of this test are in Python: run make setup")
	}
	t.Setenv("ARENERO_TEST_SECRET", "of-the-host")
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("of-the-host"), 0o644); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "bus")
	for _, addr := range []string{socket, "@arenero-test-" + filepath.Base(dir)} {
		ln, err := net.Listen("unix", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	port := tcp.Addr().(*net.TCPAddr).Port
	leak, err := os.Open(secret) // a descriptor of the host
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()

	connect := func(family, address string) string {
		return python("import socket\ns = socket.socket(socket." + family + ")\ntry:\n  s.connect(" + address + ")\n  print('worked')\nexcept OSError as e:\n  print(e.strerror)")
	}
	const (
		noFile  = "No such file or directory"
		refused = "Operation not permitted"
		denied  = "Permission denied"
	)
	tests := []struct {
		name, script string
		want         string // the whole output; "a|b" allows both
	}{
		{"user", "id -u; id -g; id -G", "1000\n1000\n1000|1000\n1000\n1000 65534"},
		{"file of the host", "cat " + secret + " 2>&1 | sed 's/.*: //'", noFile},
		{"folder of the host", "ls -A /tmp", ""},
		{"home of root", "ls /root 2>&1 | sed 's/.*: //'", noFile},
		{"homes", "ls /home", "user"},
		{"folders at the top", "ls -A / | grep -vxE 'bin|dev|etc|home|lib|lib32|lib64|libx32|opt|proc|run|sbin|tmp|usr|var'", ""},
		{"folders of var", "ls -A /var /var/lib 2>/dev/null | grep -E 'log|mail|spool|dpkg|docker'", ""},
		{"sockets", "ls -A /run /run/user; find /run /tmp /var /home -type s 2>/dev/null", "/run:\nuser\n\n/run/user:\n1000"},
		{"socket of the host", connect("AF_UNIX", "'"+socket+"'"), noFile},
		{"bus of the session", connect("AF_UNIX", fmt.Sprintf("'/run/user/%d/bus'", os.Getuid())), noFile},
		{"bus of the system", connect("AF_UNIX", "'/run/dbus/system_bus_socket'"), noFile},
		{"docker", connect("AF_UNIX", "'/var/run/docker.sock'"), noFile},
		{"abstract socket of the host", connect("AF_UNIX", "'\\0arenero-test-"+filepath.Base(dir)+"'"), "Connection refused"},
		{"loopback of the host", connect("AF_INET", fmt.Sprintf("('127.0.0.1', %d)", port)), "Connection refused"},
		{"network", connect("AF_INET", "('192.0.2.1', 80)"), "Network is unreachable"},
		{"interfaces", "ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev", "1"},
		{"process of the host", fmt.Sprintf("ls -d /proc/%d 2>&1 | sed 's/.*: //'; kill -0 %d 2>&1 | sed 's/.*: //'", 10*os.Getpid()+1000, os.Getppid()+100000), noFile + "\nNo such process"},
		{"all processes", "cat /proc/[0-9]*/comm | sort -u | grep -vxE 'arenero-agent|arenero-agen.*|sh|cat|sort|grep|[0-9]+'", ""},
		{"variables of the host", "env | grep -c of-the-host", "0"},
		{"variables of the agent", "cat /proc/1/environ 2>&1 | sed 's/.*: //'", denied},
		{"memory of the agent", "head -c 1 /proc/1/mem 2>&1 | sed 's/.*: //'", denied},
		{"descriptors of the agent", "ls /proc/1/fd 2>&1 | sed 's/.*: //'", denied},
		{"program of the agent", "readlink /proc/1/exe || echo no", "no"},
		{"program file of the agent", "sh -c 'echo x >>/opt/arenero/arenero-agent' 2>&1 | sed 's/.*: //'", "Text file busy|Permission denied"}, // the latter where its owner is root
		{"mount of the agent", "grep ' /opt/arenero/arenero-agent ' /proc/self/mountinfo | cut -d' ' -f6 | cut -d, -f1-3", "ro,nosuid,nodev"},
		{"root folder of the agent", "ls /proc/1/root/ 2>&1 | sed 's/.*: //'", denied},
		{"descriptors", "ls /proc/self/fd | sort -n | tr '\\n' ' '", "0 1 2 3"}, // 3 is the folder ls reads
		{"kill the agent", "for s in TERM INT HUP QUIT USR1 USR2 SEGV BUS ABRT PIPE KILL STOP; do kill -$s 1; done; sleep 0.2; echo alive", "alive"},
		{"forge faults of the agent", python(`import ctypes, fcntl, os, platform
libc = ctypes.CDLL(None)
queue, queue_thread = {"x86_64": (129, 297), "aarch64": (138, 240)}[platform.machine()]
for sig in range(1, 65):
  info = (ctypes.c_int * 32)(sig, 0, -1, os.getpid(), 1000)
  libc.syscall(queue, 1, sig, info)
  for thread in map(int, os.listdir("/proc/1/task")):
    libc.syscall(queue, thread, sig, info)
    libc.syscall(queue_thread, 1, thread, sig, info)
  r, w = os.pipe()
  fcntl.fcntl(r, fcntl.F_SETOWN, 1)
  try:
    fcntl.fcntl(r, 10, sig)
    fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC)
    os.write(w, b"x")
  except PermissionError:
    pass
print("alive")`), "alive"},
		{"limit the agent", python("import resource\ntry:\n  resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))\n  print('worked')\nexcept OSError as e:\n  print(e.strerror)"), refused},
		{"limit oneself", python("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))\nprint(resource.getrlimit(resource.RLIMIT_NOFILE))"), "(9, 9)"},
		{"a child for the agent", call("clone", "0x8011"), refused},
		{"trace the agent", call("ptrace", "16", "1"), refused},
		{"take a descriptor of the agent", python("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\nr = libc.syscall(438, os.pidfd_open(1), 3, 0)\nprint('worked' if r != -1 else os.strerror(ctypes.get_errno()))"), refused},
		{"capabilities", "grep -E '^Cap' /proc/self/status | cut -f2 | sort -u", "0000000000000000"},
		{"privileges", "grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status | cut -f2 | tr '\\n' ' '", "1 2"},
		{"write to the system", "for f in /usr/x /etc/x /bin/x /x /dev/x /proc/sys/kernel/hostname /etc/passwd; do (echo x >$f) 2>/dev/null && echo wrote $f; done", ""},
		{"devices", "ls /dev | tr '\\n' ' '", "fd full null ptmx pts random shm stderr stdin stdout tty urandom zero"},
		{"make a device", "mknod /tmp/m c 1 1 2>&1 | sed 's/.*: //'", refused},
		{"terminal of the host", "(exec </dev/tty) 2>&1 | sed 's/.*: //'", "No such device or address"},
		{"kernel memory", "for f in /proc/kcore /proc/keys /proc/kmsg /proc/timer_list; do head -c 8 $f 2>/dev/null; done", ""},
		{"sysrq", "(echo h >/proc/sysrq-trigger) 2>/dev/null && stat -c %t:%T /proc/sysrq-trigger", "1:3|"},
		{"control groups", "ls /sys/fs/cgroup 2>/dev/null; cut -d: -f3 /proc/self/cgroup | grep arenero", ""},
		{"host name", "hostname", "sandbox"},
		{"mount", call("mount", "0", "b'/tmp'", "b'tmpfs'"), refused},
		{"new user namespace", "unshare -U true 2>&1 | sed 's/.*: //'", refused},
		{"new mount namespace by clone", call("unshare", "0x20000"), refused},
		{"clone3", call("clone3", "0"), "Function not implemented"},
		{"enter a namespace", "nsenter -t 1 -m true >/dev/null 2>&1 && echo worked", ""},
		{"setns", call("setns", "0"), refused},
		{"raw socket", python("import socket\ntry:\n  socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\n  print('worked')\nexcept OSError as e:\n  print(e.strerror)"), refused},
		{"packet socket", python("import socket\ntry:\n  socket.socket(17, 3)\n  print('worked')\nexcept OSError as e:\n  print(e.strerror)"), "Address family not supported by protocol"},
		{"vsock", python("import socket\ntry:\n  socket.socket(40, 1)\n  print('worked')\nexcept OSError as e:\n  print(e.strerror)"), "Address family not supported by protocol"},
		{"keyring", call("keyctl", "0"), refused},
		{"bpf", call("bpf", "0"), refused},
		{"perf", call("perf_event_open", "0"), refused},
		{"userfaultfd", call("userfaultfd", "0"), refused},
		{"io_uring", call("io_uring_setup", "1"), "Function not implemented"},
		{"asynchronous input", call("io_setup", "1"), "Function not implemented"},
		{"file handles", call("open_by_handle_at", "0"), refused},
		{"kernel log", call("syslog", "3"), refused},
		{"kernel modules", call("init_module", "0"), refused},
		{"new kernel", call("kexec_load", "0"), refused},
		{"clock", call("settimeofday", "0"), refused},
		{"names", "getent hosts localhost | grep -c localhost", "1"},
		{"programs", "python3 -c 'print(6*7)' && bash -c 'echo $((6*7))' && ls -la /etc/ssl/certs | wc -l | grep -qv '^[0-3]$' && echo certs", "42\n42\ncerts"},
		{"pseudo terminal", python("import os\npid, fd = os.forkpty()\nif pid == 0:\n  os.execv('/bin/sh', ['sh', '-c', 'tty'])\nprint(os.read(fd, 99).decode().strip())"), "/dev/pts/0"},
		{"shared memory", python("import multiprocessing.shared_memory as m\ns = m.SharedMemory(create=True, size=99)\ns.unlink()\nprint('worked')"), "worked"},
	}
	j := startJail(t, newSpec(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, failed := sh(t, j, tt.script)
			for _, want := range strings.Split(tt.want, "|") {
				if got == want {
					return
				}
			}
			t.Errorf("in the jail %s\ngot  %q (%s)\nwant %q", tt.script, got, failed, tt.want)
		})
	}
}
