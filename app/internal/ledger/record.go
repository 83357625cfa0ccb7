package ledger

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/journal"
)

// Put keeps a small record, or replaces it. With durable it is on the disk when
// Put returns; else it outlives this process, but maybe not a power cut.
func (l *Ledger) Put(kind, key string, value []byte, durable bool) error {
	value = append([]byte{}, value...)
	return l.write(context.Background(), durable, func(t *tx) error {
		t.after = append(t.after, func() { l.keep(kind, key, value) })
		return t.do("INSERT INTO records (kind, key, value) VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value",
			kind, key, value)
	})
}

// Delete drops a record. It need not exist.
func (l *Ledger) Delete(kind, key string) error {
	l.mu.Lock()
	_, had := l.records[kind][key]
	l.mu.Unlock()
	if !had {
		return nil
	}
	return l.write(context.Background(), false, func(t *tx) error {
		t.after = append(t.after, func() { l.keep(kind, key, nil) })
		return t.do("DELETE FROM records WHERE kind = ? AND key = ?", kind, key)
	})
}

// All returns the records of a kind, by key, as this process knows them.
func (l *Ledger) All(kind string) map[string][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string][]byte{}
	maps.Copy(out, l.records[kind])
	return out
}

// keep takes in that a record has changed; nil is its end.
func (l *Ledger) keep(kind, key string, value []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if value == nil {
		delete(l.records[kind], key)
		return
	}
	if l.records[kind] == nil {
		l.records[kind] = map[string][]byte{}
	}
	l.records[kind][key] = value
}

func loadRecords(ctx context.Context, db *sql.DB) (map[string]map[string][]byte, error) {
	all := map[string]map[string][]byte{}
	err := each(ctx, reading{db}, func(rows *sql.Rows) error {
		var kind, key string
		var value []byte
		if err := rows.Scan(&kind, &key, &value); err != nil {
			return err
		}
		if all[kind] == nil {
			all[kind] = map[string][]byte{}
		}
		all[kind][key] = value
		return nil
	}, "SELECT kind, key, value FROM records")
	return all, err
}

// factJournal is the digest of the journal that was taken over last.
const factJournal = "journal"

// takeOver moves the records of an earlier version's journal into the file. A
// damaged journal is put aside, as that version did: what it knew of shows up
// as sandboxes that are nobody's. The lock is held.
func (l *Ledger) takeOver(ctx context.Context) error {
	path := l.cfg.Journal
	if path == "" {
		return nil
	}
	text, err := atomicfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	old, err := journal.Read(path)
	if errors.Is(err, journal.ErrDamaged) {
		l.log.Error("journal put aside", "err", err)
		return putAside(path, ".damaged")
	}
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	txn, err := l.writers.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer txn.Rollback()
	var last string
	if err := txn.QueryRowContext(ctx, "SELECT value FROM facts WHERE name = ?", factJournal).Scan(&last); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if last != digest { // else only the renaming failed, and the records here are newer
		for kind, records := range old.Kinds() {
			for key, value := range records {
				if _, err := txn.ExecContext(ctx, "INSERT OR REPLACE INTO records (kind, key, value) VALUES (?, ?, ?)", kind, key, value); err != nil {
					return err
				}
			}
		}
		if _, err := txn.ExecContext(ctx, "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", factJournal, digest); err != nil {
			return err
		}
		if err := txn.Commit(); err != nil {
			return err
		}
		l.log.Info("journal taken over")
	}
	return putAside(path, ".migrated")
}

// putAside renames a file, to a name that is free.
func putAside(path, suffix string) error {
	to := path + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(path, to)
		} else if err != nil {
			return err
		}
		to = fmt.Sprintf("%s%s.%d", path, suffix, n)
	}
}
