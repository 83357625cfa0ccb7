package hostfile

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Cline locks its settings by a folder beside them, FILE.lock, which holds a
// file owner.TOKEN. It is made under another name and renamed, so it is never
// seen empty. A lock that is 10 s old belongs to nobody any more.

const (
	clinePoll  = 25 * time.Millisecond
	clineStale = 10 * time.Second
)

// lockCline takes that lock for the file at path. Our own lock of that file
// must be held: then a lock with a token of this store is what a crash left.
func (s *Store) lockCline(ctx context.Context, path string) (func(), error) {
	mark := s.clineMark()
	lock, token := path+".lock", mark+rand.Text()
	owner := "owner." + token
	if err := s.journal(ctx, func(b *book) error { return b.putLock(path) }); err != nil {
		return nil, err
	}
	s.clearCline(path)
	if err := makeFolder(path); err != nil {
		return nil, refusal(path, err)
	}
	staged := path + ".lock.tmp." + token
	if err := os.Mkdir(staged, 0o700); err != nil {
		return nil, refusal(path, err)
	}
	defer os.RemoveAll(staged)
	if err := os.WriteFile(filepath.Join(staged, owner), []byte(token), 0o600); err != nil {
		return nil, refusal(path, err)
	}
	s.fail(StepStaged)

	// How old a lock is goes by how long we saw it, not by its time: clocks may
	// be wrong.
	seen, since := "", s.clock.Now()
	for {
		err := os.Rename(staged, lock)
		if err == nil {
			break
		}
		if _, serr := os.Lstat(lock); serr != nil && !errors.Is(serr, fs.ErrNotExist) || !errors.Is(err, fs.ErrExist) && serr != nil {
			return nil, refusal(path, err)
		}
		if now := clineOwner(lock); now != seen {
			seen, since = now, s.clock.Now()
		}
		if s.clock.Since(since) >= clineStale {
			aside := lock + ".stale." + token
			if err := os.Rename(lock, aside); err == nil {
				os.RemoveAll(aside)
			}
			continue
		}
		if err := s.wait(ctx, clinePoll); err != nil {
			return nil, err
		}
	}
	s.fail(StepClineLocked)
	return func() {
		os.Remove(filepath.Join(lock, owner))
		os.Remove(lock) // not if another owner took it over
		s.fail(StepClineUnlocked)
		// A record too many does no harm: it says where to look for leftovers.
		_ = s.journal(context.WithoutCancel(ctx), func(b *book) error { return b.dropLock(path) })
	}, nil
}

// clineMark begins the tokens of this store.
func (s *Store) clineMark() string { return "arenero-" + lockName(s.dir)[:12] + "." }

// clineOwner is the name of the owner's file of a lock, if it has one.
func clineOwner(lock string) string {
	entries, err := os.ReadDir(lock)
	if err != nil || len(entries) == 0 {
		return ""
	}
	return entries[0].Name()
}

// clearCline removes what a crash of ours left of a lock.
func (s *Store) clearCline(path string) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), base+".lock")
		if !ours || !e.IsDir() {
			continue
		}
		folder := filepath.Join(dir, e.Name())
		switch {
		case rest == "":
			owner := clineOwner(folder)
			if strings.HasPrefix(owner, "owner."+s.clineMark()) {
				os.Remove(filepath.Join(folder, owner))
				os.Remove(folder)
			}
		case strings.HasPrefix(rest, ".tmp."+s.clineMark()), strings.HasPrefix(rest, ".stale."+s.clineMark()):
			os.RemoveAll(folder)
		}
	}
}
