package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/arenero/arenero/assets"
)

// in runs a test in a language.
func in(t *testing.T, language string, test func(t *testing.T)) {
	t.Helper()
	t.Run(language, func(t *testing.T) {
		before := texts
		defer func() { texts = before }()
		tx := assets.Load(language, parts...)
		texts = func() assets.Texts { return tx }
		test(t)
	})
}

var languages = []string{assets.English, assets.Spanish}

// TestHelpIsTranslated walks all verbs, flags and arguments that people see.
func TestHelpIsTranslated(t *testing.T) {
	for _, language := range languages {
		in(t, language, func(t *testing.T) {
			used := map[string]bool{}
			walkHelp(t, used)
			for _, key := range slices.Sorted(maps.Keys(used)) {
				if strings.TrimSpace(say(key)) == "" {
					t.Errorf("%s is empty", key)
				}
			}
			for _, key := range texts().Keys() {
				if strings.HasPrefix(key, "help.") && !strings.HasPrefix(key, "help.title.") && !used[key] {
					t.Errorf("%s is the text of no verb, flag or argument", key)
				}
			}
		})
	}
}

// walkHelp adds to used the keys of all that help shows.
func walkHelp(t *testing.T, used map[string]bool) {
	t.Helper()
	parser, err := newParser(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	group := func(g *kong.Group) {
		if g == nil {
			return
		}
		if key := helpGroupKey(g); texts().Has(key) {
			used[key] = true
		} else {
			t.Errorf("the group %q has no title: give it %q in assets/translation", g.Key, key)
		}
	}
	var walk func(node *kong.Node)
	walk = func(node *kong.Node) {
		if node.Hidden {
			return
		}
		if node.Tag != nil && node.Tag.Get("help") != "" {
			t.Errorf("%s has its help in a tag: it belongs to assets/translation", node.FullPath())
		}
		group(node.Group)
		key := helpKey(node)
		if used[key] = true; !texts().Has(key) {
			t.Errorf("%s has no help: give it %q in assets/translation", node.FullPath(), key)
		}
		if texts().Has(key + helpDetail) {
			used[key+helpDetail] = true
		} else if node.Detail != "" {
			t.Errorf("%s has a method Help: its text belongs to assets/translation, as %q", node.FullPath(), key+helpDetail)
		}
		for _, v := range node.Values() {
			if v.Flag != nil && v.Flag.Hidden {
				continue
			}
			if v.Flag != nil {
				group(v.Flag.Group)
			}
			if v.Tag.Get("help") != "" {
				t.Errorf("%s: %s has its help in a tag: it belongs to assets/translation", node.FullPath(), v.ShortSummary())
			}
			of := helpKeyOf(node, v)
			if used[of] = true; of == "" {
				t.Errorf("%s: %s has no help: give it a text in assets/translation, as help.go has it", node.FullPath(), v.ShortSummary())
			}
		}
		for _, child := range node.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
}

// TestHelpHasNoEnglishOfKong holds that all that kong says itself is translated.
func TestHelpHasNoEnglishOfKong(t *testing.T) {
	in(t, assets.Spanish, func(t *testing.T) {
		parser, err := newParser(&commands{})
		if err != nil {
			t.Fatal(err)
		}
		var walk func(node *kong.Node, words []string)
		walk = func(node *kong.Node, words []string) {
			var b strings.Builder
			parser.Stdout = &b
			ctx, err := kong.Trace(parser, words)
			if err != nil {
				t.Fatal(err)
			}
			if err := ctx.PrintUsage(false); err != nil {
				t.Fatal(err)
			}
			for _, word := range []string{"Usage:", "Flags:", "Arguments:", "Commands:", "[flags]", "for more information", "context-sensitive"} {
				if strings.Contains(b.String(), word) {
					t.Errorf("%v says %q", words, word)
				}
			}
			if !strings.HasPrefix(b.String(), "Uso: arenero") {
				t.Errorf("%v begins with %.40q", words, b.String())
			}
			for _, child := range node.Children {
				if !child.Hidden {
					walk(child, append(slices.Clone(words), child.Name))
				}
			}
		}
		walk(parser.Model.Node, nil)
	})
}
