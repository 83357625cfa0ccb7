package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// A jsonEditor edits JSON and what programs have added to it.
type jsonEditor struct {
	comments bool
	trailing bool // commas before closing brackets
}

func (e jsonEditor) check(doc []byte) error {
	_, err := e.scan(&jsonScanner{doc: doc, stop: -1})
	return err
}

func (e jsonEditor) names(doc []byte, p Place) ([]string, error) {
	var names []string
	path := append(slices.Clone(p.Keys), "")
	_, err := e.scan(&jsonScanner{doc: doc, path: path, list: p.List, stop: len(path), collect: &names})
	return names, err
}

func (e jsonEditor) find(doc []byte, p Place) (*Found, error) {
	s, err := e.locate(doc, p)
	if err != nil || !s.found {
		return nil, err
	}
	m := s.last().hit
	return &Found{m.key, m.end, decodeJSON(s.out), string(doc[m.key:m.end])}, nil
}

// locate reads doc with its entry left out.
func (e jsonEditor) locate(doc []byte, p Place) (*jsonScan, error) {
	path := p.path()
	return e.scan(&jsonScanner{doc: doc, path: path, list: p.List, stop: len(path)})
}

func (p Place) path() []string { return append(slices.Clone(p.Keys), p.Name) }

func (e jsonEditor) scan(s *jsonScanner) (*jsonScan, error) {
	if e.comments {
		return s.run(&blanker{doc: s.doc, trailing: e.trailing})
	}
	return s.run(nil)
}

// prove reads what the patches make of doc and compares all but the value at
// the step stop with sum. check sees that value.
func (e jsonEditor) prove(doc []byte, ps Patches, p Place, stop int, sum uint64, check func(*jsonScan) bool) error {
	var src io.Reader = ps.Reader(doc)
	if e.comments {
		src = &blanker{doc: ps.Apply(doc), trailing: e.trailing}
	}
	s, err := (&jsonScanner{path: p.path(), list: p.List, stop: stop}).run(src)
	if err != nil || s.sum != sum || !check(s) {
		return &RefusedError{Reason: Unproven, Msg: "the edit would not come out as it should, so nothing was changed"}
	}
	return nil
}

// jsonMade is what an insertion put around a value, so that it can go again.
type jsonMade struct {
	Step  int    `json:"step"`            // where the value is: at len(path) it is the entry, else a map that was made for it
	Null  bool   `json:"null,omitempty"`  // it took the place of a null
	Comma bool   `json:"comma,omitempty"` // the member before it got one
	Pre   string `json:"pre,omitempty"`
	Post  string `json:"post,omitempty"`
}

func (e jsonEditor) set(doc []byte, p Place, value Object, drop []string) (Edit, error) {
	if p.List != "" {
		var err error
		if value, err = named(p, value); err != nil {
			return Edit{}, err
		}
	}
	s, err := e.locate(doc, p)
	if err != nil {
		return Edit{}, err
	}
	if s.found && s.last().hit.kind != 'n' {
		return e.update(doc, p, s, value, drop)
	}
	ps, made := e.put(doc, p, s, value)
	err = e.prove(doc, ps, p, made.Step, s.sum, func(now *jsonScan) bool {
		return now.found && holds(decodeJSON(now.out), p, made.Step, value)
	})
	if err != nil {
		return Edit{}, err
	}
	text, err := json.Marshal(made)
	return Edit{ps, text}, err
}

// put returns the patches that bring in an entry.
func (e jsonEditor) put(doc []byte, p Place, s *jsonScan, value Object) (Patches, jsonMade) {
	m := plainManner(doc)
	if s.empty {
		made := jsonMade{Post: m.eol}
		if open := bytes.TrimRight(doc, " \t"); len(open) > 0 && !isEOL(open[len(open)-1]) {
			made.Pre = m.eol // after a comment
		}
		text := m.append([]byte(made.Pre), nest(p, 0, value), m.outer)
		return Patches{{Offset: int64(len(doc)), New: append(text, made.Post...)}}, made
	}
	if s.root.kind == 'n' {
		return Patches{{s.root.val, []byte("null"), m.append(nil, nest(p, 0, value), m.outer)}}, jsonMade{Null: true}
	}
	step := len(s.levels)
	m = m.through(doc, s)
	l := s.last()
	if l.hit != nil { // a null
		m = m.at(doc, l.hit.key)
		m.multi = m.own
		return Patches{{l.hit.val, []byte("null"), m.append(nil, nest(p, step, value), m.outer)}}, jsonMade{Step: step, Null: true}
	}
	m.flat = m.flat && step == len(p.path()) // a map of entries is not flat
	item := Member{p.path()[step-1], nest(p, step, value)}
	ps, made := e.insert(doc, l, m, []Member{item})
	made.Step = step
	return ps, made
}

// nest returns the value at a step above the entry that has nothing but it.
func nest(p Place, step int, value any) any {
	path := p.path()
	for i := len(path); i > step; i-- {
		if i == len(path) && p.List != "" {
			value = []Object{value.(Object)}
		} else {
			value = Object{{path[i-1], value}}
		}
	}
	return value
}

// holds reports whether a decoded value is that of nest.
func holds(got any, p Place, step int, value Object) bool {
	for i, key := range p.path()[step:] {
		switch v := got.(type) {
		case map[string]any:
			if len(v) != 1 {
				return false
			}
			got = v[key]
		case []any:
			if len(v) != 1 || p.List == "" || step+i != len(p.Keys) {
				return false
			}
			got = v[0]
		}
	}
	return equalValues(got, decoded(value))
}

// insert returns the patches that put members behind the last one of l, and
// behind what is said about that one on its line.
func (e jsonEditor) insert(doc []byte, l *jsonLevel, m manner, items []Member) (Patches, jsonMade) {
	var made jsonMade
	from := int(l.open) + 1
	point := from
	closing := int(l.close)
	if l.count > 0 {
		from = int(l.last.end)
		comma := e.comma(doc, from, closing)
		made.Comma = comma < 0
		point = max(from, comma+1)
		if comma >= 0 {
			made.Post = ","
		}
	}
	point, broken := e.pastComments(doc, point, closing, l.count == 0)
	switch {
	case m.multi:
		made.Pre = m.eol + m.indent
	case broken:
		made.Pre = m.eol + m.outer + m.unit
	case l.count > 0:
		made.Pre = m.space
	}
	if l.count == 0 && m.multi && indexEOL(doc[point:closing]) < 0 {
		point = closing
		made.Post = m.eol + m.outer
	}
	text := []byte(made.Pre)
	for i, item := range items {
		if i > 0 {
			text = append(text, ',')
			if m.multi {
				text = append(text, m.eol+m.indent...)
			} else {
				text = append(text, m.space...)
			}
		}
		if l.kind == '{' {
			text = appendString(text, item.Key)
			text = append(text, m.colon...)
		}
		text = m.inner().append(text, item.Value, m.indent)
	}
	text = append(text, made.Post...)
	switch {
	case !made.Comma:
		return Patches{{Offset: int64(point), New: text}}, made
	case point == from:
		return Patches{{Offset: int64(point), New: append([]byte(","), text...)}}, made
	}
	return Patches{{Offset: int64(from), New: []byte(",")}, {Offset: int64(point), New: text}}, made
}

// comma returns the offset of the comma in doc[from:to], where nothing else is
// but space and comments, or -1.
func (e jsonEditor) comma(doc []byte, from, to int) int {
	if at := skipGap(doc[:to], from, e.comments); at < to {
		return at
	}
	return -1
}

// pastComments returns the end of the last comment in doc[from:to] that begins
// on the line of from, or anywhere if all is set; else from. broken says that
// what follows must begin on a new line.
func (e jsonEditor) pastComments(doc []byte, from, to int, all bool) (point int, broken bool) {
	point = from
	for at := from; e.comments && at < to; {
		switch {
		case doc[at] == '/':
			end := commentEnd(doc, at)
			if end == 0 {
				return point, broken
			}
			broken = doc[at+1] == '/'
			point = end
			at = end
		case isSpace(doc[at]) && (all || !isEOL(doc[at])):
			at++
		default:
			return point, broken
		}
	}
	return point, broken
}

// remove takes an entry out.
func (e jsonEditor) remove(doc []byte, p Place, text []byte) (Patches, error) {
	s, err := e.locate(doc, p)
	if err != nil || !s.found {
		return nil, err
	}
	step := len(s.levels)
	made := jsonMade{Step: step}
	known := len(text) > 0 && json.Unmarshal(text, &made) == nil && made.valid(step)
	for known && step > made.Step && isAlone(doc, s, step, made) {
		step--
	}
	sum := s.sum
	if step < len(s.levels) {
		again, err := e.scan(&jsonScanner{doc: doc, path: p.path(), list: p.List, stop: step})
		if err != nil {
			return nil, err
		}
		sum = again.sum
	}
	null := known && step == made.Step && made.Null
	check := func(now *jsonScan) bool {
		if null {
			return now.found && string(now.out) == "null"
		}
		return !now.found && now.empty == (step == 0)
	}
	if known && step == made.Step {
		if ps := e.unmake(doc, s, step, made); ps != nil {
			if err := e.prove(doc, ps, p, step, sum, check); err == nil {
				return ps, nil
			}
		}
	}
	if step == 0 {
		ps := Patches{{Offset: s.root.val, Old: doc[s.root.val:s.root.end]}}
		if err := e.prove(doc, ps, p, step, sum, check); err != nil {
			return nil, err
		}
		return ps, nil
	}
	ps := e.cut(doc, &s.levels[step-1])
	if err := e.prove(doc, ps, p, step, sum, check); err != nil {
		return nil, err
	}
	return ps, nil
}

// valid finds what an insertion does not make. Made comes from a file.
func (m jsonMade) valid(steps int) bool {
	space := m.Pre + strings.TrimPrefix(m.Post, ",")
	return m.Step >= 0 && m.Step <= steps && strings.Trim(space, " \t\r\n") == "" &&
		(m.Step > 0 || !m.Comma) && !(m.Null && (m.Comma || space != ""))
}

// isAlone reports whether the member at a step is all there is in a map that
// can go with it: no other member, and no comment.
func isAlone(doc []byte, s *jsonScan, step int, made jsonMade) bool {
	l := &s.levels[step-1]
	if l.count != 1 || skipGap(doc, int(l.open)+1, false) != int(l.hit.key) ||
		len(bytes.Trim(doc[l.hit.end:l.close], " \t\r\n,")) > 0 {
		return false
	}
	if step == 1 || made.Null && step-1 == made.Step { // no key goes
		return true
	}
	outer := s.levels[step-2].hit
	return len(bytes.Trim(doc[outer.keyEnd:outer.val], " \t\r\n:")) == 0
}

// unmake returns the patches that take back exactly what an insertion brought,
// or nil if something else has changed there.
func (e jsonEditor) unmake(doc []byte, s *jsonScan, step int, made jsonMade) Patches {
	m := s.root
	var l jsonLevel
	if step > 0 {
		l = s.levels[step-1]
		m = *l.hit
	}
	if made.Null {
		return Patches{{m.val, doc[m.val:m.end], []byte("null")}}
	}
	start, end := m.key-int64(len(made.Pre)), m.end+int64(len(made.Post))
	if start < 0 || end > int64(len(doc)) || string(doc[start:m.key]) != made.Pre || string(doc[m.end:end]) != made.Post {
		return nil
	}
	cut := Patch{Offset: start, Old: doc[start:end]}
	switch {
	case made.Comma && l.before != nil:
		at := l.before.end
		if l.after != nil || doc[at] != ',' || e.comma(doc, int(m.end), int(l.close)) >= 0 {
			return nil
		}
		if at+1 == start {
			return Patches{{Offset: at, Old: doc[at:end]}}
		}
		return Patches{{Offset: at, Old: doc[at : at+1]}, cut}
	case strings.HasPrefix(made.Post, ","):
	case l.before != nil || l.after != nil:
		return nil
	}
	return Patches{cut}
}

// cut returns the patches that delete a member and one comma, and the lines
// that they leave blank. Comments outside the member stay.
func (e jsonEditor) cut(doc []byte, l *jsonLevel) Patches {
	start, end := int(l.hit.key), int(l.hit.end)
	next := int(l.close)
	if l.after != nil {
		next = int(l.after.key)
	}
	var ps Patches
	comma := e.comma(doc, end, next)
	switch {
	case comma < 0 && l.before != nil:
		at := e.comma(doc, int(l.before.end), start)
		ps = append(ps, Patch{Offset: int64(at), Old: doc[at : at+1]})
	case comma >= 0 && skipGap(doc[:comma], end, false) == comma:
		end = comma + 1
		comma = -1
	}
	from, to := start, end
	for from > 0 && (doc[from-1] == ' ' || doc[from-1] == '\t') {
		from--
	}
	for to < len(doc) && (doc[to] == ' ' || doc[to] == '\t') {
		to++
	}
	begins, ends := isEOL(doc[from-1]), isEOL(doc[to])
	switch {
	case begins && ends: // whole lines
		if doc[to] == '\r' && doc[to+1] == '\n' {
			to++
		}
		to++
	case begins, l.after != nil && !ends: // what follows takes its place
		from = start
	default:
		to = end
	}
	if n := len(ps); n > 0 && int(ps[n-1].Offset)+1 >= from {
		from = min(from, int(ps[n-1].Offset))
		ps = ps[:n-1]
	}
	ps = append(ps, Patch{Offset: int64(from), Old: doc[from:to]})
	if comma >= 0 { // behind a comment
		ps = append(ps, Patch{Offset: int64(comma), Old: doc[comma : comma+1]})
	}
	return ps
}

// decodeJSON returns a value that was read already.
func decodeJSON(raw []byte) any {
	return decodeNext(decoder(raw))
}

func decoder(raw []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(raw), lenient...)
}

func decodeNext(d *jsontext.Decoder) any {
	switch d.PeekKind() {
	case '{':
		out := map[string]any{}
		d.ReadToken()
		for d.PeekKind() == '"' {
			key, _ := decodeNext(d).(string)
			out[key] = decodeNext(d)
		}
		d.ReadToken()
		return out
	case '[':
		out := []any{}
		d.ReadToken()
		for d.PeekKind() != ']' && d.PeekKind() != 0 {
			out = append(out, decodeNext(d))
		}
		d.ReadToken()
		return out
	}
	raw, err := d.ReadValue()
	if err != nil {
		return nil
	}
	switch raw.Kind() {
	case '"':
		text, _ := unquote(raw)
		return text
	case '0':
		return decodeNumber(string(raw))
	case 'n':
		return nil
	}
	return raw.Kind() == 't'
}

// decodeNumber returns an int64 if that is what the number is.
func decodeNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return text
	}
	return f
}
