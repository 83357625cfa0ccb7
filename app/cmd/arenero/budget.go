package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

type budgetCommand struct {
	List budgetListCommand `cmd:""`
	Set  budgetSetCommand  `cmd:""`
}

type budgetListCommand struct{ asJSON }

// A budgetRow is a budget, for programs: with the name of whose it is.
type budgetRow struct {
	sandbox.Budget
	Name string         `json:"name,omitempty"`
	Left *sandbox.Micro `json:"left_micro"` // null: no limit
}

// Run is "arenero budget list".
func (c *budgetListCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		rows, err := budgetRows(ctx, client)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, rows)
		}
		for _, line := range styleOf(os.Stdout).budgets(rows) {
			if _, err := fmt.Println(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// budgetRows are all budgets of what is still there. Those of tokens that are
// revoked matter no more once nothing is held.
func budgetRows(ctx context.Context, client *control.Client) ([]budgetRow, error) {
	all, err := client.Budgets(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := client.Tokens(ctx, "")
	if err != nil {
		return nil, err
	}
	names, gone := map[string]string{}, map[string]bool{}
	for _, t := range tokens {
		names[t.Grant.ID], gone[t.Grant.ID] = t.Grant.Name, !t.Grant.RevokedAt.IsZero()
	}
	rows := []budgetRow{}
	for _, b := range all {
		r := budgetRow{b, b.Owner, b.Left()}
		if b.Level == sandbox.LevelGrant {
			if gone[b.Owner] && b.Held == 0 {
				continue
			}
			r.Name = names[b.Owner]
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// budgetName is what a command line calls a budget.
func budgetName(level sandbox.BudgetLevel, name string) string {
	switch level {
	case sandbox.LevelGlobal:
		return targetGlobal
	case sandbox.LevelProfile:
		return targetProfile + name
	case sandbox.LevelGrant:
		if name == sandbox.GrantOwner {
			return name
		}
	}
	return targetToken + name
}

const gaugeWidth = 24

// budgets draws budgets, a line each.
func (s style) budgets(rows []budgetRow) []string {
	label := 0
	for _, r := range rows {
		label = max(label, width(printable(budgetName(r.Level, r.Name))))
	}
	label = min(label, mostLabel)
	var out []string
	for _, r := range rows {
		line := pad(cutTo(printable(budgetName(r.Level, r.Name)), mostLabel), label)
		if s.width >= label+gaugeWidth+usualWidth/3 {
			bar := strings.Repeat(" ", gaugeWidth+2)
			if r.Limit != nil {
				bar = "[" + s.gauge(r.Spent, r.Held, *r.Limit, gaugeWidth) + "]"
			}
			line += strings.Repeat(" ", gap) + bar
		}
		out = append(out, strings.TrimRight(line+strings.Repeat(" ", gap)+budgetText(r.Budget), " "))
	}
	return out
}

// budgetText is how a budget stands, in words.
func budgetText(b sandbox.Budget) string {
	args := []string{"spent", dollars(b.Spent), "held", usd(b.Held)}
	key := "cli.budget.unlimited"
	if b.Limit != nil {
		key = "cli.budget.of"
		args[1] = dollarsBeside(b.Spent, *b.Limit)
		args = append(args, "limit", limitText(b.Limit, b.Period))
	}
	text := say(key, args...)
	if b.Held > 0 {
		text += say("cli.budget.held", args...)
	}
	if b.OverLimit {
		text += say("cli.budget.over")
	}
	return text
}

// What budgets are called on a command line.
const (
	targetGlobal  = "global"
	targetProfile = "profile:"
	targetToken   = "token:"
)

type budgetSetCommand struct {
	asJSON
	Budget string  `arg:"" complete:"budget"`
	Amount amount  `arg:""`
	Period *string `enum:"none,day,week,month" placeholder:"PERIOD"`
	Yes    bool    `short:"y"`
}

// Run is "arenero budget set".
func (c *budgetSetCommand) Run() error {
	level, name, err := parseTarget(c.Budget)
	if err != nil {
		return err
	}
	return withMoney(func(ctx context.Context, client *control.Client) error {
		want := sandbox.Budget{Level: level, Owner: name}
		if level == sandbox.LevelGrant {
			t, err := tokenOf(ctx, client, name)
			if err != nil {
				return err
			}
			want.Owner, name = t.Grant.ID, t.Grant.Name
		}
		had, err := budgetOf(ctx, client, want)
		if err != nil {
			return err
		}
		want.Limit, want.Period = c.Amount.limit, had.Period
		if c.Period != nil {
			want.Period = sandbox.Period(*c.Period)
		}
		if raises(had, want) {
			err := agree(ctx, c.Yes, "cli.budget.ask", "budget", budgetName(level, name), "old", limitText(had.Limit, had.Period), "new", limitText(want.Limit, want.Period))
			if err != nil {
				return err
			}
		}
		if c.Period == nil { // whatever it may be by now
			want.Period = ""
		}
		b, err := client.SetBudget(ctx, want)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, budgetRow{b, name, b.Left()})
		}
		_, err = fmt.Println(printable(say("cli.budget.set", "budget", budgetName(level, name), "limit", limitText(b.Limit, b.Period))))
		if err == nil && b.Limit != nil && b.Spent.Plus(b.Held) > *b.Limit {
			fmt.Fprintln(os.Stderr, say("cli.budget.below", "used", usd(b.Spent.Plus(b.Held))))
		}
		return err
	})
}

// parseTarget reads which budget is meant.
func parseTarget(text string) (sandbox.BudgetLevel, string, error) {
	if text == targetGlobal {
		return sandbox.LevelGlobal, "", nil
	}
	if name, ok := strings.CutPrefix(text, targetToken); ok && name != "" {
		return sandbox.LevelGrant, name, nil
	}
	if name, ok := strings.CutPrefix(text, targetProfile); ok && name != "" {
		if name == sandbox.ProfileLocal {
			return "", "", wrong("cli.budget.local")
		}
		return sandbox.LevelProfile, name, checkProfile(name)
	}
	return "", "", wrong("cli.budget.target", "budget", printable(text))
}

// budgetOf is a budget as it is now.
func budgetOf(ctx context.Context, client *control.Client, which sandbox.Budget) (sandbox.Budget, error) {
	all, err := client.Budgets(ctx)
	if err != nil {
		return sandbox.Budget{}, err
	}
	for _, b := range all {
		if b.Level == which.Level && b.Owner == which.Owner {
			return b, nil
		}
	}
	which.Period = sandbox.PeriodNone
	return which, nil
}

// raises reports whether a budget allows more than it did.
func raises(old, changed sandbox.Budget) bool {
	return len(grant.Raises(
		sandbox.Grant{Limit: old.Limit, Period: old.Period, Burst: sandbox.BurstStrict},
		sandbox.Grant{Limit: changed.Limit, Period: changed.Period, Burst: sandbox.BurstStrict},
	)) > 0 && old.Limit != nil
}

// budgetWords are the budgets there may be, for completion.
func budgetWords() []string {
	out := []string{targetGlobal}
	for _, w := range profileWords() {
		if w != sandbox.ProfileLocal {
			out = append(out, targetProfile+w)
		}
	}
	for _, w := range tokenWords() {
		out = append(out, targetToken+w)
	}
	return out
}
