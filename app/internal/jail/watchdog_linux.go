//go:build amd64 || arm64

package jail

import (
	"os"
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
	root := w.tree.cmd.Process.Pid
	var sum, most int64
	biggest := 0
	for _, p := range descendants(root) {
		n := resident(p.pid)
		sum += n
		if n > most && p.pid != root {
			most, biggest = n, p.pid
		}
	}
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

// resident is the memory that only ending pid and its like would free.
func resident(pid int) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	return parseResident(string(b))
}

func parseResident(status string) int64 {
	var sum int64
	for line := range strings.Lines(status) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "RssAnon" && name != "RssShmem" {
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
