package assets

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var hole = regexp.MustCompile(`\{[a-z_]+\}`)

func TestBothLanguagesSayTheSame(t *testing.T) {
	var parts []string // all that there are
	all, err := files.ReadDir("translation")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if part, ok := strings.CutSuffix(f.Name(), "."+English+".json"); ok {
			parts = append(parts, part)
		}
	}
	en, es := Load(English, parts...), Load(Spanish, parts...)
	for _, key := range slices.Sorted(maps.Keys(en.byKey)) {
		text, ok := es.byKey[key]
		if !ok {
			t.Errorf("%s has no Spanish text", key)
			continue
		}
		if text == "" || en.byKey[key] == "" {
			t.Errorf("%s is empty", key)
		}
		want, got := holes(en.byKey[key]), holes(text)
		if !slices.Equal(want, got) {
			t.Errorf("%s: the holes are %v in English and %v in Spanish", key, want, got)
		}
	}
	for key := range es.byKey {
		if !en.Has(key) {
			t.Errorf("%s has no English text", key)
		}
	}
}

func holes(text string) []string {
	all := hole.FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

func TestLanguage(t *testing.T) {
	tests := map[string]string{
		"es": Spanish, "es_CL.UTF-8": Spanish, "ES-mx": Spanish, "en_US": English, "en": English,
		"C": "", "": "", "fr_FR": "", "est_EE": "", "POSIX": "", "es@euro": Spanish,
	}
	for locale, want := range tests {
		if got := Language(locale); got != want {
			t.Errorf("Language(%q) = %q, want %q", locale, got, want)
		}
	}
}

func TestGet(t *testing.T) {
	tx := Texts{byKey: map[string]string{"k": "{a} and {b} and {c}"}}
	if got, want := tx.Get("k", "a", "1", "b", "{c}"), "1 and {c} and {c}"; got != want {
		t.Errorf("Get() = %q, want %q", got, want)
	}
	args := []string{"a", "1"}
	tx.Get("k", args...)
	if args[0] != "a" {
		t.Errorf("Get() changed the caller's slice to %q", args)
	}
	if got := tx.Get("none", "a", "1"); got != "none" {
		t.Errorf("Get() of an unknown key = %q", got)
	}
}
