package edit_test

import (
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

var (
	codex  = edit.Place{Keys: []string{"mcp_servers"}, Name: "ours"}
	vibe   = edit.Place{Keys: []string{"mcp_servers"}, Name: "ours", List: "name"}
	bridge = edit.Object{{Key: "command", Value: "/opt/arenero-bridge"}, {Key: "args", Value: []string{"--connection", "c_1"}}}
)

const codexEntry = "[mcp_servers.ours]\ncommand = \"/opt/arenero-bridge\"\nargs = [\"--connection\", \"c_1\"]"

// TestSetTOML shows the bytes that come out. Each case is deleted again with
// what Set returned: an insertion has to restore the document, and an update
// has to leave what stands in without.
func TestSetTOML(t *testing.T) {
	const inline = `{ command = "/opt/arenero-bridge", args = ["--connection", "c_1"] }`
	tests := []struct {
		name  string
		doc   string
		place edit.Place
		value edit.Object
		drop  []string
		want  string
		// without is the document after Delete; "=" is what was there before.
		without string
	}{
		{"empty", "", codex, bridge, nil, codexEntry + "\n", "="},
		{"comments only", "# mine\n", codex, bridge, nil, "# mine\n\n" + codexEntry + "\n", "="},
		{"no final newline", "a = 1", codex, bridge, nil, "a = 1\n\n" + codexEntry, "="},
		{"empty line at the end", "a = 1\n\n", codex, bridge, nil, "a = 1\n\n" + codexEntry + "\n", "="},
		{"CRLF", "a = 1\r\n", codex, edit.Object{{Key: "command", Value: "x"}}, nil, "a = 1\r\n\r\n[mcp_servers.ours]\r\ncommand = \"x\"\r\n", "="},
		{"Windows path", "", codex, edit.Object{{Key: "command", Value: `C:\a b\x.exe`}}, nil, "[mcp_servers.ours]\ncommand = 'C:\\a b\\x.exe'\n", "="},
		{
			"name that needs quotes", "",
			edit.Place{Keys: []string{"mcp.servers"}, Name: "our \"s\""},
			edit.Object{{Key: "a b", Value: 1}},
			nil, "[\"mcp.servers\".\"our \\\"s\\\"\"]\n\"a b\" = 1\n", "=",
		},
		{"object", "", codex, edit.Object{{Key: "env", Value: edit.Object{{Key: "A.b", Value: "c\n"}, {Key: "D", Value: true}}}}, nil, "[mcp_servers.ours]\nenv = { \"A.b\" = \"c\\n\", D = true }\n", "="},
		{"inline map", "mcp_servers = { a = { command = \"b\" } } # c\n", codex, bridge, nil, "mcp_servers = { a = { command = \"b\" }, ours = " + inline + " } # c\n", "="},
		{"empty inline map", "mcp_servers = {}\n", codex, bridge, nil, "mcp_servers = { ours = " + inline + " }\n", "="},
		{"empty inline map with a blank", "mcp_servers = { }", codex, bridge, nil, "mcp_servers = { ours = " + inline + " }", "="},
		{
			"inline map above", "x = { }",
			edit.Place{Keys: []string{"x", "y"}, Name: "ours"},
			edit.Object{{Key: "a", Value: 1}},
			nil, "x = { y = { ours = { a = 1 } } }", "=",
		},
		{"dotted siblings", "[a]\n  mcp.x.command = \"b\" # c\n[z]\n", edit.Place{Keys: []string{"a", "mcp"}, Name: "ours"}, edit.Object{{Key: "a", Value: 1}}, nil, "[a]\n  mcp.x.command = \"b\" # c\n  mcp.ours = { a = 1 }\n[z]\n", "="},
		{"list", "[[mcp_servers]]\nname = \"a\"\n", vibe, bridge[:1], nil, "[[mcp_servers]]\nname = \"a\"\n\n[[mcp_servers]]\nname = \"ours\"\ncommand = \"/opt/arenero-bridge\"\n", "="},
		{"empty array", "mcp_servers = []\n[z]\n", vibe, bridge[:1], nil, "mcp_servers = [{ name = \"ours\", command = \"/opt/arenero-bridge\" }]\n[z]\n", "="},
		{"array", "mcp_servers = [\n  { name = \"a\" }, # ]\n]\n", vibe, bridge[:1], nil, "mcp_servers = [\n  { name = \"a\" }, { name = \"ours\", command = \"/opt/arenero-bridge\" }, # ]\n]\n", "="},
		{
			"update of a table", "[mcp_servers.ours] # a\n# b\ncommand = \"old\" # c\nfuture = 30.0\n\n[mcp_servers.ours.tools.x]\napproval_mode = \"y\"\n", codex, bridge, nil,
			"[mcp_servers.ours] # a\n# b\ncommand = \"/opt/arenero-bridge\" # c\nfuture = 30.0\nargs = [\"--connection\", \"c_1\"]\n\n[mcp_servers.ours.tools.x]\napproval_mode = \"y\"\n", "",
		},
		{"update without a final newline", "[mcp_servers.ours]\ncommand = \"/opt/arenero-bridge\"", codex, bridge, nil, codexEntry, ""},
		{"update of dotted keys", "mcp_servers.ours.command = \"old\"\nb = 1\n", codex, bridge, nil, "mcp_servers.ours.command = \"/opt/arenero-bridge\"\nmcp_servers.ours.args = [\"--connection\", \"c_1\"]\nb = 1\n", "b = 1\n"},
		{"update of dotted keys in a table", "[mcp_servers]\n\"ours\" . command = \"old\"\n", codex, bridge, nil, "[mcp_servers]\n\"ours\" . command = \"/opt/arenero-bridge\"\n\"ours\".args = [\"--connection\", \"c_1\"]\n", "[mcp_servers]\n"},
		{"update of an inline table", "mcp_servers.ours = { command = \"old\", k = 1 } # c\n", codex, bridge, nil, "mcp_servers.ours = { command = \"/opt/arenero-bridge\", k = 1, args = [\"--connection\", \"c_1\"] } # c\n", ""},
		{"update in an inline map", "mcp_servers = { ours = { command = \"old\" }, a = {} }\n", codex, bridge, nil, "mcp_servers = { ours = " + inline + ", a = {} }\n", "mcp_servers = { a = {} }\n"},
		{"update of tables below alone", "# a\n[mcp_servers.ours.env]\nB = \"c\"\n", codex, bridge, nil, "# a\n" + codexEntry + "\n\n[mcp_servers.ours.env]\nB = \"c\"\n", "# a\n"},
		{
			"update of a list", "[[mcp_servers]]\nname = \"a\"\n[[mcp_servers]]\ncommand = \"old\"\nname = \"ours\"\n[mcp_servers.env]\nA = \"b\"\n[[mcp_servers]]\nname = \"c\"\n", vibe, bridge[:1], nil,
			"[[mcp_servers]]\nname = \"a\"\n[[mcp_servers]]\ncommand = \"/opt/arenero-bridge\"\nname = \"ours\"\n[mcp_servers.env]\nA = \"b\"\n[[mcp_servers]]\nname = \"c\"\n",
			"[[mcp_servers]]\nname = \"a\"\n[[mcp_servers]]\nname = \"c\"\n",
		},
		{"update in an array", "mcp_servers = [{ name = \"ours\" }, { name = \"b\" }]\n", vibe, bridge[:1], nil, "mcp_servers = [{ name = \"ours\", command = \"/opt/arenero-bridge\" }, { name = \"b\" }]\n", "mcp_servers = [{ name = \"b\" }]\n"},
		{"same spelled otherwise", "[mcp_servers.ours]\ntimeout = 0x1e\ncommand = '/opt/arenero-bridge'\n", codex, edit.Object{bridge[0], {Key: "timeout", Value: 30}}, nil, "[mcp_servers.ours]\ntimeout = 0x1e\ncommand = '/opt/arenero-bridge'\n", ""},
		{"object for a table below", "[mcp_servers.ours]\ncommand = \"c\"\n[mcp_servers.ours.env]\nA = \"1\"\n[z]\n", codex, edit.Object{{Key: "env", Value: edit.Object{{Key: "B", Value: "2"}}}}, nil, "[mcp_servers.ours]\ncommand = \"c\"\nenv = { B = \"2\" }\n[z]\n", "[z]\n"},
		{"drop", "[mcp_servers.ours]\ntype = \"stdio\" # x\ncommand = \"/opt/arenero-bridge\"\n[mcp_servers.ours.env]\nA = \"1\"\n", codex, bridge[:1], []string{"type", "env", "none"}, "[mcp_servers.ours]\ncommand = \"/opt/arenero-bridge\"\n", ""},
		{"drop in an inline table", "mcp_servers.ours = { a = 1, b.c = 2, b.d = 3, e = 4, f = 5 }\n", codex, nil, []string{"a", "b", "f"}, "mcp_servers.ours = { e = 4 }\n", ""},
		{"drop of all in an inline table", "mcp_servers.ours = { a = 1, b = 2 }\n", codex, edit.Object{{Key: "c", Value: 3}}, []string{"a", "b"}, "mcp_servers.ours = { c = 3 }\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := edit.Set([]byte(tt.doc), edit.TOML, tt.place, tt.value, tt.drop...)
			if err != nil {
				t.Fatal(err)
			}
			got := e.Patches.Apply([]byte(tt.doc))
			if string(got) != tt.want {
				t.Fatalf("Set gives\n%q, want\n%q", got, tt.want)
			}
			want := tt.without
			if want == "=" {
				want = tt.doc
			}
			ps, err := edit.Delete(got, edit.TOML, tt.place, e.Made)
			if err != nil {
				t.Fatal(err)
			}
			if back := ps.Apply(got); string(back) != want {
				t.Errorf("Delete gives\n%q, want\n%q", back, want)
			}
		})
	}
}
