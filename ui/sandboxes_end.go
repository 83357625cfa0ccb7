package ui

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// LatestEnd is the latest time at which b may end: its life was fixed when it was
// made, and so its end can only be brought forward, and put off again up to here.
func LatestEnd(b sandbox.Sandbox) time.Time {
	if b.Extendable.After(b.EndsAt) {
		return b.Extendable
	}
	return b.EndsAt
}

// An EndChoice is an end of a sandbox that takes one click to choose. Value is
// what somebody would type for it.
type EndChoice struct{ Label, Value string }

// ofDay is how a time of the day is written and read.
const ofDay = "15:04"

// EndChoices are the ends that somebody is likely to want of b, of those that it
// can have.
func EndChoices(tx assets.Texts, b sandbox.Sandbox, now time.Time) (out []EndChoice) {
	latest := LatestEnd(b)
	for _, d := range []time.Duration{15 * time.Minute, time.Hour} {
		if !now.Add(d).After(latest) {
			span := Span(tx, d)
			out = append(out, EndChoice{tx.Get("sandboxes.end.in", "span", span), span})
		}
	}
	if at := roundTime(now, latest); !at.IsZero() {
		out = append(out, EndChoice{tx.Get("sandboxes.end.at", "time", at.Format(ofDay)), at.Format(ofDay)})
	}
	if last := latest.In(now.Location()).Truncate(time.Minute); latest.After(b.EndsAt) && last.After(now.Add(time.Minute)) && last.Before(now.Add(23*time.Hour)) {
		out = append(out, EndChoice{tx.Get("sandboxes.end.latest", "time", last.Format(ofDay)), last.Format(ofDay)})
	}
	return out
}

// roundTime is a time that people end their work at and that comes before
// latest: 18:00 if it does, else the last full hour. It is zero if there is none.
func roundTime(now, latest time.Time) time.Time {
	y, m, d := now.Date()
	hour := func(h int) time.Time { return time.Date(y, m, d, h, 0, 0, 0, now.Location()) }
	soonest := now.Add(10 * time.Minute)
	if evening := hour(18); evening.After(soonest) && !evening.After(latest) {
		return evening
	}
	for h := now.Hour() + 24; h > now.Hour(); h-- {
		if at := hour(h); at.After(soonest) && !at.After(latest) {
			return at
		}
	}
	return time.Time{}
}

// ErrEnd means that a text is neither a time of the day nor a length of time. Its
// text is a key.
var ErrEnd = errors.New("sandboxes.end.wrong")

var (
	endClock = regexp.MustCompile(`^([0-9]{1,2})[:.]([0-9]{2})$`)
	endSpan  = regexp.MustCompile(`^(?:([0-9]{1,3}(?:[.,][0-9]{1,2})?) ?(?:h|hours?|horas?))? ?(?:([0-9]{1,4}) ?(m|min|mins|minutes?|minutos?)?)?$`)
)

// ParseEnd reads when something is to end: a time of the day, which is the next
// one that comes, or how long it is until then.
func ParseEnd(text string, now time.Time) (time.Time, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if m := endClock.FindStringSubmatch(text); m != nil {
		hour, _ := strconv.Atoi(m[1])
		minute, _ := strconv.Atoi(m[2])
		if hour > 23 || minute > 59 {
			return time.Time{}, ErrEnd
		}
		y, month, day := now.Date()
		at := time.Date(y, month, day, hour, minute, 0, 0, now.Location())
		if !at.After(now) {
			at = time.Date(y, month, day+1, hour, minute, 0, 0, now.Location())
		}
		return at, nil
	}
	m := endSpan.FindStringSubmatch(text)
	if m == nil || m[1] == "" && m[3] == "" { // a number alone may be either
		return time.Time{}, ErrEnd
	}
	var d time.Duration
	if m[1] != "" {
		hours, err := parseTimes(m[1], time.Hour)
		if err != nil {
			return time.Time{}, ErrEnd
		}
		d = hours
	}
	if m[2] != "" {
		minutes, _ := strconv.Atoi(m[2])
		d += time.Duration(minutes) * time.Minute
	}
	if d <= 0 {
		return time.Time{}, ErrEnd
	}
	return now.Add(d), nil
}

// An EndPlan is what it would mean that a sandbox ends at another time.
type EndPlan struct {
	At      time.Time
	Text    string // when that is, and what it changes
	Cost    string
	Problem string // it can't; then there is nothing else
}

// PlanEnd says what it would mean that b ends when text says.
func PlanEnd(tx assets.Texts, b sandbox.Sandbox, text string, now time.Time) EndPlan {
	at, err := ParseEnd(text, now)
	if err != nil {
		return EndPlan{Problem: tx.Get(ErrEnd.Error())}
	}
	latest := LatestEnd(b)
	switch {
	case at.After(latest) && latest.After(b.EndsAt):
		return EndPlan{Problem: tx.Get("sandboxes.end.late", "time", MinuteStamp(latest, now), "span", Left(tx, latest, now))}
	case at.After(latest):
		return EndPlan{Problem: tx.Get("sandboxes.end.fixed", "time", MinuteStamp(latest, now), "span", Left(tx, latest, now))}
	}
	p := EndPlan{At: at}
	in, _ := Countdown(tx, at, now)
	p.Text = tx.Get("sandboxes.end.result", "time", MinuteStamp(at, now), "span", in)
	by := at.Sub(b.EndsAt)
	switch {
	case by <= -time.Minute:
		p.Text += " " + tx.Get("sandboxes.end.earlier", "span", Span(tx, -by))
	case by >= time.Minute:
		p.Text += " " + tx.Get("sandboxes.end.later", "span", Span(tx, by))
	default:
		p.Text += " " + tx.Get("sandboxes.end.same")
	}
	p.Cost = endCost(tx, b, by)
	return p
}

// endCost says what it changes of the cost of b that it ends later by a time.
func endCost(tx assets.Texts, b sandbox.Sandbox, by time.Duration) string {
	amount := b.PerHour * sandbox.Micro(by.Abs()/time.Second) / 3600
	switch {
	case b.Profile == sandbox.ProfileLocal:
		return tx.Get("sandboxes.end.free")
	case b.PerHour == 0:
		return tx.Get("sandboxes.end.unpriced")
	case by.Abs() < time.Minute || amount == 0:
		return ""
	case by < 0:
		return tx.Get("sandboxes.end.cheaper", "amount", Money(tx, amount))
	}
	return tx.Get("sandboxes.end.dearer", "amount", Money(tx, amount))
}

// MinuteStamp is a moment to the minute on the clock of now, with its day unless that is today.
func MinuteStamp(at, now time.Time) string {
	at = at.In(now.Location())
	if Today(at).Equal(Today(now)) {
		return at.Format(ofDay)
	}
	return at.Format("2006-01-02 " + ofDay)
}
