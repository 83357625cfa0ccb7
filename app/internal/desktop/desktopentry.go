package desktop

import (
	"errors"
	"slices"
	"strings"
	"unicode"
)

// An entry is the text of a .desktop file. What is changed in it are single
// keys: whatever else users or desktops have put there stays.
type entry struct{ lines []string }

const entryGroup = "[Desktop Entry]"

func parseEntry(text string) entry {
	return entry{strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
}

func (e entry) String() string { return strings.Join(e.lines, "\n") + "\n" }

// find is the line of a key in the group that counts, or where a new one goes;
// -1 is a text without that group.
func (e entry) find(key string) (line int, there bool) {
	in, last := false, -1
	for i, l := range e.lines {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			in = l == entryGroup
		}
		if !in {
			continue
		}
		if name, _, ok := strings.Cut(l, "="); ok && strings.TrimSpace(name) == key {
			return i, true
		}
		if l != "" {
			last = i
		}
	}
	return last + 1, false
}

// get is the value of a key, as it is written.
func (e entry) get(key string) string {
	i, ok := e.find(key)
	if !ok {
		return ""
	}
	_, value, _ := strings.Cut(e.lines[i], "=")
	return strings.TrimSpace(value)
}

// set gives a key a value, as it is to be written; "" takes the key away.
func (e *entry) set(key, value string) {
	i, ok := e.find(key)
	switch {
	case ok && value == "":
		e.lines = slices.Delete(e.lines, i, i+1)
	case ok:
		e.lines[i] = key + "=" + value
	case value != "":
		e.lines = slices.Insert(e.lines, i, key+"="+value)
	}
}

// on reports whether a desktop would start it.
func (e entry) on() bool {
	return !strings.EqualFold(e.get("Hidden"), "true") && !strings.EqualFold(e.get("X-GNOME-Autostart-enabled"), "false")
}

// ours reports whether it starts our tray, or, without a command, only says that
// nothing is to be started.
func (e entry) ours() bool {
	if _, ok := e.find("Exec"); !ok {
		return !e.on() || strings.TrimSpace(e.String()) == ""
	}
	argv, ok := splitExec(e.get("Exec"))
	return ok && ourTray(argv)
}

// errControl means that a path has what no line of such a file can hold.
var errControl = errors.New("a path with control characters can't be started at login")

// joinExec writes a command line as Exec has it: each argument in quotes, in
// which a backslash takes the meaning from some characters; then a percent sign
// doubled, which would stand for files; then all backslashes doubled, as in each
// text of such a file.
func joinExec(argv ...string) (string, error) {
	var words []string
	for _, a := range argv {
		if strings.ContainsFunc(a, unicode.IsControl) {
			return "", errControl
		}
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+:@,%=", r)
		}) {
			a = `"` + strings.NewReplacer(`"`, `\"`, "`", "\\`", `$`, `\$`, `\`, `\\`).Replace(a) + `"`
		}
		words = append(words, strings.ReplaceAll(a, "%", "%%"))
	}
	return entryText(strings.Join(words, " ")), nil
}

// entryText writes a text as a value.
func entryText(s string) string { return strings.ReplaceAll(s, `\`, `\\`) }

// splitExec reads what joinExec, or anybody, writes. It fails for what no desktop
// would start.
func splitExec(value string) (argv []string, ok bool) {
	s := strings.NewReplacer(`\\`, `\`, `\s`, " ", `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(value)
	var word strings.Builder
	quoted, inWord := false, false
	end := func() {
		if inWord {
			argv = append(argv, strings.ReplaceAll(word.String(), "%%", "%"))
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
		case c == '"':
			quoted, inWord = !quoted, true
		case c == ' ' && !quoted:
			end()
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	end()
	return argv, !quoted && len(argv) > 0
}
