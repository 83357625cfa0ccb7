package hostfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// stranger is a user without rights.
const stranger = 4242

// as has a command run as somebody who is not root.
func as(uid uint32, groups ...uint32) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		if os.Geteuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid, Groups: groups}}
		}
	}
}

// strangersRig is a rig in folders that the stranger owns and may enter, with
// the test binary in them.
func strangersRig(t *testing.T) (*rig, func(*exec.Cmd)) {
	t.Helper()
	root, err := os.MkdirTemp("", "hostfile")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(root) })
	must(t, os.Chmod(root, 0o755))
	r := &rig{T: t, dir: filepath.Join(root, "host"), state: filepath.Join(root, "state"), clock: &clock{}}
	r.path = filepath.Join(r.dir, "mcp.json")
	must(t, os.Mkdir(r.dir, 0o755))
	must(t, os.Mkdir(r.state, 0o700))
	r.write(doc)
	exe, err := os.Executable()
	must(t, err)
	binary, err := os.ReadFile(exe)
	must(t, err)
	copied := filepath.Join(root, "child")
	must(t, os.WriteFile(copied, binary, 0o755))
	if os.Geteuid() == 0 {
		for _, path := range []string{r.dir, r.state, r.path} {
			must(t, os.Chown(path, stranger, stranger))
		}
	}
	return r, func(cmd *exec.Cmd) { cmd.Path = copied }
}

func TestReadOnlyAsOrdinaryUser(t *testing.T) {
	tests := []struct {
		name string
		make func(r *rig)
	}{
		{"file", func(r *rig) { must(r.T, os.Chmod(r.path, 0o444)) }},
		{"folder", func(r *rig) { must(r.T, os.Chmod(r.dir, 0o555)) }},
		{"folder, and no file", func(r *rig) {
			must(r.T, os.Remove(r.path))
			must(r.T, os.Chmod(r.dir, 0o555))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, use := strangersRig(t)
			tt.make(r)
			t.Cleanup(func() { _ = os.Chmod(r.dir, 0o755) })
			before := names(t, r.dir)
			a, _ := task{Do: "change", Dir: r.state, Path: r.path, Settle: -1}.run(t, use, as(stranger))
			if a.Kind != hostfile.ReadOnly {
				t.Errorf("answer = %+v", a)
			}
			if after := names(t, r.dir); !slices.Equal(before, after) {
				t.Errorf("the folder had %q, has %q", before, after)
			}
			if len(before) > 0 {
				r.want(doc)
			}
		})
	}
}

// TestOwner: root keeps the owner of a user's file, and a user the group of it
// where that may be, or else lets that group do no more than anybody.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	const group = 4343
	tests := []struct {
		name     string
		uid, gid int // of the file before
		mode     os.FileMode
		as       func(*exec.Cmd)
		wantGid  uint32
		wantMode os.FileMode
		notes    []hostfile.Note
	}{
		{"root", stranger, group, 0o640, as(0), group, 0o640, nil},
		{"a member of the group", stranger, group, 0o640, as(stranger, group), group, 0o640, nil},
		{"no member of the group", stranger, group, 0o640, as(stranger), stranger, 0o600, []hostfile.Note{hostfile.GroupLost}},
		{"no member, and all may read", stranger, group, 0o664, as(stranger), stranger, 0o644, []hostfile.Note{hostfile.GroupLost}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, use := strangersRig(t)
			must(t, os.Chown(r.path, tt.uid, tt.gid))
			must(t, os.Chmod(r.path, tt.mode))
			if tt.name == "root" {
				must(t, os.Chown(r.state, 0, 0))
			}
			a, _ := task{Do: "change", Dir: r.state, Path: r.path, Settle: -1}.run(t, use, tt.as)
			if a.Err != "" {
				t.Fatal(a.Err)
			}
			r.want(with(t, doc))
			info, err := os.Stat(r.path)
			must(t, err)
			st := info.Sys().(*syscall.Stat_t)
			if st.Uid != stranger || st.Gid != tt.wantGid || info.Mode().Perm() != tt.wantMode || !slices.Equal(a.Result.Notes, tt.notes) {
				t.Errorf("owner %d, group %d, mode %v, notes %q", st.Uid, st.Gid, info.Mode(), a.Result.Notes)
			}
		})
	}
}

// TestAttributes: extended attributes and access lists stay.
func TestAttributes(t *testing.T) {
	r := newRig(t, doc)
	must(t, os.Chmod(r.path, 0o600))
	err := unix.Setxattr(r.path, "user.kept", []byte("yes"), 0)
	if err == unix.ENOTSUP {
		t.Skip("this file system has no attributes")
	}
	must(t, err)
	// An access list, as the kernel keeps it: version 2, then tag, rights and id of
	// the owner, user 4242, the group, the mask, and others.
	list := []byte{
		2, 0, 0, 0,
		1, 0, 6, 0, 0xff, 0xff, 0xff, 0xff,
		2, 0, 4, 0, 0x92, 0x10, 0, 0,
		4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
		0x10, 0, 4, 0, 0xff, 0xff, 0xff, 0xff,
		0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	}
	const listName = "system.posix_acl_access"
	lists := unix.Setxattr(r.path, listName, list, 0) == nil
	res := r.change(install(r.path))
	if len(res.Notes) > 0 {
		t.Errorf("notes = %q", res.Notes)
	}
	buf := make([]byte, 256)
	n, err := unix.Getxattr(r.path, "user.kept", buf)
	if err != nil || string(buf[:n]) != "yes" {
		t.Errorf("attribute = %q, %v", buf[:max(n, 0)], err)
	}
	if lists {
		n, err := unix.Getxattr(r.path, listName, buf)
		if err != nil || string(buf[:n]) != string(list) {
			t.Errorf("access list = %v, %v", buf[:max(n, 0)], err)
		}
		wantMode(t, r.path, 0o640) // the mask
	}
}

// TestFullDisk fills a small disk of its own, where that can be had.
func TestFullDisk(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no disk of our own (%v); TestFileTooLargeForTheSystem has a write fail too", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	content := `{"pad": "` + strings.Repeat("x", 600<<10) + `"}`
	t.Run("of the host", func(t *testing.T) {
		r := newRig(t, "")
		r.dir = disk
		r.path = filepath.Join(disk, "mcp.json")
		r.write(content)
		_, err := r.store.Change(t.Context(), install(r.path))
		wantKind(t, err, hostfile.NoSpace)
		r.want(content)
		r.wantNames("mcp.json")
		r.check()
		if got, err := r.store.Written(t.Context(), hostfile.Filter{}); err != nil || len(got) > 0 {
			t.Errorf("written: %+v, %v", got, err)
		}
	})
	t.Run("of ours", func(t *testing.T) {
		state := filepath.Join(disk, "state")
		r := newRig(t, content)
		r.state, r.store = state, openAt(t, state, r.clock) // the backup has no room
		_, err := r.store.Change(t.Context(), install(r.path))
		wantKind(t, err, hostfile.NoSpace)
		r.want(content)
		r.wantNames("mcp.json")
		must(t, os.Remove(filepath.Join(disk, "mcp.json"))) // room again
		r.change(install(r.path))
		r.want(with(t, content))
		r.check()
	})
}
