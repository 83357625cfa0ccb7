package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// granted is a grant of 5 dollars a day for 30 days.
func granted(edits ...func(*sandbox.Grant)) sandbox.Grant {
	limit := sandbox.Micro(5_000_000)
	g := sandbox.Grant{
		ID: "g_1", Name: "claude", Scopes: sandbox.AgentScopes(), Limit: &limit, Period: sandbox.PeriodDay, MaxHours: 1.5, MaxConcurrent: 2,
		Burst: sandbox.BurstStrict, CreatedAt: noon, ExpiresAt: noon.Add(30 * 24 * time.Hour),
	}
	for _, edit := range edits {
		edit(&g)
	}
	return g
}

func TestTokenState(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			edit func(*sandbox.Grant)
			want string
			tone ui.Tone
		}{
			{func(*sandbox.Grant) {}, in(tx, "active", "activo"), ui.ToneGood},
			{func(g *sandbox.Grant) { g.ExpiresAt = noon.Add(time.Hour) }, in(tx, "expires soon", "caduca pronto"), ui.ToneWarn},
			{func(g *sandbox.Grant) { g.ExpiresAt = noon }, in(tx, "expired", "caducado"), ui.ToneMuted},
			{func(g *sandbox.Grant) { g.Disabled = true }, in(tx, "off", "desactivado"), ui.ToneMuted},
			{func(g *sandbox.Grant) { g.RevokedAt, g.Disabled = noon, true }, in(tx, "revoked", "revocado"), ui.ToneMuted},
			{func(g *sandbox.Grant) { g.NotBefore = noon.Add(time.Hour) }, in(tx, "not valid yet", "aún no vale"), ui.ToneMuted},
		} {
			if got, tone := ui.TokenState(tx, granted(tt.edit), noon); got != tt.want || tone != tt.tone {
				t.Errorf("got %q, %q; want %q, %q", got, tone, tt.want, tt.tone)
			}
		}
	}, ui.TokenTexts)
}

func TestTokenExpires(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		got, until := ui.TokenExpires(tx, granted(), noon)
		if got != in(tx, "in 30 days", "en 30 días") || !until.After(noon) {
			t.Errorf("%q until %v", got, until)
		}
		if got, _ := ui.TokenExpires(tx, granted(), noon.Add(31*24*time.Hour)); got != in(tx, "1 day ago", "hace 1 día") {
			t.Errorf("%q", got)
		}
		revoked := granted()
		revoked.RevokedAt = noon.Add(-24 * time.Hour)
		if got, _ := ui.TokenExpires(tx, revoked, noon); got != in(tx, "1 day ago", "hace 1 día") {
			t.Errorf("a revoked one ended %q", got)
		}
		if got, _ := ui.TokenExpires(tx, sandbox.Grant{}, noon); got != in(tx, "never", "nunca") {
			t.Errorf("%q", got)
		}
		if got := ui.Moment(tx, noon.Add(time.Hour), noon); got != in(tx, "today 13:00", "hoy 13:00") {
			t.Errorf("%q", got)
		}
	}, ui.TokenTexts)
}

func TestTokenLeft(t *testing.T) {
	limit := sandbox.Micro(5_000_000)
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			b    sandbox.Budget
			want string
			gone float64
			tone ui.Tone
		}{
			{sandbox.Budget{Limit: &limit, Period: sandbox.PeriodDay, Spent: 1_000_000, Held: 500_000}, in(tx, "$3.50 left of $5.00 a day", "quedan 3,50 US$ de 5,00 US$ al día"), 0.3, ""},
			{sandbox.Budget{Limit: &limit, Period: sandbox.PeriodMonth, Spent: 4_000_000}, in(tx, "$1.00 left of $5.00 a month", "quedan 1,00 US$ de 5,00 US$ al mes"), 0.8, ui.ToneWarn},
			{sandbox.Budget{Limit: &limit, Period: sandbox.PeriodNone, Spent: 6_000_000, OverLimit: true}, in(tx, "$0.00 left of $5.00 in all", "quedan 0,00 US$ de 5,00 US$ en total"), 1, ui.ToneBad},
			{sandbox.Budget{Spent: 1_230_000}, in(tx, "$1.23 spent, no limit", "1,23 US$ gastados, sin límite"), 0, ""},
		} {
			got, gone, tone, capped := ui.TokenLeft(tx, tt.b)
			if got != tt.want || gone != tt.gone || tone != tt.tone || capped != (tt.b.Limit != nil) {
				t.Errorf("%q, %v, %q, %v", got, gone, tone, capped)
			}
		}
		none := sandbox.Micro(0)
		if _, gone, tone, _ := ui.TokenLeft(tx, sandbox.Budget{Limit: &none}); gone != 1 || tone != ui.ToneBad {
			t.Errorf("of nothing: %v, %q", gone, tone)
		}
	}, ui.TokenTexts)
}

func TestTokenSentence(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range []struct {
			name, en, es string
			edit         func(*sandbox.Grant)
		}{
			{
				"an agent",
				"claude can look at its own sandboxes and balance and make and use sandboxes. It may spend at most $5.00 a day. Each sandbox lives up to 1.5 h. It has up to 2 sandboxes at once. It expires 2026-12-29 12:00, in 30 days.",
				"claude puede ver sus propios sandboxes y su saldo y crear y usar sandboxes. Puede gastar como mucho 5,00 US$ al día. Cada sandbox vive hasta 1,5 h. Tiene hasta 2 sandboxes a la vez. Caduca 2026-12-29 12:00, en 30 días.",
				func(*sandbox.Grant) {},
			},
			{
				"one that looks only",
				"claude can look at its own sandboxes and balance. It expires 2026-12-29 12:00, in 30 days.",
				"claude puede ver sus propios sandboxes y su saldo. Caduca 2026-12-29 12:00, en 30 días.",
				func(g *sandbox.Grant) { g.Scopes = []sandbox.Scope{sandbox.ScopeRead} },
			},
			{
				"without limits",
				"claude can make and use sandboxes. It may spend without a limit. It has one sandbox at a time. They are made of base, gpu alone. They run on this computer alone, where they cost nothing. It expires 2026-12-29 12:00, in 30 days.",
				"claude puede crear y usar sandboxes. Puede gastar sin límite. Tiene un sandbox a la vez. Solo se crean a partir de base, gpu. Solo se ejecutan en este equipo, donde no cuestan nada. Caduca 2026-12-29 12:00, en 30 días.",
				func(g *sandbox.Grant) {
					g.Scopes, g.Limit, g.MaxHours, g.MaxConcurrent = []sandbox.Scope{sandbox.ScopeRent}, nil, 0, 1
					g.Templates, g.Profile = []string{"base", "gpu"}, sandbox.ProfileLocal
				},
			},
			{
				"nothing",
				"It can do nothing yet: choose what it may do.", "Aún no puede hacer nada: elige qué puede hacer.",
				func(g *sandbox.Grant) { *g = sandbox.Grant{} },
			},
		} {
			if got := ui.TokenSentence(tx, granted(tt.edit), noon); got != in(tx, tt.en, tt.es) {
				t.Errorf("%s: %q", tt.name, got)
			}
		}
	}, ui.TokenTexts)
}

func TestWhatIsWrongWithAToken(t *testing.T) {
	tests := []struct {
		name, field string
		edit        func(*ui.TokenForm)
	}{
		{"nothing", "", func(*ui.TokenForm) {}},
		{"dollars as in Spanish", "", func(f *ui.TokenForm) { f.Limit = "12,50" }},
		{"dollars with a sign", "", func(f *ui.TokenForm) { f.Limit = "$5" }},
		{"no limits", "", func(f *ui.TokenForm) { f.Limit, f.Hours, f.AtOnce, f.Rate = "", "", "", "" }},
		{"a day to come", "", func(f *ui.TokenForm) { f.Ends, f.On = ui.EndsOn, "2026-12-24" }},
		{"no name", ui.TokenName, func(f *ui.TokenForm) { f.Name = " " }},
		{"the owner's name", ui.TokenName, func(f *ui.TokenForm) { f.Name = "Owner" }},
		{"a name that is taken", ui.TokenName, func(f *ui.TokenForm) { f.Name = "old" }},
		{"a name that does not show", ui.TokenName, func(f *ui.TokenForm) { f.Name = "a\u200bb" }},
		{"a long name", ui.TokenName, func(f *ui.TokenForm) { f.Name = strings.Repeat("ñ", 65) }},
		{"no scopes", ui.TokenScopes, func(f *ui.TokenForm) { f.Scopes = nil }},
		{"no dollars", ui.TokenMoney, func(f *ui.TokenForm) { f.Limit = "a lot" }},
		{"too exact", ui.TokenMoney, func(f *ui.TokenForm) { f.Limit = "1.1234567" }},
		{"too many hours", ui.TokenHours, func(f *ui.TokenForm) { f.Hours = "9" }},
		{"no number of hours", ui.TokenHours, func(f *ui.TokenForm) { f.Hours = "NaN" }},
		{"too many at once", ui.TokenAtOnce, func(f *ui.TokenForm) { f.AtOnce = "10001" }},
		{"part of one", ui.TokenAtOnce, func(f *ui.TokenForm) { f.AtOnce = "1.5" }},
		{"too many calls", ui.TokenRate, func(f *ui.TokenForm) { f.Rate = "6001" }},
		{"a template twice", ui.TokenTemplates, func(f *ui.TokenForm) { f.Templates = "a, b, a" }},
		{"no day", ui.TokenOn, func(f *ui.TokenForm) { f.Ends, f.On = ui.EndsOn, "Christmas" }},
		{"a day that is over", ui.TokenOn, func(f *ui.TokenForm) { f.Ends, f.On = ui.EndsOn, "2026-11-28" }},
		{"a day that is too far", ui.TokenOn, func(f *ui.TokenForm) { f.Ends, f.On = ui.EndsOn, "2028-01-01" }},
	}
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				f := ui.NewTokenForm()
				f.Name = "claude"
				tt.edit(&f)
				got := f.Check(tx, []string{"old"}, noon)
				if tt.field == "" && len(got) > 0 || tt.field != "" && (got[tt.field] == "" || len(got) != 1) {
					t.Errorf("%v", got)
				}
				for _, text := range got {
					if strings.Contains(text, "window.") || strings.ContainsAny(text, "{}") {
						t.Errorf("%q", text)
					}
				}
			})
		}
	}, ui.TokenTexts)
}

func TestTokenForms(t *testing.T) {
	f := ui.NewTokenForm()
	f.Name, f.Limit, f.Templates, f.Scopes = " claude ", "12,5", "base, gpu", []sandbox.Scope{sandbox.ScopeRent, sandbox.ScopeRead}
	g := f.Grant(sandbox.Grant{}, noon)
	if g.Name != "claude" || *g.Limit != 12_500_000 || g.Period != sandbox.PeriodDay || g.MaxHours != 1 || g.MaxConcurrent != 2 ||
		!slices.Equal(g.Templates, []string{"base", "gpu"}) || !slices.Equal(g.Scopes, sandbox.AgentScopes()) || !g.ExpiresAt.Equal(noon.Add(30*24*time.Hour)) {
		t.Errorf("%+v", g)
	}
	f.Limit = ""
	if g := f.Grant(sandbox.Grant{}, noon); g.Limit != nil || g.Period != sandbox.PeriodNone {
		t.Errorf("%+v", g)
	}
	f.Ends, f.On = ui.EndsOn, "2026-12-24"
	if g := f.Grant(sandbox.Grant{}, noon); !g.ExpiresAt.Equal(time.Date(2026, 12, 25, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%v", g.ExpiresAt)
	}
	for _, old := range []sandbox.Grant{granted(), granted(func(g *sandbox.Grant) {
		g.Limit, g.Period, g.MaxHours, g.MaxConcurrent, g.Rate, g.Templates, g.Profile = nil, sandbox.PeriodNone, 0, 0, 12, []string{"a", "b"}, "work"
	})} {
		same := ui.TokenFormOf(old).Grant(old, noon.Add(time.Hour))
		if ui.TokenFormOf(same).Name != old.Name || same.Profile != old.Profile || same.Rate != old.Rate || same.MaxHours != old.MaxHours ||
			!same.ExpiresAt.Equal(old.ExpiresAt) || !slices.Equal(same.Templates, old.Templates) || (same.Limit == nil) != (old.Limit == nil) {
			t.Errorf("a form without a change makes %+v of %+v", same, old)
		}
	}
}

func TestTokenEnds(t *testing.T) {
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		var fresh, old []string
		for _, e := range ui.TokenEnds(true) {
			fresh = append(fresh, ui.EndsTitle(tx, e, sandbox.Grant{}, noon))
		}
		for _, e := range ui.TokenEnds(false) {
			old = append(old, ui.EndsTitle(tx, e, granted(), noon))
		}
		if fresh[0] != in(tx, "1 day from now", "dentro de 1 día") || fresh[2] != in(tx, "30 days from now", "dentro de 30 días") || len(old) != len(fresh)+1 ||
			old[0] != in(tx, "as it is (2026-12-29 12:00)", "como está (2026-12-29 12:00)") {
			t.Errorf("%q, %q", fresh, old)
		}
	}, ui.TokenTexts)
}

func TestTokenTextsOfUse(t *testing.T) {
	c := sandbox.Credential{Hint: "aB3d", CreatedAt: noon.Add(-time.Hour)}
	bothWith(t, func(t *testing.T, tx assets.Texts) {
		if got := ui.SecretText(tx, c, noon); got != in(tx, "aB3d…, made today 11:00, never used.", "aB3d…, creado hoy 11:00, nunca usado.") {
			t.Errorf("%q", got)
		}
		used := c
		used.LastUsedAt, used.OverlapUntil = noon.Add(-7*time.Minute), noon.Add(time.Hour)
		if got := ui.SecretText(tx, used, noon); !strings.HasSuffix(got, in(tx, "used 7 min ago. It was replaced, and still opens for 1 h.", "usado hace 7 min. Se ha reemplazado, y todavía abre durante 1 h.")) {
			t.Errorf("%q", got)
		}
		if got := ui.SecretText(tx, used, noon.Add(time.Hour)); !strings.HasSuffix(got, in(tx, "It opens nothing any more.", "Ya no abre nada.")) {
			t.Errorf("%q", got)
		}
		if ui.TokenLastUse(tx, nil, noon) != "–" || ui.TokenLastUse(tx, []sandbox.Credential{c, used}, noon) != in(tx, "7 min ago", "hace 7 min") {
			t.Error("the last use")
		}
		for _, s := range sandbox.Scopes() {
			if ui.ScopeTitle(tx, s) == string(s) || !strings.Contains(ui.ScopeHint(tx, s), ": ") {
				t.Errorf("%s: %q, %q", s, ui.ScopeTitle(tx, s), ui.ScopeHint(tx, s))
			}
		}
		uses := ui.TokenUses(tx)
		if len(uses) != 4 || uses[0].Copy != "arenero-bridge --http --auth token" || !strings.Contains(uses[3].Copy, "idempotency_key") {
			t.Errorf("%+v", uses)
		}
		for _, u := range uses {
			if strings.Contains(u.Title+u.Text, "window.") || strings.Contains(u.Copy, "arenero_agt_") {
				t.Errorf("%+v", u)
			}
		}
		for _, keep := range []bool{false, true} {
			if got := ui.RevokeText(tx, "claude", 3, keep); !strings.Contains(got, "3 sandboxes") || strings.ContainsAny(got, "{}") {
				t.Errorf("%q", got)
			}
		}
		if got := ui.RevokeText(tx, "claude", 0, false); strings.Contains(got, "sandboxes") {
			t.Errorf("%q", got)
		}
		if got := ui.TokenRunning(tx, 1, 3); got != in(tx, "1 of 3", "1 de 3") || ui.TokenRunning(tx, 1, 0) != "1" {
			t.Errorf("%q", got)
		}
	}, ui.TokenTexts)
}
