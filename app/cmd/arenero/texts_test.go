package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// literals are the strings in the source of some folders, and in which file
// each is.
func literals(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range dirs {
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
					if text, err := strconv.Unquote(lit.Value); err == nil {
						out[text] = name
					}
				}
				return true
			})
		}
	}
	return out
}

// TestKeysAreThere holds that each key that this program names has a text, and
// that each text has a place where it is said: by its key, or by the beginning
// of it where the rest is put behind it.
func TestKeysAreThere(t *testing.T) {
	said := literals(t, ".", "../..")
	shared := assets.Load(assets.English, hostconf.Texts).Keys() // with the bridge, and said by hostconf
	for _, language := range languages {
		in(t, language, func(t *testing.T) {
			keys := texts().Keys()
			for text, file := range said {
				if !strings.HasPrefix(text, "cli.") || strings.ContainsAny(text, " \n") {
					continue
				}
				begins := strings.HasSuffix(text, ".")
				if !slices.ContainsFunc(keys, func(key string) bool { return key == text || begins && strings.HasPrefix(key, text) }) {
					t.Errorf("%s says %q, which has no text", file, text)
				}
			}
			for _, key := range keys {
				if strings.HasPrefix(key, "msg.") || strings.HasPrefix(key, "explain.") || strings.HasPrefix(key, helpTexts+".") || key == helpTexts || slices.Contains(shared, key) {
					continue // other tests see to those
				}
				if !isSaid(said, key) && !isSaid(said, strings.TrimPrefix(key, "verb.")) {
					t.Errorf("nothing says %q", key)
				}
			}
		})
	}
}

// isSaid reports whether source has a key, or a beginning of it up to a dot.
func isSaid(said map[string]string, key string) bool {
	if _, ok := said[key]; ok {
		return true
	}
	for i, c := range key {
		if _, ok := said[key[:i+1]]; ok && c == '.' && i < len(key)-1 {
			return true
		}
	}
	return false
}

// TestMistakesAreKnown holds that what kong says of a command line is told in
// Spanish.
func TestMistakesAreKnown(t *testing.T) {
	lines := []string{
		"", "nonsense", "lss", "run --nonsense", "run --tim 1s", "run extra", "exec", "exec web", "run --timeout", "run --timeout soon", "run --timeout 1", "run --timeout=",
		"exec --timeout 1 web true", "logs -n x", "logs -n", "logs other", "completion", "completion tcsh", "engine --stop --status", "engine --idle-exit=soon",
		"ls --json=maybe", "ls --profile", "suspend", "hosts", "hosts install", "hosts lst", "profiles add x", "keychain use paper", "help --nonsense", "ls -z", "ls --all=", "cloud --listen",
		"tokens create", "tokens create x --limit 1,5", "tokens create x --max-hours soon", "tokens create x --period year", "budget set global", "budget set global ten",
		"spend --by nonsense", "spend --since yesterday", "quote --hours soon", "events --limit x", "ledger export --format xml", "docs nonsense",
	}
	in(t, assets.Spanish, func(t *testing.T) {
		for _, line := range lines {
			parser, err := newParser(&commands{})
			if err != nil {
				t.Fatal(err)
			}
			parser.Exit = func(int) { t.Errorf("%q ends the program", line) }
			_, err = parser.Parse(strings.Fields(line))
			if err == nil {
				t.Errorf("%q is taken", line)
				continue
			}
			what := err.Error()
			for _, ours := range spoken() { // which is in the language of the user at once
				what = strings.TrimSuffix(what, ours)
			}
			ui.TranslateAll(texts(), what, func(part string) {
				if part != "" && !strings.HasPrefix(part, "-") && !strings.HasPrefix(part, "<") {
					t.Errorf("%q is told as %q, of which %q is not known", line, err, part)
				}
			})
		}
	})
}

// spoken are what our own flags say of a wrong value.
func spoken() []string {
	return []string{
		say("cli.amount", "value", "1,5"), say("cli.amount", "value", "ten"), say("cli.moment", "value", "yesterday"),
		say("cli.time.unit", "value", "1"), say("cli.time", "value", "soon"), say("cli.time", "value", ""),
	}
}
