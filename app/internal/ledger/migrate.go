package ledger

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration brings a file from one version to the next.
type migration struct {
	version int
	text    string // SQL
}

// migrations are all there are: the n-th leads to version n.
func migrations() []migration {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is fixed
	}
	slices.Sort(names)
	var all []migration
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic(err) // it is part of the program
		}
		all = append(all, migration{i + 1, string(text)})
	}
	return all
}

// apply does all of m or nothing.
func (m migration) apply(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, m.text+fmt.Sprintf("\n;PRAGMA user_version = %d", m.version))
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		if _, rerr := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); rerr != nil {
			discard(conn)
		}
		return fmt.Errorf("migrate to version %d: %w", m.version, err)
	}
	return nil
}

// migrate brings the file to the last version. Before each step it is copied
// beside itself. The lock is held.
func (l *Ledger) migrate(ctx context.Context, steps []migration) error {
	var version int
	if err := l.writers.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(steps) {
		return down(ReasonNewer, fmt.Errorf("the file has version %d, this program knows up to %d", version, len(steps)))
	}
	if version < 1 {
		return down(ReasonDamaged, fmt.Errorf("the file has version %d", version))
	}
	for _, step := range steps[version:] {
		if err := l.backup(ctx, step.version-1); err != nil {
			return err
		}
		if err := step.apply(ctx, l.writers); err != nil {
			return err
		}
		l.log.Info("ledger migrated", "version", step.version)
	}
	return nil
}

// backupPath is where the file is copied to before it leaves a version.
func (l *Ledger) backupPath(version int) string {
	return fmt.Sprintf("%s.v%d.bak", l.cfg.Path, version)
}

// backup copies the file as it is. A copy of an earlier attempt is replaced.
func (l *Ledger) backup(ctx context.Context, version int) error {
	fresh := l.backupPath(version) + ".new"
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_RDWR, fileMode) // SQLite would leave its mode to the umask
	if err != nil {
		return err
	}
	defer os.Remove(fresh)
	defer f.Close()
	if _, err := l.writers.ExecContext(ctx, "VACUUM INTO ?", fresh); err != nil {
		return fmt.Errorf("copy before migrating: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("copy before migrating: %w", err)
	}
	if err := os.Rename(fresh, l.backupPath(version)); err != nil {
		return fmt.Errorf("copy before migrating: %w", err)
	}
	return atomicfile.SyncDir(filepath.Dir(l.cfg.Path))
}
