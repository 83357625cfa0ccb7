package edit

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A SyntaxError is a document that its grammar does not take.
type SyntaxError struct {
	Line, Column int    // from 1; the column counts characters
	Text         string // the line, or the part around the column if it is long; it may hold secrets of the user
	Msg          string // holds none of the file's values
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// A Reason says why a document is left alone.
type Reason string

// The reasons.
const (
	BOM          Reason = "bom"            // a byte order mark, and the program does not take it
	UTF16        Reason = "utf16"          // not UTF-8
	UTF8         Reason = "utf8"           // invalid bytes where it matters
	DuplicateKey Reason = "duplicate-key"  // on the way to the entry: which one counts is anyone's guess
	NotAnObject  Reason = "not-an-object"  // something else is where entries would be
	Anchors      Reason = "anchors"        // anchors, tags or flow style of YAML on the way to the entry
	NotADocument Reason = "not-a-document" // no single document
	TooBig       Reason = "too-big"
	Unproven     Reason = "unproven" // the result did not read as it should
)

// A RefusedError is a document that could be read but must not be edited by us.
type RefusedError struct {
	Reason       Reason
	Line, Column int    // from 1, or 0 if it is about no place
	Text         string // as in SyntaxError
	Msg          string // holds none of the file's values
}

func (e *RefusedError) Error() string {
	if e.Line == 0 {
		return e.Msg
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// syntaxError returns a SyntaxError for the byte at offset.
func syntaxError(doc []byte, offset int64, format string, args ...any) error {
	line, column, text := position(doc, offset)
	return &SyntaxError{line, column, text, fmt.Sprintf(format, args...)}
}

// refuse returns a RefusedError for the byte at offset.
func refuse(doc []byte, offset int64, r Reason, format string, args ...any) error {
	line, column, text := position(doc, offset)
	return &RefusedError{r, line, column, text, fmt.Sprintf(format, args...)}
}

// around is how much of a long line is shown on each side.
const around = 80

// position returns where the byte at offset is, and its line. LF, CRLF and a
// CR alone all end a line.
func position(doc []byte, offset int64) (line, column int, text string) {
	at := int(min(max(offset, 0), int64(len(doc))))
	line = 1
	start := 0
	for i := 0; i < at; i++ {
		if doc[i] == '\n' || doc[i] == '\r' && (i+1 == len(doc) || doc[i+1] != '\n') {
			line++
			start = i + 1
		}
	}
	column = utf8.RuneCount(doc[start:at]) + 1
	end := len(doc)
	if n := bytes.IndexAny(doc[at:], "\r\n"); n >= 0 {
		end = at + n
	}
	if at-start > around {
		start = runeStart(doc, at-around)
	}
	if end-at > around {
		end = runeStart(doc, at+around)
	}
	shown := bytes.TrimRight(doc[start:max(start, end)], "\r")
	return line, column, string(bytes.ToValidUTF8(shown, []byte("\ufffd")))
}

// runeStart returns i, or a little less if that is inside a character.
func runeStart(doc []byte, i int) int {
	for n := 0; n < utf8.UTFMax-1 && i > 0 && i < len(doc) && !utf8.RuneStart(doc[i]); n++ {
		i--
	}
	return i
}
