package ui

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/assets"
)

// Days are whole days of this computer's clock, from the beginning of one to
// the beginning of another, which is not among them.
type Days struct{ From, Until time.Time }

// The ranges of days that can be chosen by name.
const (
	RangeToday     = "today"
	RangeYesterday = "yesterday"
	RangeWeek      = "week"  // seven days, today the last
	RangeUsual     = "usual" // thirty
	RangeMonth     = "month" // this one
	RangeLastMonth = "last-month"
	RangeCustom    = "custom"
)

// Ranges are all of them, as they are offered.
func Ranges() []string {
	return []string{RangeToday, RangeYesterday, RangeWeek, RangeUsual, RangeMonth, RangeLastMonth, RangeCustom}
}

// DaysOf are the days of a named range; those of RangeCustom are the usual ones
// to begin with.
func DaysOf(name string, now time.Time) Days {
	y, m, d := now.Date()
	at := func(y int, m time.Month, d int) time.Time { return dayStart(y, m, d, now.Location()) }
	switch name {
	case RangeToday:
		return Days{at(y, m, d), at(y, m, d+1)}
	case RangeYesterday:
		return Days{at(y, m, d-1), at(y, m, d)}
	case RangeWeek:
		return Days{at(y, m, d-6), at(y, m, d+1)}
	case RangeMonth:
		return Days{at(y, m, 1), at(y, m, d+1)}
	case RangeLastMonth:
		return Days{at(y, m-1, 1), at(y, m, 1)}
	}
	return Days{at(y, m, d-29), at(y, m, d+1)}
}

// dayStart is the first moment of a day where loc is. Where clocks change at
// midnight it is not always 00:00, or there are two of those.
func dayStart(y int, m time.Month, d int, loc *time.Location) time.Time {
	noon := time.Date(y, m, d, 12, 0, 0, 0, loc)
	t := time.Date(y, m, d, 0, 0, 0, 0, loc)
	if t.Day() != noon.Day() { // 00:00 was left out
		if _, end := t.ZoneBounds(); !end.IsZero() && end.Before(noon) {
			return end
		}
	}
	const step = 30 * time.Minute // of the smallest change there is
	for t.Add(-step).Day() == noon.Day() {
		t = t.Add(-step)
	}
	return t
}

// Next is the first moment of the day after that of t.
func nextDay(t time.Time) time.Time {
	y, m, d := t.Date()
	return dayStart(y, m, d+1, t.Location())
}

// The mistakes there are in a range of days. Their texts are keys.
var (
	ErrDay    = errors.New("spend.range.day")    // one is no day
	ErrOrder  = errors.New("spend.range.order")  // the last is before the first
	ErrFuture = errors.New("spend.range.future") // the first is yet to come
	ErrLong   = errors.New("spend.range.long")   // too many
)

const mostYears = 10

// ParseDays reads the first and the last of some days, as in 2026-11-29.
func ParseDays(first, last string, now time.Time) (Days, error) {
	from, err := time.Parse(time.DateOnly, strings.TrimSpace(first))
	if err != nil {
		return Days{}, ErrDay
	}
	to, err := time.Parse(time.DateOnly, strings.TrimSpace(last))
	if err != nil {
		return Days{}, ErrDay
	}
	days := Days{
		dayStart(from.Year(), from.Month(), from.Day(), now.Location()),
		dayStart(to.Year(), to.Month(), to.Day()+1, now.Location()),
	}
	switch {
	case to.Before(from):
		return Days{}, ErrOrder
	case days.From.After(now):
		return Days{}, ErrFuture
	case to.After(from.AddDate(mostYears, 0, 0)):
		return Days{}, ErrLong
	}
	if today := DaysOf(RangeToday, now); days.Until.After(today.Until) { // what is yet to come is empty
		days.Until = today.Until
	}
	return days, nil
}

// Last is the last of the days.
func (d Days) Last() time.Time { return d.Until.Add(-1) }

// Now reports whether the days go on at a moment.
func (d Days) Now(now time.Time) bool { return !now.Before(d.From) && now.Before(d.Until) }

// A Bucket is a part of some days that a chart has a bar for.
type Bucket struct {
	Days

	Unit string // "day", "week", "month"
}

// What a bucket is long.
const (
	unitDay   = "day"
	unitWeek  = "week"
	unitMonth = "month"
)

const mostBars = 62 // that can be told apart

// Buckets part days without a gap: by day, and by what is longer where there
// would be too many. The first and the last may be shorter than the others.
func Buckets(d Days) []Bucket {
	for _, unit := range []string{unitDay, unitWeek} {
		if out := buckets(d, unit); len(out) <= mostBars {
			return out
		}
	}
	return buckets(d, unitMonth)
}

func buckets(d Days, unit string) []Bucket {
	var out []Bucket
	for at := d.From; at.Before(d.Until); {
		y, m, day := at.Date()
		var next time.Time
		switch unit {
		case unitDay:
			next = nextDay(at)
		case unitWeek: // they begin on Monday, as the budgets' do
			next = dayStart(y, m, day+7-(int(at.Weekday())+6)%7, at.Location())
		default:
			next = dayStart(y, m+1, 1, at.Location())
		}
		if next.After(d.Until) {
			next = d.Until
		}
		out = append(out, Bucket{Days{at, next}, unit})
		at = next
	}
	return out
}

// Label is what a bucket is called in full.
func (b Bucket) Label(tx assets.Texts) string {
	first, last := DayText(tx, b.From), DayText(tx, b.Last())
	if first == last {
		return first
	}
	return tx.Get("spend.day.span", "first", first, "last", last)
}

// Mark is what a bucket is called where there is little room.
func (b Bucket) Mark(tx assets.Texts) string {
	if b.Unit == unitMonth {
		return tx.Get("spend.month." + strconv.Itoa(int(b.From.Month())))
	}
	return tx.Get("spend.day.short", "day", strconv.Itoa(b.From.Day()), "month", tx.Get("spend.month."+strconv.Itoa(int(b.From.Month()))))
}

// DayText is a day for people.
func DayText(tx assets.Texts, t time.Time) string {
	return tx.Get("spend.day", "weekday", tx.Get("spend.weekday."+strconv.Itoa(int(t.Weekday()))),
		"day", strconv.Itoa(t.Day()), "month", tx.Get("spend.month."+strconv.Itoa(int(t.Month()))), "year", strconv.Itoa(t.Year()))
}

// MomentText is a moment for people: the time if it is today, else the day too,
// and in another year the day alone.
func MomentText(tx assets.Texts, t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.Year() != now.Year():
		return t.Format(time.DateOnly)
	case t.YearDay() != now.YearDay():
		return Bucket{Days: Days{From: t}}.Mark(tx) + t.Format(" 15:04")
	}
	return t.Format(time.TimeOnly)
}

// String are the first and the last of the days.
func (d Days) String() string {
	return d.From.Format(time.DateOnly) + " – " + d.Last().Format(time.DateOnly)
}
