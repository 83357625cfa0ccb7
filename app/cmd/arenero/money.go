package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// withMoney does something for a verb about money and those who may spend it.
// The account lasts longer than any engine, so one is started if none runs.
func withMoney(do func(ctx context.Context, client *control.Client) error) error {
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	return inFlags(do(ctx, client))
}

// inFlags is err as a mistake in the command line, if a value that the command
// line gave breaks a rule: it names the flag, and tells the rule in the language
// of the user.
func inFlags(err error) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok || e.Code != sandbox.Invalid {
		return err
	}
	field, _ := e.Details["field"].(string)
	rule, _ := e.Details["rule"].(string)
	if field == "" {
		return err
	}
	key := "cli.rule." + rule
	if _, both := e.Details["min"]; rule == "range" && !both {
		key += ".max"
	}
	if !texts().Has(key) {
		return &usageError{err}
	}
	detail := func(name string) string { return detailText(e.Details[name]) }
	return wrong(key, "flag", flagName(field), "value", detail("value"), "known", detail("known"), "min", detail("min"), "max", detail("max"))
}

// flagName is where a command line gives a field.
func flagName(field string) string {
	switch field {
	case "name":
		return "NAME"
	case "expires_at":
		return "--expires"
	}
	return "--" + strings.ReplaceAll(field, "_", "-")
}

// detailText is a detail of an error for people, whether or not it has been JSON
// meanwhile.
func detailText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return at.Local().Format(time.DateTime)
		}
		return printable(v)
	case []string:
		return strings.Join(v, ", ")
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, detailText(e))
		}
		return strings.Join(all, ", ")
	case float64, json.Number:
		text, err := json.Marshal(v)
		if err == nil {
			return string(text)
		}
	}
	return fmt.Sprint(v)
}

// agree has a person say yes to what is about to be done, unless --yes has said
// so before.
func agree(ctx context.Context, yes bool, key string, args ...string) error {
	if yes {
		return nil
	}
	what := printable(say(key, args...))
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return wrong("cli.agree.yes", "what", what)
	}
	ok, err := agrees(ctx, say("cli.agree.ask", "what", what)+" ", "y", "yes", "s", "sí", "si")
	if err == nil && !ok {
		err = failure("cli.agree.declined")
	}
	return err
}

// dollars are an amount as people write it in their language, without the
// currency; see [sandbox.Micro.Short].
func dollars(m sandbox.Micro) string { return inDigits(m.Short()) }

// dollarsBeside are dollars beside other ones; see [sandbox.Micro.Beside].
func dollarsBeside(m, other sandbox.Micro) string { return inDigits(m.Beside(other)) }

// inDigits is a number as people write it in their language.
func inDigits(number string) string {
	if texts().Language == assets.Spanish {
		return strings.Replace(number, ".", ",", 1)
	}
	return number
}

// usd is an amount with its currency.
func usd(m sandbox.Micro) string { return say("cli.usd", "amount", dollars(m)) }

// overBudget says what a budget refuses, and what would fit.
func overBudget(details map[string]any) (msg, hint string) {
	asked, left := sandbox.Micro(wholeOf(details["asked_micro"])), sandbox.Micro(wholeOf(details["left_micro"]))
	level := detailText(details["level"])
	if key := "level." + level; texts().Has(key) {
		level = say(key)
	}
	hint = say("cli.over-budget.none")
	if minutes := wholeOf(details["longest_s"]) / 60; minutes > 1 {
		hint = say("cli.over-budget.fits", "minutes", fmt.Sprint(minutes))
	}
	return say("cli.over-budget", "asked", dollarsBeside(asked, left), "left", dollarsBeside(left, asked), "level", level), hint
}

// limitText is a limit for people: all of it, as it was given.
func limitText(limit *sandbox.Micro, period sandbox.Period) string {
	if limit == nil {
		return say("cli.limit.unlimited")
	}
	return periodText(inDigits(limit.String()), period)
}

// periodText is an amount that is for a period.
func periodText(amount string, period sandbox.Period) string {
	if key := "cli.limit." + string(period); texts().Has(key) {
		return say(key, "amount", amount)
	}
	return say("cli.limit.none", "amount", amount)
}

// grantNames are the names of all grants, by their ids.
func grantNames(ctx context.Context, client *control.Client) (map[string]string, error) {
	all, err := client.Tokens(ctx, "")
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, t := range all {
		out[t.Grant.ID] = t.Grant.Name
	}
	return out, nil
}

// tokenOf finds a grant by its name or id.
func tokenOf(ctx context.Context, client *control.Client, name string) (control.Token, error) {
	all, err := client.Tokens(ctx, name)
	if err == nil && len(all) == 1 {
		return all[0], nil
	}
	if err == nil || sandbox.CodeOf(err) == sandbox.NotFound {
		err = &sandbox.Error{Code: sandbox.NotFound, Msg: say("cli.tokens.unknown", "name", printable(name)), Hint: say("cli.tokens.unknown.hint")}
	}
	return control.Token{}, err
}

// pastTokenOf is tokenOf, for one that is to be looked at and may be revoked: of
// several of a name the newest.
func pastTokenOf(ctx context.Context, client *control.Client, name string) (control.Token, error) {
	t, err := tokenOf(ctx, client, name)
	if sandbox.CodeOf(err) != sandbox.NotFound {
		return t, err
	}
	all, listing := client.Tokens(ctx, "")
	if listing != nil {
		return t, listing
	}
	for _, old := range all { // the newest first
		if old.Grant.Name == name {
			return old, nil
		}
	}
	return t, err
}

// checkProfile refuses a profile that there is not, which would limit nothing.
func checkProfile(name string) error {
	known, err := app.OpenProfiles()
	if err != nil {
		return err
	}
	all, _, err := known.All()
	if err != nil {
		return err
	}
	have := []string{sandbox.ProfileLocal}
	for _, p := range all {
		have = append(have, p.Name)
	}
	if slices.Contains(have, name) || strings.HasPrefix(name, sandbox.ProfileDescribed) {
		return nil
	}
	return wrong("cli.profile.unknown", "profile", printable(name), "have", strings.Join(have, ", "))
}

// tokenWords are the grants there are, for completion.
func tokenWords() []string {
	ctx, stop := context.WithTimeout(context.Background(), completeWithin)
	defer stop()
	client, err := look()
	if err != nil {
		return nil
	}
	all, err := client.Tokens(ctx, "")
	if err != nil {
		return nil
	}
	var out []string
	for _, t := range all {
		if t.Grant.ID != sandbox.GrantOwner && t.Grant.RevokedAt.IsZero() {
			out = append(out, printable(t.Grant.Name)+"\t"+stateOfToken(t.Grant, time.Now()))
		}
	}
	return out
}
