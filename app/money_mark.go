package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// A ledgerMark is what is known of the ledger without it, in a small file beside
// it: whom to refuse while it can't be used, and by what to see that an older
// copy has taken its place.
type ledgerMark struct {
	path string

	mu   sync.Mutex // guards have
	have markRecord
}

type markRecord struct {
	Extent ledger.Extent `json:"extent"`
	Bound  []string      `json:"bound"` // connections that use other grants than the owner's
}

// read takes in what the last engine knew. Without the file that is nothing.
func (m *ledgerMark) read() error {
	text, err := atomicfile.Read(m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return json.Unmarshal(text, &m.have)
}

func (m *ledgerMark) record() markRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.have
}

// binds reports whether a connection used another grant than the owner's when
// that was last known.
func (m *ledgerMark) binds(connection string) bool {
	return connection != "" && slices.Contains(m.record().Bound, connection)
}

// take reads the mark of a ledger, and writes it down if it is another one.
func (m *ledgerMark) take(ctx context.Context, l *ledger.Ledger) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	extent, err := l.Extent(ctx)
	if err != nil {
		return err
	}
	bound, err := l.Connections(ctx)
	if err != nil {
		return err
	}
	next := markRecord{Extent: extent, Bound: []string{}}
	for _, c := range bound {
		next.Bound = append(next.Bound, c.ID)
	}
	text := encode(next)
	if bytes.Equal(text, encode(m.have)) {
		return nil
	}
	m.have = next
	return atomicfile.Write(m.path, text, 0o600)
}

// remark keeps the mark of the ledger as it is now, if that can be told.
func (a *books) remark(ctx context.Context) {
	if err := a.mark.take(ctx, a.ledger); err != nil {
		a.log.Warn("mark of the ledger not kept", "err", err)
	}
}

// compare tells if the ledger is an older one than that of the last engine.
func (a *books) compare(ctx context.Context) {
	before := a.mark.record().Extent
	now, err := a.ledger.Extent(ctx)
	if err != nil {
		a.log.Error("extent of the ledger can't be read", "err", err)
		return
	}
	if now.Behind(before) {
		a.log.Error("ledger is older than when it was last used", "entries", now.Entries, "entries_before", before.Entries, "grants", now.Grants, "grants_before", before.Grants)
		a.emit(sandbox.Event{Kind: sandbox.EventLedger, Severity: sandbox.SeverityError, Subject: "ledger.db", Data: map[string]any{
			"entries": now.Entries, "entries_before": before.Entries, "grants": now.Grants, "grants_before": before.Grants,
		}})
	}
	a.remark(ctx)
}

// inPlace returns why the ledger is not the file that it should be.
func (a *books) inPlace() error {
	err := a.ledger.InPlace()
	if err == nil {
		return nil
	}
	e := *sandbox.ToError(err)
	e.Hint += restart
	return &e
}
