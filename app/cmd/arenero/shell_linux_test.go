package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A console is a terminal with one of our programs in it.
type console struct {
	t   *testing.T
	tty *os.File
	cmd *exec.Cmd

	mu   sync.Mutex // guards what follows
	said []byte     // since what was expected last
	all  []byte     // from the beginning
	over bool       // nobody has the terminal open any more
}

func newConsole(t *testing.T, env []string, dir string, args ...string) *console {
	t.Helper()
	c := &console{t: t, cmd: exec.Command(filepath.Join(dir, "arenero"), args...)}
	c.cmd.Env = append(os.Environ(), env...)
	var err error
	if c.tty, err = pty.StartWithSize(c.cmd, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.tty.Close()
	})
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := c.tty.Read(buf)
			c.mu.Lock()
			c.said, c.all = append(c.said, buf[:n]...), append(c.all, buf[:n]...)
			c.over = err != nil
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return c
}

// says tells whether what was said since the last time matches, as expect does.
func (c *console) says(pattern string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := regexp.MustCompile(pattern).FindIndex(c.said)
	if at != nil {
		c.said = c.said[at[1]:]
	}
	return at != nil
}

// expect waits until what was said since the last time matches.
func (c *console) expect(pattern string) {
	c.t.Helper()
	want := regexp.MustCompile(pattern)
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		c.mu.Lock()
		at := want.FindIndex(c.said)
		if at != nil {
			c.said = c.said[at[1]:]
		}
		said, over := string(c.said), c.over
		c.mu.Unlock()
		if at != nil {
			return
		}
		if over || time.Now().After(end) {
			c.t.Fatalf("no %q in %q", pattern, said)
		}
	}
}

func (c *console) typeIn(text string) {
	c.t.Helper()
	if _, err := c.tty.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the program, and returns its exit code.
func (c *console) ends() int {
	c.t.Helper()
	timer := time.AfterFunc(time.Minute, func() { c.cmd.Process.Kill() })
	defer timer.Stop()
	c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

// modes are those of the terminal, as text that can be compared.
func (c *console) modes() unix.Termios {
	c.t.Helper()
	modes, err := unix.IoctlGetTermios(int(c.tty.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	return *modes
}

// A terminal is that of a sandbox: its size, its keys, its colours, its end.
func TestShell(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	home, env, err := newHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(t, dir, home) })
	env = append(env, "TERM=screen-256color", "COLORTERM=truecolor")
	make := exec.Command(filepath.Join(dir, "arenero"), "run", "-n", "web")
	make.Env = append(os.Environ(), env...)
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}

	t.Run("keys, size and exit code", func(t *testing.T) {
		c := newConsole(t, env, dir, "shell", "web", "-e", "MINE=yes")
		before := c.modes() // the program may have changed them already; see the next test
		c.expect(`\$ $`)
		c.typeIn("stty size; echo $TERM-$COLORTERM-$MINE; id -un; tty\r")
		c.expect(`30 100\r\n`)
		c.expect(`screen-256color-truecolor-yes\r\nuser\r\n/dev/pts/`)
		if err := pty.Setsize(c.tty, &pty.Winsize{Rows: 41, Cols: 123}); err != nil {
			t.Fatal(err)
		}
		c.typeIn("until [ \"$(stty size)\" = '41 123' ]; do :; done; echo re'sized'\r")
		c.expect(`resized\r\n`)
		// It says so itself: before it has the terminal, its end is not what the
		// shell takes a Ctrl-C for.
		c.typeIn("sh -c \"echo wait'ing'; exec sleep 1000\"\r")
		c.expect(`waiting\r\n`)
		c.typeIn("\x03")
		c.expect(`\$ $`)
		c.typeIn("echo \"<$?>\"\r")
		c.expect(`<130>`)
		c.typeIn("exit 5\r")
		if got := c.ends(); got != 5 {
			t.Errorf("exit code = %d, want 5", got)
		}
		if after := c.modes(); after.Lflag&unix.ICANON == 0 || after.Lflag&unix.ECHO == 0 || after.Cflag != before.Cflag {
			t.Errorf("modes of the terminal afterwards = %+v", after)
		}
	})

	t.Run("ended from outside", func(t *testing.T) {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			c := newConsole(t, env, dir, "shell", "web")
			c.expect(`\$ $`)
			if c.modes().Lflag&unix.ICANON != 0 {
				t.Error("keys are not passed on as they are")
			}
			c.cmd.Process.Signal(s)
			if got := c.ends(); got != exitInterrupted {
				t.Errorf("exit code after %v = %d, want %d", s, got, exitInterrupted)
			}
			if after := c.modes(); after.Lflag&unix.ICANON == 0 || after.Lflag&unix.ECHO == 0 {
				t.Errorf("modes of the terminal after %v = %+v", s, after)
			}
		}
	})

	t.Run("its engine is killed", func(t *testing.T) {
		c := newConsole(t, env, dir, "shell", "web")
		c.expect(`\$ $`)
		c.typeIn("state=kept; echo re'ady'\r")
		c.expect(`ready\r\n`)
		was := enginePID(t, env, dir)
		syscall.Kill(was, syscall.SIGKILL)
		for end := time.Now().Add(time.Minute); enginePID(t, env, dir) == was; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("there is no other engine")
			}
		}
		// What was typed into the gap may be lost.
		for end := time.Now().Add(time.Minute); !c.says(`<kept>`); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the shell does not go on")
			}
			c.typeIn("echo \"<$state>\"\r")
		}
		c.typeIn("exit 6\r")
		if got := c.ends(); got != 6 {
			t.Errorf("exit code = %d, want 6", got)
		}
		if after := c.modes(); after.Lflag&unix.ICANON == 0 || after.Lflag&unix.ECHO == 0 {
			t.Errorf("modes of the terminal = %+v", after)
		}
	})

	t.Run("its sandbox ends", func(t *testing.T) {
		other := exec.Command(filepath.Join(dir, "arenero"), "run", "-n", "short")
		other.Env = append(os.Environ(), env...)
		if out, err := other.CombinedOutput(); err != nil {
			t.Fatalf("run: %v\n%s", err, out)
		}
		c := newConsole(t, env, dir, "shell", "short")
		c.expect(`\$ $`)
		kill := exec.Command(filepath.Join(dir, "arenero"), "kill", "short")
		kill.Env = append(os.Environ(), env...)
		if out, err := kill.CombinedOutput(); err != nil {
			t.Fatalf("kill: %v\n%s", err, out)
		}
		if got := c.ends(); got != exitFailed {
			t.Errorf("exit code = %d, want %d", got, exitFailed)
		}
		c.expect(`arenero: the sandbox has ended`)
		if after := c.modes(); after.Lflag&unix.ICANON == 0 {
			t.Errorf("modes of the terminal = %+v", after)
		}
	})

	t.Run("Ctrl-C to a command", func(t *testing.T) {
		c := newConsole(t, env, dir, "exec", "web", "sh", "-c", `trap 'echo got it; exit 9' INT TERM; echo re"ady"; while :; do sleep 0.05; done`)
		c.expect(`ready`)
		c.typeIn("\x03")
		c.expect(`got it`)
		if got := c.ends(); got != 9 {
			t.Errorf("exit code = %d, want 9", got)
		}
	})

	t.Run("third Ctrl-C to a command", func(t *testing.T) {
		c := newConsole(t, env, dir, "exec", "web", "sh", "-c", `trap 'echo no' INT; echo re"ady"; while :; do sleep 0.05; done`)
		c.expect(`ready`)
		c.typeIn("\x03")
		c.expect(`no\r\n`)
		c.typeIn("\x03")
		c.expect(`the command goes on; once more kills it`)
		c.typeIn("\x03")
		c.expect(`arenero: cancelled`)
		if got := c.ends(); got != exitInterrupted {
			t.Errorf("exit code = %d, want %d", got, exitInterrupted)
		}
	})

	t.Run("signal to a command", func(t *testing.T) {
		c := newConsole(t, env, dir, "exec", "web", "sh", "-c", `trap 'exit 11' TERM; echo re"ady"; while :; do sleep 0.05; done`)
		c.expect(`ready`)
		c.cmd.Process.Signal(syscall.SIGTERM)
		if got := c.ends(); got != 11 {
			t.Errorf("exit code = %d, want 11", got)
		}
	})

	t.Run("no terminal", func(t *testing.T) {
		cmd := exec.Command(filepath.Join(dir, "arenero"), "shell", "web")
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "needs a terminal") || cmd.ProcessState.ExitCode() != exitFailed {
			t.Errorf("%v: %s", err, out)
		}
	})

	t.Run("bar", func(t *testing.T) {
		big := filepath.Join(t.TempDir(), "big")
		if err := os.WriteFile(big, bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newConsole(t, env, dir, "cp", big, "web:")
		if got := c.ends(); got != 0 {
			t.Errorf("exit code = %d", got)
		}
		c.expect(`Copied 1 file, 1.0 MiB.`)
	})
}

// enginePID is the process of the engine, or 0.
func enginePID(t *testing.T, env []string, dir string) int {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "arenero"), "engine", "--status", "--json")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return 0
	}
	var status struct{ PID int }
	if err := json.Unmarshal(out, &status); err != nil {
		t.Fatalf("status %q: %v", out, err)
	}
	return status.PID
}

// A terminal whose engine has gone for good ends, says why, and leaves the
// terminal that it was in as it was.
func TestShellWithoutEngine(t *testing.T) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	own := t.TempDir() // programs that can be made useless
	for _, name := range []string{"arenero", "arenero-agent"} {
		program, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(own, name), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for at := own; strings.HasPrefix(at, os.TempDir()+"/"); at = filepath.Dir(at) { // ordinary users run the agent
		if err := os.Chmod(at, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	home, env, err := newHome(own)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(t, dir, home) })
	run := exec.Command(filepath.Join(own, "arenero"), "run", "-n", "web")
	run.Env = append(os.Environ(), env...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	c := newConsole(t, env, own, "shell", "web")
	c.expect(`\$ $`)
	pid := enginePID(t, env, dir)
	if err := os.Chmod(filepath.Join(own, "arenero"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := c.ends(); got != exitFailed {
		t.Errorf("exit code = %d, want %d", got, exitFailed)
	}
	c.expect(`arenero: Arenero can't be started`)
	if after := c.modes(); after.Lflag&unix.ICANON == 0 || after.Lflag&unix.ECHO == 0 {
		t.Errorf("modes of the terminal = %+v", after)
	}
}
