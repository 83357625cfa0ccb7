package edit

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// A yamlDoc is a document as its parser sees it, and its lines: the parser
// tells where nodes begin, and lines and indentation tell where they end.
type yamlDoc struct {
	text   []byte
	starts []int      // of the lines, as the parser counts them
	root   *yaml.Node // nil if there is nothing but comments
	end    int        // of what belongs to the document: a line of three dots, or all
}

// parseYAML fails with a SyntaxError, or a RefusedError for several documents.
func parseYAML(text []byte) (*yamlDoc, error) {
	d := &yamlDoc{text: text, starts: []int{0}, end: len(text)}
	for i := 0; i < len(text); {
		n := yamlBreak(text[i:])
		if n > 0 {
			d.starts = append(d.starts, i+n)
		}
		i += max(n, 1)
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithV3Defaults())
	if err != nil {
		return nil, err
	}
	var first, second yaml.Node
	switch err := loader.Load(&first); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, d.syntax(err)
	default:
		if len(first.Content) > 0 {
			d.root = first.Content[0]
		}
		if err := loader.Load(&second); err == nil {
			return nil, refuse(text, int64(d.pos(&second)), NotADocument, "the file holds several YAML documents: put the first alone in it")
		} else if !errors.Is(err, io.EOF) {
			return nil, d.syntax(err)
		}
	}
	from := 0
	if d.root != nil && !isEmptyYAML(d.root) {
		from = d.root.Line - 1
	}
	for i := max(from, 0); i < len(d.starts); i++ {
		rest, marked := bytes.CutPrefix(text[d.starts[i]:], []byte("..."))
		if marked && (len(rest) == 0 || strings.ContainsRune(" \t\r\n", rune(rest[0]))) {
			d.end = d.starts[i]
			break
		}
	}
	return d, nil
}

// yamlBreak returns the length of the line break that b begins with. YAML 1.1
// has more of them than other formats.
func yamlBreak(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("\r\n")), bytes.HasPrefix(b, []byte("\u0085")):
		return 2
	case bytes.HasPrefix(b, []byte("\u2028")), bytes.HasPrefix(b, []byte("\u2029")):
		return 3
	case len(b) > 0 && (b[0] == '\n' || b[0] == '\r'):
		return 1
	}
	return 0
}

// syntax gives err its place. Only messages that hold no values are shown.
func (d *yamlDoc) syntax(err error) error {
	le, ok := errors.AsType[*yaml.LoadError](err)
	if !ok || le.Mark.Line == 0 {
		return syntaxError(d.text, int64(d.invalid()), "not valid YAML")
	}
	msg := le.Message
	if le.ContextMsg != "" {
		msg = le.ContextMsg + ": " + msg
	}
	at := d.offset(le.Mark.Line, max(le.Mark.Column, 1))
	return syntaxError(d.text, int64(at), "not valid YAML: %s", msg)
}

// invalid returns where the first byte is that no YAML may have.
func (d *yamlDoc) invalid() int {
	for i := 0; i < len(d.text); {
		r, n := utf8.DecodeRune(d.text[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' && !strings.ContainsRune("\t\r\n", r) || r == 0x7f {
			return i
		}
		i += n
	}
	return 0
}

// offset turns line and column, both from 1, into bytes.
func (d *yamlDoc) offset(line, column int) int {
	if line > len(d.starts) {
		return len(d.text)
	}
	at := d.starts[max(line, 1)-1]
	for ; column > 1 && at < len(d.text); column-- {
		_, n := utf8.DecodeRune(d.text[at:])
		at += n
	}
	return at
}

func (d *yamlDoc) pos(n *yaml.Node) int { return d.offset(n.Line, n.Column) }

// lineOf returns the index of the line that at is in.
func (d *yamlDoc) lineOf(at int) int {
	i, found := slices.BinarySearch(d.starts, at)
	if !found {
		i--
	}
	return i
}

// lineStart returns the first byte of the line that at is in.
func (d *yamlDoc) lineStart(at int) int { return d.starts[d.lineOf(at)] }

// after returns where the line that at is in has ended, break and all.
func (d *yamlDoc) after(at int) int {
	if i := d.lineOf(at) + 1; i < len(d.starts) {
		return d.starts[i]
	}
	return len(d.text)
}

// line returns a line without its break.
func (d *yamlDoc) line(i int) []byte {
	end := len(d.text)
	if i+1 < len(d.starts) {
		end = d.starts[i+1]
	}
	for n := d.starts[i]; n < end; n++ {
		if yamlBreak(d.text[n:end]) > 0 {
			return d.text[d.starts[i]:n]
		}
	}
	return d.text[d.starts[i]:end]
}

// eol returns the line break that is in use before at.
func (d *yamlDoc) eol(at int) string {
	i := d.lineOf(at)
	if i == 0 {
		i = min(1, len(d.starts)-1)
	}
	if i == 0 {
		return "\n"
	}
	head := string(d.text[:d.starts[i]])
	for _, eol := range []string{"\r\n", "\r"} {
		if strings.HasSuffix(head, eol) {
			return eol
		}
	}
	return "\n"
}

// core returns where a member that begins at start has its end, before the
// break of its last line. Its key or dash stands in column indent, from 0, and
// what comes next begins at bound. Empty lines at the end are not the member's,
// nor are comments that are not indented more than it is.
func (d *yamlDoc) core(start, indent, bound int, value *yaml.Node) piece {
	first := d.lineOf(start)
	last := d.lineOf(bound)
	if bound == d.starts[last] && last > first {
		last--
	}
	for ; last > first; last-- {
		line := d.line(last)
		text := bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(text)) > 0 && (text[0] != '#' || len(line)-len(text) > indent) {
			break
		}
	}
	if d.keeps(value) {
		for last+1 < len(d.starts) && d.starts[last+1] < bound && len(bytes.TrimSpace(d.line(last+1))) == 0 {
			last++
		}
	}
	return piece{start, d.starts[last] + len(d.line(last))}
}

// keeps reports whether n ends in a block scalar to which the empty lines
// below it belong.
func (d *yamlDoc) keeps(n *yaml.Node) bool {
	block := endsInBlock(n)
	if block == nil {
		return false
	}
	at := d.pos(block)
	line := d.lineOf(at)
	header, _, _ := bytes.Cut(d.line(line)[at-d.starts[line]:], []byte("#"))
	return bytes.ContainsRune(header, '+')
}

// endsInBlock returns the block scalar that n ends in, nil if there is none.
func endsInBlock(n *yaml.Node) *yaml.Node {
	for n != nil && len(n.Content) > 0 {
		n = n.Content[len(n.Content)-1]
	}
	if n == nil || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		return nil
	}
	return n
}

// isEmptyYAML reports whether n is an empty map or list, null, or missing.
func isEmptyYAML(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		return len(n.Content) == 0
	case yaml.ScalarNode:
		return n.ShortTag() == "!!null"
	}
	return false
}

// odd reports whether n has an anchor or a tag, or is an alias.
func odd(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0
}

// scalarEnd returns the end of a scalar that is all on one line, and false if
// it is not.
func (d *yamlDoc) scalarEnd(n *yaml.Node) (int, bool) {
	at := d.pos(n)
	if n.Kind != yaml.ScalarNode || odd(n) || at >= len(d.text) {
		return 0, false
	}
	switch quote := d.text[at]; {
	case n.Style&yaml.DoubleQuotedStyle != 0 && quote == '"', n.Style&yaml.SingleQuotedStyle != 0 && quote == '\'':
		for i := at + 1; i < len(d.text); i++ {
			switch c := d.text[i]; {
			case yamlBreak(d.text[i:]) > 0:
				return 0, false
			case c == '\\' && quote == '"':
				i++
			case c == quote && quote == '\'' && i+1 < len(d.text) && d.text[i+1] == quote:
				i++
			case c == quote:
				return i + 1, true
			}
		}
	case n.Style == 0 && bytes.HasPrefix(d.text[at:], []byte(n.Value)):
		return at + len(n.Value), true
	}
	return 0, false
}

// colon returns the end of the colon behind a key of a block map. It refuses
// keys that are not written plainly.
func (d *yamlDoc) colon(key *yaml.Node) (int, error) {
	at, ok := d.scalarEnd(key)
	if ok {
		for at < len(d.text) && (d.text[at] == ' ' || d.text[at] == '\t') {
			at++
		}
		if at < len(d.text) && d.text[at] == ':' {
			return at + 1, nil
		}
	}
	return 0, d.refuse(key, Anchors, "a key on the way to the entry is written in a way that can't be edited here")
}

func (d *yamlDoc) refuse(n *yaml.Node, r Reason, format string, args ...any) error {
	return refuse(d.text, int64(d.pos(n)), r, format, args...)
}
