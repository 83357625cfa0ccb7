//go:build linux

package jail

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ticks is the processor time that all processes of the jail have used.
func ticks(t testing.TB, j Jail) int {
	t.Helper()
	sum := 0
	for _, p := range descendants(j.(*tree).cmd.Process.Pid) {
		b, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		for _, s := range f[11:13] {
			n, err := strconv.Atoi(s)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}

// freezers are the two ways to freeze: by control group, if this computer lets
// us make one, and by signals.
func freezers(t *testing.T, run func(t *testing.T, j Jail)) {
	t.Run("group", func(t *testing.T) {
		j := startJail(t, newSpec(t))
		if j.(*tree).group == nil {
			t.Log("no control group can be made here, so this is by signals too")
		}
		run(t, j)
	})
	t.Run("signals", func(t *testing.T) {
		j := startJail(t, newSpec(t))
		tr := j.(*tree)
		tr.freezing.Lock()
		g := tr.group
		tr.group = nil
		tr.freezing.Unlock()
		t.Cleanup(func() {
			j.Kill()
			g.remove()
		})
		run(t, j)
	})
}

func TestFreeze(t *testing.T) {
	freezers(t, func(t *testing.T, j Jail) {
		ctx := context.Background()
		// Busy loops: one as it comes, one in a session of its own whose parent
		// has gone, and one that makes new processes all the time.
		sh(t, j, `
sh -c 'while :; do :; done' >/dev/null 2>&1 &
setsid sh -c 'while :; do :; done' >/dev/null 2>&1 &
setsid sh -c 'while :; do /bin/true; done' >/dev/null 2>&1 &
sleep 1234 >/dev/null 2>&1 & kill -STOP $!`)
		eventually(t, "the loops run", func() bool { return ticks(t, j) > 20 })
		for range 3 {
			if err := j.Freeze(ctx); err != nil {
				t.Fatal(err)
			}
			if err := j.Freeze(ctx); err != nil {
				t.Errorf("second Freeze: %v", err)
			}
			before := ticks(t, j)
			time.Sleep(100 * time.Millisecond) // nothing may happen in it, however long
			if after := ticks(t, j); after != before {
				t.Errorf("%d ticks passed in a frozen jail", after-before)
			}
			dial, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			if c, err := j.Dial(dial, shellPort); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Dial into a frozen jail = %v, %v", c, err)
			}
			cancel()
			if err := j.Thaw(ctx); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the loops run again", func() bool { return ticks(t, j) > before+20 })
			out, _ := sh(t, j, "cat /proc/[0-9]*/stat 2>/dev/null | grep -c ' T '")
			if out != "1" {
				t.Errorf("%s processes stopped after Thaw, want the 1 that the user stopped", out)
			}
		}
	})
}

func TestFreezeKeepsConnections(t *testing.T) {
	freezers(t, func(t *testing.T, j Jail) {
		ctx := context.Background()
		sh(t, j, `setsid /usr/bin/python3 -c '
import socket
s = socket.create_server(("127.0.0.1", 7000))
while True:
  c, _ = s.accept()
  while b := c.recv(100): c.sendall(b)
' >/dev/null 2>&1 &`)
		var c net.Conn
		eventually(t, "the echo server listens", func() bool {
			var err error
			c, err = j.Dial(ctx, 7000)
			return err == nil
		})
		defer c.Close()
		if err := j.Freeze(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if err := j.Thaw(ctx); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 5)
		c.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := c.Read(b); string(b[:n]) != "hello" {
			t.Errorf("echo = %q, %v", b[:n], err)
		}
	})
}

func TestKillFrozen(t *testing.T) {
	freezers(t, func(t *testing.T, j Jail) {
		if err := j.Freeze(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := j.Kill(); err != nil {
			t.Fatal(err)
		}
		<-j.Done()
	})
}

// A fork bomb does not outrun the freezer.
func TestFreezeForkBomb(t *testing.T) {
	freezers(t, func(t *testing.T, j Jail) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		sh(t, j, `setsid sh -c 'f() { f | f & }; f' >/dev/null 2>&1 &`)
		if err := j.Freeze(ctx); err != nil {
			t.Fatal(err)
		}
		before := ticks(t, j)
		time.Sleep(50 * time.Millisecond)
		if after := ticks(t, j); after != before {
			t.Errorf("%d ticks passed in a frozen jail", after-before)
		}
	})
}

// A process is frozen that looks as if it had ended, because its first thread
// has, and so are processes that wake each other.
func TestFreezeEvaders(t *testing.T) {
	tests := []struct{ name, script string }{
		{"first thread ended", `setsid /usr/bin/python3 -c '
import ctypes, platform, threading
def loop():
  while True: pass
threading.Thread(target=loop).start()
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
' >/dev/null 2>&1 &`},
		{"waking each other", `for i in 1 2 3; do setsid sh -c 'while :; do kill -CONT -1; done' >/dev/null 2>&1 & done`},
	}
	freezers(t, func(t *testing.T, j Jail) {
		for _, tt := range tests {
			sh(t, j, tt.script)
			used := ticks(t, j)
			eventually(t, tt.name+": the loop runs", func() bool { return ticks(t, j) > used+20 })
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			err := j.Freeze(ctx)
			cancel()
			if err != nil {
				t.Fatalf("%s: Freeze: %v", tt.name, err)
			}
			before := ticks(t, j)
			time.Sleep(50 * time.Millisecond) // nothing may happen in it, however long
			if after := ticks(t, j); after != before {
				t.Errorf("%s: %d ticks passed in a frozen jail", tt.name, after-before)
			}
			if err := j.Thaw(context.Background()); err != nil {
				t.Fatal(err)
			}
			sh(t, j, "kill -KILL -1") // -1 spares the shell
		}
	})
}
