package window

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// TestTextsOfHostsAndGuide holds that each key in the source has a text in both
// languages, and that each text is said somewhere.
func TestTextsOfHostsAndGuide(t *testing.T) {
	said := map[string]bool{}
	for _, dir := range []string{".", "..", "../view"} {
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
					if text, err := strconv.Unquote(lit.Value); err == nil && (strings.HasPrefix(text, "window.hosts.") || strings.HasPrefix(text, "window.guide.")) {
						said[text] = true
					}
				}
				return true
			})
		}
	}
	// What is put together, in full.
	endings := map[string][]string{
		"window.hosts.state.":   {control.EntryAsWritten, control.EntryByHost, control.EntryEdited, control.EntryGone, control.EntryForeign, control.EntryUnread},
		"window.hosts.trouble.": {"edited", "gone", "foreign", "unread", "lost", "lost.backup"},
		"window.hosts.act.": {
			string(ui.HostConnect), string(ui.HostUpdate), string(ui.HostRemove), string(ui.HostUndo), string(ui.HostCheck), string(ui.HostFolder), string(ui.HostBind), string(ui.HostPrint),
		},
		"window.hosts.title.": {string(ui.HostConnect), string(ui.HostUpdate), string(ui.HostRemove), string(ui.HostUndo)},
		"window.hosts.do.":    {string(ui.HostConnect), string(ui.HostUpdate), string(ui.HostRemove), string(ui.HostUndo)},
		"window.hosts.fact.":  {"file", "project", "place", "tools", "token", "address", "name"},
		"window.hosts.scope.": {"user", "project", "local", "profile", "bundle"},
		"window.hosts.tools.": {"core", "fleet", "jobs"},
		"window.hosts.would.": {"insert", "update", "delete", "revert", "argv", control.HostUnchanged},
		"window.hosts.did.":   {"insert", "update", "delete", "revert", "argv", control.HostUnchanged},
		"window.hosts.form.":  {"scope", "kind", "address", "place", "tools"},
		"window.hosts.print.": {"command", "entry", "missing"},
		"window.guide.title.": {string(ui.GuideTry), string(ui.GuideConnect), string(ui.GuideCall)},
		"window.guide.trial.": {string(ui.TrialMaking), string(ui.TrialRunning)},
		"window.guide.arrival.": {
			string(ui.ArrivalNone), string(ui.ArrivalStarted), string(ui.ArrivalCalled),
		},
		"window.guide.": {"what", "none", "choose"},
	}
	for prefix, all := range endings {
		if !said[prefix] {
			t.Errorf("nothing is put together from %q", prefix)
		}
		for _, e := range all {
			said[prefix+e] = true
		}
	}
	for _, language := range []string{assets.English, assets.Spanish} {
		keys := slices.DeleteFunc(assets.Load(language, ui.HostTexts, ui.GuideTexts).Keys(), func(key string) bool {
			return !strings.HasPrefix(key, "window.hosts.") && !strings.HasPrefix(key, "window.guide.")
		})
		for text := range said {
			if _, prefix := endings[text]; !prefix && !slices.Contains(keys, text) {
				t.Errorf("%s: %q has no text", language, text)
			}
		}
		for _, key := range keys {
			if !said[key] {
				t.Errorf("%s: nothing says %q", language, key)
			}
		}
	}
}
