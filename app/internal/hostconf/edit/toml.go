package edit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

func init() { editors[TOML] = tomlEditor{} }

// tomlEditor edits TOML 1.0. A new entry is a table at the end, [servers.ours]
// or [[servers]]; only where an inline table or an array holds the entries does
// it go in there. Entries are updated and deleted however they are written.
type tomlEditor struct{}

func (tomlEditor) check(doc []byte) error {
	_, err := parseTOML(doc)
	return err
}

func (tomlEditor) names(doc []byte, p Place) ([]string, error) {
	d, err := parseTOML(doc)
	if err != nil {
		return nil, err
	}
	if p.List != "" {
		return slices.DeleteFunc(itemNames(d.at(p.Keys), p.List), func(s string) bool { return s == "" }), nil
	}
	m, _ := d.at(p.Keys).(map[string]any)
	var out []string
	see := func(path []string) {
		if len(path) > len(p.Keys) && isUnder(path, p.Keys) {
			name := path[len(p.Keys)]
			if _, there := m[name]; there && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	var walk func(l *tomlLine)
	walk = func(l *tomlLine) {
		see(l.path)
		if len(l.path) <= len(p.Keys) {
			for _, in := range l.value.members {
				walk(in)
			}
		}
	}
	for _, s := range d.sections {
		see(s.path)
		for _, l := range s.lines {
			walk(l)
		}
	}
	return out, nil
}

func (tomlEditor) find(doc []byte, p Place) (*Found, error) {
	d, err := parseTOML(doc)
	if err != nil {
		return nil, err
	}
	e, _, err := d.find(p)
	if err != nil || e.none() {
		return nil, err
	}
	at := e.spans()[0]
	return &Found{
		Start: int64(at.start),
		End:   int64(at.end),
		Value: plainTOML(d.fields(p, e)),
		Text:  string(doc[at.start:at.end]),
	}, nil
}

func (tomlEditor) set(doc []byte, p Place, value Object, drop []string) (Edit, error) {
	d, err := parseTOML(doc)
	if err != nil {
		return Edit{}, err
	}
	e, h, err := d.find(p)
	if err != nil {
		return Edit{}, err
	}
	if p.List != "" {
		if value, err = named(p, value); err != nil {
			return Edit{}, err
		}
	}
	if !e.none() {
		ps, err := d.update(p, e, value, drop)
		if err != nil || len(ps) == 0 {
			return Edit{}, err
		}
		return Edit{Patches: ps}, d.prove(ps, p, value, drop, false)
	}
	if len(value) == 0 {
		return Edit{}, errors.New("the entry has no fields")
	}
	var tries []Edit
	if h != nil {
		edit, err := d.insertInline(p, h, value)
		if err != nil {
			return Edit{}, err
		}
		tries = []Edit{edit}
	} else {
		tries = append(d.insertDotted(p, value), d.append(p, value))
	}
	for _, edit := range tries {
		if err = d.prove(edit.Patches, p, value, nil, false); err == nil {
			return edit, nil
		}
	}
	return Edit{}, err
}

// named returns value with the entry's name as its first field.
func named(p Place, value Object) (Object, error) {
	for _, m := range value {
		if m.Key != p.List {
			continue
		}
		if m.Value != any(p.Name) {
			return nil, fmt.Errorf("the field %q is not the entry's name", p.List)
		}
		return value, nil
	}
	return append(Object{{Key: p.List, Value: p.Name}}, value...), nil
}

// made is what an insertion put around an entry, so that it can go again, and
// what of the user's text it took the place of.
type made struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Map    string `json:"map,omitempty"`  // YAML: what became of the map of entries
	Keys   int    `json:"keys,omitempty"` // YAML: how many keys on the way are in Before
	Gap    string `json:"gap,omitempty"`  // YAML: between the map's colon and Old
	Old    string `json:"old,omitempty"`  // YAML: the empty map that was there
}

// insertion returns the edit that puts entry at a place.
func insertion(at int, m made, entry string) Edit {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings can't fail
	}
	return Edit{
		Patches: Patches{{Offset: int64(at), New: []byte(m.Before + entry + m.After)}},
		Made:    text,
	}
}

// append puts the entry's table at the end, below an empty line.
func (d *tomlDoc) append(p Place, value Object) Edit {
	end := len(d.text)
	eol := d.eol(end)
	var m made
	last := d.text[d.lineStart(end):]
	switch {
	case len(last) > 0: // no final line break: it stays so
		m.Before = eol
		if len(strings.Trim(string(last), " \t")) > 0 {
			m.Before += eol
		}
	case end > 0:
		m.After = eol
		at := d.lineStart(end - 1)
		if len(strings.Trim(string(d.text[at:end]), " \t\r\n")) > 0 {
			m.Before = eol
		}
	default:
		m.After = eol
	}
	return insertion(end, m, tomlSectionText(tomlHeader(p), value, eol))
}

// insertDotted puts the entry below a sibling that is written as dotted keys
// in a section above: not every parser lets a header add to such a table.
func (d *tomlDoc) insertDotted(p Place, value Object) []Edit {
	if p.List != "" {
		return nil
	}
	for _, s := range slices.Backward(d.sections) {
		if len(s.path) >= len(p.Keys) {
			continue
		}
		for _, l := range slices.Backward(s.lines) {
			if len(l.path) <= len(p.Keys) || !isUnder(l.path, p.Keys) {
				continue
			}
			eol := d.eol(len(d.text))
			key := l.keys[len(p.Keys)-len(s.path)-1]
			entry := d.indent(l.from) + string(d.text[l.start():key.end]) + "." + tomlMemberText(Member{p.Name, value})
			at := d.after(l.last)
			if at == l.last {
				return []Edit{insertion(at, made{Before: eol}, entry)}
			}
			return []Edit{insertion(at, made{After: eol}, entry)}
		}
	}
	return nil
}

// insertInline puts the entry into an inline table or an array.
func (d *tomlDoc) insertInline(p Place, h *tomlHolder, value Object) (Edit, error) {
	if h.value.kind == unstable.Array {
		return d.insertLast(h.value, made{}, tomlValueText(value))
	}
	var m made
	for _, key := range p.Keys[len(h.path):] {
		m.Before += tomlKeyText(key) + " = { "
		m.After += " }"
	}
	return d.insertLast(h.value, m, tomlMemberText(Member{p.Name, value}))
}

// insertLast puts text behind the last member of an inline table, or behind
// the last item of an array.
func (d *tomlDoc) insertLast(v *tomlValue, m made, text string) (Edit, error) {
	last := v.start + 1
	switch {
	case v.kind == unstable.Array && len(v.items) > 0:
		last = v.items[len(v.items)-1].end
		m.Before = ", " + m.Before
		return insertion(last, m, text), nil
	case v.kind == unstable.Array:
		return insertion(last, m, text), nil
	case len(v.members) > 0:
		last = v.members[len(v.members)-1].end()
	}
	// TOML 1.0 has neither line breaks nor a last comma in an inline table.
	blanks := string(d.text[last : v.end-1])
	switch {
	case strings.Trim(blanks, " \t") != "":
		return Edit{}, d.refuseAt(v.start, "the inline table does not end as TOML 1.0 has it: write it as tables of its own first")
	case len(v.members) > 0:
		m.Before = ", " + m.Before
	case blanks == "":
		m.Before = " " + m.Before
		m.After += " "
	default:
		m.Before = " " + m.Before
	}
	return insertion(last, m, text), nil
}

// prove reads the result and compares it with the document: the entry is as it
// should be, and all else is equal.
func (d *tomlDoc) prove(ps Patches, p Place, value Object, drop []string, gone bool) error {
	unproven := func(why string) error {
		return &RefusedError{Reason: Unproven, Msg: "the edit can't be made safely: " + why}
	}
	after, err := parseTOML(ps.Apply(d.text))
	if err != nil {
		return unproven("the result is not valid TOML")
	}
	was, _, err := d.find(p)
	if err != nil {
		return err
	}
	is, _, err := after.find(p)
	if err != nil || is.none() != gone {
		return unproven("the entry would not be where it belongs")
	}
	if !gone {
		want := map[string]any{}
		for key, v := range d.fields(p, was) {
			if !slices.Contains(drop, key) {
				want[key] = v
			}
		}
		for _, m := range value {
			want[m.Key] = decoded(m.Value)
		}
		if !equalValues(want, after.fields(p, is)) {
			return unproven("the entry would not read as it should")
		}
	}
	if !equalValues(cutTOML(d.root, p.Keys, p, was), cutTOML(after.root, p.Keys, p, is)) {
		return unproven("something beside the entry would change")
	}
	return nil
}

// cutTOML returns the decoded v, which path leads on from, without the entry
// and without what is empty then on the way to it; nil if nothing stays. A
// table that only a header below it has made is gone with that header. v itself
// stays as it is.
func cutTOML(v any, path []string, p Place, e *tomlEntry) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		switch {
		case len(path) == 0 && p.List == "":
			delete(out, p.Name)
		case len(path) > 0:
			if in := cutTOML(v[path[0]], path[1:], p, e); in != nil {
				out[path[0]] = in
			} else {
				delete(out, path[0])
			}
		}
		if len(out) > 0 {
			return out
		}
		return nil
	case []any:
		out := v
		if len(path) == 0 && !e.none() && e.index < len(v) {
			out = slices.Concat(v[:e.index], v[e.index+1:])
		}
		if len(out) > 0 {
			return out
		}
		return nil
	}
	return v
}
