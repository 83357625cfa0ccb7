package tools

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/bridge"
)

// Alerts is how answers tell of what went wrong in the last day: as a text after
// all else, and as data in _meta.
type Alerts string

// The ways. The zero value is AlertsAlways.
const (
	AlertsAlways Alerts = "always" // with each answer, as long as it is of the last day
	AlertsOnce   Alerts = "once"   // with one answer
	AlertsMeta   Alerts = "meta"   // as data alone, for hosts that mind a text they did not expect
)

// AllAlerts are the names of all ways.
func AllAlerts() []string {
	return []string{string(AlertsAlways), string(AlertsOnce), string(AlertsMeta)}
}

const (
	alertsFor  = 24 * time.Hour
	alertLines = 5
	alertChars = 160  // of a line
	alertMost  = 100  // of them in _meta
	dataChars  = 1000 // of one text in data
	nameChars  = 40   // of what a line quotes
	whereCLI   = "arenero events"
)

// told is which alerts have been told of, where that is to be done once.
type told struct {
	mu    sync.Mutex
	owner map[string]map[string]bool // ids, by whom the calls are for
}

// fresh returns those that owner has not been told of, and notes that it has.
// What is no alert any more is forgotten.
func (t *told) fresh(owner string, events []sandbox.Event) []sandbox.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, now := t.owner[owner], map[string]bool{}
	var out []sandbox.Event
	for _, e := range events {
		now[e.ID] = true
		if !before[e.ID] {
			out = append(out, e)
		}
	}
	if t.owner == nil {
		t.owner = map[string]map[string]bool{}
	}
	t.owner[owner] = now
	return out
}

// alert gives the answer of a call its end.
func (s *set) alert(ctx context.Context, call *sandbox.Call) {
	events := call.Alerts()
	if unmet(call) && s.Authorize != nil && ctx.Err() == nil {
		// Asked on the side, and so not counted as a call.
		aside, other := sandbox.WithCall(ctx, call.Caller())
		other.Answered(nil)
		if _, err := s.ask(aside); err == nil {
			events = other.Alerts()
		}
	}
	events = s.current(events)
	if s.Alerts == AlertsOnce {
		events = s.told.fresh(s.Who(ctx).Owner, events)
	}
	if len(events) == 0 {
		return
	}
	tail := bridge.Tail{Name: "alerts", Value: s.events(events[:min(len(events), alertMost)])}
	if s.Alerts != AlertsMeta {
		tail.Text = s.block(events)
	}
	bridge.SetTail(ctx, tail)
}

// current keeps the alerts of the last day, the newest first, each once.
func (s *set) current(events []sandbox.Event) []sandbox.Event {
	var out []sandbox.Event
	seen := map[string]bool{}
	for _, e := range events {
		if e.Alert() && s.Clock.Since(e.At) < alertsFor && !seen[e.ID] {
			seen[e.ID] = true
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b sandbox.Event) int { return b.At.Compare(a.At) })
	return out
}

// block is the text that tells of alerts.
func (s *set) block(events []sandbox.Event) string {
	lines := []string{s.Texts.Get("alert.header", "count", itoa(len(events)))}
	for _, e := range events[:min(len(events), alertLines)] {
		begin := "- " + e.At.UTC().Format("15:04Z") + " "
		lines = append(lines, begin+s.line(e, alertChars-utf8.RuneCountInString(begin)))
	}
	if rest := len(events) - alertLines; rest > 0 {
		where := whereCLI
		if s.has(Fleet) {
			where = "get_events"
		}
		lines = append(lines, s.Texts.Get("alert.more", "count", itoa(rest), "where", where))
	}
	return strings.Join(lines, "\n")
}

// An eventOut is an event as answers have it.
type eventOut struct {
	ID       string         `json:"id"`
	At       string         `json:"at"`
	Kind     string         `json:"kind"`
	Severity string         `json:"severity"`
	Subject  *string        `json:"subject"`
	Origin   string         `json:"origin"`
	Data     map[string]any `json:"data"`
	Text     string         `json:"text"`
}

func (s *set) events(events []sandbox.Event) []eventOut {
	out := make([]eventOut, 0, len(events))
	for _, e := range events {
		data, _ := cleanData(e.Data).(map[string]any)
		if data == nil {
			data = map[string]any{}
		}
		out = append(out, eventOut{
			ID: clean(e.ID, dataChars), At: e.At.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Kind: string(e.Kind), Severity: string(e.Severity),
			Subject: orNull(clean(e.Subject, dataChars)), Origin: string(e.Origin), Data: data, Text: s.line(e, alertChars),
		})
	}
	return out
}

// cleanData is data with its texts cleaned.
func cleanData(v any) any {
	switch v := v.(type) {
	case string:
		return clean(v, dataChars)
	case map[string]any:
		if v == nil {
			return v
		}
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[clean(name, nameChars)] = cleanData(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = cleanData(e)
		}
		return out
	}
	return v
}

// line says what happened, in at most so many characters. Words of others are
// quoted, and marked as theirs.
func (s *set) line(e sandbox.Event, most int) string {
	text := clip(s.happened(e), most)
	words, _ := e.Data["text"].(string)
	words = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`«»“”"`, r) {
			return '\''
		}
		return r
	}, clean(words, dataChars))
	if words == "" {
		return text
	}
	frame := "; " + s.Texts.Get("alert.quote", "text", "")
	room := most - utf8.RuneCountInString(text) - utf8.RuneCountInString(frame)
	if room < 1 {
		return text
	}
	return text + "; " + s.Texts.Get("alert.quote", "text", clip(words, room))
}

// happened is what an event tells, but for words of others.
func (s *set) happened(e sandbox.Event) string {
	data := func(name string) string {
		v, _ := e.Data[name].(string)
		return clean(v, nameChars)
	}
	number := func(name string) sandbox.Micro {
		n, _ := whole(e.Data[name])
		return sandbox.Micro(n)
	}
	args := []string{
		"subject", short(clean(e.Subject, dataChars)), "kind", clean(string(e.Kind), nameChars), "name", data("name"), "code", data("code"),
		"percent", strconv.FormatInt(int64(number("percent")), 10), "days", strconv.FormatInt(int64(number("days")), 10),
		"spent", s.digits(number("spent_micro").Plus(number("held_micro")).Beside(number("limit_micro"))), "limit", s.digits(number("limit_micro").String()),
		"left", s.span(time.Duration(number("left_s")) * time.Second),
	}
	key := "alert." + string(e.Kind)
	switch e.Kind {
	case sandbox.EventRefused:
		why := data("code")
		if name := "alert.refused." + why; s.Texts.Has(name) {
			why = s.Texts.Get(name)
		}
		args = append(args, "why", why)
	case sandbox.EventThreshold, sandbox.EventOver:
		if level := data("level"); level != "" && level != string(sandbox.LevelGrant) && s.Texts.Has("level."+level) {
			key += ".level"
			args = append(args, "level", s.Texts.Get("level."+level))
		}
	case sandbox.EventEnded, sandbox.EventMachineOver:
		reason := data("reason")
		if name := "alert.reason." + reason; s.Texts.Has(name) {
			reason = s.Texts.Get(name)
		} else if reason == "" {
			reason = s.Texts.Get("alert.reason.unknown")
		}
		args = append(args, "reason", reason)
	}
	if !s.Texts.Has(key) {
		key = "alert.other"
	}
	return strings.TrimSpace(s.Texts.Get(key, args...))
}

// span is a length of time for people: at most one unit, rounded up.
func (s *set) span(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"days", 24 * time.Hour}, {"hours", time.Hour}} {
		if d >= unit.of {
			return s.Texts.Get("time."+unit.name, "count", itoa(int((d+unit.of-1)/unit.of)))
		}
	}
	return s.Texts.Get("time.minutes", "count", itoa(int((d+time.Minute-1)/time.Minute)))
}

// short is an id as a line shows it.
func short(id string) string {
	const begin, end = 4, 3
	runes := []rune(id)
	if len(runes) <= begin+end+4 {
		return id
	}
	return string(runes[:begin]) + "…" + string(runes[len(runes)-end:])
}

// clean makes of a text of others one line of visible characters: without those
// that control a terminal, turn the direction of writing, or take no room.
func clean(text string, most int) string {
	text = strings.ToValidUTF8(text, "")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.Is(unicode.C, r), isMark(r):
			return -1
		}
		return r
	}, text)
	return clip(strings.Join(strings.Fields(text), " "), most)
}

// isMark reports whether r is one of those that take no room and hide text,
// beside what Unicode counts as control characters.
func isMark(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF || r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0
}

// clip shortens a text to so many characters.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(0, most-1)]) + "…"
}
