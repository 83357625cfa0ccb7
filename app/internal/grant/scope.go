package grant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/sandbox"
)

// Needs are what a tool needs of a grant.
type Needs struct {
	Own      []sandbox.Scope // all of them, for what the grant itself made, or where there is no object
	Others   []sandbox.Scope // all of them, for what others made
	Billable bool            // each call asks for something new that costs
	Consent  bool            // the computer's owner has to say yes to each call
}

// tools are all there are. What is not here is not for tools: budgets, scopes
// and tokens are changed by the computer's owner.
var tools = func() map[string]Needs {
	read, rent, manage, billing := sandbox.ScopeRead, sandbox.ScopeRent, sandbox.ScopeManage, sandbox.ScopeBilling
	all := map[string]Needs{}
	set := func(n Needs, names ...string) {
		for _, name := range names {
			all[name] = n
		}
	}
	scopes := func(s ...sandbox.Scope) []sandbox.Scope { return s }

	set(Needs{Own: scopes(read), Others: scopes(read, manage)},
		"list_sandboxes", "get_sandbox", "list_templates", "quote", "get_balance", "get_events")
	// Any of these may make or wake a sandbox.
	set(Needs{Own: scopes(rent), Others: scopes(rent, manage)},
		"run_code", "run_command", "read_file", "write_file", "list_files", "start_command", "read_output", "stop_command")
	set(Needs{Own: scopes(rent), Others: scopes(rent), Billable: true}, "create_sandbox")
	set(Needs{Own: scopes(rent), Others: scopes(manage)},
		"suspend_sandbox", "resume_sandbox", "terminate_sandbox", "schedule_removal")

	// Those of a market, whose own token has to allow them, too.
	set(Needs{Own: scopes(read), Others: scopes(read)},
		"search_gpus", "get_market_summary", "list_images", "list_instances", "get_instance")
	set(Needs{Own: scopes(rent), Others: scopes(rent), Billable: true}, "rent_gpu", "deploy_model")
	set(Needs{Own: scopes(rent), Others: scopes(manage)}, "terminate_instance")
	set(Needs{Own: scopes(billing), Others: scopes(billing)}, "get_partner_earnings")
	set(Needs{Own: scopes(billing), Others: scopes(billing), Consent: true}, "join_partner_program")
	return all
}()

// NeedsOf returns what a tool needs, and whether there is such a tool.
func NeedsOf(tool string) (Needs, bool) {
	n, ok := tools[tool]
	n.Own, n.Others = slices.Clone(n.Own), slices.Clone(n.Others)
	return n, ok
}

// ScopeOf returns the scope without which a tool does nothing even with what is
// the grant's own.
func ScopeOf(tool string) (sandbox.Scope, bool) {
	n, ok := tools[tool]
	if !ok {
		return "", false
	}
	return n.Own[0], true
}

// Tools are the names of all tools that there are, in order.
func Tools() []string { return slices.Sorted(maps.Keys(tools)) }

// Shows reports whether g can do anything with a tool, so that it is worth
// listing.
func Shows(g sandbox.Grant, tool string) bool {
	n, ok := tools[tool]
	return ok && (has(g, n.Own) || has(g, n.Others))
}

// SeesOthers reports whether lists may show g what other grants made.
func SeesOthers(g sandbox.Grant) bool { return g.Allows(sandbox.ScopeManage) }

// CheckTool refuses a tool that g can do nothing with.
func CheckTool(g sandbox.Grant, tool string) error {
	if Shows(g, tool) {
		return nil
	}
	return forbidden(g, tool, tools[tool].Own)
}

// CheckObject refuses the use of a tool on an object that g may not use it on.
// Own says that the object was made by g itself.
func CheckObject(g sandbox.Grant, tool string, own bool) error {
	n, ok := tools[tool]
	needs := n.Others
	if own {
		needs = n.Own
	}
	if ok && has(g, needs) {
		return nil
	}
	return forbidden(g, tool, needs)
}

// CheckReports refuses what all grants spend together to one that is not for
// billing.
func CheckReports(g sandbox.Grant) error {
	if g.Allows(sandbox.ScopeBilling) {
		return nil
	}
	return forbidden(g, "", []sandbox.Scope{sandbox.ScopeBilling})
}

func has(g sandbox.Grant, needs []sandbox.Scope) bool {
	return !slices.ContainsFunc(needs, func(s sandbox.Scope) bool { return !g.Allows(s) })
}

func forbidden(g sandbox.Grant, tool string, needs []sandbox.Scope) error {
	var missing []string
	for _, s := range needs {
		if !g.Allows(s) {
			missing = append(missing, string(s))
		}
	}
	msg := "the token lacks the scope " + strings.Join(missing, " and ")
	switch {
	case len(needs) == 0: // nothing allows it, whatever the scopes
		msg = fmt.Sprintf("no scope covers %q", clip(tool))
	case tool != "":
		msg += ", which " + tool + " needs"
	}
	return &sandbox.Error{
		Code: sandbox.Forbidden, Msg: msg, Hint: "only the owner of the computer can give it: ask them, do not try again",
		Details: map[string]any{"tool": clip(tool), "missing": missing, "grant": g.ID, "name": g.Name},
	}
}
