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
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []int
	for _, t := range tasks {
		b, err := os.ReadFile(dir + "/" + t.Name() + "/children")
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
