package grant

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/arenero/arenero/app/sandbox"
)

// Rules that a field can break, as the "rule" among the details of an Invalid
// names them. "field" says which field it is.
const (
	RuleRequired   = "required"
	RuleUnknown    = "unknown"    // "value", and "known": what there is
	RuleRange      = "range"      // "min" and "max"
	RuleLength     = "length"     // "min" and "max" characters
	RuleCharacters = "characters" // it holds some that do not show, or blanks around it
	RuleDuplicate  = "duplicate"  // "value" is there twice
	RuleReserved   = "reserved"   // "value" means something else
	RulePast       = "past"       // "value" is not in the future
	RuleOrder      = "order"      // it ends before it begins
	RuleExclusive  = "exclusive"  // another one says the same
)

func wrong(field, rule string, details map[string]any, format string, args ...any) error {
	all := map[string]any{"field": field, "rule": rule}
	for k, v := range details {
		all[k] = v
	}
	return &sandbox.Error{Code: sandbox.Invalid, Msg: fmt.Sprintf(format, args...), Details: all}
}

// Validate reports the first field of g that breaks a rule. It is for a grant
// that is made or changed now: one that has expired is as valid as another.
func Validate(g sandbox.Grant, now time.Time) error {
	if err := checkName(g); err != nil {
		return err
	}
	if err := checkScopes(g.Scopes); err != nil {
		return err
	}
	if err := checkMoney(g); err != nil {
		return err
	}
	if err := checkNumbers(g); err != nil {
		return err
	}
	if err := checkTemplates(g.Templates); err != nil {
		return err
	}
	if g.Profile != "" {
		if err := checkText("profile", g.Profile, MaxProfile); err != nil {
			return err
		}
	}
	return checkTimes(g, now)
}

func checkName(g sandbox.Grant) error {
	if err := checkText("name", g.Name, MaxName); err != nil {
		return err
	}
	if g.ID != sandbox.GrantOwner && (slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(g.Name, w) }) || strings.HasPrefix(g.Name, "-") || isID(g.Name)) {
		return wrong("name", RuleReserved, map[string]any{"value": g.Name}, "a token can't be called %q, which means another one: choose another name", g.Name)
	}
	return nil
}

// words mean something else where the name of a token could stand.
var words = []string{sandbox.GrantOwner, "global", "none", "all", "any"}

// isID reports whether a name could be taken for an id.
func isID(name string) bool {
	rest, ok := strings.CutPrefix(name, grantID)
	if !ok {
		rest, ok = strings.CutPrefix(name, credentialID)
	}
	return ok && len(rest) == idLength && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

func checkScopes(scopes []sandbox.Scope) error {
	if len(scopes) == 0 {
		return wrong("scopes", RuleRequired, nil, "a token without scopes could do nothing: give at least one")
	}
	for i, s := range scopes {
		if !slices.Contains(sandbox.Scopes(), s) {
			return unknown("scopes", s, sandbox.Scopes())
		}
		if slices.Contains(scopes[:i], s) {
			return wrong("scopes", RuleDuplicate, map[string]any{"value": string(s)}, "scopes has %s twice", s)
		}
	}
	return nil
}

func checkMoney(g sandbox.Grant) error {
	if g.Limit != nil && *g.Limit < 0 {
		return wrong("limit", RuleRange, map[string]any{"min": 0}, "limit is less than nothing")
	}
	periods := []sandbox.Period{sandbox.PeriodNone, sandbox.PeriodDay, sandbox.PeriodWeek, sandbox.PeriodMonth}
	if !slices.Contains(periods, g.Period) {
		return unknown("period", g.Period, periods)
	}
	if bursts := []sandbox.Burst{sandbox.BurstStrict, sandbox.BurstBaseline}; !slices.Contains(bursts, g.Burst) {
		return unknown("burst", g.Burst, bursts)
	}
	return nil
}

func checkNumbers(g sandbox.Grant) error {
	hours := g.MaxHours
	switch {
	case math.IsNaN(hours) || hours != 0 && (hours < MinHours || hours > MaxHours):
		return wrong("max_hours", RuleRange, map[string]any{"min": MinHours, "max": MaxHours}, "max_hours must be from %v to %v, or 0 for what the cloud allows", MinHours, MaxHours)
	case g.MaxConcurrent < 0 || g.MaxConcurrent > MaxConcurrent:
		return wrong("max_concurrent", RuleRange, map[string]any{"min": 0, "max": MaxConcurrent}, "max_concurrent must be from 1 to %d, or 0 for any number", MaxConcurrent)
	case g.Rate < 0 || g.Rate > MaxRate:
		return wrong("rate", RuleRange, map[string]any{"min": 0, "max": MaxRate}, "rate must be from 1 to %d calls a minute, or 0 for the usual number", MaxRate)
	}
	return nil
}

func checkTemplates(templates []string) error {
	if len(templates) > MaxTemplates {
		return wrong("templates", RuleRange, map[string]any{"min": 0, "max": MaxTemplates}, "templates has %d entries, %d are allowed", len(templates), MaxTemplates)
	}
	for i, t := range templates {
		if err := checkText("templates", t, MaxTemplate); err != nil {
			return err
		}
		if slices.Contains(templates[:i], t) {
			return wrong("templates", RuleDuplicate, map[string]any{"value": t}, "templates has %s twice", t)
		}
	}
	return nil
}

func checkTimes(g sandbox.Grant, now time.Time) error {
	if g.ExpiresAt.IsZero() {
		if g.ID == sandbox.GrantOwner {
			return nil
		}
		return wrong("expires_at", RuleRequired, nil, "a token needs an end: give expires_at")
	}
	if latest := now.Add(MaxLife); g.ExpiresAt.After(latest) {
		return wrong("expires_at", RuleRange, map[string]any{"max": stamp(latest), "max_s": int64(MaxLife / time.Second)},
			"expires_at is more than %d days from now", MaxLife/day)
	}
	if !g.NotBefore.IsZero() && !g.NotBefore.Before(g.ExpiresAt) {
		return wrong("not_before", RuleOrder, map[string]any{"max": stamp(g.ExpiresAt)}, "not_before is not before expires_at")
	}
	return nil
}

// checkText holds a text to what can be shown and typed.
func checkText(field, s string, most int) error {
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		return wrong(field, RuleRequired, nil, "%s is empty", field)
	case n > most:
		return wrong(field, RuleLength, map[string]any{"min": 1, "max": most}, "%s has %d characters, %d are allowed", field, n, most)
	case !utf8.ValidString(s) || strings.TrimSpace(s) != s || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return wrong(field, RuleCharacters, nil, "%s holds characters that do not show, or blanks around it", field)
	}
	return nil
}

func unknown[S ~string](field string, value S, known []S) error {
	all := texts(known)
	return wrong(field, RuleUnknown, map[string]any{"value": clip(string(value)), "known": all},
		"%s can't be %q: choose from %s", field, clip(string(value)), strings.Join(all, ", "))
}

// clip keeps a value that is wrong short enough for a message.
func clip(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Raises names the fields in which a changed grant allows more than before.
// Only its owner may do that.
func Raises(old, changed sandbox.Grant) []string {
	var out []string
	more := func(field string, raised bool) {
		if raised {
			out = append(out, field)
		}
	}
	more("scopes", slices.ContainsFunc(changed.Scopes, func(s sandbox.Scope) bool { return !old.Allows(s) }))
	more("limit", old.Limit != nil && (changed.Limit == nil || *changed.Limit > *old.Limit))
	more("period", changed.Capped() && often(changed.Period) > often(old.Period))
	more("max_hours", orAny(changed.MaxHours) > orAny(old.MaxHours))
	more("max_concurrent", orAny(changed.MaxConcurrent) > orAny(old.MaxConcurrent))
	more("templates", len(old.Templates) > 0 && (len(changed.Templates) == 0 ||
		slices.ContainsFunc(changed.Templates, func(t string) bool { return !slices.Contains(old.Templates, t) })))
	more("profile", old.Profile != "" && changed.Profile != old.Profile)
	more("burst", old.Burst == sandbox.BurstStrict && changed.Burst != sandbox.BurstStrict)
	more("rate", changed.Rate != old.Rate && (changed.Rate == 0 || old.Rate == 0 || changed.Rate > old.Rate))
	more("not_before", changed.NotBefore.Before(old.NotBefore))
	more("expires_at", !old.ExpiresAt.IsZero() && (changed.ExpiresAt.IsZero() || changed.ExpiresAt.After(old.ExpiresAt)))
	more("disabled", old.Disabled && !changed.Disabled)
	return out
}

// Same reports whether two grants have the same in a field that [Raises] names.
func Same(field string, a, b sandbox.Grant) bool {
	less := func(x, y sandbox.Grant) bool { return slices.Contains(Raises(x, y), field) }
	switch field {
	case "limit": // which may be none in one of them
		return (a.Limit == nil) == (b.Limit == nil) && (a.Limit == nil || *a.Limit == *b.Limit)
	case "period": // which counts with a limit only
		return a.Period == b.Period
	case "templates":
		return len(a.Templates) == len(b.Templates) && !less(a, b) && !less(b, a)
	case "profile":
		return a.Profile == b.Profile
	case "burst":
		return a.Burst == b.Burst
	case "expires_at":
		return a.ExpiresAt.Equal(b.ExpiresAt)
	}
	return !less(a, b) && !less(b, a)
}

// often orders periods by how many of them there are in a year.
func often(p sandbox.Period) int {
	return slices.Index([]sandbox.Period{sandbox.PeriodNone, sandbox.PeriodMonth, sandbox.PeriodWeek, sandbox.PeriodDay}, p)
}

// orAny is a maximum of which zero is none.
func orAny[N int | float64](n N) float64 {
	if n == 0 {
		return math.Inf(1)
	}
	return float64(n)
}
