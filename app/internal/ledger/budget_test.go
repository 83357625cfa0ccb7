package ledger_test

import (
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// A limit that is set alone leaves the period as it is.
func TestSetBudgetKeepsPeriod(t *testing.T) {
	r := newRig(t)
	limit := sandbox.Micro(5)
	b, err := r.SetBudget(r.ctx(), sandbox.LevelGlobal, "", &limit, "")
	r.must(err)
	if b.Period != sandbox.PeriodNone {
		t.Errorf("at first: %q", b.Period)
	}
	_, err = r.SetBudget(r.ctx(), sandbox.LevelGlobal, "", &limit, sandbox.PeriodDay)
	r.must(err)
	b, err = r.SetBudget(r.ctx(), sandbox.LevelGlobal, "", nil, "")
	r.must(err)
	if b.Period != sandbox.PeriodDay || b.Limit != nil {
		t.Errorf("in the end: %+v", b)
	}
}
