package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A Want is an order that is to be opened, and what makes it the same as
// another one.
type Want struct {
	Order      sandbox.Order
	Credential string // that asks, if one does: it is looked at again

	// What follows finds an order that was opened before. With neither Key nor
	// Implicit there is none.
	Tool     string
	Key      string        // of the caller
	Hash     string        // fingerprint of what is asked for
	Implicit bool          // no key: the fingerprint is it, for Window
	Window   time.Duration // 10 minutes if it is 0
}

const (
	usualWindow = 10 * time.Minute
	keyLife     = 24 * time.Hour // of a key, after it was first used and after the end of what it made
)

func (w Want) keyed() bool { return w.Key != "" || w.Implicit }

// key is what a record of idempotency is found by.
func (w Want) key() string {
	if w.Implicit {
		return w.Hash
	}
	return w.Key
}

// An Outcome is what came of a Want.
type Outcome string

// The outcomes.
const (
	Fresh    Outcome = "fresh"     // nothing the same was asked for before; Reserve has opened the order
	Replay   Outcome = "replay"    // it was made before, and may have ended
	InFlight Outcome = "in_flight" // it is being made
	InDoubt  Outcome = "in_doubt"  // it may have been made
	Reused   Outcome = "reused"    // the key is of something else
)

// Found is what came of a Want, with the order that it is about.
type Found struct {
	Outcome  Outcome
	Order    sandbox.Order // as it is now
	Implicit bool
}

// Look is the part of Reserve that finds an order opened before. It opens none.
func (l *Ledger) Look(ctx context.Context, w Want) (Found, error) {
	if err := w.check(); err != nil {
		return Found{}, err
	}
	found, _, err := find(ctx, l.read(), w, l.clock.Now())
	return found, l.explain(err)
}

// check refuses what can't be asked for.
func (w Want) check() error {
	o := w.Order
	switch {
	case o.Grant == "":
		return invalid("an order is some grant's")
	case w.keyed() && w.Hash == "":
		return invalid("a key needs the fingerprint of what it is for")
	case w.Key != "" && w.Implicit:
		return invalid("a key is given or implied")
	}
	return nil
}

// find looks for an order that was opened for the same. stale: there is a record
// that is not worth anything any more.
func find(ctx context.Context, q querier, w Want, now time.Time) (found Found, stale bool, err error) {
	found = Found{Outcome: Fresh, Implicit: w.Implicit}
	if !w.keyed() {
		return found, false, nil
	}
	var hash, id string
	var created, expires int64
	err = one(ctx, q, func(rows *sql.Rows) error { return rows.Scan(&hash, &id, &created, &expires) },
		"SELECT hash, order_id, created_at, expires_at FROM idempotency WHERE grant_id = ? AND tool = ? AND implicit = ? AND key = ?",
		w.Order.Grant, w.Tool, w.Implicit, w.key())
	if errors.Is(err, errNone) {
		return found, false, nil
	}
	if err != nil {
		return found, false, err
	}
	window := w.Window
	if window == 0 {
		window = usualWindow
	}
	switch {
	case expires != 0 && !now.Before(moment(expires)), w.Implicit && now.Sub(moment(created)) >= window:
		return found, true, nil
	case hash != w.Hash:
		found.Outcome = Reused
		return found, false, nil
	}
	o, err := orderOf(ctx, q, id)
	if err != nil {
		return found, false, err
	}
	switch o.State {
	case sandbox.OrderHeld, sandbox.OrderCreating:
		found.Outcome = InFlight
	case sandbox.OrderInDoubt:
		found.Outcome = InDoubt
	case sandbox.OrderReleased:
		return found, true, nil
	case sandbox.OrderSettled:
		if w.Implicit { // the first has ended: who asks wants another
			return found, true, nil
		}
		found.Outcome = Replay
	default:
		found.Outcome = Replay
	}
	found.Order = o.Order
	return found, false, nil
}

// Reserve opens an order, unless the same was asked for before: in one
// transaction it looks at the grant once more, finds what its key has made,
// counts what runs, and holds the amount of the order in the budgets of its
// grant, its profile and of all. If one of those has no room nothing is held in
// any, and the error says which: see [Refused]. It is on the disk when Reserve
// returns.
//
// AskedAt is set to the moment of that transaction, and MaxEndAt, if it is zero,
// to the end of Life from then.
func (l *Ledger) Reserve(ctx context.Context, w Want) (Found, error) {
	if err := w.check(); err != nil {
		return Found{}, err
	}
	switch o := w.Order; {
	case o.ID == "" || o.Profile == "":
		return Found{}, invalid("an order has an id and a profile")
	case o.Hold < 0:
		return Found{}, invalid("an amount is not below zero")
	case (o.Local || o.Unpriced) && o.Hold != 0:
		return Found{}, invalid("nothing is held for what has no price")
	}
	var found Found
	err := l.write(ctx, true, func(t *tx) (err error) {
		found, err = t.reserve(w)
		return err
	})
	return found, err
}

func (t *tx) reserve(w Want) (Found, error) {
	g, err := grantOf(t.w.ctx, t, w.Order.Grant)
	if err != nil {
		return Found{}, err
	}
	if err := usable(g, t.now); err != nil {
		return Found{}, err
	}
	if w.Credential != "" {
		if err := t.usableCredential(w.Credential, g.ID); err != nil {
			return Found{}, err
		}
	}
	found, stale, err := find(t.w.ctx, t, w, t.now)
	if err != nil || found.Outcome != Fresh {
		return found, err
	}
	if stale {
		if err := t.do("DELETE FROM idempotency WHERE grant_id = ? AND tool = ? AND implicit = ? AND key = ?", g.ID, w.Tool, w.Implicit, w.key()); err != nil {
			return found, err
		}
	}
	if g.MaxConcurrent > 0 {
		n, err := running(t.w.ctx, t, g.ID)
		if err != nil {
			return found, err
		}
		if n >= g.MaxConcurrent {
			return found, &sandbox.Error{
				Code: sandbox.Concurrency, Msg: fmt.Sprintf("%d sandboxes run, as many as the grant may have", n), Hint: "end one, then try again",
				Details: map[string]any{"running": n, "max_concurrent": g.MaxConcurrent},
			}
		}
	}
	o := order{Order: w.Order}
	o.State, o.AskedAt, o.Settled = sandbox.OrderHeld, t.now, nil
	if o.MaxEndAt.IsZero() {
		o.MaxEndAt = o.AskedAt.Add(o.Life.Duration())
	}
	err = t.do(insertOrder, o.columns()...)
	if unique(err) {
		return found, &sandbox.Error{Code: sandbox.Exists, Msg: "there is an order of this id"}
	}
	if err != nil {
		return found, err
	}
	if !o.Local {
		if err := t.holdAll(o); err != nil {
			return found, err
		}
	}
	if w.keyed() {
		if err := t.do("INSERT INTO idempotency (grant_id, tool, implicit, key, hash, order_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
			g.ID, w.Tool, w.Implicit, w.key(), w.Hash, o.ID, stamp(t.now)); err != nil {
			return found, err
		}
	}
	found.Order = o.Order
	return found, nil
}

func (t *tx) usableCredential(id, grant string) error {
	var owner string
	var overlap, revoked int64
	err := one(t.w.ctx, t, func(rows *sql.Rows) error { return rows.Scan(&owner, &overlap, &revoked) },
		"SELECT grant_id, overlap_until, revoked_at FROM credentials WHERE id = ?", id)
	switch {
	case errors.Is(err, errNone), err == nil && owner != grant:
		return &sandbox.Error{Code: sandbox.Unauthenticated, Msg: "the token opens nothing", Hint: "ask the owner for one"}
	case err != nil:
		return err
	case revoked != 0, overlap != 0 && !t.now.Before(moment(overlap)):
		return &sandbox.Error{Code: sandbox.TokenRevoked, Msg: "the token was revoked by its owner", Hint: "ask the owner for another"}
	}
	return nil
}

// levels are the budgets that o counts for, in the order in which they are asked.
func levels(o order) []struct {
	level sandbox.BudgetLevel
	owner string
} {
	return []struct {
		level sandbox.BudgetLevel
		owner string
	}{{sandbox.LevelGrant, o.Grant}, {sandbox.LevelProfile, o.Profile}, {sandbox.LevelGlobal, ""}}
}

// holdAll holds the amount of o in all its budgets.
func (t *tx) holdAll(o order) error {
	for _, b := range levels(o) {
		a, err := t.accountOf(b.level, b.owner)
		if err != nil {
			return err
		}
		if o.Unpriced && a.Limit != nil {
			return &sandbox.Error{
				Code: sandbox.PriceUnknown, Msg: "no price is known for this, so that no limit could hold",
				Hint: "choose another region or size, or have the owner lift the limit", Details: map[string]any{"level": string(b.level), "owner": b.owner},
			}
		}
		if err := t.charge(a, o, o.Hold, entryHold, "hold:"+o.ID); err != nil {
			return err
		}
	}
	return nil
}

// charge holds x for o in a budget, which may refuse.
func (t *tx) charge(a account, o order, x sandbox.Micro, kind entryKind, event string) error {
	if err := a.hold(x); err != nil {
		return err
	}
	if err := t.enter(a, o, kind, event, x); err != nil {
		return err
	}
	if err := t.tell(&a); err != nil {
		return err
	}
	return t.save(a)
}

// An entryKind says what an entry did to a budget.
type entryKind string

const (
	entryHold    entryKind = "hold"    // its amount is held
	entryAdjust  entryKind = "adjust"  // so much more is held, or less
	entrySettle  entryKind = "settle"  // nothing is held any more, and its amount was spent
	entryRelease entryKind = "release" // nothing is held any more; its amount was
)

func (t *tx) enter(a account, o order, kind entryKind, event string, amount sandbox.Micro) error {
	at := t.now
	if at.Before(a.Since) { // the clock went back: it counts in the period it was booked in
		at = a.Since
	}
	return t.do("INSERT INTO entries (event_id, order_id, budget_id, kind, amount_micro, at) VALUES (?, ?, ?, ?, ?, ?)",
		event, o.ID, a.id, string(kind), int64(amount), stamp(at))
}
