package ledger

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
)

// identify takes down which file is open.
func (l *Ledger) identify() error {
	info, err := os.Stat(l.cfg.Path)
	if err != nil {
		return err
	}
	os.SameFile(info, info) // else some systems look only later which it was
	l.file = info
	return nil
}

// InPlace reports whether the file that is open is still the one at its path.
// What is written to one that was deleted or replaced is lost with this process,
// though SQLite does not mind.
func (l *Ledger) InPlace() error {
	info, err := os.Stat(l.cfg.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return down(ReasonReplaced, err)
	case err != nil:
		return l.explain(err)
	case !os.SameFile(info, l.file):
		return down(ReasonReplaced, nil)
	}
	return nil
}

// An Extent is how much has been written into a ledger. Nothing in it ever
// becomes less, unless an older copy takes its place.
type Extent struct {
	Entries int64 `json:"entries"` // of the account
	Grants  int64 `json:"grants"`  // and their credentials, those that are over too
}

// Behind reports whether what has an extent e lacks something of what had f.
func (e Extent) Behind(f Extent) bool { return e.Entries < f.Entries || e.Grants < f.Grants }

// Extent returns how much has been written.
func (l *Ledger) Extent(ctx context.Context) (Extent, error) {
	var e Extent
	err := one(ctx, l.read(), func(rows *sql.Rows) error { return rows.Scan(&e.Entries, &e.Grants) },
		"SELECT coalesce((SELECT max(seq) FROM entries), 0), (SELECT count(*) FROM grants) + (SELECT count(*) FROM credentials)")
	return e, l.explain(err)
}
