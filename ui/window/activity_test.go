package window

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// Events are those of the account, in parts.
func (b *bank) Events(_ context.Context, q sandbox.EventQuery) (sandbox.EventPage, error) {
	unlock, err := b.lock()
	defer unlock()
	at, _ := strconv.Atoi(q.Cursor)
	page := sandbox.EventPage{Events: []sandbox.Event{}}
	for i := at; i < len(b.events); i++ {
		if b.events[i].At.Before(q.Since) {
			break
		}
		if len(page.Events) == q.Limit {
			page.Next = strconv.Itoa(i)
			break
		}
		page.Events = append(page.Events, b.events[i])
	}
	return page, err
}

// FollowEvents emits what a test tells.
func (b *bank) FollowEvents(ctx context.Context, emit func(sandbox.Event) error) error {
	for {
		select {
		case e := <-b.tell:
			if e.ID == "" {
				return &sandbox.Error{Code: sandbox.StoreDown, Msg: "too fast"}
			}
			if err := emit(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// FollowCalls emits what a test tells of a sandbox.
func (b *bank) FollowCalls(ctx context.Context, id string, emit func(control.CallNews) error) error {
	b.mu.Lock()
	news := b.calls[id]
	if news == nil {
		news = make(chan control.CallNews, 100)
		b.calls[id] = news
	}
	b.mu.Unlock()
	for {
		select {
		case n, ok := <-news:
			if !ok {
				return nil
			}
			if err := emit(n); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ConfirmClock counts.
func (b *bank) ConfirmClock(context.Context, struct{}) (struct{}, error) {
	unlock, err := b.lock()
	defer unlock()
	b.right++
	return struct{}{}, err
}

func (b *bank) followed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls)
}

// activityShown opens the page over 250 events, and a sandbox that lives.
func activityShown(t *testing.T, language string) (*rig, *bank, *activity, sandbox.Snapshot) {
	t.Helper()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	b := newBank(now)
	for i := range 250 {
		b.events = append(b.events, sandbox.Event{
			ID: fmt.Sprint("e", i), At: now.Add(-time.Duration(i+1) * time.Hour), Kind: sandbox.EventReady, Severity: sandbox.SeverityInfo, Subject: "microvm-past", Data: map[string]any{"name": "past"},
		})
	}
	b.add(settled("past", "Cursor", "work", 5, now))
	snap := sandbox.Snapshot{At: now, Sandboxes: []sandbox.Sandbox{{ID: "microvm-x", Key: "x", Name: "web", Host: "Claude Code", State: sandbox.Running, Profile: "local"}}}
	r := moneyRig(t, language, b)
	p := newActivity(r.core).(*activity)
	r.show(p, snap)
	r.until("the events", func() bool { return p.loaded })
	return r, b, p, snap
}

func TestActivityIsLive(t *testing.T) {
	r, b, p, _ := activityShown(t, "en")
	if shown := seen(r.win.Content()); !strings.Contains(shown, "Entries: 100") || !strings.Contains(shown, "Sandbox past is ready") || !strings.Contains(shown, "Cursor") {
		t.Fatalf("it begins with\n%s", shown)
	}
	b.tell <- sandbox.Event{ID: "live", At: b.now, Kind: sandbox.EventOver, Severity: sandbox.SeverityError, Subject: "global", Data: map[string]any{"level": "global", "spent_micro": 2_000_000, "limit_micro": 1_000_000}}
	r.until("an event", func() bool { _, ok := p.log.Find("event/live"); return ok })
	r.until("the sandbox to be followed", func() bool { return b.followed() == 1 })
	news := b.calls["microvm-x"]
	news <- control.CallNews{ID: "c1", Sandbox: "microvm-x", Host: "Claude Code", Kind: "command", Text: "make", StartedAt: b.now}
	news <- control.CallNews{ID: "c1", Sandbox: "microvm-x", Stream: "stdout", Data: []byte("built\n")}
	r.until("what it said", func() bool { e, ok := p.log.Find("call/c1"); return ok && e.Call.Output == "built\n" })
	p.tick(b.now) // what came too fast is drawn now
	if shown := seen(r.win.Content()); !strings.Contains(shown, "make — running") || !strings.Contains(shown, "Budget \"Everything\" is passed: $2.00 of $1.00") {
		t.Errorf("what happens is not shown in\n%s", shown)
	}
	// All comes again from another engine, and then its end.
	news <- control.CallNews{ID: "c1", Sandbox: "microvm-x", Kind: "command", Text: "make", StartedAt: b.now}
	news <- control.CallNews{ID: "c1", Sandbox: "microvm-x", Stream: "stdout", Data: []byte("built\n"), Exit: &sandbox.Exit{Code: 2}, EndedAt: b.now.Add(time.Second)}
	r.until("its end", func() bool { e, _ := p.log.Find("call/c1"); return e.Call.Code != nil })
	e, _ := p.log.Find("call/c1")
	if e.Call.Output != "built\n" || e.Severity != sandbox.SeverityWarn {
		t.Errorf("it ended as %+v", e)
	}
	p.view.Select("call/c1")
	p.tick(b.now)
	if shown := seen(r.win.Content()); !strings.Contains(shown, "make — exit code 2") || !strings.Contains(shown, "built") || !strings.Contains(shown, "Claude Code") {
		t.Errorf("the call is told as\n%s", shown)
	}
}

// TestActivityKeepsCallsOfWhatEnded shows what ran in a sandbox that has ended, as
// long as the engine knows it.
func TestActivityKeepsCallsOfWhatEnded(t *testing.T) {
	r, b, p, snap := activityShown(t, "en")
	news := make(chan control.CallNews, 3)
	news <- control.CallNews{ID: "c1", Sandbox: "microvm-old", Kind: "code", Text: "1/0", StartedAt: b.now}
	news <- control.CallNews{ID: "c1", Sandbox: "microvm-old", Exit: &sandbox.Exit{}, Raised: "ZeroDivisionError", EndedAt: b.now.Add(time.Second)}
	close(news)
	b.mu.Lock()
	b.calls["microvm-old"] = news
	b.mu.Unlock()
	snap.Sandboxes = append(snap.Sandboxes, sandbox.Sandbox{ID: "microvm-old", Key: "old", Name: "old", State: sandbox.Terminated, EndReason: sandbox.EndAsked, EndedAt: b.now})
	p.show(snap)
	r.until("its call", func() bool { e, ok := p.log.Find("call/c1"); return ok && e.Call.Code != nil })
	if e, _ := p.log.Find("call/c1"); e.Text != "1/0 — failed: ZeroDivisionError" || e.Severity != sandbox.SeverityWarn || e.Name != "old" {
		t.Errorf("it is told as %q: %+v", e.Text, e)
	}
	p.c.env.Texts = assets.Load("es", parts...)
	p.open()
	if e, _ := p.log.Find("call/c1"); e.Text != "1/0 — falló: ZeroDivisionError" {
		t.Errorf("in Spanish it is told as %q", e.Text)
	}
}

// TestCallWhoseEndNobodyTells has a sandbox end under a call: it must not seem
// to run for ever.
func TestCallWhoseEndNobodyTells(t *testing.T) {
	r, b, p, snap := activityShown(t, "en")
	r.until("the sandbox to be followed", func() bool { return b.followed() == 1 })
	news := b.calls["microvm-x"]
	news <- control.CallNews{ID: "c1", Sandbox: "microvm-x", Kind: "command", Text: "make", StartedAt: b.now}
	r.until("the call", func() bool { _, ok := p.log.Find("call/c1"); return ok })
	snap.Sandboxes, snap.At = nil, b.now.Add(time.Minute)
	p.show(snap)
	close(news)
	r.until("its end", func() bool { e, _ := p.log.Find("call/c1"); return !e.Call.Ended.IsZero() })
	if e, _ := p.log.Find("call/c1"); e.Text != "make — over" {
		t.Errorf("it is told as %q", e.Text)
	}
}

func TestActivityLoadsOlder(t *testing.T) {
	r, _, p, _ := activityShown(t, "es")
	for want := 200; p.cursor != ""; want += 100 {
		p.older()
		p.older()
		r.until("older ones", func() bool { return !p.busy })
		if n := p.log.Len(); n != min(want, 250) {
			t.Fatalf("%d are loaded, want %d", n, min(want, 250))
		}
	}
	if shown := seen(r.win.Content()); !strings.Contains(shown, "Entradas: 250 · Aquí empezó todo.") {
		t.Errorf("the end is not told in\n%s", shown)
	}
}

// TestActivityMissesNothing holds that what comes between the look at the past
// and the ear for the future is found, and what comes while the page is not seen.
func TestActivityMissesNothing(t *testing.T) {
	r, b, p, _ := activityShown(t, "en")
	between := sandbox.Event{ID: "between", At: b.now, Kind: sandbox.EventReady, Subject: "microvm-x"}
	b.mu.Lock()
	b.events = slices.Insert(b.events, 0, between)
	b.mu.Unlock()
	p.tick(b.now.Add(activitySettle))
	r.until("what came between", func() bool { _, ok := p.log.Find("event/between"); return ok })
	b.mu.Lock()
	for i := range 130 {
		b.events = slices.Insert(b.events, 0, sandbox.Event{ID: fmt.Sprint("away", i), At: b.now.Add(time.Duration(i+1) * time.Second), Kind: sandbox.EventReady, Subject: "microvm-x"})
	}
	b.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.enter(ctx)
	r.until("what came meanwhile", func() bool { return p.log.Len() == 231 })
}

func TestActivityTellsThatNothingComes(t *testing.T) {
	r, b, p, _ := activityShown(t, "en")
	b.tell <- sandbox.Event{}
	r.until("the problem", func() bool { return strings.Contains(p.view.Banner().Text(), "Nothing new comes in") })
	p.catchUp(false)
	p.listen()
	b.tell <- sandbox.Event{ID: "after", At: b.now, Kind: sandbox.EventReady, Subject: "microvm-x"}
	r.until("what comes after", func() bool { _, ok := p.log.Find("event/after"); return ok })
	b.mu.Lock()
	b.refuse = &sandbox.Error{Code: sandbox.StoreDown, Msg: "no"}
	b.mu.Unlock()
	p.catchUp(true)
	r.until("another problem", func() bool {
		return p.view.Banner().Text() != "" && !strings.Contains(p.view.Banner().Text(), "Nothing new")
	})
	p.clock()
	r.until("a refusal", func() bool { return len(r.fails) == 1 })
	b.mu.Lock()
	b.refuse = nil
	b.mu.Unlock()
	p.clock()
	r.until("the clock", func() bool { return len(r.toasts) == 1 })
	if b.right != 2 {
		t.Errorf("the clock was right %d times", b.right)
	}
}

func TestActivityIsLedTo(t *testing.T) {
	r, _, p, _ := activityShown(t, "en")
	p.place("microvm-past")
	if p.view.Selected() != "event/e0" || p.filter.Sandbox != "microvm-past" {
		t.Errorf("led to %q, with %+v", p.view.Selected(), p.filter)
	}
	p.view.OnFilter(ui.Filter{}, "")
	p.view.OnGo(ui.PageTokens, "g1")
	if !slices.Equal(r.went, []string{"tokens/g1"}) {
		t.Errorf("went to %v", r.went)
	}
}

func TestCrowdIsFollowedInPart(t *testing.T) {
	r, b, p, snap := activityShown(t, "en")
	for i := range 100 {
		snap.Sandboxes = append(snap.Sandboxes, sandbox.Sandbox{ID: fmt.Sprint("microvm-", i), Key: fmt.Sprint(i), State: sandbox.Running, UsedAt: b.now.Add(time.Duration(i) * time.Second)})
	}
	p.show(snap)
	p.tick(b.now)
	if !strings.Contains(seen(r.win.Content()), "Calls are followed in the 32 sandboxes used last") {
		t.Errorf("it is not told in\n%s", seen(r.win.Content()))
	}
	if len(p.calls.streams) != mostFollowed || p.calls.streams["microvm-99"] == nil || p.calls.streams["microvm-0"] != nil {
		t.Errorf("%d are followed", len(p.calls.streams))
	}
	snap.Sandboxes = snap.Sandboxes[:1]
	p.show(snap)
	if p.calls.crowded || p.calls.streams["microvm-x"] == nil {
		t.Error("the one that is left is not followed")
	}
}

func TestShownActivityIsExported(t *testing.T) {
	r, _, p, _ := activityShown(t, "en")
	path := filepath.Join(t.TempDir(), "activity.jsonl")
	p.choose = func(_ view.Env, _ string, got func(string)) { got(path) }
	days := ui.DaysOf(ui.RangeYesterday, p.c.env.Now())
	p.view.OnFilter(ui.Filter{Days: &days}, ui.RangeYesterday)
	p.export("jsonl")
	r.until("the file", func() bool { return len(r.toasts) == 1 })
	raw, err := os.ReadFile(path)
	if lines := bytes.Count(raw, []byte("\n")); err != nil || lines != 24 {
		t.Errorf("%d lines are in it, %v", lines, err)
	}
	p.export("csv")
	r.until("the sheet", func() bool { return len(r.toasts) == 2 })
	if raw, err = os.ReadFile(path); err != nil || !bytes.HasPrefix(raw, []byte("at,kind,severity,text,")) {
		t.Errorf("it begins with %.40q, %v", raw, err)
	}
}
