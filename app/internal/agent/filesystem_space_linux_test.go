package agent

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// nested is set in a test that runs as the root of a user namespace, in which
// there is no other user.
const nested = "ARENERO_TEST_NESTED"

// smallFileSystem mounts a tmpfs of 8 MiB. A user without the right to runs
// the test again in namespaces of their own, and gets "".
func smallFileSystem(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=777")
	if err == nil {
		t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
		return dir
	}
	if os.Getenv(nested) != "" || !errors.Is(err, unix.EPERM) {
		t.Fatal("mount a tmpfs:", err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), nested+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("in namespaces: %v\n%s", err, out)
	}
	return ""
}

// TestFilesDiskFull fills a real file system.
func TestFilesDiskFull(t *testing.T) {
	dir := smallFileSystem(t)
	if dir == "" {
		return
	}
	for _, tt := range []struct {
		name    string
		reserve uint64
		named   bool
		want    string
	}{
		{"to the last byte", 0, false, "disk_full"},
		{"with named temp files", 0, true, "disk_full"},
		{"down to the reserve", diskReserve, false, "disk_reserve"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newFileRigIn(t, "tcp", dir)
			r.fs.reserve = tt.reserve
			r.fs.named.Store(tt.named)
			if _, err := r.write(t.Context(), file("f", "old")); err != nil {
				t.Fatal(err)
			}
			reqs := []*agentpb.WriteRequest{file("f", "new")}
			for range 12 {
				reqs = append(reqs, &agentpb.WriteRequest{Chunk: bytes.Repeat([]byte("x"), maxWriteChunk)})
			}
			_, err := r.write(t.Context(), reqs...)
			if s := status.Convert(err); s.Code() != codes.ResourceExhausted || s.Message() != tt.want {
				t.Errorf("write = %v, want %s", err, tt.want)
			}
			if got, err := os.ReadFile(r.path("f")); string(got) != "old" {
				t.Errorf("the file is %d bytes, %v; want the old one", len(got), err)
			}
			if left := r.leftovers(t); left != nil {
				t.Errorf("temp files left: %q", left)
			}
			var fs unix.Statfs_t
			if err := unix.Statfs(dir, &fs); err != nil {
				t.Fatal(err)
			}
			if fs.Bfree < fs.Blocks*9/10 {
				t.Errorf("%d of %d blocks are free after the failure", fs.Bfree, fs.Blocks)
			}
		})
	}
}

// TestFilesSweep finds what a killed agent left, and no more.
func TestFilesSweep(t *testing.T) {
	r := newFileRig(t, "tcp")
	names := map[string]bool{ // and whether it stays
		tempPrefix + "0123456789abcdef0123456789abcdef": false,
		tempPrefix + r.fs.boot + "0123456789abcdef":     true, // in the works
		tempPrefix + "mine":                             true,
		"f":                                             true,
	}
	for name := range names {
		if err := os.WriteFile(r.path(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := r.write(t.Context(), file("g", "x")); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range names {
		if _, err := os.Lstat(r.path(name)); (err == nil) != want {
			t.Errorf("%s stays: %v, want %v", name, err == nil, want)
		}
	}
}
