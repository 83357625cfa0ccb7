package ledger

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/arenero/arenero/app/sandbox"
)

// The reasons for which a ledger can't be used, as the detail "reason" of a
// [sandbox.Error] with the code StoreDown.
const (
	ReasonDamaged  = "damaged"
	ReasonFull     = "full"      // the disk
	ReasonReadOnly = "read_only" // the file, its folder or the disk
	ReasonNewer    = "newer"     // a newer program wrote it
	ReasonLocked   = "locked"    // another process has it
	ReasonClosed   = "closed"    // this program is ending
	ReasonReplaced = "replaced"  // while it was open
	ReasonOther    = "other"     // the disk fails
)

// remedies say what each reason is, and what to do about it.
var remedies = map[string][2]string{
	ReasonDamaged:  {"the file is damaged", "nothing of it was deleted: put a copy in its place (those that end in .bak are made before updates), or move it away to begin without what it knew"},
	ReasonFull:     {"the disk is full", "make room on it; nothing is lost, and no restart is needed"},
	ReasonReadOnly: {"the file can't be written to", "let your user write to it, its folder and its disk"},
	ReasonNewer:    {"a newer version of Arenero wrote the file", "update Arenero, or put back the copy that the update made (it ends in .bak)"},
	ReasonLocked:   {"another program is using the file", "end that program, or try again in a moment"},
	ReasonClosed:   {"Arenero is ending", "try again when it runs"},
	ReasonReplaced: {"the file was deleted or replaced while it was in use", "put back the one that was there, if there is a copy; what happens meanwhile is not kept"},
	ReasonOther:    {"the disk did not do as told", "see that the disk is there and works; the log says more"},
}

// down is the error for a ledger that can't be used.
func down(reason string, err error) *sandbox.Error {
	r := remedies[reason]
	return &sandbox.Error{
		Code: sandbox.StoreDown, Msg: "the record of what sandboxes cost can't be used: " + r[0], Hint: r[1],
		Retryable: reason == ReasonLocked || reason == ReasonFull,
		Details:   map[string]any{"reason": reason}, Err: err,
	}
}

// leastSpace is what has to be free on a disk for SQLite to work at all.
const leastSpace = 128 << 10

// explain turns what the file, the disk and SQLite have to say into errors for
// people. Others stay.
func (l *Ledger) explain(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*sandbox.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if reason := l.reason(err); reason != "" {
		return down(reason, err)
	}
	select {
	case <-l.closing:
		return down(ReasonClosed, err)
	default:
		return err
	}
}

// reason is why err happened, or "" if that has nothing to do with the file.
func (l *Ledger) reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ReasonReadOnly
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return ReasonFull
	}
	if _, ok := errors.AsType[*fs.PathError](err); ok {
		return ReasonOther
	}
	code := codeOf(err)
	switch code & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ReasonDamaged
	case sqlite3.SQLITE_FULL:
		return ReasonFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return ReasonReadOnly
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return ReasonLocked
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		if free, err := freeSpace(filepath.Dir(l.cfg.Path)); err == nil && free < leastSpace {
			return ReasonFull
		}
		return ReasonOther
	}
	return ""
}

// codeOf is SQLite's code for err, or 0.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// unique reports whether err is that something is there already.
func unique(err error) bool {
	code := codeOf(err)
	return code == sqlite3.SQLITE_CONSTRAINT_UNIQUE || code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

// broken reports whether after err nothing more can be done in a transaction.
func broken(err error) bool {
	code := codeOf(err) & 0xff
	return code != 0 && code != sqlite3.SQLITE_CONSTRAINT
}

func invalid(msg string) *sandbox.Error { return &sandbox.Error{Code: sandbox.Invalid, Msg: msg} }

func missing(msg string) *sandbox.Error { return &sandbox.Error{Code: sandbox.NotFound, Msg: msg} }
