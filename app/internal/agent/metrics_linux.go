package agent

import (
	"bytes"
	"context"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	historyEvery = 5 * time.Second // of running time
	historyLen   = 5760            // eight hours
)

// metrics measures the sandbox. In a jail /proc tells of the whole computer,
// so there, which is where limits are given, its processes are added up.
type metrics struct {
	cpus   int
	limit  uint64 // of memory; 0: none was given
	home   string
	shared bool // the system is not ours alone

	mu     sync.Mutex // guards what follows
	points []*agentpb.MetricsResponse
}

// A cpuTime is how long the processors have worked, in ticks, of how many.
type cpuTime struct{ busy, total float64 }

func newMetrics(cfg *Config) *metrics {
	m := &metrics{cpus: cfg.CPUs, limit: cfg.Memory, home: cfg.Home, shared: cfg.Memory > 0}
	if m.cpus == 0 {
		m.cpus = runtime.NumCPU()
	}
	return m
}

// sample keeps a measurement for every few seconds of running time.
func (m *metrics) sample(ctx context.Context, c *runClock) {
	before := m.cpu()
	for {
		due, stop := c.after(historyEvery)
		select {
		case <-due:
		case <-ctx.Done():
			stop()
			return
		}
		p := m.measure(before, c.base.Now())
		before = m.cpu()
		m.mu.Lock()
		if len(m.points) == historyLen {
			m.points = slices.Delete(m.points, 0, 1)
		}
		m.points = append(m.points, p)
		m.mu.Unlock()
	}
}

func (m *metrics) history() []*agentpb.MetricsResponse {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.points)
}

// thin leaves n points, each the last of its stretch with the mean of its
// processor use. 0 leaves all.
func thin(points []*agentpb.MetricsResponse, n int) []*agentpb.MetricsResponse {
	if n <= 0 || len(points) <= n {
		return points
	}
	out := make([]*agentpb.MetricsResponse, 0, n)
	for i := range n {
		stretch := points[i*len(points)/n : (i+1)*len(points)/n]
		p := proto.CloneOf(stretch[len(stretch)-1])
		p.CpuUsedPct = 0
		for _, q := range stretch {
			p.CpuUsedPct += q.GetCpuUsedPct() / float64(len(stretch))
		}
		out = append(out, p)
	}
	return out
}

// measure tells of now, and of the processors since before.
func (m *metrics) measure(before cpuTime, now time.Time) *agentpb.MetricsResponse {
	p := &agentpb.MetricsResponse{CpuCount: uint32(m.cpus), TimestampUnixMs: now.UnixMilli()}
	after := m.cpu()
	if d := after.total - before.total; d > 0 {
		p.CpuUsedPct = min(100, max(0, 100*(after.busy-before.busy)/d))
	}
	info := readMeminfo()
	if m.shared {
		p.MemTotalBytes, p.MemUsedBytes = m.limit, m.residents()
	} else {
		p.MemTotalBytes, p.MemCacheBytes = info["MemTotal"], info["Cached"]
		p.MemUsedBytes = info["MemTotal"] - min(info["MemAvailable"], info["MemTotal"])
	}
	p.DiskTotalBytes, p.DiskUsedBytes = m.disk()
	return p
}

// memory is how much there is.
func (m *metrics) memory() uint64 {
	if m.limit > 0 {
		return m.limit
	}
	return readMeminfo()["MemTotal"]
}

// disk is the size and use of the root, or of the home where that is the only
// thing to write to.
func (m *metrics) disk() (total, used uint64) {
	dir := "/"
	if m.shared {
		dir = m.home
	}
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, 0
	}
	size := uint64(st.Bsize)
	return st.Blocks * size, (st.Blocks - st.Bfree) * size
}

// ticksPerSecond is what Linux tells programs, whatever it uses itself.
const ticksPerSecond = 100

// cpu reads how much the processors have done.
func (m *metrics) cpu() cpuTime {
	if m.shared {
		return m.cpuOfProcesses()
	}
	data, _ := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(data, []byte("\n"))
	var t cpuTime
	for i, f := range bytes.Fields(line) {
		n, err := strconv.ParseFloat(string(f), 64)
		// Guest time, from the ninth on, is in the first two already.
		if i == 0 || i > 8 || err != nil {
			continue
		}
		t.total += n
		if i != 4 && i != 5 { // idle, waiting for a disk
			t.busy += n
		}
	}
	return t
}

// cpuOfProcesses adds up the living, with the children they have waited for.
func (m *metrics) cpuOfProcesses() cpuTime {
	var t cpuTime
	var up unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &up) == nil {
		t.total = float64(up.Nano()) / float64(time.Second) * ticksPerSecond * float64(m.cpus)
	}
	for _, p := range readProcs() {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/stat")
		if err != nil {
			continue
		}
		f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		for i := 11; i < 15 && i < len(f); i++ {
			n, _ := strconv.ParseFloat(string(f[i]), 64)
			t.busy += n
		}
	}
	return t
}

// residents adds up the memory that processes share with nobody.
func (m *metrics) residents() uint64 {
	pages := uint64(0)
	for _, p := range readProcs() {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/statm")
		if err != nil {
			continue
		}
		f := bytes.Fields(data)
		if len(f) < 3 {
			continue
		}
		resident, _ := strconv.ParseUint(string(f[1]), 10, 64)
		shared, _ := strconv.ParseUint(string(f[2]), 10, 64)
		pages += resident - min(shared, resident)
	}
	return pages * uint64(os.Getpagesize())
}

// readMeminfo reads /proc/meminfo, in bytes.
func readMeminfo() map[string]uint64 {
	data, _ := os.ReadFile("/proc/meminfo")
	info := map[string]uint64{}
	for line := range bytes.Lines(data) {
		f := bytes.Fields(line)
		if len(f) < 2 {
			continue
		}
		if n, err := strconv.ParseUint(string(f[1]), 10, 64); err == nil && n < math.MaxUint64>>10 {
			info[string(bytes.TrimSuffix(f[0], []byte(":")))] = n << 10
		}
	}
	return info
}
