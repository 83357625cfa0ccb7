package ledger

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"time"
)

// maxBatch is how many operations share a commit at most, so that the first
// does not wait long for the last.
const maxBatch = 256

// An operation is a write that waits for its turn. do may run more than once:
// when a transaction breaks, each operation in it is tried again alone.
type operation struct {
	durable bool
	do      func(*tx) error
	state   atomic.Int32
	done    chan error // has room for the answer
}

// The states of an operation: whoever asked may give it up until it is taken.
const (
	waiting = iota
	taken
	dropped
)

// A tx is the transaction that an operation runs in.
type tx struct {
	w     *writing
	now   time.Time
	after []func() // to be done once it is committed
}

// write runs do in a transaction that it may share with others, and returns
// when that is committed. With durable it is on the disk then.
func (l *Ledger) write(ctx context.Context, durable bool, do func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	op := &operation{durable: durable, do: do, done: make(chan error, 1)}
	select {
	case <-l.closing: // the queue may have room all the same
		return down(ReasonClosed, nil)
	default:
	}
	select {
	case l.queue <- op:
	case <-l.closing:
		return down(ReasonClosed, nil)
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-op.done:
		return l.explain(err)
	case <-ctx.Done():
		if op.state.CompareAndSwap(waiting, dropped) {
			return ctx.Err()
		}
	case <-l.worked:
	}
	select {
	case err := <-op.done:
		return l.explain(err)
	case <-l.worked:
	}
	select { // it may have been the last
	case err := <-op.done:
		return l.explain(err)
	default:
		return down(ReasonClosed, nil)
	}
}

// work does what is queued, until the ledger is closed.
func (l *Ledger) work(ctx context.Context) {
	defer close(l.worked)
	w := &writing{l: l, ctx: ctx, stmts: map[string]*sql.Stmt{}}
	defer w.drop()
	for {
		select {
		case <-l.closing:
			return
		case op := <-l.queue:
			w.batch(l.collect(op))
		}
	}
}

// collect takes up first and what has queued behind it meanwhile.
func (l *Ledger) collect(first *operation) []*operation {
	var ops []*operation
	for op := first; ; {
		if op.state.CompareAndSwap(waiting, taken) {
			ops = append(ops, op)
		}
		if len(ops) == maxBatch {
			return ops
		}
		select {
		case op = <-l.queue:
		default:
			return ops
		}
	}
}

// A writing is the connection for writes, as the goroutine of work has it.
type writing struct {
	l     *Ledger
	ctx   context.Context // never done: a write that has begun is ended
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	full  bool // commits wait for the disk
}

// batch does ops in one transaction and answers each. If the transaction breaks
// they are done in one each, so that what one of them did harms no other.
func (w *writing) batch(ops []*operation) {
	if len(ops) == 0 {
		return
	}
	errs, err := w.transact(ops)
	if err != nil && len(ops) > 1 {
		for _, op := range ops {
			w.batch([]*operation{op})
		}
		return
	}
	for i, op := range ops {
		if err != nil {
			op.done <- err
			continue
		}
		op.done <- errs[i]
	}
}

// transact does ops in one transaction. What one of them returns undoes that
// one; err is what undid all.
func (w *writing) transact(ops []*operation) (errs []error, err error) {
	durable := false
	for _, op := range ops {
		durable = durable || op.durable
	}
	if err := w.connect(durable); err != nil {
		w.drop()
		return nil, err
	}
	if err := w.run("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			w.undo()
		}
	}()
	errs = make([]error, len(ops))
	var after []func()
	alone, failed := len(ops) == 1, 0
	for i, op := range ops {
		t := &tx{w: w, now: w.l.clock.Now().UTC()}
		if !alone {
			if err := w.run("SAVEPOINT one"); err != nil {
				return nil, err
			}
		}
		errs[i] = op.do(t)
		if errs[i] != nil {
			failed++
		}
		switch {
		case broken(errs[i]):
			return nil, errs[i]
		case errs[i] == nil:
			after = append(after, t.after...)
		case alone:
			return nil, errs[i]
		default:
			if err := w.run("ROLLBACK TO one"); err != nil {
				return nil, err
			}
		}
		if !alone {
			if err := w.run("RELEASE one"); err != nil {
				return nil, err
			}
		}
	}
	if failed == len(ops) {
		w.undo()
		return errs, nil
	}
	if err := w.run("COMMIT"); err != nil {
		return nil, err
	}
	for _, do := range after {
		do()
	}
	return errs, nil
}

// connect sees that there is a connection, and that commits wait for the disk
// as durable says. Without, they are safe from the end of this process, and a
// power cut takes the last ones at most: SQLite's NORMAL, not OFF, which would
// let a power cut spoil the file.
func (w *writing) connect(durable bool) error {
	if w.conn == nil {
		conn, err := w.l.writers.Conn(w.ctx)
		if err != nil {
			return err
		}
		w.conn, w.full = conn, true
	}
	if w.full == durable {
		return nil
	}
	pragma := "PRAGMA synchronous = NORMAL"
	if durable {
		pragma = "PRAGMA synchronous = FULL"
	}
	if _, err := w.conn.ExecContext(w.ctx, pragma); err != nil {
		return err
	}
	w.full = durable
	return nil
}

// undo ends a transaction that is not to be committed.
func (w *writing) undo() {
	// SQLite may have done so by itself, and complains then.
	if err := w.run("ROLLBACK"); err != nil {
		w.drop()
	}
}

// drop lets go of the connection; the next write makes a new one.
func (w *writing) drop() {
	for query, stmt := range w.stmts {
		stmt.Close()
		delete(w.stmts, query)
	}
	if w.conn != nil {
		discard(w.conn)
		w.conn = nil
	}
}

// discard closes a connection for good, which else would be used again.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // that is what it answers
	conn.Close()
}

// stmt is query, prepared once.
func (w *writing) stmt(query string) (*sql.Stmt, error) {
	if s := w.stmts[query]; s != nil {
		return s, nil
	}
	s, err := w.conn.PrepareContext(w.ctx, query)
	if err != nil {
		return nil, err
	}
	w.stmts[query] = s
	return s, nil
}

func (w *writing) run(query string) error {
	s, err := w.stmt(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(w.ctx)
	return err
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	s, err := t.w.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := s.ExecContext(t.w.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// do runs a statement.
func (t *tx) do(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// query is a source of rows: the transaction of a write, or a connection for
// reading.
type querier interface {
	query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (t *tx) query(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := t.w.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(t.w.ctx, args...)
}

// A reading reads outside of any write.
type reading struct{ db *sql.DB }

func (r reading) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return r.db.QueryContext(ctx, query, args...)
}

func (l *Ledger) read() querier { return reading{l.readers} }

// errNone means that a query has no row.
var errNone = errors.New("no such row")

// one scans the only row of a query, or returns errNone.
func one(ctx context.Context, q querier, scan func(*sql.Rows) error, query string, args ...any) error {
	found := false
	err := each(ctx, q, func(rows *sql.Rows) error {
		found = true
		return scan(rows)
	}, query, args...)
	if err == nil && !found {
		return errNone
	}
	return err
}

// each scans the rows of a query.
func each(ctx context.Context, q querier, scan func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
