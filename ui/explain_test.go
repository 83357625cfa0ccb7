package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// TestMessagesAreApart holds that no message is taken for another.
func TestMessagesAreApart(t *testing.T) {
	tx, english := assets.Load(assets.Spanish, MessageTexts), assets.Load(assets.English, MessageTexts)
	for _, m := range sayings() {
		args := []string{}
		for _, h := range m.holes {
			args = append(args, h, "0")
		}
		got, ok := known(tx, english.Get(m.key, args...))
		if want := tx.Get(m.key, args...); !ok || got != want {
			t.Errorf("%s comes out as %q, want %q", m.key, got, want)
		}
	}
}

func TestExplain(t *testing.T) {
	over := func(longest float64) error {
		return &sandbox.Error{Code: sandbox.BudgetExceeded, Msg: "no", Hint: "ask", Details: map[string]any{
			"level": "profile", "asked_micro": 1_009_784.0, "left_micro": 697_360.0, "longest_s": longest,
		}}
	}
	tests := []struct {
		name        string
		err         error
		english, es string
	}{
		{
			"engine", &sandbox.Error{Code: sandbox.Gone, Msg: "the sandbox has ended"},
			"the sandbox has ended", "el sandbox ha terminado",
		},
		{
			"agent", fmt.Errorf("call: %w", &sandbox.Error{Code: sandbox.Invalid, Msg: "agent: unknown user"}),
			"unknown user", "no existe ese usuario",
		},
		{
			"keychain", &sandbox.Error{Code: sandbox.NoKeychain, Msg: "m", Hint: "h", Details: map[string]any{"class": "other", "why": "it burns"}},
			`the keychain failed (it burns): try again, or choose the vault with "arenero keychain use vault"`,
			`el llavero ha fallado (it burns): inténtalo de nuevo, o elige la caja fuerte con "arenero keychain use vault"`,
		},
		{
			"budget that fits less", over(4950),
			"1.01 USD would be held, and 0.70 USD are left (budget: of the profile): 82 minutes would fit",
			"se reservarían 1,01 USD, y quedan 0,70 USD (presupuesto: del perfil): cabrían 82 minutos",
		},
		{
			"budget that fits nothing", over(0),
			"1.01 USD would be held, and 0.70 USD are left (budget: of the profile): nothing fits any more: raise the limit of the budget, or end what runs",
			"se reservarían 1,01 USD, y quedan 0,70 USD (presupuesto: del perfil): ya no cabe nada: sube el límite del presupuesto, o termina lo que está en marcha",
		},
		{
			"budget short by little",
			&sandbox.Error{Code: sandbox.BudgetExceeded, Details: map[string]any{"level": "global", "asked_micro": 1_000_001, "left_micro": int64(1_000_000)}},
			"1.000001 USD would be held, and 1.000000 USD are left (budget: for everything): nothing fits any more: raise the limit of the budget, or end what runs",
			"se reservarían 1,000001 USD, y quedan 1,000000 USD (presupuesto: para todo): ya no cabe nada: sube el límite del presupuesto, o termina lo que está en marcha",
		},
		{"of this program", errors.New("open /x: no such file or directory"), "open /x: no such file or directory", "al abrir /x: no existe el archivo o la carpeta"},
		{"deadline", context.DeadlineExceeded, "context deadline exceeded", "se acabó el tiempo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Explain(assets.Load(assets.English, MessageTexts, KeychainTexts), tt.err); got != tt.english {
				t.Errorf("English: %q, want %q", got, tt.english)
			}
			if got := Explain(assets.Load(assets.Spanish, MessageTexts, KeychainTexts), tt.err); got != tt.es {
				t.Errorf("Spanish: %q, want %q", got, tt.es)
			}
		})
	}
}

// TestExplainTexts holds that what is said of budgets is there in both languages,
// and nothing beside it.
func TestExplainTexts(t *testing.T) {
	want := "explain.over explain.over.fits explain.over.none explain.point"
	for _, language := range []string{assets.English, assets.Spanish} {
		var have []string
		for _, key := range assets.Load(language, MessageTexts).Keys() {
			if strings.HasPrefix(key, "explain.") {
				have = append(have, key)
			}
		}
		if got := strings.Join(have, " "); got != want {
			t.Errorf("%s has %q, want %q", language, got, want)
		}
	}
}

// TestExplainLong leaves a message as it is that has more reasons than any of ours:
// a name in it is made to keep whoever translates it busy.
func TestExplainLong(t *testing.T) {
	tx := assets.Load(assets.Spanish, MessageTexts)
	text := "agent: unknown user: " + strings.Repeat("read settings: ", 2000) + "no"
	if got := InLanguage(tx, text); got != text {
		t.Errorf("it is now %.80q", got)
	}
	if got := InLanguage(tx, "agent: unknown user: a: b"); strings.Contains(got, "unknown") {
		t.Errorf("a few reasons: %q", got)
	}
}
