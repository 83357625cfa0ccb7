package hostfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A write is one try to change a file.
type write struct {
	s    *Store
	r    Request
	t    target
	dirs []string
	plan planner

	buf       []byte       // holds the old document, and later the new one
	old       snapshot     // its document is lost once the new one is read
	back      edit.Patches // from the new document to the old one
	doc       []byte       // the new document as it was read back
	change    Change
	displaced bool // the old file is where the new one was made
}

func (s *Store) now() time.Time { return s.clock.Now().UTC() }

// try returns errMoved if the host wrote the file meanwhile.
func (w *write) try(ctx context.Context) (Result, error) {
	res, p, err := w.look(ctx)
	if err != nil {
		return Result{}, err
	}
	if p.nothing() {
		return res, w.note(ctx, p, res.After)
	}
	w.s.fail(StepRead)
	if !p.remove { // else there is no new document to go back from
		w.back = p.Patches.Reverse()
	}
	if err := w.begin(ctx, p, res.Before); err != nil {
		return Result{}, err
	}
	placed, err := w.replace(ctx, &res)
	if !placed {
		w.abandon(ctx)
		return Result{}, err
	}
	// The file is changed: from here on the journal must say so.
	ctx = context.WithoutCancel(ctx)
	if rerr := os.Remove(w.change.Temp); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) && err == nil {
		err = rerr
	}
	if w.change.Gone {
		removeEmpty(w.change.Dirs)
	}
	w.s.fail(StepCleaned)
	if jerr := w.s.journal(ctx, func(b *book) error { return b.commit(&w.change) }); err == nil {
		err = jerr
	}
	w.s.fail(StepDone)
	res.After, res.Backup = w.change.After, ""
	if path, ok := w.s.Backup(w.change); ok {
		res.Backup = path
	}
	return res, err
}

// begin tells the journal what is going to happen.
func (w *write) begin(ctx context.Context, p plan, hash string) error {
	r := w.r
	c := Change{
		Path: w.t.path, Real: w.t.real, Owner: r.Owner, Host: r.Host, Scope: r.Scope, Grammar: r.Grammar, Place: r.Place,
		State: pending, Time: w.s.now(), Before: hash, Patches: p.Patches, Made: p.Made, Dirs: w.dirs, Gone: p.remove,
		Temp: filepath.Join(filepath.Dir(w.t.real), "."+filepath.Base(w.t.real)+".arenero-"+strings.ToLower(rand.Text()[:12])),
	}
	if p.remove {
		c.State = ready // there is nothing to prepare
	}
	return w.s.journal(ctx, func(b *book) error {
		if of := p.of; of != nil {
			c.Act, c.Undoes, c.Made, c.Dirs = Undone, of.ID, nil, of.Dirs
			c.Owner, c.Host, c.Scope, c.Grammar, c.Place = of.Owner, of.Host, of.Scope, of.Grammar, of.Place
		} else {
			c.Act = act(r, p)
			if p.remove {
				c.Dirs = b.madeFor(c.Real)
			}
		}
		if c.Place.Name != "" {
			c.Was = b.record(c.Real, c.Place)
		}
		if w.old.doc != nil && len(w.old.doc) <= maxBackups {
			c.Backup = hash
		}
		if err := b.putChange(&c); err != nil {
			return err
		}
		w.change = c
		w.s.fail(StepPending)
		if c.Backup != "" {
			if err := w.s.keep(w.old.doc, hash); err != nil {
				return err
			}
		}
		w.s.fail(StepBackup)
		return b.prune()
	})
}

func act(r Request, p plan) Act {
	switch {
	case r.Place.Name == "":
		return Other
	case r.Remove:
		return Removed
	case p.Made != nil:
		return Inserted
	}
	return Updated
}

// replace makes the new file and puts it in place. placed: the file was
// changed, whatever else went wrong, and what err tells came after that.
func (w *write) replace(ctx context.Context, res *Result) (placed bool, err error) {
	if w.change.Gone {
		w.doc = w.old.doc
	} else {
		notes, err := w.make()
		if err != nil {
			return false, err
		}
		res.Notes = append(res.Notes, notes...)
		if err := w.readBack(); err != nil {
			return false, err
		}
		w.change.State = ready
		if err := w.put(ctx); err != nil {
			return false, err
		}
		w.s.fail(StepReady)
	}
	if t, err := find(w.t.path); err != nil || t.real != w.t.real { // a link was moved
		return false, errors.Join(errMoved, err)
	}
	if ok, err := w.isOld(w.t.real); err != nil {
		return false, err
	} else if !ok {
		return false, errMoved
	}
	w.s.fail(StepCompared)
	if err := w.swap(); err != nil {
		return false, err
	}
	w.s.fail(StepSwapped)
	return w.settle(ctx, res)
}

func (w *write) put(ctx context.Context) error {
	return w.s.journal(ctx, func(b *book) error { return b.putChange(&w.change) })
}

// make writes the new file beside the old one.
func (w *write) make() (notes []Note, err error) {
	if err := makeFolder(w.t.real); err != nil {
		return nil, err
	}
	f, err := makeTemp(w.change.Temp, w.old, w.t.real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w.s.fail(StepMade)
	h := sha256.New()
	out, in := io.MultiWriter(f, h), w.change.Patches.Reader(w.old.doc)
	half := w.change.Patches.Len(int64(len(w.old.doc))) / 2
	if _, err := io.CopyN(out, in, half); err != nil {
		return nil, err
	}
	w.s.fail(StepHalf)
	if _, err := io.Copy(out, in); err != nil {
		return nil, err
	}
	w.change.After = hex.EncodeToString(h.Sum(nil))
	w.s.fail(StepWritten)
	if w.old.doc != nil {
		if notes, err = adopt(f, w.t.real, w.old.info); err != nil {
			return nil, err
		}
	}
	w.s.fail(StepOwned)
	if err := f.Sync(); err != nil {
		return nil, err
	}
	w.s.fail(StepSynced)
	return notes, f.Close()
}

// readBack reads the new file into the room of the old document, so that a very
// large file is in memory once.
func (w *write) readBack() error {
	snap, err := read(w.change.Temp, w.r.limit()+slack, w.buf)
	if err != nil {
		return err
	}
	w.doc, w.buf, w.old.doc = snap.doc, snap.doc, nil
	if sum(snap.doc) != w.change.After {
		return &Error{
			Kind: Spoiled, Path: w.t.path, Msg: "what was written reads back as something else",
			Hint: "check the disk",
		}
	}
	if w.r.Verify != nil {
		return w.r.Verify(snap.doc)
	}
	return nil
}

// isOld reports whether path holds the old document, and nobody is writing it.
func (w *write) isOld(path string) (bool, error) {
	if w.change.Before == "" {
		return snapshot{}.still(path)
	}
	return calm(path, w.back.Reader(w.doc))
}

// isNew reports whether the file is as we wrote it.
func (w *write) isNew() (bool, error) {
	if w.change.Gone {
		return snapshot{}.still(w.t.real)
	}
	f, err := open(w.t.real)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return false, err
	}
	defer f.Close()
	return equal(f, bytes.NewReader(w.doc))
}

// swap puts the new file in the place of the old one, and the old one in its
// own, where the system can do that at once.
func (w *write) swap() error {
	temp, file := w.change.Temp, w.t.real
	if w.change.Gone {
		w.displaced = true
		return moveNew(file, temp)
	}
	if w.change.Before == "" {
		err := moveNew(temp, file)
		if errors.Is(err, fs.ErrExist) {
			return errMoved
		}
		return err
	}
	err := w.s.swap(temp, file)
	if errors.Is(err, errors.ErrUnsupported) {
		return os.Rename(temp, file)
	}
	w.displaced = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		return errMoved
	}
	return err
}

// settle looks whether the host wrote the file just when it was replaced. What
// it wrote then is in the displaced file: that one goes back if the host has
// not written the new one too.
func (w *write) settle(ctx context.Context, res *Result) (placed bool, err error) {
	ctx = context.WithoutCancel(ctx) // what has begun is ended
	if w.overtaken(ctx, res) {
		return false, errMoved
	}
	if err := atomicfile.SyncDir(filepath.Dir(w.t.real)); err != nil {
		return true, err
	}
	_ = w.s.wait(ctx, w.s.settle) // by then a slow writer has shown itself
	if w.overtaken(ctx, res) {
		return false, errMoved
	}
	w.s.fail(StepSettled)
	if ok, err := w.isNew(); err != nil || ok {
		return true, err
	}
	// The host has written the file since. It may have read ours first.
	now, err := w.s.readStill(ctx, w.t.real, w.r.limit(), w.buf)
	if err != nil {
		return true, err
	}
	w.buf = now.doc
	if p, err := w.plan(now.doc); err != nil || !p.nothing() {
		return true, errMoved
	}
	return true, nil
}

// overtaken reports whether the displaced file went back, as the host wrote it.
// If it can't, what the host wrote is kept as a backup.
func (w *write) overtaken(ctx context.Context, res *Result) bool {
	if !w.displaced {
		return false
	}
	if ok, err := w.isOld(w.change.Temp); err == nil && ok {
		return false
	}
	if took, _ := w.takeBack(); took {
		return true
	}
	w.displaced = false
	res.Notes = append(res.Notes, Overlapped)
	_ = w.s.journal(ctx, func(b *book) error { return b.saveDisplaced(&w.change) })
	return false
}

// takeBack puts the displaced file back, unless the file in its place has been
// written to by the host.
func (w *write) takeBack() (bool, error) {
	ours, err := w.isNew()
	if err != nil || !ours {
		return false, err
	}
	if w.change.Gone {
		err := moveNew(w.change.Temp, w.t.real)
		return err == nil, nil
	}
	if err := w.s.swap(w.change.Temp, w.t.real); err != nil {
		return false, err
	}
	f, err := open(w.change.Temp)
	if err != nil {
		return true, err
	}
	defer f.Close()
	if same, err := equal(f, bytes.NewReader(w.doc)); err != nil || same {
		return true, err
	}
	// Within these moments the host has written ours: that is its newest.
	return false, w.s.swap(w.change.Temp, w.t.real)
}

// abandon undoes what begin and make did. What it can't do is done by whoever
// opens the journal next.
func (w *write) abandon(ctx context.Context) {
	c := w.change
	if c.ID == 0 {
		return
	}
	_ = w.s.journal(context.WithoutCancel(ctx), func(b *book) error {
		if c.State == ready && !c.Gone { // else a new file that is gone would say that it is in place
			c.State = pending
			if err := b.putChange(&c); err != nil {
				return err
			}
		}
		return b.drop(c)
	})
}
