package app

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// Alerts are what their reader can use: what wrong arguments came to is none, a
// limit that is gone is none, and what others may spend is theirs.
func TestAlertsThatMeanSomething(t *testing.T) {
	ring(t, func(t *testing.T, r *till) {
		limit := func(b sandbox.Budget) {
			t.Helper()
			if _, err := r.gate.SetBudget(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		heard := func(tok control.NewToken) (all []string) {
			t.Helper()
			r.gate.books.flush()
			synctest.Wait()
			for _, e := range r.gate.Alerts(r.as(tok, "get_balance")) {
				code, _ := e.Data["code"].(string)
				all = append(all, strings.TrimSuffix(string(e.Kind)+" "+code+" "+e.Subject, " "))
			}
			slices.Sort(all)
			return slices.Compact(all)
		}
		want := func(what string, tok control.NewToken, want ...string) {
			t.Helper()
			if got := heard(tok); !slices.Equal(got, want) {
				t.Errorf("%s: heard %q, want %q", what, got, want)
			}
		}
		global := sandbox.Budget{Level: sandbox.LevelGlobal, Limit: micro(2 * holdOfHour)}
		limit(global)
		small := r.token(sandbox.Grant{Limit: micro(holdOfHour), MaxHours: 1})
		manager := r.token(sandbox.Grant{Scopes: []sandbox.Scope{sandbox.ScopeRead, sandbox.ScopeManage}})
		biller := r.token(sandbox.Grant{Scopes: []sandbox.Scope{sandbox.ScopeRead, sandbox.ScopeBilling}})
		_, err := r.gate.Create(r.as(small, "create_sandbox"), living(3*time.Hour))
		refuses(t, "too long", err, sandbox.HoursTooLong)
		want("after a wrong argument", small)
		if all := r.events(sandbox.EventRefused); len(all) != 1 || all[0].Severity != sandbox.SeverityInfo {
			t.Errorf("refusals: %+v", all)
		}
		r.create(r.as(small, "create_sandbox"), living(time.Hour))
		_, err = r.gate.Create(r.as(small, "create_sandbox"), sandbox.Spec{Profile: aws(), Timeout: time.Hour, Asked: true, Name: "second"})
		refuses(t, "too dear", err, sandbox.BudgetExceeded)
		r.create(t.Context(), living(time.Hour))
		own := "budget.threshold  grant:" + small.Grant.ID
		refused := "create.refused budget_exceeded " + small.Grant.ID
		want("its own", small, own, refused)
		want("one who manages", manager)
		want("one who may know", biller, "budget.threshold  global", own, refused)
		page, err := r.gate.Events(r.as(manager, "get_events"), sandbox.EventQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if e.Kind == sandbox.EventThreshold || e.Kind == sandbox.EventRefused {
				t.Errorf("one who manages is told of %+v", e)
			}
		}
		global.Limit = nil
		limit(global)
		want("once the limit is gone", biller, own, refused)
	})
}
