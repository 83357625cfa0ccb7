package edit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// A tomlWriter makes up documents that are valid and awkward.
type tomlWriter struct {
	*rand.Rand
	strings.Builder
	n int // for keys that are there once
}

func (w *tomlWriter) pick(of ...string) string { return of[w.IntN(len(of))] }

func (w *tomlWriter) key() string {
	w.n++
	return fmt.Sprintf(w.pick("k%d", "k-%d", `"k %d"`, `'k.%d'`, `"ключ %d"`, `"[mcp_servers.ours] %d"`, `"\u00e9\"%d"`), w.n)
}

func (w *tomlWriter) comment() string {
	return w.pick("", "", "", " # [mcp_servers.ours]", "\t# command = \"x\"", "#", " # \"\"\" ''' é", " # ]]")
}

func (w *tomlWriter) value(deep int) string {
	n := 16
	if deep > 2 {
		n = 13
	}
	switch w.IntN(n) {
	case 0:
		return w.pick("1", "0x1E", "1_000", "+7", "0o17", "0b1", "9223372036854775807")
	case 1:
		return w.pick("30.0", "12345678901234567890.0", "0.12345678901234567890", "1e10", "-inf", "nan", "6.02_2E+2")
	case 2:
		return w.pick("true", "false")
	case 3:
		return w.pick("1979-05-27T07:32:00Z", "1979-05-27 07:32:00.5-07:00", "1979-05-27T07:32:00", "1979-05-27", "07:32:00")
	case 4:
		return "\"\"\"\n[mcp_servers.ours]\ncommand = \"x\"\n\"\"\\\"\"\"\""
	case 5:
		return "'''\n[mcp_servers.ours] # x\n''\\'''"
	case 6:
		return "\"\"\"a\\\n   b\"\"\"\"\""
	case 7:
		return `"[mcp_servers.ours] \\ \" \u00e9 \t 🚀 12345678901234567890"`
	case 8:
		return `'C:\x\"mcp_servers'`
	case 9:
		return w.pick(`""`, `''`, `""""""`, `''''''`)
	case 13, 14:
		var b strings.Builder
		b.WriteString("[" + w.pick("", " ", "\n  ", " # ] [\n"))
		for i := range w.IntN(4) {
			if i > 0 {
				b.WriteString(w.pick(",", " , ", ",\n\t", ", # '''\n"))
			}
			b.WriteString(w.value(deep + 1))
		}
		return b.String() + w.pick("", "\n", " ", " #\"\n") + "]"
	case 15:
		return w.inline(deep)
	}
	return fmt.Sprintf("\"v%d\"", w.IntN(100))
}

// inline is on one line: it has only values that are.
func (w *tomlWriter) inline(deep int) string {
	var members []string
	for range w.IntN(4) {
		v := w.value(deep + 1)
		for strings.Contains(v, "\n") {
			v = w.value(3)
		}
		members = append(members, w.key()+w.pick("=", " = ")+v)
	}
	return "{" + w.pick("", " ") + strings.Join(members, w.pick(",", " , ", ", ")) + w.pick("", " ") + "}"
}

func (w *tomlWriter) lines(most int) {
	for range w.IntN(most + 1) {
		switch w.IntN(6) {
		case 0:
			w.WriteString(w.pick("", " ", "\t") + w.comment() + "\n")
		case 1:
			w.WriteString("\n")
		case 2:
			w.WriteString(w.pick("", "  ") + w.key() + w.pick(".", " . ") + w.key() + " =" + w.value(0) + w.comment() + "\n")
		default:
			w.WriteString(w.pick("", "  ", "\t") + w.key() + w.pick("=", " = ", "\t=  ") + w.value(0) + w.comment() + "\n")
		}
	}
}

// header is one with these keys, in any spelling.
func (w *tomlWriter) header(array bool, keys ...string) {
	for i, key := range keys {
		keys[i] = w.pick(key, key, `"`+key+`"`)
	}
	h := "[" + w.pick("", " ") + strings.Join(keys, w.pick(".", ".", " . ")) + w.pick("", " ") + "]"
	if array {
		h = "[" + h + "]"
	}
	w.WriteString(w.pick("", "\n", "# next\n", "\n\n", "  ") + h + w.comment() + "\n")
}

func (w *tomlWriter) tables() {
	for range w.IntN(3) {
		w.n++
		name := fmt.Sprintf("t%d", w.n)
		if array := w.IntN(4) == 0; array {
			for range 1 + w.IntN(2) {
				w.header(true, name)
				w.lines(3)
			}
			continue
		}
		w.header(false, name, "ours")
		w.lines(4)
	}
}

// finish gives the document its line breaks and its end.
func (w *tomlWriter) finish() []byte {
	doc := w.String()
	if w.IntN(3) == 0 {
		doc = strings.ReplaceAll(doc, "\n", "\r\n")
	}
	if w.IntN(4) == 0 {
		doc = strings.TrimRight(doc, "\r\n")
	}
	return []byte(doc)
}

// document has other entries, written in some way, and where with is set ours
// too.
func (w *tomlWriter) document(list, with bool) []byte {
	if w.IntN(100) == 0 && !with {
		return []byte(w.pick("", "\n", "# c", "# c\n\n", " \r\n"))
	}
	form := w.IntN(5)
	own := func() string { return "{ " + w.pick("", "k = 1, ") + "command = \"old\", future = 30.0 }" }
	fields := func() {
		w.lines(2)
		w.WriteString("command = " + w.pick(`"old"`, "'C:\\old'", "\"\"\"\nold\"\"\"") + w.comment() + "\n")
		w.lines(2)
	}
	w.lines(4)
	switch {
	case list && form == 0:
		w.WriteString("mcp_servers = [" + w.pick("", " ", "\n"))
		if with {
			w.WriteString("{ name = \"x\" }, { name = \"ours\", command = \"old\", k = 2 }" + w.pick("", ", {name='z'}"))
		} else {
			w.WriteString(w.pick("", "{ name = \"x\" }", "{ name = \"x\" },\n{}, # name = \"ours\"\n"))
		}
		w.WriteString("]" + w.comment() + "\n")
	case form == 0 && !list:
		w.WriteString("mcp_servers = { x = {}" + w.pick("", ", y.command = \"ours\""))
		if with {
			w.WriteString(", ours = " + own() + w.pick("", ", z = {}"))
		}
		w.WriteString(" }\n")
	case form == 1 && !list:
		w.WriteString("mcp_servers.x.command = \"a\"" + w.comment() + "\n")
		if with {
			w.WriteString(w.pick("mcp_servers.ours = "+own()+"\n", "mcp_servers.ours.command = \"old\"\nmcp_servers . ours.future = 0x1E # c\n"))
		}
	}
	w.lines(2)
	w.tables()
	servers := func(name string) {
		if list {
			w.header(true, "mcp_servers")
			w.WriteString("name = \"" + name + "\"" + w.comment() + "\n")
		} else {
			w.header(false, "mcp_servers", name)
		}
		if name == "ours" {
			fields()
		} else {
			w.lines(4)
		}
		if w.IntN(3) == 0 {
			if list {
				w.header(false, "mcp_servers", "more")
			} else {
				w.header(false, "mcp_servers", name, "more")
			}
			w.lines(2)
		}
	}
	if form == 2 && !list {
		w.header(false, "mcp_servers")
		w.lines(2)
		if with {
			w.WriteString(w.pick("ours = "+own()+"\n", "ours.command = \"old\"\n"))
			with = false
		}
	}
	if form >= 2 {
		for i := range w.IntN(3) {
			servers(fmt.Sprintf("o%d", i))
			w.tables()
		}
		if with {
			servers("ours")
			w.tables()
		}
	}
	w.tables()
	if form == 1 && list && with {
		servers("ours")
	}
	return w.finish()
}

func decodeTOML(b []byte) (map[string]any, error) {
	var m map[string]any
	_, err := toml.Decode(string(b), &m)
	return m, err
}

func TestPropertiesTOML(t *testing.T) {
	t.Parallel()
	compared := 0
	for i := range generated {
		w := &tomlWriter{Rand: rand.New(rand.NewPCG(uint64(i), 1))}
		list := i%4 == 0
		s := subject{doc: w.document(list, i%2 == 0), grammar: edit.TOML, place: codex, decode: decodeTOML}
		if list {
			s.place = vibe
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

func FuzzTOML(f *testing.F) {
	for i := range uint64(20) {
		w := &tomlWriter{Rand: rand.New(rand.NewPCG(i, 2))}
		f.Add(w.document(i%4 == 0, i%2 == 0), i%4 == 0)
	}
	f.Add([]byte("mcp_servers.ours.a.b = 1\n[mcp_servers.ours.c]\n[[mcp_servers.ours.d]]\n"), false)
	f.Add([]byte("[[mcp_servers]]\nname = \"ours\"\n[[mcp_servers]]\nname = \"ours\"\n"), true)
	f.Fuzz(func(t *testing.T, doc []byte, list bool) {
		s := subject{doc: doc, grammar: edit.TOML, place: codex}
		if list {
			s.place = vibe
		}
		s.invariants(t, true)
	})
}
