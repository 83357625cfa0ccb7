package ui_test

import (
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// ids of notices, in order.
func ids(all []ui.Notice) (out []string) {
	for _, n := range all {
		out = append(out, n.ID)
	}
	return out
}

func TestNotices(t *testing.T) {
	tx := assets.Load(assets.English, ui.Texts)
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	done := func(all ...sandbox.Sandbox) ui.State {
		s := linked(all...)
		s.TellDone = true
		return s
	}
	signIn := linked()
	signIn.Snapshot.Profiles = reach(sandbox.SignIn, false)
	ends := func(b *sandbox.Sandbox) { b.EndsAt = at(10 * time.Minute) }
	type step struct {
		after time.Duration
		state ui.State
		want  string // id of the one notice
		until time.Duration
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"work of less than 30 s", []step{{0, linked(awake(busy(1))), "", 43 * time.Minute}, {29 * time.Second, done(awake()), "", -1}}},
		{"work of 30 s", []step{{0, linked(awake(busy(1))), "", 43 * time.Minute}, {20 * time.Second, linked(awake(busy(2))), "", 43 * time.Minute}, {30 * time.Second, done(awake()), "done/k", -1}, {40 * time.Second, done(awake()), "", -1}}},
		{"work that nobody wants to hear of", []step{{0, linked(awake(busy(1))), "", 43 * time.Minute}, {40 * time.Second, linked(awake()), "", -1}}},
		{"work that ended with its sandbox", []step{{0, linked(awake(busy(1))), "", 43 * time.Minute}, {time.Minute, done(), "", -1}}},
		{"an end while it works", []step{
			{0, linked(awake(busy(1), ends)), "", 5 * time.Minute},
			{5 * time.Minute, linked(awake(busy(1), ends)), "ending/k", -1},
			{6 * time.Minute, linked(awake(busy(1), ends)), "", -1},
		}},
		{"an end that nobody minds", []step{{8 * time.Minute, linked(awake(ends)), "", -1}}},
		{"an engine that is replaced", []step{{0, ui.State{Link: ui.Lost}, "", 30 * time.Second}, {29 * time.Second, linked(), "", -1}, {31 * time.Second, ui.State{Link: ui.Lost}, "", 61 * time.Second}}},
		{"an engine that is lost", []step{{0, ui.State{Link: ui.Lost}, "", 30 * time.Second}, {30 * time.Second, ui.State{Link: ui.Lost}, "lost", -1}, {time.Hour, ui.State{Link: ui.Lost}, "", -1}}},
		{"a profile that wants a sign-in", []step{{0, signIn, "sign-in/prod", -1}, {time.Minute, signIn, "", -1}, {time.Hour, linked(), "", -1}, {2 * time.Hour, signIn, "sign-in/prod", -1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n ui.Notices
			for i, s := range tt.steps {
				got, until := n.See(s.state, tx, at(s.after))
				if s.want == "" && len(got) > 0 || s.want != "" && (len(got) != 1 || got[0].ID != s.want) {
					t.Errorf("step %d: notices %v, want %q", i, ids(got), s.want)
				}
				if s.until < 0 != until.IsZero() || s.until >= 0 && !until.Equal(at(s.until)) {
					t.Errorf("step %d: until %v, want %v", i, until.Sub(noon), s.until)
				}
			}
		})
	}
}

func TestNoticesOfEvents(t *testing.T) {
	event := func(kind sandbox.EventKind, severity sandbox.Severity, data map[string]any) sandbox.Event {
		return sandbox.Event{ID: "1", Kind: kind, Severity: severity, Subject: "microvm-0123456789", Data: data}
	}
	budget := map[string]any{"percent": float64(80), "spent_micro": float64(8_000_000), "limit_micro": int64(10_000_000)}
	tests := []struct {
		event       sandbox.Event
		enTitle, en string
		esTitle, es string
		page        string // "" is that it is worth no notice
	}{
		{event: event(sandbox.EventReady, sandbox.SeverityInfo, nil)},
		{event: event(sandbox.EventEnded, sandbox.SeverityInfo, map[string]any{"reason": "asked"})},
		{event(sandbox.EventEnded, sandbox.SeverityWarn, map[string]any{"reason": "failed", "name": "web"}), "web has ended", "it did not start, or its main process ended", "web ha terminado", "no arrancó, o terminó su proceso principal", ui.PageSandboxes},
		{event(sandbox.EventEnded, sandbox.SeverityWarn, map[string]any{"reason": "unheard-of"}), "01234567 has ended", "", "01234567 ha terminado", "", ui.PageSandboxes},
		{event(sandbox.EventThreshold, sandbox.SeverityWarn, budget), "80% of a budget is used", "$8.00 of $10.00", "Usado el 80 % de un presupuesto", "8,00 US$ de 10,00 US$", ui.PageSpend},
		{event("of.tomorrow", sandbox.SeverityError, map[string]any{"name": "x"}), "Arenero has a notice", "x", "Arenero tiene un aviso", "x", ui.PageActivity},
	}
	both(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			n, ok := ui.OfEvent(tt.event, tx)
			if ok != (tt.page != "") || n.Page != tt.page || ok && n.Place != tt.event.Subject || n.Title != in(tx, tt.enTitle, tt.esTitle) || n.Text != in(tx, tt.en, tt.es) {
				t.Errorf("%s %v: %v %+v", tt.event.Kind, tt.event.Data, ok, n)
			}
		}
	})
}

func TestQuietHours(t *testing.T) {
	at := func(h, m int) time.Time { return time.Date(2026, 1, 1, h, m, 30, 0, time.UTC) }
	tests := []struct {
		hours string
		now   time.Time
		want  bool
	}{
		{"22:00-07:30", at(22, 0), true},
		{"22:00-07:30", at(3, 0), true},
		{"22:00-07:30", at(7, 29), true},
		{"22:00-07:30", at(7, 30), false},
		{"22:00-07:30", at(21, 59), false},
		{"12:00-13:00", at(12, 30), true},
		{"12:00-13:00", at(13, 0), false},
		{"08:00-08:00", at(8, 0), false},
		{"00:00-24:00", at(23, 59), true},
	}
	for _, tt := range tests {
		h, err := ui.ParseHours(tt.hours)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.Contain(tt.now); got != tt.want {
			t.Errorf("%s contain %v: %v", tt.hours, tt.now.Format(time.TimeOnly), got)
		}
	}
	for _, s := range []string{"", "22:00", "25:00-07:00", "22:60-07:00", "22:00-07:00 ", "-1:00-07:00", "2:00-3:00"} {
		if h, err := ui.ParseHours(s); err == nil {
			t.Errorf("ParseHours(%q) = %v", s, h)
		}
	}
}
