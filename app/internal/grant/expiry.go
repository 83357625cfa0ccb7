package grant

import (
	"fmt"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Reminders are how long before its end a grant says so, the longest first.
func Reminders() []time.Duration { return []time.Duration{7 * day, day, time.Hour} }

// Expiring are the reminders of g's end that come due after one instant and by
// another. Of several only the last matters, as when the computer slept. There
// are none after the end, nor of what was true when the grant was made.
func Expiring(g sandbox.Grant, after, by time.Time) []sandbox.Event {
	if g.ExpiresAt.IsZero() || !g.RevokedAt.IsZero() || g.Disabled || !by.Before(g.ExpiresAt) {
		return nil
	}
	var due time.Duration
	for _, before := range Reminders() {
		at := g.ExpiresAt.Add(-before)
		if at.After(g.CreatedAt) && at.After(after) && !at.After(by) {
			due = before
		}
	}
	if due == 0 {
		return nil
	}
	left := g.ExpiresAt.Sub(by)
	return []sandbox.Event{{
		// Another end has reminders of its own.
		ID: fmt.Sprintf("expiring:%s:%d:%d", g.ID, g.ExpiresAt.Unix(), due/time.Second),
		At: by, Kind: sandbox.EventExpiring, Severity: sandbox.SeverityWarn, Grant: g.ID, Subject: g.ID, Origin: sandbox.OriginLocal,
		Data: map[string]any{
			"name": g.Name, "expires_at": stamp(g.ExpiresAt), "left_s": int64(left / time.Second),
			"days": int64((left + day - 1) / day), "hours": int64((left + time.Hour - 1) / time.Hour),
		},
	}}
}

// PeriodStart is when the period began that t lies in: at midnight UTC, of
// Monday for weeks. It is zero if there are no periods.
func PeriodStart(p sandbox.Period, t time.Time) time.Time {
	t = t.UTC()
	year, month, date := t.Date()
	switch p {
	case sandbox.PeriodDay:
	case sandbox.PeriodWeek:
		date -= (int(t.Weekday()) + 6) % 7 // days since Monday
	case sandbox.PeriodMonth:
		date = 1
	default:
		return time.Time{}
	}
	return time.Date(year, month, date, 0, 0, 0, 0, time.UTC)
}

// PeriodEnd is when the next period begins, or zero if there are none.
func PeriodEnd(p sandbox.Period, t time.Time) time.Time {
	start := PeriodStart(p, t)
	switch p {
	case sandbox.PeriodDay:
		return start.AddDate(0, 0, 1)
	case sandbox.PeriodWeek:
		return start.AddDate(0, 0, 7)
	case sandbox.PeriodMonth:
		return start.AddDate(0, 1, 0)
	}
	return time.Time{}
}
