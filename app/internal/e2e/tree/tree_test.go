// Package tree tests the shape of the source tree: who imports what, that every
// package says what it is for, and that files stay short.
package tree

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module, seen from here.
const root = "../../../.."

const module = "github.com/arenero/arenero"

// arrows says which of our packages each of our packages may import. A new
// arrow is a line here, for someone to look at. Tests are free to import more.
var arrows = map[string][]string{
	"app":                            {"app/control", "app/sandbox", "app/internal/fleet", "app/internal/price", "app/internal/ledger", "app/internal/grant", "app/internal/journal", "app/internal/agent", "app/internal/microvm", "app/internal/microvm/wire", "app/internal/awsauth", "app/internal/settings", "app/internal/keychain", "app/internal/account", "app/internal/desktop", "app/internal/jail", "app/internal/hostconf", "app/internal/hostconf/edit", "app/internal/hostconf/hostfile", "assets"},
	"app/cmd/arenero":                {"app", "app/control", "app/sandbox", "app/internal/awsauth", "app/internal/cloud", "app/internal/coldstart", "app/internal/grant", "app/internal/jail", "app/internal/hostconf", "assets", "ui", "ui/start", "ui/tray"},
	"app/cmd/arenero-agent":          {"app/internal/agent", "app/internal/jail/nest", "app/internal/jail/link"},
	"app/control":                    {"app/sandbox"},
	"app/sandbox":                    {},
	"app/internal/account":           {},
	"app/internal/agent":             {"app/internal/agent/agentpb", "app/internal/agent/kernel"},
	"app/internal/agent/agentpb":     {},
	"app/internal/agent/kernel":      {},
	"app/internal/atomicfile":        {},
	"app/internal/coldstart":         {},
	"app/internal/awsauth":           {"app/internal/keychain"},
	"app/internal/cloud":             {"app/internal/microvm/wire", "app/internal/agent", "app/internal/jail", "app/internal/egress", "app/internal/cloud/dataplane"},
	"app/internal/cloud/dataplane":   {},
	"app/internal/desktop":           {},
	"app/internal/egress":            {},
	"app/internal/filelock":          {},
	"app/internal/fleet":             {"app/sandbox"},
	"app/internal/grant":             {"app/sandbox"},
	"app/internal/hostconf":          {"app/internal/hostconf/edit", "app/internal/hostconf/hostfile", "assets"},
	"app/internal/hostconf/edit":     {},
	"app/internal/hostconf/hostfile": {"app/internal/hostconf/edit", "app/internal/journal"},
	"app/internal/journal":           {},
	"app/internal/keychain":          {},
	"app/internal/jail":              {"app/internal/jail/link", "app/internal/jail/nest"},
	"app/internal/jail/link":         {},
	"app/internal/jail/nest":         {"app/internal/jail/link"},
	"app/internal/ledger":            {"app/sandbox", "app/internal/journal"},
	"app/internal/microvm":           {"app/internal/microvm/wire"},
	"app/internal/microvm/wire":      {},
	"app/internal/paths":             {},
	"app/internal/price":             {"app/sandbox"},
	"app/internal/settings":          {"app/internal/awsauth"},
	"assets":                         {},
	"assets/icons":                   {},
	"bridge":                         {},
	"bridge/cmd/arenero-bridge":      {"bridge", "bridge/tools", "app/control", "app/sandbox", "assets"},
	"bridge/tools":                   {"bridge", "app/control", "app/sandbox", "assets"},
	"ui":                             {"app/control", "app/sandbox", "assets"},
	"ui/start":                       {},
	"ui/tray":                        {"ui", "ui/start", "app/control", "app/sandbox", "assets", "assets/icons"},
	"ui/quiet":                       {},
	"ui/view":                        {"ui", "app/control", "app/sandbox", "assets", "assets/icons"},
	"ui/window":                      {"ui", "ui/start", "ui/view", "app/control", "app/sandbox", "assets", "assets/icons"},
	".":                              {"ui/quiet", "ui/window"},
}

// anyone may import these: they know nothing of the product.
var anyone = []string{"app/internal/atomicfile", "app/internal/filelock", "app/internal/paths"}

// free are the folders of whole-program tests and their programs, which join
// whatever they test.
var free = []string{"app/internal/e2e"}

// owners says which of our packages may import each outside module, so that a
// module can be replaced in one place. "*" is for what is as good as the
// standard library.
var owners = map[string][]string{
	"filippo.io/age":                     {"app/internal/keychain"},
	"fyne.io/fyne/v2":                    {".", "ui/view", "ui/window"},
	"fyne.io/fyne/v2/app":                {"."}, // needs a C compiler, and a display
	"fyne.io/systray":                    {"ui/tray"},
	"github.com/adrg/xdg":                {"app/internal/paths"},
	"github.com/alecthomas/kong":         {"app/cmd/arenero"},
	"github.com/Microsoft/go-winio":      {"app/control"},
	"github.com/aws/aws-sdk-go-v2":       {"app/internal/account", "app/internal/microvm", "app/internal/microvm/wire", "app/internal/awsauth", "app/internal/price"},
	"github.com/aws/smithy-go":           {"app/internal/microvm", "app/internal/price"},
	"github.com/coder/websocket":         {"app/internal/cloud/dataplane"},
	"github.com/creack/pty":              {"app/internal/agent"},
	"github.com/go-jose/go-jose/v4":      {"app/internal/cloud/dataplane"},
	"github.com/go-json-experiment/json": {"app/internal/grant", "app/internal/hostconf/edit"},
	"github.com/goccy/go-yaml":           {"app/internal/hostconf/edit"},
	"github.com/gofrs/flock":             {"app/internal/filelock", "app/internal/hostconf/hostfile"},
	"github.com/godbus/dbus/v5":          {"app/internal/desktop", "app/internal/keychain", "ui/tray"},
	"github.com/google/uuid":             {"*"},
	"github.com/pelletier/go-toml/v2":    {"app/internal/hostconf/edit"},
	"github.com/zalando/go-keyring":      {"app/internal/keychain"},
	"go.yaml.in/yaml/v4":                 {"app/internal/hostconf", "app/internal/hostconf/edit"},
	"github.com/hashicorp/yamux":         {"app/internal/jail/link"},
	"github.com/jonboulle/clockwork":     {"*"},
	"github.com/mark3labs/mcp-go":        {"bridge"},
	"golang.org/x/net":                   {"*"},
	"golang.org/x/sync":                  {"*"},
	"golang.org/x/sys":                   {"*"},
	"golang.org/x/term":                  {"app/cmd/arenero"},
	"golang.org/x/time":                  {"*"},
	"google.golang.org/genproto":         {"app/internal/agent"},
	"google.golang.org/grpc":             {"app/internal/agent", "app/internal/agent/agentpb"},
	"google.golang.org/protobuf":         {"app/internal/agent", "app/internal/agent/agentpb"},
	"modernc.org/sqlite":                 {"app/internal/ledger"},
}

// longFiles may have more than maxLines lines, for the reason given.
var longFiles = map[string]string{}

const maxLines = 500

type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

// name is the package's path below the module, "." for its root.
func (p pkg) name() string { return ours(p.ImportPath) }

func TestArrows(t *testing.T) {
	for _, p := range list(t) {
		if isFree(p.name()) {
			continue
		}
		allowed, known := arrows[p.name()]
		if !known {
			t.Errorf("%s is not in the table of arrows: add it, with what it may import", p.name())
			continue
		}
		for _, imp := range p.Imports {
			to := ours(imp)
			if to != "" && !slices.Contains(allowed, to) && !slices.Contains(anyone, to) {
				t.Errorf("%s imports %s, which the table of arrows does not allow", p.name(), to)
			}
		}
	}
}

func TestOutsideModulesHaveOwners(t *testing.T) {
	for _, p := range list(t) {
		if isFree(p.name()) {
			continue
		}
		for _, imp := range p.Imports {
			first, _, _ := strings.Cut(imp, "/")
			if ours(imp) != "" || !strings.Contains(first, ".") { // ours, or the standard library
				continue
			}
			mod, who := ownersOf(imp)
			switch {
			case who == nil:
				t.Errorf("%s imports %s, which is not in the table of outside modules", p.name(), imp)
			case !slices.Contains(who, "*") && !slices.Contains(who, p.name()):
				t.Errorf("%s imports %s: only %s may import %s", p.name(), imp, strings.Join(who, ", "), mod)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	for _, p := range list(t) {
		var with []string
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil && strings.TrimSpace(f.Doc.Text()) != "" {
				with = append(with, name)
			}
		}
		if len(p.GoFiles) > 0 && len(with) != 1 {
			t.Errorf("%s has %d package comments, want one: %v", p.name(), len(with), with)
		}
	}
}

func TestFileLengths(t *testing.T) {
	long := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "node_modules"}, d.Name())) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines := bytes.Count(b, []byte("\n"))
		if lines <= maxLines || generated(b) {
			return nil
		}
		path, err = filepath.Rel(root, path)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		long[path] = true
		if longFiles[path] == "" {
			t.Errorf("%s has %d lines: split it by verb, or give a reason in longFiles (the limit is %d)", path, lines, maxLines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range longFiles {
		if !long[path] {
			t.Errorf("longFiles names %s, which is not long: take it out", path)
		}
	}
}

// list returns our packages with the imports that they have on any system.
func list(t *testing.T) []pkg {
	t.Helper()
	byPath := map[string]*pkg{}
	var order []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports", "./...")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v\n%s", system, err, stderr.Bytes())
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var p pkg
			if err := dec.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			had := byPath[p.ImportPath]
			if had == nil {
				byPath[p.ImportPath] = &p
				order = append(order, p.ImportPath)
				continue
			}
			had.GoFiles = union(had.GoFiles, p.GoFiles)
			had.Imports = union(had.Imports, p.Imports)
		}
	}
	var pkgs []pkg
	for _, path := range order {
		if len(byPath[path].GoFiles) > 0 { // tests alone are no package
			pkgs = append(pkgs, *byPath[path])
		}
	}
	if len(pkgs) < 5 {
		t.Fatalf("go list shows %d packages: is the table tested at all?", len(pkgs))
	}
	return pkgs
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// ours is the path of imp below the module, or "" for a package of others.
func ours(imp string) string {
	if imp == module {
		return "."
	}
	name, ok := strings.CutPrefix(imp, module+"/")
	if !ok {
		return ""
	}
	return name
}

func isFree(name string) bool {
	return slices.ContainsFunc(free, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
}

// ownersOf finds the entry with the longest path that imp lies below.
func ownersOf(imp string) (mod string, who []string) {
	for m, w := range owners {
		if (imp == m || strings.HasPrefix(imp, m+"/")) && len(m) > len(mod) {
			mod, who = m, w
		}
	}
	return mod, who
}

// generated tells files that a tool wrote, by the line that Go's tools know.
func generated(b []byte) bool {
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		line := sc.Text()
		if strings.HasPrefix(line, "package ") {
			return false
		}
		if strings.HasPrefix(line, "// Code generated ") && strings.HasSuffix(line, " DO NOT EDIT.") {
			return true
		}
	}
	return false
}
