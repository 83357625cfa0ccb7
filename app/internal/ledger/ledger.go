// Package ledger keeps what must outlive this program in one SQLite file: the
// grants and what opens them, budgets, what is held and was spent for each
// sandbox, events, and the small records of the fleet.
//
// Amounts are held before anything is made, in one transaction over all budgets
// that an order counts for, so that spent and held stay below each limit at
// every commit. Writes of many callers share a commit, and so one wait for the
// disk.
package ledger

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// A Config says where a ledger is and what it works with.
type Config struct {
	// Path is the file, in a folder for its owner alone, which is made if it is
	// missing.
	Path string
	// Journal is the file that earlier versions kept records in. If it is there
	// they are taken over, and the file gets ".migrated" at the end of its name.
	Journal string
	Clock   clockwork.Clock // nil is the real one
	Log     *slog.Logger    // nil is none
	// Busy is how long to wait for another process that has the file; zero is
	// five seconds.
	Busy time.Duration
}

const defaultBusy = 5 * time.Second

// A Ledger is an open file. Its methods may be called by many at once. What
// fails because of the file is a [sandbox.Error] with the code StoreDown: its
// detail "reason" is one of the Reason constants.
type Ledger struct {
	cfg   Config
	clock clockwork.Clock
	log   *slog.Logger

	writers *sql.DB // one connection, used by the goroutine of work
	readers *sql.DB
	queue   chan *operation
	closing chan struct{}
	worked  chan struct{} // closed when work has ended
	close   sync.Once
	file    os.FileInfo // which is open

	mu       sync.Mutex                   // guards what follows
	records  map[string]map[string][]byte // by kind and key, as last committed
	touched  map[string]time.Time         // by credential: the minute of the last touch
	changed  chan struct{}                // closed, and replaced, when an order changes its state
	watchers map[*watcher]bool
}

// Open opens the ledger of cfg, and makes it if it is missing. What it finds
// damaged, or of a newer version, stays as it is.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	return open(ctx, cfg, migrations())
}

// Close waits for the writes that have begun, and ends the use of the file.
func (l *Ledger) Close() error {
	var err error
	l.close.Do(func() {
		close(l.closing)
		<-l.worked
		err = l.readers.Close()
		if werr := l.writers.Close(); err == nil {
			err = werr
		}
		inUse.add(l.cfg.Path, -1)
		l.unwatch()
	})
	return err
}

// stamp is a time as the file has it.
func stamp(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// moment is the time of a stamp.
func moment(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}
