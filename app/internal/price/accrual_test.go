package price_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// A sight is a state at a number of milliseconds after day.
type sight struct {
	ms    int64
	state sandbox.State
}

func at(ms int64) time.Time { return day.Add(time.Duration(ms) * time.Millisecond) }

func accrue(sights ...sight) *price.Accrual {
	a := &price.Accrual{}
	for _, s := range sights {
		a.Saw(s.state, at(s.ms))
	}
	return a
}

// every makes a sandbox run and sleep by turns.
func every(times int, runs, sleeps int64) *price.Accrual {
	a := &price.Accrual{}
	for i := range int64(times) {
		a.Saw(sandbox.Running, at(i*(runs+sleeps)*1000))
		a.Saw(sandbox.Suspended, at((i*(runs+sleeps)+runs)*1000))
	}
	a.Saw(sandbox.Terminated, at(int64(times)*(runs+sleeps)*1000))
	return a
}

// R7: a sandbox costs what it runs, and a snapshot for each time it suspends.
func TestR7_CostOfRunningAndCycles(t *testing.T) {
	const sec = 1000
	r := virginia(t)
	for _, tt := range []struct {
		name           string
		size, snapshot int
		idle           sandbox.Seconds
		burst          sandbox.Burst
		a              *price.Accrual
		want           sandbox.Cost
	}{
		{"an hour", 2048, 919, 300, sandbox.BurstBaseline, accrue(sight{0, sandbox.Running}, sight{3600 * sec, sandbox.Terminated}), sandbox.Cost{Compute: 126_101, Launch: 1_424, Total: 127_525}},
		{"an hour in strict mode, in which it may have slept unseen", 2048, 919, 300, sandbox.BurstStrict, accrue(sight{0, sandbox.Running}, sight{3600 * sec, sandbox.Terminated}), sandbox.Cost{Compute: 504_402, Launch: 1_424, Cycles: 58_999, Total: 564_825}},
		{"an hour, and an hour asleep", 2048, 919, 300, sandbox.BurstBaseline, every(1, 3600, 3600), sandbox.Cost{Compute: 126_102, Launch: 1_424, Cycles: 4_916, Storage: 102, Total: 132_544}},
		{"three short turns in a long life", 2048, 919, 300, sandbox.BurstBaseline, every(3, 200, 9200), sandbox.Cost{Compute: 21_019, Launch: 1_424, Cycles: 14_749, Storage: 782, Total: 37_974}},
		{"the same in strict mode", 2048, 919, 300, sandbox.BurstStrict, every(3, 200, 9200), sandbox.Cost{Compute: 84_066, Launch: 1_424, Cycles: 462_168, Storage: 782, Total: 548_440}},
		{"a small one for a moment", 512, 446, 0, sandbox.BurstBaseline, accrue(sight{0, sandbox.Running}, sight{90 * sec, sandbox.Terminated}), sandbox.Cost{Compute: 789, Launch: 691, Total: 1_480}},
		{"a large one in four turns", 8192, 1146, 600, sandbox.BurstBaseline, every(4, 1800, 1800), sandbox.Cost{Compute: 1_008_803, Launch: 1_776, Cycles: 24_524, Storage: 254, Total: 1_035_357}},
		{"it ended as it began", 2048, 919, 300, sandbox.BurstBaseline, accrue(sight{0, sandbox.Running}, sight{0, sandbox.Terminated}), sandbox.Cost{Launch: 1_425, Total: 1_425}},
		{"a millisecond", 2048, 919, 300, sandbox.BurstBaseline, accrue(sight{0, sandbox.Running}, sight{1, sandbox.Terminated}), sandbox.Cost{Launch: 1_425, Total: 1_425}},
		{"milliseconds, suspended by a person", 512, 919, 0, sandbox.BurstStrict, accrue(sight{0, sandbox.Running}, sight{1500, sandbox.Suspended}, sight{2000, sandbox.Terminated}), sandbox.Cost{Compute: 52, Launch: 1_424, Cycles: 4_918, Total: 6_394}},
		{"suspended by a person more often than by itself", 2048, 919, 30, sandbox.BurstStrict, every(2, 10, 10), sandbox.Cost{Compute: 2_802, Launch: 1_424, Cycles: 9_835, Total: 14_061}},
		{"nothing seen", 2048, 919, 300, sandbox.BurstStrict, accrue(), sandbox.Cost{}},
		{"it never was", 2048, 919, 300, sandbox.BurstStrict, accrue(sight{0, sandbox.Creating}, sight{3600 * sec, sandbox.InDoubt}), sandbox.Cost{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := price.Plan{SizeMiB: tt.size, SnapshotMGB: tt.snapshot, Life: 8 * 3600, Idle: tt.idle, Burst: tt.burst}
			if got := tt.a.Cost(r, p, at(1e12)); got != tt.want {
				t.Errorf("Cost = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// The worked examples for a sandbox of 2 GB, with prices as a bill has them.
func TestWorkedExamples(t *testing.T) {
	s, err := price.ParseSheet("bill", []byte(`{"version": "bill", "regions": [{"region": "us-east-1", "valid_from": "2026-06-22", "sourced": "2026-09-16",
		"vcpu_second": "0.0000276944", "gb_second": "0.0000036667", "snapshot_write_gb": "0.0037977138", "snapshot_read_gb": "0.0015467699",
		"snapshot_storage_gb_hour": "0.0001111111"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := price.Embedded().Override(s).Rates("us-east-1", 2048, day)
	if !ok || r.Version != "bill" {
		t.Fatalf("rates = %+v, %t", r, ok)
	}
	cost := func(snapshot int, burst sandbox.Burst, a *price.Accrual) sandbox.Cost {
		return a.Cost(r, price.Plan{SizeMiB: 2048, SnapshotMGB: snapshot, Burst: burst}, at(1e12))
	}
	run := func(seconds int64) *price.Accrual {
		return accrue(sight{0, sandbox.Running}, sight{seconds * 1000, sandbox.Terminated})
	}
	parked := cost(919, sandbox.BurstBaseline, every(1, 5, 8*3600-5))
	turns := cost(919, sandbox.BurstBaseline, every(10, 120, 240))
	for _, tt := range []struct {
		name string
		got  sandbox.Micro
		want string
		unit sandbox.Micro // to which the example is rounded
	}{
		{"an hour and a launch", cost(919, sandbox.BurstBaseline, run(3600)).Total, "0.1275", 100},
		{"a suspend and the wake-up", price.Cycle(r, price.Plan{SnapshotMGB: 919}), "0.0049", 100},
		{"a week of a GB of storage", cost(1000, sandbox.BurstBaseline, every(1, 0, 168*3600)).Storage, "0.0187", 100},
		{"an hour, then seven asleep", cost(919, sandbox.BurstBaseline, every(1, 3600, 7*3600)).Total, "0.133", 1_000},
		{"forgotten for eight hours", cost(919, sandbox.BurstBaseline, run(8*3600)).Total, "1.01", 10_000},
		{"a minute at four times the baseline", cost(919, sandbox.BurstStrict, run(60)).Compute, "0.0084", 100},
		// It never wakes up: what is read at the launch, and written after, is one
		// cycle. Cost counts a wake-up besides, since it can't know that.
		{"parked for a month", 90 * (parked.Cycles + parked.Compute + parked.Storage), "0.53", 10_000},
		{"ten turns in an hour", turns.Compute + turns.Cycles, "0.091", 1_000},
		{"always on instead", price.PerHour(r, price.Plan{SizeMiB: 2048, Burst: sandbox.BurstBaseline}), "0.126", 1_000},
	} {
		want, err := sandbox.ParseMicro(tt.want)
		if err != nil {
			t.Fatal(err)
		}
		if got := (tt.got + tt.unit/2) / tt.unit * tt.unit; got != want {
			t.Errorf("%s: %d, which is %s, want %s", tt.name, tt.got, got, tt.want)
		}
	}
}

func TestSaw(t *testing.T) {
	for _, tt := range []struct {
		name            string
		end             int64
		sights          []sight
		now             int64
		running, asleep int64
		cycles          int64
		launched        bool
	}{
		{"nothing", 0, nil, 9000, 0, 0, 0, false},
		{"asked for", 0, []sight{{0, sandbox.Creating}, {2000, sandbox.InDoubt}}, 9000, 0, 0, 0, false},
		{"still on its way", 0, []sight{{0, sandbox.Creating}, {1000, sandbox.Pending}}, 9000, 8000, 0, 0, true},
		{"running", 0, []sight{{0, sandbox.Pending}, {1000, sandbox.Running}}, 9000, 9000, 0, 0, true},
		{"the same seen again", 0, []sight{{0, sandbox.Running}, {0, sandbox.Running}, {1000, sandbox.Running}, {1000, sandbox.Running}}, 9000, 9000, 0, 0, true},
		{"asleep", 0, []sight{{0, sandbox.Running}, {1000, sandbox.Suspending}, {1500, sandbox.Suspended}}, 9000, 1500, 7500, 1, true},
		{"asleep, seen late", 0, []sight{{0, sandbox.Running}, {1500, sandbox.Suspended}, {3000, sandbox.Suspended}}, 9000, 1500, 7500, 1, true},
		{"awake again", 0, []sight{{0, sandbox.Running}, {1000, sandbox.Suspended}, {5000, sandbox.Pending}, {6000, sandbox.Running}}, 9000, 5000, 4000, 1, true},
		{"asleep again", 0, []sight{{0, sandbox.Running}, {1000, sandbox.Suspended}, {5000, sandbox.Pending}, {6000, sandbox.Suspended}}, 9000, 2000, 7000, 2, true},
		{"asleep when first seen", 0, []sight{{1000, sandbox.Suspended}}, 9000, 0, 8000, 1, true},
		{"over", 0, []sight{{0, sandbox.Running}, {1000, sandbox.Terminating}, {2000, sandbox.Terminated}}, 9000, 2000, 0, 0, true},
		{"over is for good", 0, []sight{{0, sandbox.Running}, {2000, sandbox.Terminated}, {3000, sandbox.Running}, {4000, sandbox.Suspended}}, 9000, 2000, 0, 0, true},
		{"over when first seen", 0, []sight{{1000, sandbox.Terminated}}, 9000, 0, 0, 0, true},
		{"a state that is new to us", 0, []sight{{0, "HIBERNATING"}}, 9000, 9000, 0, 0, true},
		{"old news", 0, []sight{{0, sandbox.Running}, {4000, sandbox.Suspended}, {2000, sandbox.Running}, {3999, sandbox.Pending}}, 9000, 4000, 5000, 1, true},
		{"the clock went back, and it is over", 0, []sight{{5000, sandbox.Running}, {7000, sandbox.Running}, {3000, sandbox.Terminated}}, 9000, 2000, 0, 0, true},
		{"now is before the last sight", 0, []sight{{0, sandbox.Running}, {7000, sandbox.Running}}, 3000, 7000, 0, 0, true},
		{"nobody looked when it ended", 5000, []sight{{0, sandbox.Running}, {80000, sandbox.Terminated}}, 90000, 5000, 0, 0, true},
		{"nobody looks when it ends", 5000, []sight{{0, sandbox.Running}}, 90000, 5000, 0, 0, true},
		{"nobody looked when it fell asleep", 5000, []sight{{0, sandbox.Running}, {80000, sandbox.Suspended}}, 90000, 5000, 0, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &price.Accrual{}
			if tt.end > 0 {
				a.End = at(tt.end)
			}
			for _, s := range tt.sights {
				last := a.At
				if a.Saw(s.state, at(s.ms)); a.At.Before(last) {
					t.Errorf("the last sight went back from %v to %v", last, a.At)
				}
			}
			running, asleep := a.Used(at(tt.now))
			if running.Milliseconds() != tt.running || asleep.Milliseconds() != tt.asleep || a.Cycles != tt.cycles || a.Launched != tt.launched {
				t.Errorf("ran %v, slept %v, %d cycles, launched %t; want %d ms, %d ms, %d, %t", running, asleep, a.Cycles, a.Launched, tt.running, tt.asleep, tt.cycles, tt.launched)
			}
		})
	}
}

// Fractions of a millisecond are dropped of the time of day, and not of each
// stretch: many sights lose nothing.
func TestManySights(t *testing.T) {
	var a price.Accrual
	for i := range 10_000 {
		a.Saw(sandbox.Running, day.Add(time.Duration(i)*700*time.Microsecond))
	}
	if running, _ := a.Used(day.Add(7 * time.Second)); running != 7*time.Second {
		t.Errorf("ran %v, want 7s", running)
	}
}

func TestAccrualIsKept(t *testing.T) {
	a := accrue(sight{0, sandbox.Running}, sight{1234, sandbox.Suspended}, sight{5678, sandbox.Pending})
	a.End = at(3600_000)
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"end":"2026-10-01T01:00:00Z","state":"PENDING","at":"2026-10-01T00:00:05.678Z","running_ms":1234,"asleep_ms":4444,"cycles":1,"launched":true}`
	if string(raw) != want {
		t.Errorf("it is kept as %s, want %s", raw, want)
	}
	var back price.Accrual
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(&back, a) {
		t.Errorf("it came back as %+v, %v, want %+v", back, err, a)
	}
}

// Whatever the numbers, an amount never wraps around to a small one.
func TestAccrualOfTooMuch(t *testing.T) {
	dear := price.Rates{VCPU: math.MaxInt64, GB: math.MaxInt64, Write: math.MaxInt64, Read: math.MaxInt64, Storage: math.MaxInt64}
	for _, state := range []sandbox.State{sandbox.Running, sandbox.Suspended} {
		a := price.Accrual{State: state, At: day, RunningMS: math.MaxInt64, AsleepMS: math.MaxInt64, Cycles: math.MaxInt64, Launched: true}
		a.Saw(state, at(1000))
		a.Saw(sandbox.Pending, at(1000))
		if a.RunningMS != math.MaxInt64 || a.AsleepMS != math.MaxInt64 {
			t.Errorf("ran %d ms, slept %d ms, want the largest number", a.RunningMS, a.AsleepMS)
		}
		got := a.Cost(dear, price.Plan{SizeMiB: math.MaxInt32, SnapshotMGB: math.MaxInt32, Idle: math.MaxInt64}, at(2000))
		if want := (sandbox.Cost{Compute: math.MaxInt64, Launch: got.Launch, Cycles: math.MaxInt64, Storage: math.MaxInt64, Total: math.MaxInt64}); got != want || got.Launch <= 0 {
			t.Errorf("Cost = %+v, want %+v", got, want)
		}
		if running, asleep := a.Used(at(2000)); running != math.MaxInt64 || asleep != math.MaxInt64 {
			t.Errorf("ran %v, slept %v, want the longest duration", running, asleep)
		}
	}
}
