package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

// golden compares lines with a file, which -update writes anew.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path := filepath.Join("testdata", "charts", name+".txt")
	got := strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "\x1b", "<ESC>")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%swant\n%s", path, got, want)
	}
}

// styles are those that charts are drawn with.
var styles = map[string]style{
	"piped":    {width: 80},
	"narrow":   {width: 40},
	"terminal": {width: 100, blocks: true, colour: true},
	"wide":     {width: 400, blocks: true},
}

func spent(key string, total, held, would sandbox.Micro, n int) spendRow {
	cost := sandbox.Cost{Compute: total * 3 / 4, Launch: total / 8, Storage: total / 8, Total: total}
	return spendRow{SpendRow: sandbox.SpendRow{Key: key, Cost: cost, Held: held, Would: would, Sandboxes: n, Seconds: int64(n) * 1800}}
}

func TestSpendCharts(t *testing.T) {
	reports := map[string]spendReport{
		"day": {By: sandbox.SpendByDay, Held: 505_384, Rows: []spendRow{
			spent("2026-11-27", 1_250_000, 0, 0, 4), spent("2026-11-28", 13_412, 0, 1_623, 2), spent("2026-11-29", 0, 505_384, 0, 1), spent("2026-11-30", 7, 0, 0, 1),
		}},
		"template": {By: sandbox.SpendByTemplate, Rows: []spendRow{
			spent("arn:aws:lambda:us-east-1:123456789012:microvm-image:a-name-that-is-longer-than-any-column-has-room-for", 99_990_000, 0, 0, 120),
			spent("arn:aws:lambda:us-east-1:123456789012:microvm-image:\x1b[31mred\u202e", 12_000_000, 0, 0, 1),
		}},
		"unpriced": {
			By:   sandbox.SpendByHost,
			Rows: []spendRow{{SpendRow: sandbox.SpendRow{Sandboxes: 12, Unpriced: 11}}},
			Unpriced: slices.Repeat([]unpricedRow{
				{ID: "k1", Name: "w\x07eb", Profile: "work", Region: "eu-south-9", Template: "arn:aws:lambda:eu-south-9:1:microvm-image:big", SizeMiB: 3000},
			}, 11),
		},
		"none": {By: sandbox.SpendByDay},
	}
	for name, r := range reports {
		for _, row := range r.Rows {
			r.Total = plus(r.Total, row.SpendRow)
		}
		for look, s := range styles {
			for _, language := range languages {
				in(t, language, func(t *testing.T) {
					lines := r.lines(s)
					golden(t, "spend-"+name+"-"+look+"."+language, lines)
					wantPlain(t, s, lines)
				})
			}
		}
	}
}

// wantPlain holds that no colour goes where it is not wanted, and nothing of
// others that a terminal would obey goes anywhere.
func wantPlain(t *testing.T, s style, lines []string) {
	t.Helper()
	text := strings.Join(lines, "\n")
	if s.colour {
		for _, colour := range []string{red, yellow, green} {
			text = strings.ReplaceAll(text, "\x1b["+colour+"m", "")
		}
		text = strings.ReplaceAll(text, "\x1b[0m", "")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line != printable(line) {
			t.Errorf("%q would be obeyed", line)
		}
	}
	if !s.blocks && strings.ContainsAny(text, "█▒·") {
		t.Errorf("%q is not plain", text)
	}
}

func TestBudgetCharts(t *testing.T) {
	limit := func(m sandbox.Micro) *sandbox.Micro { return &m }
	row := func(level sandbox.BudgetLevel, name string, limit *sandbox.Micro, period sandbox.Period, spent, held sandbox.Micro) budgetRow {
		return budgetRow{Budget: sandbox.Budget{Level: level, Owner: name, Limit: limit, Period: period, Spent: spent, Held: held}, Name: name}
	}
	rows := []budgetRow{
		row(sandbox.LevelGlobal, "", limit(20_000_000), sandbox.PeriodMonth, 4_000_000, 2_000_000),
		row(sandbox.LevelProfile, "work", limit(5_000_000), sandbox.PeriodNone, 4_000_000, 0),
		row(sandbox.LevelProfile, "full", limit(5_000_000), sandbox.PeriodWeek, 4_000_000, 1_000_000),
		row(sandbox.LevelProfile, "almost", limit(5_000_000), sandbox.PeriodDay, 4_999_999, 0),
		row(sandbox.LevelGrant, "a\x1b[2Jname", limit(0), sandbox.PeriodNone, 0, 0),
		row(sandbox.LevelGrant, "over", limit(1_000_000), sandbox.PeriodNone, 1_500_000, 0),
		row(sandbox.LevelGrant, sandbox.GrantOwner, nil, sandbox.PeriodNone, 123_456, 0),
	}
	rows[5].OverLimit = true
	for look, s := range styles {
		for _, language := range languages {
			in(t, language, func(t *testing.T) {
				lines := s.budgets(rows)
				golden(t, "budget-"+look+"."+language, lines)
				wantPlain(t, s, lines)
			})
		}
	}
}

func TestRounded(t *testing.T) {
	tests := []struct {
		m        sandbox.Micro
		decimals int
		want     string
	}{
		{0, 2, "0.00"},
		{1, 2, "0.01"},
		{1, 4, "0.0001"},
		{12_345_678, 4, "12.3457"},
		{12_345_678, 2, "12.35"},
		{995_000, 2, "1.00"},
		{994_999, 2, "0.99"},
		{1_000_000, 2, "1.00"},
		{9_223_372_036_854_775_807, 2, "9223372036854.78"},
	}
	for _, tt := range tests {
		if got := rounded(tt.m, tt.decimals); got != tt.want {
			t.Errorf("rounded(%d, %d) = %q, want %q", tt.m, tt.decimals, got, tt.want)
		}
	}
}

func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 30, 0, 0, time.UTC)
	zone := time.FixedZone("", -3*3600)
	tests := []struct {
		text                string
		ok                  bool
		ago, whole, forward time.Time
	}{
		{text: "7d", ok: true, ago: now.AddDate(0, 0, -7), whole: now.AddDate(0, 0, -7), forward: now.AddDate(0, 0, 7)},
		{text: "2w", ok: true, ago: now.AddDate(0, 0, -14), whole: now.AddDate(0, 0, -14), forward: now.AddDate(0, 0, 14)},
		{text: "1h30m", ok: true, ago: now.Add(-90 * time.Minute), whole: now.Add(-90 * time.Minute), forward: now.Add(90 * time.Minute)},
		{
			text: "2026-11-01", ok: true, ago: time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC),
			whole: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC), forward: time.Date(2026, 11, 2, 3, 0, 0, 0, time.UTC),
		},
		{
			text: "2026-11-01T12:00:00+01:00", ok: true, ago: time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC),
			whole: time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC), forward: time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC),
		},
		{text: "2026-11-01T12:00:00"},
		{text: "2026-02-30"},
		{text: "yesterday"},
		{text: ""},
		{text: "d"},
		{text: "0d"},
		{text: "-1d"},
		{text: "+1d"},
		{text: "1.5d"},
		{text: "-5m"},
		{text: "5"},
		{text: "99999999999d"},
		{text: "99999w"},
	}
	for _, tt := range tests {
		m, ok := parseMoment(tt.text)
		if ok != tt.ok {
			t.Errorf("parseMoment(%q) = %v, want %v", tt.text, ok, tt.ok)
		}
		if !ok {
			continue
		}
		if got := m.ago(now, zone); !got.Equal(tt.ago) {
			t.Errorf("%q ago is %v, want %v", tt.text, got, tt.ago)
		}
		if got := m.agoWhole(now, zone); !got.Equal(tt.whole) {
			t.Errorf("%q ago as a whole is %v, want %v", tt.text, got, tt.whole)
		}
		if got := m.ahead(now, zone); !got.Equal(tt.forward) {
			t.Errorf("%q ahead is %v, want %v", tt.text, got, tt.forward)
		}
	}
}

// TestEventKindsAreSaid holds that each kind of event that there is has its
// words.
func TestEventKindsAreSaid(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "../../sandbox/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []sandbox.EventKind
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == "EventKind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, sandbox.EventKind(text))
		}
		return true
	})
	if len(kinds) < 19 || !slices.Equal(kinds, eventKinds()) {
		t.Errorf("kinds are %v, and eventKinds has %v", kinds, eventKinds())
	}
	for _, language := range languages {
		in(t, language, func(t *testing.T) {
			for _, k := range kinds {
				if !texts().Has("cli.event." + string(k)) {
					t.Errorf("%s has no words", k)
				}
			}
		})
	}
}

func TestEventLines(t *testing.T) {
	at := time.Date(2026, 11, 29, 10, 42, 7, 0, time.Local)
	names := map[string]string{"g_1": "ci", sandbox.GrantOwner: sandbox.GrantOwner}
	event := func(kind sandbox.EventKind, severity sandbox.Severity, subject string, data map[string]any) sandbox.Event {
		return sandbox.Event{ID: "e", At: at, Kind: kind, Severity: severity, Grant: "g_1", Subject: subject, Data: data}
	}
	info, warn, bad := sandbox.SeverityInfo, sandbox.SeverityWarn, sandbox.SeverityError
	events := []sandbox.Event{
		event(sandbox.EventReady, info, "microvm-1", map[string]any{"name": "web"}),
		event(sandbox.EventSuspended, info, "microvm-1", nil),
		event(sandbox.EventResumed, info, "microvm-1", nil),
		event(sandbox.EventEnded, warn, "microvm-1", map[string]any{"reason": "expired", "settled_micro": float64(186_627)}),
		event(sandbox.EventEnded, info, "microvm-1", map[string]any{"reason": "asked", "would_micro": float64(186_627)}),
		event(sandbox.EventEnded, warn, "microvm-1", map[string]any{"reason": "never heard of"}),
		event(sandbox.EventNotice, warn, "microvm-1", map[string]any{"text": "line one\nline \x1b[31mtwo\u202e " + strings.Repeat("x", 300)}),
		event(sandbox.EventOrphan, info, "microvm-9", map[string]any{"name": "work"}),
		event(sandbox.EventThreshold, warn, "grant:g_1", map[string]any{"level": "grant", "name": "g_1", "percent": 80.0, "spent_micro": 3e6, "held_micro": 1e6, "limit_micro": 5e6}),
		event(sandbox.EventThreshold, info, "profile:work", map[string]any{"level": "profile", "name": "work", "percent": 50, "spent_micro": int64(3_000_000), "limit_micro": int64(6_000_000)}),
		event(sandbox.EventOver, bad, "global", map[string]any{"level": "global", "name": "", "spent_micro": 3e6, "limit_micro": 2e6}),
		event(sandbox.EventBudgetSet, info, "global", map[string]any{"level": "global", "name": "", "limit_micro": 12_500_000.0, "period": "month"}),
		event(sandbox.EventBudgetSet, info, "grant:g_1", map[string]any{"level": "grant", "name": "g_1", "limit_micro": int64(5_000_000), "period": "none"}),
		event(sandbox.EventBudgetSet, info, "profile:work", map[string]any{"level": "profile", "name": "work", "period": "day"}),
		event(sandbox.EventRefused, warn, "g_1", map[string]any{"code": "budget_exceeded", "name": "web", "asked_micro": 505_384.0, "left_micro": 3e5}),
		event(sandbox.EventRefused, warn, "g_1", map[string]any{"code": "some_new_code"}),
		event(sandbox.EventDoubt, bad, "k1", map[string]any{"hold_micro": 505_384.0}),
		event(sandbox.EventCreated, info, "g_1", map[string]any{"name": "ci"}),
		event(sandbox.EventRotated, info, "g_1", map[string]any{"name": "ci"}),
		event(sandbox.EventRevoked, info, "g_1", map[string]any{"name": "ci"}),
		event(sandbox.EventExpiring, warn, "g_1", map[string]any{"name": "ci", "left_s": 86_400.0}),
		{ID: "e", At: at, Kind: sandbox.EventApp, Severity: info, Subject: "cursor", Data: map[string]any{"name": "Cursor", "connection": "c_a"}},
		{ID: "e", At: at, Kind: sandbox.EventAppChanged, Severity: info, Subject: "cursor", Data: map[string]any{"name": "Cursor"}},
		{ID: "e", At: at, Kind: sandbox.EventAppGone, Severity: info, Subject: "cursor", Data: map[string]any{"name": "Cursor"}},
		event(sandbox.EventPriceStale, warn, "us-east-2", map[string]any{"days": 114.0, "name": "us-east-2"}),
		event(sandbox.EventClock, bad, "", map[string]any{"why": "back", "seconds": 600.0}),
		event(sandbox.EventClock, info, "", map[string]any{"why": "ahead", "seconds": 3600.0}),
		event(sandbox.EventMachine, info, "ark-1", nil),
		event(sandbox.EventMachineOver, warn, "ark-1", map[string]any{"reason": "evicted"}),
		event(sandbox.EventMachineSaid, warn, "ark-1", map[string]any{"text": "maintenance"}),
		event("thing.of.the.future", info, "x\x07y", nil),
	}
	for _, language := range languages {
		in(t, language, func(t *testing.T) {
			var lines []string
			for _, e := range events {
				lines = append(lines, eventLine(e, names))
			}
			golden(t, "events."+language, lines)
			wantPlain(t, style{}, lines)
			for _, line := range lines {
				if strings.Contains(line, "{") {
					t.Errorf("%q has a hole", line)
				}
			}
		})
	}
}

func TestTokenDetails(t *testing.T) {
	now := time.Date(2026, 11, 29, 10, 0, 0, 0, time.Local)
	limit := sandbox.Micro(12_500_000)
	all := control.Token{
		Grant: sandbox.Grant{
			ID: "g_1", Name: "ci", Scopes: sandbox.Scopes(), Limit: &limit, Period: sandbox.PeriodWeek, MaxHours: 1.5, MaxConcurrent: 3, Templates: []string{"a", "b"},
			Profile: "work", Burst: sandbox.BurstBaseline, Rate: 30, NotBefore: now.Add(time.Hour), ExpiresAt: now.AddDate(0, 0, 30), CreatedAt: now.Add(-time.Minute),
		},
		Budget: sandbox.Budget{Level: sandbox.LevelGrant, Owner: "g_1", Limit: &limit, Period: sandbox.PeriodWeek, Spent: 13_000_000, Held: 5, OverLimit: true},
		Credentials: []sandbox.Credential{
			{ID: "k_1", Hint: "AbCd", CreatedAt: now.Add(-time.Minute), LastUsedAt: now.Add(-time.Second)},
			{ID: "k_2", Hint: "EfGh", CreatedAt: now.Add(-time.Hour), OverlapUntil: now.Add(time.Hour)},
			{ID: "k_3", Hint: "IjKl", CreatedAt: now.Add(-time.Hour), RevokedAt: now},
		},
		Connections: []string{"c_abc\x1b"}, Running: 2,
	}
	for _, language := range languages {
		in(t, language, func(t *testing.T) {
			var b strings.Builder
			if err := writeTable(&b, tokenDetails(all, now)); err != nil {
				t.Fatal(err)
			}
			if err := writeTable(&b, tokenTable([]control.Token{all}, now)); err != nil {
				t.Fatal(err)
			}
			golden(t, "token."+language, strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"))
		})
	}
}

// TestRulesAreTold holds that each rule of a token's fields has its text.
func TestRulesAreTold(t *testing.T) {
	rules := []string{
		grant.RuleRequired, grant.RuleUnknown, grant.RuleRange, grant.RuleLength, grant.RuleCharacters, grant.RuleDuplicate, grant.RuleReserved, grant.RulePast, grant.RuleExclusive,
	}
	for _, language := range languages {
		in(t, language, func(t *testing.T) {
			for _, rule := range rules {
				details := map[string]any{"field": "max_hours", "rule": rule, "min": 0.02, "max": 8.0, "value": "v", "known": []any{"a", "b"}}
				err := inFlags(&sandbox.Error{Code: sandbox.Invalid, Msg: "untranslated", Details: details})
				if _, usage := err.(*usageError); !usage || strings.Contains(err.Error(), "untranslated") || strings.Contains(err.Error(), "{") {
					t.Errorf("%s is told as %q", rule, err)
				}
			}
		})
	}
}

func TestWriteJSONEscapes(t *testing.T) {
	var b strings.Builder
	if err := writeJSON(&b, map[string]string{"name": "a\x1b\u009b\u202e\u200fñ\x7f"}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), `{"name":"a\u001b\u009b\u202e\u200fñ\u007f"}`+"\n"; got != want {
		t.Errorf("writeJSON() = %s, want %s", got, want)
	}
}

func TestOverBudgetInWords(t *testing.T) {
	e := &sandbox.Error{Code: sandbox.BudgetExceeded, Msg: "no", Details: map[string]any{"level": "profile", "asked_micro": 1_009_784.0, "left_micro": 697_360.0, "longest_s": 4950.0}}
	none := &sandbox.Error{Code: sandbox.BudgetExceeded, Msg: "no", Details: map[string]any{"level": "global", "asked_micro": 1_000_001, "left_micro": 1_000_000, "longest_s": 0}}
	in(t, "es", func(t *testing.T) {
		if got := message(e); got != "se retendrían 1,01 USD, y quedan 0,6974 USD (presupuesto: del perfil): cabrían 82 min: --timeout 82m" {
			t.Errorf("it says %q", got)
		}
		if got := message(none); !strings.HasPrefix(got, "se retendrían 1,000001 USD, y quedan 1,00 USD (presupuesto: para todo): ya no cabe nada") {
			t.Errorf("it says %q", got)
		}
	})
}

func TestLsWithMoney(t *testing.T) {
	now := time.Now()
	all := []sandbox.Sandbox{
		{ID: "microvm-1", State: sandbox.Running, Profile: "work", Cost: sandbox.Cost{Total: 13_412}, Hold: 505_384},
		{ID: "microvm-2", State: sandbox.Running, Profile: sandbox.ProfileLocal, Cost: sandbox.Cost{Total: 1_623}},
	}
	in(t, "es", func(t *testing.T) {
		rows := table(all, now)
		if got := strings.Join(rows[0], " "); !strings.HasSuffix(got, "COSTE RETENIDO") {
			t.Errorf("columns are %s", got)
		}
		if got := strings.Join(rows[1], " "); !strings.HasSuffix(got, "0,01341 USD 0,5054 USD") {
			t.Errorf("the first is %s", got)
		}
		if got := strings.Join(rows[2], " "); !strings.HasSuffix(got, "- -") {
			t.Errorf("the local one is %s", got)
		}
	})
}
