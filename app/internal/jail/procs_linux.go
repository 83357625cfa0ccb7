//go:build amd64 || arm64

package jail

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// A proc is one process as /proc shows it.
type proc struct {
	pid, parent int
	state       byte // as in /proc/PID/stat
}

// descendants returns the process root and all below it, parents first. In a
// process namespace every process is below the first one.
func descendants(root int) []proc {
	p, ok := readProc(root)
	if !ok {
		return nil
	}
	all := []proc{p}
	for i := 0; i < len(all); i++ {
		for _, pid := range childrenOf(all[i].pid) {
			if c, ok := readProc(pid); ok {
				all = append(all, c)
			}
		}
	}
	return all
}

// A processState is what all threads of a process do.
type processState int

const (
	stateGone processState = iota // all have ended
	stateStopped
	stateInKernel // the others are waiting where no signal reaches them
	stateRunning
)

// stateOf looks at every thread: the first may have ended, which makes the
// process look like a zombie, or have stopped before the others.
func stateOf(pid int) processState {
	all := stateGone
	for _, dir := range threadsOf(pid) {
		b, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		if p, ok := parseStat(pid, b); ok {
			all = max(all, stateOfThread(p.state))
		}
	}
	return all
}

func stateOfThread(letter byte) processState {
	switch letter {
	case 'Z', 'X':
		return stateGone
	case 'T', 't':
		return stateStopped
	case 'D':
		return stateInKernel
	}
	return stateRunning
}

// threadsOf lists the folders in /proc of every thread of pid.
func threadsOf(pid int) []string {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	out := make([]string, len(tasks))
	for i, t := range tasks {
		out[i] = dir + "/" + t.Name()
	}
	return out
}

func readProc(pid int) (proc, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return proc{}, false
	}
	return parseStat(pid, b)
}

// parseStat reads the state and the parent; the name before them may hold
// anything.
func parseStat(pid int, b []byte) (proc, bool) {
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return proc{}, false
	}
	f := strings.Fields(string(b[i+1:]))
	if len(f) < 2 || len(f[0]) != 1 {
		return proc{}, false
	}
	parent, err := strconv.Atoi(f[1])
	return proc{pid, parent, f[0][0]}, err == nil
}

// childrenOf lists the children of every thread of pid.
func childrenOf(pid int) []int {
	var out []int
	for _, dir := range threadsOf(pid) {
		b, err := os.ReadFile(dir + "/children")
		if err != nil {
			continue
		}
		for _, f := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(f); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}
