package agent

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	readyEscape   = 300 * time.Second // since the start; a broken kernel must not hang a build
	validateLimit = 90 * time.Second
	quiesceIn     = 2 * time.Second
	probeIn       = 12 * time.Second
	endAfter      = 50 * time.Millisecond

	// The watchdog counts its own ticks, so that time spent frozen, where
	// clocks may jump, doesn't count.
	watchTick  = time.Second
	watchTicks = 20
)

// ready holds a build up until the default kernel is warm.
func (h *hooks) ready(context.Context, *http.Request) hookAnswer {
	outcome := ""
	switch {
	case h.s.cfg.NoKernel || h.s.kernels.ready():
	case h.s.clock.Since(h.s.started) >= readyEscape:
		outcome = "ready_escape"
	default:
		return hookAnswer{Outcome: "kernel_warming", status: http.StatusServiceUnavailable}
	}
	entered := h.enter(phaseReady, phaseBooting)
	if outcome == "" {
		outcome = entered
	}
	return hookAnswer{Outcome: outcome}
}

// validate has the kernel do typical work, so that the platform learns which
// memory a sandbox needs first.
func (h *hooks) validate(_ context.Context, r *http.Request) hookAnswer {
	if h.sandboxed(r) {
		return hookAnswer{Outcome: "peer_refused"}
	}
	if h.s.cfg.NoKernel {
		return hookAnswer{Outcome: "validate_skipped"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.validity == "" {
		h.validity = "validating"
		h.work.Go(h.warm)
	}
	a := hookAnswer{Outcome: h.validity}
	if a.Outcome == "validating" {
		a.status = http.StatusServiceUnavailable
	}
	return a
}

func (h *hooks) warm() {
	ctx, cancel := context.WithTimeout(h.ctx, validateLimit)
	defer cancel()
	outcome := "validated"
	if err := h.s.kernels.warm(ctx); err != nil {
		h.s.log.Warn("kernel validation failed", "err", err)
		outcome = "validate_failed"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.validity = outcome
}

// run brings the sandbox its id and the client's payload. The first call
// counts, whatever it holds.
func (h *hooks) run(_ context.Context, r *http.Request) hookAnswer {
	if h.sandboxed(r) {
		return hookAnswer{Outcome: "peer_refused"}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxHookBody+1))
	if err != nil || len(body) > maxHookBody {
		body = nil
	}
	h.mu.Lock()
	if h.ran {
		h.anomalies++
		h.mu.Unlock()
		return hookAnswer{Outcome: "already_ran"}
	}
	h.mu.Unlock()
	if h.enter(phaseRunning, phaseBooting, phaseReady) != "changed" {
		return hookAnswer{Outcome: "illegal"}
	}
	se := parseRunBody(body)
	h.s.session.Store(se)
	h.mu.Lock()
	h.ran, h.rotating = true, true
	h.mu.Unlock()
	terms := se.terms()
	h.s.life.begin(terms.lifecycle)
	h.work.Go(func() { h.rotate(terms.envs) })
	if se.payload == nil {
		return hookAnswer{Outcome: "tokenless"}
	}
	return hookAnswer{Outcome: "installed"}
}

// parseRunBody takes what it can of the body of a run hook.
func parseRunBody(body []byte) *session {
	var w struct {
		ID      string `json:"microvmId"`
		Payload string `json:"runHookPayload"`
	}
	if json.Unmarshal(body, &w) != nil || len(w.ID) > maxSandboxID {
		return &session{}
	}
	se := &session{id: w.ID}
	if p, err := parseRunPayload(w.Payload); err == nil {
		se.payload = p
	}
	return se
}

// maxSandboxID is the platform's limit.
const maxSandboxID = 256

// rotate makes kernels that no other sandbox shares its state with.
func (h *hooks) rotate(env map[string]string) {
	if err := h.s.kernels.rotate(h.ctx, env); err != nil {
		h.s.log.Warn("kernel rotation failed", "err", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rotating = false
}

// suspend prepares for a freeze.
func (h *hooks) suspend(ctx context.Context, r *http.Request) hookAnswer {
	h.sandboxed(r)
	outcome := h.enter(phaseSuspending, phaseRunning, phaseResumed)
	none := 0
	if outcome != "changed" {
		return hookAnswer{Outcome: outcome, Streams: &none}
	}
	h.s.life.sleep()
	h.s.running.pause()
	end, cancel := context.WithTimeout(ctx, streamsEndIn)
	n := h.s.gate.close(end, closingSuspend)
	cancel()
	calm, cancel := context.WithTimeout(ctx, quiesceIn)
	if err := h.s.kernels.quiesce(calm); err != nil {
		h.s.log.Warn("kernel quiesce failed", "err", err)
	}
	cancel()
	h.syncDisks(ctx)
	h.mu.Lock()
	h.suspends++
	h.slept = h.s.clock.Now()
	h.unwatched = false
	watch, stop := context.WithCancel(h.ctx)
	h.unwatch = stop
	h.mu.Unlock()
	h.work.Go(func() { h.watch(watch) })
	return hookAnswer{Outcome: outcome, Streams: &n}
}

// syncDisks writes what is only in memory. In a jail that is nothing of ours:
// the disks there are the user's.
func (h *hooks) syncDisks(ctx context.Context) {
	if os.Geteuid() != 0 || h.s.metrics.shared {
		return
	}
	done := make(chan struct{})
	go func() {
		unix.Sync()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// watch ends a suspension that was announced and did not come.
func (h *hooks) watch(ctx context.Context) {
	tick := h.s.clock.NewTicker(watchTick)
	defer tick.Stop()
	for range watchTicks {
		select {
		case <-tick.Chan():
		case <-ctx.Done():
			return
		}
	}
	select {
	case <-h.turn:
		defer func() { h.turn <- struct{}{} }()
	case <-ctx.Done():
		return
	}
	h.mu.Lock()
	if h.phase != phaseSuspending {
		h.mu.Unlock()
		return
	}
	h.phase, h.unwatched = h.before, true
	h.mu.Unlock()
	h.wake()
	h.s.log.Warn("suspension was announced but did not come")
}

// wake lets the sandbox go on.
func (h *hooks) wake() {
	h.s.running.resume()
	if h.s.life.wake() {
		h.s.gate.shutFor(closingTimeout)
		return
	}
	h.s.gate.openFrom(closingSuspend)
}

// resume goes on after a freeze.
func (h *hooks) resume(ctx context.Context, r *http.Request) hookAnswer {
	h.sandboxed(r)
	h.mu.Lock()
	outcome, fresh := "illegal", false
	switch {
	case h.phase == phaseSuspending:
		outcome, fresh = "changed", true
	case h.unwatched && (h.phase == phaseRunning || h.phase == phaseResumed):
		outcome = "changed"
	case h.phase == phaseResumed:
		outcome = "unchanged"
	default:
		h.anomalies++
	}
	lost := h.lost
	if outcome != "changed" {
		h.mu.Unlock()
		return hookAnswer{Outcome: outcome, KernelLost: &lost}
	}
	h.phase, h.before, h.unwatched = phaseResumed, phaseResumed, false
	h.resumes++
	now := h.s.clock.Now()
	h.offset = now.Round(0).Sub(h.slept.Round(0)) - now.Sub(h.slept)
	stop := h.unwatch
	h.mu.Unlock()
	stop()
	if fresh {
		h.wake()
	}
	probe, cancel := context.WithTimeout(ctx, probeIn)
	defer cancel()
	lost = h.s.kernels.probe(probe)
	h.mu.Lock()
	h.lost = h.lost || lost
	h.mu.Unlock()
	return hookAnswer{Outcome: outcome, KernelLost: &lost}
}

// terminate ends the agent, a moment after its answer.
func (h *hooks) terminate(_ context.Context, r *http.Request) hookAnswer {
	if h.sandboxed(r) {
		return hookAnswer{Outcome: "peer_refused"}
	}
	h.mu.Lock()
	h.phase, h.before = phaseTerminating, phaseTerminating
	h.mu.Unlock()
	h.s.gate.shutFor(closingTerminate)
	h.s.clock.AfterFunc(endAfter, func() { h.s.finish(nil) })
	return hookAnswer{Outcome: "terminating"}
}
