package hostfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockPoll = 25 * time.Millisecond
	lockWait = 30 * time.Second // for another of us, who should need a second at most
)

// lock takes the lock of that name among all our processes. It goes with the
// process, however that ends.
func (s *Store) lock(ctx context.Context, name string) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	l := flock.New(filepath.Join(s.locks(), name))
	if _, err := l.TryLockContext(ctx, lockPoll); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, &Error{
				Kind: Busy, Path: l.Path(), Err: err, Msg: "another arenero is writing",
				Hint: "wait for it to end, then try again",
			}
		}
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	return func() { l.Unlock() }, nil
}

// tryLock is lock for who does not want to wait: nil if another has it.
func (s *Store) tryLock(name string) (func(), error) {
	l := flock.New(filepath.Join(s.locks(), name))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", l.Path(), err)
	}
	if !ok {
		return nil, nil
	}
	return func() { l.Unlock() }, nil
}

// Alone calls fn while no other of our processes does something of that name.
func (s *Store) Alone(ctx context.Context, name string, fn func() error) error {
	unlock, err := s.lock(ctx, name+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	return fn()
}

// TryAlone is Alone for what may be left undone while another is at it.
func (s *Store) TryAlone(name string, fn func() error) error {
	unlock, err := s.tryLock(name + ".lock")
	if err != nil || unlock == nil {
		return err
	}
	defer unlock()
	return fn()
}

// lockName is the name of the lock of a file. It is a hash, as paths are longer
// than names may be.
func lockName(key string) string {
	h := sha256.Sum256([]byte(key))
	return hex.EncodeToString(h[:16])
}
