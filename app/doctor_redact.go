package app

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// hidden takes the place of what is not told.
const hidden = "[redacted]"

// late is a pattern that is compiled when it is first needed: all of these at once
// would take a tenth of every start of a program.
func late(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// secretForms are what secrets look like, wherever they stand. What stands
// before one and says so is kept.
var secretForms = []func() *regexp.Regexp{
	late(`(?s)()-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`),
	late(`()AGE-SECRET-KEY-1[0-9A-Za-z]+`),
	late(`()\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{12,}\b`),
	late(`()\beyJ[\w-]{8,}(?:\.[\w-]*){1,4}`),
	late(`()\bark_[\w-]{8,}`),
	late(`()\b(?:sk|pk|ghp|gho|ghs|ghu|github_pat|glpat|xox[a-z])[-_][\w-]{16,}`),
	late(`(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{6,}`),
	late(`(?i)([?&;](?:[\w.-]*(?:signature|token|secret|credential|password|code|key)[\w.-]*)=)[^\s&;"'\\]+`),
	// As STS answers; a log of JSON writes the first sign in its own way.
	late(`(?i)((?:<|\\u003c)[\w:.-]*(?:` + secretWords + `|accesskeyid)[\w.-]*(?:>|\\u003e))[^<>\s\\][^<>\\]*`),
	// What people write, of which only what is no word can be told.
	late(`(?i)(\b(?:password|passphrase|passcode|passwd)(?:\s+(?:is|was))?\s+["'\\]*)[^\s"'\\]*[0-9][^\s"'\\]*`),
	late(`(?i)(\b(?:code|pin|otp)(?:\s+(?:is|was))?\s*[:=]?\s*["'\\]*)[0-9]{6,8}\b`),
	late(`(\b[Cc]ode(?:\s+(?:is|was))?\s*[:=]?\s*["'\\]*)[A-Z0-9]{4}-[A-Z0-9]{4}\b`),
	// A secret key of AWS has 40 characters, the access token of a sandbox 43.
	late(`()(?:\b|[+/])[A-Za-z0-9+/_-]{40,}={0,2}`),
}

// secretWords are parts of the names of secrets.
const secretWords = `token|secret|passw(?:or)?d|passphrase|credential|authorization|api[_-]?key|access[_-]?key|private[_-]?key|session[_-]?key|(?:user|device|mfa|otp|verification)[_-]?code`

var (
	// namedSecret is a name that says secret, and its value. Quotes may be those of a
	// document that stands in a line of a log.
	namedSecret = late(`(?i)((?:\\*["'])?)([\w.-]*(?:` + secretWords + `)[\w.-]*)((?:\\*["'])?\s*[=:]\s*)` +
		`(\[redacted\]|\\"(?:[^"\\]|\\\\\\"|\\[^"])*\\"|\\+"[^"]*"|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,;}\]]+)`)
	// inAddress is who somebody is to a server, in the address of that.
	inAddress = late(`(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@"']+:[^\s/@"']*@`)

	digits        = late(`[0-9]+`)
	grouped       = late(`\b[0-9]{4}-[0-9]{4}-[0-9]{4}\b`) // as the console of AWS writes account numbers
	mailAddress   = late(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`)
	homeOfAnybody = late(`(/home/|/Users/|(?i:\b[a-z]:[\\/]+Users)[\\/]+)[^/\\\s"':,;]+`)
	// harmless are long words that are no secrets: commits, VMs and paths.
	harmless = late(`^(?:[0-9a-f]{40}|microvm-[0-9a-f-]{36}|(?:/[\w-]{1,64}){2,}/?)$`)
	// prose is how what comes after "get credentials: " begins, and what is counted.
	prose = late(`^\\?["']?(?:AWS|STS|EOF|[A-Z]?[a-z][a-z'-]*|(?:/[\w.@+-]+)+/?)\\?["']?[:.)]*$`)
	few   = late(`^[0-9]{1,4}$`)
	// reasons are the words that what went wrong begins with, after the name of one
	// secret alone, which may itself be a word that people made up.
	reasons = late(`^(?:a|an|the|no|not|is|was|it|open|read|write|get|Get|Post|dial|ask|AWS|STS|EOF|context|wrong|permission|exit|cancel+ed|can't|cannot|for|in|of|that|nobody|keychain)[:.]*$`)
)

// keySize is the length of a secret key of AWS, which may look like a path.
const keySize = 40

// redactText takes out what looks like a secret.
func redactText(s string) string {
	for i, form := range secretForms {
		last := i == len(secretForms)-1
		s = form().ReplaceAllStringFunc(s, func(found string) string {
			if last && harmless().MatchString(found) && (len(found) != keySize || found[0] != '/') {
				return found
			}
			return form().FindStringSubmatch(found)[1] + hidden
		})
		if i == len(secretForms)-2 { // the last may be any long word
			s = inAddress().ReplaceAllString(s, "${1}"+hidden+"@")
			s = namedSecret().ReplaceAllStringFunc(s, hideNamed)
		}
	}
	return s
}

// hideNamed takes out the value of a name, unless it is but the reason of an error
// that ends in such a name.
func hideNamed(found string) string {
	m := namedSecret().FindStringSubmatch(found)
	quote, name, is, value := m[1], m[2], m[3], m[4]
	said := quote == "" && strings.HasPrefix(is, ":") && len(is) > 1
	many := strings.HasSuffix(strings.ToLower(name), "s")
	switch {
	case said && !many && reasons().MatchString(value),
		said && many && prose().MatchString(value),
		many && few().MatchString(value):
		return found
	}
	return quote + name + is + hidden
}

// clean is an error in one line, without secrets.
func clean(err error) string {
	return strings.Join(strings.Fields(redactText(err.Error())), " ")
}

// A redactor also takes out what is secret on this computer, and what tells who
// somebody is.
type redactor struct {
	values []string // exact secrets, the longest first
	names  *strings.Replacer
}

// minSecret is the length from which a value is looked for: shorter ones would
// be found everywhere.
const minSecret = 6

// newRedactor takes secrets from an environment: the values of variables whose
// names say so.
func newRedactor(env []string) *redactor {
	r := &redactor{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if secretName().MatchString(name) && len(value) >= minSecret && !strings.HasPrefix(value, "/") {
			r.values = append(r.values, value)
		}
	}
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		pairs = append(pairs, home, "~", strings.ReplaceAll(home, `\`, `\\`), "~")
	}
	if host, err := os.Hostname(); err == nil && len(host) >= minSecret {
		pairs = append(pairs, host, "[host]")
	}
	r.names = strings.NewReplacer(pairs...)
	return r
}

// text redacts any text.
func (r *redactor) text(s string) string {
	for _, v := range r.values {
		s = strings.ReplaceAll(s, v, hidden)
	}
	s = redactText(s)
	s = digits().ReplaceAllStringFunc(s, func(n string) string {
		if len(n) != 12 || strings.Trim(n, "0") == "" { // that of the local cloud
			return n
		}
		return "[account]"
	})
	s = mailAddress().ReplaceAllString(grouped().ReplaceAllString(s, "[account]"), "[mail]")
	return homeOfAnybody().ReplaceAllString(r.names.Replace(s), "${1}[user]")
}

// json redacts a document: all that stands under a name that says secret, and
// every string. What is no document is redacted as text.
func (r *redactor) json(doc []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return []byte(r.text(string(doc)))
	}
	out, err := json.MarshalIndent(r.value(v), "", "  ")
	if err != nil {
		return []byte(hidden)
	}
	return append(out, '\n')
}

// secretKey are names in documents whose values are not told. Unlike those of
// variables they may be parts of harmless words, such as "keychain".
var secretKey = late(`(?i)(?:token|secret|passw|passphrase|credential|authorization|api_?key|access_?key|private_?key|external_?id|serial|(?:user|device|mfa|otp|verification)_?code)`)

// shown are names that only look so.
var shown = []string{"secrets", "web_identity_token_file"}

func (r *redactor) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, of := range v {
			switch {
			case key == "credential_process": // its arguments may hold anything
				out[key] = hidden
			case secretKey().MatchString(key) && !slices.Contains(shown, key):
				out[key] = hidden
			default:
				out[r.text(key)] = r.value(of)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, of := range v {
			out[i] = r.value(of)
		}
		return out
	case string:
		return r.text(v)
	case json.Number:
		return json.Number(v)
	}
	return v
}
