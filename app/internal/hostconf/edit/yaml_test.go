package edit_test

import (
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

var (
	goose     = edit.Place{Keys: []string{"extensions"}, Name: "ours"}
	continued = edit.Place{Keys: []string{"mcpServers"}, Name: "ours", List: "name"}
	cmd       = edit.Object{{Key: "cmd", Value: "x"}}
)

// TestSetYAML shows the bytes that come out. Each case is deleted again with
// what Set returned: an insertion has to restore the document, and an update
// has to leave what stands in without.
func TestSetYAML(t *testing.T) {
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
		{"empty", "", goose, cmd, nil, "extensions:\n  ours:\n    cmd: x\n", "="},
		{"comments only", "# a\n", goose, cmd, nil, "# a\nextensions:\n  ours:\n    cmd: x\n", "="},
		{"comment without a final newline", "# a", goose, cmd, nil, "# a\nextensions:\n  ours:\n    cmd: x", "="},
		{"blanks only", "\n\n", goose, cmd, nil, "\n\nextensions:\n  ours:\n    cmd: x\n", "="},
		{"marker", "---\n", goose, cmd, nil, "---\nextensions:\n  ours:\n    cmd: x\n", "="},
		{"marker alone", "---", goose, cmd, nil, "---\nextensions:\n  ours:\n    cmd: x", "="},
		{"markers", "--- # a\n# b\n...\n", goose, cmd, nil, "--- # a\n# b\nextensions:\n  ours:\n    cmd: x\n...\n", "="},
		{"end marker", "a: 1\n\n# c\n...\n# d\n", goose, cmd, nil, "a: 1\nextensions:\n  ours:\n    cmd: x\n\n# c\n...\n# d\n", "="},
		{"root {}", "{}\n", goose, cmd, nil, "\nextensions:\n  ours:\n    cmd: x\n", "="},
		{"root null behind a marker", "--- null # a", goose, cmd, nil, "---  # a\nextensions:\n  ours:\n    cmd: x", "="},
		{"no map", "a: 1\n", goose, cmd, nil, "a: 1\nextensions:\n  ours:\n    cmd: x\n", "="},
		{"no final newline", "a: 1", goose, cmd, nil, "a: 1\nextensions:\n  ours:\n    cmd: x", "="},
		{"CRLF", "a: 1\r\n", goose, cmd, nil, "a: 1\r\nextensions:\r\n  ours:\r\n    cmd: x\r\n", "="},
		{"missing value", "extensions: # none\n  # yet\n\nb: 1\n", goose, cmd, nil, "extensions: # none\n  # yet\n  ours:\n    cmd: x\n\nb: 1\n", "="},
		{"missing value at the end", "extensions:", goose, cmd, nil, "extensions:\n  ours:\n    cmd: x", "="},
		{"null", "extensions: ~\nb: 1\n", goose, cmd, nil, "extensions:\n  ours:\n    cmd: x\nb: 1\n", "="},
		{"{}", "extensions: {}   # none\nb: 1\n", goose, cmd, nil, "extensions:   # none\n  ours:\n    cmd: x\nb: 1\n", "="},
		{"{} on two lines", "extensions: {\n}\n", goose, cmd, nil, "extensions:\n  ours:\n    cmd: x\n", "="},
		{"{} on the next line", "extensions: # a\n  {}\nb: 1\n", goose, cmd, nil, "extensions: # a\n  \n  ours:\n    cmd: x\nb: 1\n", "="},
		{"[] for a list", "mcpServers: []\n", continued, bridge, nil, "mcpServers:\n  - name: ours\n    command: /opt/arenero-bridge\n    args:\n      - --connection\n      - c_1\n", "="},
		{"null for a list", "mcpServers: ~ # none\nb: 1\n", continued, cmd, nil, "mcpServers: # none\n  - name: ours\n    cmd: x\nb: 1\n", "="},
		{"keys on the way", "a: {}\n", edit.Place{Keys: []string{"a", "b c"}, Name: "ours"}, cmd, nil, "a:\n  'b c':\n    ours:\n      cmd: x\n", "="},
		{"missing keys", "a:\n  z: 1\n", edit.Place{Keys: []string{"a", "b"}, Name: "ours"}, cmd, nil, "a:\n  z: 1\n  b:\n    ours:\n      cmd: x\n", "="},
		{"sibling", "extensions:\n    a:\n       k: 1 # c\n    # d\n\nz: 1\n", goose, cmd, nil, "extensions:\n    a:\n       k: 1 # c\n    ours:\n       cmd: x\n    # d\n\nz: 1\n", "="},
		{"sibling that ends in a block", "extensions:\n  a:\n    k: |+\n      t\n\n# c\n", goose, cmd, nil, "extensions:\n  a:\n    k: |+\n      t\n\n  ours:\n    cmd: x\n# c\n", "="},
		{"sibling whose block has no end", "extensions:\n  a:\n    k: |\n      t", goose, cmd, nil, "extensions:\n  ours:\n    cmd: x\n  a:\n    k: |\n      t", "="},
		{"sibling over lines", "extensions:\n  a: {k: [1,\n2\n], l: \"x\n# y\n\"}\nz: 1\n", goose, cmd, nil, "extensions:\n  a: {k: [1,\n2\n], l: \"x\n# y\n\"}\n  ours:\n    cmd: x\nz: 1\n", "="},
		{"null sibling", "extensions:\n  a:\n  b: ~\n", goose, cmd, nil, "extensions:\n  a:\n  b: ~\n  ours:\n    cmd: x\n", "="},
		{"list at its key's indent", "mcpServers:\n- name: a\n  k: 1\n-\n# c\nz: 1\n", continued, cmd, nil, "mcpServers:\n- name: a\n  k: 1\n-\n- name: ours\n  cmd: x\n# c\nz: 1\n", "="},
		{"new list", "models:\n- a: 1\n", continued, cmd, nil, "models:\n- a: 1\nmcpServers:\n- name: ours\n  cmd: x\n", "="},
		{
			"strings", "", goose,
			edit.Object{{Key: "a", Value: "yes"}, {Key: "b", Value: "1:20"}, {Key: "c", Value: "0x1f"}, {Key: "d", Value: `C:\x y`}, {Key: "e", Value: "it's"}, {Key: "f", Value: "a\nb\u0085"}, {Key: "g", Value: ""}, {Key: "h", Value: "é: #"}, {Key: "on", Value: true}, {Key: "i", Value: 5}, {Key: "j", Value: "1e3"}, {Key: "k", Value: "--"}, {Key: "l", Value: "="}, {Key: "m", Value: "No"}, {Key: "n", Value: "2001-01-01"}},
			nil,
			"extensions:\n  ours:\n    a: 'yes'\n    b: '1:20'\n    c: '0x1f'\n    d: 'C:\\x y'\n    e: 'it''s'\n    f: \"a\\nb\\x85\"\n    g: ''\n    h: 'é: #'\n    'on': true\n    i: 5\n    j: '1e3'\n    k: '--'\n    l: '='\n    m: 'No'\n    'n': '2001-01-01'\n", "=",
		},
		{"objects", "", goose, edit.Object{{Key: "envs", Value: edit.Object{{Key: "A", Value: "b"}, {Key: "C", Value: []string{"d"}}}}, {Key: "e", Value: edit.Object{}}, {Key: "f", Value: []string{}}}, nil, "extensions:\n  ours:\n    envs:\n      A: b\n      C:\n        - d\n    e: {}\n    f: []\n", "="},
		{
			"update", "extensions:\n  ours: # a\n    # b\n    cmd: \"old\" # c\n    timeout: 300\n    args:\n    - q # gone\n\n    enabled: false\n  # d\n", goose,
			edit.Object{{Key: "cmd", Value: "x"}, {Key: "args", Value: []string{"r"}}, {Key: "new", Value: 1}},
			nil,
			"extensions:\n  ours: # a\n    # b\n    cmd: x # c\n    timeout: 300\n    args:\n      - r\n\n    enabled: false\n    new: 1\n  # d\n", "extensions: {}\n  # d\n",
		},
		{"update without a final newline", "extensions:\n  ours:\n    k: 1", goose, cmd, nil, "extensions:\n  ours:\n    k: 1\n    cmd: x", "extensions: {}\n"},
		{"update of a null field", "extensions:\n  ours:\n    cmd:   # c\n", goose, cmd, nil, "extensions:\n  ours:\n    cmd: x   # c\n", "extensions: {}\n"},
		{"update of a null entry", "extensions:\n  ours: # c\n  b:\n", goose, cmd, nil, "extensions:\n  ours: # c\n    cmd: x\n  b:\n", "extensions:\n  b:\n"},
		{"update of an empty entry", "extensions:\n  ours: {} # c\n", goose, cmd, nil, "extensions:\n  ours: # c\n    cmd: x\n", "extensions: {}\n"},
		{"update of a block", "extensions:\n  ours:\n    cmd: |\n      a\n      # b\n    k: 1\n", goose, cmd, nil, "extensions:\n  ours:\n    cmd: x\n    k: 1\n", "extensions: {}\n"},
		{"word that only YAML 1.1 takes for a bool", "extensions:\n  ours:\n    cmd: yes\n", goose, edit.Object{{Key: "cmd", Value: "yes"}}, nil, "extensions:\n  ours:\n    cmd: 'yes'\n", "extensions: {}\n"},
		{"update of an item", "mcpServers:\n  -\n    # a\n    cmd: old\n    name: ours\n  - name: b\n", continued, cmd, nil, "mcpServers:\n  -\n    # a\n    cmd: x\n    name: ours\n  - name: b\n", "mcpServers:\n  - name: b\n"},
		{"nothing to update in brackets", "extensions: {ours: {cmd: x, k: 1}, b: 2}\n", goose, cmd, nil, "extensions: {ours: {cmd: x, k: 1}, b: 2}\n", "refused"},
		{"drop", "extensions:\n  ours:\n    type: a # b\n    cmd: x\n    l: [\n  1]\n", goose, cmd, []string{"type", "l", "none"}, "extensions:\n  ours:\n    cmd: x\n", "extensions: {}\n"},
		{"drop behind a dash", "mcpServers:\n  - type: a\n    b: 1\n    name: ours\n    c: 1\n", continued, nil, []string{"type", "b", "c"}, "mcpServers:\n  - name: ours\n", "mcpServers: []\n"},
		{"anchors elsewhere", "a: &x {b: 1}\nc:\n  <<: *x\nextensions:\n  d: *x\n", goose, cmd, nil, "a: &x {b: 1}\nc:\n  <<: *x\nextensions:\n  d: *x\n  ours:\n    cmd: x\n", "="},
		{"tabs", "a:\t1\t# b\nextensions:\n  b:\t{}\n\t\nz:\t1\n", goose, cmd, nil, "a:\t1\t# b\nextensions:\n  b:\t{}\n  ours:\n    cmd: x\n\t\nz:\t1\n", "="},
		{"quoted keys", "\"extensions\" :\n  'a': 1\n", goose, cmd, nil, "\"extensions\" :\n  'a': 1\n  ours:\n    cmd: x\n", "="},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := edit.Set([]byte(tt.doc), edit.YAML, tt.place, tt.value, tt.drop...)
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
			ps, err := edit.Delete(got, edit.YAML, tt.place, e.Made)
			if want == "refused" {
				wantRefused(t, err, edit.Anchors)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if back := ps.Apply(got); string(back) != want {
				t.Errorf("Delete gives\n%q, want\n%q", back, want)
			}
		})
	}
}
