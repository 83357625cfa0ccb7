package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc/status"
)

// shortDir is a new folder whose path leaves room for the name of a socket.
func shortDir() (string, error) { return os.MkdirTemp("/tmp", "ar") }

// removeAll removes dir, and complains if a mount or a busy file is in it.
func removeAll(t testing.TB, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Errorf("left behind: %v", err)
	}
}

// code is the gRPC code of err, by name.
func code(err error) string { return status.Code(err).String() }

// A process is one process of this computer. Its start time tells it from a
// later one with the same id.
type process struct {
	pid, parent int
	start       string
}

// processes returns all processes of this computer, in whatever namespace.
func processes(t testing.TB) map[int]process {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]process{}
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The name, in brackets, may hold blanks; what follows it does not.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if fields[0] == "Z" {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent, _ := strconv.Atoi(fields[1])
		all[pid] = process{pid, parent, fields[19]}
	}
	return all
}

// below returns the descendants of pid.
func below(t testing.TB, pid int) []process {
	t.Helper()
	all := processes(t)
	var found []process
	for _, p := range all {
		for up := p; up.parent != 0; up = all[up.parent] {
			if up.parent == pid {
				found = append(found, p)
				break
			}
		}
	}
	return found
}

// alive counts those of ps that still live.
func alive(t testing.TB, ps []process) int {
	t.Helper()
	all := processes(t)
	n := 0
	for _, p := range ps {
		if all[p.pid].start == p.start {
			n++
		}
	}
	return n
}

// footprint counts what a leak would leave: goroutines, descriptors, mounts and
// children of this process, control groups of VMs of r, and temporary files.
func footprint(t testing.TB, r *rig) map[string]int {
	t.Helper()
	count := func(pattern string) int {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	// Others mount too, container engines above all.
	ours := slices.DeleteFunc(lines(string(mounts)), func(m string) bool {
		return !strings.Contains(m, "arenero") && !strings.Contains(m, filepath.Dir(r.socket))
	})
	groups := 0
	filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && r.made(filepath.Base(path)) {
			groups++
		}
		return nil
	})
	return map[string]int{
		"goroutines":  runtime.NumGoroutine(),
		"descriptors": count("/proc/self/fd/*"),
		"mounts":      len(ours),
		"children":    len(below(t, os.Getpid())),
		"groups":      groups,
		"temporaries": count(filepath.Join(os.Getenv("TMPDIR"), "*")),
	}
}
