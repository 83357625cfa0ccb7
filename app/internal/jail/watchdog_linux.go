//go:build amd64 || arm64

package jail

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A watchdog stands in for the kernel's out-of-memory killer where no memory
// controller can be had. It holds against mistakes, not against malice. Its
// methods do nothing on nil.
type watchdog struct {
	tree  *tree
	limit int64 // bytes
	rest  int   // looks to leave out; only serve uses it
	on    chan bool
	quit  chan struct{}
	done  chan struct{}
}

const watchEvery = time.Second

func newWatchdog(t *tree, memoryMiB int) *watchdog {
	w := &watchdog{
		tree:  t,
		limit: int64(memoryMiB) << 20,
		on:    make(chan bool),
		quit:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	go w.serve()
	return w
}

func (w *watchdog) pause()  { w.set(false) }
func (w *watchdog) resume() { w.set(true) }

func (w *watchdog) set(on bool) {
	if w == nil {
		return
	}
	select {
	case w.on <- on:
	case <-w.done:
	}
}

func (w *watchdog) stop() {
	if w == nil {
		return
	}
	close(w.quit)
	<-w.done
}

func (w *watchdog) serve() {
	defer close(w.done)
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-w.quit:
			return
		case on := <-w.on:
			if on {
				ticker.Reset(watchEvery)
			} else {
				ticker.Stop()
			}
		case <-ticker.C:
			w.look()
		}
	}
}

// look ends the biggest process but the first if all together are too big.
func (w *watchdog) look() {
	if w.rest > 0 {
		w.rest--
		return
	}
	root := w.tree.cmd.Process.Pid
	all := descendants(root)
	if sum, _ := measure(all, root, resident); sum <= w.limit {
		return
	}
	// That counts what processes share as often as there are processes. The
	// exact sum is dear, so it is not made too often.
	began := time.Now()
	sum, biggest := measure(all, root, proportional)
	w.rest = int(20 * time.Since(began) / watchEvery)
	if sum <= w.limit || biggest == 0 {
		return
	}
	fd, ok := w.tree.open(biggest)
	if !ok {
		return
	}
	defer unix.Close(fd)
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
		w.tree.log.Warn("process ended: jail over its memory limit", "used_mib", sum>>20, "limit_mib", w.limit>>20)
	}
}

// measure adds up what the processes use, and finds the biggest but root.
func measure(all []proc, root int, use func(pid int) int64) (sum int64, biggest int) {
	var most int64
	for _, p := range all {
		n := use(p.pid)
		sum += n
		if n > most && p.pid != root {
			most, biggest = n, p.pid
		}
	}
	return sum, biggest
}

// resident is the memory of pid that is not the file system's.
func resident(pid int) int64 {
	return memoryOf(pid, "status", "RssAnon", "RssShmem")
}

// proportional is the same with what several processes share divided among
// them. It looks at every page.
func proportional(pid int) int64 {
	if n := memoryOf(pid, "smaps_rollup", "Pss_Anon", "Pss_Shmem"); n > 0 {
		return n
	}
	return resident(pid) // an old kernel, or a process that has just ended
}

// memoryOf reads a file of the first thread of pid that tells: one that has
// ended while others go on does not.
func memoryOf(pid int, file string, names ...string) int64 {
	for _, dir := range threadsOf(pid) {
		b, err := os.ReadFile(dir + "/" + file)
		if err != nil {
			continue
		}
		if n := parseMemory(string(b), names...); n > 0 {
			return n
		}
	}
	return 0
}

// parseMemory adds up the named lines of a file like /proc/PID/status.
func parseMemory(text string, names ...string) int64 {
	var sum int64
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		if !slices.Contains(names, name) {
			continue
		}
		if f := strings.Fields(rest); len(f) > 0 {
			if n, err := strconv.ParseInt(f[0], 10, 64); err == nil {
				sum += n << 10
			}
		}
	}
	return sum
}
