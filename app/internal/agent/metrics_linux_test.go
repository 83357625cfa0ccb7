package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

func TestMetrics(t *testing.T) {
	for name, limit := range map[string]uint64{"machine": 0, "jail": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { c.Memory, c.CPUs = limit, 3 }).run(nil)
			m, err := agentpb.NewHealthServiceClient(r.conn).Metrics(r.ctx(), &agentpb.MetricsRequest{})
			if err != nil {
				t.Fatal(err)
			}
			if m.GetCpuUsedPct() < 0 || m.GetCpuUsedPct() > 100 || m.GetMemUsedBytes() == 0 || m.GetMemTotalBytes() == 0 ||
				limit > 0 && m.GetMemTotalBytes() != limit || m.GetDiskTotalBytes() < m.GetDiskUsedBytes() ||
				m.GetDiskTotalBytes() == 0 || m.GetCpuCount() != 3 || m.GetTimestampUnixMs() == 0 {
				t.Errorf("metrics = %v", m)
			}
		})
	}
}

func TestMetricsHistory(t *testing.T) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(nil)
	for i := range 6 {
		if err := clock.BlockUntilContext(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		clock.Advance(historyEvery)
		eventually(t, "the sample", func() bool { return len(r.s.metrics.history()) == i+1 })
	}
	now := clock.Now().UnixMilli()
	const step = int64(historyEvery / time.Millisecond)
	for _, tt := range []struct {
		name string
		req  *agentpb.MetricsHistoryRequest
		want []int64 // steps before now
		code codes.Code
	}{
		{"all", &agentpb.MetricsHistoryRequest{}, []int64{5, 4, 3, 2, 1, 0}, codes.OK},
		{"some", &agentpb.MetricsHistoryRequest{StartUnixMs: now - 3*step, EndUnixMs: now - step}, []int64{3, 2, 1}, codes.OK},
		{"thinned", &agentpb.MetricsHistoryRequest{MaxPoints: 2}, []int64{3, 0}, codes.OK},
		{"no need to thin", &agentpb.MetricsHistoryRequest{MaxPoints: 100}, []int64{5, 4, 3, 2, 1, 0}, codes.OK},
		{"later", &agentpb.MetricsHistoryRequest{StartUnixMs: now + 1}, nil, codes.OK},
		{"negative", &agentpb.MetricsHistoryRequest{StartUnixMs: -1}, nil, codes.InvalidArgument},
		{"backwards", &agentpb.MetricsHistoryRequest{StartUnixMs: 2, EndUnixMs: 1}, nil, codes.InvalidArgument},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res, err := agentpb.NewHealthServiceClient(r.conn).MetricsHistory(r.ctx(), tt.req)
			wantCode(t, err, tt.code)
			var got []int64
			for _, m := range res.GetSamples() {
				got = append(got, (now-m.GetTimestampUnixMs())/step)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("samples = %v, want %v", got, tt.want)
			}
			if err == nil && res.GetOldestUnixMs() != now-5*step {
				t.Errorf("oldest = %d", res.GetOldestUnixMs())
			}
		})
	}
}
