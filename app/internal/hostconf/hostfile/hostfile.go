// Package hostfile changes one file that belongs to another program.
//
// The owner of such a file may write it at any moment, without a lock and in
// pieces, and the user may keep it in a linked folder, read-only, or readable
// to nobody else. So a change here is small and suspicious: it is computed on
// bytes that stayed the same for a while, written beside the file, and put in
// place only if the file still is what it was; what was there is looked at once
// more after it was replaced, and put back if its owner was writing it. Killed
// at any moment, a change has happened or it has not.
//
// All that was ever written is in a journal in a folder of ours, with what it
// takes to undo it to the byte. Nothing is left in the folder of the file.
package hostfile

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/paths"
)

// Options are what a [Store] works with.
type Options struct {
	Dir    string            // ours and private: journal, backups, locks
	Clock  clockwork.Clock   // nil for the real one
	Settle time.Duration     // how long a file must stay as it is; 0 for 50 ms, negative for no time
	Fail   func(step string) // called at each of [Steps], by tests; may be nil
}

// A Store changes files and remembers what it did. Several, in several
// processes, may share a folder.
type Store struct {
	dir    string
	clock  clockwork.Clock
	settle time.Duration
	fail   func(string)
	swap   func(a, b string) error // exchanges two files
}

const (
	settle   = 50 * time.Millisecond
	maxSize  = 512 << 20
	maxTries = 3
)

// Open returns a Store that keeps its records in o.Dir, which it makes.
func Open(o Options) (*Store, error) {
	s := &Store{dir: o.Dir, clock: o.Clock, settle: o.Settle, fail: o.Fail, swap: swap}
	if s.clock == nil {
		s.clock = clockwork.NewRealClock()
	}
	if s.settle == 0 {
		s.settle = settle
	}
	if s.fail == nil {
		s.fail = func(string) {}
	}
	for _, dir := range []string{s.dir, s.locks(), s.backups()} {
		if err := paths.Private(dir); err != nil {
			return nil, fmt.Errorf("open the records of host files: %w", err)
		}
	}
	return s, nil
}

func (s *Store) locks() string   { return filepath.Join(s.dir, "locks") }
func (s *Store) backups() string { return filepath.Join(s.dir, "backups") }

// A LockKind is a lock that the owner of a file honours too.
type LockKind string

// Cline is the lock of the program of that name: a folder beside the file.
const Cline LockKind = "cline"

// A Request is one change of one file.
type Request struct {
	Path    string   // as the host knows it; links are followed, and stay links
	Lock    LockKind // or empty
	MaxSize int64    // a larger file is refused; 0 for 512 MiB

	// For the journal. A request whose place has no name is about no entry: it
	// can be undone, and [Store.Written] does not show it.
	Owner       string // id of the connection
	Host, Scope string
	Grammar     edit.Grammar
	Place       edit.Place
	Remove      bool // the entry is gone afterwards
	Gone        bool // so is the file, if that leaves no byte in it; of the folders, those that we made for it

	// Change says what to do with the bytes of the file, nil if there is none.
	// It is called again if they change meanwhile, and must not keep doc.
	Change func(doc []byte) (edit.Edit, error)
	// Verify looks at the bytes as they were read back from the disk, before
	// they take the place of the file. It may be nil.
	Verify func(doc []byte) error
}

// A Result says what a change did, or would do.
type Result struct {
	Path    string // as requested
	Real    string // the file itself, where links lead
	Before  string // SHA-256 of the file in hex, empty if there was none
	After   string
	Patches edit.Patches
	Changed bool // false: the file already was as it should be
	Backup  string
	Tries   int // more than one: the host was writing the file
	Notes   []Note
}

// A Note is something about a write that the user may want to know.
type Note string

// The notes.
const (
	HardLinks  Note = "hard-links" // the file had other names: they keep the old bytes
	OwnerLost  Note = "owner"      // the file belongs to this user now
	GroupLost  Note = "group"      // the file has this user's group now, which may do no more than others
	AttrsLost  Note = "attributes" // extended attributes or an access list could not be kept
	Overlapped Note = "overlapped" // the host wrote while the file was replaced: what it wrote then is in the backup
)

// A Record is an entry that we wrote.
type Record struct {
	Path, Real  string
	Owner       string
	Host, Scope string
	Grammar     edit.Grammar
	Place       edit.Place
	Made        []byte    // what [edit.Delete] needs
	After       string    // SHA-256 of the file as we left it
	Time        time.Time // of our last write of it
	Removed     bool      // by us
	Inserted    int64     // the change that put it in, 0 if that is not known: of two in a file, the later may rest on what the earlier made
}

// A Filter chooses records: by each field that is not empty.
type Filter struct {
	Path        string // any that leads to the file, or led there when it was written
	Owner, Host string
}

// takes returns a function that tells what the filter takes.
func (f Filter) takes() func(path, realPath, owner, host string) bool {
	leads := f.Path
	if t, err := find(f.Path); err == nil {
		leads = t.real
	}
	return func(path, realPath, owner, host string) bool {
		return (f.Path == "" || f.Path == path || key(leads) == key(realPath)) &&
			(f.Owner == "" || f.Owner == owner) && (f.Host == "" || f.Host == host)
	}
}

// Written returns every entry that we ever wrote and that the filter takes,
// oldest first. It looks into the journal only, never at the files.
func (s *Store) Written(ctx context.Context, f Filter) ([]Record, error) {
	var out []Record
	takes := f.takes()
	err := s.peruse(ctx, func(b *book) error {
		for _, r := range b.records() {
			if takes(r.Path, r.Real, r.Owner, r.Host) {
				out = append(out, r)
			}
		}
		return nil
	})
	return out, err
}

// HandOver gives the entry of a record what the record says that made it. What
// else is known of the entry stays.
func (s *Store) HandOver(ctx context.Context, r Record) error {
	return s.journal(ctx, func(b *book) error {
		now := b.record(r.Real, r.Place)
		if now == nil || now.Removed {
			return nil
		}
		now.Made = r.Made
		return b.putRecord(*now)
	})
}

// History returns the changes that the filter takes and that can still be told
// about, newest first.
func (s *Store) History(ctx context.Context, f Filter) ([]Change, error) {
	var out []Change
	takes := f.takes()
	err := s.peruse(ctx, func(b *book) error {
		for _, c := range b.changes() {
			if c.ended() && takes(c.Path, c.Real, c.Owner, c.Host) {
				out = append([]Change{c}, out...)
			}
		}
		return nil
	})
	return out, err
}

// wait returns when d has passed or ctx is done.
func (s *Store) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-s.clock.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
