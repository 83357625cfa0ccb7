package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// kindMeter is the kind of the records of meters in the store.
const kindMeter = "meter"

// A meter counts what one sandbox costs, from before it exists until it is
// settled.
type meter struct {
	order sandbox.Order
	meterRecord
	lost bool // the fleet has no sandbox for it
}

// A meterRecord is what is kept of a meter besides its order. Without it a
// sandbox is taken to have run all the time.
type meterRecord struct {
	Accrual price.Accrual `json:"accrual"`
	Rates   price.Rates   `json:"rates"`
	Plan    price.Plan    `json:"plan"`
	Asked   int           `json:"asked,omitempty"` // suspends that were asked for
	Ready   bool          `json:"ready,omitempty"` // it was told that it is there
	Slept   bool          `json:"slept,omitempty"` // it was told that it sleeps, and not yet that it is awake
}

var _ fleet.Meter = (*books)(nil)

// keepLocked writes m down, in its turn.
func (a *books) keepLocked(m *meter) {
	id, text := m.order.ID, encode(m.meterRecord)
	a.soon(func() {
		if err := a.ledger.Put(kindMeter, id, text, false); err != nil {
			a.log.Error("what a sandbox has used is not written down", "order", id, "err", err)
		}
	})
}

// advanceLocked brings the order of m on, in its turn.
func (a *books) advanceLocked(m *meter, to sandbox.OrderState, set func(*sandbox.Order)) {
	from, id := m.order.State, m.order.ID
	if set != nil {
		set(&m.order)
	}
	m.order.State = to
	a.soon(func() {
		if from == sandbox.OrderHeld && to != sandbox.OrderCreating { // an engine ended in between
			if err := a.ledger.Advance(context.Background(), id, sandbox.OrderCreating, nil); err != nil {
				a.log.Error("order not written down", "order", id, "err", err)
			}
		}
		if err := a.ledger.Advance(context.Background(), id, to, set); err != nil {
			a.log.Error("order not written down", "order", id, "state", string(to), "err", err)
		}
	})
}

func (a *books) meterOf(key string) *meter {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.orders[key]
}

// Reserve holds what a sandbox may cost. For one that was asked for by itself
// that is done already: see [gate.Create].
func (a *books) Reserve(ctx context.Context, ask fleet.Ask) error {
	if a.meterOf(ask.Key) != nil {
		return nil
	}
	if a.ledger == nil {
		return a.unusable()
	}
	g, err := a.grant(ctx, cmp.Or(ask.Grant, sandbox.GrantOwner))
	if err != nil {
		return err
	}
	if err := a.limiter.Create(g); err != nil { // no call was counted that asks for one
		return err
	}
	_, err = a.reserve(ctx, ask, request{given: true})
	return err
}

// Creating needs no place of its own on the disk: the fleet has written down
// what it is about to send, and TakeUp goes by that.
func (a *books) Creating(key string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.orders[key]; m != nil && m.order.State == sandbox.OrderHeld {
		a.advanceLocked(m, sandbox.OrderCreating, nil)
	}
	return nil
}

// Doubt keeps what is held.
func (a *books) Doubt(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.orders[key]
	if m == nil || m.order.State != sandbox.OrderHeld && m.order.State != sandbox.OrderCreating {
		return
	}
	a.advanceLocked(m, sandbox.OrderInDoubt, nil)
	a.emit(sandbox.Event{
		ID: "doubt:" + key, Kind: sandbox.EventDoubt, Severity: sandbox.SeverityWarn, Grant: m.order.Grant, Subject: key,
		Data: map[string]any{"name": m.order.Name, "hold_micro": int64(m.order.Hold)},
	})
}

// Running begins to count.
func (a *books) Running(key string, vm fleet.VM) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.orders[key]
	if m == nil {
		return
	}
	a.beginLocked(m, vm)
	a.sawLocked(m, vm.State, a.clock.Now())
}

// beginLocked has m be about a VM, and count from its start on.
func (a *books) beginLocked(m *meter, vm fleet.VM) {
	m.lost = false
	if m.order.State == sandbox.OrderRunning && m.order.Sandbox == vm.ID {
		return
	}
	end := vm.StartedAt.Add(m.order.Life.Duration())
	a.advanceLocked(m, sandbox.OrderRunning, func(o *sandbox.Order) {
		o.Sandbox, o.StartedAt, o.MaxEndAt = vm.ID, vm.StartedAt, end
		o.Template, o.Version = cmp.Or(vm.Image, o.Template), cmp.Or(vm.Version, o.Version)
	})
	m.Accrual.End = end
	m.Accrual.Saw(sandbox.Pending, vm.StartedAt)
	a.keepLocked(m)
}

// Saw counts on, and tells what changed.
func (a *books) Saw(key string, state sandbox.State, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m := a.orders[key]; m != nil && m.order.State == sandbox.OrderRunning {
		a.sawLocked(m, state, at)
	}
}

func (a *books) sawLocked(m *meter, state sandbox.State, at time.Time) {
	before := m.Accrual.State
	if state == before && (m.Ready || state != sandbox.Running) {
		return // it counts on by itself
	}
	m.Accrual.Saw(state, at)
	if m.Accrual.State == before && (m.Ready || state != sandbox.Running) {
		return // older than what was seen last
	}
	e := sandbox.Event{Grant: m.order.Grant, Subject: m.order.Sandbox, Severity: sandbox.SeverityInfo, Data: map[string]any{"name": m.order.Name}}
	switch {
	case state == sandbox.Running && !m.Ready:
		m.Ready = true
		e.ID, e.Kind = "ready:"+m.order.ID, sandbox.EventReady
		e.Data["hold_micro"], e.Data["ends_at"] = int64(m.order.Hold), m.order.MaxEndAt.UTC().Format(time.RFC3339)
	case state == sandbox.Running && m.Slept: // by way of other states, if it was told to wake up
		m.Slept = false
		e.Kind = sandbox.EventResumed
	case (state == sandbox.Suspending || state == sandbox.Suspended) && !m.Slept:
		m.Slept = true
		e.Kind = sandbox.EventSuspended
	}
	if e.Kind != "" {
		a.emit(e)
	}
	a.keepLocked(m)
}

// Cycle holds a little more for a suspend that is asked for.
func (a *books) Cycle(ctx context.Context, key string) error {
	if a.ledger == nil {
		return a.unusable()
	}
	a.mu.Lock()
	m := a.orders[key]
	if m == nil {
		a.mu.Unlock()
		return nil // older than its ledger
	}
	m.Asked++
	n, more := m.Asked, price.Cycle(m.Rates, m.Plan)
	free := m.order.Local || m.order.Unpriced
	a.mu.Unlock()
	if free {
		return nil
	}
	err := a.ledger.Add(ctx, key, more, fmt.Sprintf("suspend:%d", n))
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		return err // its number stays taken: what is held under one is held once
	}
	m.order.Hold = m.order.Hold.Plus(more)
	a.keepLocked(m)
	return nil
}

// Uncycle gives back what Cycle held.
func (a *books) Uncycle(ctx context.Context, key string) error {
	m := a.meterOf(key)
	if a.ledger == nil || m == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.order.Local || m.order.Unpriced {
		return nil
	}
	// Under the lock, for no other suspend to be held for in between.
	to := max(0, m.order.Hold-price.Cycle(m.Rates, m.Plan))
	if err := a.ledger.Lower(ctx, key, to); err != nil {
		return err
	}
	m.order.Hold = to
	return nil
}

// Ended settles what a sandbox has cost.
func (a *books) Ended(key string, why sandbox.EndReason, at time.Time) error {
	if a.ledger == nil {
		return nil // it was never counted
	}
	a.flush()
	ctx := context.Background()
	m := a.meterOf(key)
	if m == nil {
		return nil // settled, or older than its ledger
	}
	a.mu.Lock()
	if m.order.State != sandbox.OrderRunning && m.order.State != sandbox.OrderInDoubt { // its engine ended before that was written down
		a.advanceLocked(m, sandbox.OrderRunning, nil)
	}
	m.Accrual.Saw(sandbox.Terminated, at)
	cost := a.costLocked(m, at)
	o := m.order
	a.mu.Unlock()
	a.flush()
	if err := a.ledger.Settle(ctx, key, cost, at, why); err != nil {
		return err
	}
	a.mu.Lock()
	m.order.Cost, m.order.EndedAt = cost, at
	a.past[key] = m.order
	a.mu.Unlock()
	a.dropMeter(key)
	severity := sandbox.SeverityInfo
	switch why {
	case sandbox.EndExpired, sandbox.EndFailed, sandbox.EndCloud, sandbox.EndVanished, sandbox.EndBudget, sandbox.EndOther:
		severity = sandbox.SeverityWarn // nobody asked for it
	}
	amount := "settled_micro"
	if o.Local {
		amount = "would_micro"
	}
	a.emit(sandbox.Event{
		ID: "ended:" + key, Kind: sandbox.EventEnded, Severity: severity, Grant: o.Grant, Subject: cmp.Or(o.Sandbox, key),
		Data: map[string]any{"reason": string(why), "name": o.Name, amount: int64(cost.Total)},
	})
	return nil
}

func (a *books) dropMeter(key string) {
	a.mu.Lock()
	delete(a.orders, key)
	a.mu.Unlock()
	a.soon(func() {
		if err := a.ledger.Delete(kindMeter, key); err != nil {
			a.log.Error("meter not forgotten", "order", key, "err", err)
		}
	})
}

// costLocked is what a sandbox has cost until then.
func (a *books) costLocked(m *meter, at time.Time) sandbox.Cost {
	if m.order.Unpriced || !m.Rates.Known() {
		return sandbox.Cost{}
	}
	return m.Accrual.Cost(m.Rates, m.Plan, at)
}

// Released gives back what is held for one that never was.
func (a *books) Released(key string, err error) {
	m := a.meterOf(key)
	if a.ledger == nil || m == nil {
		return
	}
	a.flush()
	why := sandbox.EndFailed
	a.mu.Lock()
	if m.order.State == sandbox.OrderInDoubt {
		why = sandbox.EndNeverWas
	}
	a.mu.Unlock()
	if err := a.ledger.Release(context.Background(), key, why); err != nil {
		a.log.Error("what was held is not given back yet", "order", key, "err", err)
		a.mu.Lock()
		m.lost = true // look tries again
		a.mu.Unlock()
		return
	}
	a.dropMeter(key)
	a.log.Info("order released", "order", key, "code", string(sandbox.CodeOf(err)))
}

// Lost keeps what is held until the sandbox has ended, if it is one.
func (a *books) Lost(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.orders[key]
	if m == nil {
		return
	}
	m.lost = true
	if m.order.State != sandbox.OrderInDoubt {
		a.advanceLocked(m, sandbox.OrderInDoubt, nil)
	}
	a.emit(sandbox.Event{
		ID: "lost:" + key, Kind: sandbox.EventDoubt, Severity: sandbox.SeverityError, Grant: m.order.Grant, Subject: key,
		Data: map[string]any{"name": m.order.Name, "hold_micro": int64(m.order.Hold), "until": m.order.MaxEndAt.UTC().Format(time.RFC3339)},
	})
}

// TakeUp reads the orders that an earlier engine left open, and gives back what
// is held for those that were never asked for.
func (a *books) TakeUp(known []sandbox.Sandbox) {
	if a.ledger == nil {
		return
	}
	ctx := context.Background()
	open, err := a.ledger.Open(ctx)
	if err != nil {
		a.log.Error("open orders can't be read", "err", err)
		return
	}
	have := map[string]sandbox.Sandbox{}
	for _, s := range known {
		have[s.Key] = s
	}
	records := a.ledger.All(kindMeter)
	stale := a.ledger.All(kindMeter)
	for _, o := range open {
		delete(stale, o.ID)
		s, ok := have[o.ID]
		if !ok && o.State == sandbox.OrderHeld {
			if err := a.ledger.Release(ctx, o.ID, sandbox.EndNeverWas); err != nil {
				a.log.Error("what was held is not given back", "order", o.ID, "err", err)
			}
			a.dropMeter(o.ID)
			continue
		}
		m := a.readMeter(o, records[o.ID])
		m.lost = !ok
		a.mu.Lock()
		a.orders[o.ID] = m
		if m.lost && o.State == sandbox.OrderCreating {
			a.advanceLocked(m, sandbox.OrderInDoubt, nil)
		}
		a.mu.Unlock()
		if ok && s.ID != "" {
			a.mu.Lock()
			a.beginLocked(m, fleet.VM{ID: s.ID, Image: s.Template, Version: s.Version, StartedAt: s.StartedAt})
			a.mu.Unlock()
		}
	}
	for id := range stale { // of orders that are settled
		a.dropMeter(id)
	}
	a.flush()
}

// readMeter is the meter of an order with what was kept of it.
func (a *books) readMeter(o sandbox.Order, text []byte) *meter {
	m := &meter{order: o}
	if len(text) > 0 {
		err := json.Unmarshal(text, &m.meterRecord)
		if err == nil {
			return m
		}
		a.log.Error("meter makes no sense", "order", o.ID, "err", err)
		m.meterRecord = meterRecord{}
	}
	m.Plan = price.Plan{SizeMiB: o.SizeMiB, SnapshotMGB: o.Snapshot, Life: o.Life, Idle: o.Idle, Burst: o.Burst}
	m.Rates, _ = a.table().Rates(o.Region, o.SizeMiB, o.AskedAt)
	if !o.StartedAt.IsZero() {
		m.Accrual.End = o.MaxEndAt
		m.Accrual.Saw(sandbox.Running, o.StartedAt)
	}
	return m
}

// giveUpAfter is how long after its latest end an order is settled in full that
// nobody knows the sandbox of.
const (
	giveUpAfter = 5 * time.Minute
	pastFor     = 9 * time.Hour // the fleet lists what ended for less
)

// giveUp settles orders whose sandbox nobody knows and whose time is up: it may
// have run all the time. And it tries again what could not be given back.
func (a *books) giveUp(ctx context.Context, now time.Time) {
	var over, back []sandbox.Order
	a.mu.Lock()
	for key, o := range a.past {
		if now.Sub(o.EndedAt) > pastFor {
			delete(a.past, key)
		}
	}
	for _, m := range a.orders {
		switch {
		case !m.lost:
		case m.order.State == sandbox.OrderHeld, m.order.State == sandbox.OrderCreating:
			back = append(back, m.order)
		case now.After(m.order.MaxEndAt.Add(giveUpAfter)):
			over = append(over, m.order)
		}
	}
	a.mu.Unlock()
	for _, o := range back {
		a.Released(o.ID, errors.New("it never was"))
	}
	for _, o := range over {
		cost := sandbox.Cost{Compute: o.Hold, Total: o.Hold}
		if err := a.ledger.Settle(ctx, o.ID, cost, o.MaxEndAt, sandbox.EndVanished); err != nil {
			a.log.Error("order not settled", "order", o.ID, "err", err)
			continue
		}
		a.dropMeter(o.ID)
		a.emit(sandbox.Event{
			ID: "ended:" + o.ID, Kind: sandbox.EventEnded, Severity: sandbox.SeverityWarn, Grant: o.Grant, Subject: cmp.Or(o.Sandbox, o.ID),
			Data: map[string]any{"reason": string(sandbox.EndVanished), "name": o.Name, "settled_micro": int64(o.Hold)},
		})
	}
}

// Orphan tells of a VM that is nobody's, once.
func (a *books) Orphan(profile string, vm fleet.VM) {
	if a.ledger == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.orphans[vm.ID] {
		return
	}
	a.orphans[vm.ID] = true
	a.emit(sandbox.Event{
		ID: "orphan:" + vm.ID, Kind: sandbox.EventOrphan, Severity: sandbox.SeverityInfo, Subject: vm.ID, Data: map[string]any{"name": profile},
	})
}

// Describe fills in what a sandbox holds and has cost so far.
func (a *books) Describe(s *sandbox.Sandbox) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.orders[s.Key]
	if o, ok := a.past[s.Key]; ok && m == nil {
		s.Grant, s.SizeMiB, s.Cost = o.Grant, cmp.Or(o.SizeMiB, s.SizeMiB), o.Cost
	}
	if m == nil {
		return
	}
	s.Grant, s.Hold, s.SizeMiB = m.order.Grant, m.order.Hold, cmp.Or(m.order.SizeMiB, s.SizeMiB)
	if !m.Rates.Known() {
		return
	}
	s.Cost = a.costLocked(m, a.clock.Now())
	s.PerHour = price.PerHour(m.Rates, m.Plan)
}

// regionOf is the region in which sandboxes of an image run.
func regionOf(arn string) string {
	if parts := strings.Split(arn, ":"); len(parts) > 3 {
		return parts[3]
	}
	return ""
}

// refusedBy is what a budget said to an amount, if err is that.
func refusedBy(err error) (*ledger.Refused, bool) { return errors.AsType[*ledger.Refused](err) }
