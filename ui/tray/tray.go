// Package tray is the icon of Arenero, and the menu below it. It is a client of
// the engine like any other: what it shows are snapshots, and what a click asks
// for is a call. Nothing here goes on by itself while nothing happens.
package tray

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/start"
)

// A Config says what a tray works with. Ready, Began, Hosts, Launch, Window and
// Quiet may be left out.
type Config struct {
	Client  *control.Client     // of its own: it is to give up soon, and to start nothing
	Ready   <-chan struct{}     // is closed when there should be an engine; nil is at once
	Began   func()              // is called once the icon is there: what else a start needs would only delay it
	Texts   func() assets.Texts // in the language of the user, which may change; cheap while it does not
	Explain func(error) string  // says an error in it
	Hosts   Hosts
	Launch  func(ctx context.Context) error // starts an engine in place of one that is lost
	Program string                          // path of arenero
	Window  string                          // path of the program with the windows
	Quiet   *ui.Hours                       // when nothing is told that nobody asked for; nil is what the user has set
	Settle  func()                          // gives back what the start needed, once it is over
	Clock   clockwork.Clock
	Log     *slog.Logger
}

// Hosts are the apps of this computer that can have an entry of ours.
type Hosts interface {
	List(ctx context.Context) ([]ui.Host, error)
	Connect(ctx context.Context, id string) error
}

// Patience is what the client of a tray is to have: a tray shows at once that an
// engine is gone, and looks for it by itself.
const Patience = time.Millisecond

const (
	calm      = time.Second      // between two changes that no click asked for
	spendLag  = 2 * time.Second  // from the end of a sandbox until the account has it
	lookAgain = time.Minute      // for hosts, when the menu is opened
	hostDelay = time.Second      // from the start until they are looked for: the icon goes first
	hostGrace = 10 * time.Second // for a panel to start, before a lack of one is told
)

// A panel is where the icon is shown. It is used by the loop of a tray alone.
type panel interface {
	// show shows what differs from what it shows already.
	show(m ui.Model)
	// notify shows a notice. A click on it calls open.
	notify(n ui.Notice, open func()) error
}

// A tray is the state of a running one. Its fields are for its loop alone:
// others hand it what to do.
type tray struct {
	cfg   Config
	tx    assets.Texts
	panel panel
	inbox chan func() // run by the loop, in order

	state   ui.State
	notices ui.Notices
	quit    context.CancelFunc

	asked  bool     // for them, of the engine of now
	setAt  uint64   // number of the settings that they are of
	quiet  ui.Hours // of theirs
	silent bool     // no notices at all

	spendAt  time.Time // when to ask again what was spent; zero is not
	spendDay time.Time
	alive    map[string]bool // the sandboxes that the last answer was about
	looked   time.Time       // for hosts, last
	settled  bool
	shownAt  time.Time
	clicked  bool // since then: what comes of it is shown at once
}

func newTray(cfg Config) *tray {
	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}
	t := &tray{cfg: cfg, tx: cfg.Texts(), inbox: make(chan func(), 64)}
	if cfg.Quiet != nil {
		t.quiet = *cfg.Quiet
	}
	t.state = ui.State{Link: ui.Starting, TellDone: true, Doing: map[string]ui.Verb{}, Explain: func(e *sandbox.Error) string { return cfg.Explain(e) }}
	return t
}

// post hands the loop something to do.
func (t *tray) post(ctx context.Context, do func()) {
	select {
	case t.inbox <- do:
	case <-ctx.Done():
	}
}

// model is what is to be shown now.
func (t *tray) model() ui.Model { return ui.Tray(t.state, t.tx, t.cfg.Clock.Now()) }

// loop works until ctx is done, or the user quits.
func (t *tray) loop(ctx context.Context, p panel) error {
	ctx, t.quit = context.WithCancel(ctx)
	defer t.quit()
	t.panel = p
	ended := make(chan struct{}, 2)
	parts := []func(context.Context){t.watch, t.follow}
	for _, part := range parts {
		go func() {
			if t.cfg.Ready != nil {
				select {
				case <-t.cfg.Ready:
				case <-ctx.Done():
				}
			}
			part(ctx)
			ended <- struct{}{}
		}()
	}
	next := t.turn(ctx)
	if t.cfg.Began != nil {
		t.cfg.Began()
	}
	for t.wait(ctx, next) {
		next = t.turn(ctx)
	}
	for range parts {
		<-ended
	}
	return nil
}

// wait does what comes in, or lets time pass until a moment, of which zero never
// comes. It reports whether to go on.
func (t *tray) wait(ctx context.Context, until time.Time) bool {
	var ring <-chan time.Time
	if !until.IsZero() {
		timer := t.cfg.Clock.NewTimer(max(0, until.Sub(t.cfg.Clock.Now())))
		defer timer.Stop()
		ring = timer.Chan()
	}
	select {
	case do := <-t.inbox:
		for do != nil {
			do()
			select {
			case do = <-t.inbox:
			default:
				do = nil
			}
		}
	case <-ring:
	case <-ctx.Done():
		return false
	}
	return ctx.Err() == nil
}

// turn brings what is shown up to date, and returns when to do it again though
// nothing happens; zero is never.
func (t *tray) turn(ctx context.Context) (next time.Time) {
	now := t.cfg.Clock.Now()
	at := func(when time.Time) {
		if !when.IsZero() && (next.IsZero() || when.Before(next)) {
			next = when
		}
	}
	given, until := t.notices.See(t.state, t.tx, now)
	for _, n := range given {
		t.tell(ctx, n)
	}
	at(until)
	at(t.spend(ctx, now))
	t.askPreferences(ctx)
	if due := t.looked.Add(hostDelay); t.cfg.Hosts != nil && !t.state.Looked {
		if t.looked.IsZero() {
			t.looked, due = now, now.Add(hostDelay)
		}
		if now.Before(due) {
			at(due)
		} else {
			t.state.Looked = true
			t.look(ctx)
		}
	}
	if quiet := t.shownAt.Add(calm); now.Before(quiet) && !t.clicked {
		at(quiet)
		return next
	}
	m := t.model()
	t.panel.show(m)
	t.shownAt, t.clicked = now, false
	at(m.Until)
	return next
}

// tell gives a notice, unless nothing is to be told at this time.
func (t *tray) tell(ctx context.Context, n ui.Notice) {
	if !t.quiet.Contain(t.cfg.Clock.Now()) {
		t.answer(ctx, n)
	}
}

// answer gives a notice that was asked for. A click on it opens the window where
// it is about.
func (t *tray) answer(ctx context.Context, n ui.Notice) {
	if t.silent {
		return
	}
	open := func() { t.post(ctx, func() { t.open(n.Page, n.Place) }) }
	go func() {
		if err := t.panel.notify(n, open); err != nil {
			t.cfg.Log.Info("notice not shown", "notice", n.ID, "err", err)
		}
	}()
}

// note adds a line to the menu, or replaces the one of its id.
func (t *tray) note(id, text string) {
	t.clicked = true
	for i := range t.state.Notes {
		if t.state.Notes[i].ID == id {
			t.state.Notes[i].Text = text
			return
		}
	}
	const most = 5
	t.state.Notes = append(t.state.Notes, ui.Note{ID: id, Text: text, Alert: true})
	if n := len(t.state.Notes); n > most {
		t.state.Notes = t.state.Notes[n-most:]
	}
}

// failed notes that an action came to nothing.
func (t *tray) failed(action ui.Action, label string, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	t.cfg.Log.Warn("action failed", "action", string(action.Verb), "err", err)
	t.note(string(action.Verb)+"/"+action.Subject, t.tx.Get("tray.failed", "action", label, "why", t.cfg.Explain(err)))
}

// spend asks what was spent today once that may have changed: a sandbox has
// ended, or the day. It returns when to look again.
func (t *tray) spend(ctx context.Context, now time.Time) time.Time {
	if t.state.Link != ui.Linked {
		return time.Time{}
	}
	alive := map[string]bool{}
	for _, b := range t.state.Snapshot.Sandboxes {
		if b.State.Alive() {
			alive[b.Key+"/"+b.ID] = true
		}
	}
	if today := ui.Today(now); !today.Equal(t.spendDay) {
		t.spendDay, t.spendAt = today, now
	} else if t.spendAt.IsZero() {
		for id := range t.alive {
			if !alive[id] {
				t.spendAt = now.Add(spendLag)
			}
		}
	}
	t.alive = alive
	switch {
	case t.spendAt.IsZero():
		if t.state.Settled != nil && *t.state.Settled > 0 {
			return t.spendDay.AddDate(0, 0, 1)
		}
		return time.Time{}
	case now.Before(t.spendAt):
		return t.spendAt
	}
	t.spendAt = time.Time{}
	since := t.spendDay
	go func() {
		rows, err := t.cfg.Client.Spend(ctx, sandbox.SpendQuery{By: sandbox.SpendByProfile, Since: since})
		t.post(ctx, func() {
			if err != nil { // not known, which is not nothing
				t.state.Settled = nil
				return
			}
			t.state.Settled = new(ui.Settled(rows))
		})
	}()
	return time.Time{}
}

// look looks for hosts.
func (t *tray) look(ctx context.Context) {
	t.looked = t.cfg.Clock.Now()
	go func() {
		hosts, err := t.cfg.Hosts.List(ctx)
		t.post(ctx, func() {
			if err != nil {
				t.cfg.Log.Warn("apps can't be looked for", "err", err)
				return
			}
			t.state.Hosts = hosts
			t.settle()
		})
	}()
}

// settle gives back what the start needed: from now on little happens, so that
// it would be kept for long.
func (t *tray) settle() {
	if !t.settled && t.cfg.Settle != nil {
		go t.cfg.Settle()
	}
	t.settled = true
}

// opened is called when the menu comes up: what costs to find out, and may have
// changed since, is found out for the next time.
func (t *tray) opened(ctx context.Context) {
	t.speak()
	if t.cfg.Hosts != nil && t.state.Looked && t.cfg.Clock.Since(t.looked) > lookAgain {
		t.look(ctx)
	}
}

// doing marks sandboxes as being worked on, and returns what ends that.
func (t *tray) doing(verb ui.Verb, ids ...string) (done func()) {
	doing := maps.Clone(t.state.Doing)
	for _, id := range ids {
		doing[id] = verb
	}
	t.state.Doing, t.clicked = doing, true
	return func() {
		doing := maps.Clone(t.state.Doing)
		for _, id := range ids {
			delete(doing, id)
		}
		t.state.Doing, t.clicked = doing, true
	}
}

// noPanel is told once, of a desktop that has no place for icons: the window
// opens, and says so. Where there can be none, a notice does.
func (t *tray) noPanel(ctx context.Context) {
	t.cfg.Log.Warn("no tray host: there is no icon")
	notice := func(err error) {
		t.cfg.Log.Info("nor is there a window", "err", err)
		t.post(ctx, func() {
			t.answer(ctx, ui.Notice{ID: "no-icon", Title: t.tx.Get("tray.name"), Text: t.tx.Get("tray.no-icon")})
		})
	}
	if err := start.WatchedWindow(t.cfg.Window, notice, "--no-icon"); err != nil {
		go notice(err) // which waits for the loop that this is called from
	}
}

// errNone means that this system, or this build, can't show an icon.
var errNone = errors.New("no icon can be shown here")

// ErrSessionOver means that the desktop has gone that the icon was shown on.
var ErrSessionOver = errors.New("the session is over")

// Run shows the icon until ctx is done, or the user quits. Where no icon can be
// shown it says so in the log, and watches on. It is to be called by main, on its
// first thread: some systems have menus there and nowhere else.
func Run(ctx context.Context, cfg Config) error {
	t := newTray(cfg)
	err := run(ctx, t)
	if errors.Is(err, errNone) {
		cfg.Log.Warn("no tray", "err", err)
		return t.loop(ctx, nowhere{})
	}
	if err != nil {
		return fmt.Errorf("tray: %w", err) // of ErrSessionOver, too
	}
	return nil
}

// nowhere is the panel of a system that has none.
type nowhere struct{}

func (nowhere) show(ui.Model) {}

func (nowhere) notify(ui.Notice, func()) error { return errNone }
