package hostfile

import (
	"context"
	"os"
	"path/filepath"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

// backup is where the backup of a content is.
func (s *Store) backup(hash string) string { return filepath.Join(s.backups(), hash) }

// keep makes a backup of doc, readable to this user alone.
func (s *Store) keep(doc []byte, hash string) error {
	if got, err := sumFile(s.backup(hash)); err == nil && got == hash {
		return nil
	}
	return refusal(s.backup(hash), atomicfile.WriteSync(s.backup(hash), doc, 0o600))
}

// Backup returns the path of the backup that c refers to, and false if there is
// none, because the file was new or too large, or because it was long ago.
func (s *Store) Backup(c Change) (string, bool) {
	if c.Backup == "" {
		return "", false
	}
	_, err := os.Stat(s.backup(c.Backup))
	return s.backup(c.Backup), err == nil
}

// DropBackups removes the backups of all changes that the filter takes. Their
// entries stay known, and changes can still be undone.
func (s *Store) DropBackups(ctx context.Context, f Filter) error {
	takes := f.takes()
	return s.journal(ctx, func(b *book) error {
		for _, c := range b.changes() {
			if c.Backup == "" || !takes(c.Path, c.Real, c.Owner, c.Host) {
				continue
			}
			c.Backup = ""
			if err := b.putChange(&c); err != nil {
				return err
			}
		}
		return b.prune()
	})
}
