package ui

import (
	"strconv"
	"time"

	"github.com/arenero/arenero/assets"
)

// A step is how coarse a span is told from some length on. The longer a time,
// the less a minute of it matters, and each change of a text wakes a desktop.
type step struct{ from, by time.Duration }

var steps = []step{
	{24 * time.Hour, 24 * time.Hour},
	{10 * time.Hour, time.Hour},
	{time.Hour, 5 * time.Minute},
	{0, time.Minute},
}

func stepOf(d time.Duration) time.Duration {
	for _, s := range steps {
		if d >= s.from {
			return s.by
		}
	}
	return time.Minute
}

// Age is how long something has been so at now, and when that will be told
// otherwise.
func Age(tx assets.Texts, since, now time.Time) (text string, until time.Time) {
	d := max(0, now.Sub(since))
	by := stepOf(d)
	whole := d.Truncate(by)
	return Span(tx, whole), now.Add(whole + by - d)
}

// Countdown is how long it is until something, and when that will be told
// otherwise; zero is never. What is left is rounded up: "5 min" lasts until 4
// are left, as people count.
func Countdown(tx assets.Texts, at, now time.Time) (text string, until time.Time) {
	d := at.Sub(now)
	if d <= 0 {
		return Span(tx, 0), time.Time{}
	}
	by := stepOf(d - 1) // at the edge of two steps, the finer begins
	whole := (d - 1).Truncate(by) + by
	return Span(tx, whole), at.Add(by - whole)
}

// Span is a time in minutes, in hours and minutes, or in days.
func Span(tx assets.Texts, d time.Duration) string {
	m := int(d / time.Minute)
	h, days := m/60, m/(24*60)
	switch {
	case m < 1:
		return tx.Get("tray.span.none")
	case h < 1:
		return tx.Get("tray.span.minutes", "m", strconv.Itoa(m))
	case days == 1:
		return tx.Get("tray.span.days.one")
	case days > 1:
		return tx.Get("tray.span.days.many", "d", strconv.Itoa(days))
	case m%60 == 0:
		return tx.Get("tray.span.hours", "h", strconv.Itoa(h))
	}
	return tx.Get("tray.span.both", "h", strconv.Itoa(h), "m", strconv.Itoa(m%60))
}
