package ui

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// The parts of assets/translation that errors are told from.
const (
	MessageTexts  = "messages"
	KeychainTexts = "keychain"
)

// The engine, the cloud and the system say in English what went wrong, to logs
// and to programs of any version. Here that is put into the language of the
// user: assets/translation has all that they say, with {holes} for what is put
// there. A test of the command line holds that it is all there.
const messagePrefix = "msg."

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
	english := assets.Load(assets.English, MessageTexts)
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

// InLanguage is a message in the language of tx, as far as it is known. It may be
// several, with ": " between them. tx has the part [MessageTexts].
func InLanguage(tx assets.Texts, text string) string {
	if tx.Language == assets.English || strings.Count(text, reasonAfter) > mostReasons {
		return text
	}
	return TranslateAll(tx, text, func(string) {})
}

// TranslateAll is as [InLanguage], and calls missed with what is not known.
func TranslateAll(tx assets.Texts, text string, missed func(part string)) string {
	for end := len(text); end > 0; {
		if said, ok := known(tx, text[:end]); ok {
			if end == len(text) {
				return said
			}
			return said + reasonAfter + TranslateAll(tx, text[end+len(reasonAfter):], missed)
		}
		end = strings.LastIndex(text[:end], reasonAfter)
	}
	head, rest, more := strings.Cut(text, reasonAfter)
	missed(head)
	if !more {
		return head
	}
	return head + reasonAfter + TranslateAll(tx, rest, missed)
}

const (
	reasonAfter = ": " // between a message and its reason
	// More reasons than this are in no message of ours, but in a name that somebody
	// chose: to look for all of them takes the cube of their number.
	mostReasons = 16
)

// known is one message in the language of tx.
func known(tx assets.Texts, text string) (string, bool) {
	for _, m := range sayings() {
		found := m.is.FindStringSubmatch(text)
		if found == nil || m.swallows(found) {
			continue
		}
		var args []string
		for i, name := range m.holes {
			value := found[i+1]
			if name == "why" {
				value = InLanguage(tx, value)
			}
			args = append(args, name, value)
		}
		return tx.Get(m.key, args...), true
	}
	return "", false
}

// swallows reports whether a hole at either end has got another message: they
// are told apart by [reasonAfter].
func (m saying) swallows(found []string) bool {
	for i, value := range found[1:] {
		atEnd := m.opens && i == 0 || m.closes && i == len(m.holes)-1
		if atEnd && m.holes[i] != "why" && strings.Contains(value, reasonAfter) {
			return true
		}
	}
	return false
}

// InWords is e in the language of tx, which has the parts [MessageTexts] and
// [KeychainTexts].
func InWords(tx assets.Texts, e *sandbox.Error) *sandbox.Error {
	out := *e
	if class, ok := e.Details["class"].(string); ok && e.Code == sandbox.NoKeychain {
		why, _ := e.Details["why"].(string)
		out.Msg, out.Hint = KeychainClass(tx, class, why)
		return &out
	}
	out.Msg, out.Hint = InLanguage(tx, e.Msg), InLanguage(tx, e.Hint)
	if _, told := e.Details["left_micro"]; told && e.Code == sandbox.BudgetExceeded {
		out.Msg, out.Hint = overBudget(tx, e.Details)
	}
	return &out
}

// KeychainClass is what a class of errors of the keychain means, and what to do.
// One that is not known is told as any other.
func KeychainClass(tx assets.Texts, class, why string) (what, do string) {
	key := "keychain.class." + class
	if !tx.Has(key) {
		key = "keychain.class.other"
	}
	return tx.Get(key, "why", cmp.Or(why, class)), tx.Get(key + ".do")
}

// Explain says what is wrong, and what to do about it. What is no error of ours
// has no details to hide: it happened in this program.
func Explain(tx assets.Texts, err error) string {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return InLanguage(tx, err.Error())
	}
	// Who in the sandbox says it is of no use to a person.
	return strings.Replace(sandbox.Message(InWords(tx, e)), "agent: ", "", 1)
}

// overBudget says what a budget refuses, and what would fit.
func overBudget(tx assets.Texts, details map[string]any) (msg, hint string) {
	asked, left := sandbox.Micro(wholeDetail(details["asked_micro"])), sandbox.Micro(wholeDetail(details["left_micro"]))
	level := fmt.Sprint(details["level"])
	if key := "level." + level; tx.Has(key) {
		level = tx.Get(key)
	}
	hint = tx.Get("explain.over.none")
	if fits := time.Duration(wholeDetail(details["longest_s"])) * time.Second; fits > time.Minute {
		hint = tx.Get("explain.over.fits", "minutes", fmt.Sprint(int(fits.Minutes())))
	}
	return tx.Get("explain.over", "asked", dollarsBeside(tx, asked, left), "left", dollarsBeside(tx, left, asked), "level", level), hint
}

// dollarsBeside is an amount of dollars, with as many digits as tell it from another.
func dollarsBeside(tx assets.Texts, m, other sandbox.Micro) string {
	digits := 2
	for digits < 6 && m != other && fmt.Sprintf("%.*f", digits, float64(m)/1e6) == fmt.Sprintf("%.*f", digits, float64(other)/1e6) {
		digits++
	}
	return strings.Replace(fmt.Sprintf("%.*f", digits, float64(m)/1e6), ".", tx.Get("explain.point"), 1)
}

// wholeDetail is a number of an error's details, which JSON makes a float.
func wholeDetail(v any) int64 {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case int64:
		return v
	case int:
		return int64(v)
	}
	return 0
}
