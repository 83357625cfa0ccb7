package kernel_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/agent/kernel"
)

// BenchmarkWarm prints what a warm 1+1 costs here, and through ipykernel and
// jupyter_client in the same run.
func BenchmarkWarm(b *testing.B) {
	for _, sh := range shells {
		b.Run(sh.name, func(b *testing.B) {
			k := open(b, sh.plain)
			one := func() time.Duration {
				start := time.Now()
				if _, err := k.Execute(b.Context(), kernel.Cell{Code: "1+1"}, func(kernel.Event) error { return nil }); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			one()
			var took []time.Duration
			for b.Loop() {
				took = append(took, one())
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
	}
	b.Run("ipykernel", func(b *testing.B) {
		for b.Loop() {
			out, err := exec.Command(system, "testdata/ipykernel.py").CombinedOutput()
			if err != nil {
				b.Fatalf("ipykernel: %v: %s\nrun `make setup` (it installs python3-ipykernel)", err, out)
			}
			b.Log(strings.TrimSpace(string(out)))
		}
	})
}

// BenchmarkStart measures from nothing to the end of the first cell.
func BenchmarkStart(b *testing.B) {
	for _, sh := range shells {
		b.Run(sh.name, func(b *testing.B) {
			for b.Loop() {
				k := open(b, sh.plain)
				if _, err := k.Execute(b.Context(), kernel.Cell{Code: "1+1"}, func(kernel.Event) error { return nil }); err != nil {
					b.Fatal(err)
				}
				k.Close()
			}
		})
	}
}

// BenchmarkPrint measures output line by line.
func BenchmarkPrint(b *testing.B) {
	for _, sh := range shells {
		b.Run(sh.name, func(b *testing.B) {
			k := open(b, sh.plain)
			const code = "for i in range(20000): print('x' * 49)"
			b.SetBytes(20000 * 50)
			for b.Loop() {
				if _, err := k.Execute(b.Context(), kernel.Cell{Code: code}, func(kernel.Event) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
