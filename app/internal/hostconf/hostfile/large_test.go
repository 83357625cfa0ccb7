package hostfile_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

func init() { children["large"] = childLarge }

// writeLarge makes a file of about that many bytes, as a host does that keeps
// its history in its settings.
func writeLarge(t testing.TB, path string, size int) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	n, _ := fmt.Fprintf(w, "{\n  \"numStartups\": 12345678901234567890,\n  \"mcpServers\": {\n    \"fs\": {\"command\": \"fs\"}\n  },\n  \"projects\": {")
	for i := 0; n < size; i++ {
		sep := ","
		if i == 0 {
			sep = ""
		}
		m, _ := fmt.Fprintf(w, "%s\n    \"/home/someone/project-%d\": {\"history\": [{\"display\": \"%s\", \"pasted\": {\"a\\u00f1o\": [1.50, -2e3, null, true]}}], \"allowed\": []}", sep, i, strings.Repeat("some words that were typed, ", 40))
		n += m
	}
	fmt.Fprint(w, "\n  }\n}\n")
	must(t, w.Flush())
	must(t, f.Close())
}

// childLarge changes a file and says what that took.
func childLarge(j task) (answer, error) {
	s, err := hostfile.Open(hostfile.Options{Dir: j.Dir, Settle: -1})
	if err != nil {
		return answer{}, err
	}
	start := time.Now()
	r := install(j.Path)
	r.Verify = nil // Set has parsed all of it twice
	res, err := s.Change(context.Background(), r)
	took := time.Since(start)
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	res.Patches = nil
	return answer{Result: res, Took: took, Sys: int64(mem.Sys), Peak: peak()}, err
}

// peak is the most memory this process ever had, or 0 where that is not told.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err == nil {
				return kb << 10
			}
		}
	}
	return 0
}

// changeLarge has a process of its own install our entry, and checks every byte.
func changeLarge(t testing.TB, size int) (answer, int64) {
	t.Helper()
	dir := t.TempDir()
	path, before := filepath.Join(dir, "large.json"), filepath.Join(dir, "before.json")
	writeLarge(t, path, size)
	writeLarge(t, before, size)
	info, err := os.Stat(path)
	must(t, err)
	a, ok := task{Do: "large", Dir: filepath.Join(dir, "state"), Path: path}.run(t)
	if !ok || a.Err != "" || !a.Result.Changed {
		t.Fatalf("answer = %+v", a)
	}
	// The head, where the servers are, has our entry; all that follows is as it was.
	const head = 64 << 10
	old, err := os.Open(before)
	must(t, err)
	defer old.Close()
	now, err := os.Open(path)
	must(t, err)
	defer now.Close()
	start := make([]byte, head)
	_, err = io.ReadFull(old, start)
	must(t, err)
	cut := bytes.LastIndexByte(start, '\n') + 1
	ps, err := edit.Set(append(start[:cut:cut], "\"end\": {}}}"...), edit.JSON, place, entry("c_one"))
	must(t, err)
	want := bytes.TrimSuffix(ps.Patches.Apply(append(start[:cut:cut], "\"end\": {}}}"...)), []byte("\"end\": {}}}"))
	got := make([]byte, len(want))
	_, err = io.ReadFull(now, got)
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Fatal("the head is not the old one with our entry")
	}
	_, err = old.Seek(int64(cut), io.SeekStart)
	must(t, err)
	a1, b1 := bufio.NewReaderSize(old, 1<<20), bufio.NewReaderSize(now, 1<<20)
	for {
		x, errX := a1.ReadSlice('\n')
		y, errY := b1.ReadSlice('\n')
		if !bytes.Equal(x, y) || errX != errY {
			t.Fatal("bytes of others have changed")
		}
		if errX == io.EOF {
			return a, info.Size()
		}
		must(t, errX)
	}
}

// TestLargeFile: the memory that a change takes stays below twice the file.
func TestLargeFile(t *testing.T) {
	bytes := 64 << 20
	if racing {
		bytes /= 2 // each takes many times as long
	}
	a, size := changeLarge(t, bytes)
	per := 100e6 / float64(size)
	t.Logf("%d MB: %.2f s for 100 MB, %.2f s of them at work; the process had %d MB at most, %.2f of the file; Go had %d MB",
		size>>20, a.Took.Seconds()*per, a.CPU.Seconds()*per, a.Peak>>20, float64(a.Peak)/float64(size), a.Sys>>20)
	const room = 16 << 20 // for a program that does nothing
	if a.Sys > 2*size+room {
		t.Errorf("Go had %d bytes for a file of %d", a.Sys, size)
	}
	if !racing && a.Peak > 2*size+room {
		t.Errorf("the process had %d bytes for a file of %d", a.Peak, size)
	}
}

// BenchmarkHugeFile changes a file of 200 MB. The goals are 2 s for 100 MB and
// a peak below twice the file.
func BenchmarkHugeFile(b *testing.B) {
	var took, cpu time.Duration
	var ratio, size float64
	for b.Loop() {
		a, n := changeLarge(b, 200_000_000)
		took += a.Took
		cpu += a.CPU
		ratio, size = max(ratio, float64(a.Peak)/float64(n)), float64(n)
	}
	b.ReportMetric(took.Seconds()/float64(b.N)*100e6/size, "s/100MB")
	b.ReportMetric(cpu.Seconds()/float64(b.N)*100e6/size, "cpu-s/100MB")
	b.ReportMetric(ratio, "peak/file")
}
