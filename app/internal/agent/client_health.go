package agent

import (
	"context"
	"time"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// Health is how a sandbox is. Asking for it wakes a sleeping one, and keeps
// one from falling asleep.
type Health struct {
	AgentReady      bool
	KernelReady     bool
	Version         string
	SandboxID       string // "" until the sandbox has been told what it is for
	Uptime          time.Duration
	Generation      uint64 // of resumes
	ClockOffset     time.Duration
	KernelStateLost bool
	MetadataBlocked bool // the service of the cloud that hands out credentials
	HookAnomalies   uint64
	Metadata        map[string]string
	CPUs            int
	Memory          uint64        // bytes
	Deadline        *DeadlineInfo // nil: an old agent
}

// Ready reports whether the sandbox may be used. An agent can be well before
// it is told its id: then it answers from the snapshot it was made of.
func (h *Health) Ready() bool { return h.AgentReady && h.KernelReady && h.SandboxID != "" }

// DeadlineInfo is when the agent ends the sandbox by itself.
type DeadlineInfo struct {
	Managed bool
	At, Cap time.Time // zero when unmanaged
	Pause   bool      // sleep at the end, and not end
	Expired bool
}

func deadlineFromWire(l *agentpb.LifecycleState) *DeadlineInfo {
	if l == nil {
		return nil
	}
	d := &DeadlineInfo{
		Managed: l.GetDeadlineUnixMs() != 0,
		Pause:   l.GetOnTimeout() == agentpb.TimeoutAction_TIMEOUT_ACTION_PAUSE,
		Expired: l.GetPhase() == agentpb.LifecyclePhase_LIFECYCLE_PHASE_EXPIRED,
	}
	if d.Managed {
		d.At, d.Cap = time.UnixMilli(l.GetDeadlineUnixMs()), time.UnixMilli(l.GetCapUnixMs())
	}
	return d
}

// healthWithin bounds one question, since a proxy may hold it.
const healthWithin = 10 * time.Second

// healthOnce asks once.
func (c *Client) healthOnce(ctx context.Context) (*Health, error) {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	f := &facts{}
	out, err := c.outgoing(ctx, f)
	if err != nil {
		return nil, err
	}
	res, err := c.health.Health(out, &agentpb.HealthRequest{})
	if err != nil && judge(ctx, err, f) == verdictRemint {
		c.tokens.reject(f.jwe)
		f = &facts{}
		if out, err = c.outgoing(ctx, f); err != nil {
			return nil, err
		}
		res, err = c.health.Health(out, &agentpb.HealthRequest{})
	}
	if err != nil {
		return nil, translate(err, f)
	}
	return &Health{
		AgentReady:      res.GetAgentReady(),
		KernelReady:     res.GetKernelReady(),
		Version:         res.GetAgentVersion(),
		SandboxID:       res.GetSandboxId(),
		Uptime:          time.Duration(res.GetUptimeMs()) * time.Millisecond,
		Generation:      res.GetResumeGeneration(),
		ClockOffset:     time.Duration(res.GetClockOffsetMs()) * time.Millisecond,
		KernelStateLost: res.GetKernelStateLost(),
		MetadataBlocked: res.GetImdsBlocked(),
		HookAnomalies:   res.GetHookAnomalies(),
		Metadata:        res.GetMetadata(),
		CPUs:            int(res.GetCpuCount()),
		Memory:          res.GetMemoryTotalBytes(),
		Deadline:        deadlineFromWire(res.GetLifecycle()),
	}, nil
}

// Health asks how the sandbox is, once.
func (c *Client) Health(ctx context.Context) (*Health, error) { return c.healthOnce(ctx) }

// WaitReady asks until the sandbox may be used or ctx is done: at once, then
// after a quarter of a second, and less and less often. It gives up on a
// sandbox that has ended.
func (c *Client) WaitReady(ctx context.Context) (*Health, error) {
	var asked time.Time
	for delay := 250 * time.Millisecond; ; delay = min(2*delay, 2*time.Second) {
		h, err := c.healthOnce(ctx)
		if err == nil && h.Ready() {
			return h, nil
		}
		if ctx.Err() != nil {
			return nil, &Error{Code: CodeTimeout, Msg: "the sandbox did not get ready", Retryable: true, Err: err}
		}
		if code := CodeOf(err); code == CodeGone || code == CodeExpired {
			return nil, err
		}
		if c.cfg.Life != nil && c.clock.Since(asked) >= lifeEvery {
			asked = c.clock.Now()
			if life, _ := c.cfg.Life(ctx); life == Gone {
				return nil, &Error{Code: CodeGone, Msg: "the sandbox has ended", Err: err}
			}
		}
		c.short.ResetConnectBackoff()
		if err := c.pause(ctx, delay); err != nil {
			return nil, &Error{Code: CodeTimeout, Msg: "the sandbox did not get ready", Retryable: true, Err: err}
		}
	}
}

// Metrics are what a sandbox uses.
type Metrics struct {
	At                 time.Time
	CPUPercent         float64 // of all processors together
	CPUs               int
	MemoryUsed, Memory uint64
	MemoryCache        uint64
	DiskUsed, Disk     uint64
}

// Metrics asks what the sandbox uses now.
func (c *Client) Metrics(ctx context.Context) (Metrics, error) {
	m, _, err := call(ctx, c, true, c.health.Metrics, &agentpb.MetricsRequest{})
	if err != nil {
		return Metrics{}, err
	}
	return Metrics{
		At: time.UnixMilli(m.GetTimestampUnixMs()), CPUPercent: m.GetCpuUsedPct(), CPUs: int(m.GetCpuCount()),
		MemoryUsed: m.GetMemUsedBytes(), Memory: m.GetMemTotalBytes(), MemoryCache: m.GetMemCacheBytes(),
		DiskUsed: m.GetDiskUsedBytes(), Disk: m.GetDiskTotalBytes(),
	}, nil
}

// SetTimeout gives a managed sandbox d from now. With atLeast it never takes
// time away.
func (c *Client) SetTimeout(ctx context.Context, d time.Duration, atLeast bool) (*DeadlineInfo, error) {
	req := &agentpb.SetTimeoutRequest{TimeoutMs: uint64(d.Milliseconds()), Mode: agentpb.TimeoutMode_TIMEOUT_MODE_EXACT}
	if atLeast {
		req.Mode = agentpb.TimeoutMode_TIMEOUT_MODE_AT_LEAST
	}
	state, _, err := call(ctx, c, true, c.life.SetTimeout, req)
	if err != nil {
		return nil, err
	}
	return deadlineFromWire(state), nil
}
