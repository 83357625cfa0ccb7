package tray

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// A board is a panel that keeps what it is given.
type board struct {
	notices chan ui.Notice
	shown   []ui.Model
}

func (b *board) show(m ui.Model) { b.shown = append(b.shown, m) }

func (b *board) notify(n ui.Notice, _ func()) error {
	b.notices <- n
	return nil
}

// newBoard is a tray that is not connected to anything, at an hour of the day, in
// a language that the test may change.
func newBoard(t *testing.T, hour int, quiet *ui.Hours) (*tray, *board, *string) {
	t.Helper()
	language := new(string)
	tr := newTray(Config{
		Texts: func() assets.Texts { return assets.Load(*language, ui.Texts) }, Quiet: quiet, Explain: func(err error) string { return err.Error() },
		Clock: clockwork.NewFakeClockAt(time.Date(2026, 11, 29, hour, 0, 0, 0, time.Local)), Log: slog.New(slog.DiscardHandler),
	})
	b := &board{notices: make(chan ui.Notice, 10)}
	tr.panel = b
	return tr, b, language
}

func TestNoticesByPreference(t *testing.T) {
	hours := func(s string) *ui.Hours {
		h, err := ui.ParseHours(s)
		if err != nil {
			t.Fatal(err)
		}
		return &h
	}
	tests := []struct {
		name     string
		flag     *ui.Hours
		notices  control.Notices
		at       int
		told     bool // what nobody asked for
		answered bool
		done     bool
	}{
		{"as usual", nil, control.Notices{Done: true}, 12, true, true, true},
		{"not of what went well", nil, control.Notices{}, 12, true, true, false},
		{"in quiet hours", nil, control.Notices{Quiet: "22:00-07:30", Done: true}, 23, false, true, true},
		{"out of them", nil, control.Notices{Quiet: "22:00-07:30", Done: true}, 8, true, true, true},
		{"the command line goes first", hours("11:00-13:00"), control.Notices{Quiet: "22:00-07:30"}, 12, false, true, false},
		{"and over them", hours("11:00-13:00"), control.Notices{Quiet: "22:00-07:30"}, 23, true, true, false},
		{"hours that are none", nil, control.Notices{Quiet: "always"}, 12, true, true, false},
		{"none at all", nil, control.Notices{Off: true, Done: true}, 12, false, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, b, _ := newBoard(t, tt.at, tt.flag)
			tr.prefer(control.Preferences{Notices: tt.notices})
			tr.tell(t.Context(), ui.Notice{ID: "told"})
			tr.answer(t.Context(), ui.Notice{ID: "answered"})
			want := map[string]bool{"told": tt.told, "answered": tt.answered}
			for range len(slices.DeleteFunc([]bool{tt.told, tt.answered}, func(b bool) bool { return !b })) {
				if n := <-b.notices; !want[n.ID] {
					t.Errorf("%s is told", n.ID)
				}
			}
			if tr.state.TellDone != tt.done {
				t.Errorf("of what went well: %v", tr.state.TellDone)
			}
		})
	}
}

// TestLossIsShownAtOnce holds that the end of an engine, and a new one, wait for
// no clock, while other news come once a second.
func TestLossIsShownAtOnce(t *testing.T) {
	tr, b, _ := newBoard(t, 12, nil)
	now := tr.cfg.Clock.Now()
	see := func(n int) {
		s := sandbox.Snapshot{At: now}
		for i := range n {
			s.Sandboxes = append(s.Sandboxes, sandbox.Sandbox{ID: fmt.Sprint("microvm-", i), Name: "web", State: sandbox.Running, Profile: sandbox.ProfileLocal})
		}
		tr.saw(s)
		tr.asked = true                            // nor what the user has set
		tr.spendDay, tr.alive = ui.Today(now), nil // what was spent is not asked for here
	}
	turns := func(what string, icon ui.Icon, off bool) {
		t.Helper()
		before := len(b.shown)
		tr.turn(t.Context())
		if len(b.shown) != before+1 {
			t.Fatalf("%s: shown %d times", what, len(b.shown)-before)
		}
		m := b.shown[before]
		kill, ok := ui.Find(m.Items, "sandbox/microvm-0/kill")
		if m.Icon != icon || !ok || kill.Disabled != off {
			t.Errorf("%s: %s, Kill %+v", what, m.Icon, kill)
		}
	}
	see(1)
	turns("the first snapshot", ui.IconRunning, false)
	see(2)
	if next := tr.turn(t.Context()); len(b.shown) != 1 || next.After(now.Add(calm)) {
		t.Errorf("news at once: shown %d times, then at %v", len(b.shown), next)
	}
	tr.lose(&sandbox.Error{Code: sandbox.Unreachable, Msg: "nobody answers"})
	turns("the engine is lost", ui.IconLost, true)
	if why, ok := ui.Find(b.shown[1].Items, "lost"); !ok || why.Label != "nobody answers" {
		t.Errorf("the reason is %+v", why)
	}
	see(1)
	turns("it is back", ui.IconRunning, false)
}

// TestLanguageChangesOnce has the menu say the same in another language, with one
// signal and no item new.
func TestLanguageChangesOnce(t *testing.T) {
	tr, _, language := newBoard(t, 12, nil)
	r := newRecorder()
	r.show(tr.model().Items)
	r.take()
	tr.prefer(control.Preferences{Language: assets.English})
	if tr.clicked {
		t.Error("the same language is news")
	}
	*language = assets.Spanish
	tr.prefer(control.Preferences{Language: assets.Spanish})
	if !tr.clicked {
		t.Error("another language is shown only later")
	}
	for range 3 {
		r.show(tr.model().Items)
	}
	got := r.take()
	if !strings.HasPrefix(got, "ItemsPropertiesUpdated ") || strings.Count(got, ";") != 0 || strings.Count(got, "[label]") != len(tr.model().Items)-2 {
		t.Errorf("signals %q", got)
	}
	if label, err := r.GetProperty(1, "label"); err != nil || label.Value() != "Arrancando…" {
		t.Errorf("the first line is %v, %v", label, err)
	}
}

func TestWindowArgs(t *testing.T) {
	for _, tt := range []struct{ page, place, want string }{
		{"", "", ""},
		{"", "x", ""},
		{ui.PageSpend, "", "--page spend"},
		{ui.PageSandboxes, "microvm-1", "--page sandboxes --place microvm-1"},
	} {
		if got := strings.Join(windowArgs(tt.page, tt.place), " "); got != tt.want {
			t.Errorf("windowArgs(%q, %q) = %q, want %q", tt.page, tt.place, got, tt.want)
		}
	}
}
