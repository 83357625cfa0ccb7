package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// The engine, the cloud and the system say in English what went wrong, to logs
// and to programs of any version. Here that is put into the language of the
// user: assets/translation has all that they say, with {holes} for what is put
// there. A test holds that it is all there.
const (
	messageTexts  = "messages"
	messagePrefix = "msg."
)

// A saying is one of those, as it is recognized.
type saying struct {
	key   string
	is    *regexp.Regexp
	holes []string
	fixed int // how many of its bytes are no holes

	opens, closes bool // a hole stands at its beginning, or at its end
}

var hole = regexp.MustCompile(`\{[a-z]+\}`)

// sayings are all of them: those that are told apart by more go first.
var sayings = sync.OnceValue(func() []saying {
	english := assets.Load(assets.English, messageTexts)
	var out []saying
	for _, key := range english.Keys() {
		if strings.HasPrefix(key, messagePrefix) {
			out = append(out, newSaying(key, english.Get(key)))
		}
	}
	slices.SortStableFunc(out, func(a, b saying) int { return cmp.Compare(b.fixed, a.fixed) })
	return out
})

func newSaying(key, text string) saying {
	m := saying{key: key, fixed: len(text)}
	var pattern strings.Builder
	at := 0
	for _, span := range hole.FindAllStringIndex(text, -1) {
		pattern.WriteString(regexp.QuoteMeta(text[at:span[0]]) + "(.+)")
		m.holes = append(m.holes, text[span[0]+1:span[1]-1])
		m.fixed -= span[1] - span[0]
		at = span[1]
	}
	m.opens, m.closes = strings.HasPrefix(text, "{"), strings.HasSuffix(text, "}")
	m.is = regexp.MustCompile(`(?s)^` + pattern.String() + regexp.QuoteMeta(text[at:]) + `$`)
	return m
}

// inLanguage is a message in the language of the user, as far as it is known. It
// may be several, with ": " between them.
func inLanguage(text string) string {
	if texts().Language == assets.English {
		return text
	}
	return translateAll(text, func(string) {})
}

// translateAll does it, and calls missed with what is not known.
func translateAll(text string, missed func(part string)) string {
	for end := len(text); end > 0; {
		if said, ok := known(text[:end]); ok {
			if end == len(text) {
				return said
			}
			return said + separator + translateAll(text[end+len(separator):], missed)
		}
		end = strings.LastIndex(text[:end], separator)
	}
	head, rest, more := strings.Cut(text, separator)
	missed(head)
	if !more {
		return head
	}
	return head + separator + translateAll(rest, missed)
}

const separator = ": " // between a message and its reason

// known is one message in the language of the user.
func known(text string) (string, bool) {
	for _, m := range sayings() {
		found := m.is.FindStringSubmatch(text)
		if found == nil || m.swallows(found) {
			continue
		}
		var args []string
		for i, name := range m.holes {
			value := found[i+1]
			if name == "why" {
				value = inLanguage(value)
			}
			args = append(args, name, value)
		}
		return say(m.key, args...), true
	}
	return "", false
}

// swallows reports whether a hole at either end has got another message: they
// are told apart by [separator].
func (m saying) swallows(found []string) bool {
	for i, value := range found[1:] {
		atEnd := m.opens && i == 0 || m.closes && i == len(m.holes)-1
		if atEnd && m.holes[i] != "why" && strings.Contains(value, separator) {
			return true
		}
	}
	return false
}

// reason is what err says, in the language of the user.
func reason(err error) string { return inLanguage(err.Error()) }

// inWords is e in the language of the user.
func inWords(e *sandbox.Error) *sandbox.Error {
	out := *e
	if class, ok := e.Details["class"].(string); ok && e.Code == sandbox.NoKeychain {
		why, _ := e.Details["why"].(string)
		out.Msg, out.Hint = app.KeychainWords(texts(), class, why)
		return &out
	}
	out.Msg, out.Hint = inLanguage(e.Msg), inLanguage(e.Hint)
	if _, told := e.Details["left_micro"]; told && e.Code == sandbox.BudgetExceeded {
		out.Msg, out.Hint = overBudget(e.Details)
	}
	return &out
}
