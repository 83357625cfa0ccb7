package edit

import (
	"fmt"
	"strconv"
	"strings"
)

// tomlSectionText is the entry as a table of its own, without the last line's
// break.
func tomlSectionText(header string, value Object, eol string) string {
	lines := []string{header}
	for _, m := range value {
		lines = append(lines, tomlMemberText(m))
	}
	return strings.Join(lines, eol)
}

// tomlHeader is the header of the entry's table.
func tomlHeader(p Place) string {
	if p.List != "" {
		return "[[" + tomlPath(p.Keys) + "]]"
	}
	return "[" + tomlPath(append(append([]string(nil), p.Keys...), p.Name)) + "]"
}

func tomlPath(keys []string) string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = tomlKeyText(key)
	}
	return strings.Join(out, ".")
}

// tomlKeyText quotes a key only if it can't do without.
func tomlKeyText(key string) string {
	bare := key != ""
	for _, c := range key {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			bare = false
		}
	}
	if bare {
		return key
	}
	return tomlQuote(key)
}

func tomlMemberText(m Member) string { return tomlKeyText(m.Key) + " = " + tomlValueText(m.Value) }

// tomlValueText writes a value on one line, in a way that TOML 1.0 has.
func tomlValueText(v any) string {
	switch v := v.(type) {
	case string:
		return tomlStringText(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		out := make([]string, len(v))
		for i, s := range v {
			out[i] = tomlStringText(s)
		}
		return "[" + strings.Join(out, ", ") + "]"
	case Object:
		if len(v) == 0 {
			return "{}"
		}
		out := make([]string, len(v))
		for i, m := range v {
			out[i] = tomlMemberText(m)
		}
		return "{ " + strings.Join(out, ", ") + " }"
	}
	panic(fmt.Sprintf("a value of type %T got past its check", v))
}

// tomlStringText leaves the backslashes of a Windows path as they are.
func tomlStringText(s string) string {
	literal := strings.Contains(s, `\`)
	for _, c := range s {
		if c < ' ' || c == 0x7f || c == '\'' {
			literal = false
		}
	}
	if literal {
		return "'" + s + "'"
	}
	return tomlQuote(s)
}

func tomlQuote(s string) string {
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
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
