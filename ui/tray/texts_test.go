package tray

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// TestEveryTextIsSaid holds that each key in the source has a text in both
// languages, and that each text is said somewhere.
func TestEveryTextIsSaid(t *testing.T) {
	said := map[string]bool{}
	for _, dir := range []string{".", ".."} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no source in %s: %v", dir, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(text, "tray.") {
						said[text] = true
					}
				}
				return true
			})
		}
	}
	// What is put together, in full.
	for _, state := range []sandbox.State{
		sandbox.Creating, sandbox.InDoubt, sandbox.Pending, sandbox.Running, sandbox.Suspending, sandbox.Suspended, sandbox.Terminating, "WORKING",
	} {
		said["tray.state."+strings.ReplaceAll(strings.ToLower(string(state)), "_", "-")] = true
	}
	for _, reason := range []sandbox.EndReason{sandbox.EndFailed, sandbox.EndCut, sandbox.EndExpired, sandbox.EndCloud, sandbox.EndVanished, sandbox.EndBudget} {
		said["tray.reason."+string(reason)] = true
	}
	for _, language := range []string{assets.English, assets.Spanish} {
		keys := slices.DeleteFunc(assets.Load(language, ui.Texts).Keys(), func(key string) bool { return !strings.HasPrefix(key, "tray.") })
		for text := range said {
			switch {
			case strings.HasSuffix(text, "."): // the beginning of several, which are above
			case slices.Contains(keys, text):
			case slices.Contains(keys, text+".one") && slices.Contains(keys, text+".many"):
			default:
				t.Errorf("%s: %q has no text", language, text)
			}
		}
		for _, key := range keys {
			if !said[key] && !said[strings.TrimSuffix(strings.TrimSuffix(key, ".one"), ".many")] {
				t.Errorf("%s: nothing says %q", language, key)
			}
		}
	}
}
