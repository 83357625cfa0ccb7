package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/app/sandbox"
)

// An amount is dollars of the command line, or "none": no limit.
type amount struct {
	given bool
	limit *sandbox.Micro // nil is none
}

const noLimit = "none"

// Decode reads it off the command line.
func (a *amount) Decode(ctx *kong.DecodeContext) error {
	t, err := ctx.Scan.PopValue("amount")
	if err != nil {
		return err
	}
	text := t.String()
	*a = amount{given: true}
	if text == noLimit {
		return nil
	}
	m, err := sandbox.ParseMicro(text)
	if err != nil {
		return failure("cli.amount", "value", printable(text))
	}
	a.limit = &m
	return nil
}

// A moment is a time of the command line: a span such as 7d, to or from now; a
// day; or an instant.
type moment struct {
	given bool
	span  time.Duration
	day   string
	at    time.Time
}

// Decode reads it off the command line.
func (m *moment) Decode(ctx *kong.DecodeContext) error {
	t, err := ctx.Scan.PopValue("time")
	if err != nil {
		return err
	}
	parsed, ok := parseMoment(t.String())
	if !ok {
		return failure("cli.moment", "value", printable(t.String()))
	}
	*m = parsed
	return nil
}

func parseMoment(text string) (moment, bool) {
	if d, ok := parseSpan(text); ok {
		return moment{given: true, span: d}, true
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return moment{given: true, day: text}, true
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return moment{given: true, at: at}, true
	}
	return moment{}, false
}

const maxSpanDays = 36500

// parseSpan reads a length of time, which may be in days or weeks.
func parseSpan(text string) (time.Duration, bool) {
	for _, unit := range []struct {
		suffix string
		days   int
	}{{"d", 1}, {"w", 7}} {
		number, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(number)
		return time.Duration(n*unit.days) * 24 * time.Hour, err == nil && n > 0 && n <= maxSpanDays/unit.days && number[0] != '+'
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d > 0
}

// ago is the moment in the past; a day is its beginning where loc is.
func (m moment) ago(now time.Time, loc *time.Location) time.Time {
	if m.span != 0 {
		return now.Add(-m.span)
	}
	return m.fixed(loc, 0)
}

// agoWhole is ago, but a day is its end.
func (m moment) agoWhole(now time.Time, loc *time.Location) time.Time {
	if m.span != 0 {
		return now.Add(-m.span)
	}
	return m.fixed(loc, 1)
}

// ahead is the moment in the future; a day is its end where loc is.
func (m moment) ahead(now time.Time, loc *time.Location) time.Time {
	if m.span != 0 {
		return now.Add(m.span)
	}
	return m.fixed(loc, 1)
}

func (m moment) fixed(loc *time.Location, days int) time.Time {
	if m.day == "" {
		return m.at
	}
	at, _ := time.ParseInLocation(time.DateOnly, m.day, loc) // it was read before
	return at.AddDate(0, 0, days)
}
