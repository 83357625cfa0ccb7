package edit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// update sets and drops fields of an entry that is there.
func (d *yamlDoc) update(e *yamlEntry, value Object, drop []string) (Patches, error) {
	n := e.value
	lines, indent, err := d.member(e, e.index)
	if err != nil {
		return nil, err
	}
	switch {
	case odd(n):
		return nil, d.refuse(n, Anchors, "the entry has an anchor, an alias or a tag")
	case isEmptyYAML(n):
		return d.refill(e, lines, indent, value)
	case n.Kind != yaml.MappingNode:
		return nil, d.refuse(n, NotAnObject, "the entry is no map of fields")
	case n.Style&yaml.FlowStyle != 0:
		return nil, d.refuse(n, Anchors, "the entry is written in brackets: write it on lines of its own first")
	}
	fields := &yamlEntry{holder: n, bound: d.nextBound(e, e.index)}
	var ps Patches
	var fresh Object
	for _, m := range value {
		i, err := d.pair(n, m.Key, true)
		switch {
		case err != nil:
			return nil, err
		case i < 0:
			fresh = append(fresh, m)
			continue
		case sameValue(n.Content[2*i+1], m.Value):
			continue
		}
		patch, err := d.refield(fields, i, m)
		if err != nil {
			return nil, err
		}
		ps = append(ps, patch)
	}
	cut, err := d.unfield(fields, drop)
	if err != nil {
		return nil, err
	}
	ps = append(ps, cut...)
	if len(fresh) > 0 {
		last, err := d.field(fields, len(n.Content)/2-1)
		if err != nil {
			return nil, err
		}
		added := d.splice(d.after(last.end), made{}, nil, yamlMembers(fresh, n.Column-1, d.step(false)))
		ps = append(ps, added.Patches...)
	}
	return tidy(ps), nil
}

// refill gives an entry that is null or {} its fields.
func (d *yamlDoc) refill(e *yamlEntry, lines piece, indent int, value Object) (Patches, error) {
	if e.name == nil {
		return nil, d.refuse(e.value, NotAnObject, "the entry is no map of fields")
	}
	h, err := d.hole(e.name, e.value)
	if err != nil {
		return nil, err
	}
	step := d.step(false)
	added := d.splice(d.after(lines.end), made{}, nil, yamlMembers(value, indent+step, step))
	return tidy(append(h.fill(), added.Patches...)), nil
}

// field returns a field's bytes from its key to the end of its last line.
func (d *yamlDoc) field(e *yamlEntry, i int) (piece, error) {
	key := e.holder.Content[2*i]
	if _, err := d.colon(key); err != nil {
		return piece{}, err
	}
	at := d.pos(key)
	before := d.text[d.lineStart(at):at]
	if i == 0 { // it may stand behind its item's dash
		before = bytes.TrimLeft(before, " -")
	}
	if len(bytes.Trim(before, " ")) > 0 {
		return piece{}, d.refuse(key, Anchors, "this field is written in a way that can't be edited here")
	}
	return d.core(at, key.Column-1, d.nextBound(e, i), e.holder.Content[2*i+1]), nil
}

// refield writes a field anew: its value alone if that is on the key's line,
// so that the comment beside it stays, or else all of its lines.
func (d *yamlDoc) refield(e *yamlEntry, i int, m Member) (Patch, error) {
	key, old := e.holder.Content[2*i], e.holder.Content[2*i+1]
	at, err := d.field(e, i)
	if err != nil {
		return Patch{}, err
	}
	if hasOdd(old) {
		return Patch{}, d.refuse(old, Anchors, "a field of the entry has an anchor, an alias or a tag")
	}
	colon, err := d.colon(key)
	if err != nil {
		return Patch{}, err
	}
	text := yamlMember(m, key.Column-1, d.step(false))
	text[0] = strings.TrimLeft(text[0], " ")
	_, short, _ := strings.Cut(text[0], ": ")
	if end, ok := d.scalarEnd(old); ok && len(text) == 1 && old.Line == key.Line {
		from := d.pos(old)
		if old.Value == "" && old.Style == 0 {
			from, end, short = colon, colon, " "+short
		}
		return d.patch(piece{from, end}, short), nil
	}
	return d.patch(at, strings.Join(text, d.eol(at.end))), nil
}

// unfield drops fields. Where the first stands behind a dash, the next takes
// its place.
func (d *yamlDoc) unfield(e *yamlEntry, drop []string) (Patches, error) {
	var ps Patches
	n := len(e.holder.Content) / 2
	gone := func(i int) bool { return slices.Contains(drop, e.holder.Content[2*i].Value) }
	for i := 0; i < n; i++ {
		if !gone(i) {
			continue
		}
		at, err := d.field(e, i)
		if err != nil {
			return nil, err
		}
		if hasOdd(e.holder.Content[2*i+1]) {
			return nil, d.refuse(e.holder.Content[2*i+1], Anchors, "a field of the entry has an anchor, an alias or a tag")
		}
		start := d.lineStart(at.start)
		if d.blank(start, at.start) {
			ps = append(ps, d.patch(piece{start, d.after(at.end)}, ""))
			continue
		}
		for i+1 < n && gone(i+1) {
			i++
		}
		if i+1 == n {
			return nil, d.refuse(e.holder, Unproven, "nothing would be left of the entry")
		}
		ps = append(ps, d.patch(piece{at.start, d.pos(e.holder.Content[2*i+2])}, ""))
	}
	return ps, nil
}

func (d *yamlDoc) patch(at piece, text string) Patch {
	return Patch{Offset: int64(at.start), Old: slices.Clone(d.text[at.start:at.end]), New: []byte(text)}
}

// What became of the map of entries when an entry was inserted; "" if it had
// others.
const (
	mapMade  = "made"  // its keys are in made.Before
	mapEmpty = "empty" // it was there, as made.Old
)

func (yamlEditor) remove(doc []byte, p Place, text []byte) (Patches, error) {
	d, err := parseYAML(doc)
	if err != nil {
		return nil, err
	}
	e, err := d.find(p, false)
	if err != nil || e.value == nil {
		return nil, err
	}
	if e, err = d.find(p, true); err != nil {
		return nil, err
	}
	at, _, err := d.member(e, e.index)
	if err != nil {
		return nil, err
	}
	var m made
	if len(text) > 0 && json.Unmarshal(text, &m) == nil {
		ps := d.unmake(p, e, at, m)
		if ps != nil && d.prove(ps, p, nil, nil, true) == nil {
			return ps, nil
		}
	}
	ps := Patches{d.patch(piece{at.start, d.after(at.end)}, "")}
	if d.alone(p, e) && e.key != nil { // without a value it would be null
		colon, err := d.colon(e.key)
		if err != nil {
			return nil, err
		}
		empty := " {}"
		if p.List != "" {
			empty = " []"
		}
		ps = append(Patches{{Offset: int64(colon), New: []byte(empty)}}, ps...)
	}
	if err := d.prove(ps, p, nil, nil, true); err != nil {
		if hasOdd(e.value) {
			return nil, d.refuse(e.value, Anchors, "the entry has an anchor that may be in use elsewhere")
		}
		return nil, err
	}
	return ps, nil
}

// alone reports whether the entry is the only one.
func (d *yamlDoc) alone(p Place, e *yamlEntry) bool {
	return len(e.holder.Content) == 1 || p.List == "" && len(e.holder.Content) == 2
}

// unmake takes out what an insertion put in, if it is still all there, and
// puts back what it took the place of.
func (d *yamlDoc) unmake(p Place, e *yamlEntry, at piece, m made) Patches {
	if !bytes.HasSuffix(d.text[:at.start], []byte(m.Before)) || !bytes.HasPrefix(d.text[at.end:], []byte(m.After)) || d.alone(p, e) != (m.Map != "") {
		return nil
	}
	var ps Patches
	if m.Old != "" {
		from := 0
		if n := len(p.Keys) - m.Keys; n > 0 && n <= len(p.Keys) {
			way := Place{Keys: p.Keys[:n], Name: p.Name}
			if m.Keys == 0 { // what was taken the place of is the list itself, not a map above it
				way.List = p.List
			}
			up, err := d.find(way, false)
			if err != nil {
				return nil
			}
			if from, err = d.colon(up.key); err != nil {
				return nil
			}
		}
		if !bytes.HasPrefix(d.text[from:], []byte(m.Gap)) {
			return nil
		}
		ps = append(ps, Patch{Offset: int64(from + len(m.Gap)), New: []byte(m.Old)})
	}
	return append(ps, d.patch(piece{at.start - len(m.Before), at.end + len(m.After)}, ""))
}

// hasOdd reports whether n or something in it is odd.
func hasOdd(n *yaml.Node) bool { return odd(n) || slices.ContainsFunc(n.Content, hasOdd) }

// differs reports whether the entry n has to be changed.
func (d *yamlDoc) differs(n *yaml.Node, value Object, drop []string) bool {
	if n.Kind != yaml.MappingNode {
		return true
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		fields[n.Content[i].Value] = n.Content[i+1]
	}
	return slices.ContainsFunc(drop, func(key string) bool { return fields[key] != nil }) ||
		slices.ContainsFunc(value, func(m Member) bool { return fields[m.Key] == nil || !sameValue(fields[m.Key], m.Value) })
}

// sameValue reports whether n reads as v. A string must be written so that
// every version of YAML reads it as one.
func sameValue(n *yaml.Node, v any) bool {
	switch v := v.(type) {
	case string:
		return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value == v &&
			(n.Style != 0 || isPlainYAML(v) || !looksOdd(v))
	case []string:
		return n.Kind == yaml.SequenceNode && slices.EqualFunc(n.Content, v, func(n *yaml.Node, s string) bool { return sameValue(n, s) })
	case Object:
		if n.Kind != yaml.MappingNode || len(n.Content) != 2*len(v) {
			return false
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			j := slices.IndexFunc(v, func(m Member) bool { return m.Key == n.Content[i].Value })
			if j < 0 || !sameValue(n.Content[i+1], v[j].Value) {
				return false
			}
		}
		return true
	}
	budget := maxNodes
	return n.Kind == yaml.ScalarNode && equalValues(plainYAML(n, &budget), decoded(v))
}

// maxNodes is how many nodes of an entry are decoded: aliases can make a short
// text endless.
const maxNodes = 100_000

// plainYAML turns nodes into the types of [Found].
func plainYAML(n *yaml.Node, budget *int) any {
	if *budget--; *budget < 0 {
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return plainYAML(n.Alias, budget)
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = plainYAML(n.Content[i+1], budget)
		}
		return out
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, c := range n.Content {
			out[i] = plainYAML(c, budget)
		}
		return out
	}
	var err error
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if err = n.Decode(&b); err == nil {
			return b
		}
	case "!!int":
		var i int64
		if err = n.Decode(&i); err == nil {
			return i
		}
	case "!!float":
		var f float64
		if err = n.Decode(&f); err == nil {
			return f
		}
	}
	return n.Value
}
