package agent

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A healthService is the HealthService.
type healthService struct {
	agentpb.UnimplementedHealthServiceServer
	s *Server
}

// Health tells how the sandbox is. It always answers.
func (v *healthService) Health(context.Context, *agentpb.HealthRequest) (*agentpb.HealthResponse, error) {
	s := v.s
	h := s.hooks.report()
	res := &agentpb.HealthResponse{
		// Nothing here can keep traffic in. A sandbox that asks for it never
		// gets ready, so nobody trusts it by mistake.
		AgentReady:        !s.session.Load().terms().enforce,
		KernelReady:       s.kernels.ready() && !h.rotating,
		AgentVersion:      Version,
		UptimeMs:          uint64(s.clock.Since(s.started).Milliseconds()),
		ResumeGeneration:  h.resumes,
		ClockOffsetMs:     h.offset.Milliseconds(),
		KernelStateLost:   h.lost,
		HookAnomalies:     h.anomalies,
		Lifecycle:         s.life.state(),
		EgressEnforcement: agentpb.EgressEnforcement_EGRESS_ENFORCEMENT_NONE,
		CpuCount:          uint32(s.metrics.cpus),
		MemoryTotalBytes:  s.metrics.memory(),
		Features:          &agentpb.AgentFeatures{},
	}
	if se := s.session.Load(); se != nil {
		res.SandboxId = se.id
		res.Metadata = se.terms().metadata
	}
	return res, nil
}

// Metrics measures now.
func (v *healthService) Metrics(ctx context.Context, _ *agentpb.MetricsRequest) (*agentpb.MetricsResponse, error) {
	before := v.s.metrics.cpu()
	select {
	case <-v.s.clock.After(cpuSample):
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	return v.s.metrics.measure(before, v.s.clock.Now()), nil
}

// cpuSample is how long Metrics watches the processors.
const cpuSample = 100 * time.Millisecond

// MetricsHistory tells what was measured before.
func (v *healthService) MetricsHistory(_ context.Context, req *agentpb.MetricsHistoryRequest) (*agentpb.MetricsHistoryResponse, error) {
	start, end := req.GetStartUnixMs(), req.GetEndUnixMs()
	if start < 0 || end < 0 || end != 0 && start > end {
		return nil, status.Error(codes.InvalidArgument, "the times are negative or in the wrong order")
	}
	all := v.s.metrics.history()
	res := &agentpb.MetricsHistoryResponse{}
	if len(all) > 0 {
		res.OldestUnixMs = all[0].GetTimestampUnixMs()
	}
	for _, m := range all {
		if t := m.GetTimestampUnixMs(); t >= start && (end == 0 || t <= end) {
			res.Samples = append(res.Samples, m)
		}
	}
	res.Samples = thin(res.Samples, int(req.GetMaxPoints()))
	return res, nil
}
