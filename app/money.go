package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// The books join what sandboxes cost, who may have them, and the file that
// both are kept in. It is the fleet's meter. Without a ledger nothing that costs
// may begin, and the rest goes on.
type books struct {
	ledger  *ledger.Ledger // nil: it can't be used
	down    error          // why
	mark    ledgerMark
	limiter *grant.Limiter
	guard   *grant.ClockGuard
	clock   clockwork.Clock
	log     *slog.Logger
	began   time.Time
	own     string // file of the user's own prices
	fleet   *fleet.Fleet
	wake    chan struct{} // has serve look at the time

	later *queue // what is written down in its turn

	staleOn string // the day on which old prices were told of; of serve alone

	mu      sync.Mutex // guards what follows, and all of its meters
	prices  *price.Table
	orders  map[string]*meter        // the open ones, by key
	past    map[string]sandbox.Order // settled a while ago
	orphans map[string]bool          // that were told of
	known   known
	calls   map[*openCall]bool
	alerts  []sandbox.Event // of the last day, the newest last
	heard   time.Time       // when reminders were last looked for
	datedAt time.Time       // when AWS last said what time it is
	looked  chan struct{}   // closed, and replaced, with each look
}

const alertsFor = 24 * time.Hour

// kindPrices is the kind of the records of prices that AWS gave.
const kindPrices = "prices"

// openBooks opens the ledger. One that can't be used is no reason not to
// start.
func openBooks(ctx context.Context, dirs paths.Dirs, clock clockwork.Clock, log *slog.Logger) *books {
	a := &books{
		limiter: grant.NewLimiter(grant.DefaultRates(), clock), guard: grant.NewClockGuard(time.Time{}), clock: clock, log: log, began: clock.Now(),
		own:  filepath.Join(dirs.Config, "prices.json"),
		wake: make(chan struct{}, 1), looked: make(chan struct{}),
		prices: price.Embedded(), orders: map[string]*meter{}, past: map[string]sandbox.Order{}, orphans: map[string]bool{}, calls: map[*openCall]bool{},
	}
	a.known.forget()
	a.mark.path = filepath.Join(dirs.State, "ledger.mark")
	if err := a.mark.read(); err != nil {
		log.Warn("mark of the ledger can't be read", "err", err)
	}
	l, err := ledger.Open(ctx, ledger.Config{
		Path: filepath.Join(dirs.State, "ledger.db"), Journal: filepath.Join(dirs.State, "fleet.journal"), Clock: clock, Log: log,
	})
	if err != nil {
		log.Error("ledger can't be used", "err", err)
		a.down = err
		return a
	}
	a.ledger, a.later = l, newQueue()
	mark, err := l.LastMark(ctx)
	if err != nil {
		log.Error("mark of the clock can't be read", "err", err)
	}
	a.guard = grant.NewClockGuard(mark)
	a.loadPrices()
	if a.alerts, err = l.Alerts(ctx, sandbox.GrantOwner, clock.Now().Add(-alertsFor)); err != nil {
		log.Error("alerts can't be read", "err", err)
	}
	slices.Reverse(a.alerts)
	a.compare(ctx)
	// That time went by while no engine ran is no news: what became of sandboxes
	// is looked up anyway by each that starts.
	v := a.guard.Saw(clock.Now(), clock.Since(a.began))
	a.guard.Reconciled(v)
	a.heed(v, false)
	return a
}

// soon has do done in its turn. It must not wait for the fleet.
func (a *books) soon(do func()) {
	if a.later != nil {
		a.later.add(do)
	}
}

// flush waits until all that was to be done soon is done.
func (a *books) flush() {
	if a.later != nil {
		a.later.flush()
	}
}

// close ends the use of the ledger, after the fleet has ended.
func (a *books) close() {
	if a.ledger == nil {
		return
	}
	a.later.close()
	a.remark(context.Background())
	if err := a.ledger.Close(); err != nil {
		a.log.Error("ledger not closed", "err", err)
	}
}

// store is where the fleet keeps its records.
func (a *books) store() fleet.Store {
	if a.ledger == nil {
		return noStore{a.unusable()}
	}
	return a.ledger
}

// A noStore stands for a ledger that can't be used: nothing is in it, and
// nothing can be put there.
type noStore struct{ err error }

func (n noStore) Put(string, string, []byte, bool) error { return n.err }
func (n noStore) Delete(string, string) error            { return nil }
func (n noStore) All(string) map[string][]byte           { return nil }

// restart is what to do once a ledger is there that can be used.
const restart = "; then start Arenero anew: \"arenero engine --stop\""

// unusable is the error of what needs the ledger.
func (a *books) unusable() error {
	if e, ok := errors.AsType[*sandbox.Error](a.down); ok {
		again := *e
		again.Hint += restart
		return &again
	}
	return &sandbox.Error{Code: sandbox.StoreDown, Msg: "the record of what sandboxes cost can't be used", Hint: "\"arenero logs\" tells why", Err: a.down}
}

// billable returns why nothing that costs may begin. When the computer has slept
// it waits until somebody has looked what became of its sandboxes.
func (a *books) billable(ctx context.Context) error {
	if a.ledger == nil {
		return a.unusable()
	}
	if err := a.inPlace(); err != nil {
		return err
	}
	a.mu.Lock()
	looked := a.looked
	a.mu.Unlock()
	v := a.guard.Saw(a.clock.Now(), a.clock.Since(a.began))
	a.heed(v, false)
	if v.Reconcile && !v.Suspect {
		select {
		case a.wake <- struct{}{}:
		default: // it is awake
		}
		timer := a.clock.NewTimer(lookPatience)
		defer timer.Stop()
		select {
		case <-looked:
		case <-timer.Chan():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return a.guard.Billable()
}

// lookPatience is how long what costs waits for a look at the clouds.
const lookPatience = 20 * time.Second

// loadPrices puts the table together: what is part of the program, what AWS
// said last, and what the user says.
func (a *books) loadPrices() {
	t, err := price.Load(a.own)
	if err != nil {
		a.log.Error("own prices are not used", "err", err)
		t = price.Embedded()
	}
	for _, text := range a.ledger.All(kindPrices) {
		s, err := price.ParseSheet("prices of AWS", text)
		if err != nil {
			a.log.Error("prices that AWS gave are not used", "err", err)
			continue
		}
		t = t.With(s)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prices = t
}

func (a *books) table() *price.Table {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.prices
}

// emit keeps an event, and nobody waits for that.
func (a *books) emit(e sandbox.Event) {
	if e.At.IsZero() {
		e.At = a.clock.Now()
	}
	if e.Origin == "" {
		e.Origin = sandbox.OriginLocal
	}
	a.soon(func() {
		if err := a.ledger.Emit(context.Background(), e); err != nil {
			a.log.Error("event not kept", "kind", string(e.Kind), "err", err)
		}
	})
}

// dated takes in what time it is for AWS.
func (a *books) dated(at time.Time) {
	a.mu.Lock()
	lately := !a.datedAt.IsZero() && a.clock.Since(a.datedAt).Abs() < time.Minute
	if !lately {
		a.datedAt = a.clock.Now()
	}
	a.mu.Unlock()
	if lately && a.guard.Billable() == nil {
		return
	}
	a.heed(a.guard.Date(at, a.clock.Now(), a.clock.Since(a.began)), true)
}

// heed does what a verdict on the clock asks for.
func (a *books) heed(v grant.Verdict, reset bool) {
	for _, e := range v.Events {
		a.log.Warn("clock changed", "why", e.Data["why"], "seconds", e.Data["seconds"])
		a.emit(e)
	}
	if v.Mark.IsZero() || a.ledger == nil {
		return
	}
	mark := a.ledger.Mark
	if reset {
		mark = a.ledger.ResetMark
	}
	a.soon(func() {
		if err := mark(context.Background(), v.Mark); err != nil {
			a.log.Error("mark of the clock not kept", "err", err)
		}
	})
}

const readEvery = time.Minute

// serve looks after time until ctx is done.
func (a *books) serve(ctx context.Context) error {
	if a.ledger == nil {
		<-ctx.Done()
		return ctx.Err()
	}
	var work sync.WaitGroup
	work.Go(func() { a.listen(ctx) })
	defer work.Wait()
	for {
		a.look(ctx)
		timer := a.clock.NewTimer(readEvery)
		select {
		case <-timer.Chan():
		case <-a.wake:
			timer.Stop()
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// look does what is due.
func (a *books) look(ctx context.Context) {
	v := a.guard.Saw(a.clock.Now(), a.clock.Since(a.began))
	a.heed(v, false)
	if v.Reconcile {
		a.fleet.Reconcile(ctx)
		a.guard.Reconciled(v)
	}
	a.mu.Lock()
	close(a.looked)
	a.looked = make(chan struct{})
	a.mu.Unlock()
	if err := a.inPlace(); err != nil {
		a.log.Error("nothing that costs begins", "err", err)
	} else {
		a.remark(ctx)
	}
	now := a.clock.Now()
	a.remind(ctx, now)
	a.giveUp(ctx, now)
	a.tellStale(ctx, now)
}

// pricesMatter is how long a sandbox in a region makes old prices of that region
// worth a word.
const pricesMatter = 30 * 24 * time.Hour

// tellStale tells once a day of prices that are old, if they are used.
func (a *books) tellStale(ctx context.Context, now time.Time) {
	stale := a.table().Stale(now)
	day := now.UTC().Format(time.DateOnly)
	if len(stale) == 0 || a.staleOn == day {
		return
	}
	recent, err := a.ledger.Orders(ctx, sandbox.OrderQuery{Since: now.Add(-pricesMatter), Limit: 1000})
	if err != nil {
		a.log.Error("orders can't be read", "err", err)
		return
	}
	for _, r := range stale {
		if !slices.ContainsFunc(recent.Orders, func(o sandbox.Order) bool { return !o.Local && o.Region == r.Region }) {
			continue
		}
		a.staleOn = day
		a.emit(sandbox.Event{
			ID: "stale:" + r.Region + ":" + r.Version + ":" + day, Kind: sandbox.EventPriceStale, Severity: sandbox.SeverityWarn,
			Subject: r.Region, Data: map[string]any{"days": r.Days(now), "name": r.Region},
		})
	}
}

// remind tells whose grants end soon.
func (a *books) remind(ctx context.Context, now time.Time) {
	all, err := a.ledger.Grants(ctx)
	if err != nil {
		a.log.Error("grants can't be read", "err", err)
		return
	}
	a.mu.Lock()
	since := a.heard
	a.heard = now
	a.mu.Unlock()
	if since.IsZero() { // what came due while no engine ran; the ids keep it from being told twice
		since = now.Add(-grant.DefaultLife)
	}
	for _, g := range all {
		for _, e := range grant.Expiring(g, since, now) {
			a.emit(e)
		}
	}
}

// listen keeps the alerts of the last day at hand: each answer to a tool has
// them.
func (a *books) listen(ctx context.Context) {
	for ctx.Err() == nil {
		events, cancel := a.ledger.Subscribe()
		if again, err := a.ledger.Alerts(ctx, sandbox.GrantOwner, a.clock.Now().Add(-alertsFor)); err == nil {
			slices.Reverse(again)
			a.mu.Lock()
			a.alerts = again
			a.mu.Unlock()
		}
		a.hear(ctx, events)
		cancel()
	}
}

func (a *books) hear(ctx context.Context, events <-chan sandbox.Event) {
	for {
		select {
		case e, ok := <-events:
			if !ok {
				return
			}
			if e.Alert() {
				a.mu.Lock()
				if n := len(a.alerts); n == 0 || a.alerts[n-1].ID != e.ID {
					a.alerts = append(a.alerts, e)
				}
				a.mu.Unlock()
			}
		case <-ctx.Done():
			return
		}
	}
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // of plain values, which never fails
	}
	return text
}
