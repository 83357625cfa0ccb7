package edit

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

func init() { editors[YAML] = yamlEditor{} }

// yamlEditor edits YAML where maps and lists on the way to the entry are
// written as lines. What stands elsewhere may use all of YAML.
type yamlEditor struct{}

func (yamlEditor) check(doc []byte) error {
	_, err := parseYAML(doc)
	return err
}

func (yamlEditor) names(doc []byte, p Place) ([]string, error) {
	d, err := parseYAML(doc)
	if err != nil {
		return nil, err
	}
	e, err := d.find(p, false)
	if err != nil || e.depth < len(p.Keys) || e.holder == nil {
		return nil, err
	}
	var out []string
	for i, n := range e.holder.Content {
		switch {
		case p.List != "":
			if name := yamlItemName(n, p.List); name != "" {
				out = append(out, name)
			}
		case i%2 == 0 && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!merge":
			out = append(out, n.Value)
		}
	}
	return out, nil
}

func (yamlEditor) find(doc []byte, p Place) (*Found, error) {
	d, err := parseYAML(doc)
	if err != nil {
		return nil, err
	}
	e, err := d.find(p, false)
	if err != nil || e.value == nil {
		return nil, err
	}
	at := d.flow(e)
	if e.holder.Style&yaml.FlowStyle == 0 {
		if lines, _, err := d.member(e, e.index); err == nil {
			at = lines
		}
	}
	budget := maxNodes
	return &Found{
		Start: int64(at.start),
		End:   int64(at.end),
		Value: plainYAML(e.value, &budget),
		Text:  string(doc[at.start:at.end]),
	}, nil
}

func (yamlEditor) set(doc []byte, p Place, value Object, drop []string) (Edit, error) {
	d, err := parseYAML(doc)
	if err != nil {
		return Edit{}, err
	}
	if p.List != "" {
		if value, err = named(p, value); err != nil {
			return Edit{}, err
		}
	}
	e, err := d.find(p, false)
	if err != nil {
		return Edit{}, err
	}
	if e.value != nil && !d.differs(e.value, value, drop) {
		return Edit{}, nil
	}
	if e, err = d.find(p, true); err != nil {
		return Edit{}, err
	}
	if e.value != nil {
		ps, err := d.update(e, value, drop)
		if err != nil {
			return Edit{}, err
		}
		return Edit{Patches: ps}, d.prove(ps, p, value, drop, false)
	}
	if len(value) == 0 {
		return Edit{}, errors.New("the entry has no fields")
	}
	tries, err := d.insert(p, e, value)
	if err != nil {
		return Edit{}, err
	}
	for _, edit := range tries {
		if err = d.prove(edit.Patches, p, value, nil, false); err == nil {
			return edit, nil
		}
	}
	return Edit{}, err
}

// insert returns what can be tried: the entry as the last member, or as the
// first.
func (d *yamlDoc) insert(p Place, e *yamlEntry, value Object) ([]Edit, error) {
	if e.holder != nil && !isEmptyYAML(e.holder) {
		members := len(e.holder.Content)
		if e.holder.Kind == yaml.MappingNode {
			members /= 2
		}
		last, indent, err := d.member(e, members-1)
		if err != nil {
			return nil, err
		}
		first, _, err := d.member(e, 0)
		if err != nil {
			return nil, err
		}
		lead, lines := d.lines(p, e, value, indent)
		m := made{Keys: len(lead)}
		if len(lead) > 0 {
			m.Map = mapMade
		}
		above, below := d.splice(first.start, m, lead, lines), d.splice(d.after(last.end), m, lead, lines)
		if d.after(last.end) == last.end && endsInBlock(e.holder) != nil {
			return []Edit{above}, nil // parsers disagree about a block's last line without a break
		}
		return []Edit{below, above}, nil
	}
	h, err := d.hole(e.key, e.holder)
	if err != nil {
		return nil, err
	}
	at, indent := d.end, 0
	if e.key != nil {
		key := d.pos(e.key)
		start := d.lineStart(key)
		if !d.blank(start, key) {
			return nil, d.refuse(e.key, Anchors, "this is written in a way that can't be edited here")
		}
		at = d.after(d.core(start, key-start, e.bound, e.holder).end)
		indent = key - start + d.step(p.List != "" && e.depth == len(p.Keys))
	}
	lead, lines := d.lines(p, e, value, indent)
	edit := d.splice(at, made{Map: mapEmpty, Keys: len(lead), Gap: h.gap, Old: h.old}, lead, lines)
	edit.Patches = tidy(append(h.fill(), edit.Patches...))
	return []Edit{edit}, nil
}

// lines writes the entry, and in lead the keys on the way that are missing.
func (d *yamlDoc) lines(p Place, e *yamlEntry, value Object, indent int) (lead, lines []string) {
	step := d.step(false)
	for i, key := range p.Keys[e.depth:] {
		lead = append(lead, strings.Repeat(" ", indent)+yamlText(key)+":")
		indent += d.step(p.List != "" && e.depth+i+1 == len(p.Keys))
	}
	if p.List != "" {
		return lead, yamlItem(value, indent, step)
	}
	if e.holder != nil && len(lead) == 0 { // as its neighbours have it
		for i := 1; i < len(e.holder.Content); i += 2 {
			if n := e.holder.Content[i]; n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle == 0 && n.Column > e.holder.Content[i-1].Column {
				step = n.Column - e.holder.Content[i-1].Column
			}
		}
	}
	return lead, yamlMember(Member{p.Name, value}, indent, step)
}

// splice returns the edit that puts lines at the start of a line, or at the
// end of the document.
func (d *yamlDoc) splice(at int, m made, lead, lines []string) Edit {
	eol := d.eol(at)
	for _, line := range lead {
		m.Before += line + eol
	}
	if at > 0 && at != d.lineStart(at) {
		m.Before = eol + m.Before
	} else {
		m.After = eol
	}
	return insertion(at, m, strings.Join(lines, eol))
}

// step returns how far the document indents maps in maps, or lists in them.
func (d *yamlDoc) step(list bool) int {
	want := yaml.MappingNode
	if list {
		want = yaml.SequenceNode
	}
	var look func(n *yaml.Node) int
	look = func(n *yaml.Node) int {
		if n.Kind == yaml.AliasNode || n.Style&yaml.FlowStyle != 0 {
			return -1
		}
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && c.Kind == want && c.Style&yaml.FlowStyle == 0 && !odd(c) {
				if by := c.Column - n.Content[i-1].Column; by > 0 || list && by == 0 {
					return min(by, 8)
				}
			}
			if by := look(c); by >= 0 {
				return by
			}
		}
		return -1
	}
	if d.root != nil {
		if by := look(d.root); by >= 0 {
			return by
		}
	}
	return 2
}

// prove reads the result and compares it with the document: the entry is as it
// should be, and all else is equal.
func (d *yamlDoc) prove(ps Patches, p Place, value Object, drop []string, gone bool) error {
	unproven := func(why string) error {
		return &RefusedError{Reason: Unproven, Msg: "the edit can't be made safely: " + why}
	}
	if !ps.Fit(d.text) {
		return unproven("its parts overlap")
	}
	was, err := d.find(p, true)
	if err != nil {
		return err
	}
	after, err := parseYAML(ps.Apply(d.text))
	if err != nil {
		return unproven("the result is not valid YAML")
	}
	is, err := after.find(p, true)
	if err != nil || (is.value == nil) != gone {
		return unproven("the entry would not be where it belongs")
	}
	if !gone {
		if is.value.Kind != yaml.MappingNode || after.differs(is.value, value, drop) || !sameRest(was.value, is.value, value, drop) {
			return unproven("the entry would not read as it should")
		}
	}
	if !sameNodes(cutYAML(d.root, p.Keys, was), cutYAML(after.root, p.Keys, is)) {
		return unproven("something beside the entry would change")
	}
	return nil
}

// sameRest reports whether the fields that were not to change have not.
func sameRest(was, is *yaml.Node, value Object, drop []string) bool {
	rest := func(n *yaml.Node) *yaml.Node {
		out := &yaml.Node{Kind: yaml.MappingNode}
		if n == nil || n.Kind != yaml.MappingNode {
			return out
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if !slices.Contains(drop, key) && !slices.ContainsFunc(value, func(m Member) bool { return m.Key == key }) {
				out.Content = append(out.Content, n.Content[i], n.Content[i+1])
			}
		}
		return out
	}
	return sameNodes(rest(was), rest(is))
}

// cutYAML returns n, which path leads on from, without the entry and without
// what is empty then on the way to it; nil if nothing stays. n itself stays as
// it is.
func cutYAML(n *yaml.Node, path []string, e *yamlEntry) *yaml.Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Content = slices.Clone(n.Content)
	switch {
	case len(path) > 0 && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(out.Content); i += 2 {
			if out.Content[i].Value != path[0] {
				continue
			}
			if in := cutYAML(out.Content[i+1], path[1:], e); in != nil {
				out.Content[i+1] = in
			} else {
				out.Content = slices.Delete(out.Content, i, i+2)
			}
			break
		}
	case e.value != nil && n == e.holder && n.Kind == yaml.MappingNode:
		out.Content = slices.Delete(out.Content, 2*e.index, 2*e.index+2)
	case e.value != nil && n == e.holder:
		out.Content = slices.Delete(out.Content, e.index, e.index+1)
	}
	if isEmptyYAML(&out) {
		return nil
	}
	return &out
}

// sameNodes compares all but places and comments.
func sameNodes(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Style == b.Style && a.ShortTag() == b.ShortTag() && a.Value == b.Value &&
		a.Anchor == b.Anchor && slices.EqualFunc(a.Content, b.Content, sameNodes)
}
