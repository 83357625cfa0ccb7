//go:build linux

package jail

import (
	"os"
	"strconv"
	"testing"

	"github.com/arenero/arenero/app/internal/jail/nest"
)

func TestLimits(t *testing.T) {
	spec := newSpec(t)
	spec.MemoryMiB, spec.DiskMiB, spec.PIDs = 512, 64, 100
	tests := []struct {
		name, script, want string
	}{
		{"memory of one process", python("try:\n  b = bytearray(700 << 20)\n  print('worked')\nexcept MemoryError:\n  print('MemoryError')"), "MemoryError"},
		{"enough memory", python("b = bytearray(300 << 20)\nprint('worked')"), "worked"},
		{"memory of many", python(`import subprocess, sys, time
hogs = [subprocess.Popen([sys.executable, "-c", "b = bytearray(300 << 20)\nimport time\ntime.sleep(600)"]) for _ in range(3)]
while all(h.poll() is None for h in hogs): time.sleep(0.05)
print("one ended")
for h in hogs: h.kill(); h.wait()`), "one ended"},
		{"disk full", "head -c 100M /dev/zero 2>/dev/null >big || echo full; stat -c %s big | awk '{print ($1 < 68000000)}'; rm big", "full\n1"},
		{"disk full elsewhere", "head -c 40M /dev/zero >a; head -c 40M /dev/zero 2>/dev/null >/tmp/b || echo full; rm a /tmp/b", "full"},
		{"disk full in memory", "head -c 40M /dev/zero >a; head -c 40M /dev/zero 2>/dev/null >/dev/shm/b || echo full; rm a /dev/shm/b", "full"},
		{"file size seen", "df -m ~ | awk 'NR==2 {print $2}'", "64"},
		{"no core file", "ulimit -c", "0"},
		{"many files", "mkdir m && cd m && seq 10000 | xargs touch && ls | wc -l; cd; rm -r m", "10000"},
		{"watches", "cat /proc/sys/user/max_inotify_instances /proc/sys/user/max_inotify_watches", "64\n65536"},
		{"watchers", python("import ctypes\nlibc = ctypes.CDLL(None)\nn = 0\nwhile libc.inotify_init() >= 0: n += 1\nprint(n)"), "64"},
		{"signals", "grep SigQ /proc/self/status | cut -d/ -f2", "4096"},
		{"raised limits", python(`import resource
for which in resource.RLIMIT_NPROC, resource.RLIMIT_DATA:
  soft, hard = resource.getrlimit(which)
  try: resource.setrlimit(which, (hard, hard))
  except (ValueError, OSError): pass
  print(soft == resource.getrlimit(which)[0], end=" ")`), "True True"},
		{"fork bomb", `n=0; for i in $(seq 300); do sleep 600 & done 2>/dev/null; echo made`, ""}, // the shell may give up
		{"the agent lives on", "kill -KILL -1; echo yes", "yes"},                                  // -1 spares the shell
	}
	j := startJail(t, spec)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, failed := sh(t, j, tt.script)
			if tt.want != "" && out != tt.want {
				t.Errorf("got %q (%s), want %q", out, failed, tt.want)
			}
			if n := threads(j); n > spec.PIDs+nest.Reserve {
				t.Errorf("%d threads in the jail", n)
			}
		})
	}
}

// threads counts the threads of all processes in the jail.
func threads(j Jail) int {
	n := 0
	for _, p := range descendants(j.(*tree).cmd.Process.Pid) {
		if tasks, err := os.ReadDir("/proc/" + strconv.Itoa(p.pid) + "/task"); err == nil {
			n += len(tasks)
		}
	}
	return n
}

// What processes share counts once, and the memory of a process counts that
// looks as if it had ended, because its first thread has.
func TestMeasure(t *testing.T) {
	const block = 100 << 20
	tests := []struct {
		name, script string
		blocks       int64
	}{
		{"shared by children", `setsid /usr/bin/python3 -c '
import os, time
b = b"x" * (100 << 20)
for _ in range(4):
  if os.fork() == 0: break
open("made", "a").write(".")
time.sleep(600)
' >/dev/null 2>&1 &
until [ "$(cat made 2>/dev/null)" = ..... ]; do sleep 0.01; done`, 1},
		{"first thread ended", `setsid /usr/bin/python3 -c '
import ctypes, platform, threading, time
b = b"x" * (100 << 20)
def wait():
  while ") Z " not in open("/proc/self/stat").read(): time.sleep(0.01)
  open("ended", "w")
  time.sleep(600)
threading.Thread(target=wait).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
' >/dev/null 2>&1 &
until [ -e ended ]; do sleep 0.01; done`, 1},
	}
	j := startJail(t, newSpec(t))
	root := j.(*tree).cmd.Process.Pid
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sh(t, j, tt.script)
			for name, use := range map[string]func(int) int64{"proportional": proportional, "resident": resident} {
				sum, biggest := measure(descendants(root), root, use)
				if sum < tt.blocks*block || biggest == 0 {
					t.Errorf("%s = %d, biggest %d, want at least %d", name, sum, biggest, tt.blocks*block)
				}
				if name == "proportional" && sum >= (tt.blocks+1)*block {
					t.Errorf("%s = %d, want less than %d", name, sum, (tt.blocks+1)*block)
				}
			}
			sh(t, j, "kill -KILL -1") // -1 spares the shell
		})
	}
}
