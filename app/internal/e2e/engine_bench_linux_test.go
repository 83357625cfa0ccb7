package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// BenchmarkEngine measures a client's calls through the engine and the local
// cloud, and what the engine needs for it.
func BenchmarkEngine(b *testing.B) {
	r := newEngineRig(b)
	lease, _ := r.hold(b, nil)
	r.run(b, lease, "true")
	ignore := func(sandbox.Output) error { return nil }
	cell := func() {
		c := sandbox.Cell{ID: uuid.NewString(), Target: sandbox.Target{Lease: lease}, Code: "1+1"}
		if _, err := r.client.RunCode(b.Context(), c, ignore); err != nil {
			b.Fatal(err)
		}
	}
	cell()
	b.Run("warm run_command true", func(b *testing.B) {
		middle(b, func() { r.run(b, lease, "true") })
	})
	b.Run("warm run_code 1+1", func(b *testing.B) {
		middle(b, cell)
	})
	b.Run("first run_command", func(b *testing.B) {
		middle(b, func() {
			lease, release := r.hold(b, nil)
			r.run(b, lease, "true")
			b.StopTimer()
			release()
			b.StartTimer()
		})
	})
	b.Run("file of 64 MiB", func(b *testing.B) {
		content := strings.NewReader(strings.Repeat("x", 64<<20))
		b.SetBytes(64 << 20)
		for b.Loop() {
			content.Seek(0, 0)
			at := sandbox.FileRequest{Target: sandbox.Target{Lease: lease}, Path: "big"}
			if _, err := r.client.WriteFile(b.Context(), at, nil, content); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(resident(b, r.enginePID(b)))/(1<<20), "engine-MiB")
	})
}

// middle runs do again and again, and reports how long it takes in the median.
func middle(b *testing.B, do func()) {
	var took []time.Duration
	for b.Loop() {
		begin := time.Now()
		do()
		took = append(took, time.Since(begin))
	}
	b.ReportMetric(millis(median(took)), "p50-ms")
}

// resident is the memory that a process has, in bytes.
func resident(b *testing.B, pid int) int {
	b.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.Fatal(err)
	}
	return pages * os.Getpagesize()
}
