package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A TokenForm is what a person has filled in for a token.
type TokenForm struct {
	Name      string
	Scopes    []sandbox.Scope
	Limit     string // dollars; "" is none
	Period    sandbox.Period
	Hours     string // of one sandbox; "" is what the cloud allows
	AtOnce    string // sandboxes; "" is any number
	Templates string // with commas between them; "" are all
	Profile   string // "" is any
	Ends      string // one of Ends, or EndsOn
	On        string // day of EndsOn, as 2026-12-31
	Burst     sandbox.Burst
	Rate      string // calls a minute; "" is the usual number
}

// The ways to say when a token ends, besides a number of days.
const (
	EndsKept = ""   // as it was
	EndsOn   = "on" // at the end of a day
)

// tokenLives are the lives that a person is offered, in days.
var tokenLives = []int{1, 7, 30, 90, 365}

// TokenEnds are the ways to say when a token ends; fresh is of a new one.
func TokenEnds(fresh bool) []string {
	var out []string
	if !fresh {
		out = append(out, EndsKept)
	}
	for _, days := range tokenLives {
		out = append(out, strconv.Itoa(days))
	}
	return append(out, EndsOn)
}

// EndsTitle is what a form calls one of them.
func EndsTitle(tx assets.Texts, ends string, g sandbox.Grant, now time.Time) string {
	switch ends {
	case EndsKept:
		return tx.Get("window.tokens.ends.kept", "when", Moment(tx, g.ExpiresAt, now))
	case EndsOn:
		return tx.Get("window.tokens.ends.on")
	case "1":
		return tx.Get("window.tokens.ends.one")
	}
	return tx.Get("window.tokens.ends.days", "n", ends)
}

// NewTokenForm is one for a new token, filled in as most agents need it.
func NewTokenForm() TokenForm {
	return TokenForm{Scopes: sandbox.AgentScopes(), Limit: "5", Period: sandbox.PeriodDay, Hours: "1", AtOnce: "2", Ends: "30", Burst: sandbox.BurstStrict}
}

// TokenFormOf is one for a change of a grant.
func TokenFormOf(g sandbox.Grant) TokenForm {
	f := TokenForm{
		Name: g.Name, Scopes: slices.Clone(g.Scopes), Period: g.Period, Templates: strings.Join(g.Templates, ", "),
		Profile: g.Profile, Ends: EndsKept, Burst: g.Burst,
	}
	if g.Limit != nil {
		f.Limit = strings.TrimSuffix(g.Limit.String(), ".00")
	}
	if g.MaxHours > 0 {
		f.Hours = strconv.FormatFloat(g.MaxHours, 'f', -1, 64)
	}
	if g.MaxConcurrent > 0 {
		f.AtOnce = strconv.Itoa(g.MaxConcurrent)
	}
	if g.Rate > 0 {
		f.Rate = strconv.Itoa(g.Rate)
	}
	return f
}

// Names of the fields of a [TokenForm].
const (
	TokenName      = "name"
	TokenScopes    = "scopes"
	TokenMoney     = "limit"
	TokenHours     = "hours"
	TokenAtOnce    = "at-once"
	TokenTemplates = "templates"
	TokenOn        = "on"
	TokenRate      = "rate"
)

const (
	maxTokenName      = 64
	minTokenHours     = 0.02
	maxTokenHours     = 8
	maxTokenAtOnce    = 10_000
	maxTokenRate      = 6_000
	maxTokenTemplates = 100
	maxTokenDays      = 365
)

// reservedTokens are words that mean another than the token of that name.
var reservedTokens = []string{sandbox.GrantOwner, "global", "none", "all", "any"}

// Check says what is wrong with a form, by field. Taken are the names of other
// tokens.
func (f TokenForm) Check(tx assets.Texts, taken []string, now time.Time) map[string]string {
	out := map[string]string{}
	wrong := func(field, key string, args ...string) { out[field] = tx.Get("window.tokens.wrong."+key, args...) }
	name := strings.TrimSpace(f.Name)
	switch {
	case name == "":
		wrong(TokenName, "name.missing")
	case utf8.RuneCountInString(name) > maxTokenName:
		wrong(TokenName, "name.long", "n", strconv.Itoa(maxTokenName))
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		wrong(TokenName, "characters")
	case strings.HasPrefix(name, "-") || slices.ContainsFunc(reservedTokens, func(w string) bool { return strings.EqualFold(w, name) }):
		wrong(TokenName, "name.reserved")
	case slices.Contains(taken, name):
		wrong(TokenName, "name.taken")
	}
	if len(f.Scopes) == 0 {
		wrong(TokenScopes, "scopes")
	}
	if _, ok := f.limit(); !ok {
		wrong(TokenMoney, "limit")
	}
	if h, ok := f.hours(); !ok || h != 0 && (h < minTokenHours || h > maxTokenHours) {
		wrong(TokenHours, "hours", "max", strconv.Itoa(maxTokenHours))
	}
	if n, ok := tokenNumber(f.AtOnce); !ok || n > maxTokenAtOnce {
		wrong(TokenAtOnce, "at-once", "max", strconv.Itoa(maxTokenAtOnce))
	}
	if n, ok := tokenNumber(f.Rate); !ok || n > maxTokenRate {
		wrong(TokenRate, "rate", "max", strconv.Itoa(maxTokenRate))
	}
	all := f.templates()
	if len(all) > maxTokenTemplates || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(all) {
		wrong(TokenTemplates, "templates")
	}
	if f.Ends == EndsOn {
		switch at, ok := f.on(now); {
		case !ok:
			wrong(TokenOn, "date")
		case !at.After(now):
			wrong(TokenOn, "past")
		case at.After(now.Add(maxTokenDays * day)):
			wrong(TokenOn, "far", "n", strconv.Itoa(maxTokenDays))
		}
	}
	return out
}

// Grant is the grant that a form asks for, of one that may be there already.
// What is wrong with the form is as in the old one.
func (f TokenForm) Grant(old sandbox.Grant, now time.Time) sandbox.Grant {
	g := old
	g.Name, g.Period, g.Profile = strings.TrimSpace(f.Name), cmp.Or(f.Period, sandbox.PeriodNone), f.Profile
	g.Burst = cmp.Or(f.Burst, sandbox.BurstStrict)
	g.Scopes = nil
	for _, s := range sandbox.Scopes() {
		if slices.Contains(f.Scopes, s) {
			g.Scopes = append(g.Scopes, s)
		}
	}
	if m, ok := f.limit(); ok {
		g.Limit = m
	}
	if g.Limit == nil {
		g.Period = sandbox.PeriodNone // of nothing
	}
	if h, ok := f.hours(); ok {
		g.MaxHours = h
	}
	if n, ok := tokenNumber(f.AtOnce); ok {
		g.MaxConcurrent = n
	}
	if n, ok := tokenNumber(f.Rate); ok {
		g.Rate = n
	}
	g.Templates = f.templates()
	switch f.Ends {
	case EndsKept:
	case EndsOn:
		if at, ok := f.on(now); ok {
			g.ExpiresAt = at
		}
	default:
		if n, ok := tokenNumber(f.Ends); ok {
			g.ExpiresAt = now.Add(time.Duration(n) * day)
		}
	}
	return g
}

func (f TokenForm) limit() (*sandbox.Micro, bool) {
	text := strings.TrimSpace(strings.Trim(strings.TrimSpace(f.Limit), "$"))
	if text == "" {
		return nil, true
	}
	m, err := sandbox.ParseMicro(strings.Replace(text, ",", ".", 1)) // as it is written in Spanish
	if err != nil {
		return nil, false
	}
	return &m, true
}

func (f TokenForm) hours() (float64, bool) {
	text := strings.TrimSpace(f.Hours)
	if text == "" {
		return 0, true
	}
	h, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	return h, err == nil && h >= 0 && h < 1e6
}

func (f TokenForm) templates() []string {
	var out []string
	for t := range strings.SplitSeq(f.Templates, ",") {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// on is the end of the day that a form names, on the clock of this computer.
func (f TokenForm) on(now time.Time) (time.Time, bool) {
	at, err := time.ParseInLocation(time.DateOnly, strings.TrimSpace(f.On), now.Location())
	return at.AddDate(0, 0, 1), err == nil
}

// tokenNumber reads a number; "" is none.
func tokenNumber(text string) (int, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, true
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}
