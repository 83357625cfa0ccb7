package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// percents are the thresholds that were told of, the oldest first.
func (r *rig) percents(level sandbox.BudgetLevel) []float64 {
	var out []float64
	for _, e := range r.events(sandbox.EventThreshold) {
		if e.Data["level"] == string(level) {
			out = append(out, e.Data["percent"].(float64))
		}
	}
	return out
}

// TestThresholds crosses each once in a period, in whatever steps.
func TestThresholds(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 1000, func(g *sandbox.Grant) { g.Period = sandbox.PeriodDay })
	wantPercents := func(want ...float64) {
		t.Helper()
		if got := r.percents(sandbox.LevelGrant); !slices.Equal(got, want) {
			t.Fatalf("thresholds %v, want %v", got, want)
		}
	}
	r.reserve(order("a", g.ID, 499))
	wantPercents()
	r.reserve(order("b", g.ID, 1))
	wantPercents(50)
	r.reserve(order("c", g.ID, 450)) // two at once
	wantPercents(50, 80, 95)
	r.must(r.Release(r.ctx(), "c", sandbox.EndFailed))
	r.reserve(order("d", g.ID, 450)) // no news
	wantPercents(50, 80, 95)
	_, err := r.Reserve(r.ctx(), want(order("e", g.ID, 51))) // refused: crosses nothing
	r.wantCode(err, sandbox.BudgetExceeded)
	wantPercents(50, 80, 95)
	r.reserve(order("e", g.ID, 50))
	wantPercents(50, 80, 95, 100)

	var severities []sandbox.Severity
	for _, e := range r.events(sandbox.EventThreshold) {
		severities = append(severities, e.Severity)
		if e.Grant != g.ID || e.Data["limit_micro"] != 1000.0 {
			t.Errorf("event: %+v", e)
		}
	}
	if want := []sandbox.Severity{sandbox.SeverityInfo, sandbox.SeverityWarn, sandbox.SeverityWarn, sandbox.SeverityError}; !slices.Equal(severities, want) {
		t.Errorf("severities %v, want %v", severities, want)
	}

	r.must(r.Release(r.ctx(), "b", sandbox.EndFailed)) // 999 held
	r.clock.Advance(24 * time.Hour)
	r.reserve(order("f", g.ID, 0)) // what is held since yesterday counts today
	wantPercents(50, 80, 95, 100, 50, 80, 95)

	_, err = r.ModifyGrant(r.ctx(), g.ID, func(g *sandbox.Grant) error { g.Limit = new(sandbox.Micro(2000)); return nil })
	r.must(err)
	wantPercents(50, 80, 95, 100, 50, 80, 95) // 49.95 % of that
	r.reserve(order("h", g.ID, 1))            // another limit, another half
	wantPercents(50, 80, 95, 100, 50, 80, 95, 50)
	_, err = r.ModifyGrant(r.ctx(), g.ID, func(g *sandbox.Grant) error { g.Limit = new(sandbox.Micro(1200)); return nil })
	r.must(err)
	wantPercents(50, 80, 95, 100, 50, 80, 95, 50, 80)
	r.wantClean()
}

// TestThresholdsOfSmallLimits has limits that percents don't divide.
func TestThresholdsOfSmallLimits(t *testing.T) {
	tests := []struct {
		limit sandbox.Micro
		holds []sandbox.Micro
		want  []float64
	}{
		{0, []sandbox.Micro{0}, nil},
		{1, []sandbox.Micro{0, 1}, []float64{50, 80, 95, 100}},
		{3, []sandbox.Micro{1}, nil},
		{3, []sandbox.Micro{2}, []float64{50}},
		{1<<63 - 2, []sandbox.Micro{1<<62 - 2}, nil},
		{1<<63 - 2, []sandbox.Micro{1<<62 - 1}, []float64{50}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.limit, tt.holds), func(t *testing.T) {
			r := newRig(t)
			g := r.grant("agent", tt.limit)
			for i, h := range tt.holds {
				r.reserve(order(fmt.Sprint(i), g.ID, h))
			}
			if got := r.percents(sandbox.LevelGrant); !slices.Equal(got, tt.want) {
				t.Errorf("thresholds %v, want %v", got, tt.want)
			}
		})
	}
}

// TestEvents keeps events for 30 days, each once, and pages through them.
func TestEvents(t *testing.T) {
	r := newRig(t)
	emit := func(e sandbox.Event) {
		t.Helper()
		r.must(r.Emit(r.ctx(), e))
	}
	emit(sandbox.Event{ID: "old", Kind: sandbox.EventNotice, At: noon.Add(-ledger.Retention - time.Millisecond)})
	emit(sandbox.Event{ID: "aged", Kind: sandbox.EventNotice, At: noon.Add(-ledger.Retention)})
	for i := range 25 {
		emit(sandbox.Event{ID: fmt.Sprint(i), Kind: sandbox.EventReady, Grant: "g1", Data: map[string]any{"n": i}})
	}
	emit(sandbox.Event{ID: "7", Kind: sandbox.EventEnded, Grant: "g2"}) // its ID is known
	emit(sandbox.Event{ID: "warning", Kind: sandbox.EventEnded, Grant: "g2", Severity: sandbox.SeverityWarn, Data: map[string]any{"reason": "expired"}})
	emit(sandbox.Event{ID: "machine", Kind: sandbox.EventMachine, Grant: "g1", Origin: sandbox.OriginArrakis})

	var got []string
	ask := sandbox.EventQuery{Limit: 10}
	for pages := 0; ; pages++ {
		page, err := r.Events(r.ctx(), ask)
		r.must(err)
		for _, e := range page.Events {
			got = append(got, e.ID)
		}
		if page.Next == "" {
			if pages != 2 {
				t.Errorf("%d full pages", pages)
			}
			break
		}
		ask.Cursor = page.Next
	}
	if len(got) != 28 || got[0] != "machine" || got[1] != "warning" || got[2] != "24" || got[27] != "aged" {
		t.Errorf("events: %v", got)
	}
	ids := func(events []sandbox.Event) (ids []string) {
		for _, e := range events {
			ids = append(ids, e.ID)
		}
		return ids
	}
	for _, tt := range []struct {
		grant string
		want  []string
	}{{sandbox.GrantOwner, []string{"machine", "warning"}}, {"g1", []string{"machine"}}, {"g2", []string{"warning"}}, {"g3", nil}} {
		alerts, err := r.Alerts(r.ctx(), tt.grant, noon.Add(-24*time.Hour))
		r.must(err)
		if got := ids(alerts); !slices.Equal(got, tt.want) {
			t.Errorf("alerts of %s: %v, want %v", tt.grant, got, tt.want)
		}
	}
	if alerts, err := r.Alerts(r.ctx(), "g2", noon.Add(time.Millisecond)); err != nil || len(alerts) != 0 {
		t.Errorf("alerts after: %v, %v", alerts, err)
	}
	page, err := r.Events(r.ctx(), sandbox.EventQuery{Grant: "g2"})
	r.must(err)
	if len(page.Events) != 1 || page.Events[0].Data["reason"] != "expired" || page.Events[0].Origin != sandbox.OriginLocal || !page.Events[0].At.Equal(noon) {
		t.Errorf("event: %+v", page.Events)
	}
	_, err = r.Events(r.ctx(), sandbox.EventQuery{Cursor: "rubbish"})
	r.wantCode(err, sandbox.Invalid)

	r.clock.Advance(ledger.Retention + time.Millisecond)
	emit(sandbox.Event{ID: "new", Kind: sandbox.EventReady})
	page, err = r.Events(r.ctx(), sandbox.EventQuery{})
	r.must(err)
	if got := ids(page.Events); !slices.Equal(got, []string{"new"}) {
		t.Errorf("events after a month: %v", got)
	}
}

// TestSubscribe is told of what is committed, and of nothing else.
func TestSubscribe(t *testing.T) {
	r := newRig(t)
	g := r.grant("agent", 100)
	_, err := r.SetBudget(r.ctx(), sandbox.LevelGlobal, "", new(sandbox.Micro(10)), "")
	r.must(err)
	events, cancel := r.Subscribe()
	_, err = r.Reserve(r.ctx(), want(order("a", g.ID, 60))) // half of the grant's, and too much for all
	r.wantCode(err, sandbox.BudgetExceeded)
	r.must(r.Emit(r.ctx(), sandbox.Event{ID: "one", Kind: sandbox.EventReady}))
	r.must(r.Emit(r.ctx(), sandbox.Event{ID: "one", Kind: sandbox.EventReady}))
	r.must(r.Emit(r.ctx(), sandbox.Event{ID: "two", Kind: sandbox.EventReady}))
	for _, want := range []string{"one", "two"} {
		if e := <-events; e.ID != want || !e.At.Equal(noon) {
			t.Errorf("event %+v, want %s", e, want)
		}
	}
	cancel()
	cancel()
	if _, open := <-events; open {
		t.Error("an event after the end")
	}

	slow, cancel := r.Subscribe()
	defer cancel()
	for i := range 300 {
		r.must(r.Emit(r.ctx(), sandbox.Event{ID: fmt.Sprint(i), Kind: sandbox.EventReady}))
	}
	n := 0
	for range slow { // ends, for it missed some
		n++
	}
	if n == 0 || n == 300 {
		t.Errorf("a slow one got %d events", n)
	}
	last, _ := r.Subscribe()
	r.must(r.Close())
	if _, open := <-last; open {
		t.Error("an event of a closed ledger")
	}
	if after, _ := r.Subscribe(); after != nil {
		if _, open := <-after; open {
			t.Error("an event of a closed ledger")
		}
	}
}
