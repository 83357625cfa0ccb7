package grant_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

const arn = "arn:aws:lambda:us-east-1:123456789012:microvm-image:python"

// A6 (hours), A7 (the end), A10 (a capped token says how long).
func TestPolicy(t *testing.T) {
	capped := newGrant(t, grant.Options{Limit: new(sandbox.Micro(5_000_000)), MaxHours: 2})
	free := newGrant(t, grant.Options{})
	ending := newGrant(t, grant.Options{ExpiresAt: noon.Add(90 * time.Minute)})
	strict := newGrant(t, grant.Options{MaxHours: 2, Templates: []string{"python", arn + "-gpu"}, Profile: "work"})
	for _, tt := range []struct {
		name string
		g    sandbox.Grant
		ask  grant.Ask
		code sandbox.Code
		want map[string]any
	}{
		{"a capped one without hours", capped, grant.Ask{Life: 60}, sandbox.HoursRequired, map[string]any{"longest_s": 7200.0}},
		{"a capped one with hours", capped, grant.Ask{Life: 3600, Given: true}, "", nil},
		{"as long as allowed", capped, grant.Ask{Life: 7200, Given: true}, "", nil},
		{"a second longer", capped, grant.Ask{Life: 7201, Given: true}, sandbox.HoursTooLong, map[string]any{"why": "max_hours", "asked_s": 7201.0, "max_s": 7200.0}},
		{"one without a cap and without hours", free, grant.Ask{Life: 3600}, "", nil},
		{"as long as the cloud allows", free, grant.Ask{Life: 8 * 3600}, "", nil},
		{"longer than that", free, grant.Ask{Life: 8*3600 + 1}, sandbox.HoursTooLong, map[string]any{"why": "max_hours", "max_s": 28800.0}},
		{"no life", free, grant.Ask{}, sandbox.Invalid, map[string]any{"field": "hours", "rule": grant.RuleRange}},
		{"less than none", free, grant.Ask{Life: -5, Given: true}, sandbox.Invalid, map[string]any{"field": "hours"}},
		{"until the token's end", ending, grant.Ask{Life: 90 * 60}, "", nil},
		{"past the token's end", ending, grant.Ask{Life: 90*60 + 1}, sandbox.HoursTooLong, map[string]any{"why": "expires", "longest_s": 5400.0, "expires_at": "2026-03-18T13:30:00Z"}},
		{"a template by name", strict, grant.Ask{Life: 60, Template: "python", ARN: arn, Profile: "work"}, "", nil},
		{"a template by ARN", strict, grant.Ask{Life: 60, Template: "gpu", ARN: arn + "-gpu", Profile: "work"}, "", nil},
		{"another template", strict, grant.Ask{Life: 60, Template: "node", ARN: arn + "-node", Profile: "work"}, sandbox.TemplateDenied, map[string]any{"template": "node"}},
		{"the beginning of a name", strict, grant.Ask{Life: 60, Template: "pyth", Profile: "work"}, sandbox.TemplateDenied, nil},
		{"no template", strict, grant.Ask{Life: 60, Profile: "work"}, sandbox.TemplateDenied, nil},
		{"another profile", strict, grant.Ask{Life: 60, Template: "python", Profile: "home"}, sandbox.ProfileDenied, map[string]any{"profile": "home"}},
		{"no profile", strict, grant.Ask{Life: 60, Template: "python"}, sandbox.ProfileDenied, nil},
		// What is wrong first is told first.
		{"too long, and another template", strict, grant.Ask{Life: 7201, Template: "node"}, sandbox.HoursTooLong, nil},
		{"another template and profile", strict, grant.Ask{Life: 60, Template: "node"}, sandbox.TemplateDenied, nil},
	} {
		d := refused(t, tt.name, grant.Policy(tt.g, tt.ask, noon), tt.code)
		for k, v := range tt.want {
			if d[k] != v {
				t.Errorf("%s: %s is %v, want %v", tt.name, k, d[k], v)
			}
		}
	}
}

// What a refusal calls the longest life is one that is then allowed, and no
// longer one is.
func TestLongestFits(t *testing.T) {
	g := newGrant(t, grant.Options{MaxHours: 2, ExpiresAt: noon.Add(3*time.Hour + 500*time.Millisecond)})
	for ago := time.Duration(0); ago < 3*time.Hour; ago += 7*time.Minute + 123*time.Millisecond {
		now := noon.Add(ago)
		longest := grant.Longest(g, now)
		if longest <= 0 {
			t.Fatalf("nothing fits at %s", now)
		}
		refused(t, "the longest", grant.Policy(g, grant.Ask{Life: longest}, now), "")
		d := refused(t, "a longer one", grant.Policy(g, grant.Ask{Life: longest + 1}, now), sandbox.HoursTooLong)
		if d["longest_s"] != float64(longest) {
			t.Errorf("the refusal says %v, want %d", d["longest_s"], longest)
		}
	}
	if got := grant.Longest(g, g.ExpiresAt.Add(time.Hour)); got != 0 {
		t.Errorf("%d seconds fit after the end", got)
	}
	if got := grant.Longest(grant.Owner(noon), noon); got != 8*3600 {
		t.Errorf("%d seconds fit the owner's", got)
	}
}

func TestHintsOfHours(t *testing.T) {
	g := newGrant(t, grant.Options{Limit: new(sandbox.Micro(1)), MaxHours: 1.999})
	hint := sandbox.ToError(grant.Policy(g, grant.Ask{Life: 1}, noon)).Hint
	if !strings.HasSuffix(hint, "at most 1.99") { // never more than what is allowed
		t.Errorf("the hint is %q", hint)
	}
}

func TestLife(t *testing.T) {
	for hours, want := range map[float64]sandbox.Seconds{0.02: 72, 0.1: 360, 1.13: 4068, 0.3: 1080, 1: 3600, 1.1: 3960, 1.0 / 3: 1200, 7.99: 28764, 8: 28800} {
		if got, err := grant.Life(hours); err != nil || got != want {
			t.Errorf("Life(%v) = %d, %v, want %d", hours, got, err, want)
		}
	}
	for _, hours := range []float64{0, -1, 0.019, 8.0001, math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
		_, err := grant.Life(hours)
		if d := refused(t, "hours", err, sandbox.Invalid); d["field"] != "hours" {
			t.Errorf("Life(%v) is refused with %v", hours, d)
		}
	}
	// As many hours as the grant allows are as many seconds, whatever the number.
	for h := 0.02; h <= 8; h += 0.013 {
		g := sandbox.Grant{MaxHours: h}
		life, err := grant.Life(h)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, "just as many", grant.Policy(g, grant.Ask{Life: life}, noon), "")
	}
}
