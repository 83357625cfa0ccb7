package ui

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A Gauge says how near its end something is.
type Gauge string

// The gauges.
const (
	GaugeGood Gauge = ""
	GaugeWarn Gauge = "warn" // four fifths are used
	GaugeBad  Gauge = "bad"  // all is
)

const gaugeWarns = 0.8

// A BudgetRow is a budget as a window shows it.
type BudgetRow struct {
	ID     string // level and owner
	Budget sandbox.Budget
	Title  string
	Text   string  // how it stands
	Left   string  // what is left, or ""
	Runs   string  // when it runs out, or ""
	Used   float64 // of 1; 0 without a limit
	Gauge  Gauge
}

// A BudgetOwner is what is known of the owner of a budget.
type BudgetOwner struct {
	Name    string
	Gone    bool      // a revoked token
	RunsOut time.Time // zero: not soon
}

// BudgetID names a budget.
func BudgetID(b sandbox.Budget) string {
	if b.Owner == "" {
		return string(b.Level)
	}
	return string(b.Level) + ":" + b.Owner
}

// BudgetRows are all budgets that matter: that for everything first, then those
// of profiles and of tokens. grants knows the owners by their ids.
func BudgetRows(tx assets.Texts, all []sandbox.Budget, grants map[string]BudgetOwner, now time.Time) []BudgetRow {
	var out []BudgetRow
	if !slices.ContainsFunc(all, func(b sandbox.Budget) bool { return b.Level == sandbox.LevelGlobal }) {
		out = append(out, budgetRow(tx, sandbox.Budget{Level: sandbox.LevelGlobal, Period: sandbox.PeriodNone}, BudgetOwner{}, now))
	}
	for _, b := range all {
		who := grants[b.Owner]
		if b.Level == sandbox.LevelGrant && who.Gone && b.Held == 0 {
			continue
		}
		if b.Level == sandbox.LevelProfile && b.Owner == sandbox.ProfileLocal {
			continue // it costs nothing
		}
		if b.Level == sandbox.LevelGrant && b.Owner == sandbox.GrantOwner && b.Limit == nil {
			continue // it is what no token pays, and nothing is to be set there
		}
		out = append(out, budgetRow(tx, b, who, now))
	}
	order := []sandbox.BudgetLevel{sandbox.LevelGlobal, sandbox.LevelProfile, sandbox.LevelGrant}
	slices.SortStableFunc(out, func(a, b BudgetRow) int {
		return cmp.Or(slices.Index(order, a.Budget.Level)-slices.Index(order, b.Budget.Level), strings.Compare(a.Title, b.Title))
	})
	return out
}

func budgetRow(tx assets.Texts, b sandbox.Budget, who BudgetOwner, now time.Time) BudgetRow {
	r := BudgetRow{ID: BudgetID(b), Budget: b, Title: BudgetTitle(tx, b.Level, cmp.Or(who.Name, b.Owner))}
	used := b.Spent.Plus(b.Held)
	if b.Limit == nil {
		r.Text = tx.Get("spend.budget.unlimited", "spent", Dollars(tx, b.Spent))
	} else {
		r.Text = tx.Get("spend.budget.of", "spent", DollarsBeside(tx, b.Spent, *b.Limit), "limit", LimitText(tx, b.Limit, b.Period))
		r.Left = tx.Get("spend.budget.left", "left", DollarsBeside(tx, *b.Left(), *b.Limit))
		switch {
		case *b.Limit > 0:
			r.Used = min(1, float64(used)/float64(*b.Limit))
		case used > 0:
			r.Used = 1
		}
		switch {
		case b.OverLimit || used >= *b.Limit:
			r.Gauge = GaugeBad
		case r.Used >= gaugeWarns:
			r.Gauge = GaugeWarn
		}
	}
	if b.Held > 0 {
		r.Text += tx.Get("spend.budget.held", "held", Dollars(tx, b.Held))
	}
	if b.OverLimit || b.Limit != nil && used > *b.Limit {
		r.Left = tx.Get("spend.budget.over")
	}
	if who.RunsOut.After(now) {
		span, _ := Countdown(tx, who.RunsOut, now)
		r.Runs = tx.Get("spend.budget.runs-out", "span", span)
	}
	return r
}

// BudgetTitle is what a budget is called.
func BudgetTitle(tx assets.Texts, level sandbox.BudgetLevel, name string) string {
	switch {
	case level == sandbox.LevelGlobal:
		return tx.Get("spend.budget.global")
	case level == sandbox.LevelProfile:
		return tx.Get("spend.budget.profile", "name", printable(name))
	case name == sandbox.GrantOwner:
		return tx.Get("spend.budget.owner")
	}
	return tx.Get("spend.budget.token", "name", printable(name))
}

// LimitText is a limit, all of it, as it was given.
func LimitText(tx assets.Texts, limit *sandbox.Micro, period sandbox.Period) string {
	if limit == nil {
		return tx.Get("spend.limit.unlimited")
	}
	amount := AllDollars(tx, *limit)
	if key := "spend.limit." + string(period); period != sandbox.PeriodNone && tx.Has(key) {
		return tx.Get(key, "amount", amount)
	}
	return amount
}

// PeriodText is what a period is called in a list of them.
func PeriodText(tx assets.Texts, p sandbox.Period) string { return tx.Get("spend.period." + string(p)) }

// Periods are those that a budget may have.
func Periods() []sandbox.Period {
	return []sandbox.Period{sandbox.PeriodMonth, sandbox.PeriodWeek, sandbox.PeriodDay, sandbox.PeriodNone}
}

// What can be wrong with an amount that somebody typed. Their texts are keys.
var (
	ErrAmount    = errors.New("spend.amount.wrong")
	ErrThousands = errors.New("spend.amount.thousands") // "1,000" is one or a thousand
)

// ParseDollars reads an amount that somebody typed, with a point or a comma. One
// that others would take for thousands is refused: a limit must not be a
// thousandth of what was meant.
func ParseDollars(text string) (sandbox.Micro, error) {
	text = strings.TrimSpace(text)
	for _, sign := range []string{"US$", "USD", "$"} {
		if cut, ok := strings.CutPrefix(text, sign); ok {
			text = strings.TrimSpace(cut)
		} else if cut, ok := strings.CutSuffix(text, sign); ok {
			text = strings.TrimSpace(cut)
		}
	}
	if strings.Count(text, ".")+strings.Count(text, ",") > 1 {
		return 0, ErrThousands
	}
	text = strings.Replace(text, ",", ".", 1)
	if whole, fraction, ok := strings.Cut(text, "."); ok && len(fraction) == 3 && strings.Trim(whole, "0") != "" {
		return 0, ErrThousands
	}
	m, err := sandbox.ParseMicro(text)
	if err != nil {
		return 0, ErrAmount
	}
	return m, nil
}

// RaisesBudget reports whether a budget would allow more than it does, which its
// owner is asked about.
func RaisesBudget(old, changed sandbox.Budget) bool {
	if old.Limit == nil {
		return false
	}
	often := []sandbox.Period{sandbox.PeriodNone, sandbox.PeriodMonth, sandbox.PeriodWeek, sandbox.PeriodDay}
	return changed.Limit == nil || *changed.Limit > *old.Limit || slices.Index(often, changed.Period) > slices.Index(often, old.Period)
}

// Meaning says what a changed budget would do.
func Meaning(tx assets.Texts, old, changed sandbox.Budget) string {
	if changed.Limit == nil {
		return tx.Get("spend.meaning.none")
	}
	key := "spend.meaning." + string(changed.Period)
	if changed.Period == sandbox.PeriodNone {
		key = "spend.meaning.once"
	}
	text := tx.Get(key, "amount", AllDollars(tx, *changed.Limit))
	switch used := old.Spent.Plus(old.Held); {
	case used > *changed.Limit:
		text += " " + tx.Get("spend.meaning.below", "used", DollarsBeside(tx, used, *changed.Limit))
	case *changed.Limit == 0:
		text += " " + tx.Get("spend.meaning.zero")
	}
	return text
}

// TypedDollars is an amount as it is typed, for [ParseDollars] to read again.
func TypedDollars(tx assets.Texts, m sandbox.Micro) string {
	text := m.String()
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) == 3 {
		text += "0" // three digits could be thousands
	}
	return strings.Replace(text, ".", tx.Get("tray.money.point"), 1)
}
