package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Refused says which budget has no room for an amount. It is the cause of the
// [sandbox.Error]s with the codes BudgetExceeded and OverLimit, whose details
// "level", "owner", "asked_micro" and "left_micro" say the same.
type Refused struct {
	Level sandbox.BudgetLevel
	Owner string
	Asked sandbox.Micro
	Left  sandbox.Micro
	Over  bool // a settlement went past the limit: nothing is held until that is made good
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s asked of the %s budget, %s left", r.Asked, r.Level, r.Left)
}

func (r *Refused) refuse() error {
	code, msg, hint := sandbox.BudgetExceeded, "the budget does not allow it", "ask for less, or have the owner raise the limit"
	if r.Over {
		code, msg, hint = sandbox.OverLimit, "more was spent than the budget allows", "end what is not needed; the owner can raise the limit"
	}
	return &sandbox.Error{Code: code, Msg: msg, Hint: hint, Err: r, Details: map[string]any{
		"level": string(r.Level), "owner": r.Owner, "asked_micro": int64(r.Asked), "left_micro": int64(r.Left),
	}}
}

// An account is a budget as it is kept.
type account struct {
	sandbox.Budget
	id      int64
	lowered bool
	passed  int // the highest threshold told of
}

const accountColumns = "id, level, owner, limit_micro, period, since, spent_micro, held_micro, over_limit, lowered, passed"

func scanAccount(rows *sql.Rows) (account, error) {
	var a account
	var limit sql.NullInt64
	var since int64
	err := rows.Scan(&a.id, &a.Level, &a.Owner, &limit, &a.Period, &since, &a.Spent, &a.Held, &a.OverLimit, &a.lowered, &a.passed)
	if limit.Valid {
		a.Limit = new(sandbox.Micro(limit.Int64))
	}
	a.Since = moment(since)
	return a, err
}

// account returns a budget in the period that it is in now.
func (t *tx) account(where string, args ...any) (account, error) {
	var a account
	err := one(t.w.ctx, t, func(rows *sql.Rows) (err error) {
		a, err = scanAccount(rows)
		return err
	}, "SELECT "+accountColumns+" FROM budgets WHERE "+where, args...)
	a.roll(t.now)
	return a, err
}

// accountOf is the account of a level, which begins without a limit.
func (t *tx) accountOf(level sandbox.BudgetLevel, owner string) (account, error) {
	a, err := t.account("level = ? AND owner = ?", level, owner)
	if !errors.Is(err, errNone) {
		return a, err
	}
	if err := t.do("INSERT INTO budgets (level, owner, period, since) VALUES (?, ?, 'none', 0)", level, owner); err != nil {
		return a, err
	}
	return t.account("level = ? AND owner = ?", level, owner)
}

func (t *tx) save(a account) error {
	var limit any
	if a.Limit != nil {
		limit = int64(*a.Limit)
	}
	return t.do("UPDATE budgets SET limit_micro = ?, period = ?, since = ?, spent_micro = ?, held_micro = ?, over_limit = ?, lowered = ?, passed = ? WHERE id = ?",
		limit, string(a.Period), stamp(a.Since), int64(a.Spent), int64(a.Held), a.OverLimit, a.lowered, a.passed, a.id)
}

// began is when the period that has now in it began. Having none, it began
// before all times.
func began(p sandbox.Period, now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	switch p {
	case sandbox.PeriodDay:
		return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	case sandbox.PeriodWeek:
		return time.Date(y, m, d-int(now.UTC().Weekday()+6)%7, 0, 0, 0, 0, time.UTC)
	case sandbox.PeriodMonth:
		return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Time{}
}

// roll begins a new period if it is time. What is held stays so. A clock that
// goes back brings no period back.
func (a *account) roll(now time.Time) {
	start := began(a.Period, now)
	if !start.After(a.Since) {
		return
	}
	a.Since, a.Spent, a.passed = start, 0, 0
	a.settleDown()
}

// settleDown takes back the marks of an account that is within its limit again.
func (a *account) settleDown() {
	if a.Limit == nil || a.Spent.Plus(a.Held) <= *a.Limit {
		a.OverLimit, a.lowered = false, false
	}
}

// hold adds to what is held, or says why not. It never holds a part.
func (a *account) hold(x sandbox.Micro) error {
	sum := a.Spent.Plus(a.Held).Plus(x)
	if sum == math.MaxInt64 {
		return invalid("the amount is too large to be held")
	}
	if a.Limit != nil && (a.OverLimit || sum > *a.Limit) {
		return (&Refused{a.Level, a.Owner, x, *a.Left(), a.OverLimit}).refuse()
	}
	a.Held += x
	return nil
}

// settle turns what was held into what was spent, which is recorded however
// much it is.
func (a *account) settle(held, spent sandbox.Micro) {
	a.Held -= held
	a.Spent = a.Spent.Plus(spent)
	if a.Limit != nil && spent > held && a.Spent.Plus(a.Held) > *a.Limit {
		a.OverLimit = true
	}
	a.settleDown()
}

// thresholds are the parts of a limit, in percent, that are told of once each
// in a period.
var thresholds = [...]int{50, 80, 95, 100}

// reached is the highest threshold that spent and held have reached, or 0.
func (a *account) reached() int {
	if a.Limit == nil || *a.Limit <= 0 {
		return 0
	}
	sum, limit := a.Spent.Plus(a.Held), *a.Limit
	reached := 0
	for _, p := range thresholds {
		// limit*p/100, rounded up and without an overflow
		if need := limit/100*sandbox.Micro(p) + (limit%100*sandbox.Micro(p)+99)/100; sum >= need {
			reached = p
		}
	}
	return reached
}

// tell emits an event for each threshold that a has newly reached.
func (t *tx) tell(a *account) error {
	reached := a.reached()
	for _, p := range thresholds {
		if p <= a.passed || p > reached {
			continue
		}
		e := t.budgetEvent(sandbox.EventThreshold, *a)
		e.ID = fmt.Sprintf("threshold:%s:%s:%d:%d:%d", a.Level, a.Owner, stamp(a.Since), *a.Limit, p)
		e.Data["percent"] = p
		switch {
		case p >= 100:
			e.Severity = sandbox.SeverityError
		case p < 80:
			e.Severity = sandbox.SeverityInfo
		}
		if err := t.emit(e); err != nil {
			return err
		}
	}
	a.passed = max(a.passed, reached)
	return nil
}

func (t *tx) budgetEvent(kind sandbox.EventKind, a account) sandbox.Event {
	e := sandbox.Event{
		At: t.now, Kind: kind, Severity: sandbox.SeverityWarn, Subject: string(a.Level), Origin: sandbox.OriginLocal,
		Data: map[string]any{"level": string(a.Level), "name": a.Owner, "spent_micro": int64(a.Spent), "held_micro": int64(a.Held)},
	}
	if a.Limit != nil {
		e.Data["limit_micro"] = int64(*a.Limit)
	}
	if a.Level == sandbox.LevelGrant {
		e.Grant = a.Owner
	}
	if a.Owner != "" {
		e.Subject += ":" + a.Owner
	}
	return e
}

// SetBudget gives a budget another limit, nil being none, and another period,
// "" being the one that it has, which is none at first. A limit
// below what is spent and held ends nothing, and lets nothing new begin. With
// another period, what was spent in the present one counts. A change is an event.
func (l *Ledger) SetBudget(ctx context.Context, level sandbox.BudgetLevel, owner string, limit *sandbox.Micro, period sandbox.Period) (sandbox.Budget, error) {
	var out sandbox.Budget
	err := l.write(ctx, true, func(t *tx) error {
		if level == sandbox.LevelGrant {
			if _, err := grantOf(t.w.ctx, t, owner); err != nil {
				return err
			}
		}
		before, err := t.account("level = ? AND owner = ?", level, owner)
		if err != nil && !errors.Is(err, errNone) {
			return err
		}
		a, err := t.setBudget(level, owner, limit, period)
		out = a.Budget
		if err != nil || sameLimit(before.Limit, a.Limit) && (before.Period == a.Period || a.Limit == nil) {
			return err
		}
		e := t.budgetEvent(sandbox.EventBudgetSet, a)
		e.Severity, e.Data["period"] = sandbox.SeverityInfo, string(a.Period)
		return t.emit(e)
	})
	return out, err
}

func sameLimit(a, b *sandbox.Micro) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func (t *tx) setBudget(level sandbox.BudgetLevel, owner string, limit *sandbox.Micro, period sandbox.Period) (account, error) {
	switch {
	case limit != nil && *limit < 0:
		return account{}, invalid("a limit is not below zero")
	case level != sandbox.LevelGrant && level != sandbox.LevelProfile && level != sandbox.LevelGlobal:
		return account{}, invalid("there is no such level of budgets")
	case (level == sandbox.LevelGlobal) != (owner == ""):
		return account{}, invalid("the global budget is nobody's, and all others are somebody's")
	case level == sandbox.LevelGrant && owner == sandbox.GrantOwner && limit != nil:
		return account{}, ownerStays()
	case period != "" && period != sandbox.PeriodNone && began(period, t.now).IsZero():
		return account{}, invalid("there is no such period")
	}
	a, err := t.accountOf(level, owner)
	if err != nil {
		return a, err
	}
	if period != "" && a.Period != period {
		a.Period, a.Since = period, began(period, t.now)
		err := one(t.w.ctx, t, func(rows *sql.Rows) error { return rows.Scan(&a.Spent) },
			"SELECT coalesce(sum(amount_micro), 0) FROM entries WHERE budget_id = ? AND kind = 'settle' AND at >= ?", a.id, stamp(a.Since))
		if err != nil {
			return a, err
		}
		a.passed = 0
	}
	if !sameLimit(limit, a.Limit) {
		a.Limit, a.passed = limit, min(a.passed, (&account{Budget: sandbox.Budget{Limit: limit, Spent: a.Spent, Held: a.Held}}).reached())
	}
	a.lowered = a.Limit != nil && a.Spent.Plus(a.Held) > *a.Limit
	a.settleDown()
	if err := t.tell(&a); err != nil {
		return a, err
	}
	return a, t.save(a)
}

// Budget returns one budget. One that nothing was ever asked of is empty.
func (l *Ledger) Budget(ctx context.Context, level sandbox.BudgetLevel, owner string) (sandbox.Budget, error) {
	out := sandbox.Budget{Level: level, Owner: owner, Period: sandbox.PeriodNone}
	all, err := l.budgets(ctx, "WHERE level = ? AND owner = ?", level, owner)
	if err == nil && len(all) > 0 {
		out = all[0]
	}
	return out, err
}

// Budgets returns all budgets: the global one, those of profiles, those of grants.
func (l *Ledger) Budgets(ctx context.Context) ([]sandbox.Budget, error) {
	return l.budgets(ctx, "ORDER BY level = 'grant', level = 'profile', owner")
}

func (l *Ledger) budgets(ctx context.Context, where string, args ...any) ([]sandbox.Budget, error) {
	var out []sandbox.Budget
	now := l.clock.Now()
	err := each(ctx, l.read(), func(rows *sql.Rows) error {
		a, err := scanAccount(rows)
		a.roll(now)
		out = append(out, a.Budget)
		return err
	}, "SELECT "+accountColumns+" FROM budgets "+where, args...)
	return out, l.explain(err)
}
