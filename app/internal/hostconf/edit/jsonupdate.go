package edit

import (
	"bytes"
	"slices"
)

// A jsonField is a member of an entry.
type jsonField struct {
	name string
	raw  []byte // its value's tokens
}

// update changes an entry that is there.
func (e jsonEditor) update(doc []byte, p Place, s *jsonScan, value Object, drop []string) (Edit, error) {
	hit := s.last().hit
	if hit.kind != '{' {
		return Edit{}, refuse(doc, hit.val, NotAnObject, "something else is where the entry should be")
	}
	fields := fieldsOf(s.out)
	ours := func(name string) bool {
		return slices.Contains(drop, name) || slices.ContainsFunc(value, func(m Member) bool { return m.Key == name })
	}
	for i, f := range fields {
		same := func(g jsonField) bool { return g.name == f.name }
		if ours(f.name) && slices.ContainsFunc(fields[i+1:], same) {
			return Edit{}, refuse(doc, hit.val, DuplicateKey, "the entry has the field %q twice: delete one", f.name)
		}
	}
	text, err := e.change(doc, s, fields, value, drop)
	if err != nil {
		return Edit{}, err
	}
	old := doc[hit.val:hit.end]
	ps := difference(hit.val, old, text)
	if len(ps) == 0 {
		return Edit{}, nil
	}
	theirs := func(f jsonField) bool { return ours(f.name) }
	kept := slices.DeleteFunc(slices.Clone(fields), theirs)
	err = e.prove(doc, ps, p, len(s.levels), s.sum, func(now *jsonScan) bool {
		if !now.found {
			return false
		}
		left := fieldsOf(now.out)
		other := slices.DeleteFunc(slices.Clone(left), theirs)
		if len(left) != len(other)+len(value) || !slices.EqualFunc(kept, other, func(a, b jsonField) bool {
			return a.name == b.name && bytes.Equal(a.raw, b.raw)
		}) {
			return false
		}
		got, _ := decodeJSON(now.out).(map[string]any)
		for _, m := range value {
			if v, ok := got[m.Key]; !ok || !equalValues(v, decoded(m.Value)) {
				return false
			}
		}
		return true
	})
	if err != nil {
		return Edit{}, err
	}
	return Edit{Patches: ps}, nil
}

// change returns the new text of the entry's value. Each step reads the text
// again: an entry is small.
func (e jsonEditor) change(doc []byte, s *jsonScan, fields []jsonField, value Object, drop []string) ([]byte, error) {
	hit := s.last().hit
	around := plainManner(doc).through(doc, s).at(doc, hit.key)
	text := bytes.Clone(doc[hit.val:hit.end])
	has := func(name string) *jsonField {
		if i := slices.IndexFunc(fields, func(f jsonField) bool { return f.name == name }); i >= 0 {
			return &fields[i]
		}
		return nil
	}
	for _, name := range drop {
		if has(name) == nil {
			continue
		}
		in, err := e.locate(text, Place{Name: name})
		if err != nil {
			return nil, err
		}
		text = e.cut(text, in.last()).Apply(text)
	}
	var fresh []Member
	for _, m := range value {
		f := has(m.Key)
		if f == nil {
			fresh = append(fresh, m)
			continue
		}
		if equalValues(decodeJSON(f.raw), decoded(m.Value)) {
			continue
		}
		in, err := e.locate(text, Place{Name: m.Key})
		if err != nil {
			return nil, err
		}
		at := in.last().hit
		style := around.into(text, in.last()).at(text, at.key)
		style.multi = style.own
		text = Patches{{at.val, text[at.val:at.end], style.append(nil, m.Value, style.outer)}}.Apply(text)
	}
	if len(fresh) == 0 {
		return text, nil
	}
	in, err := e.scan(&jsonScanner{doc: text, path: []string{""}, stop: 1, collect: new([]string)})
	if err != nil {
		return nil, err
	}
	ps, _ := e.insert(text, in.last(), around.into(text, in.last()), fresh)
	return ps.Apply(text), nil
}

// fieldsOf lists the members of an object that was read already.
func fieldsOf(raw []byte) []jsonField {
	var fields []jsonField
	d := decoder(raw)
	d.ReadToken()
	for d.PeekKind() == '"' {
		key, _ := decodeNext(d).(string)
		v, err := d.ReadValue()
		if err != nil {
			break
		}
		fields = append(fields, jsonField{key, compact(v)})
	}
	return fields
}

// difference returns the patch that makes a of b, as small as one can be.
func difference(at int64, a, b []byte) Patches {
	if bytes.Equal(a, b) {
		return nil
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	n = runeStart(a, n)
	a, b = a[n:], b[n:]
	k := 0
	for k < len(a) && k < len(b) && a[len(a)-1-k] == b[len(b)-1-k] {
		k++
	}
	for k > 0 && a[len(a)-k]&0xc0 == 0x80 { // inside a character
		k--
	}
	return Patches{{at + int64(n), a[:len(a)-k], b[:len(b)-k]}}
}
