package hostfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

const newer = `{"theme": "light", "mcpServers": {"fs": {"command": "fs"}}}`

// TestHostWritesMeanwhile has the host write the file at one moment of a change:
// all that it wrote is there in the end, and our entry.
func TestHostWritesMeanwhile(t *testing.T) {
	inPlace := func(r *rig) { r.write(newer) }
	byRename := func(r *rig) {
		must(r.T, os.WriteFile(r.path+".host", []byte(newer), 0o600))
		must(r.T, os.Rename(r.path+".host", r.path))
	}
	tests := []struct {
		name, content string
		step          string
		host          func(*rig)
		swaps         bool // needs a system that exchanges files
	}{
		{"in place, while we write", doc, hostfile.StepHalf, inPlace, false},
		{"by rename, while we write", doc, hostfile.StepHalf, byRename, false},
		{"in place, just before we replace", doc, hostfile.StepCompared, inPlace, true},
		{"by rename, just before we replace", doc, hostfile.StepCompared, byRename, true},
		{"makes the file that was not there", "", hostfile.StepCompared, inPlace, false},
		{"what it read before we wrote", doc, hostfile.StepSwapped, inPlace, false},
		{"removes the file", doc, hostfile.StepHalf, func(r *rig) { must(r.T, os.Remove(r.path)) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.swaps && runtime.GOOS == "windows" {
				t.Skip("files can't be exchanged here: that moment can't be told")
			}
			r := newRig(t, tt.content)
			times := 0
			r.fail = func(step string) {
				if step == tt.step {
					if times++; times == 1 {
						tt.host(r)
					}
				}
			}
			res := r.change(install(r.path))
			want := with(t, newer)
			if tt.name == "removes the file" {
				want = with(t, "")
			}
			r.want(want)
			r.wantNames("mcp.json")
			if res.Tries != 2 || res.After != hash(want) {
				t.Errorf("result = %+v, want a second try", res)
			}
			r.check()
			if _, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path}); err != nil {
				t.Errorf("Undo: %v", err)
			}
		})
	}
}

// TestHostKeepsOurEntry: the host has read what we wrote, and wrote more.
func TestHostKeepsOurEntry(t *testing.T) {
	r := newRig(t, doc)
	more := strings.Replace(with(t, doc), "dark", "light", 1)
	r.fail = func(step string) {
		if step == hostfile.StepSwapped {
			r.write(more)
		}
	}
	if res := r.change(install(r.path)); res.Tries != 1 {
		t.Errorf("result = %+v", res)
	}
	r.fail = nil
	r.want(more)
	if got := r.written(); got.Removed || got.After != hash(with(t, doc)) {
		t.Errorf("written = %+v", got)
	}
	// It is not what we left, so it is not undone, but our entry can be removed.
	_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
	wantKind(t, err, hostfile.Changed)
	r.want(more)
	times := 0 // an undo that is written over at first is done again
	r.fail = func(step string) {
		if step == hostfile.StepSwapped {
			if times++; times == 1 {
				r.write(more)
			}
		}
	}
	res, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path, Else: takeOut})
	must(t, err)
	r.want(strings.Replace(doc, "dark", "light", 1))
	if got := r.written(); !got.Removed || !res.Changed || res.Tries != 2 {
		t.Errorf("written = %+v, result %+v", got, res)
	}
	_, err = r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path, Else: takeOut})
	wantKind(t, err, hostfile.Nothing)
}

// takeOut removes an entry that was put in.
func takeOut(last hostfile.Change, doc []byte) (edit.Edit, error) {
	ps, err := edit.Delete(doc, last.Grammar, last.Place, last.Made)
	return edit.Edit{Patches: ps}, err
}

// TestWithoutSwap: where files can't be exchanged, they are replaced.
func TestWithoutSwap(t *testing.T) {
	r := newRig(t, doc)
	r.store.WithoutSwap()
	r.change(install(r.path))
	r.want(with(t, doc))
	times := 0
	r.fail = func(step string) { // the host has read the file before
		if step == hostfile.StepSwapped {
			if times++; times == 1 {
				r.write(newer)
			}
		}
	}
	if res := r.change(update(r.path, "c_two")); res.Tries != 2 {
		t.Errorf("result = %+v", res)
	}
	r.wantNames("mcp.json")
	r.check()
	_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
	must(t, err)
	r.want(newer)
}

// TestHostWritesBoth: the host writes the file that we are replacing and then
// the one in its place. What it wrote last stays, what it wrote before is kept.
func TestHostWritesBoth(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files can't be exchanged here")
	}
	r := newRig(t, doc)
	more := strings.Replace(with(t, doc), "dark", "light", 1)
	r.fail = func(step string) {
		if step != hostfile.StepSwapped {
			return
		}
		displaced, err := filepath.Glob(filepath.Join(r.dir, ".mcp.json.arenero-*"))
		must(t, err)
		must(t, os.WriteFile(displaced[0], []byte(newer), 0o600))
		r.write(more)
	}
	res := r.change(install(r.path))
	r.want(more)
	r.wantNames("mcp.json")
	if !slices.Contains(res.Notes, hostfile.Overlapped) || read(t, res.Backup) != newer {
		t.Errorf("result = %+v", res)
	}
	r.check()
}

// TestD1HalfWritten: we look while the host has written half of its file.
func TestD1HalfWritten(t *testing.T) {
	content := `{"pad": "` + strings.Repeat("x", 40<<10) + `", "mcpServers": {}}`
	tests := []struct {
		name string
		at   int // the wait during which the host writes the rest
	}{
		{"the rest comes at once", 1},
		{"the rest comes late", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, content[:20<<10])
			r.clock.onWait = func(n int) {
				if n == tt.at {
					r.write(content)
				}
			}
			req := install(r.path)
			set := req.Change
			req.Change = func(b []byte) (edit.Edit, error) {
				if !bytes.Equal(b, []byte(content)) && tt.at == 1 {
					t.Errorf("Change was called with %d bytes", len(b))
				}
				return set(b)
			}
			r.change(req)
			r.want(with(t, content))
		})
	}
}

// TestD1Emptied: we look when the host has emptied its file to write it anew.
func TestD1Emptied(t *testing.T) {
	r := newRig(t, "{}")
	must(t, os.Truncate(r.path, 0))
	r.clock.onWait = func(n int) {
		if n == 3 {
			r.write(doc)
		}
	}
	r.change(install(r.path))
	r.want(with(t, doc))
}

// TestD1HeldOpen: the host has its file open to write it, and does so after we
// looked.
func TestD1HeldOpen(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("who has a file open is not to be known here")
	}
	r := newRig(t, doc)
	f, err := os.OpenFile(r.path, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	r.clock.onWait = func(n int) {
		if n == 5 {
			must(t, f.Truncate(0))
			_, err := f.WriteAt([]byte(newer), 0)
			must(t, err)
			must(t, f.Close())
		}
	}
	r.change(install(r.path))
	r.want(with(t, newer))
}

// TestBusy: a host that does not stop writing is told of, after three tries,
// and its file left alone.
func TestBusy(t *testing.T) {
	tests := []struct {
		name string
		step string // or empty for each wait
	}{
		{"never still", ""},
		{"writes what we replace", hostfile.StepCompared},
		{"writes over us", hostfile.StepSwapped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.step == hostfile.StepCompared && runtime.GOOS == "windows" {
				t.Skip("files can't be exchanged here")
			}
			r := newRig(t, doc)
			times := 0
			host := func() {
				times++
				r.write(doc + strings.Repeat(" ", times))
			}
			if tt.step == "" {
				r.clock.onWait = func(int) { host() }
			} else {
				r.fail = func(step string) {
					if step == tt.step {
						host()
					}
				}
			}
			_, err := r.store.Change(t.Context(), install(r.path))
			wantKind(t, err, hostfile.Busy)
			if tt.step != "" && times != 3 {
				t.Errorf("%d tries, want 3", times)
			}
			r.want(doc + strings.Repeat(" ", times))
			r.wantNames("mcp.json")
			r.check()
		})
	}
}

// TestC1LinkMovesMeanwhile: the link leads elsewhere by the time we replace.
func TestC1LinkMovesMeanwhile(t *testing.T) {
	r := newRig(t, "")
	a, b := filepath.Join(r.dir, "a.json"), filepath.Join(r.dir, "b.json")
	must(t, os.WriteFile(a, []byte(doc), 0o600))
	must(t, os.WriteFile(b, []byte(newer), 0o600))
	must(t, os.Symlink(a, r.path))
	r.fail = func(step string) {
		if step == hostfile.StepReady {
			must(t, os.Remove(r.path))
			must(t, os.Symlink(b, r.path))
		}
	}
	_, err := r.store.Change(t.Context(), install(r.path))
	wantKind(t, err, hostfile.Busy)
	if read(t, a) != doc || read(t, b) != newer {
		t.Error("one of the files was changed")
	}
	r.fail = nil
	r.change(install(r.path))
	if read(t, a) != doc || read(t, b) != with(t, newer) {
		t.Error("not the file of the link was changed")
	}
}
