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
)

const (
	hookPath    = "/aws/lambda-microvms/runtime/v1/"
	maxHookBody = 64 << 10
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
	if h.s.cfg.Platform != nil {
		return !h.s.cfg.Platform(c)
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
