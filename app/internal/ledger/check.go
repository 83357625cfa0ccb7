package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// A Violation is something in the file that can't be so.
type Violation struct {
	Rule    string `json:"rule"`    // which is broken: one of the Rule constants
	Subject string `json:"subject"` // a budget, an order, an entry or a place in the file
	Detail  string `json:"detail"`  // what is there, and what should be
}

// The rules that Check knows.
const (
	RuleFile        = "file"        // SQLite can read all of it, and what is referred to is there
	RuleHeld        = "held"        // a budget holds the sum of what its open orders hold
	RuleSpent       = "spent"       // a budget has spent the sum of the settlements of its period
	RuleLimit       = "limit"       // spent and held are within the limit, or it is marked why not
	RuleHold        = "hold"        // an order is held for in three budgets, a local one in none
	RuleAmount      = "amount"      // an order's entries sum up to what it holds
	RuleResolved    = "resolved"    // a final order has one settlement or release in each budget, an open one none
	RuleOrphan      = "orphan"      // entries are of orders and budgets
	RuleIdempotency = "idempotency" // keys are of orders of the same grant that came to something
)

// checks find what breaks each rule: each query has a subject and a detail.
var checks = []struct{ rule, query string }{
	{RuleHeld, `SELECT level || ':' || owner, held_micro || ' is held, its open orders hold ' || want FROM (
		SELECT b.*, coalesce((SELECT sum(o.hold_micro) FROM entries e JOIN orders o ON o.id = e.order_id
			WHERE e.budget_id = b.id AND e.kind = 'hold' AND o.` + isOpen + `), 0) AS want FROM budgets b)
		WHERE held_micro <> want`},
	{RuleSpent, `SELECT level || ':' || owner, spent_micro || ' is spent, its settlements are ' || want FROM (
		SELECT b.*, coalesce((SELECT sum(amount_micro) FROM entries e WHERE e.budget_id = b.id AND e.kind = 'settle' AND e.at >= b.since), 0) AS want FROM budgets b)
		WHERE spent_micro <> want`},
	{RuleLimit, `SELECT level || ':' || owner, spent_micro || ' is spent and ' || held_micro || ' held of ' || limit_micro FROM budgets
		WHERE spent_micro + held_micro > limit_micro AND NOT over_limit AND NOT lowered`},
	{RuleLimit, `SELECT level || ':' || owner, 'it is marked as over its limit, and is not' FROM budgets
		WHERE (over_limit OR lowered) AND (limit_micro IS NULL OR spent_micro + held_micro <= limit_micro)`},
	{RuleHold, `SELECT id, n || ' budgets hold for it' FROM (
		SELECT id, local, (SELECT count(*) FROM entries WHERE order_id = o.id AND kind = 'hold') AS n FROM orders o)
		WHERE n <> CASE local WHEN 0 THEN 3 ELSE 0 END`},
	{RuleAmount, `SELECT o.id, 'budget ' || e.budget_id || ' holds ' || sum(e.amount_micro) || ' for it, not ' || o.hold_micro
		FROM orders o JOIN entries e ON e.order_id = o.id AND e.kind IN ('hold', 'adjust')
		GROUP BY o.id, e.budget_id HAVING sum(e.amount_micro) <> o.hold_micro`},
	{RuleResolved, `SELECT o.id, 'it is ' || o.state || ', and budget ' || h.budget_id || ' has ' || count(e.seq) || ' settlements and releases of it'
		FROM orders o JOIN entries h ON h.order_id = o.id AND h.kind = 'hold'
		LEFT JOIN entries e ON e.order_id = o.id AND e.budget_id = h.budget_id AND e.kind IN ('settle', 'release')
		GROUP BY o.id, h.budget_id HAVING count(e.seq) <> CASE WHEN o.` + isOpen + ` THEN 0 ELSE 1 END`},
	{RuleResolved, `SELECT o.id, 'it is ' || o.state || ' for ' || coalesce(o.settled_micro, o.hold_micro) || ', and an entry is a ' || e.kind || ' of ' || e.amount_micro
		FROM orders o JOIN entries e ON e.order_id = o.id AND e.kind IN ('settle', 'release')
		WHERE NOT (o.state = 'settled' AND e.kind = 'settle' AND e.amount_micro = o.settled_micro
			OR o.state = 'released' AND e.kind = 'release' AND e.amount_micro = o.hold_micro)`},
	{RuleOrphan, `SELECT 'entry ' || e.seq, 'order ' || e.order_id || ', budget ' || e.budget_id || ': one of them is not there' FROM entries e
		LEFT JOIN orders o ON o.id = e.order_id LEFT JOIN budgets b ON b.id = e.budget_id WHERE o.id IS NULL OR b.id IS NULL`},
	{RuleOrphan, `SELECT o.id, 'it is of grant ' || o.grant_id || ', which is not there' FROM orders o LEFT JOIN grants g ON g.id = o.grant_id WHERE g.id IS NULL`},
	{RuleIdempotency, `SELECT i.tool || ' ' || i.order_id, 'a key of grant ' || i.grant_id || ' is of an order that is ' || coalesce(o.state || ', of ' || o.grant_id, 'not there')
		FROM idempotency i LEFT JOIN orders o ON o.id = i.order_id
		WHERE o.id IS NULL OR o.grant_id <> i.grant_id OR o.state = 'released' OR (o.state = 'settled') <> (i.expires_at <> 0)`},
}

// looks have SQLite read the file. It reads all of it; only where money and
// rights are it compares each row with each index, which of events, the many,
// would take long and protect nothing.
var looks = []string{
	"PRAGMA quick_check", "PRAGMA integrity_check(facts)", "PRAGMA integrity_check(records)",
	"PRAGMA integrity_check(grants)", "PRAGMA integrity_check(credentials)", "PRAGMA integrity_check(connections)",
	"PRAGMA integrity_check(budgets)", "PRAGMA integrity_check(orders)", "PRAGMA integrity_check(entries)", "PRAGMA integrity_check(idempotency)",
}

// Check looks for what can't be so, in all of the file as it is at one moment.
// An error says that it could not look.
func (l *Ledger) Check(ctx context.Context) ([]Violation, error) {
	out, err := l.check(ctx)
	return out, l.explain(err)
}

func (l *Ledger) check(ctx context.Context) (out []Violation, err error) {
	snapshot, err := l.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Rollback()
	q := transaction{snapshot}
	for _, look := range looks {
		err := each(ctx, q, func(rows *sql.Rows) error {
			var said string
			err := rows.Scan(&said)
			if v := (Violation{RuleFile, "file", said}); said != "ok" && !slices.Contains(out, v) {
				out = append(out, v)
			}
			return err
		}, look)
		if err != nil {
			return nil, err
		}
	}
	err = each(ctx, q, func(rows *sql.Rows) error {
		var table, parent string
		var row, key sql.NullInt64
		err := rows.Scan(&table, &row, &parent, &key)
		out = append(out, Violation{RuleFile, table, "a row refers to " + parent + " that are not there"})
		return err
	}, "PRAGMA foreign_key_check")
	if err != nil {
		return nil, err
	}
	for _, c := range checks {
		err := each(ctx, q, func(rows *sql.Rows) error {
			v := Violation{Rule: c.rule}
			err := rows.Scan(&v.Subject, &v.Detail)
			out = append(out, v)
			return err
		}, c.query)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", c.rule, err)
		}
	}
	return out, nil
}

// snapshot begins to read the file as it is now.
func (l *Ledger) snapshot(ctx context.Context) (*sql.Tx, error) {
	return l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
}

// A transaction is a querier for one moment.
type transaction struct{ *sql.Tx }

func (t transaction) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return t.QueryContext(ctx, query, args...)
}
