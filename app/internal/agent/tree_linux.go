package agent

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// markerName is the variable by which the descendants of a process are known
// even when they have left its group, its session and its children.
const markerName = "ARENERO_TREE"

// A tree is a process with all that came of it: its descendants, who shares a
// group or a session with one of them, and who carries its marker, if it has one.
type tree struct {
	root   int
	marker string
}

// A procStat is what /proc tells of a process.
type procStat struct {
	pid, parent, group, session int
	state                       byte
}

// signal reaches every member, and returns how many there were. SIGKILL stops
// them all first, so that none can have a child unseen.
func (t tree) signal(sig syscall.Signal) int {
	if sig != syscall.SIGKILL {
		all := t.members(nil)
		for pid := range all {
			syscall.Kill(pid, sig)
		}
		return len(all)
	}
	seen := map[int]bool{}
	for range 100 { // ends when a look finds nobody new
		known := len(seen)
		for pid := range t.members(seen) {
			if !seen[pid] {
				seen[pid] = true
				syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		if len(seen) == known {
			break
		}
	}
	for pid := range seen {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return len(seen)
}

// gone waits until no member lives, or stop is closed.
func (t tree) gone(stop <-chan struct{}) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for len(t.members(nil)) > 0 {
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}

// members are the living of the tree. Those in known belong to it whatever
// they look like.
func (t tree) members(known map[int]bool) map[int]bool {
	all := readProcs()
	in, groups, sessions := map[int]bool{}, map[int]bool{t.root: true}, map[int]bool{t.root: true}
	self := os.Getpid()
	mark := []byte(markerName + "=" + t.marker)
	for again := true; again; {
		again = false
		for _, p := range all {
			if in[p.pid] || p.pid == self || p.pid == 1 {
				continue
			}
			// Zombies count as parents until they are gone, not as members.
			if p.pid == t.root || known[p.pid] || in[p.parent] || groups[p.group] || sessions[p.session] ||
				t.marker != "" && carries(p.pid, mark) {
				in[p.pid] = true
				again = true
				if p.pid == p.group {
					groups[p.group] = true
				}
				if p.pid == p.session {
					sessions[p.session] = true
				}
			}
		}
	}
	for _, p := range all {
		if p.state == 'Z' || p.state == 'X' {
			delete(in, p.pid)
		}
	}
	return in
}

// carries reports whether the environment of pid has the entry mark.
func carries(pid int, mark []byte) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(entry, mark) {
			return true
		}
	}
	return false
}

// readProcs reads the process table.
func readProcs() []procStat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var all []procStat
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		data, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if p, ok := parseStat(pid, data); ok {
			all = append(all, p)
		}
	}
	return all
}

// parseStat reads a line of /proc/PID/stat. The name in it may hold anything,
// so it is left behind by its last parenthesis.
func parseStat(pid int, data []byte) (procStat, bool) {
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) < 4 || len(f[0]) != 1 {
		return procStat{}, false
	}
	p := procStat{pid: pid, state: f[0][0]}
	for i, to := range []*int{&p.parent, &p.group, &p.session} {
		n, err := strconv.Atoi(string(f[i+1]))
		if err != nil {
			return procStat{}, false
		}
		*to = n
	}
	return p, true
}
