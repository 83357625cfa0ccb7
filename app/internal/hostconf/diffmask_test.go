package hostconf

import (
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// TestShownDiffHidesWhatOthersHave has a secret in every place that a line next
// to our entry may have one. The names beside it stay.
func TestShownDiffHidesWhatOthersHave(t *testing.T) {
	value := edit.Object{{Key: "command", Value: "/opt/arenero-bridge"}, {Key: "args", Value: []string{"--connection", "c_1"}}}
	tests := []struct {
		name    string
		doc     string
		grammar edit.Grammar
		place   edit.Place
	}{
		{"a line each", "{\n  \"mcpServers\": {\n    \"gh\": {\n      \"env\": {\n        \"TOKEN\": \"SECRET\"\n      }\n    }\n  }\n}\n", edit.JSON, edit.Place{Keys: []string{"mcpServers"}, Name: "ours"}},
		{"one line", `{"mcpServers":{"gh":{"env":{"TOKEN":"it's \"SECRET"},"args":["--key","SECRET: x","a=SECRET"]}},"TOKEN":"SECRET"}`, edit.JSON, edit.Place{Keys: []string{"mcpServers"}, Name: "ours"}},
		{"comments", "{\n  \"mcpServers\": {\n    // \"TOKEN\": \"SECRET\"\n    /* TOKEN=SECRET\n       SECRET */ \"gh\": {} // TOKEN SECRET\n  }\n}\n", edit.JSONC, edit.Place{Keys: []string{"mcpServers"}, Name: "ours"}},
		{"TOML", "[mcp_servers.gh]\nargs = [\"SECRET\",\n[\"SECRET\"]]\n[mcp_servers.gh.env] # SECRET\nTOKEN = 'SECRET' # SECRET\n", edit.TOML, edit.Place{Keys: []string{"mcp_servers"}, Name: "ours"}},
		{"TOML text", "[mcp_servers.gh.env]\nTOKEN = \"\"\"\nSECRET=\nSECRET+x==\n\"\"\"\n", edit.TOML, edit.Place{Keys: []string{"mcp_servers"}, Name: "ours"}},
		{"YAML", "extensions:\n  gh:\n    TOKEN: SECRET x\n    url: https://u:SECRET@h/\n    a: [SECRET, \"SECRET\"]\n", edit.YAML, edit.Place{Keys: []string{"extensions"}, Name: "ours"}},
		{"YAML list", "extensions:\n  gh:\n    TOKEN:\n    - SECRET\n    - KEY=SECRET\n    - \"SECRET\" # SECRET\n", edit.YAML, edit.Place{Keys: []string{"extensions"}, Name: "ours"}},
		{"YAML text", "extensions:\n  gh:\n    TOKEN: |\n      SECRET\n      SECRET==\n      it's SECRET\n", edit.YAML, edit.Place{Keys: []string{"extensions"}, Name: "ours"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, head := range []string{"", strings.Repeat("\n", 9)} { // the numbers of lines count all that is before
				doc := []byte(head + tt.doc)
				e, err := edit.Set(doc, tt.grammar, tt.place, value)
				if err != nil {
					t.Fatal(err)
				}
				raw, shown := diff("f", doc, e.Patches, false, false), shownDiff("f", doc, e.Patches, false, false)
				got := text4(shown)
				if strings.Contains(got, "SECRET") || strings.ContainsRune(got, hidden) {
					t.Errorf("the difference tells:\n%s", got)
				}
				if !strings.Contains(text4(raw), "SECRET") || !strings.Contains(got, hiddenText) {
					t.Errorf("nothing was hidden:\n%s", got)
				}
				for _, keep := range []string{"/opt/arenero-bridge", "c_1"} {
					if !strings.Contains(got, keep) {
						t.Errorf("%s is hidden:\n%s", keep, got)
					}
				}
				if strings.Contains(text4(raw), "  \"TOKEN\":") && !strings.Contains(got, "TOKEN") {
					t.Errorf("the names are hidden:\n%s", got)
				}
				if len(raw) != len(shown) {
					t.Fatalf("it has %d lines, want %d:\n%s", len(shown), len(raw), got)
				}
				for i, l := range shown {
					if l.Kind != raw[i].Kind || l.Old != raw[i].Old || l.New != raw[i].New || l.Kind == DiffHunk && l.Text != raw[i].Text {
						t.Errorf("line %d is %+v, want %+v", i, l, raw[i])
					}
				}
			}
		})
	}
}

func TestShownDiffOfAHugeLine(t *testing.T) {
	doc := []byte(`{"a":"` + strings.Repeat("SECRET", maxShown/6+1) + `"}`)
	got := text4(shownDiff("f", doc, edit.Patches{{Offset: int64(len(doc) - 1), New: []byte(`,"ours":{}`)}}, false, false))
	if want := "--- f\n+++ f\n+,\"ours\":{}\n"; got != want {
		t.Errorf("it is %.300s", got)
	}
}

// TestEntriesOfOthersAreHiddenWhenTheyGo takes out, or over, an entry with a
// secret that somebody else wrote, and takes that back.
func TestEntriesOfOthersAreHiddenWhenTheyGo(t *testing.T) {
	const doc = "{\n  \"mcpServers\": {\n    \"arenero\": {\n      \"command\": \"SECRET-cmd\",\n      \"env\": {\n        \"TOKEN\": \"SECRET\"\n      }\n    }\n  }\n}\n"
	place := edit.Place{Keys: []string{"mcpServers"}, Name: "arenero"}
	gone, err := edit.Delete([]byte(doc), edit.JSON, place, nil)
	if err != nil {
		t.Fatal(err)
	}
	over, err := edit.Set([]byte(doc), edit.JSON, place, edit.Object{{Key: "command", Value: "/opt/arenero-bridge"}}, "env")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"gone": text4(shownTheirs("f", []byte(doc), gone, false, false, nil)),
		"over": text4(shownTheirs("f", []byte(doc), over.Patches, false, false, []string{"/opt/arenero-bridge"})),
		"back": text4(shownTheirs("f", over.Patches.Apply([]byte(doc)), over.Patches.Reverse(), false, false, []string{"/opt/arenero-bridge"})),
	} {
		if strings.Contains(got, "SECRET") || strings.ContainsRune(got, hidden) || !strings.Contains(got, hiddenText) {
			t.Errorf("%s: it tells\n%s", name, got)
		}
		if !strings.Contains(got, "TOKEN") || name != "gone" && !strings.Contains(got, "/opt/arenero-bridge") {
			t.Errorf("%s: names are hidden\n%s", name, got)
		}
	}
	long := []byte(`{"x":"` + strings.Repeat("y", maxShown) + `","arenero":{"env":"SECRET"}}`)
	at := int64(strings.Index(string(long), `"arenero"`))
	got := text4(shownTheirs("f", long, edit.Patches{{Offset: at, Old: long[at : len(long)-1]}}, false, false, nil))
	if strings.Contains(got, "SECRET") || !strings.Contains(got, `"arenero"`) {
		t.Errorf("on a long line: %.300s", got)
	}
}
