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
