package e2e

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"
)

// BenchmarkMoney measures what accounts cost: the reservations that the ledger
// takes in a second with each on the disk, asked for by one caller and by many,
// and the first page of a list of 100,000 sandboxes of the past. What the engine
// needs with its ledger open is part of [BenchmarkIdle], and what a call costs
// whose caller is looked up of [BenchmarkBridge].
func BenchmarkMoney(b *testing.B) {
	for b.Loop() {
		printFigures(moneyFigures(b))
	}
}

// Lines of benchmarks.
var (
	reserved = regexp.MustCompile(`(?m)^BenchmarkReserve/(\d+)\S*\s.*?([0-9.]+) reservations/s`)
	opened   = regexp.MustCompile(`(?m)^BenchmarkOrders/all\S*\s+\d+\s+([0-9.]+) ns/op`)
)

func moneyFigures(b *testing.B) []figure {
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark(Reserve|Orders)$", "-timeout", "15m", "github.com/arenero/arenero/app/internal/ledger").CombinedOutput()
	if err != nil {
		b.Fatalf("the ledger's own benchmarks: %v\n%s", err, out)
	}
	number := func(text []byte) float64 {
		n, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	var rows []figure
	for _, m := range reserved.FindAllSubmatch(out, -1) {
		// Their number may be larger than the goal: the time of a thousand may not.
		rows = append(rows, figure{what: "a thousand reservations, each on the disk, " + string(m[1]) + " at once", ours: 1e6 / number(m[2]), theirs: 1000, unit: "ms", goal: 1})
	}
	m := opened.FindSubmatch(out)
	if len(rows) != 2 || m == nil {
		b.Fatalf("the ledger's own benchmarks say nothing of that:\n%s", out)
	}
	return append(rows, figure{what: "first page of 100,000 past sandboxes", ours: number(m[1]) / 1e6, theirs: 100, unit: "ms", goal: 1})
}
