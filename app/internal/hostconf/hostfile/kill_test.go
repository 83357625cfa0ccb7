package hostfile_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// TestKilledAtEveryStep kills the process that changes a file at each step of
// the change: the file is the old or the new one, and what is left in a mess
// is put right by Recover, or by the next change.
func TestKilledAtEveryStep(t *testing.T) {
	tests := []struct {
		name    string
		do      string
		content string // of the file, before anything of ours
		lock    hostfile.LockKind
		link    bool
		noSwap  bool
		by      []string // what puts it right
	}{
		{name: "a file", do: "change", content: doc, by: []string{"recover", "change"}},
		{name: "a file that can't be exchanged", do: "change", content: doc, noSwap: true, by: []string{"recover"}},
		{name: "no file", do: "change", by: []string{"recover"}},
		{name: "a linked file with the host's lock", do: "change", content: doc, lock: hostfile.Cline, link: true, by: []string{"recover", "change"}},
		{name: "undo", do: "undo", content: doc, by: []string{"recover"}},
		{name: "undo of a new file", do: "undo", by: []string{"recover"}},
	}
	reached := map[string]bool{}
	for _, tt := range tests {
		for _, step := range hostfile.Steps {
			for _, by := range tt.by {
				k := newKill(t, tt.content, tt.link)
				if tt.do == "undo" {
					k.must(k.store.Change(t.Context(), install(k.path)))
				}
				before := k.state()
				job := task{Do: tt.do, Dir: k.dir, Path: k.path, Step: step, Lock: tt.lock, Settle: -1, NoSwap: tt.noSwap}
				if a, survived := job.run(t); survived {
					if a.Err != "" {
						t.Fatalf("%s, %s: %s", tt.name, step, a.Err)
					}
					break // this way does not lead by that step
				}
				reached[step] = true
				after := state{tt.content, tt.content != ""}
				if tt.do == "change" {
					after = state{with(t, tt.content), true}
				}
				got := k.state()
				if got != before && got != after {
					t.Fatalf("%s, killed at %s: the file holds %q", tt.name, step, got.text)
				}
				if by == "recover" {
					must(t, k.store.Recover(t.Context()))
					if now := k.state(); now != got {
						t.Errorf("%s, killed at %s: Recover made %q of %q", tt.name, step, now.text, got.text)
					}
				} else {
					k.must(k.store.Change(t.Context(), hostfile.Request{
						Path: k.path, Lock: tt.lock, Place: install("").Place, Owner: "c_one", Change: install("").Change,
					}))
				}
				k.check(tt.name+", killed at "+step, tt.content)
			}
		}
	}
	for _, step := range hostfile.Steps {
		if !reached[step] && (runtime.GOOS != "windows" || !strings.HasPrefix(step, "cline")) {
			t.Errorf("no process came to the step %s", step)
		}
	}
}

type state struct {
	text  string
	there bool
}

type kill struct {
	*testing.T
	dir, path string
	folders   []string // in which hosts keep files
	links     bool
	store     *hostfile.Store
}

func newKill(t *testing.T, content string, link bool) *kill {
	t.Helper()
	k := &kill{T: t, dir: filepath.Join(t.TempDir(), "hosts"), folders: []string{t.TempDir()}, links: link}
	k.path = filepath.Join(k.folders[0], "mcp.json")
	file := k.path
	if link {
		k.folders = append(k.folders, t.TempDir())
		file = filepath.Join(k.folders[1], "real.json")
		must(t, os.Symlink(file, k.path))
	}
	if content != "" {
		must(t, os.WriteFile(file, []byte(content), 0o600))
	}
	var err error
	k.store, err = hostfile.Open(hostfile.Options{Dir: k.dir, Settle: 10 * time.Millisecond})
	must(t, err)
	return k
}

func (k *kill) must(_ hostfile.Result, err error) {
	k.Helper()
	must(k.T, err)
}

func (k *kill) state() state {
	k.Helper()
	b, err := os.ReadFile(k.path)
	if os.IsNotExist(err) {
		return state{}
	}
	must(k.T, err)
	return state{string(b), true}
}

// check sees that nothing of ours lies about, that the journal tells what the
// file shows, and that the file can be brought back to what it was.
func (k *kill) check(name, content string) {
	k.Helper()
	file := k.state()
	r := &rig{T: k.T, dir: k.folders[0], state: k.dir, path: k.path, store: k.store}
	r.check()
	for _, folder := range k.folders {
		for _, left := range names(k.T, folder) {
			if left != "mcp.json" && left != "real.json" {
				k.Errorf("%s: %s is left", name, left)
			}
		}
	}
	if info, err := os.Lstat(k.path); k.links && (err != nil || info.Mode()&os.ModeSymlink == 0) {
		k.Errorf("%s: the link is gone: %v", name, err)
	}
	connected := file.text == with(k.T, content)
	records, err := k.store.Written(context.Background(), hostfile.Filter{})
	must(k.T, err)
	known := slices.ContainsFunc(records, func(r hostfile.Record) bool { return !r.Removed })
	if known != connected {
		k.Errorf("%s: the file holds %q and the journal %+v", name, file.text, records)
	}
	if !connected {
		return
	}
	k.must(k.store.Undo(context.Background(), hostfile.UndoRequest{Path: k.path}))
	if now := k.state(); now != (state{content, content != ""}) {
		k.Errorf("%s: after Undo the file holds %q", name, now.text)
	}
}
