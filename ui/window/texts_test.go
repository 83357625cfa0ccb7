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

	"fyne.io/fyne/v2/lang"

	"github.com/arenero/arenero/assets"
)

// TestTextsOfFrameAndSettings holds that each key in the source has a text in
// both languages, and that each text is said somewhere.
func TestTextsOfFrameAndSettings(t *testing.T) {
	said := map[string]bool{}
	for _, dir := range []string{".", "../view"} {
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
					if text, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(text, "window.") {
						said[text] = true
					}
				}
				return true
			})
		}
	}
	// What is put together, in full.
	for beginning, endings := range map[string][]string{
		"window.page.":                      pageNames,
		"window.settings.keychain.backend.": {"system", "vault", "memory"},
	} {
		if !said[beginning] {
			t.Errorf("nothing says %q any more", beginning)
		}
		delete(said, beginning)
		for _, ending := range endings {
			said[beginning+ending] = true
		}
	}
	for _, language := range []string{assets.English, assets.Spanish} {
		tx := assets.Load(language, parts...)
		for key := range said {
			if !strings.HasSuffix(key, ".") && !tx.Has(key) {
				t.Errorf("%s has no %q", language, key)
			}
		}
		for _, key := range assets.Load(language, "window", "window-settings").Keys() {
			if strings.HasPrefix(key, "window.") && !said[key] {
				t.Errorf("nothing says %q", key)
			}
		}
	}
}

// TestSpeak has the toolkit say what it says in either language, and back.
func TestSpeak(t *testing.T) {
	for _, language := range []string{assets.Spanish, assets.English, assets.Spanish} {
		tx := assets.Load(language, parts...)
		speak(tx)
		for theirs, ours := range toolkitTexts {
			if got, want := lang.X(theirs, theirs), tx.Get(ours); got != want {
				t.Errorf("%s: %q is said as %q, want %q", language, theirs, got, want)
			}
		}
	}
}

// TestLanguageOf goes from what was chosen to what the environment says.
func TestLanguageOf(t *testing.T) {
	tests := []struct {
		name, chosen string
		env          map[string]string
		want         string
	}{
		{"chosen", "es", map[string]string{"ARENERO_LANG": "en", "LANG": "en_US.UTF-8"}, assets.Spanish},
		{"ours", "", map[string]string{"ARENERO_LANG": "es", "LANG": "en_US.UTF-8"}, assets.Spanish},
		{"locale", "", map[string]string{"LANG": "es_CL.UTF-8"}, assets.Spanish},
		{"locale over all", "", map[string]string{"LC_ALL": "C", "LANG": "es_CL.UTF-8"}, assets.English},
		{"one that we do not speak", "", map[string]string{"LANG": "de_DE.UTF-8"}, assets.English},
		{"none", "", nil, assets.English},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range []string{"ARENERO_LANG", "LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"} {
				t.Setenv(v, tt.env[v])
			}
			if got := languageOf(tt.chosen); got != tt.want {
				t.Errorf("languageOf(%q) = %q, want %q", tt.chosen, got, tt.want)
			}
		})
	}
}

// TestPageNames holds that the pages are those that the command line knows.
func TestPageNames(t *testing.T) {
	r := newRig(t, assets.English, newOwner())
	side, led := pages(r.core)
	var got []string
	for _, p := range slices.Concat(side, led) {
		got = append(got, p.name())
		if p.icon() == nil {
			t.Errorf("%s has no picture", p.name())
		}
	}
	if !slices.Equal(got, pageNames) {
		t.Errorf("the pages are %q, and their names %q", got, pageNames)
	}
}
