package edit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A yamlEntry is where an entry is, or how far the way to it goes.
type yamlEntry struct {
	depth  int        // how many of the place's keys are there
	key    *yaml.Node // of holder; nil if that is the document
	holder *yaml.Node // the last map or list on the way; nil if there is nothing at all
	bound  int        // where what comes behind holder begins
	index  int        // of the entry in holder: of a map's pair or a list's item; -1 if it is not there
	name   *yaml.Node // the entry's key in a map
	value  *yaml.Node // nil if the entry is not there
}

// find follows the way to the entry. With write it refuses what can be read
// but not edited on that way.
func (d *yamlDoc) find(p Place, write bool) (*yamlEntry, error) {
	e := &yamlEntry{holder: d.root, bound: d.end, index: -1}
	for _, key := range p.Keys {
		if err := d.mustHold(e, write, true); err != nil || e.holder == nil {
			return e, err
		}
		i, err := d.pair(e.holder, key, write)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			return e, nil
		}
		e.bound = d.nextBound(e, i)
		e.key, e.holder = e.holder.Content[2*i], e.holder.Content[2*i+1]
		e.depth++
	}
	if err := d.mustHold(e, write, p.List == ""); err != nil || e.holder == nil || isEmptyYAML(e.holder) {
		return e, err
	}
	if p.List == "" {
		i, err := d.pair(e.holder, p.Name, write)
		if err == nil && i >= 0 {
			e.index, e.name, e.value = i, e.holder.Content[2*i], e.holder.Content[2*i+1]
		}
		return e, err
	}
	for i, item := range e.holder.Content {
		if yamlItemName(item, p.List) != p.Name {
			continue
		}
		if e.value != nil {
			return nil, d.refuse(item, DuplicateKey, "the list has two entries of the same name")
		}
		e.index, e.value = i, item
	}
	return e, nil
}

// yamlItemName returns the name of a list's item, "" if it has none.
func yamlItemName(item *yaml.Node, field string) string {
	if item.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(item.Content); i += 2 {
			if k, v := item.Content[i], item.Content[i+1]; k.Value == field && k.Kind == yaml.ScalarNode && v.Kind == yaml.ScalarNode && !isEmptyYAML(v) {
				return v.Value
			}
		}
	}
	return ""
}

// mustHold fails if holder is no map, or no list if asMap is not set.
func (d *yamlDoc) mustHold(e *yamlEntry, write, asMap bool) error {
	n := e.holder
	want, kind := yaml.MappingNode, "map"
	if !asMap {
		want, kind = yaml.SequenceNode, "list"
	}
	switch {
	case n == nil:
		return nil
	case odd(n):
		return d.refuse(n, Anchors, "an anchor, an alias or a tag is on the way to the entry")
	case isEmptyYAML(n) && !(n == d.root && n.Kind == yaml.SequenceNode): // a whole document that is a list is some other file
		return nil
	case n.Kind != want:
		return d.refuse(n, NotAnObject, "a %s of entries is expected here, and there is something else", kind)
	case write && n.Style&yaml.FlowStyle != 0:
		return d.refuse(n, Anchors, "the %s of entries is written in brackets: write it on lines of its own first", kind)
	}
	return nil
}

// pair returns the index of the pair with this key, -1 if there is none.
func (d *yamlDoc) pair(m *yaml.Node, key string, write bool) (int, error) {
	found := -1
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		switch {
		case k.ShortTag() == "!!merge" && write:
			return 0, d.refuse(k, Anchors, "a merge key is on the way to the entry")
		case k.Kind != yaml.ScalarNode || k.Value != key:
		case found >= 0:
			return 0, d.refuse(k, DuplicateKey, "this key is there twice")
		case odd(k) && write:
			return 0, d.refuse(k, Anchors, "a key on the way to the entry has an anchor or a tag")
		default:
			found = i / 2
		}
	}
	return found, nil
}

// nextBound returns where what comes behind the i-th member of holder begins.
func (d *yamlDoc) nextBound(e *yamlEntry, i int) int {
	switch n := e.holder; {
	case n.Kind == yaml.MappingNode && 2*i+2 < len(n.Content):
		return d.lineStart(d.pos(n.Content[2*i+2]))
	case n.Kind == yaml.SequenceNode && i+1 < len(n.Content):
		return d.lineStart(d.dash(n, i+1))
	}
	return e.bound
}

// dash returns where the dash of a block list's item is.
func (d *yamlDoc) dash(list *yaml.Node, i int) int {
	at := 0
	for line := d.lineOf(d.pos(list.Content[i])); line >= list.Line-1; line-- {
		at = d.offset(line+1, list.Column)
		if at < len(d.text) && d.text[at] == '-' && d.blank(d.starts[line], at) {
			break
		}
	}
	return at
}

// blank reports whether there are nothing but spaces.
func (d *yamlDoc) blank(from, to int) bool {
	return from <= to && strings.Trim(string(d.text[from:to]), " ") == ""
}

// member returns the lines of holder's i-th member, the column of its key or
// dash from 0, and where that is.
func (d *yamlDoc) member(e *yamlEntry, i int) (p piece, indent int, err error) {
	n := e.holder
	var at int
	var value, first *yaml.Node
	if n.Kind == yaml.SequenceNode {
		at, value = d.dash(n, i), n.Content[i]
		first = value
	} else {
		at, value = d.pos(n.Content[2*i]), n.Content[2*i+1]
		first = n.Content[2*i]
	}
	start := d.lineStart(at)
	if !d.blank(start, at) || at >= len(d.text) || n.Kind == yaml.SequenceNode && d.text[at] != '-' {
		return piece{}, 0, d.refuse(first, Anchors, "this is written in a way that can't be edited here")
	}
	p = d.core(start, at-start, d.nextBound(e, i), value)
	return p, at - start, nil
}

// flow returns the bytes of the entry in a map or list in brackets.
func (d *yamlDoc) flow(e *yamlEntry) piece {
	start := d.pos(e.value)
	if e.name != nil {
		start = d.pos(e.name)
	}
	depth := 0
	for i := start; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '"' || c == '\'':
			for i++; i < len(d.text) && d.text[i] != c; i++ {
				if c == '"' && d.text[i] == '\\' {
					i++
				}
			}
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c == ']'):
			return piece{start, start + len(bytes.TrimSpace(d.text[start:i]))}
		case c == '}' || c == ']':
			depth--
		}
	}
	return piece{start, len(d.text)}
}

// hole is an empty map or list that entries go into, as it is written.
type hole struct {
	colon int    // the end of the key's colon, or 0
	gap   string // between colon and old
	old   string // "{}", "null" and the like; "" if nothing is written
}

// hole looks at the empty holder.
func (d *yamlDoc) hole(key, n *yaml.Node) (hole, error) {
	var h hole
	if key != nil {
		var err error
		if h.colon, err = d.colon(key); err != nil {
			return hole{}, err
		}
	}
	if n == nil || n.Kind == yaml.ScalarNode && n.Value == "" {
		return h, nil
	}
	at := d.pos(n)
	end, ok := d.scalarEnd(n)
	if n.Kind != yaml.ScalarNode {
		for end = at + 1; end < len(d.text) && strings.ContainsRune(" \t\r\n", rune(d.text[end])); end++ {
		}
		ok = end < len(d.text) && (d.text[end] == '}' || d.text[end] == ']')
		end++
	}
	if !ok || at < h.colon {
		return hole{}, d.refuse(n, Anchors, "the empty map is written in a way that can't be edited here")
	}
	h.gap, h.old = string(d.text[h.colon:at]), string(d.text[at:end])
	if key != nil && strings.Trim(h.gap, " \t") == "" {
		h.gap, h.old = "", h.gap+h.old
	}
	return h, nil
}

// fill returns the patch that takes the empty value away.
func (h hole) fill() Patches {
	if h.old == "" {
		return nil
	}
	return Patches{{Offset: int64(h.colon + len(h.gap)), Old: []byte(h.old)}}
}
