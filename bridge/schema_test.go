package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite golden files")

type level string

type shape struct {
	Cmd     string         `json:"cmd" doc:"What to run."`
	Timeout int            `json:"timeout,omitempty" doc:"Seconds." default:"60" min:"1" max:"3600"`
	Cwd     *string        `json:"cwd" doc:"Where."`
	Kind    level          `json:"kind,omitempty" enum:"file,dir" default:"file"`
	Ratio   float64        `json:"ratio,omitempty" min:"0.5"`
	Tags    []string       `json:"tags,omitempty" max:"2"`
	Env     map[string]int `json:"env,omitempty"`
	Name    string         `json:"name,omitempty" min:"2" max:"3"`
	Deep    *inner         `json:"deep,omitempty"`
	When    time.Time      `json:"when,omitzero"`
	Free    any            `json:"free,omitempty"`
	Small   uint8          `json:"small,omitempty"`
	Quiet   bool           `json:"quiet,omitempty"`
	Hidden  string         `json:"-"`
	embedded
}

type embedded struct {
	Extra string `json:"extra,omitempty"`
}

type inner struct {
	Path string   `json:"path"`
	List []inner2 `json:"list"`
}

type inner2 struct {
	N int64 `json:"n"`
}

func TestSchemas(t *testing.T) {
	in, err := schemaOf[shape](input, map[string]string{"deep.list.n": "Deep down."}, map[string]bool{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := schemaOf[shape](output, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "input.json", in.json())
	golden(t, "output.json", out.json())
}

// golden compares JSON with a file, which -update rewrites.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, got)
	}
	b.WriteByte('\n')
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s has changed (go test -update rewrites it):\n%s", name, b.Bytes())
	}
}

// resolve reads a schema with a validator that is not ours.
func resolve(t testing.TB, raw []byte) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return r
}

func TestSchemaErrors(t *testing.T) {
	type circle struct {
		Next *struct {
			Again []any `json:"again"`
		} `json:"next"`
	}
	tests := []struct {
		name, want string
		make       func() error
	}{
		{"no struct", "no struct", func() error { _, err := schemaOf[int](input, nil, nil); return err }},
		{"bytes", "bytes", func() error {
			_, err := schemaOf[struct {
				B []byte `json:"b"`
			}](input, nil, nil)
			return err
		}},
		{"no name", "no json name", func() error { _, err := schemaOf[struct{ A int }](input, nil, nil); return err }},
		{"channel", "no word", func() error {
			_, err := schemaOf[struct {
				C chan int `json:"c"`
			}](input, nil, nil)
			return err
		}},
		{"keys", "without strings", func() error {
			_, err := schemaOf[struct {
				M map[int]int `json:"m"`
			}](input, nil, nil)
			return err
		}},
		{"circle", "holds itself", func() error { _, err := schemaOf[chain](input, nil, nil); return err }},
		{"no circle", "", func() error { _, err := schemaOf[circle](input, nil, nil); return err }},
		{"default out of range", "default", func() error {
			_, err := schemaOf[struct {
				A int `json:"a" default:"0" min:"1"`
			}](input, nil, nil)
			return err
		}},
		{"default is no number", "default", func() error {
			_, err := schemaOf[struct {
				A int `json:"a" default:"x"`
			}](input, nil, nil)
			return err
		}},
		{"enum of numbers", "enum", func() error {
			_, err := schemaOf[struct {
				A int `json:"a" enum:"1"`
			}](input, nil, nil)
			return err
		}},
		{"limit", "tag min", func() error {
			_, err := schemaOf[struct {
				A int `json:"a" min:"x"`
			}](input, nil, nil)
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.make()
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one about %q", err, tt.want)
			}
		})
	}
}

type chain struct {
	Next *chain `json:"next"`
}

func TestAddRefuses(t *testing.T) {
	ok := Tool[echoIn, echoOut]{
		Name: "a", Title: "A", Description: "Does.",
		Call: func(context.Context, echoIn) (echoOut, error) { return echoOut{}, nil },
	}
	tests := []struct {
		name string
		edit func(*Tool[echoIn, echoOut])
		want string
	}{
		{"nothing", func(*Tool[echoIn, echoOut]) {}, ""},
		{"the same again", func(*Tool[echoIn, echoOut]) {}, "already"},
		{"no name", func(t *Tool[echoIn, echoOut]) { t.Name = "" }, "name"},
		{"upper case", func(t *Tool[echoIn, echoOut]) { t.Name = "A" }, "name"},
		{"digit first", func(t *Tool[echoIn, echoOut]) { t.Name = "1a" }, "name"},
		{"long name", func(t *Tool[echoIn, echoOut]) { t.Name = strings.Repeat("a", 49) }, "name"},
		{"no title", func(t *Tool[echoIn, echoOut]) { t.Name, t.Title = "b", "" }, "title"},
		{"no function", func(t *Tool[echoIn, echoOut]) { t.Name, t.Call = "b", nil }, "function"},
		{"text for no field", func(t *Tool[echoIn, echoOut]) { t.Name, t.Fields = "b", map[string]string{"nix": "x"} }, "nix"},
	}
	s := New(Config{Name: "x", Version: "1"})
	for _, tt := range tests {
		tool := ok
		tt.edit(&tool)
		err := Add(s, tool)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error = %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Arguments are read, or refused with a sentence for each mistake. What the
// schema as others read it says is the same.
func TestArguments(t *testing.T) {
	tests := []struct {
		name, args string
		wantEN     []string // nil: accepted
	}{
		{"least", `{"cmd":"ls"}`, nil},
		{"most", `{"cmd":"ls","timeout":3600,"cwd":"/","kind":"dir","ratio":0.5,"tags":["a","b"],"env":{"A":1},"name":"ññ","deep":{"path":"p","list":[{"n":9007199254740993}]},"when":"2026-07-28T12:00:00Z","free":{"a":[1]},"small":255,"quiet":true,"extra":"e"}`, nil},
		{"null where it may be", `{"cmd":"ls","cwd":null,"deep":null,"free":null}`, nil},
		{"integers as floats", `{"cmd":"ls","timeout":6e1,"small":1.0}`, nil},
		{"nothing", ``, []string{"cmd is missing: add it, it must be a string (What to run)."}},
		{"null", `null`, []string{"cmd is missing: add it, it must be a string (What to run)."}},
		{"a list", `[1]`, []string{"arguments must be an object, not a list (1): change it."}},
		{"a string", `"ls"`, []string{`arguments must be an object, not "ls": change it.`}},
		{"no JSON", `{`, []string{"The arguments are not JSON: send an object with one member for each argument."}},
		{"several mistakes", `{"timeout":"60","quiet":"yes","cwd":7,"b":1,"a":1}`, []string{
			"cmd is missing: add it, it must be a string (What to run).",
			`timeout must be an integer from 1 to 3600, not "60": send for example 60.`,
			`cwd must be a string or null, not 7: send for example "text".`,
			`quiet must be true or false, not "yes": send for example true.`,
			"a is not known: leave it out, or use one of cmd, timeout, cwd, kind, ratio, tags, env, name, deep, when, free, small, quiet, extra.",
			"b is not known: leave it out, or use one of cmd, timeout, cwd, kind, ratio, tags, env, name, deep, when, free, small, quiet, extra.",
		}},
		{"too small", `{"cmd":"ls","timeout":0}`, []string{"timeout must be an integer from 1 to 3600, not 0: send for example 60."}},
		{"too large", `{"cmd":"ls","timeout":3601}`, []string{"timeout must be an integer from 1 to 3600, not 3601: send for example 60."}},
		{"a fraction", `{"cmd":"ls","timeout":1.5}`, []string{"timeout must be an integer from 1 to 3600, not 1.5: send for example 60."}},
		{"huge", `{"cmd":"ls","timeout":1e400}`, []string{"timeout must be an integer from 1 to 3600, not 1e400: send for example 60."}},
		{"negative for unsigned", `{"cmd":"ls","small":-1}`, []string{"small must be an integer, not -1: send for example 1."}},
		{"null where it may not be", `{"cmd":null}`, []string{`cmd must be a string, not null: send for example "text".`}},
		{"not in the enum", `{"cmd":"ls","kind":"link"}`, []string{`kind must be one of file, dir, not "link": send for example "file".`}},
		{"too long", `{"cmd":"ls","name":"ñañañ"}`, []string{`name must be a string with a length from 2 to 3, not "ñañañ": change it.`}},
		{"too many", `{"cmd":"ls","tags":["a","b","c"]}`, []string{"tags must be a list with a length of at most 2, not a list (3): send for example []."}},
		{"inside a list", `{"cmd":"ls","tags":["a",7]}`, []string{`tags[1] must be a string, not 7: send for example "text".`}},
		{"inside a map", `{"cmd":"ls","env":{"A":"x"}}`, []string{`env.A must be an integer, not "x": send for example 1.`}},
		{"deep inside", `{"cmd":"ls","deep":{"path":"p","list":[{"n":1},{"n":true,"m":2}]}}`, []string{
			"deep.list[1].n must be an integer, not true: send for example 1.",
			"deep.list[1].m is not known: leave it out, or use one of n.",
		}},
		{"no time", `{"cmd":"ls","when":"yesterday"}`, []string{`when must be a time such as 2026-07-28T12:00:00Z, not "yesterday": change it.`}},
		{"secret is cut", `{"cmd":"ls","timeout":"` + strings.Repeat("s", 100) + `"}`, []string{
			`timeout must be an integer from 1 to 3600, not "` + strings.Repeat("s", 40) + `…": send for example 60.`,
		}},
	}
	s, err := schemaOf[shape](input, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	theirs := resolve(t, s.json())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got shape
			problems := s.decode(json.RawMessage(tt.args), &got, &english)
			var texts []string
			for _, p := range problems {
				texts = append(texts, p.Problem)
			}
			if g, w := strings.Join(texts, "\n"), strings.Join(tt.wantEN, "\n"); g != w {
				t.Errorf("got:\n%s\nwant:\n%s", g, w)
			}
			if es := s.decode(json.RawMessage(tt.args), &got, &spanish); len(es) != len(problems) {
				t.Errorf("%d problems in Spanish, %d in English", len(es), len(problems))
			}
			var tree any
			if json.Unmarshal([]byte(tt.args), &tree) != nil || tree == nil || strings.Contains(tt.name, "huge") || strings.Contains(tt.name, "time") || strings.Contains(tt.name, "unsigned") {
				return // beyond what a schema can say
			}
			if err := theirs.Validate(tree); (err == nil) != (tt.wantEN == nil) {
				t.Errorf("another validator says %v", err)
			}
		})
	}
	var got shape
	s.decode(json.RawMessage(tests[1].args), &got, &english)
	if got.Deep.List[0].N != 9007199254740993 {
		t.Errorf("n = %d: digits were lost", got.Deep.List[0].N)
	}
	got = shape{}
	s.decode(json.RawMessage(`{"cmd":"ls"}`), &got, &english)
	if got.Timeout != 60 || got.Kind != "file" || got.Cwd != nil {
		t.Errorf("defaults: %+v", got)
	}
}

// Both languages are complete, with the same verbs in the same order.
func TestTexts(t *testing.T) {
	en, es := allTexts(&english), allTexts(&spanish)
	if len(en) < 20 {
		t.Fatalf("%d texts: are they tested at all?", len(en))
	}
	for name, text := range en {
		if es[name] == "" || text == "" {
			t.Errorf("%s is missing in a language", name)
		}
		if strings.Count(text, "%s") != strings.Count(es[name], "%s") {
			t.Errorf("%s: %q and %q differ in what is filled in", name, text, es[name])
		}
	}
}

func allTexts(tx *texts) map[string]string {
	v := reflect.ValueOf(tx).Elem()
	all := map[string]string{}
	for i := range v.NumField() {
		all[v.Type().Field(i).Name] = v.Field(i).String()
	}
	return all
}

// FuzzArguments looks for arguments that crash the decoder, or that it accepts
// and another validator does not.
func FuzzArguments(f *testing.F) {
	f.Add(`{"cmd":"ls","timeout":60,"cwd":null,"tags":["a"],"env":{"A":1},"deep":{"path":"","list":[{"n":1}]}}`)
	f.Add(`{"cmd":"","timeout":1e9,"kind":"x"}`)
	s, err := schemaOf[shape](input, nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	theirs := resolve(f, s.json())
	f.Fuzz(func(t *testing.T, args string) {
		var got shape
		if len(s.decode(json.RawMessage(args), &got, &english)) > 0 {
			return
		}
		var tree any
		if json.Unmarshal([]byte(args), &tree) != nil || tree == nil {
			return
		}
		if err := theirs.Validate(tree); err != nil {
			t.Errorf("accepted %s, but: %v", args, err)
		}
	})
}
