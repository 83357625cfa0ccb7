package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/e2e/screen"
)

// BenchmarkTray measures the tray, which is the engine too, while nothing runs,
// and how soon its icon is there, beside the least that a tray can be, and the
// least that one can be which has a window as well.
func BenchmarkTray(b *testing.B) {
	dir := b.TempDir()
	bare, hidden := filepath.Join(dir, "baretray"), filepath.Join(dir, "hiddenwindow")
	for _, args := range [][]string{
		{"CGO_ENABLED=0", "-o", bare, "./baretray"},
		{"CGO_ENABLED=1", "-tags", "gles", "-trimpath", "-ldflags", "-s -w", "-o", hidden, "./hiddenwindow"},
	} {
		build := exec.Command("go", append([]string{"build"}, args[1:]...)...)
		build.Env = append(os.Environ(), args[0])
		if out, err := build.CombinedOutput(); err != nil {
			b.Fatalf("build: %v\n%s", err, out)
		}
	}
	display, err := screen.Open(1060, 700)
	if err != nil {
		b.Fatal(err)
	}
	defer display.Close()
	for b.Loop() {
		printFigures(trayFigures(b, bare, hidden, display.Env()))
	}
}

func trayFigures(b *testing.B, bare, hidden string, display []string) []figure {
	const starts = 9
	var ours, theirs, windows []time.Duration
	var mine, other, window cost
	for i := range starts {
		last := i == starts-1
		took, spent := startTray(b, last, func(r *engineRig) *exec.Cmd { return r.command("tray") })
		ours, mine = append(ours, took), spent
		program := func(path string, env ...string) func(r *engineRig) *exec.Cmd {
			return func(r *engineRig) *exec.Cmd {
				cmd := r.command()
				cmd.Path, cmd.Args, cmd.Env = path, []string{path}, append(cmd.Env, env...)
				return cmd
			}
		}
		took, spent = startTray(b, last, program(bare))
		theirs, other = append(theirs, took), spent
		took, spent = startTray(b, last, program(hidden, append(display, "LANG=en_US.UTF-8")...))
		windows, window = append(windows, took), spent
	}
	const (
		anchor = "a bare systray program"
		fyne   = "a hidden window in Fyne"
	)
	return []figure{
		beside("tray with engine, start to icon", median(ours), anchor, median(theirs), 2),
		{what: "tray with engine, nothing running, resident", ours: mine.mib, theirs: 34, unit: "MiB", goal: 1},
		{"tray with engine, nothing running, resident", anchor, mine.mib, other.mib, "MiB", 0},
		{what: "tray with engine, nothing running, wake-ups", ours: mine.wakes, theirs: 1, unit: "/s", goal: 1},
		{"tray with engine, nothing running, wake-ups a minute", anchor, 60 * mine.wakes, 60 * other.wakes, "/min", 0},
		{"tray with engine, nothing running, processor in a minute", anchor, mine.cpu, other.cpu, "ms", 0},
		beside("tray with engine, start to icon", median(ours), fyne, median(windows), 0),
		{"tray with engine, nothing running, resident", fyne, mine.mib, window.mib, "MiB", 0},
		{"tray with engine, nothing running, wake-ups a minute", fyne, 60 * mine.wakes, 60 * window.wakes, "/min", 0},
		{"tray with engine, nothing running, processor in a minute", fyne, mine.cpu, window.cpu, "ms", 0},
	}
}

// A cost is what a program needs while nothing happens.
type cost struct{ mib, wakes, cpu float64 }

// idleFor is how long a program is looked at.
const idleFor = time.Minute

// startTray measures the time from the start of a program to its icon, and if
// idle is set, what it needs while nothing happens.
func startTray(b *testing.B, idle bool, command func(r *engineRig) *exec.Cmd) (took time.Duration, spent cost) {
	r, bus := newEngineRig(b), newBus(b)
	h := newTrayHost(b, bus)
	defer h.close()
	cmd := command(r)
	cmd.Env = append(cmd.Env, "DBUS_SESSION_BUS_ADDRESS="+bus)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		interrupt(cmd.Process.Pid)
		cmd.Wait()
	}()
	select {
	case <-h.came:
		took = time.Since(begin)
	case <-time.After(time.Minute):
		b.Fatal("there is no icon")
	}
	if !idle {
		return took, cost{}
	}
	time.Sleep(10 * time.Second) // until all that belongs to the start is done
	before := processorTime(b, cmd.Process.Pid)
	spent.wakes = wakeUps(b, cmd.Process.Pid, idleFor)
	spent.cpu = millis(processorTime(b, cmd.Process.Pid)-before) * float64(time.Minute/idleFor)
	spent.mib = float64(resident(b, cmd.Process.Pid)) / (1 << 20)
	return took, spent
}

// processorTime is how long a process has had a processor.
func processorTime(b *testing.B, pid int) (sum time.Duration) {
	b.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "schedstat"))
	if err != nil || len(tasks) == 0 {
		b.Fatalf("process %d: %v", pid, err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		ns, _ := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		sum += time.Duration(ns)
	}
	return sum
}
