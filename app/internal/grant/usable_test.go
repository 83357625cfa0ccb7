package grant_test

import (
	"testing"
	"time"
	_ "time/tzdata" // for the zone of a test, where the system has none

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

func TestUsable(t *testing.T) {
	base := newGrant(t, grant.Options{NotBefore: noon.Add(time.Hour), ExpiresAt: noon.Add(day)})
	inside := noon.Add(2 * time.Hour)
	credential := func(change func(*sandbox.Credential)) *sandbox.Credential {
		c := &sandbox.Credential{ID: "k_1", Grant: base.ID}
		change(c)
		return c
	}
	with := func(change func(*sandbox.Grant)) sandbox.Grant {
		g := base
		change(&g)
		return g
	}
	for _, tt := range []struct {
		name string
		g    sandbox.Grant
		c    *sandbox.Credential
		now  time.Time
		code sandbox.Code
		why  any
	}{
		{"usable", base, nil, inside, "", nil},
		{"with a credential", base, credential(func(*sandbox.Credential) {}), inside, "", nil},
		{"more than a minute early", base, nil, base.NotBefore.Add(-time.Minute - time.Millisecond), sandbox.Unauthenticated, "not_before"},
		{"a minute early", base, nil, base.NotBefore.Add(-time.Minute), "", nil},
		// A7: the end is the first instant that is too late.
		{"a moment before the end", base, nil, base.ExpiresAt.Add(-time.Millisecond), "", nil},
		{"at the end", base, nil, base.ExpiresAt, sandbox.TokenExpired, nil},
		{"after the end", base, nil, base.ExpiresAt.Add(time.Nanosecond), sandbox.TokenExpired, nil},
		{"disabled", with(func(g *sandbox.Grant) { g.Disabled = true }), nil, inside, sandbox.TokenRevoked, "disabled"},
		{"disabled and too early", with(func(g *sandbox.Grant) { g.Disabled = true }), nil, noon, sandbox.TokenRevoked, "disabled"},
		{"revoked", with(func(g *sandbox.Grant) { g.RevokedAt = noon }), nil, inside, sandbox.TokenRevoked, "revoked"},
		{"revoked by a clock that was ahead", with(func(g *sandbox.Grant) { g.RevokedAt = noon.Add(day) }), nil, inside, sandbox.TokenRevoked, "revoked"},
		{"revoked, disabled and expired", with(func(g *sandbox.Grant) { g.RevokedAt, g.Disabled = noon, true }), nil, base.ExpiresAt, sandbox.TokenRevoked, "revoked"},
		{"by a revoked credential", base, credential(func(c *sandbox.Credential) { c.RevokedAt = noon }), inside, sandbox.TokenRevoked, "revoked"},
		{"expired, by a revoked credential", base, credential(func(c *sandbox.Credential) { c.RevokedAt = noon }), base.ExpiresAt, sandbox.TokenExpired, nil},
		{"by the old credential, in its overlap", base, credential(func(c *sandbox.Credential) { c.OverlapUntil = inside.Add(time.Millisecond) }), inside, "", nil},
		{"by the old credential, after it", base, credential(func(c *sandbox.Credential) { c.OverlapUntil = inside }), inside, sandbox.TokenRevoked, "rotated"},
		{"by the credential of another grant", base, &sandbox.Credential{Grant: "g_other"}, inside, sandbox.Unauthenticated, nil},
		{"the owner's, whatever it says", func() sandbox.Grant { g := grant.Owner(noon); g.Disabled, g.RevokedAt = true, noon; return g }(), nil, inside, "", nil},
		{"the owner's, by a revoked credential", grant.Owner(noon), &sandbox.Credential{Grant: sandbox.GrantOwner, RevokedAt: noon}, inside, sandbox.TokenRevoked, "revoked"},
	} {
		d := refused(t, tt.name, grant.Usable(tt.g, tt.c, tt.now), tt.code)
		if d["why"] != tt.why {
			t.Errorf("%s: details are %v, want why %v", tt.name, d, tt.why)
		}
	}
}

// A7: an end is told a week, a day and an hour before, each once.
func TestExpiring(t *testing.T) {
	g := newGrant(t, grant.Options{ExpiresAt: noon.Add(30 * day)})
	end := g.ExpiresAt
	seen := map[string]bool{}
	var left []time.Duration
	for at := noon; at.Before(end.Add(day)); at = at.Add(time.Minute) {
		for _, e := range grant.Expiring(g, at.Add(-time.Minute), at) {
			if seen[e.ID] {
				t.Errorf("%s comes twice", e.ID)
			}
			seen[e.ID] = true
			left = append(left, end.Sub(e.At))
			if e.Kind != sandbox.EventExpiring || !e.Alert() || e.Grant != g.ID || e.Data["name"] != "ci" || e.Data["left_s"] != int64(end.Sub(e.At)/time.Second) {
				t.Errorf("the event is %+v", e)
			}
		}
	}
	if len(left) != 3 || left[0] != 7*day || left[1] != day || left[2] != time.Hour {
		t.Errorf("reminders come %v before the end", left)
	}

	for _, tt := range []struct {
		name      string
		g         sandbox.Grant
		after, by time.Time
		days      any // nil: no event
	}{
		{"right at the reminder", g, end.Add(-8 * day), end.Add(-7 * day), int64(7)},
		{"right after it", g, end.Add(-7 * day), end.Add(-6 * day), nil},
		{"after a long sleep, the last one only", g, end.Add(-20 * day), end.Add(-12 * time.Hour), int64(1)},
		{"after a sleep over the end", g, end.Add(-20 * day), end, nil},
		{"a clock that went back", g, end.Add(-6 * day), end.Add(-8 * day), nil},
		{"of a grant for five days", newGrant(t, grant.Options{ExpiresAt: noon.Add(5 * day)}), time.Time{}, noon, nil},
		{"of a grant for just a week", newGrant(t, grant.Options{ExpiresAt: noon.Add(7 * day)}), time.Time{}, noon, nil},
		{"of a disabled one", func() sandbox.Grant { g := g; g.Disabled = true; return g }(), noon, end.Add(-time.Hour), nil},
		{"of a revoked one", func() sandbox.Grant { g := g; g.RevokedAt = noon; return g }(), noon, end.Add(-time.Hour), nil},
		{"of the owner's", grant.Owner(noon), noon, noon.Add(1000 * day), nil},
	} {
		events := grant.Expiring(tt.g, tt.after, tt.by)
		switch {
		case tt.days == nil && len(events) > 0, tt.days != nil && len(events) != 1:
			t.Errorf("%s: events are %v", tt.name, events)
		case tt.days != nil && events[0].Data["days"] != tt.days:
			t.Errorf("%s: days are %v, want %v", tt.name, events[0].Data["days"], tt.days)
		}
	}

	// An end that was moved has reminders of its own.
	first := grant.Expiring(g, noon, end.Add(-7*day))
	g.ExpiresAt = end.Add(10 * day)
	if again := grant.Expiring(g, noon, g.ExpiresAt.Add(-7*day)); len(again) != 1 || again[0].ID == first[0].ID {
		t.Errorf("reminders of two ends are %v and %v", first, again)
	}
}

func TestPeriods(t *testing.T) {
	date := func(y int, m time.Month, d, h int) time.Time { return time.Date(y, m, d, h, 0, 0, 0, time.UTC) }
	madrid, err := time.LoadLocation("Europe/Madrid")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name       string
		p          sandbox.Period
		at         time.Time
		start, end time.Time
	}{
		{"none", "none", noon, time.Time{}, time.Time{}},
		{"day", "day", noon, date(2026, 3, 18, 0), date(2026, 3, 19, 0)},
		{"its first instant", "day", date(2026, 3, 18, 0), date(2026, 3, 18, 0), date(2026, 3, 19, 0)},
		{"its last", "day", date(2026, 3, 19, 0).Add(-1), date(2026, 3, 18, 0), date(2026, 3, 19, 0)},
		{"week", "week", noon, date(2026, 3, 16, 0), date(2026, 3, 23, 0)},
		{"Sunday's", "week", date(2026, 3, 22, 23), date(2026, 3, 16, 0), date(2026, 3, 23, 0)},
		{"Monday's", "week", date(2026, 3, 23, 0), date(2026, 3, 23, 0), date(2026, 3, 30, 0)},
		{"a week over the end of a year", "week", date(2027, 1, 1, 5), date(2026, 12, 28, 0), date(2027, 1, 4, 0)},
		{"month", "month", noon, date(2026, 3, 1, 0), date(2026, 4, 1, 0)},
		{"December", "month", date(2026, 12, 31, 23), date(2026, 12, 1, 0), date(2027, 1, 1, 0)},
		{"February of a leap year", "month", date(2028, 2, 29, 1), date(2028, 2, 1, 0), date(2028, 3, 1, 0)},
		// Number 12 of the tests for money: daylight time changes nothing. It is 1 April there, and 31 March here.
		{"in a zone ahead", "month", time.Date(2026, 4, 1, 1, 30, 0, 0, madrid), date(2026, 3, 1, 0), date(2026, 4, 1, 0)},
		{"the night of the change", "day", time.Date(2026, 3, 29, 3, 30, 0, 0, madrid), date(2026, 3, 29, 0), date(2026, 3, 30, 0)},
	} {
		if got := grant.PeriodStart(tt.p, tt.at); !got.Equal(tt.start) {
			t.Errorf("%s: it began at %s, want %s", tt.name, got, tt.start)
		}
		if got := grant.PeriodEnd(tt.p, tt.at); !got.Equal(tt.end) {
			t.Errorf("%s: it ends at %s, want %s", tt.name, got, tt.end)
		}
	}
}
