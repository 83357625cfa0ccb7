package hostfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// Recover ends what a crash left half done, in every file where no other of our
// processes is at work: afterwards each file is the old or the new one, the
// journal says which, and the backups are those that the journal names.
func (s *Store) Recover(ctx context.Context) error {
	var files, locked []string
	err := s.peruse(ctx, func(b *book) error {
		for _, c := range b.changes() {
			if !c.ended() {
				files = append(files, c.Real)
			}
		}
		locked = all[string](b, kindLock)
		return nil
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, s.alone(key(file), func() error { return s.settleFile(ctx, file) }))
	}
	for _, path := range locked {
		t, err := find(path)
		if err != nil { // the folder is gone, and the lock with it
			t.real = path
		}
		errs = append(errs, s.alone(key(t.real), func() error {
			s.clearCline(path)
			return s.journal(ctx, func(b *book) error { return b.dropLock(path) })
		}))
	}
	errs = append(errs, s.journal(ctx, func(b *book) error {
		err := atomicfile.Sweep(s.dir, func(name string) bool { return name == journalFile })
		return errors.Join(err, b.prune())
	}))
	return errors.Join(errs...)
}

// alone calls fn while nobody else changes the file with that key, and not at
// all if somebody does.
func (s *Store) alone(key string, fn func() error) error {
	unlock, err := s.tryLock(lockName(key))
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	return fn()
}

// settleFile ends what a crash left of changes of one file, whose lock is held.
func (s *Store) settleFile(ctx context.Context, realPath string) error {
	var left []Change
	err := s.peruse(ctx, func(b *book) error {
		for _, c := range b.changes() {
			if !c.ended() && key(c.Real) == key(realPath) {
				left = append(left, c)
			}
		}
		return nil
	})
	if err != nil || len(left) == 0 {
		return err
	}
	return s.journal(ctx, func(b *book) error {
		for _, c := range left {
			if err := b.finish(c); err != nil {
				return fmt.Errorf("end a change that broke off: %w", err)
			}
		}
		return nil
	})
}

// finish finds out by the files themselves how far a change came.
func (b *book) finish(c Change) error {
	if c.State == pending {
		return b.drop(c)
	}
	file, err := sumFile(c.Real)
	if err != nil {
		return err
	}
	temp, err := sumFile(c.Temp)
	if err != nil {
		return err
	}
	if c.Gone {
		return b.finishGone(c, file, temp)
	}
	hosts := temp != "" && temp != c.Before && temp != c.After // the host wrote it while it was displaced
	switch {
	case temp == c.After, file == c.Before && temp == "":
		if file != c.After {
			return b.drop(c)
		}
	case file == c.After && hosts:
		if err := b.store.swap(c.Temp, c.Real); err != nil {
			return err
		}
		return b.drop(c)
	case hosts:
		if err := b.saveDisplaced(&c); err != nil {
			return err
		}
	}
	if err := remove(c.Temp); err != nil {
		return err
	}
	return b.commit(&c)
}

// finishGone is finish for a file that was to be removed.
func (b *book) finishGone(c Change, file, temp string) error {
	switch {
	case temp == "" && file != "": // not begun
		return b.drop(c)
	case temp != "" && temp != c.Before && file == "": // the host wrote it meanwhile
		if err := moveNew(c.Temp, c.Real); err != nil {
			return err
		}
		return b.drop(c)
	case temp != "" && temp != c.Before:
		if err := b.saveDisplaced(&c); err != nil {
			return err
		}
	}
	if err := remove(c.Temp); err != nil {
		return err
	}
	if file == "" {
		removeEmpty(c.Dirs)
	}
	return b.commit(&c)
}

// remove removes a file that may be gone.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// drop forgets a change that did not come to be.
func (b *book) drop(c Change) error {
	if err := remove(c.Temp); err != nil {
		return err
	}
	if c.Before == "" {
		removeEmpty(c.Dirs)
	}
	if err := b.dropChange(c); err != nil {
		return err
	}
	return b.prune()
}

// commit stores that a change is in place, and what that means for its entry.
// That it is in place comes last: who is killed before that begins again, and
// what was stored by then is stored once more.
func (b *book) commit(c *Change) error {
	if err := b.settle(*c); err != nil {
		return err
	}
	c.State = Done
	if err := b.putChange(c); err != nil {
		return err
	}
	return b.prune()
}

// settle stores what a change means for its entry.
func (b *book) settle(c Change) error {
	switch {
	case c.Act == Undone:
		return b.takeBack(c)
	case c.Place.Name == "":
		return nil
	}
	r := Record{
		Path: c.Path, Real: c.Real, Owner: c.Owner, Host: c.Host, Scope: c.Scope, Grammar: c.Grammar, Place: c.Place,
		Made: c.Made, After: c.After, Time: c.Time, Removed: c.Act == Removed,
	}
	switch {
	case c.Act == Inserted:
		r.Inserted = c.ID
	case c.Act == Updated && c.Was != nil && !c.Was.Removed:
		r.Made, r.Inserted = c.Was.Made, c.Was.Inserted
	}
	return b.putRecord(r)
}

// takeBack stores that the change which c undoes has not happened.
func (b *book) takeBack(c Change) error {
	var of *Change
	for _, old := range b.changes() {
		if old.ID == c.Undoes {
			of = &old
		}
	}
	if of == nil {
		return nil
	}
	of.State = Revoked
	if err := b.putChange(of); err != nil {
		return err
	}
	if of.Place.Name == "" {
		return nil
	}
	if of.Was != nil {
		return b.putRecord(*of.Was)
	}
	r := b.record(of.Real, of.Place)
	if r == nil {
		return nil
	}
	r.Removed, r.Time, r.After = true, c.Time, c.After
	return b.putRecord(*r)
}

// saveDisplaced makes a backup of what the host wrote into the displaced file,
// in place of the one from before.
func (b *book) saveDisplaced(c *Change) error {
	snap, err := read(c.Temp, maxBackups, nil)
	if err != nil {
		return err
	}
	c.Backup = sum(snap.doc)
	if err := b.putChange(c); err != nil || snap.doc == nil {
		return err
	}
	return b.store.keep(snap.doc, c.Backup)
}
