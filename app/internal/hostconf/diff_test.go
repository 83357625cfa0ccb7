package hostconf

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

func text4(lines []DiffLine) string {
	var out strings.Builder
	for _, l := range lines {
		out.WriteString(l.String() + "\n")
	}
	return out.String()
}

func TestDiff(t *testing.T) {
	const doc = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n"
	at := func(s string) int64 { return int64(strings.Index(doc, s)) }
	tests := []struct {
		name    string
		doc     string
		patches edit.Patches
		created bool
		removed bool
		want    string
	}{
		{"nothing", doc, nil, false, false, ""},
		{"a line put in", doc, edit.Patches{{Offset: at("6\n"), New: []byte("x\n")}}, false, false, "--- f\n+++ f\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+x\n 6\n 7\n 8\n"},
		{"put in behind a line", doc, edit.Patches{{Offset: at("6\n") + 1, New: []byte("\nx")}}, false, false, "--- f\n+++ f\n@@ -4,6 +4,7 @@\n 4\n 5\n 6\n+x\n 7\n 8\n 9\n"},
		{"two that are near", doc, edit.Patches{{Offset: at("3\n"), Old: []byte("3"), New: []byte("x")}, {Offset: at("6\n"), Old: []byte("6\n")}}, false, false, "--- f\n+++ f\n@@ -1,9 +1,8 @@\n 1\n 2\n-3\n+x\n 4\n 5\n-6\n 7\n 8\n 9\n"},
		{"two that are not", doc, edit.Patches{{New: []byte("a\n")}, {Offset: int64(len(doc)), New: []byte("b")}}, false, false, "--- f\n+++ f\n@@ -1,3 +1,4 @@\n+a\n 1\n 2\n 3\n@@ -10,3 +11,4 @@\n 10\n 11\n 12\n+b\n\\ No newline at end of file\n"},
		{"a new file", "", edit.Patches{{New: []byte("a\nb\n")}}, true, false, "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"a file that goes", "a\n", edit.Patches{{Old: []byte("a\n")}}, false, true, "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"one line", "{}", edit.Patches{{Offset: 1, New: []byte("1")}}, false, false, "--- f\n+++ f\n@@ -1 +1 @@\n-{}\n\\ No newline at end of file\n+{1}\n\\ No newline at end of file\n"},
	}
	for _, tt := range tests {
		if got := text4(diff("f", []byte(tt.doc), tt.patches, tt.created, tt.removed)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestDiffIsWhatPatchReads makes up documents and patches.
func TestDiffIsWhatPatchReads(t *testing.T) {
	bin, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no program patch here")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 150 {
		var doc strings.Builder
		for range r.IntN(30) {
			fmt.Fprintf(&doc, "line %d\n", r.IntN(5))
		}
		if r.IntN(2) == 0 {
			doc.WriteString("no end")
		}
		before := doc.String()
		var ps edit.Patches
		for at := 0; at < len(before) && len(ps) < 4; at++ {
			at += r.IntN(60)
			if at > len(before) {
				break
			}
			n := r.IntN(min(20, len(before)-at) + 1)
			ps = append(ps, edit.Patch{Offset: int64(at), Old: []byte(before[at : at+n]), New: []byte([]string{"", "new", "\nnew\n", "a\nb", "\n"}[r.IntN(5)])})
			at += n
		}
		after := string(ps.Apply([]byte(before)))
		if after == before || before == "" || after == "" {
			continue
		}
		lines := diff("f", []byte(before), ps, false, false)
		file := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(bin, "--fuzz=0", "--silent", file)
		cmd.Stdin = strings.NewReader(text4(lines))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%q, %q\n%s", err, out, before, after, text4(lines))
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != after {
			t.Fatalf("patch makes %q of %q, want %q, with\n%s", got, before, after, text4(lines))
		}
	}
}

func TestLongLinesAreCutAroundTheChange(t *testing.T) {
	doc := `{"a":"` + strings.Repeat("ñ", 5000) + `","mcpServers":{}}`
	at := int64(strings.Index(doc, "{}}") + 1)
	for _, l := range diff("f", []byte(doc), edit.Patches{{Offset: at, New: []byte(`"arenero":{}`)}}, false, false) {
		if len(l.Text) > 2*diffLong {
			t.Errorf("a line has %d bytes", len(l.Text))
		}
		if l.Kind == DiffAdded && !strings.Contains(l.Text, `"arenero":{}`) {
			t.Errorf("the change is not in %q", l.Text)
		}
	}
}
