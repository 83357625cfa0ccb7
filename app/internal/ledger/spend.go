package ledger

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A Heading is what spending is summed up by.
type Heading string

// The headings.
const (
	ByDay      Heading = "day" // in UTC: 2006-01-02
	ByHost     Heading = "host"
	ByProfile  Heading = "profile"
	ByTemplate Heading = "template"
	ByGrant    Heading = "grant" // by its ID
)

var headings = map[Heading]string{
	ByDay:     "strftime('%Y-%m-%d', CASE resolved_at WHEN 0 THEN :now ELSE resolved_at END / 1000000000, 'unixepoch')",
	ByHost:    "host",
	ByProfile: "profile", ByTemplate: "template", ByGrant: "grant_id",
}

// Spend sums up the orders that were settled at or after since and before until,
// zero being any time, and those that are still open if until has not passed. Of
// the latter it counts what is held, not what they have cost so far. With a grant
// only its orders count.
func (l *Ledger) Spend(ctx context.Context, by Heading, grant string, since, until time.Time) ([]sandbox.SpendRow, error) {
	key, ok := headings[by]
	if !ok {
		return nil, invalid("spending can't be summed up by that")
	}
	now := l.clock.Now()
	end := until
	if end.IsZero() {
		end = time.Unix(0, 1<<63-1)
	}
	var out []sandbox.SpendRow
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		var r sandbox.SpendRow
		err := rows.Scan(&r.Key, &r.Cost.Compute, &r.Cost.Launch, &r.Cost.Cycles, &r.Cost.Storage, &r.Cost.Total, &r.Held, &r.Would,
			&r.Sandboxes, &r.Unpriced, &r.Seconds)
		out = append(out, r)
		return err
	}, `SELECT `+key+` AS key,
			sum(paid * compute_micro), sum(paid * launch_micro), sum(paid * cycles_micro), sum(paid * storage_micro), sum(paid * coalesce(settled_micro, 0)),
			sum(open * hold_micro), sum((1 - open) * would_micro), count(*), sum(unpriced),
			sum(CASE WHEN started_at = 0 THEN 0 ELSE max(0, CASE ended_at WHEN 0 THEN :now ELSE ended_at END - started_at) END) / 1000000000
		FROM (SELECT *, state = 'settled' AND NOT local AS paid, resolved_at = 0 AS open FROM orders
			WHERE state = 'settled' AND resolved_at >= :since AND resolved_at < :until OR :live AND `+isOpen+`)
		WHERE :grant IN ('', grant_id)
		GROUP BY key ORDER BY key`,
		sql.Named("now", stamp(now)), sql.Named("since", stamp(since)), sql.Named("until", stamp(end)),
		sql.Named("live", now.Before(end)), sql.Named("grant", grant))
	return out, l.explain(err)
}

// factMark is the latest time that was seen.
const factMark = "clock"

// Mark takes in that it is at, for a clock that goes back to be noticed. An
// earlier time than the last one changes nothing. It outlives this process, but
// maybe not a power cut.
func (l *Ledger) Mark(ctx context.Context, at time.Time) error {
	return l.write(ctx, false, func(t *tx) error {
		return t.do(`INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value
			WHERE CAST(value AS INTEGER) < CAST(excluded.value AS INTEGER)`, factMark, strconv.FormatInt(stamp(at), 10))
	})
}

// ResetMark takes in that it is at, though that may be earlier than the last
// mark: somebody said that the clock is right.
func (l *Ledger) ResetMark(ctx context.Context, at time.Time) error {
	return l.write(ctx, true, func(t *tx) error {
		return t.do("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)", factMark, strconv.FormatInt(stamp(at), 10))
	})
}

// LastMark returns the latest time that was marked, zero if none was.
func (l *Ledger) LastMark(ctx context.Context) (time.Time, error) {
	var at int64
	err := one(ctx, l.read(), func(rows *sql.Rows) error { return rows.Scan(&at) }, "SELECT value FROM facts WHERE name = ?", factMark)
	if errors.Is(err, errNone) {
		return time.Time{}, nil
	}
	return moment(at), l.explain(err)
}
