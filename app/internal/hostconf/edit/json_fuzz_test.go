package edit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// Whatever the bytes are, an edit is refused or has all its properties.
func FuzzJSON(f *testing.F) {
	for seed := range uint64(40) {
		for i, g := range grammarsOfJSON {
			w := newWriter(seed, g)
			p := w.aPlace()
			f.Add([]byte(w.document(p)), uint8(i), strings.Join(p.Keys, "/"), p.Name, p.List)
		}
	}
	for _, doc := range []string{"", "null", "[", `{"mcpServers":[1,]}`, "{}/*", mark + mark, "\xff\xfe{\x00", "{,}", "{\"a\":1}//", "/**/{}", `{"\u,065":0}`} {
		f.Add([]byte(doc), uint8(2), "mcpServers", "arenero", "")
	}
	for _, keys := range []string{"", "0", "mcp&Servers"} {
		for _, list := range []string{"", "g<>"} {
			f.Add([]byte("{}"), uint8(0), keys, "a&b<c>\"\x00", list)
			f.Add([]byte(""), uint8(0), keys, "a&b<c>\u2028", list)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte, n uint8, keys, name, list string) {
		doc := string(in)
		g := grammarsOfJSON[int(n)%len(grammarsOfJSON)]
		p := edit.Place{Name: name, List: list}
		if keys != "" {
			p.Keys = strings.Split(keys, "/")
		}
		wrong, refused := broken(doc, g, p, entry, []string{"url"})
		if wrong != nil {
			t.Fatalf("%+v of %q as %s: %v", p, doc, g, wrong)
		}
		_, err := treeOf(doc, g)
		if _, ok := errors.AsType[*edit.SyntaxError](refused); ok && err == nil && strings.Count(doc, "[")+strings.Count(doc, "{") < 10000 {
			t.Fatalf("%q as %s: %v", doc, g, refused)
		}
		if checked := edit.Check(in, g); (checked == nil) != (err == nil) && refused == nil {
			t.Fatalf("Check of %q as %s: %v, but %v", doc, g, checked, err)
		}
		edit.List(in, g, p)
		edit.Get(in, g, p)
		edit.Delete(in, g, p, []byte(`{"step":1,"comma":true,"pre":" ","post":","}`))
	})
}

var grammarsOfJSON = []edit.Grammar{edit.JSON, edit.JSONC, edit.JSONCTrailing}
