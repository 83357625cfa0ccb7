package edit_test

import (
	"errors"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

func wantRefused(t *testing.T, err error, want edit.Reason) *edit.RefusedError {
	t.Helper()
	re, ok := errors.AsType[*edit.RefusedError](err)
	if !ok || re.Reason != want {
		t.Fatalf("error is %v (%T), want one of reason %s", err, err, want)
	}
	return re
}

// TestRefuse has what can be read but not edited, or not read. The error has
// its place and its line, for a person to find it.
func TestRefuse(t *testing.T) {
	tests := []struct {
		name    string
		grammar edit.Grammar
		doc     string
		place   edit.Place
		want    edit.Reason // "" for a syntax error
		line    int         // 0 for an error without a place
		text    string
	}{
		{"TOML: no TOML", edit.TOML, "a = 1\nb = [1,\n", codex, "", 2, "b = [1,"},
		{"TOML: key twice", edit.TOML, "a = 1\n[b]\nc = 1\nc = 2\n", codex, "", 4, "c = 2"},
		{"TOML: number of 20 digits", edit.TOML, "a = 12345678901234567890\n", codex, "", 1, "a = 12345678901234567890"},
		{"TOML: CR alone", edit.TOML, "a = 1\rb = 2\n", codex, "", 1, "a = 1"},
		{"TOML: map is a value", edit.TOML, "mcp_servers = 5 # c\n", codex, edit.NotAnObject, 1, "mcp_servers = 5 # c"},
		{"TOML: map is a list of tables", edit.TOML, "\n[[mcp_servers]]\n", codex, edit.NotAnObject, 2, "[[mcp_servers]]"},
		{"TOML: entry is a value", edit.TOML, "[mcp_servers]\nours = true\n", codex, edit.NotAnObject, 2, "ours = true"},
		{"TOML: entry is a list of tables", edit.TOML, "[[mcp_servers.ours]]\n", codex, edit.NotAnObject, 1, "[[mcp_servers.ours]]"},
		{"TOML: dotted keys in an inline table", edit.TOML, "mcp_servers = { ours.command = \"x\" }", codex, edit.NotAnObject, 1, "mcp_servers = { ours.command = \"x\" }"},
		{"TOML: inline table over lines", edit.TOML, "mcp_servers = {\n}\n", codex, edit.NotAnObject, 1, "mcp_servers = {"},
		{"TOML: inline table with a last comma", edit.TOML, "mcp_servers = { a = {}, }\n", codex, edit.NotAnObject, 1, "mcp_servers = { a = {}, }"},
		{"TOML: list is a table", edit.TOML, "[mcp_servers.a]\n[mcp_servers]\n", vibe, edit.NotAnObject, 2, "[mcp_servers]"},
		{"TOML: list of values", edit.TOML, "mcp_servers = [\"a\"]\n", vibe, edit.NotAnObject, 1, "mcp_servers = [\"a\"]"},
		{"TOML: two of one name", edit.TOML, "[[mcp_servers]]\nname = \"ours\"\n[[mcp_servers]]\nname = \"ours\"\n", vibe, edit.DuplicateKey, 0, ""},
		{"TOML: document as a list", edit.TOML, "a = 1\n", edit.Place{Name: "ours", List: "name"}, edit.NotAnObject, 0, ""},
		{"YAML: no YAML", edit.YAML, "a: 1\nb: [\n", goose, "", 3, ""},
		{"YAML: indented with a tab", edit.YAML, "a:\n\tb: 1\n", goose, "", 2, "\tb: 1"},
		{"YAML: bytes that are not text", edit.YAML, "a: 1\nb: \x00\n", goose, "", 2, "b: \x00"},
		{"YAML: several documents", edit.YAML, "a: 1\n---\nb: 2\n", goose, edit.NotADocument, 2, "---"},
		{"YAML: document is a list", edit.YAML, "- a\n", goose, edit.NotAnObject, 1, "- a"},
		{"YAML: map is a value", edit.YAML, "a: 1\nextensions: ''\n", goose, edit.NotAnObject, 2, "extensions: ''"},
		{"YAML: map is a list", edit.YAML, "extensions:\n  - a\n", goose, edit.NotAnObject, 2, "  - a"},
		{"YAML: list is a map", edit.YAML, "mcpServers:\n  a: 1\n", continued, edit.NotAnObject, 2, "  a: 1"},
		{"YAML: entry is a value", edit.YAML, "extensions:\n  ours: x\n", goose, edit.NotAnObject, 2, "  ours: x"},
		{"YAML: key twice", edit.YAML, "extensions:\n  a:\nextensions:\n  b:\n", goose, edit.DuplicateKey, 3, "extensions:"},
		{"YAML: entry twice", edit.YAML, "extensions:\n  ours:\n  'ours':\n", goose, edit.DuplicateKey, 3, "  'ours':"},
		{"YAML: two of one name", edit.YAML, "mcpServers:\n- name: ours\n- name: ours\n", continued, edit.DuplicateKey, 3, "- name: ours"},
		{"YAML: anchor", edit.YAML, "extensions: &x\n  a: 1\nb: *x\n", goose, edit.Anchors, 1, "extensions: &x"},
		{"YAML: anchor on an empty map", edit.YAML, "extensions: &x {}\nb: *x\n", goose, edit.Anchors, 1, "extensions: &x {}"},
		{"YAML: alias", edit.YAML, "b: &x {a: 1}\nextensions: *x\n", goose, edit.Anchors, 2, "extensions: *x"},
		{"YAML: document that is an empty list", edit.YAML, "[]\n", goose, edit.NotAnObject, 1, "[]"},
		{"YAML: tag", edit.YAML, "extensions: !!map\n  a: 1\n", goose, edit.Anchors, 1, "extensions: !!map"},
		{"YAML: merge key", edit.YAML, "b: &x {a: 1}\nextensions:\n  <<: *x\n  c: 1\n", goose, edit.Anchors, 3, "  <<: *x"},
		{"YAML: merge key above", edit.YAML, "<<: {extensions: {a: 1}}\n", goose, edit.Anchors, 1, "<<: {extensions: {a: 1}}"},
		{"YAML: brackets", edit.YAML, "extensions: {a: 1}\n", goose, edit.Anchors, 1, "extensions: {a: 1}"},
		{"YAML: document in brackets", edit.YAML, "{a: 1}\n", goose, edit.Anchors, 1, "{a: 1}"},
		{"YAML: empty brackets with a comment", edit.YAML, "extensions: { # none\n}\n", goose, edit.Anchors, 1, "extensions: { # none"},
		{"YAML: entry in brackets", edit.YAML, "extensions:\n  ours: {cmd: y}\n", goose, edit.Anchors, 2, "  ours: {cmd: y}"},
		{"YAML: entry is an alias", edit.YAML, "a: &x {cmd: y}\nextensions:\n  ours: *x\n", goose, edit.Anchors, 3, "  ours: *x"},
		{"YAML: field with an anchor", edit.YAML, "extensions:\n  ours:\n    cmd: &x y\n  b: *x\n", goose, edit.Anchors, 3, "    cmd: &x y"},
		{"YAML: key on a line of its own", edit.YAML, "? extensions\n: a: 1\n", goose, edit.Anchors, 2, ": a: 1"},
		{"YAML: key with a tag", edit.YAML, "!!str extensions:\n  a: 1\n", goose, edit.Anchors, 1, "!!str extensions:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := edit.Set([]byte(tt.doc), tt.grammar, tt.place, cmd)
			line, text := 0, ""
			if tt.want == "" {
				se, ok := errors.AsType[*edit.SyntaxError](err)
				if !ok {
					t.Fatalf("error is %v (%T), want a syntax error", err, err)
				}
				line, text = se.Line, se.Text
			} else {
				re := wantRefused(t, err, tt.want)
				line, text = re.Line, re.Text
			}
			if line != tt.line || text != tt.text {
				t.Errorf("%v is about line %d, %q, want line %d, %q", err, line, text, tt.line, tt.text)
			}
		})
	}
}

// TestRefuseToDelete has entries that can't go, or not by us.
func TestRefuseToDelete(t *testing.T) {
	tests := []struct {
		name, doc string
		want      edit.Reason
	}{
		{"in use elsewhere", "extensions:\n  ours: &x\n    cmd: y\nb: *x\n", edit.Anchors},
		{"part in use elsewhere", "extensions:\n  ours:\n    cmd: &x y\nb: *x\n", edit.Anchors},
		{"in brackets", "extensions: {ours: {}, b: 1}\n", edit.Anchors},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := edit.Delete([]byte(tt.doc), edit.YAML, goose, nil)
			if re := wantRefused(t, err, tt.want); re.Line == 0 || re.Text == "" {
				t.Errorf("%v has no place", err)
			}
		})
	}
}
