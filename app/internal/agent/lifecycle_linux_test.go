package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

const (
	active  = agentpb.LifecyclePhase_LIFECYCLE_PHASE_ACTIVE
	grace   = agentpb.LifecyclePhase_LIFECYCLE_PHASE_RESUME_GRACE
	expired = agentpb.LifecyclePhase_LIFECYCLE_PHASE_EXPIRED
	exact   = agentpb.TimeoutMode_TIMEOUT_MODE_EXACT
	atLeast = agentpb.TimeoutMode_TIMEOUT_MODE_AT_LEAST
)

func managed(t *testing.T, onTimeout string) (*rig, *clockwork.FakeClock) {
	clock := clockwork.NewFakeClock()
	r := newRig(t, func(c *Config) { c.Clock = clock }).run(map[string]any{"lifecycle": map[string]any{
		"timeout_s": 60, "cap_s": 360, "on_timeout": onTimeout, "auto_resume": false,
	}})
	return r, clock
}

func (r *rig) setTimeout(d time.Duration, m agentpb.TimeoutMode) (*agentpb.LifecycleState, error) {
	return agentpb.NewLifecycleServiceClient(r.conn).SetTimeout(r.ctx(), &agentpb.SetTimeoutRequest{
		TimeoutMs: uint64(d.Milliseconds()), Mode: m,
	})
}

func (r *rig) list() error {
	_, err := r.process().List(r.ctx(), &agentpb.ListRequest{})
	return err
}

func TestSetTimeout(t *testing.T) {
	r, clock := managed(t, "kill")
	begin := clock.Now()
	st := r.health().GetLifecycle()
	if st.GetPhase() != active || st.GetDeadlineUnixMs() != begin.Add(time.Minute).UnixMilli() ||
		st.GetCapUnixMs() != begin.Add(5*time.Minute).UnixMilli() || st.GetTimeoutMs() != 60_000 ||
		st.GetOnTimeout() != agentpb.TimeoutAction_TIMEOUT_ACTION_KILL {
		t.Errorf("state = %v", st)
	}
	for _, tt := range []struct {
		name       string
		d          time.Duration
		mode       agentpb.TimeoutMode
		code       codes.Code
		deadline   time.Duration // after begin
		extensions uint32
	}{
		{"no mode", time.Minute, 0, codes.InvalidArgument, time.Minute, 0},
		{"other mode", time.Minute, 9, codes.InvalidArgument, time.Minute, 0},
		{"too short", 999 * time.Millisecond, exact, codes.InvalidArgument, time.Minute, 0},
		{"too long", 301 * time.Second, exact, codes.InvalidArgument, time.Minute, 0},
		{"endless", 1 << 62, exact, codes.InvalidArgument, time.Minute, 0},
		{"at least less", 30 * time.Second, atLeast, codes.OK, time.Minute, 0},
		{"at least more", 90 * time.Second, atLeast, codes.OK, 90 * time.Second, 1},
		{"shorter", 30 * time.Second, exact, codes.OK, 30 * time.Second, 2},
		{"to the cap", 300 * time.Second, exact, codes.OK, 300 * time.Second, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := r.setTimeout(tt.d, tt.mode)
			wantCode(t, err, tt.code)
			if tt.d > 300*time.Second {
				if text := status.Convert(err).Message(); !strings.Contains(text, "timeout beyond cap") || !strings.Contains(text, "cap_unix_ms=") {
					t.Errorf("message = %q", text)
				}
			}
			st := r.health().GetLifecycle()
			if st.GetDeadlineUnixMs() != begin.Add(tt.deadline).UnixMilli() || st.GetExtensions() != tt.extensions {
				t.Errorf("state = %v, want deadline after %v, %d extensions", st, tt.deadline, tt.extensions)
			}
		})
	}

	plain := newRig(t, nil).run(nil)
	_, err := plain.setTimeout(time.Minute, exact)
	wantCode(t, err, codes.FailedPrecondition)
	if got := status.Convert(err).Message(); got != "lifecycle_unmanaged" {
		t.Errorf("message = %q, want the frozen token", got)
	}
}

func TestDeadlineKills(t *testing.T) {
	r, clock := managed(t, "kill")
	s := r.start(sh("trap '' TERM; echo up; sleep 1000")).until("up")
	if _, err := r.setTimeout(2*time.Minute, exact); err != nil {
		t.Fatal(err)
	}
	clock.Advance(119 * time.Second)
	if err := r.list(); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)
	s.rest()
	if s.end.GetStatus() != "sandbox_timeout" || s.end.GetError().GetCode() != "sandbox_timeout" || s.end.GetExited() {
		t.Errorf("end = %v", s.end)
	}
	err := r.list()
	wantCode(t, err, codes.FailedPrecondition)
	if got := status.Convert(err).Message(); got != "sandbox_timeout" {
		t.Errorf("message = %q, want the frozen token", got)
	}
	_, err = r.setTimeout(time.Minute, exact)
	wantCode(t, err, codes.FailedPrecondition) // too late
	var served error
	eventually(t, "the server to end", func() bool {
		clock.Advance(deadlineGrace)
		select {
		case served = <-r.served:
			r.served <- served
			return true
		default:
			return false
		}
	})
	if !errors.Is(served, ErrExpired) {
		t.Errorf("Serve = %v, want ErrExpired", served)
	}
	if alive(int(s.pid)) {
		t.Error("the process outlives its sandbox")
	}
}

func TestDeadlinePauses(t *testing.T) {
	r, clock := managed(t, "pause")
	s := r.start(sh("echo up; sleep 1000")).until("up")
	clock.Advance(time.Minute)
	s.rest()
	if s.end.GetStatus() != "sandbox_timeout" {
		t.Errorf("end = %v", s.end)
	}
	wantCode(t, r.list(), codes.FailedPrecondition)
	if got := r.health().GetLifecycle().GetPhase(); got != expired {
		t.Errorf("phase = %v", got)
	}
	st, err := r.setTimeout(time.Minute, exact)
	if err != nil || st.GetPhase() != active {
		t.Fatalf("SetTimeout = %v, %v", st, err)
	}
	if err := r.list(); err != nil {
		t.Errorf("after the extension: %v", err)
	}
	if !alive(int(s.pid)) {
		t.Error("the pause ended the process")
	}
}

// Woken after the deadline, a sandbox waits a little for its extension.
func TestResumeGrace(t *testing.T) {
	for _, extend := range []bool{true, false} {
		r, clock := managed(t, "pause")
		r.hook("suspend", "")
		clock.Advance(2 * time.Minute)
		r.hook("resume", "")
		if got := r.health().GetLifecycle().GetPhase(); got != grace {
			t.Errorf("phase = %v, want grace", got)
		}
		wantCode(t, r.list(), codes.FailedPrecondition)
		if extend {
			if _, err := r.setTimeout(time.Minute, atLeast); err != nil {
				t.Fatal(err)
			}
			if err := r.list(); err != nil {
				t.Errorf("after the extension: %v", err)
			}
			continue
		}
		clock.Advance(resumeGrace)
		eventually(t, "the grace to end", func() bool { return r.health().GetLifecycle().GetPhase() == expired })
		wantCode(t, r.list(), codes.FailedPrecondition)
	}
}

// Time asleep counts towards the deadline, but what is left then is left.
func TestDeadlineAfterResume(t *testing.T) {
	r, clock := managed(t, "pause")
	r.hook("suspend", "")
	clock.Advance(50 * time.Second)
	r.hook("resume", "")
	if err := r.list(); err != nil {
		t.Fatal(err)
	}
	clock.Advance(10 * time.Second)
	eventually(t, "the deadline", func() bool { return r.health().GetLifecycle().GetPhase() == expired })
}
