package edit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// yamlMember writes a field as lines of a block map.
func yamlMember(m Member, indent, step int) []string {
	pad := strings.Repeat(" ", indent)
	key := pad + yamlText(m.Key) + ":"
	switch v := m.Value.(type) {
	case string:
		return []string{key + " " + yamlText(v)}
	case bool:
		return []string{key + " " + strconv.FormatBool(v)}
	case int:
		return []string{key + " " + strconv.Itoa(v)}
	case []string:
		if len(v) == 0 {
			return []string{key + " []"}
		}
		lines := []string{key}
		for _, s := range v {
			lines = append(lines, pad+strings.Repeat(" ", step)+"- "+yamlText(s))
		}
		return lines
	case Object:
		if len(v) == 0 {
			return []string{key + " {}"}
		}
		return append([]string{key}, yamlMembers(v, indent+step, step)...)
	}
	panic(fmt.Sprintf("a value of type %T got past its check", m.Value))
}

func yamlMembers(o Object, indent, step int) []string {
	var lines []string
	for _, m := range o {
		lines = append(lines, yamlMember(m, indent, step)...)
	}
	return lines
}

// yamlItem writes an entry as an item of a block list.
func yamlItem(o Object, indent, step int) []string {
	lines := yamlMembers(o, indent+2, step)
	lines[0] = strings.Repeat(" ", indent) + "- " + lines[0][indent+2:]
	return lines
}

// notStrings are the words that some version of YAML, or some parser of it,
// takes for something else.
var notStrings = map[string]bool{
	"y": true, "n": true, "yes": true, "no": true, "on": true, "off": true,
	"true": true, "false": true, "null": true, "nan": true, "inf": true, "infinity": true, "none": true,
}

// isPlainYAML reports whether s needs no quotes in any version of YAML: words,
// options and paths of letters. Numbers, dates, times and all that looks like
// syntax do.
func isPlainYAML(s string) bool {
	word := strings.TrimLeft(s, "-")
	if len(s)-len(word) > 2 || word == "" || notStrings[strings.ToLower(word)] {
		return false
	}
	if c := word[0]; !isLetter(c) && c != '/' && c != '_' {
		return false
	}
	for i := range len(word) {
		if c := word[i]; !isLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune("_-./+", rune(c)) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// yamlText writes a string so that every parser reads it as one. Single quotes
// leave the backslashes of a Windows path as they are.
func yamlText(s string) string {
	if isPlainYAML(s) {
		return s
	}
	single := true
	for _, c := range s {
		if !unicode.IsPrint(c) || c == '\ufeff' {
			single = false
		}
	}
	if single {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02X`, c)
		case c < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			fmt.Fprintf(&b, `\U%08X`, c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// looksOdd reports whether some version of YAML takes s, written plainly, for
// something else than a string.
func looksOdd(s string) bool {
	if s == "" || notStrings[strings.ToLower(s)] {
		return true
	}
	return strings.ContainsRune("0123456789+-.=<~", rune(s[0]))
}
