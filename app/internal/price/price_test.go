package price_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

var day = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

// virginia is the region of which all worked examples are.
func virginia(t testing.TB) price.Rates {
	t.Helper()
	r, ok := price.Embedded().Rates("us-east-1", 2048, day)
	if !ok {
		t.Fatal("no price for us-east-1")
	}
	return r
}

// What is held, worked out by hand for one snapshot.
func TestWorst(t *testing.T) {
	r := virginia(t)
	const hour = 3600
	for _, tt := range []struct {
		size             int
		life, idle       sandbox.Seconds
		snapshot         int
		strict, baseline sandbox.Micro
	}{
		{512, 1 * hour, 300, 919, 186_627, 92_052},
		{1024, 1 * hour, 300, 919, 312_727, 123_577},
		{2048, 1 * hour, 300, 919, 564_927, 186_627},
		{2048, 1 * hour, 0, 919, 505_825, 127_525},
		{2048, 2 * hour, 300, 919, 1_128_429, 371_829},
		{2048, 8 * hour, 300, 919, 4_509_443, 1_483_041},
		{2048, 8 * hour, 60, 919, 6_397_436, 3_371_035},
		{4096, 1 * hour, 300, 919, 1_069_328, 312_727},
		{8192, 1 * hour, 300, 919, 2_078_128, 564_927},
		{2048, 1 * hour, 300, 0, 1_031_290, 257_823},
	} {
		for mode, want := range map[sandbox.Burst]sandbox.Micro{sandbox.BurstStrict: tt.strict, sandbox.BurstBaseline: tt.baseline} {
			t.Run(fmt.Sprintf("%d MiB, %d s, idle %d, snapshot %d, %s", tt.size, tt.life, tt.idle, tt.snapshot, mode), func(t *testing.T) {
				got, err := price.Worst(r, price.Plan{SizeMiB: tt.size, SnapshotMGB: tt.snapshot, Life: tt.life, Idle: tt.idle, Burst: mode})
				if err != nil || got != want {
					t.Errorf("Worst = %d, %v, want %d", got, err, want)
				}
			})
		}
	}
}

func TestWorstRefuses(t *testing.T) {
	r := virginia(t)
	good := price.Plan{SizeMiB: 2048, SnapshotMGB: 919, Life: 3600, Idle: 300, Burst: sandbox.BurstStrict}
	dear := price.Rates{VCPU: 999e12, GB: 999e12, Write: 999e12, Read: 999e12, Storage: 999e12}
	for _, tt := range []struct {
		name  string
		rates price.Rates
		edit  func(*price.Plan)
		code  sandbox.Code
		much  bool
	}{
		{"as planned", r, func(*price.Plan) {}, "", false},
		{"the dearest there is", dear, func(*price.Plan) {}, "", false},
		{"no price", price.Rates{}, func(*price.Plan) {}, sandbox.PriceUnknown, false},
		{"a price below nothing", price.Rates{VCPU: 1, GB: 1, Read: -1}, func(*price.Plan) {}, sandbox.PriceUnknown, false},
		{"no size", r, func(p *price.Plan) { p.SizeMiB = 0 }, sandbox.Invalid, false},
		{"a size below nothing", r, func(p *price.Plan) { p.SizeMiB = -512 }, sandbox.Invalid, false},
		{"a snapshot below nothing", r, func(p *price.Plan) { p.SnapshotMGB = -1 }, sandbox.Invalid, false},
		{"a life below nothing", r, func(p *price.Plan) { p.Life = -1 }, sandbox.Invalid, false},
		{"an idle time below nothing", r, func(p *price.Plan) { p.Idle = -1 }, sandbox.Invalid, false},
		{"a life that no number of milliseconds is", r, func(p *price.Plan) { p.Life = math.MaxInt64 }, sandbox.Invalid, true},
		{"more than an amount can be", dear, func(p *price.Plan) { p.Life = 1e9 }, sandbox.Invalid, true},
		{"more than a product of two can be", dear, func(p *price.Plan) { p.Life = 9e15; p.SizeMiB = math.MaxInt32; p.Idle = 1 }, sandbox.Invalid, true},
	} {
		p := good
		tt.edit(&p)
		got, err := price.Worst(tt.rates, p)
		if sandbox.CodeOf(err) != tt.code || errors.Is(err, price.ErrTooMuch) != tt.much {
			t.Errorf("%s: Worst = %d, %v, want code %q", tt.name, got, err, tt.code)
		}
		if err == nil && got <= 0 || err != nil && got != 0 {
			t.Errorf("%s: Worst = %d with %v", tt.name, got, err)
		}
	}
}

// What is assumed where nobody said, or measured, is the dearer.
func TestUnknownIsDear(t *testing.T) {
	r := virginia(t)
	worst := func(burst sandbox.Burst, snapshot int) sandbox.Micro {
		m, err := price.Worst(r, price.Plan{SizeMiB: 2048, SnapshotMGB: snapshot, Life: 3600, Idle: 300, Burst: burst})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if got, want := worst("", 919), worst(sandbox.BurstStrict, 919); got != want {
		t.Errorf("with no mode = %d, want %d", got, want)
	}
	if got, want := worst(sandbox.BurstStrict, 0), worst(sandbox.BurstStrict, 8000); got != want {
		t.Errorf("with no snapshot in strict mode = %d, want %d", got, want)
	}
	if got, want := worst(sandbox.BurstBaseline, 0), worst(sandbox.BurstBaseline, 2000); got != want {
		t.Errorf("with no snapshot in baseline mode = %d, want %d", got, want)
	}
}

func TestLongest(t *testing.T) {
	r := virginia(t)
	p := price.Plan{SizeMiB: 2048, SnapshotMGB: 919, Idle: 300, Burst: sandbox.BurstStrict}
	for _, tt := range []struct {
		left sandbox.Micro
		want sandbox.Seconds
	}{
		{564_927, 3600},
		{564_926, 3599},
		{4_509_443, 8 * 3600},
		{4_509_442, 8*3600 - 1},
		{1_565, 1},
		{1_564, 0},
		{1_425, 0},
		{0, 0},
		{-1, 0},
		{math.MinInt64, 0},
		{math.MaxInt64, sandbox.Seconds(math.MaxInt64 / int64(time.Second))}, // never more than a duration holds
	} {
		if got := price.Longest(r, p, tt.left); got != tt.want {
			t.Errorf("Longest with %d left = %d s, want %d s", tt.left, got, tt.want)
		}
	}
	if got := price.Longest(price.Rates{}, p, math.MaxInt64); got != 0 {
		t.Errorf("Longest with no price = %d s, want 0", got)
	}
}

func TestPerHour(t *testing.T) {
	r := virginia(t)
	for size, want := range map[int]sandbox.Micro{512: 31_526, 1024: 63_051, 2048: 126_101, 4096: 252_201, 8192: 504_401, 0: 0, -1: 0} {
		if got := price.PerHour(r, price.Plan{SizeMiB: size, Burst: sandbox.BurstBaseline}); got != want {
			t.Errorf("PerHour of %d MiB = %d, want %d", size, got, want)
		}
	}
	if got := price.PerHour(r, price.Plan{SizeMiB: 2048}); got != 504_401 { // four times the baseline
		t.Errorf("PerHour in strict mode = %d, want 504401", got)
	}
	if got := price.PerHour(r, price.Plan{SizeMiB: 2048, SnapshotMGB: 919, Idle: 300}); got != 563_401 {
		t.Errorf("PerHour in strict mode, with sleeps = %d, want 563401", got)
	}
	if got := price.PerHour(price.Rates{}, price.Plan{SizeMiB: 2048}); got != 0 {
		t.Errorf("PerHour with no price = %d, want 0", got)
	}
	if got := price.PerHour(price.Rates{VCPU: math.MaxInt64, GB: math.MaxInt64}, price.Plan{SizeMiB: math.MaxInt32}); got != math.MaxInt64 {
		t.Errorf("PerHour of too much = %d, want what no limit allows", got)
	}
}

func TestCycleAndExpected(t *testing.T) {
	r := virginia(t)
	p := price.Plan{SizeMiB: 2048, SnapshotMGB: 919, Life: 3600, Idle: 300, Burst: sandbox.BurstStrict}
	if got := price.Cycle(r, p); got != 4_917 {
		t.Errorf("Cycle = %d, want 4917", got)
	}
	if got := price.Expected(r, p); got != 564_825 { // as an hour of that comes to
		t.Errorf("Expected in strict mode = %d, want 564825", got)
	}
	base := p
	base.Burst = sandbox.BurstBaseline
	if got := price.Expected(r, base); got != 127_525 {
		t.Errorf("Expected = %d, want 127525", got)
	}
	p.SnapshotMGB = 0
	if got := price.Cycle(r, p); got != 42_800 { // of 8 GB
		t.Errorf("Cycle of a snapshot that is not measured = %d, want 42800", got)
	}
	base.SnapshotMGB = 0
	if got := price.Expected(r, base); got != 129_201 { // of 2 GB
		t.Errorf("Expected with a snapshot that is not measured = %d, want 129201", got)
	}
	p.Life, p.SizeMiB = math.MaxInt64, math.MaxInt32
	if got := price.Expected(r, p); got != math.MaxInt64 {
		t.Errorf("Expected of too much = %d, want what no limit allows", got)
	}
}

func TestShortIdle(t *testing.T) {
	r := virginia(t)
	for _, tt := range []struct {
		name           string
		rates          price.Rates
		size, snapshot int
		idle           sandbox.Seconds
		want           bool
	}{
		{"never suspended", r, 2048, 919, 0, false},
		{"a second less than it takes", r, 2048, 919, 140, true},
		{"what it takes", r, 2048, 919, 141, false},
		{"a small one with a large snapshot", r, 512, 446, 272, true},
		{"the same, waiting longer", r, 512, 446, 273, false},
		{"not measured", r, 2048, 0, 149, true},
		{"not measured, and long enough for most", r, 2048, 0, 150, false},
		{"no price", price.Rates{}, 2048, 919, 149, true},
		{"no price, and long enough for most", price.Rates{}, 2048, 919, 150, false},
		{"no size", r, 0, 919, 149, true},
		{"just below what it takes", price.Rates{VCPU: 1, GB: 1, Write: 20, Read: 10}, 2048, 1000, 9, true},
		{"to the second what it takes", price.Rates{VCPU: 1, GB: 1, Write: 20, Read: 10}, 2048, 1000, 10, false},
		{"a very long time", r, 2048, 919, math.MaxInt64, false},
	} {
		if got := price.ShortIdle(tt.idle, tt.rates, price.Plan{SizeMiB: tt.size, SnapshotMGB: tt.snapshot}); got != tt.want {
			t.Errorf("%s: ShortIdle(%d s) = %t, want %t", tt.name, tt.idle, got, tt.want)
		}
	}
}

func TestStale(t *testing.T) {
	r := price.Rates{Sourced: day}
	for _, tt := range []struct {
		after time.Duration
		days  int
		stale bool
	}{
		{-time.Hour, 0, false},
		{0, 0, false},
		{36 * time.Hour, 1, false},
		{90 * 24 * time.Hour, 90, false},
		{90*24*time.Hour + 1, 90, true},
		{91 * 24 * time.Hour, 91, true},
	} {
		now := day.Add(tt.after)
		if r.Stale(now) != tt.stale || r.Days(now) != tt.days {
			t.Errorf("after %v: stale is %t, %d days, want %t, %d", tt.after, r.Stale(now), r.Days(now), tt.stale, tt.days)
		}
	}
}
