package edit

import (
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A tomlEntry is where the parts of an entry are. TOML has many ways to write
// one, and a file may mix them.
type tomlEntry struct {
	main     *tomlSection   // [servers.ours] or [[servers]]; may be missing
	sections []*tomlSection // all of the entry: main and those below it
	lines    []*tomlLine    // ours.command = "x" in a section above
	inline   *tomlInline    // ours = { … }, and nothing else
	index    int            // of a list's item
}

func (e *tomlEntry) none() bool {
	return len(e.sections) == 0 && len(e.lines) == 0 && e.inline == nil
}

// A tomlInline is an entry that is one inline table.
type tomlInline struct {
	start, end int // of the member with its key, or of the item
	value      tomlValue
	line       *tomlLine  // set if the member has lines of its own
	holder     *tomlValue // else the inline table or array that it is in
	at         int        // its index in holder
}

// find returns the entry, which may be nowhere, and the value that holds
// entries if that is an inline table or an array: then there is no other way
// to write one.
func (d *tomlDoc) find(p Place) (*tomlEntry, *tomlHolder, error) {
	if p.List != "" {
		return d.findItem(p)
	}
	path := slices.Concat(p.Keys, []string{p.Name})
	e := &tomlEntry{}
	for _, s := range d.sections {
		switch {
		case s.array && isUnder(path, s.path):
			return nil, nil, d.refuseAt(s.from, "%s is a list of tables here, not a table", tomlPath(s.path))
		case s.index > 0 && isUnder(s.path, path):
			e.sections = append(e.sections, s)
			if len(s.path) == len(path) {
				e.main = s
			}
			continue
		}
		for _, l := range s.lines {
			h, err := d.findIn(e, l, path, nil, 0)
			if err != nil {
				return nil, nil, err
			}
			if h != nil {
				h.line = l
				return e, h, nil
			}
		}
	}
	return e, nil, nil
}

// A tomlHolder is an inline table on the path, or an array of entries.
type tomlHolder struct {
	value *tomlValue
	path  []string
	line  *tomlLine // the line that all of it is in
}

// findIn looks for the entry in a line or a member.
func (d *tomlDoc) findIn(e *tomlEntry, l *tomlLine, path []string, in *tomlValue, at int) (*tomlHolder, error) {
	switch {
	case slices.Equal(l.path, path):
		if l.value.kind != unstable.InlineTable {
			return nil, d.refuseAt(l.start(), "%s is a value here, not a table", tomlPath(path))
		}
		e.inline = &tomlInline{start: l.start(), end: l.end(), value: l.value, holder: in, at: at}
		if in == nil {
			e.inline.line = l
		}
	case isUnder(l.path, path):
		if in != nil {
			return nil, d.refuseAt(l.start(), "the entry is written as dotted keys in an inline table: write it as a table of its own first")
		}
		e.lines = append(e.lines, l)
	case isUnder(path, l.path):
		if l.value.kind != unstable.InlineTable {
			return nil, d.refuseAt(l.start(), "%s is a value here, not a table", tomlPath(l.path))
		}
		for i, m := range l.value.members {
			if h, err := d.findIn(e, m, path, &l.value, i); h != nil || err != nil {
				return h, err
			}
		}
		return &tomlHolder{value: &l.value, path: l.path}, nil
	}
	return nil, nil
}

// findItem looks for the entry in a list.
func (d *tomlDoc) findItem(p Place) (*tomlEntry, *tomlHolder, error) {
	if len(p.Keys) == 0 {
		return nil, nil, &RefusedError{Reason: NotAnObject, Msg: "a TOML file is a table, not a list"}
	}
	found, err := d.itemIndex(p)
	if err != nil {
		return nil, nil, err
	}
	e := &tomlEntry{index: found}
	n, inside := -1, false
	for _, s := range d.sections {
		switch {
		case slices.Equal(s.path, p.Keys) && s.index > 0:
			if !s.array {
				return nil, nil, d.refuseAt(s.from, "%s is a table here, not a list of tables", tomlPath(s.path))
			}
			if n++; n == found {
				e.main = s
			}
			inside = n == found
		case s.array && isUnder(p.Keys, s.path):
			return nil, nil, d.refuseAt(s.from, "%s is a list of tables here, not a table", tomlPath(s.path))
		}
		if s.index > 0 && isUnder(s.path, p.Keys) {
			if inside {
				e.sections = append(e.sections, s)
			}
			continue
		}
		for _, l := range s.lines {
			h, err := d.findArray(e, l, p, found)
			if err != nil {
				return nil, nil, err
			}
			if h != nil {
				h.line = l
				return e, h, nil
			}
		}
	}
	return e, nil, nil
}

func (d *tomlDoc) findArray(e *tomlEntry, l *tomlLine, p Place, found int) (*tomlHolder, error) {
	switch {
	case slices.Equal(l.path, p.Keys):
		if l.value.kind != unstable.Array {
			return nil, d.refuseAt(l.start(), "%s is no list of tables", tomlPath(l.path))
		}
		for i, item := range l.value.items {
			if item.kind != unstable.InlineTable {
				return nil, d.refuseAt(l.start(), "%s has an item that is no table", tomlPath(l.path))
			}
			if i == found {
				e.inline = &tomlInline{start: item.start, end: item.end, value: item, holder: &l.value, at: i}
			}
		}
		return &tomlHolder{value: &l.value, path: l.path}, nil
	case isUnder(l.path, p.Keys):
		return nil, d.refuseAt(l.start(), "%s is a table here, not a list of tables", tomlPath(p.Keys))
	case isUnder(p.Keys, l.path):
		return nil, d.refuseAt(l.start(), "the list %s is in an inline table or a value: write it as tables of its own first", tomlPath(p.Keys))
	}
	return nil, nil
}

// itemIndex returns which item of the list has the entry's name, -1 if none.
func (d *tomlDoc) itemIndex(p Place) (int, error) {
	found := -1
	for i, name := range itemNames(d.at(p.Keys), p.List) {
		if name != p.Name || name == "" {
			continue
		}
		if found >= 0 {
			return 0, &RefusedError{Reason: DuplicateKey, Msg: fmt.Sprintf("the list %s has two entries named %q", tomlPath(p.Keys), p.Name)}
		}
		found = i
	}
	return found, nil
}

// itemNames returns the names of a decoded list's items, "" for those without.
func itemNames(list any, field string) []string {
	items, _ := list.([]any)
	names := make([]string, len(items))
	for i, item := range items {
		if m, ok := item.(map[string]any); ok {
			names[i], _ = m[field].(string)
		}
	}
	return names
}

// at returns the decoded value at path, nil if there is none.
func (d *tomlDoc) at(path []string) any {
	var v any = d.root
	for _, key := range path {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// fields returns the entry's decoded fields.
func (d *tomlDoc) fields(p Place, e *tomlEntry) map[string]any {
	v := d.at(p.Keys)
	if p.List == "" {
		m, _ := v.(map[string]any)
		v = m[p.Name]
	} else if items, ok := v.([]any); ok && e.index >= 0 && e.index < len(items) {
		v = items[e.index]
	}
	m, _ := v.(map[string]any)
	return m
}

// blocks returns the entry's sections, joined where no other stands between:
// comments between two of them go with them.
func (e *tomlEntry) blocks() []piece {
	var out []piece
	for i, s := range e.sections {
		if i > 0 && e.sections[i-1].index == s.index-1 {
			out[len(out)-1].end = s.last
			continue
		}
		out = append(out, piece{s.from, s.last})
	}
	return out
}

// spans returns all that is the entry's, in order: whole lines without their
// last break, or one member of an inline table.
func (e *tomlEntry) spans() []piece {
	switch {
	case e.inline != nil && e.inline.line != nil:
		return []piece{{e.inline.line.from, e.inline.line.last}}
	case e.inline != nil:
		return []piece{{e.inline.start, e.inline.end}}
	}
	var out []piece
	for _, l := range e.lines {
		out = append(out, piece{l.from, l.last})
	}
	out = append(out, e.blocks()...)
	slices.SortFunc(out, func(a, b piece) int { return a.start - b.start })
	return out
}

// A piece is from one byte to before another.
type piece struct{ start, end int }

func (d *tomlDoc) refuseAt(at int, format string, args ...any) error {
	return refuse(d.text, int64(at), NotAnObject, format, args...)
}
