package edit_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// largeDocument is what a program's file becomes that keeps its history beside
// its servers: n bytes of it.
func largeDocument(n int) []byte {
	var b bytes.Buffer
	b.Grow(n + 1<<10)
	b.WriteString("{\n  \"numStartups\": 12,\n  \"projects\": {")
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n    \"/home/me/src/project-%d\": {\n      \"allowedTools\": [],\n      \"lastCost\": %d.%d,\n      \"history\": [", i, i%7, i)
		for j := range 10 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "\n        {\n          \"display\": \"explain what \\\"step %d\\\" of ñandú does\",\n          \"pasted\": {},\n          \"done\": true\n        }", j)
		}
		b.WriteString("\n      ]\n    }")
	}
	b.WriteString("\n  },\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"o\"\n    }\n  }\n}\n")
	return b.Bytes()
}

func BenchmarkLarge(b *testing.B) {
	doc := largeDocument(200 << 20)
	for _, g := range []edit.Grammar{edit.JSON, edit.JSONCTrailing} {
		b.Run(string(g), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				e, err := edit.Set(doc, g, servers, entry)
				if err != nil || len(e.Patches) == 0 {
					b.Fatalf("Set = %v, %v", e, err)
				}
			}
		})
	}
}

// A large document of strict JSON is read as it lies there: no copy of it, and
// no tree of its values.
func TestLargeWithoutCopy(t *testing.T) {
	doc := largeDocument(16 << 20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e, err := edit.Set(doc, edit.JSON, servers, entry)
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("Set in a document of %d bytes allocated %d", len(doc), used)
	}
	now := e.Patches.Apply(doc)
	ps, err := edit.Delete(now, edit.JSON, servers, e.Made)
	if err != nil || !bytes.Equal(ps.Apply(now), doc) {
		t.Errorf("Delete does not restore a document of %d bytes: %v", len(doc), err)
	}
}
