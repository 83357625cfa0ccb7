package grant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

// table has, for each tool, which scope alone does for what is one's own, and
// which scopes together for what is others'.
const table = `
list_sandboxes       read     read+manage
get_sandbox          read     read+manage
list_templates       read     read+manage
quote                read     read+manage
get_balance          read     read+manage
get_events           read     read+manage
run_code             rent     rent+manage
run_command          rent     rent+manage
read_file            rent     rent+manage
write_file           rent     rent+manage
list_files           rent     rent+manage
start_command        rent     rent+manage
read_output          rent     rent+manage
stop_command         rent     rent+manage
create_sandbox       rent     rent         billable
suspend_sandbox      rent     manage
resume_sandbox       rent     manage
terminate_sandbox    rent     manage
schedule_removal     rent     manage
search_gpus          read     read
get_market_summary   read     read
list_images          read     read
list_instances       read     read
get_instance         read     read
rent_gpu             rent     rent         billable
deploy_model         rent     rent         billable
terminate_instance   rent     manage
get_partner_earnings billing  billing
join_partner_program billing  billing      consent
`

// A3, A4: every tool with every set of scopes.
func TestScopes(t *testing.T) {
	var names []string
	for line := range strings.Lines(strings.TrimSpace(table)) {
		f := strings.Fields(line)
		tool, own, others, mark := f[0], f[1], f[2], strings.Join(f[3:], "")
		names = append(names, tool)
		needs, known := grant.NeedsOf(tool)
		if !known || needs.Billable != (mark == "billable") || needs.Consent != (mark == "consent") {
			t.Errorf("%s needs %+v", tool, needs)
		}
		if scope, ok := grant.ScopeOf(tool); !ok || string(scope) != own {
			t.Errorf("the scope of %s is %s, want %s", tool, scope, own)
		}
		for set := range 1 << len(sandbox.Scopes()) {
			g := sandbox.Grant{ID: "g_1"}
			for i, s := range sandbox.Scopes() {
				if set&(1<<i) != 0 {
					g.Scopes = append(g.Scopes, s)
				}
			}
			mayOwn, mayOthers := all(g, own), all(g, others)
			codes := map[bool]sandbox.Code{true: "", false: sandbox.Forbidden}
			what := fmt.Sprintf("%s with %v", tool, g.Scopes)
			refused(t, what, grant.CheckObject(g, tool, true), codes[mayOwn])
			refused(t, what+" of others", grant.CheckObject(g, tool, false), codes[mayOthers])
			refused(t, what+" at all", grant.CheckTool(g, tool), codes[mayOwn || mayOthers])
			if got := grant.Shows(g, tool); got != (mayOwn || mayOthers) {
				t.Errorf("%s is listed: %v", what, got)
			}
			refused(t, what+": reports", grant.CheckReports(g), codes[g.Allows("billing")])
			if grant.SeesOthers(g) != g.Allows("manage") {
				t.Errorf("%v sees what others made: %v", g.Scopes, grant.SeesOthers(g))
			}
		}
	}
	slices.Sort(names)
	if got := grant.Tools(); !slices.Equal(got, names) {
		t.Errorf("tools are %v, want %v", got, names)
	}
}

func all(g sandbox.Grant, scopes string) bool {
	for s := range strings.SplitSeq(scopes, "+") {
		if !g.Allows(sandbox.Scope(s)) {
			return false
		}
	}
	return true
}

func TestForbiddenSaysWhatIsMissing(t *testing.T) {
	g := newGrant(t, grant.Options{Preset: grant.PresetViewer})
	d := refused(t, "run_code", grant.CheckObject(g, "run_code", false), sandbox.Forbidden)
	if fmt.Sprint(d["missing"]) != "[rent manage]" || d["tool"] != "run_code" || d["name"] != "ci" {
		t.Errorf("details are %v", d)
	}
	if msg := sandbox.ToError(grant.CheckTool(g, "run_code")).Msg; msg != "the token lacks the scope rent, which run_code needs" {
		t.Errorf("the message is %q", msg)
	}
	for _, tool := range []string{"set_budget", "create_token", ""} { // no tool may
		refused(t, tool, grant.CheckTool(grant.Owner(noon), tool), sandbox.Forbidden)
		refused(t, tool, grant.CheckObject(grant.Owner(noon), tool, true), sandbox.Forbidden)
		if _, ok := grant.ScopeOf(tool); ok {
			t.Errorf("%q has a scope", tool)
		}
	}
	needs, _ := grant.NeedsOf("run_code")
	needs.Own[0] = "read"
	if err := grant.CheckTool(g, "run_code"); err == nil {
		t.Error("whoever asks what a tool needs can change it")
	}
}

// The order of checks: an end before a rate, a rate before a scope.
func TestAdmit(t *testing.T) {
	clock := clockwork.NewFakeClockAt(noon)
	limiter := grant.NewLimiter(grant.Rates{HTTP: 2, HTTPBurst: 2, Stdio: 1, StdioBurst: 1, Creates: 1, CreatesBurst: 1}, clock)
	g := newGrant(t, grant.Options{Preset: grant.PresetViewer})
	call := sandbox.Caller{HTTP: true, Tool: "run_code", First: true}

	expired := g
	expired.ExpiresAt = noon
	for range 5 { // calls that are refused so early do not count
		refused(t, "expired", grant.Admit(expired, nil, call, limiter, noon), sandbox.TokenExpired)
	}
	for range 2 {
		refused(t, "first calls", grant.Admit(g, nil, call, limiter, noon), sandbox.Forbidden)
	}
	refused(t, "a call too many", grant.Admit(g, nil, call, limiter, noon), sandbox.RateLimited)
	call.First = false
	refused(t, "the same call goes on", grant.Admit(g, nil, call, limiter, noon), sandbox.Forbidden)
	call.Tool = "list_sandboxes"
	refused(t, "the same call with the scope", grant.Admit(g, nil, call, limiter, noon), "")
	refused(t, "no tool", grant.Admit(g, nil, sandbox.Caller{First: true}, limiter, noon), "")

	create := sandbox.Caller{HTTP: true, Tool: "create_sandbox", First: true}
	agent := newGrant(t, grant.Options{})
	refused(t, "create", grant.Admit(agent, nil, create, limiter, noon), "")
	d := refused(t, "another one", grant.Admit(agent, nil, create, limiter, noon), sandbox.RateLimited)
	if d["kind"] != "create" {
		t.Errorf("details are %v", d)
	}
	viewer := newGrant(t, grant.Options{Preset: grant.PresetViewer})
	for range 2 { // what the scope forbids is no create
		refused(t, "create without the scope", grant.Admit(viewer, nil, create, limiter, noon), sandbox.Forbidden)
	}
}
