package edit_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

var servers = edit.Place{Keys: []string{"mcpServers"}, Name: "arenero"}

var entry = edit.Object{
	{Key: "command", Value: "/opt/arenero-bridge"},
	{Key: "args", Value: []string{"--connection", "c_1"}},
}

// flat is entry on one line.
const flat = `{"command": "/opt/arenero-bridge", "args": ["--connection", "c_1"]}`

// lines is entry with a line for each field, in a map whose members have this
// indentation.
func lines(indent, unit, eol string) string {
	return "{" + eol + indent + unit + `"command": "/opt/arenero-bridge",` + eol + indent + unit + `"args": ["--connection", "c_1"]` + eol + indent + "}"
}

const mark = "\xef\xbb\xbf"

// The names are those of the failures of other programs that a case is about.
func TestSetJSON(t *testing.T) {
	var settings strings.Builder
	for i := range 300 {
		fmt.Fprintf(&settings, "  \"editor.setting%d\": %d,\n", i, i)
	}
	tests := []struct {
		name     string
		g        edit.Grammar
		in, want string
	}{
		{
			"A1 many settings", edit.JSON, "{\n" + settings.String() + "  \"last\": true\n}\n",
			"{\n" + settings.String() + "  \"last\": true,\n  \"mcpServers\": {\n    \"arenero\": " + lines("    ", "  ", "\n") + "\n  }\n}\n",
		},
		{
			"A3 comments", edit.JSONC, "{ // keep\n \"mcpServers\": {\"fs\":{\"command\":\"f\"}} }",
			"{ // keep\n \"mcpServers\": {\"fs\":{\"command\":\"f\"},\"arenero\":" + strings.NewReplacer(": ", ":", ", ", ",").Replace(flat) + "} }",
		},
		{
			"A4 servers in comments", edit.JSONC, "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // in use\n\t\t\"b\": {} // too\n\t\t// \"c\": {},\n\t\t/* \"d\": {} */\n\t}\n}",
			"{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // in use\n\t\t\"b\": {}, // too\n\t\t\"arenero\": " + lines("\t\t", "\t", "\n") + "\n\t\t// \"c\": {},\n\t\t/* \"d\": {} */\n\t}\n}",
		},
		{
			"A6 comma at the end", edit.JSONCTrailing, "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n    },\n  },\n}\n",
			"{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n    },\n    \"arenero\": " + lines("    ", "  ", "\n") + ",\n  },\n}\n",
		},
		{"A16 nothing", edit.JSON, "", "{\n  \"mcpServers\": {\n    \"arenero\": " + lines("    ", "  ", "\n") + "\n  }\n}\n"},
		{"A16 space", edit.JSON, " \r\n\t\r\n", " \r\n\t\r\n{\r\n  \"mcpServers\": {\r\n    \"arenero\": " + lines("    ", "  ", "\r\n") + "\r\n  }\r\n}\r\n"},
		{"A16 a comment", edit.JSONC, "// mine", "// mine\n{\n  \"mcpServers\": {\n    \"arenero\": " + lines("    ", "  ", "\n") + "\n  }\n}\n"},
		{"A16 an empty map", edit.JSON, "{}", "{\n  \"mcpServers\": {\n    \"arenero\": " + lines("    ", "  ", "\n") + "\n  }\n}"},
		{"A16 a comment in a map", edit.JSONC, "{\n  /* mine */\n}\n", "{\n  /* mine */\n  \"mcpServers\": {\n    \"arenero\": " + lines("    ", "  ", "\n") + "\n  }\n}\n"},
		{"A18 null for a map", edit.JSON, `{"mcpServers": null}`, `{"mcpServers": {"arenero": ` + flat + `}}`},
		{"A18 null on its line", edit.JSON, "{\n    \"mcpServers\":null\n}", "{\n    \"mcpServers\":{\n        \"arenero\":" + strings.NewReplacer(": ", ":", ", ", ",").Replace(lines("        ", "    ", "\n")) + "\n    }\n}"},
		{"A18 null for a document", edit.JSON, "null\n", "{\n  \"mcpServers\": {\n    \"arenero\": " + lines("    ", "  ", "\n") + "\n  }\n}\n"},
		{"A18 null for our entry", edit.JSON, `{"mcpServers": {"arenero": null}}`, `{"mcpServers": {"arenero": ` + flat + `}}`},
		{"A18 null for others", edit.JSON, `{"mcpServers": {"a": null, "b": null}}`, `{"mcpServers": {"a": null, "b": null, "arenero": ` + flat + `}}`},
		{"B1 byte order mark", edit.JSON, mark + `{ "mcpServers": { "a": {} } }`, mark + `{ "mcpServers": { "a": {}, "arenero": ` + flat + ` } }`},
		{"B1 nothing but the mark", edit.JSON, mark, mark + "{\n  \"mcpServers\": {\n    \"arenero\": " + lines("    ", "  ", "\n") + "\n  }\n}\n"},
		{
			"B6 CRLF and four spaces", edit.JSON, "{\r\n    \"x\": 1,\r\n    \"mcpServers\": {\r\n        \"a\": {\r\n            \"command\": \"\\u003c\"\r\n        }\r\n    }\r\n}",
			"{\r\n    \"x\": 1,\r\n    \"mcpServers\": {\r\n        \"a\": {\r\n            \"command\": \"\\u003c\"\r\n        },\r\n        \"arenero\": " + lines("        ", "    ", "\r\n") + "\r\n    }\r\n}",
		},
		{"B6 CR", edit.JSON, "{\r\t\"x\": 1\r}\r", "{\r\t\"x\": 1,\r\t\"mcpServers\": {\r\t\t\"arenero\": " + lines("\t\t", "\t", "\r") + "\r\t}\r}\r"},
		{
			"B6 servers with a line each", edit.JSONC, "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"},\n    \"arenero\": " + flat + "\n  }\n}",
		},
		{"no space", edit.JSON, `{"a":1}`, `{"a":1,"mcpServers":{"arenero":` + strings.NewReplacer(": ", ":", ", ", ",").Replace(flat) + `}}`},
		{"a comment ends the line", edit.JSONC, "{\"mcpServers\": {\"a\": 1 // one\n}}", "{\"mcpServers\": {\"a\": 1, // one\n  \"arenero\": " + flat + "\n}}"},
		{"twenty digits", edit.JSON, `{"n": 12345678901234567890, "f": 1.0e+2}`, `{"n": 12345678901234567890, "f": 1.0e+2, "mcpServers": {"arenero": ` + flat + `}}`},
		{"bytes that are no UTF-8", edit.JSON, "{\"n\": \"\xff\xfe\"}", "{\"n\": \"\xff\xfe\", \"mcpServers\": {\"arenero\": " + flat + `}}`},
		{"half a surrogate", edit.JSON, `{"n": "\ud800"}`, `{"n": "\ud800", "mcpServers": {"arenero": ` + flat + `}}`},
		{"a key with escapes", edit.JSON, `{"mcp\u0053ervers": {"a": 1}}`, `{"mcp\u0053ervers": {"a": 1, "arenero": ` + flat + `}}`},
		{"keys that differ in case", edit.JSON, `{"MCPServers": {}}`, `{"MCPServers": {}, "mcpServers": {"arenero": ` + flat + `}}`},
		{"others' keys twice", edit.JSON, `{"a": 1, "a": 2, "mcpServers": {"b": {}, "b": {}}}`, `{"a": 1, "a": 2, "mcpServers": {"b": {}, "b": {}, "arenero": ` + flat + `}}`},
		{"a text that looks like ours", edit.JSON, `{"t": "\"mcpServers\": {\"arenero\": {}}", "mcpServers": {}}`, `{"t": "\"mcpServers\": {\"arenero\": {}}", "mcpServers": {"arenero": ` + flat + `}}`},
		{"our key elsewhere", edit.JSON, `{"p": {"mcpServers": {"arenero": 1}}, "mcpServers": {}}`, `{"p": {"mcpServers": {"arenero": 1}}, "mcpServers": {"arenero": ` + flat + `}}`},
		{"comments in odd places", edit.JSONCTrailing, "/*a*/{/*b*/\"mcpServers\"/*c*/:/*d*/{/*e*/\"x\"/*f*/:1/*g*/,/*h*/}/*i*/}//j", "/*a*/{/*b*/\"mcpServers\"/*c*/:/*d*/{/*e*/\"x\"/*f*/:1/*g*/,/*h*/ \"arenero\": " + flat + ",}/*i*/}//j"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := edit.Set([]byte(tt.in), tt.g, servers, entry)
			if err != nil {
				t.Fatal(err)
			}
			now := e.Patches.Apply([]byte(tt.in))
			if string(now) != tt.want {
				t.Fatalf("Set made\n%s\nwant\n%s", now, tt.want)
			}
			if again, err := edit.Set(now, tt.g, servers, entry); err != nil || len(again.Patches) > 0 || again.Made != nil {
				t.Errorf("the second Set = %+v, %v", again, err)
			}
			ps, err := edit.Delete(now, tt.g, servers, e.Made)
			if got := string(ps.Apply(now)); err != nil || got != tt.in {
				t.Errorf("Delete made\n%s\nwant\n%s\nerr %v", got, tt.in, err)
			}
		})
	}
}

func TestUpdateJSON(t *testing.T) {
	with := func(entry string) string { return "{\n  \"mcpServers\": {\n    \"arenero\": " + entry + "\n  }\n}\n" }
	tests := []struct {
		name, in, want string
	}{
		{"the user's fields and comments", "{\n      // off for now\n      \"disabled\": true,\n      \"command\": \"/old\", // moved\n      \"args\": [\"--connection\", \"c_1\"],\n      \"timeout\": 1e3\n    }", "{\n      // off for now\n      \"disabled\": true,\n      \"command\": \"/opt/arenero-bridge\", // moved\n      \"args\": [\"--connection\", \"c_1\"],\n      \"timeout\": 1e3\n    }"},
		{"fields to add", "{\n      \"disabled\": true, // yes\n      \"command\": \"/opt/arenero-bridge\" // ours\n    }", "{\n      \"disabled\": true, // yes\n      \"command\": \"/opt/arenero-bridge\", // ours\n      \"args\": [\"--connection\", \"c_1\"]\n    }"},
		{"fields to add on one line", `{ "autoApprove": ["x"] }`, `{ "autoApprove": ["x"], "command": "/opt/arenero-bridge", "args": ["--connection", "c_1"] }`},
		{"nothing in it", "{}", lines("    ", "  ", "\n")},
		{"fields to drop", "{\n      \"url\": \"https://127.0.0.1\",\n      \"env\": {}, // of the user\n      \"command\": \"/opt/arenero-bridge\",\n      \"args\": [\"--connection\", \"c_1\"],\n      \"type\": \"http\"\n    }", "{\n      \"env\": {}, // of the user\n      \"command\": \"/opt/arenero-bridge\",\n      \"args\": [\"--connection\", \"c_1\"]\n    }"},
		{"another order and spelling", `{"args": [ "--connection","c_\u0031" ], "command": "\/opt\/arenero-bridge"}`, `{"args": [ "--connection","c_\u0031" ], "command": "\/opt\/arenero-bridge"}`},
		{"another kind", `{"command": ["/opt"], "args": "c_1"}`, `{"command": "/opt/arenero-bridge", "args": ["--connection", "c_1"]}`},
		{"their field twice", `{"x": 1, "x": 2, "command": "", "args": null}`, `{"x": 1, "x": 2, "command": "/opt/arenero-bridge", "args": ["--connection", "c_1"]}`},
		{"a comma at the end", "{\n      \"command\": \"/opt/arenero-bridge\",\n    }", "{\n      \"command\": \"/opt/arenero-bridge\",\n      \"args\": [\"--connection\", \"c_1\"],\n    }"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in, want := with(tt.in), with(tt.want)
			e, err := edit.Set([]byte(in), edit.JSONCTrailing, servers, entry, "url", "type")
			if err != nil {
				t.Fatal(err)
			}
			now := e.Patches.Apply([]byte(in))
			if string(now) != want {
				t.Errorf("Set made\n%s\nwant\n%s", now, want)
			}
			if len(e.Patches) > 0 && in == want || e.Made != nil {
				t.Errorf("Set = %+v", e)
			}
			if back := e.Patches.Reverse().Apply(now); string(back) != in {
				t.Errorf("Reverse made\n%s", back)
			}
		})
	}
}

func TestDeleteJSON(t *testing.T) {
	tests := []struct {
		name     string
		g        edit.Grammar
		in, want string
	}{
		{"A2 empty fields of others", edit.JSON, `{"mcpServers":{"arenero":{"command":"o"},"other":{"command":"b","args":[],"env":{}}},"ui":{"x":{}}}`, `{"mcpServers":{"other":{"command":"b","args":[],"env":{}}},"ui":{"x":{}}}`},
		{"A2 the only one", edit.JSON, "{\n  \"mcpServers\": {\n    \"arenero\": {}\n  }\n}\n", "{\n  \"mcpServers\": {\n  }\n}\n"},
		{"A2 the only one on the line", edit.JSON, `{ "mcpServers": { "arenero": {} } }`, `{ "mcpServers": { } }`},
		{"A3 the first", edit.JSONC, "{\n  // all\n  \"mcpServers\": {\n    // ours\n    \"arenero\": {}, // here\n    // next\n    \"b\": {}\n  }\n}", "{\n  // all\n  \"mcpServers\": {\n    // ours\n    // here\n    // next\n    \"b\": {}\n  }\n}"},
		{"A3 the last", edit.JSONC, "{\"mcpServers\": {\n  \"b\": {}, // b\n  // ours\n  \"arenero\": {}\n  // end\n}}", "{\"mcpServers\": {\n  \"b\": {} // b\n  // ours\n  // end\n}}"},
		{"A3 a comment before the comma", edit.JSONC, `{"mcpServers": {"arenero": {} /* ours */, "b": {}}}`, `{"mcpServers": {/* ours */ "b": {}}}`},
		{"A6 comma at the end", edit.JSONCTrailing, "{\"mcpServers\": {\n  \"b\": {},\n  \"arenero\": {},\n}}", "{\"mcpServers\": {\n  \"b\": {},\n}}"},
		{"A6 comma behind the only one", edit.JSONCTrailing, "{\"mcpServers\": {\n  \"arenero\": {},\n}}", "{\"mcpServers\": {\n}}"},
		{"A18 null", edit.JSON, `{"mcpServers": {"a": null, "arenero": null}}`, `{"mcpServers": {"a": null}}`},
		{"B1 byte order mark", edit.JSON, mark + `{"mcpServers": {"arenero": {}}}`, mark + `{"mcpServers": {}}`},
		{"B6 CRLF", edit.JSON, "{\r\n\"mcpServers\": {\r\n\t\"a\": 1,\r\n\t\"arenero\": {\r\n\t},\r\n\t\"b\": 2\r\n}}", "{\r\n\"mcpServers\": {\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}}"},
		{"in the middle", edit.JSON, `{"mcpServers": {"a": 1, "arenero": {}, "b": 2}}`, `{"mcpServers": {"a": 1, "b": 2}}`},
		{"commas first", edit.JSON, "{\"mcpServers\": {\n  \"a\": 1\n, \"arenero\": {}\n, \"b\": 2\n}}", "{\"mcpServers\": {\n  \"a\": 1\n, \"b\": 2\n}}"},
		{"not there", edit.JSON, `{"mcpServers": {"a": 1}}`, `{"mcpServers": {"a": 1}}`},
		{"no map", edit.JSON, `{"mcpServers": null}`, `{"mcpServers": null}`},
		{"nothing", edit.JSON, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, made := range []string{"", "{}", "not ours", `{"step":2,"comma":true,"pre":"    "}`} {
				ps, err := edit.Delete([]byte(tt.in), tt.g, servers, []byte(made))
				if got := string(ps.Apply([]byte(tt.in))); err != nil || got != tt.want && made == "" {
					t.Errorf("Delete made\n%s\nwant\n%s\nerr %v", got, tt.want, err)
				}
			}
		})
	}
}

// What was made goes only as far as nobody else has moved in.
func TestDeleteMadeJSON(t *testing.T) {
	tests := []struct {
		name, in, old, new, want string
	}{
		{"another server came", "{}", `"arenero": `, `"b": {}, "arenero": `, "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}"},
		{"another server came after it", `{"a":1}`, `}}}`, `},"b":{}}}`, `{"a":1,"mcpServers":{"b":{}}}`},
		{"a comment came", "{}", `"arenero"`, `/* mine */ "arenero"`, "{\n  \"mcpServers\": {\n    /* mine */\n  }\n}"},
		{"another setting came", `{"a":1}`, `"]}}`, `"]}},"c":2`, `{"a":1,"c":2}`},
		{"the one before went", "{\n  \"a\": 1\n}", "  \"a\": 1,\n", "", "{\n}"},
		{"our entry was changed", `{"mcpServers":{"a":1}}`, `"--connection"`, `"--other"`, `{"mcpServers":{"a":1}}`},
		{"all was written anew", `{"a":1,"mcpServers":null}`, `"mcpServers":{"arenero":`, "\n \"mcpServers\" : {\n   \"arenero\":", "{\"a\":1,\n \"mcpServers\" : null}"},
		{"another setting beside nothing", "", "\n  \"mcpServers\"", "\n  \"b\": 2,\n  \"mcpServers\"", "{\n  \"b\": 2\n}\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := edit.Set([]byte(tt.in), edit.JSONC, servers, entry)
			if err != nil {
				t.Fatal(err)
			}
			made := string(e.Patches.Apply([]byte(tt.in)))
			if strings.Count(made, tt.old) != 1 {
				t.Fatalf("%q is not once in\n%s", tt.old, made)
			}
			now := []byte(strings.Replace(made, tt.old, tt.new, 1))
			ps, err := edit.Delete(now, edit.JSONC, servers, e.Made)
			if got := string(ps.Apply(now)); err != nil || got != tt.want {
				t.Errorf("Delete made of\n%s\nthis\n%s\nwant\n%s\nerr %v", now, got, tt.want, err)
			}
		})
	}
}

func TestRefuseJSON(t *testing.T) {
	tests := []struct {
		name         string
		g            edit.Grammar
		in           string
		reason       edit.Reason // "" for a syntax error
		line, column int
		text         string
	}{
		{"A6 a comment", edit.JSON, "{\n  \"a\": 1 // one\n}", "", 2, 10, `  "a": 1 // one`},
		{"A6 a comma", edit.JSONC, "{\n  \"a\": [1,], // one\n}", "", 2, 10, `  "a": [1,], // one`},
		{"A15 a comma too many", edit.JSONCTrailing, "{\r\n  \"ñ\": \"€\",, \"b\": 1\r\n}", "", 2, 12, `  "ñ": "€",, "b": 1`},
		{"A15 after CR", edit.JSON, "{\r\"a\" 1}", "", 2, 5, `"a" 1}`},
		{"A15 no value before the comma", edit.JSONCTrailing, `{"a": [,]}`, "", 1, 8, `{"a": [,]}`},
		{"A15 a comment without end", edit.JSONC, "{}\n/* x", "", 2, 1, "/* x"},
		{"A15 a long line", edit.JSON, `{"a": "` + strings.Repeat("é", 300) + `" 1`, "", 1, 310, strings.Repeat("é", 39) + `" 1`},
		{"B4 cut off", edit.JSON, "{\"mcpServers\": {\"a\": {}, \"b\": {", "", 1, 32, "{\"mcpServers\": {\"a\": {}, \"b\": {"},
		{"B4 not JSON", edit.JSON, "hello", "", 1, 1, "hello"},
		{"B4 a second document", edit.JSON, "{}\n{}", "", 2, 1, "{}"},
		{"B4 text behind", edit.JSON, "{} x", "", 1, 4, "{} x"},
		{"B4 UTF-16", edit.JSON, "\xff\xfe{\x00}\x00", edit.UTF16, 1, 1, ""},
		{"B4 UTF-16 without a mark", edit.JSON, "\x00{\x00}", edit.UTF16, 1, 1, ""},
		{"a second mark", edit.JSON, mark + mark + "{}", "", 1, 1, "\ufeff{}"},
		{"a list", edit.JSON, `{"mcpServers": []}`, edit.NotAnObject, 1, 16, `{"mcpServers": []}`},
		{"a text", edit.JSON, `{"mcpServers": "x"}`, edit.NotAnObject, 1, 16, `{"mcpServers": "x"}`},
		{"no map at all", edit.JSON, `[{"mcpServers": {}}]`, edit.NotAnObject, 1, 1, `[{"mcpServers": {}}]`},
		{"an entry that is none", edit.JSON, `{"mcpServers": {"arenero": true}}`, edit.NotAnObject, 1, 28, `{"mcpServers": {"arenero": true}}`},
		{"our key twice", edit.JSON, "{\"mcpServers\": {\"a\": 1},\n \"mcp\\u0053ervers\": {}}", edit.DuplicateKey, 2, 2, ` "mcp\u0053ervers": {}}`},
		{"our entry twice", edit.JSON, `{"mcpServers": {"arenero": {}, "arenero": {}}}`, edit.DuplicateKey, 1, 32, `{"mcpServers": {"arenero": {}, "arenero": {}}}`},
		{"our field twice", edit.JSON, `{"mcpServers": {"arenero": {"args": 1, "args": 2}}}`, edit.DuplicateKey, 1, 28, `{"mcpServers": {"arenero": {"args": 1, "args": 2}}}`},
		{"a form feed", edit.JSONC, "{}\f", "", 1, 3, "{}\f"},
		{"a nest without end", edit.JSON, strings.Repeat("[", 20000), "", 1, 10001, strings.Repeat("[", 160)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := edit.Set([]byte(tt.in), tt.g, servers, entry)
			if err == nil || e.Patches != nil {
				t.Fatalf("Set = %+v, %v", e, err)
			}
			got := edit.RefusedError{}
			if r, ok := errors.AsType[*edit.RefusedError](err); ok {
				got = *r
			} else if s, ok := errors.AsType[*edit.SyntaxError](err); ok {
				got = edit.RefusedError{Line: s.Line, Column: s.Column, Text: s.Text}
			}
			if got.Reason != tt.reason || got.Line != tt.line || got.Column != tt.column || got.Text != tt.text {
				t.Errorf("error is %q at %d:%d %q (%v), want %q at %d:%d %q", got.Reason, got.Line, got.Column, got.Text, err, tt.reason, tt.line, tt.column, tt.text)
			}
		})
	}
}

func TestPlacesJSON(t *testing.T) {
	tests := []struct {
		name     string
		place    edit.Place
		in, want string
	}{
		{"the document", edit.Place{Name: "arenero"}, `{"a": 1}`, `{"a": 1, "arenero": ` + flat + `}`},
		{"a key with a dot", edit.Place{Keys: []string{"amp.mcpServers"}, Name: "arenero"}, `{"amp": {"mcpServers": {}}}`, `{"amp": {"mcpServers": {}}, "amp.mcpServers": {"arenero": ` + flat + `}}`},
		{"two keys", edit.Place{Keys: []string{"mcp", "servers"}, Name: "arenero"}, `{"mcp": {"timeout": 5}}`, `{"mcp": {"timeout": 5, "servers": {"arenero": ` + flat + `}}}`},
		{"a project", edit.Place{Keys: []string{"projects", `C:\a "b"`, "mcpServers"}, Name: "arenero"}, `{"projects": {"x": {}}}`, `{"projects": {"x": {}, "C:\\a \"b\"": {"mcpServers": {"arenero": ` + flat + `}}}}`},
		{"a null on the way", edit.Place{Keys: []string{"mcp", "servers"}, Name: "arenero"}, `{"mcp": null}`, `{"mcp": {"servers": {"arenero": ` + flat + `}}}`},
		{"a list", edit.Place{Keys: []string{"servers"}, Name: "arenero", List: "name"}, `{"servers": [ 1, {"x": 1, "name": "b"}]}`, `{"servers": [ 1, {"x": 1, "name": "b"}, {"name": "arenero", ` + flat[1:] + `]}`},
		{"no list", edit.Place{Keys: []string{"servers"}, Name: "arenero", List: "name"}, "{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"servers\": [\n\t\t{\n\t\t\t\"name\": \"arenero\"," + lines("\t\t", "\t", "\n")[1:] + "\n\t]\n}"},
		{"no name", edit.Place{Keys: []string{""}, Name: "arenero"}, `{"a": 1}`, `{"a": 1, "": {"arenero": ` + flat + `}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := edit.Set([]byte(tt.in), edit.JSON, tt.place, entry)
			if err != nil {
				t.Fatal(err)
			}
			now := e.Patches.Apply([]byte(tt.in))
			if string(now) != tt.want {
				t.Fatalf("Set made\n%s\nwant\n%s", now, tt.want)
			}
			if again, err := edit.Set(now, edit.JSON, tt.place, entry); err != nil || len(again.Patches) > 0 {
				t.Errorf("the second Set = %+v, %v", again, err)
			}
			if names, err := edit.List(now, edit.JSON, tt.place); err != nil || !slices.Contains(names, "arenero") {
				t.Errorf("List = %q, %v", names, err)
			}
			ps, err := edit.Delete(now, edit.JSON, tt.place, e.Made)
			if got := string(ps.Apply(now)); err != nil || got != tt.in {
				t.Errorf("Delete made\n%s\nerr %v", got, err)
			}
		})
	}
}

func TestGetJSON(t *testing.T) {
	doc := []byte(mark + "{\n  \"mcpServers\": {\n    \"a\": null,\n    \"arenero\": {\n      \"n\": [1, 2.5, 12345678901234567890, -0],\n      \"x\": {\"y\": \"\\u00f1\"}, // mine\n      \"ok\": true, \"off\": false, \"none\": null,\n    },\n    \"b\\n\": {}\n  }\n}")
	f, err := edit.Get(doc, edit.JSONCTrailing, servers)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"n": []any{int64(1), 2.5, 12345678901234567890.0, int64(0)}, "x": map[string]any{"y": "ñ"},
		"ok": true, "off": false, "none": nil,
	}
	if !reflect.DeepEqual(f.Value, want) {
		t.Errorf("Value = %#v, want %#v", f.Value, want)
	}
	if text := string(doc[f.Start:f.End]); f.Text != text || !strings.HasPrefix(text, `"arenero": {`) || !strings.HasSuffix(text, "},") && text[len(text)-1] != '}' {
		t.Errorf("Text = %q, of %q", f.Text, text)
	}
	if names, err := edit.List(doc, edit.JSONCTrailing, servers); err != nil || !slices.Equal(names, []string{"a", "arenero", "b\n"}) {
		t.Errorf("List = %q, %v", names, err)
	}
	for _, in := range []string{"", "{}", "null", `{"mcpServers": null}`, `{"mcpServers": {"Arenero": 1}}`} {
		if f, err := edit.Get([]byte(in), edit.JSON, servers); f != nil || err != nil {
			t.Errorf("Get(%s) = %+v, %v", in, f, err)
		}
	}
	for _, in := range []string{"", "[]", " 1 ", "{}", mark + "null"} {
		if err := edit.Check([]byte(in), edit.JSON); err != nil {
			t.Errorf("Check(%q) = %v", in, err)
		}
	}
}
