package hostfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A plan is what is to happen to a file.
type plan struct {
	edit.Edit
	of     *Change // the change that is taken back, or nil
	remove bool    // the file itself goes
}

// nothing reports whether the file stays as it is.
func (p plan) nothing() bool { return len(p.Patches) == 0 && !p.remove }

// A planner looks at the bytes of a file, nil for none. It is called again when
// they change.
type planner func(doc []byte) (plan, error)

// Change does what the request says. If it returns an error, the file is as its
// owner has it, except for [Busy]: then what we wrote may have been written over.
func (s *Store) Change(ctx context.Context, r Request) (Result, error) {
	return s.run(ctx, r, func(doc []byte) (plan, error) {
		e, err := r.Change(doc)
		return plan{Edit: e, remove: r.goes(doc, e)}, err
	})
}

// Preview returns what Change would, and fails where that would fail as far as
// can be told, but writes nothing.
func (s *Store) Preview(ctx context.Context, r Request) (Result, error) {
	return s.preview(ctx, r, func(doc []byte) (plan, error) {
		e, err := r.Change(doc)
		return plan{Edit: e, remove: r.goes(doc, e)}, err
	})
}

// goes reports whether nothing is left of a file that may go.
func (r Request) goes(doc []byte, e edit.Edit) bool {
	return r.Gone && len(e.Patches) > 0 && e.Patches.Len(int64(len(doc))) == 0
}

func (r Request) limit() int64 {
	if r.MaxSize > 0 {
		return r.MaxSize
	}
	return maxSize
}

// run repeats try as long as the host gets in between, but not for ever.
func (s *Store) run(ctx context.Context, r Request, pl planner) (Result, error) {
	t, err := find(r.Path)
	if err != nil {
		return Result{}, err
	}
	unlock, err := s.lock(ctx, lockName(key(t.real)))
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	s.fail(StepLocked)
	if err := s.settleFile(ctx, t.real); err != nil {
		return Result{}, refusal(r.Path, err)
	}
	dirs := missingFolders(t.real)
	var left []string // folders that Cline's lock is in until it is given back
	defer func() { removeEmpty(left) }()
	if r.Lock == Cline {
		release, err := s.lockCline(ctx, t.path)
		if err != nil {
			return Result{}, err
		}
		defer release()
	}
	var buf []byte
	for try := 1; ; try++ {
		w := &write{s: s, r: r, t: t, dirs: dirs, plan: pl, buf: buf}
		res, err := w.try(ctx)
		res.Tries = try
		switch {
		case err == nil:
			if w.change.Gone {
				left = w.change.Dirs
			}
			return res, nil
		case !errors.Is(err, errMoved):
			return Result{}, refusal(r.Path, err)
		case try == maxTries:
			return Result{}, busy(r.Path, err)
		}
		buf = w.buf
		if err := s.wait(ctx, s.settle); err != nil {
			return Result{}, err
		}
	}
}

func (s *Store) preview(ctx context.Context, r Request, pl planner) (Result, error) {
	t, err := find(r.Path)
	if err != nil {
		return Result{}, err
	}
	w := &write{s: s, r: r, t: t, plan: pl}
	for try := 1; ; try++ {
		res, p, err := w.look(ctx)
		switch {
		case errors.Is(err, errMoved) && try < maxTries:
			continue
		case errors.Is(err, errMoved):
			return Result{}, busy(r.Path, err)
		case err != nil:
			return Result{}, refusal(r.Path, err)
		}
		if p.nothing() || p.remove {
			return res, nil
		}
		if len(w.old.doc) > manyBytes { // what verifies would need it twice
			res.After, err = sumReader(p.Patches.Reader(w.old.doc))
			return res, err
		}
		doc := p.Patches.Apply(w.old.doc)
		res.After = sum(doc)
		if r.Verify != nil {
			if err := r.Verify(doc); err != nil {
				return Result{}, err
			}
		}
		return res, nil
	}
}

// look reads the file and makes the plan. Its patches share no bytes with the
// file.
func (w *write) look(ctx context.Context) (Result, plan, error) {
	old, err := w.s.readStill(ctx, w.t.real, w.r.limit(), w.buf)
	if err != nil {
		return Result{}, plan{}, err
	}
	w.old, w.buf = old, old.doc
	p, err := w.plan(old.doc)
	if err != nil {
		if _, final := errors.AsType[*Error](err); !final && w.s.mends(ctx, w.t.real, old) {
			err = errMoved
		}
		return Result{}, plan{}, err
	}
	if !p.Patches.Fit(old.doc) {
		return Result{}, plan{}, fmt.Errorf("change %s: the patches are for other bytes", w.t.path)
	}
	p.Patches = clone(p.Patches)
	res := Result{Path: w.r.Path, Real: w.t.real, Before: sum(old.doc), Patches: p.Patches, Changed: !p.nothing()}
	if !res.Changed {
		res.After = res.Before
		return res, p, nil
	}
	if old.doc != nil {
		if err := writable(w.t.real, old.info); err != nil {
			return Result{}, plan{}, err
		}
		if !p.remove && links(old.info) > 1 {
			res.Notes = append(res.Notes, HardLinks)
		}
	}
	folder := filepath.Dir(w.t.real)
	if _, err := os.Stat(folder); err == nil {
		if err := folderWritable(folder); err != nil {
			return Result{}, plan{}, err
		}
	}
	return res, p, nil
}

func clone(ps edit.Patches) edit.Patches {
	out := make(edit.Patches, len(ps))
	for i, p := range ps {
		out[i] = edit.Patch{Offset: p.Offset, Old: append([]byte(nil), p.Old...), New: append([]byte(nil), p.New...)}
	}
	return out
}

// note brings the journal up to date where the file needs no change.
func (w *write) note(ctx context.Context, p plan, hash string) error {
	r := w.r
	if p.of != nil { // somebody else took it back already
		c := Change{Act: Undone, Undoes: p.of.ID, Real: w.t.real, Place: p.of.Place, Time: w.s.now()}
		return w.s.journal(ctx, func(b *book) error { return b.takeBack(c) })
	}
	if r.Place.Name == "" || r.Owner == "" {
		return nil
	}
	var now *Record
	err := w.s.peruse(ctx, func(b *book) error {
		now = w.known(b.record(w.t.real, r.Place), hash)
		return nil
	})
	if err != nil || now == nil {
		return err
	}
	return w.s.journal(ctx, func(b *book) error { return b.putRecord(*now) })
}

// known is what the journal should say of the entry in a file that needs no
// change, or nil if it says so already.
func (w *write) known(was *Record, hash string) *Record {
	r := w.r
	switch {
	case r.Remove && (was == nil || was.Removed):
		return nil
	case r.Remove:
		was.Removed, was.Time, was.After = true, w.s.now(), hash
		return was
	case was != nil && !was.Removed && was.Owner == r.Owner && was.Path == w.t.path:
		return nil
	}
	now := w.record()
	now.After = hash
	if was != nil && !was.Removed {
		now.Made, now.Inserted = was.Made, was.Inserted
	}
	return &now
}

// record is what the request says of its entry.
func (w *write) record() Record {
	r := w.r
	return Record{
		Path: w.t.path, Real: w.t.real, Owner: r.Owner, Host: r.Host, Scope: r.Scope,
		Grammar: r.Grammar, Place: r.Place, Time: w.s.now(),
	}
}
