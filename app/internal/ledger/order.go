package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

const orderColumns = `id, grant_id, state, profile, host, region, template, version, name, size_mib, snapshot_mgb, burst, local, unpriced,
	sandbox, hold_micro, settled_micro, would_micro, compute_micro, launch_micro, cycles_micro, storage_micro, total_micro, life_s, idle_s,
	asked_at, started_at, max_end_at, ended_at, end_reason, prices, resolved_at`

// An order is one as it is kept.
type order struct {
	sandbox.Order
	resolved time.Time // settled or released
}

func scanOrder(rows *sql.Rows) (order, error) {
	var o order
	var settled sql.NullInt64
	var asked, started, maxEnd, ended, resolved int64
	err := rows.Scan(&o.ID, &o.Grant, &o.State, &o.Profile, &o.Host, &o.Region, &o.Template, &o.Version, &o.Name, &o.SizeMiB, &o.Snapshot,
		&o.Burst, &o.Local, &o.Unpriced, &o.Sandbox, &o.Hold, &settled, &o.Would, &o.Cost.Compute, &o.Cost.Launch, &o.Cost.Cycles,
		&o.Cost.Storage, &o.Cost.Total, &o.Life, &o.Idle, &asked, &started, &maxEnd, &ended, &o.EndReason, &o.Prices, &resolved)
	if settled.Valid {
		o.Settled = new(sandbox.Micro(settled.Int64))
	}
	o.AskedAt, o.StartedAt, o.MaxEndAt, o.EndedAt, o.resolved = moment(asked), moment(started), moment(maxEnd), moment(ended), moment(resolved)
	return o, err
}

// columns are the values of o, in the order of orderColumns.
func (o order) columns() []any {
	var settled any
	if o.Settled != nil {
		settled = int64(*o.Settled)
	}
	return []any{
		o.ID, o.Grant, string(o.State), o.Profile, o.Host, o.Region, o.Template, o.Version, o.Name, o.SizeMiB, o.Snapshot,
		string(o.Burst), o.Local, o.Unpriced, o.Sandbox, int64(o.Hold), settled, int64(o.Would), int64(o.Cost.Compute), int64(o.Cost.Launch),
		int64(o.Cost.Cycles), int64(o.Cost.Storage), int64(o.Cost.Total), int64(o.Life), int64(o.Idle), stamp(o.AskedAt), stamp(o.StartedAt),
		stamp(o.MaxEndAt), stamp(o.EndedAt), string(o.EndReason), o.Prices, stamp(o.resolved),
	}
}

var (
	names       = strings.Split(strings.NewReplacer("\n", "", "\t", "", " ", "").Replace(orderColumns), ",")
	insertOrder = "INSERT INTO orders (" + orderColumns + ") VALUES (" + strings.Repeat("?, ", len(names)-1) + "?)"
	updateOrder = "UPDATE orders SET " + strings.Join(names, " = ?, ") + " = ? WHERE id = ? AND state = ?"
)

func orderOf(ctx context.Context, q querier, id string) (order, error) {
	var o order
	err := one(ctx, q, func(rows *sql.Rows) (err error) {
		o, err = scanOrder(rows)
		return err
	}, "SELECT "+orderColumns+" FROM orders WHERE id = ?", id)
	if errors.Is(err, errNone) {
		return o, missing("there is no such order")
	}
	return o, err
}

// steps are the states that may follow each.
var steps = map[sandbox.OrderState][]sandbox.OrderState{
	sandbox.OrderHeld:     {sandbox.OrderCreating, sandbox.OrderReleased},
	sandbox.OrderCreating: {sandbox.OrderRunning, sandbox.OrderInDoubt, sandbox.OrderReleased},
	sandbox.OrderInDoubt:  {sandbox.OrderRunning, sandbox.OrderSettled, sandbox.OrderReleased},
	sandbox.OrderRunning:  {sandbox.OrderSettled},
}

// mayBecome is the error of a step that there is none of. Staying is none.
func (o order) mayBecome(to sandbox.OrderState) error {
	if o.State != to && !slices.Contains(steps[o.State], to) {
		return wrongState(o.Order, to)
	}
	return nil
}

// step writes o with its next state, if it still has the one that it had.
func (t *tx) step(o order, to sandbox.OrderState) error {
	if err := o.mayBecome(to); err != nil {
		return err
	}
	from := o.State
	o.State = to
	n, err := t.exec(updateOrder, append(o.columns(), o.ID, string(from))...)
	if err == nil && n != 1 {
		err = wrongState(o.Order, to)
	}
	if from != to {
		t.after = append(t.after, t.w.l.wake)
	}
	return err
}

func wrongState(o sandbox.Order, to sandbox.OrderState) error {
	return &sandbox.Error{
		Code: sandbox.WrongState, Msg: fmt.Sprintf("the order is %s, and can't become %s", o.State, to),
		Details: map[string]any{"state": string(o.State)},
	}
}

// Advance brings an open order on to creating, in doubt or running, or changes
// one that stays in its state. set, which may be nil and may be called more than
// once, changes what else is known of it: not its account, which Add, Lower,
// Settle and Release do. A change of the state is on the disk when Advance
// returns.
func (l *Ledger) Advance(ctx context.Context, id string, to sandbox.OrderState, set func(*sandbox.Order)) error {
	if !to.Open() {
		return invalid("an order is ended by settling or releasing it")
	}
	advance := func(t *tx) error {
		o, err := orderOf(t.w.ctx, t, id)
		if err != nil {
			return err
		}
		was := o
		if set != nil {
			set(&o.Order)
		}
		o.ID, o.Grant, o.State, o.Profile, o.Local, o.Unpriced = was.ID, was.Grant, was.State, was.Profile, was.Local, was.Unpriced
		o.Hold, o.Settled, o.AskedAt = was.Hold, was.Settled, was.AskedAt
		if !o.State.Open() {
			return wrongState(o.Order, to)
		}
		return t.step(o, to)
	}
	o, err := l.Order(ctx, id)
	if err != nil {
		return err
	}
	return l.write(ctx, o.State != to, advance)
}

// Order returns one order.
func (l *Ledger) Order(ctx context.Context, id string) (sandbox.Order, error) {
	o, err := orderOf(ctx, l.read(), id)
	return o.Order, l.explain(err)
}

// Open returns the orders that money is held for, the oldest first.
func (l *Ledger) Open(ctx context.Context) ([]sandbox.Order, error) {
	var out []sandbox.Order
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		o, err := scanOrder(rows)
		out = append(out, o.Order)
		return err
	}, "SELECT "+orderColumns+" FROM "+openOrders+" WHERE "+isOpen+" ORDER BY asked_at, id")
	return out, l.explain(err)
}

// isOpen is the condition of the index of open orders, and openOrders has a
// query use that: they are few, and may be anywhere among all the others.
const (
	isOpen     = "state IN ('held', 'creating', 'in_doubt', 'running')"
	openOrders = "orders INDEXED BY orders_open"
)

// Running is how many orders of a grant are open: what its MaxConcurrent limits.
func (l *Ledger) Running(ctx context.Context, grant string) (int, error) {
	n, err := running(ctx, l.read(), grant)
	return n, l.explain(err)
}

func running(ctx context.Context, q querier, grant string) (n int, err error) {
	err = one(ctx, q, func(rows *sql.Rows) error { return rows.Scan(&n) }, "SELECT count(*) FROM "+openOrders+" WHERE grant_id = ? AND "+isOpen, grant)
	return n, err
}

// Orders returns a page of orders.
func (l *Ledger) Orders(ctx context.Context, ask sandbox.OrderQuery) (sandbox.OrderPage, error) {
	var f filter
	f.equal("grant_id", ask.Grant)
	f.equal("profile", ask.Profile)
	f.equal("state", string(ask.State))
	from := "orders"
	if ask.Open {
		from = openOrders
		f.add(isOpen)
	}
	f.between("asked_at", ask.Since, ask.Until)
	if ask.Cursor != "" {
		at, id, err := parsePlace(ask.Cursor)
		if err != nil {
			return sandbox.OrderPage{}, err
		}
		f.add("(asked_at, id) < (?, ?)", at, id)
	}
	limit := pageSize(ask.Limit, 100, 1000)
	var page sandbox.OrderPage
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		o, err := scanOrder(rows)
		page.Orders = append(page.Orders, o.Order)
		return err
	}, "SELECT "+orderColumns+" FROM "+from+f.where()+" ORDER BY asked_at DESC, id DESC LIMIT ?", append(f.args, limit+1)...)
	if len(page.Orders) > limit {
		page.Orders = page.Orders[:limit]
		last := page.Orders[limit-1]
		page.Next = place(last.AskedAt, last.ID)
	}
	return page, l.explain(err)
}

// A filter is the conditions of a query.
type filter struct {
	conds []string
	args  []any
}

func (f *filter) add(cond string, args ...any) {
	f.conds, f.args = append(f.conds, cond), append(f.args, args...)
}

func (f *filter) equal(column, value string) {
	if value != "" {
		f.add(column+" = ?", value)
	}
}

func (f *filter) between(column string, since, until time.Time) {
	if !since.IsZero() {
		f.add(column+" >= ?", stamp(since))
	}
	if !until.IsZero() {
		f.add(column+" < ?", stamp(until))
	}
}

func (f *filter) where() string {
	if len(f.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(f.conds, " AND ")
}

func pageSize(asked, usual, most int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, most)
}

// place says where in a list ordered by time a page ended.
func place(at time.Time, id string) string { return strconv.FormatInt(stamp(at), 10) + "." + id }

func parsePlace(s string) (at int64, id string, err error) {
	before, id, ok := strings.Cut(s, ".")
	at, perr := strconv.ParseInt(before, 10, 64)
	if !ok || perr != nil {
		return 0, "", invalid("no page ends there")
	}
	return at, id, nil
}
