package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// A said is a text of a program's source that may come before a person: "\x00"
// stands in it for what is put there when it runs.
type said struct {
	text string
	at   token.Position
}

// A listing is what is found in the source of one package.
type listing struct {
	files  *token.FileSet
	consts map[string]ast.Expr
	passed map[string][]int // functions that make an error of an argument, and which it is
	own    bool             // what it prints goes to people too
	all    []said
}

// saidIn finds the messages and hints of errors in a folder's source: those of
// composite literals, of assignments, and of functions that make errors.
func saidIn(t *testing.T, dir string) []said {
	t.Helper()
	l := listing{files: token.NewFileSet(), consts: map[string]ast.Expr{}, passed: map[string][]int{}, own: dir == "."}
	var files []*ast.File
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(l.files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		t.Fatalf("%s: %v", dir, fs.ErrNotExist)
	}
	for _, f := range files {
		l.declared(f)
	}
	for _, f := range files {
		ast.Inspect(f, l.look)
	}
	return l.all
}

// declared notes the constants of a file, and its functions that make errors.
func (l *listing) declared(f *ast.File) {
	for _, d := range f.Decls {
		general, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range general.Specs {
			v, ok := spec.(*ast.ValueSpec)
			for i := 0; ok && i < len(v.Names) && i < len(v.Values); i++ {
				l.consts[v.Names[i].Name] = v.Values[i]
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			l.passes(n.Name.Name, n.Type, n.Body)
		case *ast.AssignStmt:
			if fn, ok := n.Rhs[0].(*ast.FuncLit); ok {
				if name, ok := n.Lhs[0].(*ast.Ident); ok {
					l.passes(name.Name, fn.Type, fn.Body)
				}
			}
		}
		return true
	})
}

// passes notes which arguments of a function become messages.
func (l *listing) passes(name string, fn *ast.FuncType, body *ast.BlockStmt) {
	var params []string
	for _, p := range fn.Params.List {
		for _, name := range p.Names {
			params = append(params, name.Name)
		}
	}
	if body == nil || len(params) == 0 {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		for _, e := range messagesOf(n) {
			if call, ok := e.(*ast.CallExpr); ok && isSprintf(call) {
				e = call.Args[0]
			}
			if id, ok := e.(*ast.Ident); ok {
				if i := slices.Index(params, id.Name); i >= 0 {
					l.passed[name] = append(l.passed[name], i)
				}
			}
		}
		return true
	})
}

// messagesOf are the expressions of a node that become the message of an error,
// or its hint.
func messagesOf(n ast.Node) []ast.Expr {
	is := func(e ast.Expr) bool {
		name := ""
		switch e := e.(type) {
		case *ast.Ident:
			name = e.Name
		case *ast.SelectorExpr:
			name = e.Sel.Name
		}
		return slices.Contains([]string{"Msg", "Hint", "Why", "Remedy"}, name)
	}
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if is(n.Key) {
			return []ast.Expr{n.Value}
		}
	case *ast.AssignStmt:
		var out []ast.Expr
		for i, left := range n.Lhs {
			if is(left) && i < len(n.Rhs) {
				out = append(out, n.Rhs[i])
			}
		}
		return out
	}
	return nil
}

// look notes what a node says.
func (l *listing) look(n ast.Node) bool {
	for _, e := range messagesOf(n) {
		l.note(e)
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return true
	}
	switch fn := call.Fun.(type) {
	case *ast.SelectorExpr:
		x, _ := fn.X.(*ast.Ident)
		switch {
		case x == nil || len(call.Args) == 0:
		case x.Name == "fmt" && strings.Contains(fn.Sel.Name, "rint") && !isSprintf(call) && l.own:
			for _, arg := range call.Args {
				l.note(arg)
			}
			return true
		case fn.Sel.Name == "note":
			l.note(call.Args[0])
			return true
		case x.Name == "errors" && fn.Sel.Name == "New", x.Name == "fmt" && fn.Sel.Name == "Errorf":
			l.note(call.Args[0])
			return true
		case x.Name == "status" && strings.HasPrefix(fn.Sel.Name, "Error") && len(call.Args) > 1:
			l.note(call.Args[1])
			return true
		}
		l.notePassed(fn.Sel.Name, call)
	case *ast.Ident:
		if fn.Name == "usagef" || fn.Name == "newProgress" {
			l.note(call.Args[0])
		}
		l.notePassed(fn.Name, call)
	}
	return true
}

func (l *listing) notePassed(name string, call *ast.CallExpr) {
	for _, i := range l.passed[name] {
		if i < len(call.Args) {
			l.note(call.Args[i])
		}
	}
}

func (l *listing) note(e ast.Expr) {
	if text := l.textOf(e); strings.Trim(text, "\x00: ") != "" {
		l.all = append(l.all, said{text, l.files.Position(e.Pos())})
	}
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9]*(\.[0-9]+)?[a-zA-Z]`)

// textOf is what an expression says, as far as the source tells.
func (l *listing) textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return strings.ReplaceAll(verb.ReplaceAllStringFunc(text, func(v string) string {
				if strings.HasSuffix(v, "q") {
					return "\"\x00\""
				}
				return "\x00"
			}), "%%", "%")
		}
	case *ast.BinaryExpr:
		return l.textOf(e.X) + l.textOf(e.Y)
	case *ast.ParenExpr:
		return l.textOf(e.X)
	case *ast.Ident:
		if value, ok := l.consts[e.Name]; ok {
			return l.textOf(value)
		}
	case *ast.CallExpr:
		if isSprintf(e) {
			return l.textOf(e.Args[0])
		}
	}
	return "\x00"
}

func isSprintf(call *ast.CallExpr) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	return ok && fn.Sel.Name == "Sprintf" && len(call.Args) > 0
}

// speakers are the sources whose messages this program shows to people.
var speakers = []string{
	".", "../..", "../../control", "../../sandbox", "../../internal/agent", "../../internal/awsauth", "../../internal/cloud", "../../internal/egress",
	"../../internal/fleet", "../../internal/jail", "../../internal/paths", "../../internal/settings",
}

// unheard are files of theirs whose messages go to logs, to clients of the local
// cloud's API or to those of the agent that this program is none of.
var unheard = regexp.MustCompile(`/(cloud/(clienttoken|cursor|directory|hooks|life|route|machine|recover)|egress/(dial|socks)|agent/(peer_linux|watch_linux|watcher_linux|code_context_linux))\.go$`)

// TestMessagesAreKnown holds that all that may go wrong can be told in Spanish.
func TestMessagesAreKnown(t *testing.T) {
	in(t, assets.Spanish, func(t *testing.T) {
		words := regexp.MustCompile(`[a-z]+ [a-z]+`)
		for _, dir := range speakers {
			for _, s := range saidIn(t, dir) {
				name := filepath.ToSlash(s.at.Filename)
				if unheard.MatchString(name) {
					continue
				}
				ui.TranslateAll(texts(), strings.ReplaceAll(s.text, "\x00", "0"), func(part string) {
					if words.MatchString(part) {
						t.Errorf("%s:%d says %q, which no msg.* of assets/translation/messages.en.json has", name, s.at.Line, part)
					}
				})
			}
		}
	})
}

func TestInLanguage(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"something nobody knows", "something nobody knows"},
		{"the sandbox has ended", "el sandbox ha terminado"},
		{"agent: unknown user", "agent: no existe ese usuario"},
		{"web: agent: the path is a directory", "web: agent: la ruta es una carpeta"},
		{"open /x: no such file or directory", "al abrir /x: no existe el archivo o la carpeta"},
		{"Arenero can't be started: start /p: permission denied", "no se puede arrancar Arenero: al arrancar /p: permiso denegado"},
		{
			"use socket /a: b: the path has 120 bytes, 103 are allowed: set ARENERO_HOME to a shorter folder",
			"al usar el socket /a: b: la ruta tiene 120 bytes, y se admiten 103: pon en ARENERO_HOME una carpeta de ruta más corta",
		},
		{
			"the record of what sandboxes cost can't be used: the file is damaged: nothing of it was deleted: put a copy in its place (those that end in .bak are made before updates), or move it away to begin without what it knew",
			"el registro de lo que cuestan los sandboxes no se puede usar: el archivo está dañado: no se borró nada de él: pon una copia en su lugar (las que acaban en .bak se hacen antes de actualizar), o apártalo para empezar sin lo que sabía",
		},
		{
			"the record of what sandboxes cost can't be used: the disk is full: make room on it; nothing is lost, and no restart is needed",
			"el registro de lo que cuestan los sandboxes no se puede usar: el disco está lleno: haz sitio en él; no se pierde nada, y no hace falta reiniciar",
		},
		{"AWS says: something", "AWS says: something"},
	}
	in(t, assets.Spanish, func(t *testing.T) {
		for _, tt := range tests {
			if got := inLanguage(tt.text); got != tt.want {
				t.Errorf("inLanguage(%q) = %q, want %q", tt.text, got, tt.want)
			}
		}
	})
	in(t, assets.English, func(t *testing.T) {
		for _, tt := range tests {
			if got := inLanguage(tt.text); got != tt.text {
				t.Errorf("inLanguage(%q) = %q", tt.text, got)
			}
		}
	})
}
