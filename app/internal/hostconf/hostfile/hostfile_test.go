package hostfile_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

func TestChange(t *testing.T) {
	tests := []struct {
		name, content string // empty: no file
	}{
		{"a file", doc},
		{"no file", ""},
		{"an empty object", "{}"},
		{"spaces only", " \n"},
		{"CRLF", strings.ReplaceAll(doc, "\n", "\r\n")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.content)
			preview, err := r.store.Preview(t.Context(), install(r.path))
			must(t, err)
			if got := names(t, r.dir); tt.content == "" && len(got) > 0 {
				t.Fatalf("Preview made %q", got)
			}
			res := r.change(install(r.path))
			r.want(with(t, tt.content))
			r.wantNames("mcp.json")
			if res.Before != preview.Before || res.After != preview.After || fmt.Sprint(res.Patches) != fmt.Sprint(preview.Patches) {
				t.Errorf("Preview says %+v, Change did %+v", preview, res)
			}
			if res.After != hash(with(t, tt.content)) || (tt.content == "") != (res.Before == "") || !res.Changed || res.Tries != 1 || len(res.Notes) > 0 {
				t.Errorf("result = %+v", res)
			}
			if (tt.content == "") != (res.Backup == "") || res.Backup != "" && read(t, res.Backup) != tt.content {
				t.Errorf("backup = %q", res.Backup)
			}

			// Once more: nothing is to do, and nothing is done.
			history, err := r.store.History(t.Context(), hostfile.Filter{})
			must(t, err)
			again := r.change(install(r.path))
			if again.Changed || again.Backup != "" || again.Before != res.After || again.After != res.After {
				t.Errorf("second result = %+v", again)
			}
			if now, err := r.store.History(t.Context(), hostfile.Filter{}); err != nil || len(now) != len(history) {
				t.Errorf("the second time made history: %+v, %v", now, err)
			}
			written, err := r.store.Written(t.Context(), hostfile.Filter{Owner: "c_one"})
			must(t, err)
			if len(written) != 1 || written[0].Removed || written[0].Path != r.path || written[0].Made == nil ||
				written[0].After != res.After || written[0].Place.Name != "arenero" {
				t.Errorf("written = %+v", written)
			}

			// Removal brings back the bytes, or an empty document for no file.
			r.change(remove(r.path, written[0].Made))
			if tt.content != "" {
				r.want(tt.content)
			}
			written, err = r.store.Written(t.Context(), hostfile.Filter{Path: r.path})
			must(t, err)
			if len(written) != 1 || !written[0].Removed {
				t.Errorf("after removal written = %+v", written)
			}
			r.check()
		})
	}
}

// TestUpdateKeepsMade: what the removal needs is what the first write made.
func TestUpdateKeepsMade(t *testing.T) {
	r := newRig(t, `{"a":1}`)
	r.change(install(r.path))
	first := r.written()
	r.change(update(r.path, "c_two"))
	second := r.written()
	if first.Made == nil || string(first.Made) != string(second.Made) || second.After == first.After {
		t.Errorf("first %+v, then %+v", first, second)
	}
	r.change(remove(r.path, second.Made))
	r.want(`{"a":1}`)
	acts := []hostfile.Act{}
	history, err := r.store.History(t.Context(), hostfile.Filter{})
	must(t, err)
	for _, c := range history {
		acts = append(acts, c.Act)
	}
	if fmt.Sprint(acts) != fmt.Sprint([]hostfile.Act{hostfile.Removed, hostfile.Updated, hostfile.Inserted}) {
		t.Errorf("history, newest first: %v", acts)
	}
}

// TestKnownWithoutAWrite: an entry that is there already, and one that somebody
// else removed, need no write but must be known.
func TestKnownWithoutAWrite(t *testing.T) {
	r := newRig(t, with(t, doc))
	if res := r.change(install(r.path)); res.Changed {
		t.Errorf("result = %+v", res)
	}
	if got := r.written(); got.Removed || got.Owner != "c_one" || got.Made != nil {
		t.Errorf("written = %+v", got)
	}
	r.write(doc)
	if res := r.change(remove(r.path, nil)); res.Changed {
		t.Errorf("result = %+v", res)
	}
	if got := r.written(); !got.Removed {
		t.Errorf("written = %+v", got)
	}
	r.want(doc)
}

// TestA23NoSiblings: a host's folder holds our temporary file at most, and
// that only while we write.
func TestA23NoSiblings(t *testing.T) {
	r := newRig(t, doc)
	seen := map[string]bool{}
	r.fail = func(string) {
		for _, name := range names(t, r.dir) {
			seen[name] = true
		}
	}
	r.change(install(r.path))
	r.wantNames("mcp.json")
	delete(seen, "mcp.json")
	for name := range seen {
		if !strings.HasPrefix(name, ".mcp.json.arenero-") {
			t.Errorf("%s was in the folder", name)
		}
	}
	if len(seen) != 1 {
		t.Errorf("seen: %v", seen)
	}
}

func TestNewFolders(t *testing.T) {
	r := newRig(t, "")
	r.path = filepath.Join(r.dir, "a", "b", "mcp.json")
	r.change(install(r.path))
	for _, dir := range []string{"a", "a/b"} {
		wantMode(t, filepath.Join(r.dir, dir), 0o700)
	}
	wantMode(t, r.path, 0o600)
	_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
	must(t, err)
	r.wantNames()
}

// TestC5Backups: they are in our folder, for this user alone.
func TestC5Backups(t *testing.T) {
	r := newRig(t, doc)
	must(t, os.Chmod(r.path, 0o644))
	res := r.change(install(r.path))
	if !strings.HasPrefix(res.Backup, r.state) || filepath.Base(res.Backup) != hash(doc) || read(t, res.Backup) != doc {
		t.Errorf("backup = %s", res.Backup)
	}
	wantMode(t, res.Backup, 0o600)
	wantMode(t, filepath.Dir(res.Backup), 0o700)
	wantMode(t, filepath.Join(r.state, "journal"), 0o600)
	must(t, r.store.DropBackups(t.Context(), hostfile.Filter{Owner: "c_one"}))
	if got := names(t, filepath.Dir(res.Backup)); len(got) > 0 {
		t.Errorf("after DropBackups there are %q", got)
	}
	_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
	must(t, err)
	r.want(doc)
}

// TestC6BackupsStayFew: one for a content, ten for a file, 20 MiB in all.
func TestC6BackupsStayFew(t *testing.T) {
	t.Run("per file", func(t *testing.T) {
		r := newRig(t, doc)
		for i := range 40 {
			r.change(update(r.path, fmt.Sprint("c_", i)))
			r.check()
		}
		if got := len(names(t, filepath.Join(r.state, "backups"))); got != 10 {
			t.Errorf("%d backups, want 10", got)
		}
	})
	t.Run("per content", func(t *testing.T) {
		r := newRig(t, doc)
		for range 4 {
			r.change(install(r.path))
			r.change(remove(r.path, r.written().Made))
		}
		if got := len(names(t, filepath.Join(r.state, "backups"))); got != 2 {
			t.Errorf("%d backups, want 2", got)
		}
		r.check()
	})
	t.Run("in all", func(t *testing.T) {
		r := newRig(t, "")
		for i := range 6 {
			r.path = filepath.Join(r.dir, fmt.Sprint(i, ".json"))
			r.write(strings.Repeat(fmt.Sprint(i), 5<<20))
			r.change(plain(r.path))
			r.check()
		}
		var total int64
		for _, name := range names(t, filepath.Join(r.state, "backups")) {
			info, err := os.Stat(filepath.Join(r.state, "backups", name))
			must(t, err)
			total += info.Size()
		}
		if total > 20<<20 || total < 10<<20 {
			t.Errorf("backups have %d bytes", total)
		}
	})
	t.Run("too large", func(t *testing.T) {
		content := strings.Repeat("x", 21<<20)
		r := newRig(t, content)
		if res := r.change(plain(r.path)); res.Backup != "" {
			t.Errorf("backup = %s", res.Backup)
		}
		_, err := r.store.Undo(t.Context(), hostfile.UndoRequest{Path: r.path})
		must(t, err)
		if read(t, r.path) != content {
			t.Error("Undo without a backup did not restore the file")
		}
	})
}

// TestMaxSize: a file over the limit is not even read.
func TestMaxSize(t *testing.T) {
	r := newRig(t, doc)
	req := install(r.path)
	req.MaxSize = int64(len(doc)) - 1
	_, err := r.store.Change(t.Context(), req)
	wantKind(t, err, hostfile.TooBig)
	_, err = r.store.Preview(t.Context(), req)
	wantKind(t, err, hostfile.TooBig)
	req.MaxSize++
	r.change(req)
}

// TestRefusals: what the request says no to leaves no trace.
func TestRefusals(t *testing.T) {
	sentinel := errors.New("no")
	tests := []struct {
		name    string
		content string
		edit    func(*hostfile.Request)
		want    func(error) bool
	}{
		{"a syntax error", `{"a":,}`, nil, func(err error) bool { _, ok := errors.AsType[*edit.SyntaxError](err); return ok }},
		{"Change says no", doc, func(r *hostfile.Request) {
			r.Change = func([]byte) (edit.Edit, error) { return edit.Edit{}, sentinel }
		}, func(err error) bool { return errors.Is(err, sentinel) }},
		{"Verify says no", doc, func(r *hostfile.Request) {
			r.Verify = func([]byte) error { return sentinel }
		}, func(err error) bool { return errors.Is(err, sentinel) }},
		{"patches that do not fit", doc, func(r *hostfile.Request) {
			r.Change = func([]byte) (edit.Edit, error) {
				return edit.Edit{Patches: edit.Patches{{Offset: 1, Old: []byte("nothing"), New: []byte("x")}}}, nil
			}
		}, func(err error) bool { return err != nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.content)
			req := install(r.path)
			if tt.edit != nil {
				tt.edit(&req)
			}
			if _, err := r.store.Preview(t.Context(), req); !tt.want(err) {
				t.Errorf("Preview: %v", err)
			}
			if _, err := r.store.Change(t.Context(), req); !tt.want(err) {
				t.Errorf("Change: %v", err)
			}
			r.want(tt.content)
			r.wantNames("mcp.json")
			if got := names(t, filepath.Join(r.state, "backups")); len(got) > 0 {
				t.Errorf("backups: %q", got)
			}
			if got, err := r.store.Written(t.Context(), hostfile.Filter{}); err != nil || len(got) > 0 {
				t.Errorf("written: %+v, %v", got, err)
			}
		})
	}
}

func (r *rig) written() hostfile.Record {
	r.Helper()
	got, err := r.store.Written(r.Context(), hostfile.Filter{Path: r.path})
	must(r.T, err)
	if len(got) != 1 {
		r.Fatalf("written = %+v, want one", got)
	}
	return got[0]
}

// check sees that journal, backups and files agree.
func (r *rig) check() {
	r.Helper()
	history, err := r.store.History(r.Context(), hostfile.Filter{})
	must(r.T, err)
	named, perFile := map[string]bool{}, map[string]map[string]bool{}
	for _, c := range history {
		if _, err := os.Lstat(c.Temp); err == nil {
			r.Errorf("%s is left", c.Temp)
		}
		if c.Backup == "" {
			continue
		}
		named[c.Backup] = true
		if perFile[c.Real] == nil {
			perFile[c.Real] = map[string]bool{}
		}
		perFile[c.Real][c.Backup] = true
		path, ok := r.store.Backup(c)
		if !ok || hash(read(r.T, path)) != c.Backup {
			r.Errorf("the backup %s of change %d is missing or is something else", c.Backup, c.ID)
		}
	}
	for _, name := range names(r.T, filepath.Join(r.state, "backups")) {
		if !named[name] {
			r.Errorf("nobody knows the backup %s", name)
		}
	}
	for path, hashes := range perFile {
		if len(hashes) > 10 {
			r.Errorf("%d backups of %s", len(hashes), path)
		}
	}
	for _, name := range names(r.T, r.state) {
		if strings.Contains(name, ".tmp-") {
			r.Errorf("%s is left", name)
		}
	}
}

func hash(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

func wantMode(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != mode {
		t.Errorf("mode of %s = %v, want %v", path, got, mode)
	}
}

// TestJournalHoldsOurEntryOnly: the rest of a file may hold secrets.
func TestJournalHoldsOurEntryOnly(t *testing.T) {
	r := newRig(t, `{"token": "hunter2", "mcpServers": {"fs": {"env": {"KEY": "hunter2"}}}}`)
	r.change(install(r.path))
	r.change(update(r.path, "c_two"))
	r.change(remove(r.path, r.written().Made))
	history, err := r.store.History(t.Context(), hostfile.Filter{})
	must(t, err)
	if strings.Contains(read(t, filepath.Join(r.state, "journal")), "hunter2") {
		t.Error("the journal has a secret")
	}
	for _, c := range history {
		for _, p := range c.Patches {
			if strings.Contains(string(p.Old)+string(p.New), "hunter2") {
				t.Errorf("a patch has a secret: %q for %q", p.New, p.Old)
			}
		}
	}
}
