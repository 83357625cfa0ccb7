package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// accounts are the budgets that money is held in for o.
func (t *tx) accounts(o order) ([]account, error) {
	var ids []int64
	err := each(t.w.ctx, t, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT budget_id FROM entries WHERE order_id = ? AND kind = 'hold' ORDER BY seq", o.ID)
	if err != nil {
		return nil, err
	}
	var out []account
	for _, id := range ids {
		a, err := t.account("id = ?", id)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// Settle ends an order that is running or in doubt, with what it has cost: that
// is spent, and nothing is held any more. at is when the sandbox ended; it is
// booked in the period that it is settled in. More than was held is recorded all
// the same: where that goes past a limit the budget is marked, and nothing more
// is held in it until there is room again.
//
// Of a local order nothing is spent, and the cost is what AWS would have taken.
// A second time does nothing.
func (l *Ledger) Settle(ctx context.Context, id string, cost sandbox.Cost, at time.Time, reason sandbox.EndReason) error {
	if cost.Total < 0 {
		return invalid("a cost is not below zero")
	}
	return l.write(ctx, true, func(t *tx) error {
		o, err := orderOf(t.w.ctx, t, id)
		if err != nil {
			return err
		}
		if o.State == sandbox.OrderSettled {
			return nil
		}
		if err := o.mayBecome(sandbox.OrderSettled); err != nil {
			return err
		}
		spent := cost.Total
		if o.Local {
			o.Would, spent = cost.Total, 0
		}
		accounts, err := t.accounts(o)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			if err := t.book(a, o, spent); err != nil {
				return err
			}
		}
		o.Settled, o.Cost, o.EndedAt, o.EndReason, o.resolved = &spent, cost, at, reason, t.now
		if err := t.step(o, sandbox.OrderSettled); err != nil {
			return err
		}
		if spent > o.Hold {
			t.w.l.log.Warn("settled for more than was held", "order", id, "held", int64(o.Hold), "settled", int64(spent))
		}
		if err := t.do("UPDATE idempotency SET expires_at = max(created_at, ?) + ? WHERE order_id = ?", stamp(at), int64(keyLife), id); err != nil {
			return err
		}
		return t.do("DELETE FROM idempotency WHERE expires_at > 0 AND expires_at <= ?", stamp(t.now))
	})
}

// book settles o in one of its budgets.
func (t *tx) book(a account, o order, spent sandbox.Micro) error {
	if a.Spent.Plus(spent) == math.MaxInt64 {
		return invalid("the amount is too large to be spent")
	}
	a.settle(o.Hold, spent)
	if err := t.enter(a, o, entrySettle, "settle:"+o.ID, spent); err != nil {
		return err
	}
	if a.OverLimit && spent > o.Hold {
		e := t.budgetEvent(sandbox.EventOver, a)
		e.ID, e.Severity = fmt.Sprintf("over:%s:%s:%s", a.Level, a.Owner, o.ID), sandbox.SeverityError
		e.Data["order"], e.Data["hold_micro"], e.Data["settled_micro"] = o.ID, int64(o.Hold), int64(spent)
		if err := t.emit(e); err != nil {
			return err
		}
	}
	if err := t.tell(&a); err != nil {
		return err
	}
	return t.save(a)
}

// Release ends an order that nothing came of, and forgets its key: the same may
// be asked for again. A second time does nothing.
func (l *Ledger) Release(ctx context.Context, id string, why sandbox.EndReason) error {
	return l.write(ctx, true, func(t *tx) error {
		o, err := orderOf(t.w.ctx, t, id)
		if err != nil {
			return err
		}
		if o.State == sandbox.OrderReleased {
			return nil
		}
		if err := o.mayBecome(sandbox.OrderReleased); err != nil {
			return err
		}
		accounts, err := t.accounts(o)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			a.Held -= o.Hold
			a.settleDown()
			if err := t.enter(a, o, entryRelease, "release:"+o.ID, o.Hold); err != nil {
				return err
			}
			if err := t.save(a); err != nil {
				return err
			}
		}
		o.EndedAt, o.EndReason, o.resolved = t.now, why, t.now
		if err := t.step(o, sandbox.OrderReleased); err != nil {
			return err
		}
		return t.do("DELETE FROM idempotency WHERE order_id = ?", id)
	})
}

// Add holds more for an open order, and is refused as Reserve is. why is unique
// for the order: with one that was added before it does nothing.
func (l *Ledger) Add(ctx context.Context, id string, amount sandbox.Micro, why string) error {
	if amount < 0 || why == "" {
		return invalid("what is added is not below zero, and for some reason")
	}
	return l.write(ctx, true, func(t *tx) error {
		o, err := t.openOrder(id)
		if err != nil || o.Local || o.Unpriced {
			return err
		}
		event := "add:" + id + ":" + why
		known := false
		err = each(t.w.ctx, t, func(*sql.Rows) error {
			known = true
			return nil
		}, "SELECT 1 FROM entries WHERE event_id = ? LIMIT 1", event)
		if err != nil || known {
			return err
		}
		accounts, err := t.accounts(o)
		if err != nil {
			return err
		}
		for _, a := range accounts {
			if err := t.charge(a, o, amount, entryAdjust, event); err != nil {
				return err
			}
		}
		o.Hold += amount
		return t.step(o, o.State)
	})
}

// Lower has an open order hold no more than an amount. It never holds more than
// before.
func (l *Ledger) Lower(ctx context.Context, id string, to sandbox.Micro) error {
	if to < 0 {
		return invalid("an amount is not below zero")
	}
	return l.write(ctx, true, func(t *tx) error {
		o, err := t.openOrder(id)
		if err != nil || to >= o.Hold {
			return err
		}
		accounts, err := t.accounts(o)
		if err != nil {
			return err
		}
		var n int // of the entries: each lowering is an entry of its own
		if err := one(t.w.ctx, t, func(rows *sql.Rows) error { return rows.Scan(&n) }, "SELECT count(*) FROM entries WHERE order_id = ?", id); err != nil {
			return err
		}
		for _, a := range accounts {
			a.Held -= o.Hold - to
			a.settleDown()
			if err := t.enter(a, o, entryAdjust, fmt.Sprintf("lower:%s:%d", id, n), to-o.Hold); err != nil {
				return err
			}
			if err := t.save(a); err != nil {
				return err
			}
		}
		o.Hold = to
		return t.step(o, o.State)
	})
}

func (t *tx) openOrder(id string) (order, error) {
	o, err := orderOf(t.w.ctx, t, id)
	if err == nil && !o.State.Open() {
		return o, wrongState(o.Order, o.State)
	}
	return o, err
}
