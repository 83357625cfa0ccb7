package main

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

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
		pattern.WriteString(regexp.QuoteMeta(text[at:span[0]]) + "(.*)")
		m.holes = append(m.holes, text[span[0]+1:span[1]-1])
		m.fixed -= span[1] - span[0]
		at = span[1]
	}
	m.is = regexp.MustCompile(`(?s)^` + pattern.String() + regexp.QuoteMeta(text[at:]) + `$`)
	return m
}

// inLanguage is a message in the language of the user, as far as it is known. It
// may be several, with ": " between them.
func inLanguage(text string) string {
	if texts().Language == assets.English || text == "" {
		return text
	}
	if said, ok := known(text); ok {
		return said
	}
	head, rest, more := strings.Cut(text, ": ")
	if !more {
		return text
	}
	// What is known as a whole may have a ": " in it.
	for end := len(head); end >= 0; {
		if said, ok := known(text[:end]); ok {
			head, rest = said, text[end+len(": "):]
			break
		}
		next := strings.Index(text[end+1:], ": ")
		if next < 0 {
			break
		}
		end += 1 + next
	}
	return head + ": " + inLanguage(rest)
}

// known is one message in the language of the user.
func known(text string) (string, bool) {
	for _, m := range sayings() {
		found := m.is.FindStringSubmatch(text)
		if found == nil {
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

// reason is what err says, in the language of the user.
func reason(err error) string { return inLanguage(err.Error()) }

// inWords is e in the language of the user.
func inWords(e *sandbox.Error) *sandbox.Error {
	out := *e
	out.Msg, out.Hint = inLanguage(e.Msg), inLanguage(e.Hint)
	return &out
}
