package grant

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// An Ask is a sandbox that somebody wants, after defaults.
type Ask struct {
	Life     sandbox.Seconds // how long it may exist
	Given    bool            // the life was chosen, be it by a caller or as the timeout of a lease
	Template string          // its name
	ARN      string          // of the same template
	Profile  string
}

// Life is a number of hours in seconds, to the nearest one.
func Life(hours float64) (sandbox.Seconds, error) {
	if math.IsNaN(hours) || hours < MinHours || hours > MaxHours {
		return 0, wrong("hours", RuleRange, map[string]any{"min": MinHours, "max": MaxHours}, "hours must be from %v to %v", MinHours, MaxHours)
	}
	return sandbox.Seconds(math.Round(hours * 3600)), nil
}

// Longest is the longest life that g allows a sandbox that begins now.
func Longest(g sandbox.Grant, now time.Time) sandbox.Seconds {
	longest := longestOf(g)
	if !g.ExpiresAt.IsZero() {
		longest = min(longest, max(0, sandbox.Seconds(g.ExpiresAt.Sub(now)/time.Second)))
	}
	return longest
}

// longestOf is the same at any time.
func longestOf(g sandbox.Grant) sandbox.Seconds {
	hours := g.MaxHours
	if hours == 0 {
		hours = MaxHours
	}
	return sandbox.Seconds(math.Round(hours * 3600))
}

// Policy reports the first thing about a sandbox that g does not allow: a
// capped grant has to say how long, it may be as long as allowed, it has to end
// by the grant's own end, and its template and profile have to be among the
// grant's. How many there are at once is for whoever counts them.
func Policy(g sandbox.Grant, ask Ask, now time.Time) error {
	longest := Longest(g, now)
	about := func(more map[string]any) map[string]any {
		more["grant"], more["name"], more["longest_s"] = g.ID, g.Name, int64(longest)
		return more
	}
	switch {
	case g.Capped() && !ask.Given:
		return &sandbox.Error{
			Code: sandbox.HoursRequired, Msg: "a token with a limit has to say how long a sandbox may exist",
			Hint:    fmt.Sprintf("give hours, at most %s", hoursOf(longest)),
			Details: about(map[string]any{}),
		}
	case ask.Life <= 0:
		return wrong("hours", RuleRange, map[string]any{"min": MinHours, "max": MaxHours}, "hours must be from %v to %v", MinHours, MaxHours)
	case ask.Life > longestOf(g):
		most := longestOf(g)
		return &sandbox.Error{
			Code: sandbox.HoursTooLong, Msg: fmt.Sprintf("%s hours are asked for, %s are allowed", hoursOf(ask.Life), hoursOf(most)),
			Hint:    fmt.Sprintf("give hours, at most %s", hoursOf(longest)),
			Details: about(map[string]any{"why": "max_hours", "asked_s": int64(ask.Life), "max_s": int64(most)}),
		}
	case ask.Life > longest:
		return &sandbox.Error{
			Code: sandbox.HoursTooLong, Msg: fmt.Sprintf("the sandbox would outlive the token, which expires at %s", stamp(g.ExpiresAt)),
			Hint:    fmt.Sprintf("the longest that fits is %s", longest.Duration()),
			Details: about(map[string]any{"why": "expires", "asked_s": int64(ask.Life), "expires_at": stamp(g.ExpiresAt)}),
		}
	case len(g.Templates) > 0 && !allowsTemplate(g, ask):
		return &sandbox.Error{
			Code: sandbox.TemplateDenied, Msg: fmt.Sprintf("the template %q is not one of the token's", clip(firstOf(ask.Template, ask.ARN))),
			Hint:    "choose from " + strings.Join(g.Templates, ", "),
			Details: about(map[string]any{"template": clip(firstOf(ask.Template, ask.ARN)), "allowed": slices.Clone(g.Templates)}),
		}
	case g.Profile != "" && g.Profile != ask.Profile:
		return &sandbox.Error{
			Code: sandbox.ProfileDenied, Msg: fmt.Sprintf("the profile %q is not the token's", clip(ask.Profile)),
			Hint:    "its sandboxes are made with the profile " + g.Profile,
			Details: about(map[string]any{"profile": clip(ask.Profile), "allowed": []string{g.Profile}}),
		}
	}
	return nil
}

func allowsTemplate(g sandbox.Grant, ask Ask) bool {
	return slices.ContainsFunc(g.Templates, func(t string) bool { return t == ask.Template || t == ask.ARN })
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// hoursOf is a length of time in hours that allows no more than it: two
// decimals, rounded down.
func hoursOf(s sandbox.Seconds) string {
	text := fmt.Sprintf("%d.%02d", s/3600, s%3600*100/3600)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
