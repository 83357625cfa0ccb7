package agent

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	hookPath    = "/aws/lambda-microvms/runtime/v1/"
	maxHookBody = 64 << 10

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

// hookBudgets are four fifths of what the image asks the platform for.
var hookBudgets = map[string]time.Duration{
	"ready": 480 * time.Second, "validate": 480 * time.Second,
	"run": 24 * time.Second, "suspend": 24 * time.Second, "resume": 24 * time.Second,
	"terminate": 8 * time.Second,
}

// hooks is what the platform calls. It takes one call at a time, and answers
// 200 whatever happens, except where a build has to wait: any other status
// would cost the sandbox its life.
type hooks struct {
	s      *Server
	turn   chan struct{} // has a value while no hook runs
	work   sync.WaitGroup
	ctx    context.Context // of work that outlives its hook
	cancel context.CancelFunc

	mu        sync.Mutex // guards what follows
	phase     phase
	before    phase // the last one that was not suspending
	ran       bool
	rotating  bool
	lost      bool
	anomalies uint64
	suspends  uint64
	resumes   uint64
	offset    time.Duration
	slept     time.Time
	unwatched bool               // the watchdog has ended the suspension
	unwatch   context.CancelFunc // of the watchdog
	validity  string             // outcome of validate; empty before it
}

// A hookAnswer is what a hook says. Only its status matters to the platform.
type hookAnswer struct {
	Hook       string `json:"hook"`
	Outcome    string `json:"outcome"`
	Phase      phase  `json:"phase"`
	Suspends   uint64 `json:"suspend_generation"`
	Resumes    uint64 `json:"resume_generation"`
	Streams    *int   `json:"streams_closed,omitempty"`
	KernelLost *bool  `json:"kernel_state_lost,omitempty"`

	status int
}

// A hookReport is what Health tells of the hooks.
type hookReport struct {
	rotating, lost     bool
	anomalies, resumes uint64
	offset             time.Duration
}

func newHooks(s *Server) *hooks {
	h := &hooks{s: s, turn: make(chan struct{}, 1), phase: phaseBooting, before: phaseBooting}
	h.turn <- struct{}{}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

func (h *hooks) report() hookReport {
	h.mu.Lock()
	defer h.mu.Unlock()
	return hookReport{h.rotating, h.lost, h.anomalies, h.resumes, h.offset}
}

// close ends the hook that runs, if any, and the work of those that have
// answered. No hook runs afterwards.
func (h *hooks) close() {
	h.cancel()
	<-h.turn
	h.work.Wait()
}

// peerKey is the context key of who made the connection.
type peerKey struct{}

// server is the HTTP side. A connection serves one call, since one kept over a
// suspension would break at the wrong moment.
func (h *hooks) server() *http.Server {
	mux := http.NewServeMux()
	for name, f := range map[string]func(context.Context, *http.Request) hookAnswer{
		"ready": h.ready, "validate": h.validate, "run": h.run,
		"suspend": h.suspend, "resume": h.resume, "terminate": h.terminate,
	} {
		mux.HandleFunc("POST "+hookPath+name, func(w http.ResponseWriter, r *http.Request) {
			h.answer(w, r, name, f)
		})
	}
	srv := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // stray bytes are nothing to tell
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, h.fromSandbox(c))
		},
	}
	srv.SetKeepAlivesEnabled(false)
	return srv
}

// fromSandbox reports whether a connection was made by a user of the sandbox,
// or by who can't be told.
func (h *hooks) fromSandbox(c net.Conn) bool {
	if h.s.cfg.Platform != nil && h.s.cfg.Platform(c) {
		return false
	}
	uid, err := peerUID(c)
	if os.IsNotExist(err) || os.IsPermission(err) {
		return false // a system without that table: there is nothing to go by
	}
	return err != nil || uid >= minUserID && uid <= maxUserID
}

// answer runs one hook within its budget.
func (h *hooks) answer(w http.ResponseWriter, r *http.Request, name string, f func(context.Context, *http.Request) hookAnswer) {
	// The caller may go: what it asked for is done all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), hookBudgets[name])
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	a := hookAnswer{Outcome: "budget_exceeded"}
	select {
	case <-h.turn:
		a = f(ctx, r)
		h.turn <- struct{}{}
		if ctx.Err() != nil {
			a.Outcome = "budget_exceeded"
		}
	case <-ctx.Done():
	}
	h.mu.Lock()
	a.Hook, a.Phase, a.Suspends, a.Resumes = name, h.phase, h.suspends, h.resumes
	h.mu.Unlock()
	if a.status == 0 {
		a.status = http.StatusOK
	}
	h.s.log.Info("hook", "hook", name, "outcome", a.Outcome, "phase", string(a.Phase))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	json.NewEncoder(w).Encode(a)
}

// sandboxed reports whether the hook was called from inside, and counts that.
func (h *hooks) sandboxed(r *http.Request) bool {
	from, _ := r.Context().Value(peerKey{}).(bool)
	if from {
		h.anomaly()
	}
	return from
}

func (h *hooks) anomaly() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.anomalies++
}

// enter moves to a phase from one of those given. It answers how that went.
func (h *hooks) enter(to phase, from ...phase) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.phase == to {
		return "unchanged"
	}
	for _, p := range from {
		if h.phase == p {
			h.phase = to
			if to != phaseSuspending {
				h.before = to
			}
			return "changed"
		}
	}
	h.anomalies++
	return "illegal"
}

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
