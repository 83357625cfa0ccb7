package bridge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// lineWriter writes JSON values, each as one line and in one piece.
type lineWriter struct {
	mu     sync.Mutex
	w      io.Writer
	buf    bytes.Buffer
	broken func(error) // called once, when the other end is gone
	err    error
}

func newLineWriter(w io.Writer, broken func(error)) *lineWriter {
	return &lineWriter{w: w, broken: broken}
}

// keepBuffer is how much of a large answer's buffer is kept for the next one.
const keepBuffer = 64 << 10

func (l *lineWriter) write(v any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	l.buf.Reset()
	enc := json.NewEncoder(&l.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		l.broken(fmt.Errorf("write message: %w", err)) // results are checked before: never
		return
	}
	if _, l.err = l.w.Write(l.buf.Bytes()); l.err != nil {
		l.broken(l.err)
	}
	if l.buf.Cap() > keepBuffer {
		l.buf = bytes.Buffer{}
	}
}

// lineReader reads lines up to a limit.
type lineReader struct {
	r     *bufio.Reader
	limit int
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 32<<10), limit: limit}
}

// A longLine is a message beyond the limit. It has been read over; its ID was
// kept, so that the host learns which of its requests it was.
type longLine struct {
	limit int
	id    json.RawMessage
}

func (e *longLine) Error() string {
	return fmt.Sprintf("the message is longer than %d bytes", e.limit)
}

// next returns a line without what ends it. The last line needs no newline: it
// comes together with io.EOF.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > l.limit {
			return nil, l.skip(line, part, err)
		}
		line = append(line, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		return bytes.TrimSpace(line), err
	}
}

// skip reads over the rest of a line and looks for the ID in all of it.
func (l *lineReader) skip(start, part []byte, err error) error {
	var f idFinder
	f.feed(start)
	f.feed(part)
	for err == bufio.ErrBufferFull {
		part, err = l.r.ReadSlice('\n')
		f.feed(part)
	}
	if err != nil && err != io.EOF {
		return err
	}
	return &longLine{limit: l.limit, id: f.id()}
}

// An idFinder finds the member "id" of an object that comes in pieces, without
// keeping the object.
type idFinder struct {
	depth   int
	quoted  bool
	escaped bool
	token   []byte // the string or scalar being read at depth 1
	key     string
	value   bool // after the colon
	found   []byte
}

const longestID = 256

func (f *idFinder) feed(p []byte) {
	for _, c := range p {
		f.next(c)
	}
}

func (f *idFinder) next(c byte) {
	if f.depth == 1 && len(f.token) <= longestID {
		f.token = append(f.token, c)
	}
	switch {
	case f.escaped:
		f.escaped = false
	case f.quoted:
		f.escaped = c == '\\'
		f.quoted = c != '"'
	case c == '"':
		f.quoted = true
	case c == '{' || c == '[':
		f.depth++
		if f.depth == 1 {
			f.token = f.token[:0]
		}
	case c == '}' || c == ']':
		if f.depth == 1 {
			f.member()
		}
		f.depth--
	case f.depth == 1 && c == ':' && !f.value:
		f.key = string(bytes.TrimSpace(f.token[:len(f.token)-1]))
		f.value, f.token = true, f.token[:0]
	case f.depth == 1 && c == ',':
		f.member()
	}
}

// member ends a member of the object.
func (f *idFinder) member() {
	if f.key == `"id"` && f.value && len(f.token) <= longestID {
		f.found = bytes.Clone(bytes.TrimSpace(f.token[:len(f.token)-1]))
	}
	f.key, f.value, f.token = "", false, f.token[:0]
}

// id returns what was found, if it may be an ID.
func (f *idFinder) id() json.RawMessage {
	if len(f.found) == 0 || !json.Valid(f.found) || !isID(f.found) {
		return nil
	}
	return f.found
}
