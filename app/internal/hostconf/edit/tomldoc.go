package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A tomlDoc is a document that has been read twice: decoded, which proves that
// it is valid, and as lines with their places, which patches need.
type tomlDoc struct {
	text     []byte
	root     map[string]any
	sections []*tomlSection // the first is what stands above all headers
}

// A tomlSection is a header with the lines below it.
type tomlSection struct {
	array      bool // [[header]]
	path       []string
	lines      []*tomlLine
	from, last int // from the first byte of the header's line to the end of the last line, its break left out
	index      int // in tomlDoc.sections
}

// A tomlLine is key = value, with the lines that the value takes. Members of
// inline tables are such lines too, but have no lines of their own.
type tomlLine struct {
	keys       []tomlKey
	path       []string // of the section, then of the keys
	value      tomlValue
	from, last int // as in tomlSection
}

// start and end are those of key and value alone.
func (l *tomlLine) start() int { return l.keys[0].start }
func (l *tomlLine) end() int   { return l.value.end }

type tomlKey struct {
	name       string
	start, end int
}

type tomlValue struct {
	kind       unstable.Kind
	start, end int
	members    []*tomlLine // of an inline table
	items      []tomlValue // of an array; the place of an array in an array is not known
}

// parseTOML fails with a SyntaxError.
func parseTOML(doc []byte) (*tomlDoc, error) {
	d := &tomlDoc{text: doc}
	if err := toml.Unmarshal(doc, &d.root); err != nil {
		return nil, tomlError(doc, err)
	}
	if d.root == nil {
		d.root = map[string]any{}
	}
	s := &tomlSection{}
	d.sections = append(d.sections, s)
	var p unstable.Parser
	for p.Reset(doc); p.NextExpression(); {
		switch n := p.Expression(); n.Kind {
		case unstable.KeyValue:
			l := d.line(n, s.path)
			l.from, l.last = d.lineStart(l.start()), d.lineEnd(l.end())
			s.lines = append(s.lines, l)
			s.last = l.last
		case unstable.Table, unstable.ArrayTable:
			keys := tomlKeys(n.Key())
			s = &tomlSection{array: n.Kind == unstable.ArrayTable, path: tomlNames(keys), index: len(d.sections)}
			s.from, s.last = d.lineStart(keys[0].start), d.lineEnd(keys[len(keys)-1].end)
			d.sections = append(d.sections, s)
		}
	}
	if err := p.Error(); err != nil { // both come from one parser
		return nil, syntaxError(doc, 0, "%v", err)
	}
	return d, nil
}

// tomlError gives err its place. The parser counts bytes from the last LF.
func tomlError(doc []byte, err error) error {
	de, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return syntaxError(doc, 0, "not valid TOML")
	}
	line, column := de.Position()
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(doc[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return syntaxError(doc, int64(at+column-1), "not valid TOML: %s", strings.TrimPrefix(de.Error(), "toml: "))
}

func (d *tomlDoc) line(n *unstable.Node, above []string) *tomlLine {
	l := &tomlLine{keys: tomlKeys(n.Key())}
	l.path = slices.Concat(above, tomlNames(l.keys))
	at := l.keys[len(l.keys)-1].end // blanks, the sign, blanks
	at += bytes.IndexByte(d.text[at:], '=') + 1
	for d.text[at] == ' ' || d.text[at] == '\t' {
		at++
	}
	l.value = d.value(n.Value(), at, l.path)
	l.value.end = int(n.Raw.Offset + n.Raw.Length)
	return l
}

func (d *tomlDoc) value(n *unstable.Node, start int, path []string) tomlValue {
	v := tomlValue{kind: n.Kind, start: start}
	for it := n.Children(); it.Next(); {
		switch c := it.Node(); {
		case n.Kind == unstable.InlineTable && c.Kind == unstable.KeyValue:
			v.members = append(v.members, d.line(c, path))
		case n.Kind == unstable.Array && c.Kind == unstable.Array:
			v.items = append(v.items, tomlValue{kind: c.Kind})
		case n.Kind == unstable.Array:
			item := d.value(c, int(c.Raw.Offset), path)
			item.end = int(c.Raw.Offset + c.Raw.Length)
			if c.Kind == unstable.InlineTable { // its range is the first bracket
				item.end = tomlClose(d.text, item.start)
			}
			v.items = append(v.items, item)
		}
	}
	return v
}

func tomlKeys(it unstable.Iterator) []tomlKey {
	var keys []tomlKey
	for it.Next() {
		n := it.Node()
		keys = append(keys, tomlKey{string(n.Data), int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)})
	}
	return keys
}

func tomlNames(keys []tomlKey) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

// tomlClose returns where the bracket at start has been closed. The text is
// known to be valid.
func tomlClose(text []byte, start int) int {
	depth := 0
	for i := start; i < len(text); i++ {
		switch c := text[i]; c {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '#':
			i += max(0, bytes.IndexByte(text[i:], '\n'))
		case '"', '\'':
			i = tomlString(text, i) - 1
		}
	}
	return len(text)
}

// tomlString returns the end of the string at start.
func tomlString(text []byte, start int) int {
	quote := text[start : start+1]
	if long := bytes.Repeat(quote, 3); bytes.HasPrefix(text[start:], long) {
		quote = long
	}
	for i := start + len(quote); i < len(text); i++ {
		if text[i] == '\\' && quote[0] == '"' {
			i++
			continue
		}
		if !bytes.HasPrefix(text[i:], quote) {
			continue
		}
		end := i + len(quote)
		for len(quote) == 3 && end < len(text) && end < i+5 && text[end] == quote[0] {
			end++ // up to two quotes may stand before the closing three
		}
		return end
	}
	return len(text)
}

// lineStart returns the first byte of the line that at is in.
func (d *tomlDoc) lineStart(at int) int { return bytes.LastIndexByte(d.text[:at], '\n') + 1 }

// lineEnd returns the end of the line that at is in, before its break.
func (d *tomlDoc) lineEnd(at int) int {
	n := bytes.IndexByte(d.text[at:], '\n')
	if n < 0 {
		return len(d.text)
	}
	if n > 0 && d.text[at+n-1] == '\r' {
		n--
	}
	return at + n
}

// after returns the end of the line break at at.
func (d *tomlDoc) after(at int) int {
	switch {
	case bytes.HasPrefix(d.text[at:], []byte("\r\n")):
		return at + 2
	case at < len(d.text):
		return at + 1
	}
	return at
}

// eol returns the line break that is in use before at.
func (d *tomlDoc) eol(at int) string {
	n := bytes.LastIndexByte(d.text[:at], '\n')
	if n < 0 {
		n = bytes.IndexByte(d.text, '\n')
	}
	if n > 0 && d.text[n-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// indent returns the blanks that the line which starts at from begins with.
func (d *tomlDoc) indent(from int) string {
	rest := d.text[from:]
	return string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))])
}

// isUnder reports whether path is prefix or goes on from it.
func isUnder(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// plainTOML turns what the decoder returns into the types of [Found].
func plainTOML(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, val := range v {
			out[key] = plainTOML(val)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, val := range v {
			out[i] = plainTOML(val)
		}
		return out
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case toml.LocalDate, toml.LocalTime, toml.LocalDateTime:
		return fmt.Sprint(v)
	}
	return v
}
