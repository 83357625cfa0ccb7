package ui

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// TokenTexts is the part of assets/translation for the screen of tokens.
const TokenTexts = "window-tokens"

// TokenState is whether a grant opens anything, in a word or two.
func TokenState(tx assets.Texts, g sandbox.Grant, now time.Time) (string, Tone) {
	switch {
	case !g.RevokedAt.IsZero():
		return tx.Get("window.tokens.state.revoked"), ToneMuted
	case expired(g, now):
		return tx.Get("window.tokens.state.expired"), ToneMuted
	case g.Disabled:
		return tx.Get("window.tokens.state.disabled"), ToneMuted
	case now.Before(g.NotBefore):
		return tx.Get("window.tokens.state.early"), ToneMuted
	case expiring(g, now):
		return tx.Get("window.tokens.state.expiring"), ToneWarn
	}
	return tx.Get("window.tokens.state.active"), ToneGood
}

func expired(g sandbox.Grant, now time.Time) bool {
	return !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt)
}

// tokenSoon is how long before its end a token is told to be about to expire.
const tokenSoon = 3 * day

func expiring(g sandbox.Grant, now time.Time) bool {
	return !g.ExpiresAt.IsZero() && g.ExpiresAt.Sub(now) <= tokenSoon
}

// TokenExpires is when a grant ends, told from now, and when that will be told
// otherwise.
func TokenExpires(tx assets.Texts, g sandbox.Grant, now time.Time) (text string, until time.Time) {
	switch {
	case !g.RevokedAt.IsZero() && !(expired(g, now) && g.ExpiresAt.Before(g.RevokedAt)):
		past, until := Age(tx, g.RevokedAt, now)
		return tx.Get("window.tokens.expires.past", "span", past), until
	case g.ExpiresAt.IsZero():
		return tx.Get("window.tokens.expires.never"), time.Time{}
	case expired(g, now):
		past, until := Age(tx, g.ExpiresAt, now)
		return tx.Get("window.tokens.expires.past", "span", past), until
	}
	left, until := Countdown(tx, g.ExpiresAt, now)
	return tx.Get("window.tokens.expires.in", "span", left), until
}

// Moment is a time of a token for people, on the clock of this computer.
func Moment(tx assets.Texts, t, now time.Time) string {
	t = t.In(now.Location())
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return tx.Get("window.tokens.moment.today", "time", t.Format("15:04"))
	}
	return t.Format("2006-01-02 15:04")
}

// TokenLimit is a limit of money with its period.
func TokenLimit(tx assets.Texts, limit *sandbox.Micro, p sandbox.Period) string {
	if limit == nil {
		return tx.Get("window.tokens.limit.unlimited")
	}
	return tx.Get("window.tokens.limit."+string(cmp.Or(p, sandbox.PeriodNone)), "amount", Money(tx, *limit))
}

// TokenLeft is what a budget has left, and which part of it is gone: from 0 to 1.
// Without a limit there is no part, and the text is what was spent.
func TokenLeft(tx assets.Texts, b sandbox.Budget) (text string, gone float64, tone Tone, capped bool) {
	left := b.Left()
	if left == nil {
		return tx.Get("window.tokens.spent", "amount", Money(tx, b.Spent)), 0, "", false
	}
	text = tx.Get("window.tokens.left", "left", Money(tx, *left), "limit", TokenLimit(tx, b.Limit, b.Period))
	if *b.Limit > 0 {
		gone = float64(*b.Limit-*left) / float64(*b.Limit)
	} else {
		gone = 1
	}
	switch {
	case b.OverLimit || *left == 0:
		tone = ToneBad
	case gone >= 0.8:
		tone = ToneWarn
	}
	return text, gone, tone, true
}

// TokenLeftShort is the same, for a table.
func TokenLeftShort(tx assets.Texts, b sandbox.Budget) string {
	left := b.Left()
	if left == nil {
		return tx.Get("window.tokens.spent", "amount", Money(tx, b.Spent))
	}
	return tx.Get("window.tokens.left.short", "left", Money(tx, *left), "limit", TokenLimit(tx, b.Limit, b.Period))
}

// ScopeTitle is a scope in a word, and ScopeHint what it allows.
func ScopeTitle(tx assets.Texts, s sandbox.Scope) string {
	if key := "window.tokens.scope." + string(s); tx.Has(key) {
		return tx.Get(key)
	}
	return string(s)
}

// ScopeHint is what a scope allows, in plain words.
func ScopeHint(tx assets.Texts, s sandbox.Scope) string {
	return tx.Get("window.tokens.allows." + string(s))
}

// ScopeList are scopes in a line.
func ScopeList(tx assets.Texts, all []sandbox.Scope) string {
	var out []string
	for _, s := range all {
		out = append(out, ScopeTitle(tx, s))
	}
	return strings.Join(out, ", ")
}

// Sensitive reports whether scopes reach what is not the token's own.
func Sensitive(all []sandbox.Scope) bool {
	return slices.Contains(all, sandbox.ScopeManage) || slices.Contains(all, sandbox.ScopeBilling)
}

// TokenUsed is when any secret of a token was used last.
func TokenUsed(tx assets.Texts, all []sandbox.Credential, now time.Time) string {
	last := lastUse(all)
	if last.IsZero() {
		return tx.Get("window.tokens.used.never")
	}
	span, _ := Age(tx, last, now)
	return tx.Get("window.tokens.used.ago", "span", span)
}

// TokenLastUse is the same, for a table.
func TokenLastUse(tx assets.Texts, all []sandbox.Credential, now time.Time) string {
	last := lastUse(all)
	if last.IsZero() {
		return "–"
	}
	span, _ := Age(tx, last, now)
	return tx.Get("window.tokens.expires.past", "span", span)
}

func lastUse(all []sandbox.Credential) (last time.Time) {
	for _, c := range all {
		if c.LastUsedAt.After(last) {
			last = c.LastUsedAt
		}
	}
	return last
}

// SecretText tells of a secret what is kept of it: how it begins, and its times.
func SecretText(tx assets.Texts, c sandbox.Credential, now time.Time) string {
	text := tx.Get("window.tokens.secret", "hint", Visible(c.Hint), "made", Moment(tx, c.CreatedAt, now), "used", TokenUsed(tx, []sandbox.Credential{c}, now))
	switch {
	case !c.RevokedAt.IsZero() || !c.OverlapUntil.IsZero() && !now.Before(c.OverlapUntil):
		return text + " " + tx.Get("window.tokens.secret.revoked")
	case !c.OverlapUntil.IsZero():
		left, _ := Countdown(tx, c.OverlapUntil, now)
		return text + " " + tx.Get("window.tokens.secret.overlap", "span", left)
	}
	return text
}

// TokenRunning is how many sandboxes of a token there are, of how many.
func TokenRunning(tx assets.Texts, running, most int) string {
	if most > 0 {
		return tx.Get("window.tokens.running.most", "n", strconv.Itoa(running), "most", strconv.Itoa(most))
	}
	return strconv.Itoa(running)
}

// hoursText is a number of hours as people write it.
func hoursText(tx assets.Texts, hours float64) string {
	text := strconv.FormatFloat(math.Round(hours*100)/100, 'f', -1, 64)
	return strings.Replace(text, ".", tx.Get("tray.money.point"), 1)
}

// TokenSentence sums up what a grant allows, in sentences.
func TokenSentence(tx assets.Texts, g sandbox.Grant, now time.Time) string {
	var can []string
	for _, s := range g.Scopes {
		can = append(can, tx.Get("window.tokens.can."+string(s)))
	}
	who := tx.Get("window.tokens.sum.who", "name", cmp.Or(Visible(g.Name), tx.Get("window.tokens.sum.nameless")), "can", enumerate(tx, can))
	if len(can) == 0 {
		who = tx.Get("window.tokens.sum.nothing")
	}
	out := []string{who}
	if g.Allows(sandbox.ScopeRent) {
		if g.Limit == nil {
			out = append(out, tx.Get("window.tokens.sum.unlimited"))
		} else {
			out = append(out, tx.Get("window.tokens.sum.limit", "limit", TokenLimit(tx, g.Limit, g.Period)))
		}
		if g.MaxHours > 0 {
			out = append(out, tx.Get("window.tokens.sum.hours", "hours", hoursText(tx, g.MaxHours)))
		}
		switch {
		case g.MaxConcurrent == 1:
			out = append(out, tx.Get("window.tokens.sum.one"))
		case g.MaxConcurrent > 1:
			out = append(out, tx.Get("window.tokens.sum.most", "n", strconv.Itoa(g.MaxConcurrent)))
		}
		if len(g.Templates) > 0 {
			out = append(out, tx.Get("window.tokens.sum.templates", "templates", Visible(strings.Join(g.Templates, ", "))))
		}
		switch g.Profile {
		case "":
		case sandbox.ProfileLocal:
			out = append(out, tx.Get("window.tokens.sum.local"))
		default:
			out = append(out, tx.Get("window.tokens.sum.profile", "profile", Visible(g.Profile)))
		}
	}
	if !g.ExpiresAt.IsZero() {
		left, _ := Countdown(tx, g.ExpiresAt, now)
		out = append(out, tx.Get("window.tokens.sum.expires", "when", Moment(tx, g.ExpiresAt, now), "span", left))
	}
	return strings.Join(out, " ")
}

// enumerate joins parts of a sentence: "a, b and c".
func enumerate(tx assets.Texts, all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " " + tx.Get("window.tokens.and") + " " + all[last]
}

// RevokeText is the question before a token is revoked; keep has its sandboxes
// go on.
func RevokeText(tx assets.Texts, name string, running int, keep bool) string {
	text := tx.Get("window.tokens.revoke.text", "name", Visible(name))
	if running == 0 {
		return text
	}
	key := "window.tokens.revoke.end"
	if keep {
		key = "window.tokens.revoke.keep"
	}
	return text + "\n\n" + count(tx, running, key)
}

// A Use is a way to use a token, with what to copy.
type Use struct{ Title, Text, Copy string }

// defaultURL is where a bridge over HTTP listens of which nobody says where.
const defaultURL = "http://127.0.0.1:8000/mcp"

// TokenUses are the steps from a token to an agent that uses it. None has a
// secret in it: that comes from a variable.
func TokenUses(tx assets.Texts) []Use {
	use := func(key, copied string) Use {
		return Use{tx.Get("window.tokens.use." + key), tx.Get("window.tokens.use." + key + ".text"), copied}
	}
	return []Use{
		use("bridge", "arenero-bridge --http --auth token"),
		use("url", defaultURL),
		use("header", "Authorization: Bearer ${ARENERO_TOKEN}"),
		use("prompt", strings.TrimSpace(assets.Doc(assets.DocFirstPrompt, tx.Language))),
	}
}
