package hostfile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/journal"
)

// A Change is one write of a file as the journal has it. Its patches hold bytes
// of our entry, and of nothing else in the file.
type Change struct {
	ID          int64
	Path, Real  string
	Owner       string
	Host, Scope string
	Grammar     edit.Grammar
	Place       edit.Place
	Act         Act
	State       State
	Time        time.Time
	Before      string // SHA-256 of the file, empty for none
	After       string
	Patches     edit.Patches
	Made        []byte   // what [edit.Delete] needs, if this change made the entry
	Backup      string   // SHA-256 of what was there, if it was kept
	Temp        string   // where the new file was written
	Dirs        []string // folders that were made for the file
	Gone        bool     // the file itself was removed
	Undoes      int64    // the change that this one took back
	Was         *Record  // what was known of the entry before
}

// An Act is what a change did to our entry.
type Act string

// The acts.
const (
	Inserted Act = "inserted"
	Updated  Act = "updated"
	Removed  Act = "removed"
	Other    Act = "other" // to something that is no entry
	Undone   Act = "undone"
)

// A State is how far a change has come.
type State string

// The states.
const (
	pending State = "pending"    // the file is as it was
	ready   State = "ready"      // the new file is whole, and may be in place
	Done    State = "done"       // it is in place
	Revoked State = "taken-back" // and was taken back
)

const (
	journalFile = "journal"
	journalLock = "journal.lock"

	kindChange = "change"
	kindRecord = "entry"
	kindLock   = "lock"

	maxHistory = 10       // changes of one file, and so backups of it
	maxPatches = 4 << 20  // bytes in the patches of all changes
	maxRemoved = 1000     // entries that are known to be gone
	maxBackups = 20 << 20 // bytes of all backups
)

// A book is the journal while its lock is held.
type book struct {
	j     *journal.Journal
	store *Store
}

// journal runs fn with the journal, which no other process uses meanwhile.
func (s *Store) journal(ctx context.Context, fn func(*book) error) error {
	return s.enter(ctx, journal.Open, fn)
}

// peruse is journal for who changes nothing: that waits for no disk.
func (s *Store) peruse(ctx context.Context, fn func(*book) error) error {
	return s.enter(ctx, journal.Read, fn)
}

func (s *Store) enter(ctx context.Context, open func(string) (*journal.Journal, error), fn func(*book) error) (err error) {
	unlock, err := s.lock(ctx, journalLock)
	if err != nil {
		return err
	}
	defer unlock()
	j, err := open(filepath.Join(s.dir, journalFile))
	if errors.Is(err, journal.ErrDamaged) {
		return fmt.Errorf("%w: move the file away to go on without what it remembers", err)
	}
	if err != nil {
		return refusal(s.dir, err)
	}
	defer func() {
		if cerr := j.Close(); err == nil {
			err = cerr
		}
	}()
	return fn(&book{j, s})
}

func (b *book) put(kind, key string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return refusal(b.store.dir, b.j.Put(kind, key, raw, true))
}

func all[T any](b *book, kind string) []T {
	values := b.j.All(kind)
	out := make([]T, 0, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var v T
		if json.Unmarshal(values[key], &v) == nil { // else a later version wrote it
			out = append(out, v)
		}
	}
	return out
}

// changes are all changes, oldest first.
func (b *book) changes() []Change { return all[Change](b, kindChange) }

// records are all entries ever written, oldest first.
func (b *book) records() []Record {
	rs := all[Record](b, kindRecord)
	slices.SortStableFunc(rs, func(x, y Record) int { return x.Time.Compare(y.Time) })
	return rs
}

// madeFor are the folders that were made for a file when we made it.
func (b *book) madeFor(realPath string) []string {
	var dirs []string
	for _, c := range b.changes() {
		if c.State == Done && c.Before == "" && key(c.Real) == key(realPath) {
			dirs = c.Dirs
		}
	}
	return dirs
}

func changeKey(id int64) string { return fmt.Sprintf("%015d", id) }

// putChange stores c, with an id if it has none.
func (b *book) putChange(c *Change) error {
	if c.ID == 0 {
		c.ID = 1
		if cs := b.changes(); len(cs) > 0 {
			c.ID = cs[len(cs)-1].ID + 1
		}
	}
	return b.put(kindChange, changeKey(c.ID), c)
}

func (b *book) dropChange(c Change) error { return b.j.Delete(kindChange, changeKey(c.ID)) }

// recordKey tells entries apart.
func recordKey(realPath string, p edit.Place) string {
	key, err := json.Marshal([]any{realPath, p})
	if err != nil { // of strings only
		panic(err)
	}
	return string(key)
}

// record is what is known of an entry, or nil.
func (b *book) record(realPath string, p edit.Place) *Record {
	raw, ok := b.j.All(kindRecord)[recordKey(realPath, p)]
	var r Record
	if !ok || json.Unmarshal(raw, &r) != nil {
		return nil
	}
	return &r
}

func (b *book) putRecord(r Record) error {
	return b.put(kindRecord, recordKey(r.Real, r.Place), r)
}

func (b *book) dropRecord(realPath string, p edit.Place) error {
	return b.j.Delete(kindRecord, recordKey(realPath, p))
}

// putLock remembers that a lock is taken beside path.
func (b *book) putLock(path string) error { return b.put(kindLock, path, path) }

func (b *book) dropLock(path string) error { return b.j.Delete(kindLock, path) }

// ended reports whether it is known what became of c.
func (c Change) ended() bool { return c.State != pending && c.State != ready }

// spent reports whether c can't be taken back any more.
func (c Change) spent() bool { return c.State == Revoked || c.Act == Undone }

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// prune drops what is too old or too much, and every backup that no change
// refers to.
func (b *book) prune() error {
	changes := b.changes()
	slices.Reverse(changes) // newest first
	// What was taken back is worth less than what can be.
	slices.SortStableFunc(changes, func(x, y Change) int { return compareBool(x.spent(), y.spent()) })
	var (
		kept    []Change
		perFile = map[string]int{}
		patches = 0
	)
	for _, c := range changes {
		n := 0
		for _, p := range c.Patches {
			n += len(p.Old) + len(p.New)
		}
		perFile[c.Real]++
		old := perFile[c.Real] > maxHistory || perFile[c.Real] > 1 && patches+n > maxPatches
		if old && c.ended() {
			if err := b.dropChange(c); err != nil {
				return err
			}
			continue
		}
		patches += n
		kept = append(kept, c)
	}
	slices.SortFunc(kept, func(x, y Change) int { return cmp.Compare(y.ID, x.ID) })
	records := b.records()
	gone := 0
	for i := len(records) - 1; i >= 0; i-- {
		if r := records[i]; r.Removed {
			if gone++; gone > maxRemoved {
				if err := b.dropRecord(r.Real, r.Place); err != nil {
					return err
				}
			}
		}
	}
	return b.pruneBackups(kept)
}

// pruneBackups keeps the newest backups that fit in maxBackups. changes are
// newest first.
func (b *book) pruneBackups(changes []Change) error {
	keep, total, full := map[string]bool{}, int64(0), false
	for _, c := range changes {
		if c.Backup == "" || keep[c.Backup] {
			continue
		}
		info, err := os.Stat(b.store.backup(c.Backup))
		if err == nil && !full && total+info.Size() <= maxBackups {
			total += info.Size()
			keep[c.Backup] = true
			continue
		}
		full = full || err == nil // from here on all are older
		c.Backup = ""
		if err := b.putChange(&c); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(b.store.backups())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !keep[e.Name()] {
			if err := os.Remove(filepath.Join(b.store.backups(), e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
