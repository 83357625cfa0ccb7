package ledger_test

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

// BenchmarkReserve says how many reservations a second are on the disk, asked
// for by one caller and by 64 at once, and how many bytes each takes in the file.
func BenchmarkReserve(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			r := newRig(b)
			g := r.grant("agent", 1<<40)
			var next atomic.Int64
			b.ResetTimer()
			var wg sync.WaitGroup
			for range callers {
				wg.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						w := want(order(fmt.Sprintf("sbx-%012d", n), g.ID, 100))
						w.Tool, w.Key, w.Hash = "create_sandbox", fmt.Sprintf("key-%012d", n), "f1b5a3c8d2e4f60718293a4b5c6d7e8f"
						if _, err := r.Reserve(r.ctx(), w); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reservations/s")
			r.must(r.Close())
			info, err := os.Stat(r.path)
			r.must(err)
			b.ReportMetric(float64(info.Size())/float64(b.N), "bytes/reservation")
		})
	}
}

// BenchmarkPut writes the small records that need not be on the disk at once.
func BenchmarkPut(b *testing.B) {
	r := newRig(b)
	for i := range b.N {
		r.must(r.Put("run", fmt.Sprint(i%50), []byte(`{"id":"x","place":{"pid":1}}`), false))
	}
}

// BenchmarkOrders reads the first page of 100,000 orders, of all and of a grant.
func BenchmarkOrders(b *testing.B) {
	r := newRig(b)
	g := r.grant("agent", -1)
	fill(r, g.ID, 100_000)
	for name, ask := range map[string]sandbox.OrderQuery{
		"all": {}, "grant": {Grant: g.ID}, "rare": {Grant: sandbox.GrantOwner}, "open": {Open: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := r.Orders(r.ctx(), ask); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// fill adds orders that have ended, all at once.
func fill(r *rig, grant string, n int) {
	r.t.Helper()
	var wg sync.WaitGroup
	var next atomic.Int64
	for range 256 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				id := fmt.Sprintf("sbx-%012d", i)
				_, err := r.Reserve(r.ctx(), want(order(id, grant, 100)))
				if err == nil {
					err = r.Release(r.ctx(), id, sandbox.EndFailed)
				}
				if err != nil {
					r.t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
