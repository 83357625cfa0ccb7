package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

func (r *fileRig) list(t *testing.T, path string, depth uint32) ([]string, error) {
	t.Helper()
	res, err := r.ListDir(t.Context(), &agentpb.ListDirRequest{Path: path, Depth: depth})
	var names []string
	for _, e := range res.GetEntries() {
		rel, err := filepath.Rel(r.home, e.Path)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, rel)
	}
	return names, err
}

func TestFilesList(t *testing.T) {
	r := newFileRig(t, "tcp")
	for _, p := range []string{"b/x/deep", "a/2", "a/10", "B", "a-b", "ñ", "line\nbreak", "bad\xffname"} {
		if err := os.MkdirAll(filepath.Dir(r.path(p)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.path(p), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", r.path("zlink")); err != nil {
		t.Fatal(err)
	}
	r.fs.deny = append(r.fs.deny, r.path("b/x"))
	bad := "bad\U0010FFFFname"
	top := []string{"B", "a", "a-b", "b", bad, "line\nbreak", "zlink", "ñ"}
	tests := []struct {
		path  string
		depth uint32
		want  []string
	}{
		{".", 0, top},
		{".", 1, top},
		{".", 2, []string{"B", "a", "a/10", "a/2", "a-b", "b", bad, "line\nbreak", "zlink", "ñ"}},
		{".", 99, []string{"B", "a", "a/10", "a/2", "a-b", "b", bad, "line\nbreak", "zlink", "ñ"}},
		{"zlink", 1, []string{"zlink/10", "zlink/2"}},
	}
	for _, tt := range tests {
		got, err := r.list(t, tt.path, tt.depth)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("list %s, depth %d = %q, %v; want %q", tt.path, tt.depth, got, err, tt.want)
		}
	}
	// What is listed can be opened by the name it is listed with.
	if _, _, err := r.read(t.Context(), bad); err != nil {
		t.Errorf("read %q: %v", bad, err)
	}
}

func TestFilesListLimit(t *testing.T) {
	r := newFileRig(t, "tcp")
	if err := os.Mkdir(r.path("d"), 0o755); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(r.path("d"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	add := func(name string) {
		if err := unix.Mknodat(fd, name, unix.S_IFREG|0o644, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxEntries {
		add(fmt.Sprintf("%05d", i))
	}
	got, err := r.list(t, "d", 1)
	if err != nil || len(got) != maxEntries || got[0] != "d/00000" || got[maxEntries-1] != "d/09999" {
		t.Fatalf("list of %d = %d entries, %v", maxEntries, len(got), err)
	}
	if _, err := r.list(t, ".", 2); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("list of one more, counting the directory: %v", err)
	}
	add("x")
	if _, err := r.list(t, "d", 1); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("list of %d: %v, want ResourceExhausted", maxEntries+1, err)
	}
}

func TestPermissions(t *testing.T) {
	tests := []struct {
		mode uint32
		want string
	}{
		{unix.S_IFREG | 0o644, "-rw-r--r--"},
		{unix.S_IFDIR | 0o755, "drwxr-xr-x"},
		{unix.S_IFDIR | 0o1777, "drwxrwxrwt"},
		{unix.S_IFDIR | 0o1770, "drwxrwx--T"},
		{unix.S_IFREG | 0o4755, "-rwsr-xr-x"},
		{unix.S_IFREG | 0o4644, "-rwSr--r--"},
		{unix.S_IFREG | 0o2755, "-rwxr-sr-x"},
		{unix.S_IFREG | 0o6000, "---S--S---"},
		{unix.S_IFLNK | 0o777, "lrwxrwxrwx"},
		{unix.S_IFIFO, "p---------"},
		{unix.S_IFSOCK, "s---------"},
		{unix.S_IFCHR | 0o620, "crw--w----"},
		{unix.S_IFBLK | 0o660, "brw-rw----"},
	}
	for _, tt := range tests {
		if got := permissions(tt.mode); got != tt.want {
			t.Errorf("permissions(%o) = %q, want %q", tt.mode, got, tt.want)
		}
	}
}

// TestFilesSymlinkRace swaps a directory for a link to a denied one, again and
// again, while files are written, read and removed through it.
func TestFilesSymlinkRace(t *testing.T) {
	r := newFileRig(t, "tcp")
	secret := t.TempDir() // as open to the user as can be: only the list denies it
	if err := os.Chmod(secret, 0o777); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(secret); strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(secret, "f"), []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	r.fs.deny = append(r.fs.deny, secret)
	real, way := r.path("real"), r.path("way")
	if err := os.Mkdir(real, 0o777); err != nil {
		t.Fatal(err)
	}
	os.Chmod(real, 0o777)
	if err := os.WriteFile(filepath.Join(real, "f"), []byte("open"), 0o666); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			to := real
			if i%2 == 0 {
				to = secret
			}
			os.Symlink(to, way+".new")
			os.Rename(way+".new", way)
		}
	})
	var wrong, allowed int
	for i := range 2000 {
		switch i % 4 {
		case 0, 1:
			if _, got, err := r.read(t.Context(), "way/f"); err == nil {
				allowed++
				if string(got) == "secret" {
					wrong++
				}
			}
		case 2:
			if _, err := r.write(t.Context(), file("way/f", "open")); err == nil {
				allowed++
			}
		case 3:
			r.Remove(t.Context(), &agentpb.RemoveRequest{Path: "way/gone", Recursive: true})
			if _, err := r.Move(t.Context(), &agentpb.MoveRequest{Source: "way/f", Destination: "way/f"}); err == nil {
				allowed++
			}
		}
	}
	close(stop)
	wg.Wait()
	if got, err := os.ReadFile(filepath.Join(secret, "f")); string(got) != "secret" || wrong > 0 {
		t.Errorf("the denied file is %q, %v, and was read %d times", got, err, wrong)
	}
	entries, err := os.ReadDir(secret)
	if err != nil || len(entries) != 1 {
		t.Errorf("the denied directory holds %v, %v", entries, err)
	}
	if allowed == 0 {
		t.Error("no call got through the open way")
	}
}
