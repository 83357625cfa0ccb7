package price_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// A history is what a cloud may do with a sandbox, millisecond by millisecond.
type history struct {
	plan    price.Plan
	changes []sight // in order; the first is at 0, the last is its end
	asked   int64   // suspends that a person asked for
}

// randomHistory obeys the cloud's rules: a life is no longer than planned, and
// it suspends a sandbox by itself only after so long a silence.
func randomHistory(rnd *rand.Rand) history {
	sizes := price.Embedded().Sizes()
	h := history{plan: price.Plan{
		SizeMiB: sizes[rnd.IntN(len(sizes))],
		Life:    sandbox.Seconds(1 + rnd.IntN(8*3600)),
		Burst:   []sandbox.Burst{sandbox.BurstStrict, sandbox.BurstBaseline}[rnd.IntN(2)],
	}}
	if rnd.IntN(4) > 0 {
		h.plan.Idle = sandbox.Seconds(1 + rnd.IntN(1200))
	}
	if rnd.IntN(4) > 0 {
		h.plan.SnapshotMGB = 1 + rnd.IntN(4*h.plan.SizeMiB)
	}
	life := int64(h.plan.Life) * 1000
	if rnd.IntN(3) == 0 {
		life = rnd.Int64N(life + 1) // someone ends it
	}
	idle, people := int64(h.plan.Idle)*1000, rnd.IntN(3) == 0
	now := int64(0)
	step := func(state sandbox.State, most int64) {
		h.changes = append(h.changes, sight{now, state})
		now += rnd.Int64N(most + 1)
	}
	for step(sandbox.Pending, 3000); now < life; step(sandbox.Pending, 3000) {
		h.changes = append(h.changes, sight{now, sandbox.Running})
		switch {
		case people && rnd.IntN(2) == 0:
			now += rnd.Int64N(600_000)
			if now < life {
				h.asked++
			}
		case idle > 0:
			now += idle
			if rnd.IntN(2) == 0 {
				now += rnd.Int64N(600_000) // work, before it falls silent
			}
		default:
			now = life
		}
		if now >= life {
			break
		}
		step(sandbox.Suspending, 2000)
		step(sandbox.Suspended, 1_200_000*rnd.Int64N(2))
	}
	for i, c := range h.changes { // the end comes whatever it is at
		if c.ms >= life {
			h.changes = h.changes[:i]
			break
		}
	}
	h.changes = append(h.changes, sight{life, sandbox.Terminated})
	return h
}

// is what a sandbox is at a time.
func (h history) is(ms int64) sandbox.State {
	state := h.changes[0].state
	for _, c := range h.changes {
		if c.ms <= ms {
			state = c.state
		}
	}
	return state
}

// looks are the times at which someone looks: all changes, or some of them, or
// any times at all.
func (h history) looks(rnd *rand.Rand) []sight {
	if rnd.IntN(2) == 0 {
		return h.changes
	}
	end := h.changes[len(h.changes)-1].ms
	looks := []sight{h.changes[0]}
	for now := int64(0); now < end; now += 1 + rnd.Int64N(1+end/int64(1+rnd.IntN(50))) {
		looks = append(looks, sight{now, h.is(now)})
	}
	return append(looks, h.changes[len(h.changes)-1])
}

func less(a, b sandbox.Cost) bool {
	const rounding = 4 // that the largest part has, which may be another one now
	return a.Compute+rounding < b.Compute || a.Launch+rounding < b.Launch || a.Cycles+rounding < b.Cycles || a.Storage+rounding < b.Storage || a.Total < b.Total
}

// For any life that a cloud's rules allow, however it is looked at: what it cost
// so far never falls, is no more than was held, and does not change by being
// kept as text, told twice, or told what is old.
func TestCostIsHeld(t *testing.T) {
	for seed := range uint64(1000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		h := randomHistory(rnd)
		r := virginia(t)
		worst, err := price.Worst(r, h.plan)
		if err != nil {
			t.Fatal(err)
		}
		for range h.asked {
			worst = worst.Plus(price.Cycle(r, h.plan))
		}
		looks := h.looks(rnd)
		var a, noisy price.Accrual
		var last sandbox.Cost
		show := func() string { return fmt.Sprintf("seed %d, plan %+v, seen %v", seed, h.plan, looks) }
		for i, s := range looks {
			a.Saw(s.state, at(s.ms))
			noisy.Saw(s.state, at(s.ms))
			noisy.Saw(s.state, at(s.ms))
			if old := looks[rnd.IntN(i+1)]; old.ms < s.ms {
				noisy.Saw(old.state, at(old.ms))
			}
			raw, err := json.Marshal(noisy)
			if err != nil {
				t.Fatal(err)
			}
			noisy = price.Accrual{}
			if err := json.Unmarshal(raw, &noisy); err != nil {
				t.Fatal(err)
			}
			until := s.ms
			if i+1 < len(looks) {
				until += rnd.Int64N(1 + looks[i+1].ms - s.ms)
			}
			for _, now := range []time.Time{at(s.ms), at(until)} {
				cost := a.Cost(r, h.plan, now)
				switch {
				case less(cost, last):
					t.Fatalf("the cost fell from %+v to %+v: %s", last, cost, show())
				case cost.Total > worst:
					t.Fatalf("the cost is %+v, and %d was held: %s", cost, worst, show())
				case cost.Total != cost.Compute+cost.Launch+cost.Cycles+cost.Storage:
					t.Fatalf("the parts don't add up to the total: %+v: %s", cost, show())
				case cost != noisy.Cost(r, h.plan, now):
					t.Fatalf("the cost is %+v, and %+v with noise: %s", cost, noisy.Cost(r, h.plan, now), show())
				}
				last = cost
			}
		}
		if later := a.Cost(r, h.plan, at(1e12)); later != last {
			t.Fatalf("it went on to cost %+v after its end with %+v: %s", later, last, show())
		}
	}
}

// Seen at each change, the parts of a life are what they were, to the millisecond.
func TestSeenWhole(t *testing.T) {
	for seed := range uint64(500) {
		h := randomHistory(rand.New(rand.NewPCG(seed, 11)))
		var running, asleep int64
		for i, c := range h.changes[:len(h.changes)-1] {
			if ms := h.changes[i+1].ms - c.ms; c.state == sandbox.Suspended {
				asleep += ms
			} else {
				running += ms
			}
		}
		gotRunning, gotAsleep := accrue(h.changes...).Used(at(1e12))
		if gotRunning.Milliseconds() != running || gotAsleep.Milliseconds() != asleep {
			t.Fatalf("seed %d: ran %v, slept %v, want %d ms, %d ms", seed, gotRunning, gotAsleep, running, asleep)
		}
	}
}

// The longest life fits, and a second more does not; and worse plans hold more.
func TestLongestIsExact(t *testing.T) {
	r := virginia(t)
	for seed := range uint64(1000) {
		rnd := rand.New(rand.NewPCG(seed, 13))
		p := randomHistory(rnd).plan
		worst := func(life sandbox.Seconds) sandbox.Micro {
			q := p
			q.Life = life
			m, err := price.Worst(r, q)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		left := sandbox.Micro(rnd.Int64N(1 << rnd.IntN(36)))
		if rnd.IntN(2) == 0 {
			left = worst(p.Life) + sandbox.Micro(rnd.IntN(3)-1) // right at an edge
		}
		got := price.Longest(r, p, left)
		if got > 0 && worst(got) > left || worst(got+1) <= left {
			t.Fatalf("seed %d: Longest of %+v with %d left = %d s: that is %d, and a second more %d", seed, p, left, got, worst(got), worst(got+1))
		}
		if worst(p.Life+1) < worst(p.Life) {
			t.Fatalf("seed %d: a second more holds less: %+v", seed, p)
		}
		strict, often := p, p
		strict.Burst = sandbox.BurstStrict
		often.Idle = max(1, p.Idle/2)
		for _, q := range []price.Plan{strict, often} {
			if m, err := price.Worst(r, q); err != nil || m < worst(p.Life) {
				t.Fatalf("seed %d: %+v holds %d, %v, less than %+v with %d", seed, q, m, err, p, worst(p.Life))
			}
		}
		e := price.Expected(r, p)
		if e > worst(p.Life) {
			t.Fatalf("seed %d: %+v is expected to cost %d, more than its hold of %d", seed, p, e, worst(p.Life))
		}
		begin := r.Sourced
		var ran price.Accrual
		ran.Saw(sandbox.Running, begin)
		ran.Saw(sandbox.Terminated, begin.Add(p.Life.Duration()))
		if c := ran.Cost(r, p, begin.Add(p.Life.Duration())); c.Total != e || c.Compute.Plus(c.Launch).Plus(c.Cycles).Plus(c.Storage) != c.Total {
			t.Fatalf("seed %d: %+v is expected to cost %d, and %+v is booked", seed, p, e, c)
		}
	}
}
