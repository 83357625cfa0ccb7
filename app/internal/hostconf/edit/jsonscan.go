package edit

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A jsonSpan is a member of an object, or an item of an array, which has no key:
// key, keyEnd and val are all its beginning.
type jsonSpan struct {
	key, keyEnd, val, end int64
	kind                  jsontext.Kind
}

// A jsonLevel is an object on the way to an entry, or the array at its end.
type jsonLevel struct {
	kind          jsontext.Kind
	open, close   int64 // of its brackets
	count         int
	first, last   jsonSpan
	hit           *jsonSpan // the member that the path goes through
	before, after *jsonSpan // its neighbours
}

// A jsonScan is what one pass over a document found.
type jsonScan struct {
	empty  bool // nothing but space and comments
	root   jsonSpan
	levels []jsonLevel // as far as the path leads; at most one for each step
	sum    uint64      // of every token that is not in the member that was left out
	out    []byte      // its value, without comments
	found  bool        // a value at that step
}

// last returns the innermost level.
func (s *jsonScan) last() *jsonLevel { return &s.levels[len(s.levels)-1] }

// A jsonScanner reads a document once, from beginning to end, and keeps no
// values but the one that is left out.
//
// The value below the keys path[:n] is said to be at step n: the document is at
// step 0, and the entry at len(path).
type jsonScanner struct {
	*jsontext.Decoder
	doc     []byte // what is shown in errors; nil if it is not at hand
	path    []string
	list    string    // if set, the last key is what an item of a list has in this field
	stop    int       // the step whose value is left out
	collect *[]string // if set, takes all keys at the end of the path, none of which is on it
	hash    maphash.Hash
	buf     []byte
	scan    jsonScan
}

var seed = maphash.MakeSeed()

// lenient leaves to the programs what does not touch us.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// run reads what src gives, which is strict JSON, or the bytes of s.doc if src
// is nil. The member at s.stop, or a null on the way there, is left out of the
// sum.
func (s *jsonScanner) run(src io.Reader) (*jsonScan, error) {
	if src == nil {
		src = bytes.NewBuffer(s.doc) // read in place
	}
	s.Decoder = jsontext.NewDecoder(src, lenient...)
	s.hash.SetSeed(seed)
	if s.PeekKind() == 0 {
		if _, err := s.ReadToken(); errors.Is(err, io.EOF) {
			s.scan.empty = true
			s.scan.sum = s.hash.Sum64()
			return &s.scan, nil
		}
	}
	root, err := s.value(0, len(s.path) > 0)
	if err != nil {
		return nil, s.explain(err)
	}
	s.scan.root = root
	switch _, err := s.ReadToken(); {
	case err == nil:
		return nil, syntaxError(s.doc, int64(skipGap(s.doc, int(root.end), true)), "the document ends before this")
	case !errors.Is(err, io.EOF):
		return nil, s.explain(err)
	}
	s.flush()
	s.scan.sum = s.hash.Sum64()
	return &s.scan, nil
}

// value reads one value. step is how far along the path it is; on says whether
// it is on the path at all.
func (s *jsonScanner) value(step int, on bool) (jsonSpan, error) {
	kind := s.PeekKind()
	switch {
	case !on:
		return s.skip()
	case step == s.stop, kind == 'n': // left out
		raw, err := s.ReadValue()
		if err != nil {
			return jsonSpan{}, err
		}
		s.scan.out = bytes.Clone(raw)
		s.scan.found = step == s.stop
		end := s.InputOffset()
		start := end - int64(len(raw))
		return jsonSpan{start, start, start, end, kind}, nil
	case s.list != "" && step == len(s.path)-1:
		if kind != '[' {
			return jsonSpan{}, s.wrongKind(kind, "list")
		}
		return s.array(step)
	default:
		if kind != '{' {
			return jsonSpan{}, s.wrongKind(kind, "map")
		}
		return s.object(step)
	}
}

func (s *jsonScanner) wrongKind(kind jsontext.Kind, want string) error {
	if kind == 0 { // a syntax error
		_, err := s.ReadToken()
		return err
	}
	raw, err := s.ReadValue()
	if err != nil {
		return err
	}
	return refuse(s.doc, s.InputOffset()-int64(len(raw)), NotAnObject, "something else is where the %s of entries should be", want)
}

// object reads an object on the path.
func (s *jsonScanner) object(step int) (jsonSpan, error) {
	if _, err := s.ReadToken(); err != nil {
		return jsonSpan{}, err
	}
	s.addByte('{')
	l, n := s.enter('{')
	for s.PeekKind() != '}' {
		raw, err := s.ReadValue()
		if err != nil {
			return jsonSpan{}, err
		}
		m := jsonSpan{keyEnd: s.InputOffset()}
		m.key = m.keyEnd - int64(len(raw))
		on := s.isOn(raw, step)
		if on && l.hit != nil {
			return jsonSpan{}, refuse(s.doc, m.key, DuplicateKey, "the key %q is there twice, and programs differ in which they read: delete one", s.path[step])
		}
		if !on {
			s.add(raw)
		} else if text := bytes.Clone(raw); step+1 != s.stop && s.PeekKind() != 'n' { // else left out with its value
			s.add(text)
		}
		v, err := s.value(step+1, on)
		if err != nil {
			return jsonSpan{}, err
		}
		m.val, m.end, m.kind = v.val, v.end, v.kind
		l.add(m, on)
	}
	return s.leave(l, n)
}

// isOn reports whether the path goes on at a key.
func (s *jsonScanner) isOn(raw []byte, step int) bool {
	if s.collect != nil && step+1 == len(s.path) {
		name, _ := unquote(raw)
		*s.collect = append(*s.collect, name)
		return false
	}
	return isKey(raw, s.path[step])
}

// array reads the list of entries.
func (s *jsonScanner) array(step int) (jsonSpan, error) {
	if _, err := s.ReadToken(); err != nil {
		return jsonSpan{}, err
	}
	s.addByte('[')
	l, n := s.enter('[')
	for s.PeekKind() != ']' {
		if s.PeekKind() != '{' {
			m, err := s.skip()
			if err != nil {
				return jsonSpan{}, err
			}
			l.add(m, false)
			continue
		}
		raw, err := s.ReadValue()
		if err != nil {
			return jsonSpan{}, err
		}
		m := jsonSpan{end: s.InputOffset(), kind: '{'}
		m.key = m.end - int64(len(raw))
		m.keyEnd, m.val = m.key, m.key
		name, ok := nameOf(raw, s.list)
		if ok && s.collect != nil {
			*s.collect = append(*s.collect, name)
		}
		on := ok && s.collect == nil && name == s.path[step]
		if on && l.hit != nil {
			return jsonSpan{}, refuse(s.doc, m.key, DuplicateKey, "two entries are named %q: delete one", name)
		}
		if on {
			s.scan.out = bytes.Clone(raw)
			s.scan.found = true
		} else {
			s.add(compact(raw))
		}
		l.add(m, on)
	}
	return s.leave(l, n)
}

// enter makes the level of a bracket that was just read.
func (s *jsonScanner) enter(kind jsontext.Kind) (l jsonLevel, n int) {
	n = len(s.scan.levels)
	s.scan.levels = append(s.scan.levels, jsonLevel{})
	return jsonLevel{kind: kind, open: s.InputOffset() - 1}, n
}

// leave reads the closing bracket.
func (s *jsonScanner) leave(l jsonLevel, n int) (jsonSpan, error) {
	if _, err := s.ReadToken(); err != nil {
		return jsonSpan{}, err
	}
	s.addByte(byte(l.kind) + 2) // in ASCII both kinds close two after they open
	l.close = s.InputOffset() - 1
	s.scan.levels[n] = l
	return jsonSpan{l.open, l.open, l.open, l.close + 1, l.kind}, nil
}

// add takes note of a member.
func (l *jsonLevel) add(m jsonSpan, hit bool) {
	if l.count == 0 {
		l.first = m
	}
	l.count++
	switch {
	case hit:
		l.hit = &m
		if l.count > 1 {
			prev := l.last
			l.before = &prev
		}
	case l.hit != nil && l.after == nil:
		l.after = &m
	}
	l.last = m
}

// skip reads a value that is not on the path.
func (s *jsonScanner) skip() (jsonSpan, error) {
	kind := s.PeekKind()
	if kind != '{' && kind != '[' {
		raw, err := s.ReadValue()
		if err != nil {
			return jsonSpan{}, err
		}
		s.add(raw)
		end := s.InputOffset()
		start := end - int64(len(raw))
		return jsonSpan{start, start, start, end, kind}, nil
	}
	start := int64(-1)
	for depth := 0; ; {
		k := s.PeekKind()
		switch k {
		case '{', '[', '}', ']':
			if _, err := s.ReadToken(); err != nil {
				return jsonSpan{}, err
			}
			s.addByte(byte(k))
			if start < 0 {
				start = s.InputOffset() - 1
			}
			if k == '{' || k == '[' {
				depth++
			} else {
				depth--
			}
		default:
			raw, err := s.ReadValue()
			if err != nil {
				return jsonSpan{}, err
			}
			s.add(raw)
		}
		if depth == 0 {
			return jsonSpan{start, start, start, s.InputOffset(), kind}, nil
		}
	}
}

// add has a token, in the spelling of the document, count for the sum.
func (s *jsonScanner) add(raw []byte) {
	s.buf = append(append(s.buf, raw...), 0)
	if len(s.buf) >= 4<<10 {
		s.flush()
	}
}

func (s *jsonScanner) addByte(c byte) { s.buf = append(s.buf, c, 0) }

func (s *jsonScanner) flush() {
	s.hash.Write(s.buf)
	s.buf = s.buf[:0]
}

// explain turns a parser's error into ours.
func (s *jsonScanner) explain(err error) error {
	var se *jsontext.SyntacticError
	if !errors.As(err, &se) {
		return err
	}
	at := min(se.ByteOffset, int64(len(s.doc)))
	rest := s.doc[at:]
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return syntaxError(s.doc, int64(len(s.doc)), "the document ends too early")
	case bytes.HasPrefix(rest, []byte("//")):
		return syntaxError(s.doc, at, "this file must not have comments")
	case bytes.HasPrefix(rest, []byte("/*")):
		if commentEnd(s.doc, int(at)) == 0 {
			return syntaxError(s.doc, at, "this comment has no end")
		}
		return syntaxError(s.doc, at, "this file must not have comments")
	case bytes.HasPrefix(rest, []byte(",")):
		next := skipGap(s.doc, int(at)+1, true)
		if next < len(s.doc) && (s.doc[next] == '}' || s.doc[next] == ']') {
			return syntaxError(s.doc, at, "there must be no comma before a closing bracket")
		}
	}
	return syntaxError(s.doc, at, "%s", se.Err)
}

// isKey reports whether raw, a JSON string, says key.
func isKey(raw []byte, key string) bool {
	text := raw[1 : len(raw)-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text) == key
	}
	got, ok := unquote(raw)
	return ok && got == key
}

// unquote returns what a JSON string says, and whether it is all UTF-8.
func unquote(raw []byte) (string, bool) {
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil && utf8.Valid(raw)
}

// nameOf returns the text of a field of an object.
func nameOf(raw []byte, field string) (string, bool) {
	s, err := (&jsonScanner{doc: raw, path: []string{field}, stop: 1}).run(nil)
	if err != nil || !s.found || s.out[0] != '"' {
		return "", false
	}
	return unquote(s.out)
}

// compact returns a value's tokens only.
func compact(raw jsontext.Value) []byte {
	v := raw.Clone()
	if v.Compact(append(lenient[:2:2], jsontext.PreserveRawStrings(true))...) != nil {
		return raw
	}
	return v
}
