//go:build amd64 || arm64

package nest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stage is where the new root is built before it becomes "/". What is under it
// has been opened before, so covering it loses nothing, and it exists on every
// system.
const stage = "/usr"

// A tree is a copy of a part of the host's file system that has no place yet.
type tree struct {
	fd   int
	path string // where it goes, below the new root
	dir  bool
}

// buildRoot puts together the file system of the jail and moves into it.
func buildRoot(cfg Config) error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("detach from the host's mounts: %w", err)
	}
	system, err := openSystem()
	if err != nil {
		return err
	}
	agent, err := openAgent(cfg)
	if err != nil {
		return fmt.Errorf("open the agent: %w", err)
	}
	etc, err := readEtc(cfg.Hostname)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", stage, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=8m,nr_inodes=4096"); err != nil {
		return fmt.Errorf("mount the new root: %w", err)
	}
	if err := etc.write(); err != nil {
		return err
	}
	for _, t := range append(append(system, agent), etc.trees...) {
		if err := t.place(); err != nil {
			return fmt.Errorf("mount %s: %w", t.path, err)
		}
	}
	if err := writable(cfg.DiskMiB); err != nil {
		return err
	}
	if err := devices(); err != nil {
		return fmt.Errorf("make /dev: %w", err)
	}
	if err := processes(); err != nil {
		return fmt.Errorf("make /proc: %w", err)
	}
	return enter()
}

// enter makes the stage the root, leaves the host's behind and closes the new
// one for writing.
func enter() error {
	if err := unix.Chdir(stage); err != nil {
		return fmt.Errorf("enter the new root: %w", err)
	}
	if err := unix.PivotRoot(".", "."); err != nil { // the old root now lies over the new one
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return fmt.Errorf("enter the root: %w", err)
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, attr); err != nil {
		return fmt.Errorf("close the root for writing: %w", err)
	}
	return nil
}

// openSystem opens the parts of the system that programs are made of. Links
// like /bin stay links.
func openSystem() ([]tree, error) {
	usr, err := openTree("/usr")
	if err != nil {
		return nil, fmt.Errorf("open /usr: %w", err)
	}
	trees := []tree{usr}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/var/cache/fontconfig", "/var/lib/texmf"} {
		info, err := os.Lstat(name)
		if err != nil || !info.IsDir() { // links are made by readEtc
			continue
		}
		t, err := openTree(name)
		if err != nil {
			continue // not for us to see
		}
		trees = append(trees, t)
	}
	return trees, nil
}

func openAgent(cfg Config) (tree, error) {
	t := tree{fd: AgentFD, path: AgentPath}
	if cfg.Agent != "" {
		var err error
		if t, err = openTree(cfg.Agent); err != nil {
			return t, err
		}
		t.path = AgentPath
	}
	return t, t.protect()
}

// openTree copies the mounts at path, with all below, closed for writing.
func openTree(path string) (tree, error) {
	t, err := openDevice(path)
	if err != nil {
		return t, err
	}
	return t, t.protect()
}

// openDevice is openTree without protection.
func openDevice(path string) (tree, error) {
	info, err := os.Stat(path)
	if err != nil {
		return tree{}, err
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	return tree{fd: fd, path: path, dir: info.IsDir()}, err
}

func (t tree) protect() error {
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	return unix.MountSetattr(t.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr)
}

// place mounts the tree in the stage.
func (t tree) place() error {
	defer unix.Close(t.fd)
	target := stage + t.path
	var err error
	if t.dir {
		err = os.MkdirAll(target, 0o755)
	} else {
		err = emptyFile(target)
	}
	if err != nil {
		return err
	}
	return unix.MoveMount(t.fd, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func emptyFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// writable makes the places for files: one file system of the size asked for,
// so that home, /tmp, /run and shared memory together can't outgrow it.
func writable(diskMiB int) error {
	const all = stage + "/.files"
	if err := os.Mkdir(all, 0o700); err != nil {
		return err
	}
	opts := fmt.Sprintf("mode=0755,size=%dm,nr_inodes=%d", diskMiB, max(65536, 64*diskMiB))
	if err := unix.Mount("tmpfs", all, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, opts); err != nil {
		return fmt.Errorf("mount the file space: %w", err)
	}
	for _, d := range []struct {
		name, path string
		mode       os.FileMode
	}{
		{"home", Home, 0o755},
		{"tmp", "/tmp", 0o777 | os.ModeSticky},
		{"shm", "/dev/shm", 0o777 | os.ModeSticky},
		{"run", "/run", 0o755},
	} {
		dir := all + "/" + d.name
		if err := errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, d.mode)); err != nil {
			return err
		}
		t, err := openDevice(dir)
		if err != nil {
			return fmt.Errorf("open %s: %w", d.path, err)
		}
		t.path = d.path
		if err := t.place(); err != nil {
			return fmt.Errorf("mount %s: %w", d.path, err)
		}
	}
	if err := os.MkdirAll(fmt.Sprintf("%s/run/user/%d", stage, UID), 0o700); err != nil {
		return err
	}
	if err := unix.Unmount(all, unix.MNT_DETACH); err != nil { // its four folders stay mounted
		return fmt.Errorf("hide the file space: %w", err)
	}
	if err := os.MkdirAll(stage+"/var", 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.Remove(all),
		os.Symlink("/tmp", stage+"/var/tmp"),
		os.Symlink("/run", stage+"/var/run"),
	)
}

// devices makes a /dev with what programs need and nothing that reaches the
// machine.
func devices() error {
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		t, err := openDevice("/dev/" + name)
		if err != nil {
			return err
		}
		if err := t.place(); err != nil {
			return err
		}
	}
	pts := stage + "/dev/pts"
	if err := os.Mkdir(pts, 0o755); err != nil {
		return err
	}
	if err := unix.Mount("devpts", pts, "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("mount pts: %w", err)
	}
	for name, target := range map[string]string{
		"ptmx":   "pts/ptmx",
		"fd":     "/proc/self/fd",
		"stdin":  "/proc/self/fd/0",
		"stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, stage+"/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

// processes mounts a /proc that shows this jail's processes. Some containers
// don't let anyone mount one; there, a few plain files of the host's have to do.
func processes() error {
	proc := stage + "/proc"
	if err := os.Mkdir(proc, 0o755); err != nil {
		return err
	}
	err := unix.Mount("proc", proc, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errors.Is(err, unix.EPERM) {
		return fewProcFiles()
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"kcore", "keys", "sysrq-trigger", "timer_list", "sched_debug", "kmsg", "latency_stats"} {
		if _, err := os.Lstat(proc + "/" + name); err != nil {
			continue
		}
		t, err := openTree("/dev/null")
		if err != nil {
			return err
		}
		t.path = "/proc/" + name
		if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, stage+t.path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("cover %s: %w", t.path, err)
		}
		unix.Close(t.fd)
	}
	// What is used of these counts as the host user's too, whose own programs
	// must still get some. A kernel without them has no such thing to use up.
	for name, most := range map[string]string{"inotify_instances": "64", "inotify_watches": "65536"} {
		_ = os.WriteFile(proc+"/sys/user/max_"+name, []byte(most), 0)
	}
	for _, name := range []string{"sys", "bus", "fs", "irq"} {
		t, err := openTree(proc + "/" + name)
		if err != nil {
			continue // the kernel has none
		}
		if err := unix.MoveMount(t.fd, "", unix.AT_FDCWD, proc+"/"+name, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("close /proc/%s for writing: %w", name, err)
		}
		unix.Close(t.fd)
	}
	return nil
}

func fewProcFiles() error {
	for _, name := range []string{"cpuinfo", "meminfo", "stat", "uptime", "loadavg", "version", "filesystems"} {
		t, err := openTree("/proc/" + name)
		if err != nil {
			continue
		}
		if err := t.place(); err != nil {
			return err
		}
	}
	return nil
}
