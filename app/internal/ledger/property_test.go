package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/ledger"
	"github.com/arenero/arenero/app/sandbox"
)

// A modelBudget is a budget done by hand.
type modelBudget struct {
	limit       sandbox.Micro // below zero: none
	spent, held sandbox.Micro
	over        bool
}

func (b *modelBudget) room(x sandbox.Micro) bool {
	return b.limit < 0 || !b.over && b.spent+b.held+x <= b.limit
}

func (b *modelBudget) calm() { b.over = b.over && b.spent+b.held > b.limit }

// A modelOrder is an order done by hand.
type modelOrder struct {
	state   sandbox.OrderState
	hold    sandbox.Micro
	budgets []*modelBudget
}

// Test14_Sequences does random things in random order, and the same by hand: the
// budgets are the same after each.
func Test14_Sequences(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(seed, 14))
			r := newRig(t)
			all := map[string]*modelBudget{}
			grants := make([]string, 3)
			for i := range grants {
				limit := []sandbox.Micro{-1, 1000, 3000}[i]
				grants[i] = r.grant(fmt.Sprint("g", i), limit, func(g *sandbox.Grant) { g.Period = sandbox.PeriodDay }).ID
				all["grant"+grants[i]] = &modelBudget{limit: limit}
			}
			_, err := r.SetBudget(r.ctx(), sandbox.LevelProfile, "work", new(sandbox.Micro(2500)), sandbox.PeriodDay)
			r.must(err)
			_, err = r.SetBudget(r.ctx(), sandbox.LevelProfile, "home", nil, sandbox.PeriodDay)
			r.must(err)
			_, err = r.SetBudget(r.ctx(), sandbox.LevelGlobal, "", new(sandbox.Micro(4000)), sandbox.PeriodDay)
			r.must(err)
			all["profilework"], all["profilehome"], all["global"] = &modelBudget{limit: 2500}, &modelBudget{limit: -1}, &modelBudget{limit: 4000}
			orders := map[string]*modelOrder{}
			var ids []string

			for step := range 120 {
				if rnd.IntN(40) == 0 { // the next day
					r.clock.Advance(24 * time.Hour)
					for _, b := range all {
						b.spent = 0
						b.calm()
					}
				}
				if len(ids) == 0 || rnd.IntN(3) == 0 {
					o := order(fmt.Sprint(step), grants[rnd.IntN(3)], sandbox.Micro(rnd.IntN(700)))
					o.Profile = []string{"work", "home"}[rnd.IntN(2)]
					m := &modelOrder{sandbox.OrderHeld, o.Hold, []*modelBudget{all["grant"+o.Grant], all["profile"+o.Profile], all["global"]}}
					room := true
					for _, b := range m.budgets {
						room = room && b.room(o.Hold)
					}
					_, err := r.Reserve(r.ctx(), want(o))
					if room != (err == nil) {
						t.Fatalf("step %d: reserve %d: %v; there is room: %v", step, o.Hold, err, room)
					}
					if room {
						orders[o.ID], ids = m, append(ids, o.ID)
						for _, b := range m.budgets {
							b.held += o.Hold
						}
					}
				} else {
					id := ids[rnd.IntN(len(ids))]
					change(t, r, rnd, id, orders[id])
				}
				for name, b := range all {
					level, owner := name, ""
					for _, l := range []string{"grant", "profile"} {
						if len(name) > len(l) && name[:len(l)] == l {
							level, owner = l, name[len(l):]
						}
					}
					got, err := r.Budget(r.ctx(), sandbox.BudgetLevel(level), owner)
					r.must(err)
					if got.Spent != b.spent || got.Held != b.held || got.OverLimit != b.over {
						t.Fatalf("step %d: %s: %d spent, %d held, over %v; want %+v", step, name, got.Spent, got.Held, got.OverLimit, *b)
					}
				}
			}
			r.wantClean()
			var held, settled sandbox.Micro
			for _, o := range r.export(ledger.TableOrders).Orders {
				if o.State.Open() {
					held += o.Hold
				}
				if o.Settled != nil {
					settled += *o.Settled
				}
			}
			if held != all["global"].held {
				t.Errorf("the open orders hold %d, the budget %d", held, all["global"].held)
			}
			rows, err := r.Spend(r.ctx(), ledger.ByDay, "", time.Time{}, time.Time{})
			r.must(err)
			for _, row := range rows {
				settled -= row.Cost.Total
			}
			if settled != 0 {
				t.Errorf("the days differ from the orders by %d", settled)
			}
		})
	}
}

// change does one random thing to an order, and the same by hand.
func change(t *testing.T, r *rig, rnd *rand.Rand, id string, m *modelOrder) {
	t.Helper()
	ok := func(err error, want bool) bool {
		t.Helper()
		if want != (err == nil) {
			t.Fatalf("%s, %s: %v; want success: %v", id, m.state, err, want)
		}
		return want
	}
	was := m.state
	switch rnd.IntN(6) {
	case 0:
		if ok(r.Advance(r.ctx(), id, sandbox.OrderCreating, nil), was == sandbox.OrderHeld || was == sandbox.OrderCreating) {
			m.state = sandbox.OrderCreating
		}
	case 1:
		if ok(r.Advance(r.ctx(), id, sandbox.OrderRunning, nil), was == sandbox.OrderCreating || was == sandbox.OrderRunning) {
			m.state = sandbox.OrderRunning
		}
	case 2:
		total := sandbox.Micro(rnd.IntN(800))
		err := r.Settle(r.ctx(), id, sandbox.Cost{Total: total}, r.clock.Now(), sandbox.EndAsked)
		if ok(err, was == sandbox.OrderRunning || was == sandbox.OrderSettled) && was == sandbox.OrderRunning {
			m.state = sandbox.OrderSettled
			for _, b := range m.budgets {
				b.held -= m.hold
				b.spent += total
				if b.limit >= 0 && total > m.hold && b.spent+b.held > b.limit {
					b.over = true
				}
				b.calm()
			}
		}
	case 3:
		can := was == sandbox.OrderHeld || was == sandbox.OrderCreating
		if ok(r.Release(r.ctx(), id, sandbox.EndFailed), can || was == sandbox.OrderReleased) && can {
			m.state = sandbox.OrderReleased
			for _, b := range m.budgets {
				b.held -= m.hold
				b.calm()
			}
		}
	case 4:
		x, can := sandbox.Micro(rnd.IntN(200)), was.Open()
		for _, b := range m.budgets {
			can = can && b.room(x)
		}
		if ok(r.Add(r.ctx(), id, x, fmt.Sprint(rnd.Uint64())), can) {
			m.hold += x
			for _, b := range m.budgets {
				b.held += x
			}
		}
	case 5:
		to := sandbox.Micro(rnd.IntN(500))
		if ok(r.Lower(r.ctx(), id, to), was.Open()) && to < m.hold {
			for _, b := range m.budgets {
				b.held -= m.hold - to
				b.calm()
			}
			m.hold = to
		}
	}
}
