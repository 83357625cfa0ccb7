//go:build unix

package hostfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// TestC1Links: what a link leads to is changed, and the link stays a link.
func TestC1Links(t *testing.T) {
	link := func(r *rig, to, at string) { must(r.T, os.Symlink(to, at)) }
	tests := []struct {
		name    string
		make    func(r *rig, home string) (file string) // returns what is to change
		content string
	}{
		{"to a file", func(r *rig, home string) string {
			link(r, filepath.Join(home, "real.json"), r.path)
			return filepath.Join(home, "real.json")
		}, doc},
		{"in two steps, one of them relative", func(r *rig, home string) string {
			must(r.T, os.Mkdir(filepath.Join(home, "sub"), 0o700))
			link(r, filepath.Join(home, "sub", "second"), r.path)
			link(r, filepath.Join("..", "real.json"), filepath.Join(home, "sub", "second"))
			return filepath.Join(home, "real.json")
		}, doc},
		{"a folder on the way", func(r *rig, home string) string {
			link(r, home, filepath.Join(r.dir, "config"))
			r.path = filepath.Join(r.dir, "config", "mcp.json")
			return filepath.Join(home, "mcp.json")
		}, doc},
		{"to a file that is to be made", func(r *rig, home string) string {
			link(r, filepath.Join(home, "real.json"), r.path)
			return filepath.Join(home, "real.json")
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "")
			file := tt.make(r, t.TempDir())
			if tt.content != "" {
				must(t, os.WriteFile(file, []byte(tt.content), 0o600))
			}
			before := names(t, r.dir)
			res := r.change(install(r.path))
			if got := read(t, file); got != with(t, tt.content) {
				t.Errorf("the file holds %q", got)
			}
			if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
				t.Errorf("the file is %v, %v", info, err)
			}
			if after := names(t, r.dir); !slices.Equal(before, after) {
				t.Errorf("the folder of the link had %q, has %q", before, after)
			}
			realFile, err := filepath.EvalSymlinks(file)
			must(t, err)
			if res.Path != r.path || res.Real != realFile {
				t.Errorf("result = %+v", res)
			}
			// The same file by its own name is the same file.
			_, err = r.store.Undo(t.Context(), hostfile.UndoRequest{Path: file})
			must(t, err)
			if tt.content != "" && read(t, r.path) != tt.content {
				t.Errorf("after Undo the file holds %q", read(t, r.path))
			}
			r.check()
		})
	}
}

// TestNotAFile: whatever is no file, or leads nowhere, is refused at once.
func TestNotAFile(t *testing.T) {
	tests := []struct {
		name string
		make func(path string) error
		kind hostfile.Kind
	}{
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, hostfile.NotRegular},
		{"a link to a folder", func(p string) error { return os.Symlink(".", p) }, hostfile.NotRegular},
		{"a pipe", func(p string) error { return syscall.Mkfifo(p, 0o600) }, hostfile.NotRegular},
		{"a link to a device", func(p string) error { return os.Symlink("/dev/null", p) }, hostfile.NotRegular},
		{"a link to itself", func(p string) error { return os.Symlink("mcp.json", p) }, hostfile.Loop},
		{"a link into no folder", func(p string) error { return os.Symlink("/nonexistent/folder/real.json", p) }, hostfile.Dangling},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, "")
			must(t, tt.make(r.path))
			before, err := os.Lstat(r.path)
			must(t, err)
			_, err = r.store.Preview(t.Context(), install(r.path))
			wantKind(t, err, tt.kind)
			_, err = r.store.Change(t.Context(), install(r.path))
			wantKind(t, err, tt.kind)
			if after, err := os.Lstat(r.path); err != nil || !os.SameFile(before, after) {
				t.Errorf("it is something else now: %v", err)
			}
			r.wantNames("mcp.json")
		})
	}
}

// TestPipeAppears: a pipe that takes the place of the file is not waited for.
func TestPipeAppears(t *testing.T) {
	r := newRig(t, doc)
	r.fail = func(step string) {
		if step == hostfile.StepReady {
			must(t, os.Remove(r.path))
			must(t, syscall.Mkfifo(r.path, 0o600))
		}
	}
	if _, err := r.store.Change(t.Context(), install(r.path)); err == nil {
		t.Error("a pipe was replaced")
	}
	r.wantNames("mcp.json")
}

// TestHardLinks: a file with two names is replaced under the one, and that is
// said.
func TestHardLinks(t *testing.T) {
	r := newRig(t, doc)
	other := filepath.Join(r.dir, "other")
	must(t, os.Link(r.path, other))
	for _, do := range []func() (hostfile.Result, error){
		func() (hostfile.Result, error) { return r.store.Preview(t.Context(), install(r.path)) },
		func() (hostfile.Result, error) { return r.store.Change(t.Context(), install(r.path)) },
	} {
		res, err := do()
		must(t, err)
		if !slices.Equal(res.Notes, []hostfile.Note{hostfile.HardLinks}) {
			t.Errorf("notes = %q", res.Notes)
		}
	}
	r.want(with(t, doc))
	if got := read(t, other); got != doc {
		t.Errorf("the other name leads to %q", got)
	}
}

// TestC3Mode: it stays what it was, and never is less strict on the way.
func TestC3Mode(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	for _, mode := range []os.FileMode{0o600, 0o640, 0o644, 0o666, 0o755} {
		r := newRig(t, doc)
		must(t, os.Chmod(r.path, mode))
		r.fail = func(string) {
			left, err := filepath.Glob(filepath.Join(r.dir, ".mcp.json.arenero-*"))
			must(t, err)
			for _, path := range left {
				info, err := os.Stat(path)
				must(t, err)
				if got := info.Mode().Perm(); got&^mode&^0o600 != 0 {
					t.Errorf("the mode of the new file is %v, that of the old one %v", got, mode)
				}
			}
		}
		r.change(install(r.path))
		wantMode(t, r.path, mode)
	}
	r := newRig(t, "")
	r.change(install(r.path))
	wantMode(t, r.path, 0o600)
}

// TestReadOnly: a file that the user took the right to write from is refused,
// by root too, for whom it would be no obstacle.
func TestReadOnly(t *testing.T) {
	r := newRig(t, doc)
	must(t, os.Chmod(r.path, 0o400))
	_, err := r.store.Preview(t.Context(), install(r.path))
	wantKind(t, err, hostfile.ReadOnly)
	_, err = r.store.Change(t.Context(), install(r.path))
	wantKind(t, err, hostfile.ReadOnly)
	r.want(doc)
	r.wantNames("mcp.json")
	wantMode(t, r.path, 0o400)
}

// TestFileTooLargeForTheSystem has the write of the new file fail half way.
func TestFileTooLargeForTheSystem(t *testing.T) {
	r := newRig(t, `{"pad": "`+string(make40k())+`"}`)
	content := read(t, r.path)
	a, _ := task{Do: "change", Dir: r.state, Path: r.path, Limit: 16 << 10, Settle: -1}.run(t)
	if a.Kind != hostfile.NoSpace {
		t.Fatalf("answer = %+v", a)
	}
	r.want(content)
	r.wantNames("mcp.json")
	must(t, r.store.Recover(t.Context()))
	r.check()
	r.change(install(r.path))
}

func make40k() []byte {
	b := make([]byte, 40<<10)
	for i := range b {
		b[i] = 'x'
	}
	return b
}
