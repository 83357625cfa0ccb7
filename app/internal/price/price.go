// Package price says what a sandbox costs: a table of what AWS asks, by region
// and day; the most that a sandbox can cost before it exists; what one has used
// so far; and what AWS itself says, of its prices and of the bill.
//
// Amounts are whole numbers all the way. Rates are in millionths of a millionth
// of a dollar (p$), and what is multiplied with them is exact, so that there is
// one rounding, upwards, where an amount becomes a [sandbox.Micro].
//
// Not covered are data transfer, logs, objects in S3, and the storage of image
// versions: a sandbox has none of these of its own.
package price

import (
	"errors"
	"math"
	"math/big"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Rates are what one region asks for, from some day on.
type Rates struct {
	Version string    `json:"version"` // of the sheet they are from
	Region  string    `json:"region"`
	Sourced time.Time `json:"sourced"`   // the day on which they were looked up
	VCPU    int64     `json:"vcpu_p"`    // p$ per second of a vCPU
	GB      int64     `json:"gb_p"`      // p$ per second of a GB of memory
	Write   int64     `json:"write_p"`   // p$ per GB of a snapshot, when it suspends
	Read    int64     `json:"read_p"`    // p$ per GB of a snapshot, when it starts or wakes up
	Storage int64     `json:"storage_p"` // p$ per second of a GB of a snapshot, while it sleeps
}

// Known reports whether r is a price at all. Memory and vCPUs are never free.
func (r Rates) Known() bool {
	return r.VCPU > 0 && r.GB > 0 && r.Write >= 0 && r.Read >= 0 && r.Storage >= 0
}

// staleAfter is how many days a price is good for without being looked up.
const staleAfter = 90

// Days is how many whole days ago r was looked up.
func (r Rates) Days(now time.Time) int {
	return int(max(0, now.Sub(r.Sourced)) / (24 * time.Hour))
}

// Stale reports whether r was looked up more than 90 days ago.
func (r Rates) Stale(now time.Time) bool { return now.Sub(r.Sourced) > staleAfter*24*time.Hour }

// A Plan is what is known of a sandbox before it exists.
type Plan struct {
	SizeMiB int `json:"size_mib"`
	// SnapshotMGB is the size of its snapshot in thousandths of a GB. 0 is not
	// measured: then it is all the memory that the sandbox may use.
	SnapshotMGB int             `json:"snapshot_mgb,omitempty"`
	Life        sandbox.Seconds `json:"life_s"`
	Idle        sandbox.Seconds `json:"idle_s,omitempty"` // silence after which it suspends; 0 is never
	Burst       sandbox.Burst   `json:"burst"`            // what is not [sandbox.BurstBaseline] is strict
}

// peak is how many times its baseline a sandbox may use.
const peak = 4

func (p Plan) burst() int64 {
	if p.Burst == sandbox.BurstBaseline {
		return 1
	}
	return peak
}

// snapshot is the size to reckon with, in thousandths of a GB.
func (p Plan) snapshot() int64 {
	if p.SnapshotMGB > 0 {
		return int64(p.SnapshotMGB)
	}
	return satMul(p.burst(), memory(p.SizeMiB))
}

// memory is a size in thousandths of a GB, rounded up.
func memory(sizeMiB int) int64 {
	n := int64(max(0, sizeMiB))
	return n/1024*1000 + (n%1024*1000+1023)/1024
}

// ErrTooMuch means that an amount is more than can be counted.
var ErrTooMuch = errors.New("the amount is more than can be counted")

// Worst is the most that a sandbox can cost which lives as long as planned: it
// bursts, if that is what the plan assumes, all its life, and suspends as often
// as it can, all at once. That is more than can happen, and so what is held.
// A suspend that a person asks for comes on top: see [Cycle].
func Worst(r Rates, p Plan) (sandbox.Micro, error) {
	switch {
	case !r.Known():
		return 0, &sandbox.Error{
			Code: sandbox.PriceUnknown, Msg: "no price is known for this region and size",
			Hint: "add it to the file of your own prices, or use a token without a limit",
		}
	case p.SizeMiB <= 0 || p.SnapshotMGB < 0 || p.Life < 0 || p.Idle < 0:
		return 0, &sandbox.Error{Code: sandbox.Invalid, Msg: "a sandbox of this size, life or idle time can't be priced", Hint: "none of them may be negative, and the size not 0"}
	case p.Life > math.MaxInt64/1000:
		return 0, tooMuch()
	}
	u := use{burst: p.burst(), running: int64(p.Life) * 1000, launches: 1}
	if p.Idle > 0 {
		u.cycles, u.asleep = int64(p.Life/p.Idle), u.running
	}
	sum, ok := micro(u.of(r, p).sum())
	if !ok {
		return 0, tooMuch()
	}
	return sum, nil
}

func tooMuch() error {
	return &sandbox.Error{Code: sandbox.Invalid, Msg: "this would cost more than can be counted", Hint: "ask for a shorter time", Err: ErrTooMuch}
}

// maxLife is the longest life that a [time.Duration] holds.
const maxLife = sandbox.Seconds(math.MaxInt64 / int64(time.Second))

// Longest is the longest life of such a sandbox for which left is enough, 0 if
// there is none. The life in p does not matter.
func Longest(r Rates, p Plan, left sandbox.Micro) sandbox.Seconds {
	fits := func(life sandbox.Seconds) bool {
		p.Life = life
		worst, err := Worst(r, p)
		return err == nil && worst <= left
	}
	good, bad := sandbox.Seconds(0), maxLife+1 // a longer life never costs less
	for bad-good > 1 {
		if mid := good + (bad-good)/2; fits(mid) {
			good = mid
		} else {
			bad = mid
		}
	}
	return good
}

// Cycle is what one suspend and the wake-up after it cost: to be held when a
// person asks for a suspend, since a plan counts those only that its idle time
// brings about.
func Cycle(r Rates, p Plan) sandbox.Micro {
	return atMost(use{cycles: 1}.of(r, p).sum())
}

// PerHour is what is booked for an hour in which a sandbox runs. The life in p
// does not matter.
func PerHour(r Rates, p Plan) sandbox.Micro {
	return atMost(p.running(time.Hour.Milliseconds()).of(r, p).sum())
}

// Expected is what is booked for a sandbox that runs all its life: what
// [Accrual.Cost] comes to for that.
func Expected(r Rates, p Plan) sandbox.Micro {
	u := p.running(satMul(int64(max(0, p.Life)), 1000))
	u.launches = 1
	return atMost(u.of(r, p).sum())
}

// MilliVCPU is how many thousandths of a vCPU come with a size of memory.
func MilliVCPU(sizeMiB int) int { return sizeMiB * thousand / mibPerVCPU }

// running is the use that is booked for a sandbox that was seen to run for so
// many milliseconds, and nothing else.
func (p Plan) running(ms int64) use {
	u := use{burst: p.burst(), running: ms}
	if u.burst > 1 && p.Idle > 0 { // each of its sleeps may have been missed
		u.cycles = ms / satMul(int64(p.Idle), 1000)
	}
	return u
}

// shortIdle is the idle time up to which a sandbox of the usual kind loses by
// being suspended; for those of which too little is known to reckon it.
const shortIdle sandbox.Seconds = 150

// ShortIdle reports whether a suspend after so short a silence costs more than
// the silence would have, run through at the baseline.
func ShortIdle(idle sandbox.Seconds, r Rates, p Plan) bool {
	switch {
	case idle <= 0:
		return false
	case p.SnapshotMGB <= 0 || p.SizeMiB <= 0 || !r.Known():
		return idle < shortIdle
	}
	awake := use{burst: 1, running: satMul(int64(idle), 1000)}.of(r, p)
	return awake.compute.Cmp(use{cycles: 1}.of(r, p).cycles) < 0
}

// A use is what a bill is made of: times are in milliseconds.
type use struct {
	burst            int64 // times the baseline, while it runs
	running, asleep  int64
	launches, cycles int64
}

// Amounts are exact in grains. A size in MiB is divided by 2048 to be vCPUs and
// by 1024 to be GB, a snapshot is in thousandths of a GB, and times are in
// thousandths of a second: a grain is a p$ divided by all of them.
const (
	mibPerVCPU = 2048
	thousand   = 1000
	grains     = mibPerVCPU * thousand * thousand // of a p$
	picos      = 1_000_000                        // of a millionth of a dollar
)

// An exact bill is one in grains.
type exact struct{ compute, launch, cycles, storage *big.Int }

func (u use) of(r Rates, p Plan) exact {
	size, snapshot := int64(max(0, p.SizeMiB)), p.snapshot()
	perSize := new(big.Int).Add(big.NewInt(r.VCPU), product(mibPerVCPU/1024, r.GB)) // for 2048 MiB and a second
	cycle := new(big.Int).Add(big.NewInt(r.Write), big.NewInt(r.Read))
	return exact{
		compute: perSize.Mul(perSize, product(size, u.burst, u.running, thousand)),
		launch:  product(u.launches, snapshot, r.Read, mibPerVCPU, thousand),
		cycles:  cycle.Mul(cycle, product(u.cycles, snapshot, mibPerVCPU, thousand)),
		storage: product(snapshot, r.Storage, u.asleep, mibPerVCPU),
	}
}

func (e exact) sum() *big.Int {
	n := new(big.Int).Add(e.compute, e.launch)
	return n.Add(n, e.cycles).Add(n, e.storage)
}

func product(factors ...int64) *big.Int {
	n := big.NewInt(1)
	for _, f := range factors {
		n.Mul(n, big.NewInt(f))
	}
	return n
}

// micro rounds grains up, and reports whether an amount can be that large.
func micro(n *big.Int) (sandbox.Micro, bool) {
	q, rest := new(big.Int).DivMod(n, product(grains, picos), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return sandbox.Micro(q.Int64()), q.IsInt64()
}

// atMost is micro, with what no limit allows in place of what can't be said.
func atMost(n *big.Int) sandbox.Micro {
	if m, ok := micro(n); ok {
		return m
	}
	return math.MaxInt64
}

// satMul multiplies two numbers that are not negative, up to the largest there is.
func satMul(a, b int64) int64 {
	if a > 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}
