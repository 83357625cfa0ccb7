package hostconf

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/assets"
)

// never are fields that no entry of ours has: those by which a user lets a host
// go on without asking, and those that hosts treat too differently.
var never = []string{"autoApprove", "alwaysAllow", "trust", "default_tools_approval_mode", "approval_mode", "sandboxEnabled", "sandbox", "env", "envs", "environment", "cwd"}

func TestTableIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range Hosts() {
		for _, id := range append([]string{h.ID}, h.Aliases...) {
			if seen[id] {
				t.Errorf("two hosts are called %s", id)
			}
			seen[id] = true
		}
		if len(h.Key) == 0 || h.Title == "" || h.row.Stdio == nil || h.row.After == nil {
			t.Errorf("%s lacks a key, a title, a shape or a step", h.ID)
		}
		for _, c := range []Confidence{h.Paths, h.Shape} {
			if !slices.Contains([]Confidence{High, Medium, Low}, c) {
				t.Errorf("%s has the confidence %q", h.ID, c)
			}
		}
		if h.Write == WriteQuit && len(h.row.Processes) == 0 {
			t.Errorf("%s must be quit, but nobody knows how it runs", h.ID)
		}
		d := h.row.Detect
		if len(h.Systems) > 0 && len(d.Apps)+len(d.Commands)+len(d.Extensions)+len(d.Plugins) == 0 {
			t.Errorf("nothing tells that %s is there", h.ID)
		}
		for name, shape := range map[string]*shapeRow{"stdio": h.row.Stdio, "http": h.row.HTTP} {
			if shape == nil {
				continue
			}
			for _, m := range shape.Fields {
				if !slices.Contains(shape.Allow, m.Key) {
					t.Errorf("%s %s: the field %s is not allowed", h.ID, name, m.Key)
				}
				if slices.Contains(never, m.Key) {
					t.Errorf("%s %s: the field %s may not be written", h.ID, name, m.Key)
				}
			}
			for _, key := range shape.First {
				if !slices.ContainsFunc(shape.Fields, func(m edit.Member) bool { return m.Key == key }) {
					t.Errorf("%s %s: the first field %s is not written at all", h.ID, name, key)
				}
			}
			for _, key := range shape.Drop {
				if slices.Contains(shape.Allow, key) {
					t.Errorf("%s %s: the field %s is allowed and dropped", h.ID, name, key)
				}
			}
		}
		for _, sc := range h.row.Scopes {
			if !slices.Contains([]string{User, Project, Local, Profile}, sc.Scope) {
				t.Errorf("%s has the scope %s", h.ID, sc.Scope)
			}
			for goos := range sc.Files {
				if !slices.Contains([]string{"all", "linux", "darwin", "windows"}, goos) {
					t.Errorf("%s has files on %s", h.ID, goos)
				}
			}
		}
	}
	for _, m := range table().managers {
		for _, id := range m.Hosts {
			if _, err := ByID(id); err != nil {
				t.Errorf("%s manages %s, which is not in the table", m.ID, id)
			}
		}
	}
}

// TestEveryTextIsThere looks for every key in the table and in this package's
// code.
func TestEveryTextIsThere(t *testing.T) {
	en := assets.Load(assets.English, Texts)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	key := regexp.MustCompile(`hosts\.[a-z0-9.-]+[a-z0-9-]`)
	for _, name := range append(files, "hosts.yaml") {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range key.FindAllString(string(raw), -1) {
			if k != "hosts.yaml" && !strings.HasSuffix(name, "_test.go") {
				used[k] = true
			}
		}
	}
	if len(used) < 40 {
		t.Fatalf("only %d keys were found", len(used))
	}
	for k := range used {
		if !en.Has(k) && k != "hosts.err.refused" && k != "hosts.err.file" && k != "hosts.warn.write" && k != "hosts.after" && k != "hosts.gone" {
			t.Errorf("there is no text %s", k)
		}
	}
	for _, k := range []string{
		"refused.bom", "refused.utf16", "refused.utf8", "refused.duplicate-key", "refused.not-an-object", "refused.anchors", "refused.not-a-document",
		"refused.too-big", "refused.unproven", "file.busy", "file.read-only", "file.not-regular", "file.dangling", "file.loop", "file.too-big", "file.no-space",
		"file.spoiled", "file.changed", "file.nothing", "file.gone",
	} {
		if !en.Has("hosts.err." + k) {
			t.Errorf("there is no text hosts.err.%s", k)
		}
	}
	for _, h := range Hosts() {
		for _, s := range append(h.goneSteps(User), h.steps(User)...) {
			if !en.Has(s.Key) {
				t.Errorf("there is no text %s", s.Key)
			}
		}
	}
}

// TestA7_OnlyOnePlaceWritesFilesOfHosts reads our own code: what opens, makes
// or moves a file is package hostfile, and here the one function that keeps
// our own records.
func TestA7_OnlyOnePlaceWritesFilesOfHosts(t *testing.T) {
	writers := map[string][]string{
		"os":         {"WriteFile", "Create", "CreateTemp", "OpenFile", "Rename", "Link", "Symlink", "Truncate", "CopyFS", "Remove", "RemoveAll", "Chmod"},
		"atomicfile": {"Write", "WriteSync"},
	}
	found := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(writers[pkg.Name], sel.Sel.Name) {
					found[name+" "+fn.Name.Name+" "+pkg.Name+"."+sel.Sel.Name] = true
				}
				return true
			})
		}
	}
	want := map[string]bool{"written.go put atomicfile.WriteSync": true}
	for f := range found {
		if !want[f] {
			t.Errorf("%s writes a file: only package hostfile may write those of hosts", f)
		}
	}
	for f := range want {
		if !found[f] {
			t.Errorf("%s is not there any more: take it out of this test", f)
		}
	}
}

func TestLike(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"Claude_*", "Claude_x", true},
		{"Claude_*", "Claude", false},
		{"*64.exe", "idea64.exe", true},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "ac", false},
		{"a*a", "a", false},
		{"*", "", true},
		{"x", "x", true},
		{"x", "xy", false},
		{"*/Claude.app/Contents/*", "/Applications/Claude.app/Contents/MacOS/Claude", true},
		{"a*bc*d", "abcbc", false},
	}
	for _, tt := range tests {
		if got := like(tt.pattern, tt.name); got != tt.want {
			t.Errorf("like(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

func TestReadTableRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, doc := range []string{
		"hosts:\n  - {id: a, colour: red}\n",
		"hosts:\n  - {id: a, like: b}\n",
		"hosts:\n  - {id: a, stdio: {fields: [x]}}\n",
	} {
		if _, err := readTable([]byte(doc)); err == nil {
			t.Errorf("%q is taken", doc)
		}
	}
}

func TestProcessesHasThisOne(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all, err := processes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(p string) bool { return filepath.Base(p) == filepath.Base(self) }) {
		t.Errorf("this program, %s, is not in %v", self, all)
	}
}
