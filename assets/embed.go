// Package assets holds what is built into the programs and is no code: the
// texts in each language, and pages.
package assets

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed translation docs
var files embed.FS

// The languages there are, by the names that [Language] and [Load] use.
const (
	English = "en"
	Spanish = "es"
)

// Texts are all texts of one language, by their keys.
type Texts struct {
	Language string
	byKey    map[string]string
}

// Load returns the texts of a language; English if there is no such language.
// Parts are further files of texts, such as "hosts", for programs that show
// them: the others do not spend time on reading them.
func Load(language string, parts ...string) Texts {
	if language != Spanish {
		language = English
	}
	t := Texts{Language: language}
	t.read(language)
	for _, part := range parts {
		t.read(part + "." + language)
	}
	return t
}

// The pages that [Doc] has.
const (
	DocAgents      = "agents"       // how an agent uses sandboxes, and pays for them
	DocFirstPrompt = "first-prompt" // what a person says to an agent first
)

// Doc returns a page as Markdown; in English if there is no such language. A
// page that there is not is "".
func Doc(name, language string) string {
	if language != Spanish {
		language = English
	}
	raw, err := files.ReadFile("docs/" + name + "." + language + ".md")
	if err != nil {
		return ""
	}
	return string(raw)
}

// read adds the texts of one file.
func (t *Texts) read(name string) {
	raw, err := files.ReadFile("translation/" + name + ".json")
	if err != nil {
		panic(err) // it is built in
	}
	if err := json.Unmarshal(raw, &t.byKey); err != nil {
		panic(fmt.Errorf("translation %s: %w", name, err)) // and a test has read it
	}
}

// Get returns a text with its {names} replaced: args are names and values in
// turn. A key that there is no text for is returned as it is.
func (t Texts) Get(key string, args ...string) string {
	text, ok := t.byKey[key]
	if !ok {
		return key
	}
	if len(args) == 0 {
		return text
	}
	// One way through, so that braces in a value are no names. This is called for
	// all that is seen of each update, which is why it makes nothing but the text.
	var out strings.Builder
	for {
		before, rest, open := strings.Cut(text, "{")
		out.WriteString(before)
		if !open {
			return out.String()
		}
		name, after, closed := strings.Cut(rest, "}")
		i := 0
		for i+1 < len(args) && args[i] != name {
			i += 2
		}
		if !closed || i+1 >= len(args) {
			out.WriteByte('{')
			text = rest
			continue
		}
		out.WriteString(args[i+1])
		text = after
	}
}

// Has reports whether there is a text for key.
func (t Texts) Has(key string) bool {
	_, ok := t.byKey[key]
	return ok
}

// Keys are those of all texts, in order.
func (t Texts) Keys() []string { return slices.Sorted(maps.Keys(t.byKey)) }

// Language returns the language that a locale such as "es_CL.UTF-8" asks for,
// or "" if it asks for none of ours.
func Language(locale string) string {
	l := strings.ToLower(locale)
	if i := strings.IndexAny(l, "_-.@:"); i >= 0 {
		l = l[:i]
	}
	switch l {
	case "es", "spanish":
		return Spanish
	case "en", "english":
		return English
	}
	return ""
}
