package price_test

import (
	"fmt"
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
