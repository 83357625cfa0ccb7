package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// Retention is how long events are kept.
const Retention = 30 * 24 * time.Hour

// Emit keeps an event, and tells who has subscribed. Without an ID it gets one,
// and without a time it happened now. One whose ID is known, and one that is
// older than Retention, is none.
func (l *Ledger) Emit(ctx context.Context, e sandbox.Event) error {
	if e.Kind == "" {
		return invalid("an event has a kind")
	}
	return l.write(ctx, e.Alert(), func(t *tx) error { return t.emit(e) })
}

func (t *tx) emit(e sandbox.Event) error {
	if e.ID == "" {
		e.ID = "evt_" + uuid.NewString()
	}
	if e.At.IsZero() {
		e.At = t.now
	}
	e.At = e.At.UTC().Truncate(time.Millisecond)
	if e.Severity == "" {
		e.Severity = sandbox.SeverityInfo
	}
	if e.Origin == "" {
		e.Origin = sandbox.OriginLocal
	}
	if t.now.Sub(e.At) > Retention {
		return nil
	}
	data, err := json.Marshal(e.Data)
	if err != nil {
		return err
	}
	n, err := t.exec("INSERT INTO events (id, at, kind, severity, grant_id, subject, origin, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		e.ID, stamp(e.At), string(e.Kind), string(e.Severity), e.Grant, e.Subject, string(e.Origin), string(data))
	if err != nil || n == 0 {
		return err
	}
	t.after = append(t.after, func() { t.w.l.deliver(e) })
	return t.do("DELETE FROM events WHERE at < ?", stamp(t.now.Add(-Retention)))
}

// Events returns a page of events.
func (l *Ledger) Events(ctx context.Context, ask sandbox.EventQuery) (sandbox.EventPage, error) {
	var f filter
	f.equal("grant_id", ask.Grant)
	f.equal("kind", string(ask.Kind))
	if ask.Alerts {
		f.add("(severity <> ? OR kind IN (?, ?))", string(sandbox.SeverityInfo), string(sandbox.EventMachine), string(sandbox.EventMachineOver))
	}
	since := l.clock.Now().Add(-Retention)
	if ask.Since.After(since) {
		since = ask.Since
	}
	f.between("at", since, ask.Until)
	if ask.Cursor != "" {
		at, seq, err := parsePlace(ask.Cursor)
		if err != nil {
			return sandbox.EventPage{}, err
		}
		f.add("(at, seq) < (?, CAST(? AS INTEGER))", at, seq)
	}
	limit := pageSize(ask.Limit, 20, 1000)
	var page sandbox.EventPage
	var last string
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		if len(page.Events) == limit {
			page.Next = last
			return nil
		}
		e, seq, err := scanEvent(rows)
		page.Events, last = append(page.Events, e), place(e.At, seq)
		return err
	}, "SELECT seq, id, at, kind, severity, grant_id, subject, origin, data FROM events"+f.where()+" ORDER BY at DESC, seq DESC LIMIT ?", append(f.args, limit+1)...)
	return page, l.explain(err)
}

func scanEvent(rows *sql.Rows) (e sandbox.Event, seq string, err error) {
	var at int64
	var data string
	if err := rows.Scan(&seq, &e.ID, &at, &e.Kind, &e.Severity, &e.Grant, &e.Subject, &e.Origin, &data); err != nil {
		return e, "", err
	}
	e.At = moment(at)
	if err := json.Unmarshal([]byte(data), &e.Data); err != nil {
		return e, "", down(ReasonDamaged, err)
	}
	return e, seq, nil
}

// Alerts returns the alerts that a grant sees, the newest first: the owner's
// sees all.
func (l *Ledger) Alerts(ctx context.Context, grant string, since time.Time) ([]sandbox.Event, error) {
	if grant == sandbox.GrantOwner {
		grant = ""
	}
	page, err := l.Events(ctx, sandbox.EventQuery{Grant: grant, Alerts: true, Since: since, Limit: 1000})
	return page.Events, err
}

// subscribed is how many events wait for a slow subscriber.
const subscribed = 256

// A watcher is one subscription.
type watcher struct{ events chan sandbox.Event }

// Subscribe returns events as they are kept, from now on, until cancel. The
// channel is closed by then, with the ledger, or when its reader is so slow that
// it would miss some: it reads them with Events, and subscribes again. What other
// processes emit does not come.
func (l *Ledger) Subscribe() (events <-chan sandbox.Event, cancel func()) {
	w := &watcher{make(chan sandbox.Event, subscribed)}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watchers == nil { // closed
		close(w.events)
		return w.events, func() {}
	}
	l.watchers[w] = true
	return w.events, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.leaveLocked(w)
	}
}

// leaveLocked ends a subscription, once. mu is held.
func (l *Ledger) leaveLocked(w *watcher) {
	if l.watchers[w] {
		delete(l.watchers, w)
		close(w.events)
	}
}

func (l *Ledger) deliver(e sandbox.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.watchers {
		select {
		case w.events <- e:
		default:
			l.leaveLocked(w)
		}
	}
}

// unwatch ends all subscriptions.
func (l *Ledger) unwatch() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.watchers {
		l.leaveLocked(w)
	}
	l.watchers = nil
}

// wake tells those who wait for an order that one has changed.
func (l *Ledger) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Wait returns an order when it is neither held nor being made, by this process,
// or as it is when ctx is done, with the error of that.
func (l *Ledger) Wait(ctx context.Context, id string) (sandbox.Order, error) {
	for {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		o, err := l.Order(context.WithoutCancel(ctx), id)
		if err != nil || o.State != sandbox.OrderHeld && o.State != sandbox.OrderCreating {
			return o, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return o, ctx.Err()
		case <-l.closing:
			return o, down(ReasonClosed, nil)
		}
	}
}
