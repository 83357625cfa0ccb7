package edit_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// change sets the entry and returns the whole document.
func change(t *testing.T, g edit.Grammar, doc string, p edit.Place, value edit.Object, drop ...string) (string, []byte) {
	t.Helper()
	e, err := edit.Set([]byte(doc), g, p, value, drop...)
	if err != nil {
		t.Fatal(err)
	}
	return string(e.Patches.Apply([]byte(doc))), e.Made
}

// takeAway deletes the entry and returns the whole document.
func takeAway(t *testing.T, g edit.Grammar, doc string, p edit.Place, made []byte) string {
	t.Helper()
	ps, err := edit.Delete([]byte(doc), g, p, made)
	if err != nil {
		t.Fatal(err)
	}
	return string(ps.Apply([]byte(doc)))
}

// A program's own installer wrote all server tables anew: comments and keys it
// did not know were gone, and numbers spelled otherwise.
func TestA8OtherTablesStay(t *testing.T) {
	const others = "# mine\n[mcp_servers.a] # one\ncommand = \"a\" # two\nfuture_key = \"x\"\nstartup_timeout_sec = 30\n\n[mcp_servers.'b']\ncommand = 'b'\ntool_timeout_sec = 1_0.50\nenv = {   A='1' }\n"
	doc, made := change(t, edit.TOML, others, codex, bridge)
	if doc != others+"\n"+codexEntry+"\n" {
		t.Fatalf("the third table gives\n%s", doc)
	}

	// What the user adds to our table is the user's.
	own := strings.Replace(doc, "c_1\"]\n", "c_1\"] # our id\nfuture_key = 1_000 # keep\n# and this\n", 1)
	updated, _ := change(t, edit.TOML, own, codex, edit.Object{{Key: "args", Value: []string{"c_2"}}})
	if want := strings.Replace(own, `["--connection", "c_1"]`, `["c_2"]`, 1); updated != want {
		t.Errorf("an update gives\n%s\nwant\n%s", updated, want)
	}
	if back := takeAway(t, edit.TOML, doc, codex, made); back != others {
		t.Errorf("deleting gives\n%s\nwant\n%s", back, others)
	}
}

// One table without a command or an address, and the program did not start.
func TestA10NoTableIsLeftIncomplete(t *testing.T) {
	const others = "a = 1\n\n[mcp_servers.oursel]\ncommand = \"x\"\n"
	for _, doc := range []string{
		"[mcp_servers.ours]\ncommand = \"x\"\n\n[mcp_servers.ours.env]\nA = \"b\"\n\n[[mcp_servers.ours.tools.x]]\nk = 1\n",
		"[mcp_servers.ours.tools.x]\nk = 1\n[mcp_servers.ours]\nurl = \"x\"\n[mcp_servers.\"ours\".env]\n",
		"[mcp_servers.ours]\nstartup_timeout_sec = 60\n",
		"[mcp_servers.ours.env] # orphan\n",
	} {
		const next = "[z]\nk = 1\n"
		left := takeAway(t, edit.TOML, others+doc+next, codex, nil)
		if strings.Contains(left, "ours.") || strings.Contains(left, "ours]") || strings.Contains(left, `"ours"`) {
			t.Errorf("deleting from\n%s\nleaves\n%s", doc, left)
		}
		if left != others+next {
			t.Errorf("deleting\n%s\ntakes others away:\n%s", doc, left)
		}
	}
	// The tables of the entry may stand anywhere.
	apart := "[mcp_servers.ours.env]\nA = \"b\"\n# of z\n[z]\nk = 1\n[mcp_servers.ours]\ncommand = \"x\"\n[y]\n[mcp_servers.ours.tools.x]\nk = 1\n"
	if got, want := takeAway(t, edit.TOML, apart, codex, nil), "# of z\n[z]\nk = 1\n[y]\n"; got != want {
		t.Errorf("deleting tables that stand apart gives\n%q, want\n%q", got, want)
	}

	if _, err := edit.Set([]byte(others), edit.TOML, codex, nil); err == nil {
		t.Error("a table without any field is inserted")
	}
	// A table below ours is not an entry yet: it gets its own.
	got, _ := change(t, edit.TOML, "[mcp_servers.ours.env]\nA = \"b\"\n", codex, bridge)
	if !strings.HasPrefix(got, codexEntry+"\n\n[mcp_servers.ours.env]") {
		t.Errorf("an orphan becomes\n%s", got)
	}
}

// A key that the program does not know beside the command, and it refused all.
func TestA11NoFieldIsAdded(t *testing.T) {
	for _, g := range []edit.Grammar{edit.TOML, edit.YAML} {
		doc, _ := change(t, g, "", codex, bridge)
		found, err := edit.Get([]byte(doc), g, codex)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for key := range found.Value.(map[string]any) {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		if !slices.Equal(keys, []string{"args", "command"}) {
			t.Errorf("%s: the entry has %q", g, keys)
		}
	}
	got, _ := change(t, edit.TOML, "[mcp_servers.ours]\ntype = \"stdio\" # not known\n"+codexEntry[len("[mcp_servers.ours]\n"):]+"\n", codex, bridge, "type")
	if got != codexEntry+"\n" {
		t.Errorf("without type the entry is\n%s", got)
	}
}

// A map that is null, and entries that are.
func TestA18Null(t *testing.T) {
	for _, doc := range []string{"extensions:\n", "extensions: null # none\nb: 1\n", "b: 1\nextensions: ~", "extensions:\n  null\n"} {
		got, made := change(t, edit.YAML, doc, goose, cmd)
		if back := takeAway(t, edit.YAML, got, goose, made); back != doc {
			t.Errorf("null comes back as\n%q, want\n%q", back, doc)
		}
	}
	const nulls = "extensions:\n  a:\n  b: ~\n"
	got, _ := change(t, edit.YAML, nulls, goose, cmd)
	if got != nulls+"  ours:\n    cmd: x\n" {
		t.Errorf("beside null entries:\n%s", got)
	}
	names, err := edit.List([]byte(got), edit.YAML, goose)
	if err != nil || !slices.Equal(names, []string{"a", "b", "ours"}) {
		t.Errorf("List gives %q, %v", names, err)
	}
	const items = "mcpServers:\n  -\n  - ~\n  - name:\n  - name: a\n"
	got, _ = change(t, edit.YAML, items, continued, cmd)
	if got != items+"  - name: ours\n    cmd: x\n" {
		t.Errorf("beside null items:\n%s", got)
	}
	names, err = edit.List([]byte(got), edit.YAML, continued)
	if err != nil || !slices.Equal(names, []string{"a", "ours"}) {
		t.Errorf("List gives %q, %v", names, err)
	}
}

// Line ends and indentation are those of the neighbours, and stay.
func TestB6LineEndsAndIndentation(t *testing.T) {
	tests := []struct {
		name      string
		grammar   edit.Grammar
		place     edit.Place
		doc, want string
	}{
		{"TOML CRLF", edit.TOML, codex, "[mcp_servers.ours]\r\n\tcommand = 'x'\r\n", "[mcp_servers.ours]\r\n\tcommand = 'x'\r\n\tcmd = \"x\"\r\n"},
		{"TOML mixed", edit.TOML, codex, "a = 1\nb = 2\r\n", "a = 1\nb = 2\r\n\r\n[mcp_servers.ours]\r\ncmd = \"x\"\r\n"},
		{"YAML CRLF", edit.YAML, goose, "extensions:\r\n   a:\r\n       k: 1\r\n", "extensions:\r\n   a:\r\n       k: 1\r\n   ours:\r\n       cmd: x\r\n"},
		{"YAML mixed", edit.YAML, goose, "a: 1\r\nextensions:\n b:\n", "a: 1\r\nextensions:\n b:\n ours:\n  cmd: x\n"},
		{"YAML of four columns", edit.YAML, goose, "a:\n    b: 1\n", "a:\n    b: 1\nextensions:\n    ours:\n        cmd: x\n"},
		{"YAML list", edit.YAML, continued, "mcpServers:\r\n    - name: a\r\n", "mcpServers:\r\n    - name: a\r\n    - name: ours\r\n      cmd: x\r\n"},
		{"mark", edit.YAML, goose, mark + "a: 1\r\n", mark + "a: 1\r\nextensions:\r\n  ours:\r\n    cmd: x\r\n"},
		{"TOML mark", edit.TOML, codex, mark, mark + "[mcp_servers.ours]\ncmd = \"x\"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, made := change(t, tt.grammar, tt.doc, tt.place, cmd)
			if got != tt.want {
				t.Fatalf("Set gives\n%q, want\n%q", got, tt.want)
			}
			if made == nil {
				return
			}
			if back := takeAway(t, tt.grammar, got, tt.place, made); back != tt.doc {
				t.Errorf("Delete gives\n%q, want\n%q", back, tt.doc)
			}
		})
	}
}

// What others add later is not taken away with what Set made.
func TestDeleteWithOthersAddedSince(t *testing.T) {
	doc, made := change(t, edit.TOML, "a = 1", codex, bridge)
	if got, want := takeAway(t, edit.TOML, doc+"\n[z]\nk = 1\n", codex, made), "a = 1\n[z]\nk = 1\n"; got != want {
		t.Errorf("TOML becomes\n%q, want\n%q", got, want)
	}
	doc, made = change(t, edit.TOML, "a = {}\n", edit.Place{Keys: []string{"a", "b"}, Name: "ours"}, bridge)
	if got, want := takeAway(t, edit.TOML, strings.Replace(doc, "c_1\"] }", "c_1\"] }, other = {}", 1), edit.Place{Keys: []string{"a", "b"}, Name: "ours"}, made), "a = { b = { other = {} } }\n"; got != want {
		t.Errorf("inline TOML becomes\n%q, want\n%q", got, want)
	}
	for _, before := range []string{"", "a: 1\n", "extensions: {}\n", "extensions:\n"} {
		doc, made = change(t, edit.YAML, before, goose, cmd)
		got := takeAway(t, edit.YAML, doc+"  other:\n    k: 1\n", goose, made)
		want := strings.TrimSuffix(doc, "  ours:\n    cmd: x\n") + "  other:\n    k: 1\n"
		if got != want {
			t.Errorf("YAML becomes\n%q, want\n%q", got, want)
		}
	}
	// Our entry was one of two, and the other is gone: the map must not be null.
	doc, made = change(t, edit.YAML, "extensions:\n  other: {}\n", goose, cmd)
	if got, want := takeAway(t, edit.YAML, strings.Replace(doc, "  other: {}\n", "", 1), goose, made), "extensions: {}\n"; got != want {
		t.Errorf("YAML becomes\n%q, want\n%q", got, want)
	}
}

// Where an entry is written in several ways, Get and List find it.
func TestGetAndList(t *testing.T) {
	tests := []struct {
		grammar edit.Grammar
		place   edit.Place
		doc     string
		text    string
		value   string
		names   []string
	}{
		{edit.TOML, codex, "mcp_servers.b.c = 1\n[mcp_servers.ours]\nd = 1979-05-27\ne = [1.5]\n# f\n", "[mcp_servers.ours]\nd = 1979-05-27\ne = [1.5]", `{"d": string "1979-05-27", "e": [float64 1.5, ], }`, []string{"b", "ours"}},
		{edit.TOML, codex, "mcp_servers = { b = {}, ours = { c = 1 } }\n", "ours = { c = 1 }", `{"c": int64 1, }`, []string{"b", "ours"}},
		{edit.TOML, vibe, "mcp_servers = [{ name = 'b' }, {}, { name = 'ours' }]\n", "{ name = 'ours' }", `{"name": string "ours", }`, []string{"b", "ours"}},
		{edit.YAML, goose, "extensions: {b: 1, ours: {c: [~, '}']}}\n", "ours: {c: [~, '}']}", `{"c": [<nil> <nil>, string "}", ], }`, []string{"b", "ours"}},
		{edit.YAML, goose, "x: &x {k: 0x1F}\nextensions:\n  'ours' : *x # c\n  b: 1\n", "  'ours' : *x # c", `{"k": int64 31, }`, []string{"ours", "b"}},
		{edit.YAML, continued, "mcpServers:\n- name: ours\n  c: 2001-01-01\n# d\n", "- name: ours\n  c: 2001-01-01", `{"c": string "2001-01-01", "name": string "ours", }`, []string{"ours"}},
	}
	for _, tt := range tests {
		found, err := edit.Get([]byte(tt.doc), tt.grammar, tt.place)
		if err != nil || found == nil {
			t.Errorf("Get in %q gives %v, %v", tt.doc, found, err)
			continue
		}
		if got := tt.doc[found.Start:found.End]; got != tt.text || found.Text != tt.text {
			t.Errorf("the entry in %q is %q, %q, want %q", tt.doc, got, found.Text, tt.text)
		}
		if got := spell(found.Value); got != tt.value {
			t.Errorf("the entry in %q reads %s, want %s", tt.doc, got, tt.value)
		}
		if names, err := edit.List([]byte(tt.doc), tt.grammar, tt.place); err != nil || !slices.Equal(names, tt.names) {
			t.Errorf("List in %q gives %q, %v, want %q", tt.doc, names, err, tt.names)
		}
	}
}
