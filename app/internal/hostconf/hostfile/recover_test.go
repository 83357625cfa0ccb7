package hostfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// TestRecoverAfterHost kills us, has the host write before anybody looks again,
// and then recovers: the file is what the host made of it.
func TestRecoverAfterHost(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files can't be exchanged here")
	}
	more := strings.Replace(with(t, doc), "dark", "light", 1)
	tests := []struct {
		name      string
		step      string
		file      string // what the host writes in place
		displaced string // and into the file that was displaced
		want      string
		known     bool // our entry
	}{
		{"into the displaced file", hostfile.StepSwapped, "", newer, newer, false},
		{"into the new file", hostfile.StepSwapped, more, "", more, true},
		{"into both", hostfile.StepSwapped, more, newer, more, true},
		{"into the old file", hostfile.StepReady, newer, "", newer, false},
		{"into the new file, when all was done but told", hostfile.StepCleaned, more, "", more, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, doc)
			if _, survived := (task{Do: "change", Dir: r.state, Path: r.path, Step: tt.step, Settle: -1}).run(t); survived {
				t.Fatal("it was not killed")
			}
			if tt.displaced != "" {
				left, err := filepath.Glob(filepath.Join(r.dir, ".mcp.json.arenero-*"))
				must(t, err)
				must(t, os.WriteFile(left[0], []byte(tt.displaced), 0o600))
			}
			if tt.file != "" {
				r.write(tt.file)
			}
			must(t, r.store.Recover(t.Context()))
			r.want(tt.want)
			r.wantNames("mcp.json")
			r.check()
			written, err := r.store.Written(t.Context(), hostfile.Filter{})
			must(t, err)
			if (len(written) == 1) != tt.known {
				t.Errorf("written = %+v", written)
			}
			if tt.file != "" && tt.displaced != "" {
				history, err := r.store.History(t.Context(), hostfile.Filter{})
				must(t, err)
				if path, ok := r.store.Backup(history[0]); !ok || read(t, path) != newer {
					t.Errorf("the backup is not what the host wrote first: %+v", history[0])
				}
			}
		})
	}
}

// TestRecoverLeavesTheLivingAlone: another process is in the middle of a change.
func TestRecoverLeavesTheLivingAlone(t *testing.T) {
	r := newRig(t, doc)
	other := openAt(t, r.state, r.clock)
	r.fail = func(step string) {
		if step == hostfile.StepSynced || step == hostfile.StepSwapped {
			must(t, other.Recover(t.Context()))
		}
	}
	if res := r.change(install(r.path)); res.Tries != 1 {
		t.Errorf("result = %+v", res)
	}
	r.want(with(t, doc))
	r.check()
}

// TestManyAtOnce: stores of one folder wait for each other.
func TestManyAtOnce(t *testing.T) {
	r := newRig(t, doc)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			s, err := hostfile.Open(hostfile.Options{Dir: r.state, Settle: 10 * time.Millisecond})
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 5 {
				if _, err := s.Change(t.Context(), update(r.path, fmt.Sprint("c_", i, n))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := strings.Count(read(t, r.path), `"arenero"`); got != 1 {
		t.Errorf("our entry is there %d times", got)
	}
	r.wantNames("mcp.json")
	r.check()
	// One after the other, they can all be taken back.
	for range 10 {
		_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
		must(t, err)
	}
	_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
	wantKind(t, err, hostfile.Nothing) // history goes back so far
}

// TestWrongClock: a clock that runs backwards does not change what was last.
func TestWrongClock(t *testing.T) {
	r := newRig(t, doc)
	now := time.Now()
	r.store = openAt(t, r.state, &tick{clock: r.clock, now: &now})
	contents := []string{doc}
	for i := range 3 {
		now = now.Add(-24 * time.Hour)
		r.change(update(r.path, fmt.Sprint("c_", i)))
		must(t, os.Chtimes(r.path, now, time.Now().Add(time.Hour)))
		contents = append(contents, read(t, r.path))
	}
	for i := 2; i >= 0; i-- {
		now = now.Add(-24 * time.Hour)
		_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
		must(t, err)
		r.want(contents[i])
	}
}

// TestSameTimeSameSize: what changed is told by the bytes, not by the time.
func TestSameTimeSameSize(t *testing.T) {
	r := newRig(t, doc)
	info, err := os.Stat(r.path)
	must(t, err)
	other := strings.Replace(doc, "dark", "pale", 1)
	times := 0
	r.fail = func(step string) {
		if step == hostfile.StepReady {
			if times++; times == 1 {
				r.write(other)
				must(t, os.Chtimes(r.path, info.ModTime(), info.ModTime()))
			}
		}
	}
	r.change(install(r.path))
	r.want(with(t, other))
}

// TestCancelled: before anything is in place a change can be called off, and
// after that it is brought to its end.
func TestCancelled(t *testing.T) {
	for _, step := range []string{hostfile.StepLocked, hostfile.StepSwapped} {
		r := newRig(t, doc)
		ctx, cancel := context.WithCancel(t.Context())
		r.fail = func(at string) {
			if at == step {
				cancel()
			}
		}
		_, err := r.store.Change(ctx, install(r.path))
		if step == hostfile.StepLocked {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled at %s: %v", step, err)
			}
			r.want(doc)
		} else {
			must(t, err)
			r.want(with(t, doc))
		}
		r.wantNames("mcp.json")
		r.check()
	}
}

// TestDamagedJournal: it is not guessed at.
func TestDamagedJournal(t *testing.T) {
	r := newRig(t, doc)
	r.change(install(r.path))
	path := filepath.Join(r.state, "journal")
	must(t, os.WriteFile(path, append([]byte("{nonsense\n"), read(t, path)...), 0o600))
	_, err := r.store.Change(t.Context(), update(r.path, "c_two"))
	if err == nil || !strings.Contains(err.Error(), "move the file away") || !strings.Contains(err.Error(), path) {
		t.Errorf("error = %v", err)
	}
	r.want(with(t, doc))
	must(t, os.Remove(path))
	r.change(update(r.path, "c_two"))
}

// TestRecoverFromEveryEndOfTheJournal cuts the journal where a crash may have,
// after the file was put in place: what is known of the entry then is what
// would be known without the crash.
func TestRecoverFromEveryEndOfTheJournal(t *testing.T) {
	undo := func(r *rig) {
		_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
		must(t, err)
	}
	tests := []struct {
		name   string
		before func(*rig)
		do     func(*rig)
	}{
		{"install", func(*rig) {}, func(r *rig) { r.change(install(r.path)) }},
		{"update", func(r *rig) { r.change(install(r.path)) }, func(r *rig) { r.change(update(r.path, "c_two")) }},
		{"remove", func(r *rig) { r.change(install(r.path)) }, func(r *rig) { r.change(remove(r.path, r.written().Made)) }},
		{"undo", func(r *rig) { r.change(install(r.path)) }, undo},
		{"undo of an update", func(r *rig) { r.change(install(r.path)); r.change(update(r.path, "c_two")) }, undo},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, doc)
			tt.before(r)
			journal := filepath.Join(r.state, "journal")
			told := 0 // the lines before it is told that all is in place: by then each is about something else
			r.fail = func(step string) {
				if step == hostfile.StepCleaned {
					keys := map[string]bool{}
					for line := range strings.Lines(read(t, journal)) {
						key, _, _ := strings.Cut(line, `,"value"`)
						keys[key] = true
					}
					told = len(keys)
				}
			}
			tt.do(r)
			all := strings.SplitAfter(strings.TrimSuffix(read(t, journal), "\n"), "\n")
			want, err := r.store.Written(t.Context(), hostfile.Filter{})
			must(t, err)
			if told == 0 || len(all) < told+2 {
				t.Fatalf("there is nothing to cut behind line %d: %q", told, all)
			}
			for n := told; n <= len(all); n++ {
				must(t, os.WriteFile(journal, []byte(strings.Join(all[:n], "")), 0o600))
				must(t, r.store.Recover(t.Context()))
				got, err := r.store.Written(t.Context(), hostfile.Filter{})
				must(t, err)
				if len(got) != len(want) || len(want) == 1 && (got[0].Removed != want[0].Removed || got[0].Owner != want[0].Owner || string(got[0].Made) != string(want[0].Made) || got[0].After != want[0].After) {
					t.Errorf("after %d lines of %d it is known that %+v, want %+v", n, len(all), got, want)
				}
			}
		})
	}
}
