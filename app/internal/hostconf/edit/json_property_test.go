package edit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// broken returns what is wrong with the edits of a document, or nil. Only a
// document that the editor refuses has none; refused is then its error.
func broken(doc string, g edit.Grammar, p edit.Place, value edit.Object, drop []string) (wrong, refused error) {
	in := []byte(doc)
	old, parseErr := treeOf(doc, g)
	e, err := edit.Set(in, g, p, value, drop...)
	if !bytes.Equal(in, []byte(doc)) {
		return errors.New("Set wrote to the document"), nil
	}
	if err != nil {
		if r, ok := errors.AsType[*edit.RefusedError](err); ok && r.Reason == edit.Unproven {
			return fmt.Errorf("Set: %w", err), nil
		}
		return nil, err
	}
	if parseErr != nil {
		return fmt.Errorf("Set took what is no document: %w", parseErr), nil
	}
	was, err := edit.Get(in, g, p)
	if err != nil {
		return fmt.Errorf("Get: %w", err), nil
	}
	now := e.Patches.Apply(in)
	if wrong := brokenPatches(in, now, e, was); wrong != nil {
		return wrong, nil
	}
	got, err := treeOf(string(now), g)
	if err != nil {
		return fmt.Errorf("Set made %q: %w", now, err), nil
	}
	if want := old.with(p, value, drop); got.String() != want.String() {
		return fmt.Errorf("Set made %s, want %s", got, want), nil
	}
	is, err := edit.Get(now, g, p)
	if err != nil || is == nil {
		return fmt.Errorf("Get = %v, %w", is, err), nil
	}
	comments := commentsBeside(in, was)
	if got := commentsBeside(now, is); !slices.Equal(got, comments) {
		return fmt.Errorf("comments were %q and are %q", comments, got), nil
	}
	if again, err := edit.Set(now, g, p, value, drop...); err != nil || len(again.Patches) > 0 {
		return fmt.Errorf("the second Set = %+v, %w", again, err), nil
	}
	if e.Made != nil {
		ps, err := edit.Delete(now, g, p, e.Made)
		if back := ps.Apply(now); err != nil || !bytes.Equal(back, in) {
			return fmt.Errorf("Delete with %s made %q of %q: %w", e.Made, back, now, err), nil
		}
	}
	for _, made := range []string{"", `{"step":0}`}[:1+len(doc)%2] {
		ps, err := edit.Delete(now, g, p, []byte(made))
		if err != nil {
			return fmt.Errorf("Delete: %w", err), nil
		}
		if !ps.Fit(now) {
			return fmt.Errorf("Delete = %v, which does not fit", ps), nil
		}
		after := ps.Apply(now)
		left, err := treeOf(string(after), g)
		if err != nil || edit.Check(after, g) != nil {
			return fmt.Errorf("Delete made %q: %w", after, err), nil
		}
		if want := got.without(p); made == "" && left.String() != want.String() {
			return fmt.Errorf("Delete made %s, want %s", left, want), nil
		}
		if got := commentsBeside(after, nil); !slices.Equal(got, comments) {
			return fmt.Errorf("comments were %q and Delete left %q", comments, got), nil
		}
	}
	return nil, nil
}

// brokenPatches looks at patches as such. was is the entry before, or nil.
func brokenPatches(in, now []byte, e edit.Edit, was *edit.Found) error {
	if !e.Patches.Fit(in) {
		return fmt.Errorf("patches %v do not fit", e.Patches)
	}
	for _, p := range e.Patches {
		if was != nil {
			if p.Offset < was.Start || p.Offset+int64(len(p.Old)) > was.End {
				return fmt.Errorf("patch %+v is not in the entry", p)
			}
		} else if len(p.Old) > 0 && string(p.Old) != "null" {
			return fmt.Errorf("patch %+v is no insertion", p)
		}
	}
	read, err := io.ReadAll(e.Patches.Reader(in))
	if err != nil || !bytes.Equal(read, now) || e.Patches.Len(int64(len(in))) != int64(len(now)) {
		return fmt.Errorf("Reader, Len and Apply differ on %+v", e.Patches)
	}
	back := e.Patches.Reverse()
	if !back.Fit(now) || !bytes.Equal(back.Apply(now), in) {
		return fmt.Errorf("Reverse does not undo %+v", e.Patches)
	}
	return nil
}

// commentsBeside lists the comments that are not in the entry, if there is one.
func commentsBeside(doc []byte, f *edit.Found) []string {
	if f != nil {
		doc = slices.Concat(doc[:f.Start], []byte(" "), doc[f.End:])
	}
	_, comments, _ := tokensOf(string(doc))
	return comments
}

// A writer makes documents that a person or another program could have
// written, and some that nobody would.
type writer struct {
	*rand.Rand
	strings.Builder
	g      edit.Grammar
	eol    string
	unit   string
	neat   bool // each member has its line, with few exceptions
	first  bool // no member is in the innermost brackets yet
	depth  int
	remark int // one gap in so many has a comment
}

func newWriter(seed uint64, g edit.Grammar) *writer {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 4)), g: g}
	w.eol = w.pick("\n", "\n", "\r\n", "\r")
	w.unit = w.pick("  ", "    ", "\t", " ", "")
	w.neat = w.IntN(3) > 0
	w.remark = 2 + w.IntN(20)
	return w
}

func (w *writer) pick(of ...string) string { return of[w.IntN(len(of))] }

func (w *writer) is(percent int) bool { return w.IntN(100) < percent }

// document writes one in which the keys of p are not twice.
func (w *writer) document(p edit.Place) string {
	if w.is(15) {
		w.WriteString(mark)
	}
	if w.is(10) {
		w.gap()
	}
	switch n := w.IntN(50); {
	case n == 0: // empty
	case n == 1:
		w.WriteString("null")
	default:
		w.way(append(slices.Clone(p.Keys), p.Name), p.List)
	}
	if w.is(70) {
		w.WriteString(w.eol)
	}
	if w.is(10) {
		w.gap()
	}
	return w.String()
}

// way writes a map or list in which the path may go on.
func (w *writer) way(path []string, list string) {
	if len(path) == 0 {
		if w.is(10) {
			w.WriteString("null")
			return
		}
		w.object(func() {
			used := map[string]bool{}
			for range w.IntN(5) {
				if key := w.pick("command", "args", "url", "env", "disabled", "timeout", "ñ"); !used[key] {
					used[key] = true
					w.member(key, func() { w.value(3) })
				}
			}
		})
		return
	}
	if list != "" && len(path) == 1 {
		w.list(path[0], list)
		return
	}
	w.object(func() {
		for range w.IntN(4) {
			w.member(w.key(path[0]), func() { w.value(3) })
		}
		if w.is(75) {
			w.member(path[0], func() {
				if len(path) > 1 && w.is(10) {
					w.WriteString("null")
				} else {
					w.way(path[1:], list)
				}
			})
		}
		for range w.IntN(3) {
			w.member(w.key(path[0]), func() { w.value(3) })
		}
	})
}

func (w *writer) list(name, field string) {
	w.brackets('[', func() {
		at := w.IntN(6)
		for i := range 4 {
			switch {
			case i == at:
				w.item(func() {
					w.object(func() {
						w.member("x", func() { w.value(2) })
						w.member(field, func() { w.quote(name) })
						w.member("command", func() { w.value(2) })
					})
				})
			case w.is(50):
				w.item(func() { w.value(2) })
			}
		}
	})
}

// key returns any key but one.
func (w *writer) key(not string) string {
	for {
		if key := w.pick("a", "b", "arenero", "mcpServers", "servers", "mcp", "", "ñandú", "a\"b\\", "\u2028", "😀", "//x", "/*", "name", "MCPSERVERS"); key != not {
			return key
		}
	}
}

func (w *writer) value(depth int) {
	n := w.IntN(12)
	if depth == 0 {
		n = w.IntN(8)
	}
	switch n {
	case 0, 1:
		w.WriteString(w.pick("null", "true", "false"))
	case 2, 3:
		w.WriteString(w.pick("0", "-1.50e+3", "12345678901234567890", "1e999", "0.1"))
	case 8, 9, 10:
		w.object(func() {
			for range w.IntN(4) {
				w.member(w.key("!"), func() { w.value(depth - 1) })
			}
		})
	case 11:
		w.brackets('[', func() {
			for range w.IntN(4) {
				w.item(func() { w.value(depth - 1) })
			}
		})
	case 4:
		n := w.IntN(60) * w.IntN(2) * w.IntN(2)
		w.WriteString(strings.Repeat("[", n) + w.pick("1", "\"\xff\"", `"\ud83d"`) + strings.Repeat("]", n))
	default:
		w.quote(w.pick("", "x", "/opt/arenero-bridge", `"mcpServers": {"arenero": {}}`, "// no comment", "/* nor this */", "{", "],", "\\", "ñ😀", "\x7f", "a\nb"))
	}
}

func (w *writer) object(members func()) { w.brackets('{', members) }

func (w *writer) brackets(kind byte, members func()) {
	outer := w.first
	w.first = true
	w.depth++
	w.WriteByte(kind)
	members()
	if !w.first && w.g == edit.JSONCTrailing && w.is(40) {
		w.gap()
		w.WriteByte(',')
	}
	w.depth--
	if w.neat && !w.is(5) && (!w.first || w.is(30)) {
		w.line()
	} else {
		w.gap()
	}
	w.WriteByte(kind + 2)
	w.first = outer
}

func (w *writer) item(value func()) {
	if !w.first {
		if w.is(10) {
			w.gap()
		}
		w.WriteByte(',')
	}
	w.first = false
	if w.neat && !w.is(5) {
		w.line()
	} else {
		w.gap()
	}
	value()
}

func (w *writer) member(key string, value func()) {
	w.item(func() {
		w.quote(key)
		if w.is(10) {
			w.gap()
		}
		w.WriteByte(':')
		if w.neat && !w.is(5) {
			w.WriteByte(' ')
		} else {
			w.gap()
		}
		value()
	})
}

// line ends a line, perhaps with a remark.
func (w *writer) line() {
	if w.g != edit.JSON && w.IntN(w.remark) == 0 {
		w.comment()
	}
	w.WriteString(w.eol + strings.Repeat(w.unit, w.depth))
}

func (w *writer) gap() {
	for range w.IntN(3) {
		if w.g != edit.JSON && w.IntN(w.remark) == 0 {
			w.comment()
		}
		w.WriteString(w.pick("", " ", "\t", w.eol, "  ", "\n", w.eol+w.unit))
	}
}

func (w *writer) comment() {
	text := w.pick("", " mine", ` "arenero": {},`, " // ", " {[", " ñ", ",", "*", "\"")
	if w.is(50) {
		w.WriteString("/*" + text + w.pick("", w.eol) + "*/")
		return
	}
	w.WriteString(w.pick("", " ") + "//" + text + w.eol)
}

// quote writes a string in any of its spellings.
func (w *writer) quote(s string) {
	w.WriteByte('"')
	for _, r := range s {
		switch {
		case r < ' ' || r == '"' || r == '\\' || r < 0x10000 && w.is(3):
			fmt.Fprintf(w, w.pick(`\u%04x`, `\u%04X`), r)
		default:
			w.WriteRune(r)
		}
	}
	w.WriteByte('"')
}

// aPlace and aValue choose what to write.
func (w *writer) aPlace() edit.Place {
	switch w.IntN(6) {
	case 0:
		return edit.Place{Keys: []string{"mcp", "servers"}, Name: "arenero"}
	case 1:
		return edit.Place{Name: "ñ \"x\""}
	case 2:
		return edit.Place{Keys: []string{"servers"}, Name: "arenero", List: "name"}
	}
	return servers
}

func (w *writer) aValue() (edit.Object, []string) {
	all := edit.Object{
		{Key: "command", Value: w.pick("x", `C:\Program Files\"arenero"`, "ñ")},
		{Key: "args", Value: []string{"--connection", w.pick("c_1", "c_2")}},
		{Key: "env", Value: edit.Object{{Key: "A", Value: w.pick("", "b")}, {Key: "B", Value: edit.Object{}}}},
		{Key: "timeout", Value: w.IntN(3)},
		{Key: "disabled", Value: w.is(50)},
	}
	n := 1 + w.IntN(len(all))
	return all[:n], []string{"url", "type", "ñ"}[w.IntN(4):]
}

func TestPropertiesJSON(t *testing.T) {
	for _, g := range grammarsOfJSON {
		t.Run(string(g), func(t *testing.T) {
			t.Parallel()
			updated := 0
			for seed := range uint64(generated) {
				w := newWriter(seed, g)
				p := w.aPlace()
				value, drop := w.aValue()
				doc := w.document(p)
				wrong, refused := broken(doc, g, p, value, drop)
				if wrong != nil || refused != nil {
					t.Fatalf("document %d, %+v, %v without %q:\n%s\nwrong: %v\nrefused: %v", seed, p, value, drop, doc, wrong, refused)
				}
				if f, _ := edit.Get([]byte(doc), g, p); f != nil {
					updated++
				}
			}
			if updated < generated/5 || updated > generated*4/5 {
				t.Errorf("%d of %d documents had an entry", updated, generated)
			}
		})
	}
}
