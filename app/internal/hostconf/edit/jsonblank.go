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
	escaped  bool // by a backslash before at
	last     byte // the last byte before at that is neither space nor comment
}

func (b *blanker) Read(p []byte) (int, error) {
	if b.at == len(b.doc) {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && b.at < len(b.doc) {
		n += b.run(p[n:])
	}
	return n, nil
}

// run reads some bytes that are all in a string, in a comment, or in neither.
func (b *blanker) run(p []byte) int {
	rest := b.doc[b.at:min(len(b.doc), b.at+len(p))]
	n := 0
	switch {
	case b.at < b.comment:
		rest = rest[:min(len(rest), b.comment-b.at)]
		for ; n < len(rest); n++ {
			p[n] = ' '
			if isEOL(rest[n]) {
				p[n] = rest[n]
			}
		}
	case b.quoted:
		for n < len(rest) && b.quoted {
			b.quoted = b.escaped || rest[n] != '"'
			b.escaped = !b.escaped && rest[n] == '\\'
			n++
		}
		copy(p, rest[:n])
	default:
		return b.plain(p, rest)
	}
	b.at += n
	return n
}

func (b *blanker) plain(p, rest []byte) int {
	for i, c := range rest {
		p[i] = c
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case '"':
			b.quoted = true
		case '/':
			if end := commentEnd(b.doc, b.at+i); end > 0 {
				b.comment = end
				b.at += i
				return i
			}
		case ',':
			if b.trailing && b.closes(b.at+i+1) {
				p[i] = ' '
			}
		}
		b.last = c
		if b.quoted {
			b.at += i + 1
			return i + 1
		}
	}
	b.at += len(rest)
	return len(rest)
}

// closes reports whether a comma before at stands after a value and before a
// closing bracket.
func (b *blanker) closes(at int) bool {
	switch b.last {
	case 0, '[', '{', ',', ':':
		return false
	}
	at = skipGap(b.doc, at, true)
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
