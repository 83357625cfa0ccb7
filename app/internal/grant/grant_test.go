package grant_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

func TestNewDefaults(t *testing.T) {
	g := newGrant(t, grant.Options{})
	want := sandbox.Grant{
		ID: g.ID, Name: "ci", Scopes: []sandbox.Scope{"read", "rent"}, Period: "none", Burst: "strict",
		ExpiresAt: noon.Add(30 * day), CreatedAt: noon,
	}
	if fmt.Sprintf("%+v", g) != fmt.Sprintf("%+v", want) {
		t.Errorf("New makes %+v, want %+v", g, want)
	}
	if g.Capped() {
		t.Error("a grant has a limit that nobody set")
	}
	if other := newGrant(t, grant.Options{}); other.ID == g.ID || !strings.HasPrefix(g.ID, "g_") {
		t.Errorf("ids of two grants are %s and %s", g.ID, other.ID)
	}
	late := newGrant(t, grant.Options{NotBefore: noon.Add(100 * day)})
	if !late.ExpiresAt.Equal(noon.Add(130 * day)) {
		t.Errorf("a grant that begins in 100 days ends at %s", late.ExpiresAt)
	}
	limit := sandbox.Micro(5_000_000)
	capped := newGrant(t, grant.Options{Limit: &limit, Scopes: []sandbox.Scope{"billing", "read"}, ExpiresAt: noon.Add(365 * day)})
	limit = 1
	if *capped.Limit != 5_000_000 {
		t.Error("the limit of a grant is its maker's own variable")
	}
	if !slices.Equal(capped.Scopes, []sandbox.Scope{"read", "billing"}) {
		t.Errorf("scopes are %v", capped.Scopes)
	}
	zone := time.FixedZone("", 3600)
	if g := newGrant(t, grant.Options{ExpiresAt: noon.Add(day).In(zone)}); g.ExpiresAt.Location() != time.UTC || !g.ExpiresAt.Equal(noon.Add(day)) {
		t.Errorf("an end is kept as %s", g.ExpiresAt)
	}
}

// A3, A4: the preset for agents has no scope beyond what is its own, and the
// others are asked for by name.
func TestPresets(t *testing.T) {
	for preset, want := range map[grant.Preset]string{"": "[read rent]", grant.PresetAgent: "[read rent]", grant.PresetViewer: "[read]", grant.PresetAll: "[read rent manage billing]"} {
		if got := fmt.Sprint(newGrant(t, grant.Options{Preset: preset}).Scopes); got != want {
			t.Errorf("preset %q has %s, want %s", preset, got, want)
		}
	}
	if got := grant.Sensitive(newGrant(t, grant.Options{}).Scopes); len(got) > 0 {
		t.Errorf("the usual preset has %v, which need a person's yes", got)
	}
	if got := fmt.Sprint(grant.Sensitive(sandbox.Scopes())); got != "[manage billing]" {
		t.Errorf("what needs a person's yes is %s", got)
	}
	if got := grant.Presets()[0]; got != grant.PresetAgent {
		t.Errorf("the usual preset is %s", got)
	}
}

func TestNewRefuses(t *testing.T) {
	tests := []struct {
		what, field, rule string
		name              string // of the grant; "" is one that is right
		o                 grant.Options
	}{
		{"a name of blanks", "name", grant.RuleCharacters, "  ", grant.Options{}},
		{"a name with a blank at its end", "name", grant.RuleCharacters, "ci ", grant.Options{}},
		{"a name that turns the line around", "name", grant.RuleCharacters, "a\u202eb", grant.Options{}},
		{"a name with a line break", "name", grant.RuleCharacters, "a\nb", grant.Options{}},
		{"a name that is not UTF-8", "name", grant.RuleCharacters, "a\xff", grant.Options{}},
		{"a long name", "name", grant.RuleLength, strings.Repeat("é", 65), grant.Options{}},
		{"the owner's name", "name", grant.RuleReserved, "Owner", grant.Options{}},
		{"a word for all budgets", "name", grant.RuleReserved, "Global", grant.Options{}},
		{"a word for no token", "name", grant.RuleReserved, "none", grant.Options{}},
		{"a name like a flag", "name", grant.RuleReserved, "-x", grant.Options{}},
		{"a name like an id", "name", grant.RuleReserved, "g_abcdefghijkl", grant.Options{}},
		{"a preset that there is not", "preset", grant.RuleUnknown, "", grant.Options{Preset: "root"}},
		{"a preset and scopes", "scopes", grant.RuleExclusive, "", grant.Options{Preset: "agent", Scopes: sandbox.Scopes()}},
		{"a scope that there is not", "scopes", grant.RuleUnknown, "", grant.Options{Scopes: []sandbox.Scope{"read", "write"}}},
		{"a scope twice", "scopes", grant.RuleDuplicate, "", grant.Options{Scopes: []sandbox.Scope{"read", "read"}}},
		{"a limit below zero", "limit", grant.RuleRange, "", grant.Options{Limit: new(sandbox.Micro(-1))}},
		{"a period that there is not", "period", grant.RuleUnknown, "", grant.Options{Period: "year"}},
		{"a burst that there is not", "burst", grant.RuleUnknown, "", grant.Options{Burst: "lax"}},
		{"too few hours", "max_hours", grant.RuleRange, "", grant.Options{MaxHours: 0.01}},
		{"too many hours", "max_hours", grant.RuleRange, "", grant.Options{MaxHours: 8.01}},
		{"hours below zero", "max_hours", grant.RuleRange, "", grant.Options{MaxHours: -1}},
		{"hours that are no number", "max_hours", grant.RuleRange, "", grant.Options{MaxHours: math.NaN()}},
		{"hours without end", "max_hours", grant.RuleRange, "", grant.Options{MaxHours: math.Inf(1)}},
		{"fewer than no sandboxes", "max_concurrent", grant.RuleRange, "", grant.Options{MaxConcurrent: -1}},
		{"too many sandboxes", "max_concurrent", grant.RuleRange, "", grant.Options{MaxConcurrent: 10_001}},
		{"a rate below zero", "rate", grant.RuleRange, "", grant.Options{Rate: -1}},
		{"a rate that is too high", "rate", grant.RuleRange, "", grant.Options{Rate: 6_001}},
		{"an empty template", "templates", grant.RuleRequired, "", grant.Options{Templates: []string{""}}},
		{"a template twice", "templates", grant.RuleDuplicate, "", grant.Options{Templates: []string{"a", "a"}}},
		{"a long template", "templates", grant.RuleLength, "", grant.Options{Templates: []string{strings.Repeat("a", 513)}}},
		{"many templates", "templates", grant.RuleRange, "", grant.Options{Templates: strings.Split(strings.Repeat("a,", 100)+"a", ",")}},
		{"a profile with a tab", "profile", grant.RuleCharacters, "", grant.Options{Profile: "a\tb"}},
		{"an end in the past", "expires_at", grant.RulePast, "", grant.Options{ExpiresAt: noon.Add(-time.Second)}},
		{"an end now", "expires_at", grant.RulePast, "", grant.Options{ExpiresAt: noon}},
		{"an end after more than a year", "expires_at", grant.RuleRange, "", grant.Options{ExpiresAt: noon.Add(365*day + time.Second)}},
		{"an end at the beginning", "not_before", grant.RuleOrder, "", grant.Options{NotBefore: noon.Add(day), ExpiresAt: noon.Add(day)}},
	}
	for _, tt := range tests {
		name := tt.name
		if name == "" {
			name = "ci"
		}
		_, err := grant.New(name, tt.o, noon)
		d := refused(t, tt.what, err, sandbox.Invalid)
		if d["field"] != tt.field || d["rule"] != tt.rule {
			t.Errorf("%s is refused with %v, want field %s and rule %s", tt.what, d, tt.field, tt.rule)
		}
	}
	_, err := grant.New("", grant.Options{}, noon)
	if d := refused(t, "no name", err, sandbox.Invalid); d["rule"] != grant.RuleRequired {
		t.Errorf("no name is refused with %v", d)
	}
	for _, o := range []grant.Options{ // at the edges of what is allowed
		{Limit: new(sandbox.Micro(0)), MaxHours: 8, MaxConcurrent: 10_000, Rate: 6_000, ExpiresAt: noon.Add(365 * day)},
		{Limit: new(sandbox.Micro(math.MaxInt64)), MaxHours: 0.02, MaxConcurrent: 1, Rate: 1, Templates: []string{strings.Repeat("ñ", 512)}},
	} {
		if _, err := grant.New(strings.Repeat("é", 64), o, noon); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestOwner(t *testing.T) {
	g := grant.Owner(noon)
	if err := grant.Validate(g, noon); err != nil {
		t.Errorf("the owner's grant: %v", err)
	}
	for _, tool := range grant.Tools() {
		if !grant.Shows(g, tool) {
			t.Errorf("the owner may not use %s", tool)
		}
	}
	refused(t, "the owner's grant after a century", grant.Usable(g, nil, noon.AddDate(100, 0, 0)), "")
	forever := newGrant(t, grant.Options{})
	forever.ExpiresAt = time.Time{}
	if d := refused(t, "another one without end", grant.Validate(forever, noon), sandbox.Invalid); d["field"] != "expires_at" {
		t.Errorf("a grant without end is refused with %v", d)
	}
}

// Whoever changes a grant may lower it; the fields that rise are for its owner.
func TestRaises(t *testing.T) {
	base := newGrant(t, grant.Options{
		Limit: new(sandbox.Micro(5)), Period: "week", MaxHours: 2, MaxConcurrent: 3, Templates: []string{"a", "b"}, Profile: "work", Rate: 10,
		NotBefore: noon.Add(day), ExpiresAt: noon.Add(9 * day),
	})
	base.Disabled = true
	for _, tt := range []struct {
		field        string
		more, less   func(*sandbox.Grant)
		alsoUnlimits func(*sandbox.Grant)
	}{
		{"scopes", func(g *sandbox.Grant) { g.Scopes = sandbox.Scopes() }, func(g *sandbox.Grant) { g.Scopes = []sandbox.Scope{"read"} }, nil},
		{"limit", func(g *sandbox.Grant) { g.Limit = new(sandbox.Micro(6)) }, func(g *sandbox.Grant) { g.Limit = new(sandbox.Micro(0)) }, func(g *sandbox.Grant) { g.Limit = nil }},
		{"period", func(g *sandbox.Grant) { g.Period = "day" }, func(g *sandbox.Grant) { g.Period = "month" }, nil},
		{"max_hours", func(g *sandbox.Grant) { g.MaxHours = 3 }, func(g *sandbox.Grant) { g.MaxHours = 1 }, func(g *sandbox.Grant) { g.MaxHours = 0 }},
		{"max_concurrent", func(g *sandbox.Grant) { g.MaxConcurrent = 4 }, func(g *sandbox.Grant) { g.MaxConcurrent = 1 }, func(g *sandbox.Grant) { g.MaxConcurrent = 0 }},
		{"templates", func(g *sandbox.Grant) { g.Templates = []string{"a", "c"} }, func(g *sandbox.Grant) { g.Templates = []string{"b"} }, func(g *sandbox.Grant) { g.Templates = nil }},
		{"profile", func(g *sandbox.Grant) { g.Profile = "other" }, func(*sandbox.Grant) {}, func(g *sandbox.Grant) { g.Profile = "" }},
		{"burst", func(g *sandbox.Grant) { g.Burst = "baseline" }, func(*sandbox.Grant) {}, nil},
		{"rate", func(g *sandbox.Grant) { g.Rate = 11 }, func(g *sandbox.Grant) { g.Rate = 9 }, func(g *sandbox.Grant) { g.Rate = 0 }},
		{"not_before", func(g *sandbox.Grant) { g.NotBefore = noon }, func(g *sandbox.Grant) { g.NotBefore = noon.Add(2 * day) }, func(g *sandbox.Grant) { g.NotBefore = time.Time{} }},
		{"expires_at", func(g *sandbox.Grant) { g.ExpiresAt = noon.Add(10 * day) }, func(g *sandbox.Grant) { g.ExpiresAt = noon.Add(8 * day) }, func(g *sandbox.Grant) { g.ExpiresAt = time.Time{} }},
		{"disabled", func(g *sandbox.Grant) { g.Disabled = false }, func(*sandbox.Grant) {}, nil},
	} {
		for _, raise := range []func(*sandbox.Grant){tt.more, tt.alsoUnlimits} {
			if raise == nil {
				continue
			}
			changed := base
			raise(&changed)
			if got := grant.Raises(base, changed); !slices.Equal(got, []string{tt.field}) {
				t.Errorf("more of %s raises %v", tt.field, got)
			}
		}
		changed := base
		tt.less(&changed)
		if got := grant.Raises(base, changed); len(got) > 0 {
			t.Errorf("less of %s raises %v", tt.field, got)
		}
	}
}
