package tools

import (
	"fmt"
	"strings"

	"github.com/arenero/arenero/app/sandbox"
)

// shortest is the shortest life in seconds that can be asked for.
const shortest = 72

// wording is the text for an error, and what it takes beside the usual: the one
// that says most of what the engine has told.
func (s *set) wording(e *sandbox.Error) (key string, args []string) {
	key = "error." + string(e.Code)
	if !s.Texts.Has(key) {
		return "error.other", nil
	}
	longest, fits := whole(e.Details["longest_s"])
	fits = fits && longest >= shortest
	switch e.Code {
	case sandbox.NotFound:
		if image := detail(e, "template"); image != "" {
			return key + ".template", []string{"template", image}
		}
	case sandbox.StoreDown:
		if special := key + "." + detail(e, "reason"); s.Texts.Has(special) {
			return special, nil
		}
	case sandbox.TokenExpired:
		if when := detail(e, "expires_at"); when != "" {
			return key + ".when", []string{"when", when}
		}
	case sandbox.CannotExtend:
		if when := detail(e, "ends_at"); when != "" {
			return key + ".when", []string{"when", when}
		}
	case sandbox.TokenRevoked:
		if special := key + "." + detail(e, "why"); s.Texts.Has(special) {
			return special, nil
		}
	case sandbox.Forbidden:
		if missing := listed(e.Details["missing"]); missing != "" {
			return key + ".missing", []string{"missing", missing}
		}
	case sandbox.HoursRequired, sandbox.HoursTooLong:
		if !fits {
			break
		}
		if detail(e, "why") == "expires" {
			return key + ".expires", []string{"longest", hoursText(sandbox.Seconds(longest))}
		}
		return key + ".longest", []string{"longest", hoursText(sandbox.Seconds(longest))}
	case sandbox.TemplateDenied, sandbox.ProfileDenied:
		if allowed := listed(e.Details["allowed"]); allowed != "" {
			return key + ".allowed", []string{"allowed", allowed}
		}
	case sandbox.Concurrency:
		if running := detail(e, "running"); running != "" {
			return key + ".running", []string{"running", running}
		}
	case sandbox.BudgetExceeded:
		return s.overBudget(e, key, sandbox.Seconds(longest), fits)
	}
	return key, nil
}

// overBudget words what a budget refuses: how much is asked, how much is left,
// and how long a sandbox would fit.
func (s *set) overBudget(e *sandbox.Error, key string, longest sandbox.Seconds, fits bool) (string, []string) {
	asked, ok := whole(e.Details["asked_micro"])
	left, also := whole(e.Details["left_micro"])
	if !ok || !also {
		return key, nil
	}
	level := detail(e, "level")
	if text := "level." + level; s.Texts.Has(text) {
		level = s.Texts.Get(text)
	}
	most, rest := sandbox.Micro(asked), sandbox.Micro(left)
	args := []string{"asked", s.digits(most.Beside(rest)), "left", s.digits(rest.Beside(most)), "level", level}
	if !fits {
		return key + ".left", args
	}
	return key + ".longest", append(args, "minutes", itoa(int(longest/60)), "longest", hoursText(longest))
}

// listed joins a list that may have come as JSON.
func listed(v any) string {
	var all []string
	switch v := v.(type) {
	case []string:
		all = v
	case []any:
		for _, e := range v {
			all = append(all, fmt.Sprint(e))
		}
	case string:
		return v
	}
	return strings.Join(all, ", ")
}
