package edit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A yamlWriter makes up documents that are valid and awkward.
type yamlWriter struct {
	*rand.Rand
	strings.Builder
	n       int // for keys that are there once
	anchors int
	dash    int // the column of the list that is being written
}

func (w *yamlWriter) pick(of ...string) string { return of[w.IntN(len(of))] }

func (w *yamlWriter) key() string {
	w.n++
	return fmt.Sprintf(w.pick("k%d", "k-%d", "k %d", `"k: %d"`, `'it''s %d'`, "ключ%d", `"\u00e9 \"%d"`, "ours%d", "1%d"), w.n)
}

// comment is one that may stand behind something.
func (w *yamlWriter) comment() string {
	return w.pick("", "", "", " # ours:", "   # '\"", "\t# é")
}

// between are lines between members of a map or list in this column.
func (w *yamlWriter) between(indent int) {
	for range w.IntN(3) {
		switch w.IntN(5) {
		case 0:
			w.WriteString("\n")
		case 1:
			w.WriteString(w.pick("  ", "") + "\n")
		case 2:
			w.WriteString(strings.Repeat(" ", indent) + "# ours:\n")
		case 3:
			w.WriteString(strings.Repeat(" ", w.IntN(indent+5)) + "#   cmd: x\n")
		}
	}
}

func (w *yamlWriter) pad(indent int) string { return strings.Repeat(" ", indent) }

// value writes what stands behind a key or a dash in column indent, to the end
// of its last line.
func (w *yamlWriter) value(indent, deep int) {
	in := indent + 1 + w.IntN(4)
	n := 16
	if deep > 2 {
		n = 12
	}
	switch w.IntN(n) {
	case 0:
		w.WriteString(w.pick(" 1", "  0x1F", " 12345678901234567890", " 30.0", " 1e3", " -0.0", " .inf", " 0o17") + w.comment() + "\n")
	case 1:
		missing := ""
		if indent == w.dash { // the other parser takes the key below for such an item's
			missing = " ~"
		}
		w.WriteString(w.pick(" true", " yes", " 'no'", " ~", " null", missing, " Null", " on") + w.comment() + "\n")
	case 2:
		w.WriteString(" " + w.pick("text", "two words", "a:b", "a#b", "x - y", "/usr/bin/x", "C:\\x", "é 🚀", "2001-01-01", "1:20", "@x"[1:]) + w.comment() + "\n")
	case 3:
		w.WriteString(" plain\n" + w.pad(in) + "more ours\n" + w.pick("", "\n") + w.pad(in) + "end" + w.comment() + "\n")
	case 4:
		w.WriteString(" \"extensions:\n" + w.pad(in) + "ours: {cmd: x} \\\n" + w.pad(in) + "# no \\\" comment\n\n" + w.pad(in) + "\"" + w.comment() + "\n")
	case 5:
		w.WriteString(" 'extensions:\n\n" + w.pad(in) + "- name: ours # ''\n" + w.pad(in) + "'" + w.comment() + "\n")
	case 6, 7:
		w.WriteString(w.pick(" |", " >", " |-", " >-", " |+", " >+") + w.pick("", "", " # c") + "\n")
		w.WriteString(w.pad(in) + "extensions:\n")
		for _, line := range []string{"  ours:", "    cmd: x", "", "# no comment", "- name: ours"} {
			if w.IntN(4) > 0 {
				if line != "" {
					line = w.pad(in) + line
				}
				w.WriteString(line + "\n")
			}
		}
		w.WriteString(w.pad(in) + "end\n" + w.pick("", "", "\n", "\n\n"))
	case 8:
		w.WriteString(w.pick(" {}", " []", " { }", " [ 1, 'ours' ]", " {ours: {cmd: x}, b: [c, \"}\"]}") + w.comment() + "\n")
	case 9:
		w.WriteString(" [a, # ]\n" + w.pad(in) + "\"b ]\",\n\n" + w.pad(in) + "{ours: x}\n" + w.pad(in) + "]" + w.comment() + "\n")
	case 10:
		w.anchors++
		w.WriteString(fmt.Sprintf(" &a%d text", w.anchors) + w.comment() + "\n")
	case 11:
		if w.anchors == 0 {
			w.WriteString(" !!str 5\n")
			return
		}
		w.WriteString(fmt.Sprintf(" *a%d", 1+w.IntN(w.anchors)) + w.comment() + "\n")
	case 12, 13:
		w.WriteString(w.comment() + "\n")
		w.members(in, deep+1)
	default:
		w.WriteString(w.comment() + "\n")
		w.items(in-w.IntN(2), deep+1)
	}
}

func (w *yamlWriter) members(indent, deep int) {
	for range 1 + w.IntN(3) {
		w.between(indent)
		w.WriteString(w.pad(indent) + w.key() + w.pick(":", ":", " :"))
		w.value(indent, deep)
	}
}

func (w *yamlWriter) items(indent, deep int) {
	for range 1 + w.IntN(3) {
		w.between(indent)
		w.WriteString(w.pad(indent) + "-")
		w.dash = indent
		if w.IntN(3) > 0 {
			w.value(indent, deep)
			continue
		}
		w.WriteString(" " + w.key() + ":")
		w.value(indent+2, deep)
		if w.IntN(2) == 0 {
			w.WriteString(w.pad(indent+2) + w.key() + ":")
			w.value(indent+2, deep)
		}
	}
}

// fields are those of our entry, of which one has to be updated; the first is
// written behind lead.
func (w *yamlWriter) fields(lead string, indent int, named bool) {
	write := []func(){
		func() {
			w.WriteString("command:" + w.pick(" old", " 'old' # c", " \"ol\\\n"+w.pad(indent+1)+"d\"", " |\n"+w.pad(indent+2)+"# old\n", "") + "\n")
		},
		func() {
			w.WriteString("args:" + w.pick(" [a, b] # c", "\n"+w.pad(indent)+"- a\n"+w.pad(indent)+"- b # c", " []") + "\n")
		},
		func() {
			w.WriteString("own:")
			w.value(indent, 1)
		},
	}
	if named {
		write = append(write, func() { w.WriteString("name: " + w.pick("ours", "'ours' # c", "\"ours\"") + "\n") })
	}
	w.Shuffle(len(write), func(i, j int) { write[i], write[j] = write[j], write[i] })
	for _, f := range write {
		w.WriteString(lead)
		f()
		w.between(indent)
		lead = w.pad(indent)
	}
}

// document has other entries, and where with is set ours too.
func (w *yamlWriter) document(list, with bool) []byte {
	if w.IntN(50) == 0 && !with {
		return []byte(w.pick("", "\n", "# c", "# c\n\n", " \r\n", "---", "--- # c\n...\n", "{}", "null\n", "--- {}\n"))
	}
	w.WriteString(w.pick("", "", "", "---\n", "--- # ours:\n", "# c\n---\n", "%YAML 1.1\n---\n"))
	if w.IntN(4) > 0 {
		w.members(0, 0)
	}
	w.between(0)
	key, step := "extensions", 1+w.IntN(4)
	if list {
		key, step = "mcpServers", w.IntN(4)
	}
	empty := []string{"", " {}", " []", " ~", " null", " { }", " [\n]"}
	switch form := w.IntN(4); {
	case form == 0 && !with:
		w.WriteString(w.pick(key, key, "'"+key+"'", "\""+key+"\"") + w.pick(":", " :") + w.pick(empty...) + w.pick("", " # c") + "\n")
	case form == 1 && !with:
	default:
		w.WriteString(w.pick(key, key, "'"+key+"'") + ":" + w.comment() + "\n")
		most := 1 + w.IntN(3)
		at := -1
		if with {
			at = w.IntN(most)
		}
		for i := range most {
			w.between(step)
			switch {
			case i == at && list:
				w.fields(w.pad(step)+w.pick("- ", "-   ")[:2], step+2, true)
			case i == at:
				w.WriteString(w.pad(step) + w.pick("ours:", "'ours' :") + w.comment() + "\n")
				w.between(step)
				in := step + 1 + w.IntN(4)
				w.fields(w.pad(in), in, false)
			case list:
				w.WriteString(w.pad(step) + "- name: " + w.key() + "\n" + w.pad(step+2) + w.key() + ":")
				w.value(step+2, 1)
			default:
				w.WriteString(w.pad(step) + w.key() + ":")
				w.value(step, 0)
			}
		}
	}
	if w.IntN(2) == 0 {
		w.between(0)
		w.members(0, 1)
	}
	w.between(0)
	w.WriteString(w.pick("", "", "", "...\n", "... # c\n# d\n"))
	doc := w.String()
	if w.IntN(3) == 0 {
		doc = strings.ReplaceAll(doc, "\n", "\r\n")
	}
	if w.IntN(4) == 0 {
		doc = strings.TrimRight(doc, "\r\n")
	}
	return []byte(doc)
}

func decodeYAML(b []byte) (map[string]any, error) {
	var m map[string]any
	err := yaml.Unmarshal(b, &m)
	if m == nil {
		m = map[string]any{}
	}
	return m, err
}

func TestPropertiesYAML(t *testing.T) {
	t.Parallel()
	compared := 0
	for i := range generated {
		w := &yamlWriter{Rand: rand.New(rand.NewPCG(uint64(i), 1))}
		list := i%4 == 0
		s := subject{doc: w.document(list, i%2 == 0), grammar: edit.YAML, place: goose, decode: decodeYAML}
		if list {
			s.place = continued
		}
		edited, could := s.invariants(t, i%7 == 0)
		if !edited {
			_, err := edit.Set(s.doc, s.grammar, s.place, before)
			t.Fatalf("document %d is refused: %v\n%s", i, err, s.doc)
		}
		if could {
			compared++
		}
	}
	if compared < generated*9/10 {
		t.Errorf("of %d documents the other parser took %d", generated, compared)
	}
}

func FuzzYAML(f *testing.F) {
	for i := range uint64(20) {
		w := &yamlWriter{Rand: rand.New(rand.NewPCG(i, 2))}
		f.Add(w.document(i%4 == 0, i%2 == 0), i%4 == 0)
	}
	for _, doc := range []string{"extensions: &a {}\nb: *a\n", "extensions:\n  <<: *x\n", "? extensions\n: ours:\n", "extensions: !!map\n  ours: *b\n", "a: 1\n---\nb: 2\n"} {
		f.Add([]byte(doc), false)
	}
	f.Fuzz(func(t *testing.T, doc []byte, list bool) {
		s := subject{doc: doc, grammar: edit.YAML, place: goose}
		if list {
			s.place = continued
		}
		s.invariants(t, true)
	})
}
