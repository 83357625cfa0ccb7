package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// eventKinds are all that there are.
func eventKinds() []sandbox.EventKind {
	return []sandbox.EventKind{
		sandbox.EventReady, sandbox.EventSuspended, sandbox.EventResumed, sandbox.EventEnded, sandbox.EventNotice, sandbox.EventOrphan,
		sandbox.EventThreshold, sandbox.EventOver, sandbox.EventBudgetSet, sandbox.EventRefused, sandbox.EventDoubt,
		sandbox.EventCreated, sandbox.EventRotated, sandbox.EventRevoked, sandbox.EventExpiring,
		sandbox.EventApp, sandbox.EventAppChanged, sandbox.EventAppGone,
		sandbox.EventPriceStale, sandbox.EventClock, sandbox.EventLedger, sandbox.EventMachine, sandbox.EventMachineOver, sandbox.EventMachineSaid,
	}
}

func kindNames() []string {
	var out []string
	for _, k := range eventKinds() {
		out = append(out, string(k))
	}
	return out
}

const maxQuote = 200 // characters of what others say

// eventLine is an event as a line for people, on the clock of this computer.
// names are those of the grants, by their ids.
func eventLine(e sandbox.Event, names map[string]string) string {
	severity := string(e.Severity)
	if key := "cli.severity." + severity; texts().Has(key) {
		severity = say(key)
	}
	line := e.At.Local().Format(time.DateTime) + "  " + pad(severity, severityWidth) + "  " + eventText(e, names)
	if text, ok := e.Data["text"].(string); ok && text != "" {
		line += say("cli.event.quote", "text", cutTo(strings.Join(strings.Fields(text), " "), maxQuote))
	}
	if by := names[e.Grant]; by != "" && e.Grant != sandbox.GrantOwner && !strings.HasPrefix(string(e.Kind), "budget.") && !strings.HasPrefix(string(e.Kind), "token.") {
		line += say("cli.event.by", "name", by)
	}
	return printable(line)
}

const severityWidth = 5

// eventText is what happened.
func eventText(e sandbox.Event, names map[string]string) string {
	name, _ := e.Data["name"].(string)
	amount := func(key string) sandbox.Micro { return sandbox.Micro(wholeOf(e.Data[key])) }
	key := "cli.event." + string(e.Kind)
	args := []string{"subject", e.Subject, "kind", string(e.Kind), "name", name, "profile", name}
	switch e.Kind {
	case sandbox.EventReady, sandbox.EventSuspended, sandbox.EventResumed, sandbox.EventNotice, sandbox.EventDoubt:
		args = append(args, "sandbox", sandboxText(name, e.Subject), "hold", usd(amount("hold_micro")))
	case sandbox.EventEnded:
		args = append(args, "sandbox", sandboxText(name, e.Subject), "reason", reasonText(e))
		if cost := amount("settled_micro"); cost > 0 {
			key += ".cost"
			args = append(args, "cost", usd(cost))
		}
		if would := amount("would_micro"); would > 0 {
			key += ".would"
			args = append(args, "would", usd(would))
		}
	case sandbox.EventThreshold, sandbox.EventOver:
		level, _ := e.Data["level"].(string)
		used, limit := amount("spent_micro").Plus(amount("held_micro")), amount("limit_micro")
		args = append(args, "budget", budgetOwner(sandbox.BudgetLevel(level), cmp.Or(names[name], name)),
			"percent", fmt.Sprint(wholeOf(e.Data["percent"])), "used", dollarsBeside(used, limit), "limit", say("cli.usd", "amount", inDigits(limit.String())))
	case sandbox.EventBudgetSet:
		level, _ := e.Data["level"].(string)
		args = append(args, "budget", budgetOwner(sandbox.BudgetLevel(level), cmp.Or(names[name], name)))
		if e.Data["limit_micro"] == nil {
			key += ".none"
			break
		}
		period, _ := e.Data["period"].(string)
		args = append(args, "limit", limitText(new(amount("limit_micro")), sandbox.Period(period)))
	case sandbox.EventRefused:
		args = append(args, "sandbox", cmp.Or(name, say("cli.event.nameless")), "why", refusal(e))
	case sandbox.EventExpiring:
		args = append(args, "left", span(time.Duration(wholeOf(e.Data["left_s"]))*time.Second))
	case sandbox.EventPriceStale:
		args = append(args, "days", fmt.Sprint(wholeOf(e.Data["days"])))
	case sandbox.EventClock:
		if why, _ := e.Data["why"].(string); why != "" && texts().Has(key+"."+why) {
			key += "." + why
		}
		args = append(args, "by", span(time.Duration(wholeOf(e.Data["seconds"]))*time.Second))
	case sandbox.EventMachineOver:
		args = append(args, "reason", reasonText(e))
	}
	if !texts().Has(key) { // of a newer engine
		key = "cli.event.other"
	}
	return strings.TrimSpace(say(key, args...))
}

// sandboxText is a sandbox by its name, if it has one, and its id.
func sandboxText(name, id string) string {
	if name == "" {
		return id
	}
	return name + " (" + id + ")"
}

// reasonText says why something ended.
func reasonText(e sandbox.Event) string {
	reason, _ := e.Data["reason"].(string)
	for _, key := range []string{"cli.ending." + reason, "alert.reason." + reason} {
		if reason != "" && texts().Has(key) {
			return say(key)
		}
	}
	return cmp.Or(reason, say("cli.ending.unknown"))
}

// budgetOwner is whose budget it is.
func budgetOwner(level sandbox.BudgetLevel, name string) string {
	switch level {
	case sandbox.LevelGlobal:
		return say("cli.event.of.global")
	case sandbox.LevelProfile:
		return say("cli.event.of.profile", "name", name)
	}
	return say("cli.event.of.grant", "name", name)
}

// refusal says why a sandbox was refused.
func refusal(e sandbox.Event) string {
	code, _ := e.Data["code"].(string)
	if key := "cli.refused." + code; texts().Has(key) {
		asked, left := sandbox.Micro(wholeOf(e.Data["asked_micro"])), sandbox.Micro(wholeOf(e.Data["left_micro"]))
		return say(key, "asked", dollarsBeside(asked, left), "left", say("cli.usd", "amount", dollarsBeside(left, asked)))
	}
	return code
}

// wholeOf is a number of an event's data, which may have been JSON meanwhile.
func wholeOf(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	case float64:
		return int64(v)
	case json.Number:
		n, _ := v.Int64() // 0 is as good as any
		return n
	}
	return 0
}
