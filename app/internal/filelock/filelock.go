// Package filelock lets one process at a time do something. A lock goes with the
// process that has it, however that ends.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrTaken means that another process, or another part of this one, has the lock.
var ErrTaken = errors.New("the lock is taken")

// poll is how often a taken lock is tried again.
const poll = 5 * time.Millisecond

// A Lock is a lock that this process has.
type Lock struct{ l *flock.Flock }

// newLock is a lock on the file at path, which is made if it is missing, for its
// owner alone. It is opened for writing too, which never waits for the other end
// of a pipe.
func newLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
}

// Try takes the lock at path, or fails with ErrTaken. The folder must exist.
func Try(path string) (*Lock, error) {
	l := newLock(path)
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		l.Close()
		return nil, ErrTaken
	}
	return &Lock{l}, nil
}

// Wait takes the lock at path when it is free. It fails with the error of ctx if
// that ends first. The folder must exist.
func Wait(ctx context.Context, path string) (*Lock, error) {
	l := newLock(path)
	if _, err := l.TryLockContext(ctx, poll); err != nil {
		l.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &Lock{l}, nil
}

// Close gives the lock back. The file stays.
func (l *Lock) Close() error { return l.l.Close() }
