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
	tx = Texts{byKey: map[string]string{"k": "{\"x\": [{a}, {none}, {a"}}
	if got, want := tx.Get("k", "a", "1", "b"), "{\"x\": [1, {none}, {a"; got != want {
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

func TestA39_PageForAgents(t *testing.T) {
	for _, language := range []string{English, Spanish} {
		page := Doc(DocAgents, language)
		if !strings.HasPrefix(page, "# Arenero ") {
			t.Errorf("%s: the page begins with %.40q", language, page)
		}
		for _, must := range []string{
			"`read`", "`rent`", "`manage`", "`billing`", "Authorization: Bearer", "Idempotency-Key", "idempotent_replay", "same_request_10m",
			"get_events", "get_balance", "list_templates", "quote", "create_sandbox", "schedule_removal", "suspend_sandbox", "terminate_sandbox",
			"run_code", "run_command", "_meta[\"arenero/alerts\"]", "budget_exceeded", "create_in_doubt", "forbidden_scope", "hours_required",
		} {
			if !strings.Contains(page, must) {
				t.Errorf("%s: the page says nothing of %s", language, must)
			}
		}
	}
	if Doc("no-such-page", English) != "" || Doc(DocAgents, "fr") != Doc(DocAgents, English) {
		t.Error("pages or languages that there are not")
	}
}

// The first prompt has every rule: look at events and at the balance, search,
// propose and wait, give hours and a stable key, set the end.
func TestA38_FirstPrompt(t *testing.T) {
	for language, rules := range map[string][]string{
		English: {"get_events", "get_balance", "list_templates", "quote", "wait for my approval", "hours", "idempotency_key", "same key", "schedule_removal", "terminate_sandbox", "alerts", "Never write a token"},
		Spanish: {"get_events", "get_balance", "list_templates", "quote", "espera mi aprobación", "horas", "idempotency_key", "misma clave", "schedule_removal", "terminate_sandbox", "avisos", "No escribas nunca un token"},
	} {
		prompt, at := Doc(DocFirstPrompt, language), -1
		for i, rule := range rules {
			found := strings.Index(prompt, rule)
			if found < 0 {
				t.Errorf("%s: nothing of %q", language, rule)
			}
			if i < 5 && found < at { // these are steps, in this order
				t.Errorf("%s: %q comes too early", language, rule)
			}
			at = found
		}
	}
}
