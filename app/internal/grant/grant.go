// Package grant decides what whoever calls may do. A grant is a policy with an
// account: scopes, templates, lengths of life, rates and an end. This package
// makes grants and the tokens that open them, and judges calls by them.
//
// It keeps nothing on disk and asks nobody: what it needs to know is handed to
// it, the time included. All its errors are [sandbox.Error], and their details
// hold the numbers and names that a text in another language needs. Lengths of
// time in details are seconds, and instants are RFC 3339.
package grant

import (
	"crypto/rand"
	"encoding/base32"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Limits of grants.
const (
	DefaultLife   = 30 * day  // of a grant that names no end
	MaxLife       = 365 * day // from when its end is set
	MaxName       = 64        // characters
	MinHours      = 0.02
	MaxHours      = 8 // what the cloud lets a sandbox live
	MaxConcurrent = 10_000
	MaxRate       = 6_000 // calls a minute
	MaxTemplates  = 100
	MaxTemplate   = 512 // characters of a name or an ARN
	MaxProfile    = 64  // characters
)

const day = 24 * time.Hour

// A Preset names scopes for a purpose.
type Preset string

// The presets.
const (
	PresetAgent  Preset = "agent"  // looks, makes, uses and ends what is its own
	PresetViewer Preset = "viewer" // looks only
	PresetAll    Preset = "all"    // every scope: for the owner's own programs
)

// Presets are all there are, the usual one first.
func Presets() []Preset { return []Preset{PresetAgent, PresetViewer, PresetAll} }

// Scopes are those that p names, or none if there is no such preset.
func (p Preset) Scopes() []sandbox.Scope {
	switch p {
	case PresetAgent:
		return sandbox.AgentScopes()
	case PresetViewer:
		return []sandbox.Scope{sandbox.ScopeRead}
	case PresetAll:
		return sandbox.Scopes()
	}
	return nil
}

// Sensitive are those of some scopes that a person should say yes to: they reach
// what is not the grant's own.
func Sensitive(scopes []sandbox.Scope) []sandbox.Scope {
	var out []sandbox.Scope
	for _, s := range []sandbox.Scope{sandbox.ScopeManage, sandbox.ScopeBilling} {
		if slices.Contains(scopes, s) {
			out = append(out, s)
		}
	}
	return out
}

// Options are what a new grant is to be. The zero value is one for an agent,
// for 30 days, without a limit of money.
type Options struct {
	Preset        Preset          // "" is [PresetAgent]
	Scopes        []sandbox.Scope // in place of the preset's
	Limit         *sandbox.Micro
	Period        sandbox.Period // "" is none
	MaxHours      float64
	MaxConcurrent int
	Templates     []string
	Profile       string
	Burst         sandbox.Burst // "" is strict
	Rate          int
	NotBefore     time.Time
	ExpiresAt     time.Time // zero is [DefaultLife] from when it begins
}

// New makes a grant. It is nobody's yet: its credentials come from
// [NewCredential].
func New(name string, o Options, now time.Time) (sandbox.Grant, error) {
	if o.Preset != "" && len(o.Scopes) > 0 {
		return sandbox.Grant{}, wrong("scopes", RuleExclusive, nil, "a preset and scopes exclude each other")
	}
	if o.Preset == "" {
		o.Preset = PresetAgent
	}
	scopes := o.Scopes
	if len(scopes) == 0 {
		if scopes = o.Preset.Scopes(); scopes == nil {
			return sandbox.Grant{}, wrong("preset", RuleUnknown, map[string]any{"value": clip(string(o.Preset)), "known": texts(Presets())},
				"there is no preset %q: choose from %s", clip(string(o.Preset)), strings.Join(texts(Presets()), ", "))
		}
	}
	now = instant(now)
	g := sandbox.Grant{
		ID: newID(grantID), Name: name, Scopes: slices.Clone(scopes), Limit: o.Limit, Period: o.Period,
		MaxHours: o.MaxHours, MaxConcurrent: o.MaxConcurrent, Templates: slices.Clone(o.Templates), Profile: o.Profile,
		Burst: o.Burst, Rate: o.Rate, NotBefore: instant(o.NotBefore), ExpiresAt: instant(o.ExpiresAt), CreatedAt: now,
	}
	if o.Limit != nil {
		g.Limit = new(*o.Limit) // not the caller's own
	}
	if g.Period == "" {
		g.Period = sandbox.PeriodNone
	}
	if g.Burst == "" {
		g.Burst = sandbox.BurstStrict
	}
	if g.ExpiresAt.IsZero() {
		begin := now
		if g.NotBefore.After(begin) {
			begin = g.NotBefore
		}
		g.ExpiresAt = begin.Add(DefaultLife)
	}
	if !g.ExpiresAt.After(now) {
		return sandbox.Grant{}, wrong("expires_at", RulePast, map[string]any{"value": stamp(g.ExpiresAt)}, "expires_at is not in the future")
	}
	if err := Validate(g, now); err != nil {
		return sandbox.Grant{}, err
	}
	sortScopes(g.Scopes)
	return g, nil
}

// Owner is the grant of the computer's owner.
func Owner(now time.Time) sandbox.Grant {
	return sandbox.Grant{
		ID: sandbox.GrantOwner, Name: sandbox.GrantOwner, Scopes: sandbox.Scopes(),
		Period: sandbox.PeriodNone, Burst: sandbox.BurstStrict, CreatedAt: instant(now),
	}
}

// The beginnings of ids.
const (
	grantID      = "g_"
	credentialID = "k_"
	idLength     = 12 // characters after it
)

// newID makes an id of 60 random bits.
func newID(prefix string) string {
	var random [8]byte
	rand.Read(random[:]) // which never fails
	return prefix + strings.ToLower(base32.StdEncoding.EncodeToString(random[:])[:idLength])
}

// instant is t as it is kept.
func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// sortScopes puts scopes in the order of [sandbox.Scopes].
func sortScopes(scopes []sandbox.Scope) {
	all := sandbox.Scopes()
	slices.SortFunc(scopes, func(a, b sandbox.Scope) int { return slices.Index(all, a) - slices.Index(all, b) })
}

func texts[S ~string](values []S) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
