package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// ledger looks whether the account can be used, and adds up. Without it no
// sandbox begins.
func (d *Doctor) ledger(ctx context.Context, x *exam) {
	file := filepath.Join(d.dirs.State, "ledger.db")
	x.detail("file", file)
	found, err := d.askLedger(ctx)
	if code := sandbox.CodeOf(err); code == sandbox.Unreachable {
		found, err = d.openLedger(ctx, file)
	}
	switch {
	case sandbox.CodeOf(err) == sandbox.StoreDown:
		what, remedy := ledgerTrouble(err, file)
		x.fail(what, remedy)
	case errors.Is(err, fs.ErrNotExist):
		x.ok(text("doctor.ledger.none"))
	case err != nil:
		x.skip(text("doctor.ledger.unknown", "why", cause(err)))
	case len(found) > 0:
		x.detail("violations", found)
		first := found[0]
		x.fail(text("doctor.ledger.odd", "count", strconv.Itoa(len(found)), "rule", first.Rule, "subject", first.Subject), text("doctor.ledger.odd.remedy", "file", file))
	default:
		x.ok(text("doctor.ledger.ok"))
	}
}

// askLedger has the engine that runs check its account, and starts none.
func (d *Doctor) askLedger(ctx context.Context) ([]sandbox.Violation, error) {
	path, err := control.Path()
	if err != nil {
		return nil, err
	}
	client := control.NewClient(path)
	defer client.Close()
	return client.CheckLedger(ctx)
}

// openLedger checks a copy of the file, since to open it may change it.
func (d *Doctor) openLedger(ctx context.Context, file string) ([]sandbox.Violation, error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, left := os.Stat(file + "-wal"); left == nil {
			return nil, &sandbox.Error{Code: sandbox.StoreDown, Details: map[string]any{"reason": ledger.ReasonDamaged}, Err: err}
		}
		return nil, err
	case err != nil:
		return nil, &sandbox.Error{Code: sandbox.StoreDown, Details: map[string]any{"reason": ledger.ReasonReadOnly}, Err: err}
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "arenero-doctor-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	twin := filepath.Join(dir, filepath.Base(file))
	for _, end := range []string{"", "-wal"} {
		if err := copyFile(file+end, twin+end); err != nil && (end == "" || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	l, err := ledger.Open(ctx, ledger.Config{Path: twin, Clock: d.cfg.Clock, Log: d.cfg.Log})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var out []sandbox.Violation
	found, err := l.Check(ctx)
	for _, v := range found {
		out = append(out, sandbox.Violation{Rule: v.Rule, Subject: v.Subject, Text: v.Detail})
	}
	return out, err
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// ledgerTrouble says why the account can't be used, and what to do.
func ledgerTrouble(err error, file string) (what, remedy hostconf.Text) {
	reason, _ := sandbox.ToError(err).Details["reason"].(string)
	switch reason {
	case ledger.ReasonDamaged:
		return text("doctor.ledger.damaged", "file", file), text("doctor.ledger.damaged.remedy", "file", file)
	case ledger.ReasonReadOnly:
		return text("doctor.ledger.closed", "file", file), text("doctor.ledger.closed.remedy", "file", file)
	case ledger.ReasonFull:
		return text("doctor.ledger.full", "file", file), text("doctor.ledger.full.remedy")
	case ledger.ReasonNewer:
		return text("doctor.ledger.newer", "file", file), text("doctor.ledger.newer.remedy")
	case ledger.ReasonLocked:
		return text("doctor.ledger.locked", "file", file), text("doctor.ledger.locked.remedy")
	}
	return text("doctor.ledger.broken", "file", file, "why", cause(err)), text("doctor.ledger.broken.remedy")
}
