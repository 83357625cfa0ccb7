//go:build amd64 || arm64

package jail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/jail/nest"
)

// groupPrefix begins the name of every control group of ours; the id of the
// process that made it and of the jail follow.
const groupPrefix = "arenero-"

// A group is the control group (v2) of one jail. Its methods do nothing on a
// nil group, which stands for a computer where none can be made.
type group struct {
	dir    string
	fd     int  // open while the first process is being started
	memory bool // the memory limit holds
	pids   bool
	cpu    bool
}

// newGroup makes the control group for a jail, nil if that can't be done.
func newGroup(spec Spec) *group {
	for _, parent := range groupParents() {
		sweepGroups(parent)
		g, err := makeGroup(parent, fmt.Sprintf("%s%d-%s", groupPrefix, os.Getpid(), spec.ID), spec)
		if err == nil {
			return g
		}
	}
	return nil
}

// groupParents lists the folders where a jail's group might go, the best
// first: one where the controllers we want are on. The parent of our own group
// comes into it because a group with processes can't hand controllers on.
func groupParents() []string {
	root := groupRoot()
	own, ok := ownGroup()
	if root == "" || !ok {
		return nil
	}
	dirs := []string{filepath.Join(root, own)}
	if own != "/" {
		dirs = append(dirs, filepath.Join(root, filepath.Dir(own)))
	}
	if len(dirs) == 2 && controllers(dirs[1]) > controllers(dirs[0]) {
		dirs[0], dirs[1] = dirs[1], dirs[0]
	}
	var out []string
	for _, d := range dirs {
		if unix.Access(d, unix.W_OK) == nil && unix.Access(filepath.Join(d, "cgroup.procs"), unix.W_OK) == nil {
			out = append(out, d)
		}
	}
	return out
}

// controllers counts those of ours that a child of dir would have.
func controllers(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	if err != nil {
		return 0
	}
	n := 0
	for _, c := range strings.Fields(string(b)) {
		if c == "memory" || c == "pids" || c == "cpu" {
			n++
		}
	}
	return n
}

// groupRoot is where the v2 hierarchy is mounted, empty if it is not.
func groupRoot() string {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		before, after, _ := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if len(f) > 4 && len(g) > 0 && g[0] == "cgroup2" && f[3] == "/" {
			return f[4]
		}
	}
	return ""
}

func ownGroup() (string, bool) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(b)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path, true
		}
	}
	return "", false
}

// sweepGroups removes the groups of processes that were killed before they
// could, with what the system has left in them: a frozen jail now and then
// outlives its owner, though it is to die with it.
func sweepGroups(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), groupPrefix)
		pid, _, _ := strings.Cut(rest, "-")
		n, err := strconv.Atoi(pid)
		if !ours || err != nil {
			continue
		}
		if processLives(n) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if orphaned(dir) {
			os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0)
		}
		unix.Rmdir(dir) // which goes once it is empty, if only the next time
	}
}

// orphaned reports whether nobody has the processes in a group any more: the
// first of them has been left to process 1. One that can't be seen from here is
// somebody else's.
func orphaned(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return false
	}
	all := map[int]proc{}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil || pid == 0 {
			return false
		}
		if p, ok := readProc(pid); ok {
			all[pid] = p
		}
	}
	for _, p := range all {
		if _, inside := all[p.parent]; !inside && p.parent != 1 {
			return false
		}
	}
	return len(all) > 0
}

func makeGroup(parent, name string, spec Spec) (*group, error) {
	g := &group{dir: filepath.Join(parent, name), fd: -1}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, err
	}
	fd, err := unix.Open(g.dir, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		g.remove()
		return nil, err
	}
	g.fd = fd
	g.limit(spec)
	return g, nil
}

// limit sets what the controllers here allow, and notes what holds.
func (g *group) limit(spec Spec) {
	// Files in a jail are memory too, and have a limit of their own.
	memory := int64(spec.MemoryMiB+spec.DiskMiB) << 20
	g.memory = g.write("memory.max", strconv.FormatInt(memory, 10)) == nil
	g.write("memory.swap.max", "0")
	g.write("memory.oom.group", "0")
	g.pids = g.write("pids.max", strconv.Itoa(spec.PIDs+nest.Reserve)) == nil
	if spec.CPUs > 0 {
		const period = 100_000
		g.cpu = g.write("cpu.max", fmt.Sprintf("%d %d", max(1000, int(spec.CPUs*period)), period)) == nil
	}
}

func (g *group) write(file, value string) error {
	f, err := os.OpenFile(filepath.Join(g.dir, file), os.O_WRONLY, 0) // never create: the folder may be a fake of a test
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(value)
	return err
}

// enter makes the process with these attributes start in the group.
func (g *group) enter(attr *syscall.SysProcAttr) {
	if g == nil {
		return
	}
	attr.UseCgroupFD = true
	attr.CgroupFD = g.fd
}

// entered ends what enter needed.
func (g *group) entered() {
	if g != nil && g.fd >= 0 {
		unix.Close(g.fd)
		g.fd = -1
	}
}

// freeze stops every process in the group, or lets them go on, and returns
// when the kernel says that it is so.
func (g *group) freeze(ctx context.Context, on bool) error {
	value := "0"
	if on {
		value = "1"
	}
	events, err := os.Open(filepath.Join(g.dir, "cgroup.events"))
	if err != nil {
		return err
	}
	defer events.Close()
	if err := g.write("cgroup.freeze", value); err != nil {
		return err
	}
	buf := make([]byte, 256)
	for {
		n, err := events.ReadAt(buf, 0)
		if n == 0 {
			return fmt.Errorf("read cgroup.events: %w", err)
		}
		if strings.Contains(string(buf[:n]), "frozen "+value) {
			return nil
		}
		if err := waitChange(ctx, int(events.Fd())); err != nil {
			return err
		}
	}
}

// waitChange waits until the kernel says that the file has changed, at most a
// little while, for the note is lost if the change came before the wait.
func waitChange(ctx context.Context, fd int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLPRI}}
	if _, err := unix.Poll(p, 5); err != nil && err != unix.EINTR {
		return os.NewSyscallError("poll", err)
	}
	return nil
}

func (g *group) holdsMemory() bool { return g != nil && g.memory }

func (g *group) kill() {
	if g != nil {
		g.write("cgroup.kill", "1")
	}
}

// remove deletes the group, which takes the kernel a moment after the last
// process has gone.
func (g *group) remove() {
	if g == nil {
		return
	}
	g.entered()
	for range 200 {
		if err := unix.Rmdir(g.dir); !errors.Is(err, unix.EBUSY) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
