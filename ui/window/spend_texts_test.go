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

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// saidBy are the keys that the source of a screen names, in full or as what is
// put behind its prefix by "say" and "add".
func saidBy(t *testing.T, prefix string, patterns ...string) map[string]bool {
	t.Helper()
	said := map[string]bool{}
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no source at %s: %v", pattern, err)
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
				switch n := n.(type) {
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && strings.HasPrefix(text, prefix) {
						said[text] = true
					}
				case *ast.CallExpr:
					if len(n.Args) == 0 {
						return true
					}
					var name string
					switch f := n.Fun.(type) {
					case *ast.SelectorExpr:
						name = f.Sel.Name
					case *ast.Ident:
						name = f.Name
					}
					lit, ok := n.Args[0].(*ast.BasicLit)
					if !ok || lit.Kind != token.STRING || name != "say" {
						return true
					}
					if text, err := strconv.Unquote(lit.Value); err == nil {
						said[prefix+text] = true
					}
				}
				return true
			})
		}
	}
	return said
}

// TestTextsOfMoneyAreSaid holds that each key of the screens of spending and of
// activity has a text in both languages, and that each text is said.
func TestTextsOfMoneyAreSaid(t *testing.T) {
	for _, screen := range []struct {
		part, prefix string
		patterns     []string
		together     map[string][]string // what is put together, by its beginning
	}{
		{ui.SpendTexts, "spend.", []string{"spend*.go", "../spend*.go", "../view/spend*.go", "../view/chart.go", "../activity*.go"}, map[string][]string{
			"spend.weekday.":     {"0", "1", "2", "3", "4", "5", "6"},
			"spend.month.":       {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"},
			"spend.range.":       append(ui.Ranges(), "hint", "first", "last", "apply", "day", "order", "future", "long"),
			"spend.chart":        {"", ".week", ".month"},
			"spend.":             {"hosts", "profiles", "chart", "really", "aws", "legend.running"}, // of tables of them
			"spend.limit.":       {"day", "week", "month"},
			"spend.period.":      {"none", "day", "week", "month"},
			"spend.meaning.":     {"day", "week", "month"},
			"spend.quote.":       {"fits", "longest", "hold", "cost", "would", "would-hold", "expected", "hint", "life", "idle", "size", "place", "template", "prices"},
			"spend.quote.fits.":  {"grant", "profile", "global"},
			"spend.quote.hint.":  {"idle_short"},
			"spend.order.":       {"state", "cost", "would", "compute", "launch", "cycles", "storage", "hold", "place", "host", "grant", "template", "size", "asked", "started", "ended", "why", "time", "idle", "burst", "prices"},
			"spend.order.burst.": {string(sandbox.BurstStrict), string(sandbox.BurstBaseline)},
			"spend.order.state.": {"held", "creating", "in_doubt", "running", "settled", "released"},
			"spend.end.":         {"closed", "cut", "asked", "removal_time", "expired", "failed", "cloud", "vanished", "never_was", "budget", "other"},
			"spend.prices":       {"", ".stale"},
		}},
		{ui.ActivityTexts, "activity.", []string{"activity*.go", "../activity*.go", "../view/activity*.go"}, map[string][]string{
			"activity.topic.":    {"sandboxes", "calls", "budgets", "tokens", "apps", "system"},
			"activity.severity.": {"info", "warn", "error"},
			"activity.":          {"go.sandbox", "go.budget", "go.token", "clock.right"}, // of a table of them
			"activity.fact.":     {"at", "severity", "name", "sandbox", "host", "profile", "token", "state", "why", "took", "kind"},
			"activity.refused.":  {"budget_exceeded", "over_limit", "price_unknown", "concurrency_limit", "hours_too_long", "template_not_allowed", "profile_not_allowed", "clock_suspect"},
			"activity.event.": {
				"sandbox.ready", "sandbox.suspended", "sandbox.resumed", "sandbox.ended", "sandbox.ended.cost", "sandbox.ended.would", "sandbox.notice", "sandbox.orphan",
				"budget.threshold", "budget.over", "budget.set", "budget.set.none", "app.connected", "app.changed", "app.disconnected", "create.refused", "create.refused.nameless", "create.in_doubt", "token.created", "token.rotated", "token.revoked", "token.expiring",
				"price.stale", "clock.suspect", "clock.suspect.back", "clock.suspect.ahead", "ledger.older", "machine.ready", "machine.ended", "machine.notice",
			},
		}},
	} {
		said := saidBy(t, screen.prefix, screen.patterns...)
		for begins, ends := range screen.together {
			for _, end := range ends {
				said[begins+end] = true
			}
		}
		for _, language := range []string{assets.English, assets.Spanish} {
			tx := assets.Load(language, screen.part)
			keys := slices.DeleteFunc(tx.Keys(), func(key string) bool { return !strings.HasPrefix(key, screen.prefix) })
			for key := range said {
				if !strings.HasSuffix(key, ".") && !tx.Has(key) {
					t.Errorf("%s: %q has no text", language, key)
				}
			}
			for _, key := range keys {
				if !said[key] {
					t.Errorf("%s: nothing says %q", language, key)
				}
			}
		}
	}
}
