package edit

import (
	"bytes"
	"io"
)

// A blanker reads a document with its comments, and the commas before closing
// brackets if those are allowed, turned into spaces: strict JSON in which
// everything is where it was. What must not be there is left, for the parser
// to find.
type blanker struct {
	doc      []byte
	trailing bool // commas before closing brackets are allowed
	at       int
	comment  int  // the end of the comment that at is in
	quoted   bool // at is in a string
	last     byte // the last byte that is neither space nor comment
}

func (b *blanker) Read(p []byte) (int, error) {
	if b.at == len(b.doc) {
		return 0, io.EOF
	}
	n := min(len(p), len(b.doc)-b.at)
	for i := range n {
		p[i] = b.next()
	}
	return n, nil
}

func (b *blanker) next() byte {
	c := b.doc[b.at]
	b.at++
	switch {
	case b.at <= b.comment:
		if isEOL(c) {
			return c
		}
		return ' '
	case b.quoted:
		switch {
		case b.last == '\\': // c is escaped
			b.last = 0
		case c == '"':
			b.quoted = false
			b.last = c
		default:
			b.last = c
		}
		return c
	case isSpace(c):
		return c
	case c == '/':
		if end := commentEnd(b.doc, b.at-1); end > 0 {
			b.comment = end
			return ' '
		}
	case c == ',' && b.trailing && b.closes():
		b.last = c
		return ' '
	}
	b.quoted = c == '"'
	b.last = c
	return c
}

// closes reports whether a comma before at stands after a value and before a
// closing bracket.
func (b *blanker) closes() bool {
	if bytes.IndexByte([]byte("[{,:\x00"), b.last) >= 0 {
		return false
	}
	at := skipGap(b.doc, b.at, true)
	return at < len(b.doc) && (b.doc[at] == '}' || b.doc[at] == ']')
}

// commentEnd returns the end of the comment at offset at, without its line end,
// or 0 if there is none or it has no end.
func commentEnd(doc []byte, at int) int {
	rest := doc[at:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if n := indexEOL(rest); n >= 0 {
			return at + n
		}
		return len(doc)
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return at + 2 + n + 2
		}
	}
	return 0
}

// skipGap returns the first offset from at that is neither space nor, if they
// are allowed, in a comment.
func skipGap(doc []byte, at int, comments bool) int {
	for at < len(doc) {
		if isSpace(doc[at]) {
			at++
			continue
		}
		if !comments || doc[at] != '/' {
			break
		}
		end := commentEnd(doc, at)
		if end == 0 {
			break
		}
		at = end
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || isEOL(c) }

func isEOL(c byte) bool { return c == '\n' || c == '\r' }

// indexEOL returns the offset of the first line end, or -1. It is quick: a
// document may be one line.
func indexEOL(b []byte) int {
	n := bytes.IndexByte(b, '\n')
	if n < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if r := bytes.IndexByte(b[:n], '\r'); r >= 0 {
		return r
	}
	return n
}
