package ledger

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/filelock"
	"github.com/arenero/arenero/app/internal/paths"
)

const (
	fileMode = 0o600
	// magic marks the files of this package, in SQLite's application_id.
	magic = 0x41726e65
	// readersMost is how many read at once: each has a cache.
	readersMost = 4
	// readersIdle is how long a connection for reading is kept for the next.
	readersIdle = 30 * time.Second
)

func open(ctx context.Context, cfg Config, steps []migration) (*Ledger, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, down(ReasonOther, err)
	}
	cfg.Path = path
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Busy == 0 {
		cfg.Busy = defaultBusy
	}
	l := &Ledger{
		cfg: cfg, clock: cfg.Clock, log: cfg.Log,
		queue: make(chan *operation, maxBatch), closing: make(chan struct{}), worked: make(chan struct{}),
		touched: map[string]time.Time{}, changed: make(chan struct{}), watchers: map[*watcher]bool{},
	}
	if err := paths.Private(filepath.Dir(path)); err != nil {
		return nil, l.explain(err)
	}
	// Two that open the file at once would both make it, or both migrate it.
	waiting, cancel := context.WithTimeout(ctx, cfg.Busy)
	defer cancel()
	lock, err := filelock.Wait(waiting, path+".lock")
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, down(ReasonLocked, err)
	}
	if err != nil {
		return nil, l.explain(err)
	}
	defer lock.Close()
	first := inUse.add(path, 1) == 1
	if err := l.prepare(ctx, steps, first); err != nil {
		inUse.add(path, -1)
		return nil, l.explain(err)
	}
	go l.work(context.WithoutCancel(ctx))
	return l, nil
}

// inUse are the files that this process has open. Closing any descriptor of one
// gives up the locks that the process has on it, so that looking at it with one
// of our own would take them from SQLite.
var inUse = uses{n: map[string]int{}}

type uses struct {
	mu sync.Mutex // guards n
	n  map[string]int
}

// add counts by more uses of a path, and returns how many there are.
func (u *uses) add(path string, by int) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n[path] += by; u.n[path] == 0 {
		delete(u.n, path)
		return 0
	}
	return u.n[path]
}

// prepare makes the file if need be, connects to it, and brings it up to date.
// first: this process does not have it open. The lock is held.
func (l *Ledger) prepare(ctx context.Context, steps []migration, first bool) (err error) {
	if first {
		err = l.look()
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = l.create(ctx, steps)
	}
	if err != nil {
		return err
	}
	// The journal of savepoints would be a file else, written to for each.
	if l.writers, err = connect(l.cfg.Path, l.cfg.Busy, "temp_store(MEMORY)"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			l.writers.Close()
			if l.readers != nil {
				l.readers.Close()
			}
		}
	}()
	l.writers.SetMaxOpenConns(1)
	l.writers.SetMaxIdleConns(1)
	if err := l.recognize(ctx); err != nil {
		return err
	}
	if err := l.migrate(ctx, steps); err != nil {
		return err
	}
	if l.readers, err = connect(l.cfg.Path, l.cfg.Busy, "query_only(1)"); err != nil {
		return err
	}
	l.readers.SetMaxOpenConns(readersMost)
	l.readers.SetMaxIdleConns(readersMost) // or they come and go all the time under load
	l.readers.SetConnMaxIdleTime(readersIdle)
	if err := l.takeOver(ctx); err != nil {
		return err
	}
	if l.records, err = loadRecords(ctx, l.writers); err != nil {
		return err
	}
	if _, err = l.writers.ExecContext(ctx, "SELECT count(*) FROM budgets"); err != nil {
		return err
	}
	return l.identify()
}

// look checks what can be seen of the file from outside. SQLite itself would
// take an empty file for a new one, and so forget what was spent.
func (l *Ledger) look() error {
	f, err := atomicfile.Open(l.cfg.Path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(l.cfg.Path + "-wal"); err == nil {
			return down(ReasonDamaged, fmt.Errorf("%s-wal is there without its file", l.cfg.Path))
		}
		return fs.ErrNotExist
	}
	if errors.Is(err, atomicfile.ErrNotRegular) {
		return down(ReasonDamaged, err)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 100)
	if _, err := io.ReadFull(f, head); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return down(ReasonDamaged, errors.New("the file is cut short"))
	} else if err != nil {
		return err
	}
	if !strings.HasPrefix(string(head), "SQLite format 3\x00") {
		return down(ReasonDamaged, errors.New("not a database"))
	}
	if wal, err := os.Stat(l.cfg.Path + "-wal"); err == nil && wal.Size() > 0 {
		return nil // the size is not final
	}
	size := int64(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if pages := int64(binary.BigEndian.Uint32(head[28:])); info.Size() < pages*size {
		return down(ReasonDamaged, fmt.Errorf("the file is cut short: %d bytes of %d", info.Size(), pages*size))
	}
	return nil
}

// recognize refuses the files of other programs.
func (l *Ledger) recognize(ctx context.Context) error {
	var id int64
	if err := l.writers.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if id != magic {
		return down(ReasonDamaged, fmt.Errorf("a database of another program, %#x", id))
	}
	return nil
}

// create makes the file beside its place, and moves it there when it is whole.
func (l *Ledger) create(ctx context.Context, steps []migration) error {
	fresh := l.cfg.Path + ".new"
	for _, left := range []string{fresh, fresh + "-journal"} { // of one that was killed at it
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_EXCL|os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer os.Remove(fresh)
	if err := f.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", source(fresh, "synchronous(FULL)"))
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", magic)); err != nil {
		return err
	}
	for _, step := range steps {
		if err := step.apply(ctx, db); err != nil {
			return err
		}
	}
	if err := l.first(ctx, db); err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := os.Rename(fresh, l.cfg.Path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(l.cfg.Path))
}

// connect opens a pool of connections to the file at path.
func connect(path string, busy time.Duration, pragmas ...string) (*sql.DB, error) {
	all := append([]string{
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
		"journal_mode(WAL)",
		"synchronous(FULL)",
		"foreign_keys(1)",
		"cache_size(-512)", // KiB: the engine is to stay small
		"journal_size_limit(4194304)",
		"trusted_schema(0)",
		"cell_size_check(1)",
	}, pragmas...)
	return sql.Open("sqlite", source(path, all...))
}

// source is the name of a file for the driver, which does not make it.
func source(path string, pragmas ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // a drive's letter
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"mode": {"rw"}, "_pragma": pragmas}.Encode()}
	return u.String()
}
