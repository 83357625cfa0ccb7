package edit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// update sets and drops fields of an entry that is there.
func (d *tomlDoc) update(p Place, e *tomlEntry, value Object, drop []string) (Patches, error) {
	now := d.fields(p, e)
	var fresh Object
	var ps Patches
	var gone []piece
	for _, m := range value {
		if old, there := now[m.Key]; there && equalValues(old, decoded(m.Value)) {
			continue
		}
		f := d.field(p, e, m.Key)
		if v := f.only(); v != nil { // the comment beside it stays
			ps = append(ps, d.replace(piece{v.start, v.end}, tomlValueText(m.Value)))
			continue
		}
		gone = append(gone, f.spans...)
		fresh = append(fresh, m)
	}
	for _, key := range drop {
		gone = append(gone, d.field(p, e, key).spans...)
	}
	if e.inline != nil {
		return d.updateInline(e.inline, ps, fresh, gone)
	}
	for _, s := range gone {
		ps = append(ps, d.replace(piece{s.start, d.after(s.end)}, ""))
	}
	if len(fresh) > 0 {
		ps = append(ps, d.addLines(p, e, fresh))
	}
	return tidy(ps), nil
}

// A tomlField is the places of one field of the entry.
type tomlField struct {
	spans []piece // lines without their last break, or members
	line  *tomlLine
	depth int // of keys to the field
}

// only returns the value, if it is one value at one place.
func (f tomlField) only() *tomlValue {
	if len(f.spans) == 1 && f.line != nil && len(f.line.path) == f.depth {
		return &f.line.value
	}
	return nil
}

func (d *tomlDoc) field(p Place, e *tomlEntry, key string) tomlField {
	path := slices.Concat(p.Keys, []string{p.Name, key})
	if p.List != "" {
		path = slices.Concat(p.Keys, []string{key})
	}
	f := tomlField{depth: len(path)}
	see := func(l *tomlLine, at piece) {
		if isUnder(l.path, path) {
			f.line = l
			f.spans = append(f.spans, at)
		}
	}
	if e.inline != nil {
		for _, m := range e.inline.value.members {
			see(m, piece{m.start(), m.end()})
		}
		return f
	}
	for _, l := range e.lines {
		see(l, piece{l.from, l.last})
	}
	for _, s := range e.sections {
		if s != e.main && isUnder(s.path, path) {
			f.spans = append(f.spans, piece{s.from, s.last})
			continue
		}
		for _, l := range s.lines {
			see(l, piece{l.from, l.last})
		}
	}
	return f
}

// addLines adds fields: below the lines of the entry's table, or as dotted keys
// where the entry is written so. An entry that is nothing but tables below it
// gets its own table in front of them.
func (d *tomlDoc) addLines(p Place, e *tomlEntry, fresh Object) Patch {
	var at, from int
	var lead string
	switch {
	case e.main != nil:
		at, from = e.main.last, e.main.from
		if n := len(e.main.lines); n > 0 {
			from = e.main.lines[n-1].from
		}
	case len(e.lines) > 0:
		l := e.lines[len(e.lines)-1]
		at, from = l.last, l.from
		above := len(l.path) - len(l.keys)
		lead = string(d.text[l.start():l.keys[len(p.Keys)-above].end]) + "."
	default:
		at = e.sections[0].from
		eol := d.eol(at)
		text := tomlSectionText(tomlHeader(p), fresh, eol) + eol + eol
		return Patch{Offset: int64(at), New: []byte(text)}
	}
	eol := d.eol(at)
	var text strings.Builder
	for _, m := range fresh {
		text.WriteString(d.indent(from) + lead + tomlMemberText(m) + eol)
	}
	if end := d.after(at); end > at {
		return Patch{Offset: int64(end), New: []byte(text.String())}
	}
	return Patch{Offset: int64(at), New: []byte(eol + strings.TrimSuffix(text.String(), eol))}
}

// updateInline does the same in an inline table.
func (d *tomlDoc) updateInline(in *tomlInline, ps Patches, fresh Object, gone []piece) (Patches, error) {
	var keep []*tomlLine
	for _, m := range in.value.members {
		if !slices.Contains(gone, piece{m.start(), m.end()}) {
			keep = append(keep, m)
		}
	}
	if len(gone) > 0 && len(keep) == 0 {
		// Nothing stays to hold on to: write the table anew.
		return Patches{d.replace(piece{in.value.start, in.value.end}, tomlValueText(fresh))}, nil
	}
	members := in.value.members
	for i := 0; i < len(members); i++ {
		first := i
		for i < len(members) && !slices.Contains(keep, members[i]) {
			i++
		}
		switch {
		case first == i:
		case first > 0:
			ps = append(ps, d.replace(piece{members[first-1].end(), members[i-1].end()}, ""))
		default:
			ps = append(ps, d.replace(piece{members[0].start(), members[i].start()}, ""))
		}
	}
	if len(fresh) > 0 {
		parts := make([]string, len(fresh))
		for i, m := range fresh {
			parts[i] = tomlMemberText(m)
		}
		e, err := d.insertLast(&in.value, made{}, strings.Join(parts, ", "))
		if err != nil {
			return nil, err
		}
		ps = append(ps, e.Patches...)
	}
	return tidy(ps), nil
}

func (d *tomlDoc) replace(s piece, text string) Patch {
	return Patch{Offset: int64(s.start), Old: slices.Clone(d.text[s.start:s.end]), New: []byte(text)}
}

// tidy sorts patches; at one place, what is put in comes before what is cut.
func tidy(ps Patches) Patches {
	slices.SortStableFunc(ps, func(a, b Patch) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(len(a.Old), len(b.Old)))
	})
	return ps
}

func (tomlEditor) remove(doc []byte, p Place, text []byte) (Patches, error) {
	d, err := parseTOML(doc)
	if err != nil {
		return nil, err
	}
	e, _, err := d.find(p)
	if err != nil || e.none() {
		return nil, err
	}
	var m made
	if len(text) > 0 && json.Unmarshal(text, &m) == nil {
		ps := d.unmake(e, m)
		if ps != nil && d.prove(ps, p, nil, nil, true) == nil {
			return ps, nil
		}
	}
	var ps Patches
	if e.inline != nil && e.inline.holder != nil {
		ps = Patches{d.replace(d.member(e.inline), "")}
	} else {
		for _, s := range e.spans() {
			ps = append(ps, d.replace(d.withSpace(s), ""))
		}
	}
	return ps, d.prove(ps, p, nil, nil, true)
}

// unmake takes out what an insertion put in, if it is still all there.
func (d *tomlDoc) unmake(e *tomlEntry, m made) Patches {
	var ps Patches
	for i, s := range e.spans() {
		if i > 0 {
			ps = append(ps, d.replace(d.withSpace(s), ""))
			continue
		}
		if !bytes.HasSuffix(d.text[:s.start], []byte(m.Before)) || !bytes.HasPrefix(d.text[s.end:], []byte(m.After)) {
			return nil
		}
		ps = append(ps, d.replace(piece{s.start - len(m.Before), s.end + len(m.After)}, ""))
	}
	return ps
}

// withSpace adds to whole lines their last break and, if there is one on each
// side, the empty line before them.
func (d *tomlDoc) withSpace(s piece) piece {
	s.end = d.after(s.end)
	if s.start == 0 {
		return s
	}
	blank := func(line []byte) bool { return len(bytes.Trim(line, " \t\r\n")) == 0 }
	before := d.lineStart(s.start - 1)
	if blank(d.text[before:s.start]) && blank(d.text[s.end:d.lineEnd(s.end)]) {
		s.start = before
	}
	return s
}

// member adds to a member or an item its comma.
func (d *tomlDoc) member(in *tomlInline) piece {
	s := piece{in.start, in.end}
	h := in.holder
	ends := func(i int) piece {
		if h.kind == unstable.Array {
			return piece{h.items[i].start, h.items[i].end}
		}
		return piece{h.members[i].start(), h.members[i].end()}
	}
	n := max(len(h.items), len(h.members))
	switch {
	case in.at > 0:
		s.start = ends(in.at - 1).end
	case n > 1:
		s.end = ends(1).start
	}
	return s
}

// decoded turns a value of an Object into what a decoder would return.
func decoded(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	case Object:
		out := make(map[string]any, len(v))
		for _, m := range v {
			out[m.Key] = decoded(m.Value)
		}
		return out
	}
	return v
}

// equalValues compares decoded values. Numbers are equal by value: 30 and 30.0
// are one to whoever spelled it so. NaN equals itself here.
func equalValues(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key, v := range x {
			if w, there := y[key]; !there || !equalValues(v, w) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equalValues)
	case int64:
		y, ok := b.(float64)
		if ok {
			return float64(x) == y
		}
	case float64:
		switch y := b.(type) {
		case int64:
			return x == float64(y)
		case float64:
			return x == y || math.IsNaN(x) && math.IsNaN(y)
		}
	}
	return reflect.DeepEqual(a, b)
}
