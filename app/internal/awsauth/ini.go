package awsauth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Problem is a line of the files of AWS that has no effect, or not the one it
// seems to have.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Why  string `json:"why"`
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Why) }

// An iniLine is one line as the SDK takes it. What counts is the SDK's own
// reader, which shows neither names nor lines: this one is for lists and for
// messages, and tests hold it to that one.
type iniLine struct {
	start, end int    // bytes of the text, the end of the line included
	section    string // that the line opens, or stands in
	opens      bool
	key, value string // of a property
	more       bool   // a line that goes on with the one before
	junk       bool   // a line that is nothing
	named      bool   // a line with a key, be it empty
}

const bom = "\ufeff"

// readINI takes a text apart.
func readINI(text string) []iniLine {
	var lines []iniLine
	section := ""
	nests := false // the last setting has no value: indented ones are its own
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		l := iniLine{start: at, end: end}
		l.read(strings.TrimSuffix(text[at:end], "\n"))
		switch {
		case l.opens:
			section, nests = l.section, false
		case l.more && l.key != "" && !nests:
			// An indented setting that is in no other is one like all.
			l.more = false
			l.value = strings.TrimSpace(withoutComment(l.value))
			nests = l.value == ""
		case l.more:
			l.key, l.value = "", ""
		case l.named:
			nests = l.value == ""
		}
		l.section = section
		lines = append(lines, l)
		at = end
	}
	return lines
}

// read takes one line apart, without what the ones before make of it.
func (l *iniLine) read(raw string) {
	bare := strings.TrimLeft(raw, " \t")
	if strings.TrimSpace(raw) == "" || strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, ";") {
		return
	}
	head, _, _ := strings.Cut(raw, "#")
	head, _, _ = strings.Cut(head, ";")
	if head = strings.TrimSpace(head); strings.HasPrefix(head, "[") && strings.HasSuffix(head, "]") {
		name := strings.TrimSpace(head[1 : len(head)-1])
		if i := strings.IndexAny(name, " \t"); i > 0 {
			name = name[:i] + " " + strings.TrimLeft(name[i:], " \t")
		}
		l.opens, l.section = true, name
		return
	}
	l.more = raw != bare
	if !l.more {
		bare = strings.TrimRight(withoutComment(raw), " \t")
	}
	i := strings.IndexAny(bare, "=:")
	if i < 0 {
		l.junk = !l.more
		return
	}
	l.named = true
	l.key, l.value = strings.ToLower(strings.TrimSpace(bare[:i])), strings.TrimSpace(bare[i+1:])
	for _, q := range []string{`"`, `'`} {
		if len(l.value) > 1 && strings.HasPrefix(l.value, q) && strings.HasSuffix(l.value, q) {
			l.value = l.value[1 : len(l.value)-1]
			break
		}
	}
}

func withoutComment(s string) string {
	for _, mark := range []string{" #", " ;", "\t#", "\t;"} {
		s, _, _ = strings.Cut(s, mark)
	}
	return s
}

// Files are those of the AWS configuration.
type Files struct {
	Config, Credentials string
}

// A place is where something is written.
type place struct {
	file    string
	section string
	line    int
}

// known is what can be told about the profiles in the files.
type known struct {
	at       map[string]place   // by profile; the file of the configuration goes first
	source   map[string]string  // source_profile
	keys     map[string][]place // where a profile has a key
	quote    place              // of a value that is one quotation mark
	problems []Problem          // in the order of the lines
}

const profilePrefix = "profile "

// noProfile tells sections that are of several profiles.
func noProfile(section string) bool {
	return strings.HasPrefix(section, "sso-session ") || strings.HasPrefix(section, "services ")
}

const nameless = "the section has no name"

// readAll reads both files. One that can't be read is empty, as for the SDK, but
// for those that are not fit to be read: the SDK must not be sent there.
func readAll(f Files) (known, error) {
	k := known{at: map[string]place{}, source: map[string]string{}, keys: map[string][]place{}}
	text, err := readFile(f.Config)
	if is[*ErrConfig](err) {
		return k, err
	}
	if err == nil {
		k.add(f.Config, string(text), func(section string) (string, string) {
			name, ok := strings.CutPrefix(section, profilePrefix)
			switch {
			case section == "" || section == "profile":
				return "", nameless
			case ok || strings.EqualFold(section, defaultProfile):
				return name, ""
			case noProfile(section):
				return "", ""
			}
			return "", "the section [" + section + "] is not read here: write [" + profilePrefix + section + "]"
		})
	}
	text, err = readFile(f.Credentials)
	if is[*ErrConfig](err) {
		return k, err
	}
	if err == nil {
		k.add(f.Credentials, string(text), func(section string) (string, string) {
			switch {
			case section == "":
				return "", nameless
			case noProfile(section):
				return "", ""
			}
			if name, ok := strings.CutPrefix(section, profilePrefix); ok {
				return "", "the section [" + section + "] is not read here: write [" + name + "]"
			}
			return section, ""
		})
	}
	return k, nil
}

// add takes in one file. profile tells the profile that a section is of, or why
// it is of none.
func (k *known) add(file, text string, profile func(section string) (name, why string)) {
	if strings.HasPrefix(text, bom) {
		k.problems = append(k.problems, Problem{file, 1, "the file starts with a byte order mark, which hides its first line: save it as UTF-8 without one"})
	}
	lines := readINI(text)
	// In the configuration the SDK lets [profile default] take the place of
	// [default].
	long, _ := profile(profilePrefix + defaultProfile)
	replaced := long != "" && slices.ContainsFunc(lines, func(l iniLine) bool { return l.opens && l.section == profilePrefix+defaultProfile })
	opened := false
	for i, l := range lines {
		opened = opened || l.opens
		name, why := profile(l.section)
		at := place{file, l.section, i + 1}
		if l.value == `"` || l.value == "'" {
			k.quote = at
			k.problems = append(k.problems, Problem{file, at.line, "the value is a single quotation mark, at which AWS programs fail"})
		}
		switch {
		case l.opens && why != "":
			k.problems = append(k.problems, Problem{file, at.line, why})
		case l.junk && !(i == 0 && strings.HasPrefix(text, bom)):
			k.problems = append(k.problems, Problem{file, at.line, "the line is neither a section nor a setting"})
		case l.key != "" && !opened:
			k.problems = append(k.problems, Problem{file, at.line, "the setting stands before all sections"})
		case name == "" || replaced && l.section == defaultProfile:
		case l.opens:
			if _, had := k.at[name]; !had {
				k.at[name] = at
			}
		case l.key == "source_profile":
			k.source[name] = l.value
		case l.key == "aws_access_key_id":
			k.keys[name] = append(k.keys[name], at)
		}
	}
}

// names are those of all profiles, sorted.
func (k known) names() []string { return slices.Sorted(maps.Keys(k.at)) }

func (k known) place(profile string) (file string, line int) {
	at := k.at[profile]
	return at.file, at.line
}

func (k known) lone() (file string, line int) { return k.quote.file, k.quote.line }

// deep reports whether the sources of a profile go on for longer than anybody
// means them to. The SDK follows them all.
func (k known) deep(profile string) bool {
	seen := map[string]bool{}
	for name := profile; name != "" && !seen[name]; name = k.source[name] {
		if seen[name] = true; len(seen) > maxChain {
			return true
		}
	}
	return false
}

// loop returns the circle that the sources of a profile lead to; nil is none.
func (k known) loop(profile string) []string {
	var path []string
	for name := profile; name != ""; name = k.source[name] {
		if at := slices.Index(path, name); at >= 0 {
			return append(path[at:], name)
		}
		path = append(path, name)
	}
	return nil
}
