package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A subject is a document with what is to happen to it.
type subject struct {
	doc     []byte
	grammar edit.Grammar
	place   edit.Place
	decode  func([]byte) (map[string]any, error) // another parser than the editor's; may be nil
	read    map[string]string                    // what decode made of documents; to be made
}

var (
	before = edit.Object{{Key: "command", Value: `C:\Program Files\arenero-bridge.exe`}, {Key: "args", Value: []string{"--connection", "c_1", "é # \"'"}}}
	later  = edit.Object{{Key: "args", Value: []string{"--connection", "c_2"}}, {Key: "timeout", Value: 30}, {Key: "env", Value: edit.Object{{Key: "A b", Value: "yes"}}}}
)

// invariants sets the entry, deletes it and checks what has to hold on the way;
// with all it also updates the entry and deletes it without what Set returned. It returns false if the document is refused, which it has
// to say properly, and whether the other parser has compared.
func (s subject) invariants(t *testing.T, all bool) (edited, compared bool) {
	t.Helper()
	fail := func(doc []byte, format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\nfrom %q\nto   %q", fmt.Sprintf(format, args...), s.doc, doc)
	}
	s.read = map[string]string{}
	found, err := edit.Get(s.doc, s.grammar, s.place)
	if err == nil {
		_, err = edit.List(s.doc, s.grammar, s.place)
	}
	var set edit.Edit
	if err == nil {
		set, err = edit.Set(s.doc, s.grammar, s.place, before)
	}
	if err != nil {
		mustBeTyped(t, err)
		if err := edit.Check(s.doc, s.grammar); err != nil {
			mustBeTyped(t, err)
		}
		return false, false
	}
	doc := set.Patches.Apply(s.doc)
	kept := map[string]any{}
	if found != nil {
		kept = fieldsOf(found)
		if string(s.doc[found.Start:found.End]) != found.Text {
			fail(nil, "Found has text %q", found.Text)
		}
	}
	s.holds(t, doc, before, kept)
	compared = s.others(t, s.doc, doc)
	for _, p := range set.Patches {
		if found == nil && len(bytes.TrimSpace(p.Old)) > len("{}")+len("null") {
			fail(doc, "inserting took away %q", p.Old)
		}
	}
	if !bytes.Equal(set.Patches.Reverse().Apply(doc), s.doc) {
		fail(doc, "reversed patches do not restore")
	}
	if again, err := edit.Set(doc, s.grammar, s.place, before); err != nil || len(again.Patches) > 0 {
		fail(doc, "setting the same again gives %d patches and %v", len(again.Patches), err)
	}

	s.gone(t, doc, set.Made, found == nil)
	if !all {
		return true, compared
	}

	// An update, and a field that goes.
	change, err := edit.Set(doc, s.grammar, s.place, later, "command")
	if err != nil {
		mustBeTyped(t, err)
	} else {
		updated := change.Patches.Apply(doc)
		delete(kept, "command")
		s.holds(t, updated, later, kept)
		s.others(t, doc, updated)
		if change.Made != nil {
			fail(updated, "an update has made something")
		}
		s.gone(t, updated, set.Made, found == nil)
	}
	s.gone(t, doc, nil, false)
	return true, compared
}

// gone deletes the entry; with exact, what stays must be the document as it was.
func (s subject) gone(t *testing.T, doc, made []byte, exact bool) {
	t.Helper()
	ps, err := edit.Delete(doc, s.grammar, s.place, made)
	if err != nil {
		if exact {
			t.Fatalf("Delete: %v\nfrom %q\nto   %q", err, s.doc, doc)
		}
		mustBeTyped(t, err)
		return
	}
	out := ps.Apply(doc)
	if exact {
		if !bytes.Equal(out, s.doc) {
			t.Fatalf("Delete does not restore\n     %q\nfrom %q\ngets %q", s.doc, doc, out)
		}
		return // that has been looked at
	}
	if f, err := edit.Get(out, s.grammar, s.place); f != nil || err != nil {
		t.Fatalf("after Delete there is %v, %v\nfrom %q\nto   %q", f, err, doc, out)
	}
	if ps, err := edit.Delete(out, s.grammar, s.place, made); len(ps) > 0 || err != nil {
		t.Fatalf("a second Delete has %d patches, %v\nin %q", len(ps), err, out)
	}
	s.others(t, doc, out)
}

// holds checks that the entry has its fields and those it had.
func (s subject) holds(t *testing.T, doc []byte, value edit.Object, kept map[string]any) {
	t.Helper()
	found, err := edit.Get(doc, s.grammar, s.place)
	if err != nil || found == nil {
		t.Fatalf("Get gives %v, %v\nfrom %q\nto   %q", found, err, s.doc, doc)
	}
	for _, m := range value {
		kept[m.Key] = plain(m.Value)
	}
	if s.place.List != "" {
		kept[s.place.List] = s.place.Name
	}
	if got, want := spell(fieldsOf(found)), spell(kept); got != want {
		t.Fatalf("the entry is %s, want %s\nfrom %q\nto   %q", got, want, s.doc, doc)
	}
	names, err := edit.List(doc, s.grammar, s.place)
	if err != nil || !slices.Contains(names, s.place.Name) {
		t.Fatalf("List gives %q, %v\nin %q", names, err, doc)
	}
}

// others compares all but the entry with the other parser.
func (s subject) others(t *testing.T, was, is []byte) bool {
	t.Helper()
	if s.decode == nil {
		return false
	}
	x, err := s.spelled(was)
	if err != nil {
		return false
	}
	y, err := s.spelled(is)
	if err != nil {
		t.Fatalf("another parser: %v\nfrom %q\nto   %q", err, was, is)
	}
	if x != y {
		t.Fatalf("another parser reads\n%s, then\n%s\nfrom %q\nto   %q", x, y, was, is)
	}
	return true
}

// spelled is what the other parser reads, but for the entry. One document is
// compared with several.
func (s subject) spelled(doc []byte) (string, error) {
	if text, ok := s.read[string(doc)]; ok {
		return text, nil
	}
	v, err := s.decode(doc)
	if err != nil {
		return "", err
	}
	s.read[string(doc)] = spell(without(v, s.place.Keys, s.place))
	return s.read[string(doc)], nil
}

// without takes the entry out, and what is empty on the way to it.
func without(v any, keys []string, p edit.Place) any {
	m, isMap := v.(map[string]any)
	switch {
	case len(keys) > 0 && isMap:
		if in := without(m[keys[0]], keys[1:], p); in == nil {
			delete(m, keys[0])
		} else {
			m[keys[0]] = in
		}
	case isMap && p.List == "":
		delete(m, p.Name)
	case len(keys) == 0 && p.List != "":
		var rest []any
		for _, item := range items(v) {
			if m, ok := item.(map[string]any); !ok || m[p.List] != p.Name {
				rest = append(rest, item)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return rest
	}
	if isMap && len(m) == 0 || v != nil && !isMap && items(v) != nil && len(items(v)) == 0 {
		return nil
	}
	return v
}

func items(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []map[string]any:
		out := make([]any, len(v))
		for i, m := range v {
			out[i] = m
		}
		return out
	}
	return nil
}

// spell prints values and their types, maps in order of their keys.
func spell(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(&b, "%q: %s, ", key, spell(v[key]))
		}
		return "{" + b.String() + "}"
	case []any, []map[string]any:
		var b strings.Builder
		for _, item := range items(v) {
			b.WriteString(spell(item) + ", ")
		}
		return "[" + b.String() + "]"
	}
	return fmt.Sprintf("%T %#v", v, v)
}

func fieldsOf(f *edit.Found) map[string]any {
	fields := map[string]any{}
	if m, ok := f.Value.(map[string]any); ok {
		maps.Copy(fields, m)
	}
	return fields
}

// plain is a field as Get returns it.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	case edit.Object:
		out := map[string]any{}
		for _, m := range v {
			out[m.Key] = plain(m.Value)
		}
		return out
	}
	return v
}

func mustBeTyped(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*edit.SyntaxError](err); ok {
		return
	}
	if _, ok := errors.AsType[*edit.RefusedError](err); !ok {
		t.Fatalf("error of type %T: %v", err, err)
	}
}
