package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestClientRefusals is every way the proxy refuses, and that it is told from
// the agent's.
func TestClientRefusals(t *testing.T) {
	always := func(code int) func(string, http.ResponseWriter) http.ResponseWriter {
		return func(m string, w http.ResponseWriter) http.ResponseWriter {
			if m == "Health" {
				return w
			}
			page(w, code)
			return nil
		}
	}
	tests := []struct {
		name      string
		code      int
		want      Code
		retryable bool
		calls     int // of Stat
	}{
		{"forbidden", 403, CodeToken, false, 2},
		{"too many", 429, CodeBusy, true, 1},
		{"bad gateway", 502, CodeAway, true, 2},
		{"proxy fault", 500, CodeAway, true, 1},
		{"bad request", 400, CodeInternal, false, 1},
		{"not found", 404, CodeInternal, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newClientRig(t, false, nil)
			r.proxy.set(always(tt.code))
			var mu sync.Mutex
			n := 0
			r.Client.tokens.mint = func(context.Context) (Token, error) {
				mu.Lock()
				defer mu.Unlock()
				n++
				return Token{JWE: "jwe-1", Expires: time.Now().Add(time.Hour)}, nil
			}
			_, err := r.Stat(t.Context(), "f", "")
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Code != tt.want || e.Retryable != tt.retryable {
				t.Errorf("err = %#v, want %s, retryable %v", err, tt.want, tt.retryable)
			}
			if strings.Contains(err.Error(), "jwe") || strings.Contains(err.Error(), "html") {
				t.Errorf("the proxy's page is in the error: %v", err)
			}
			if got := r.proxy.count("Stat"); got != tt.calls {
				t.Errorf("called %d times, want %d", got, tt.calls)
			}
			if minted := map[int]int{403: 2}[tt.code]; minted != 0 && n != minted {
				t.Errorf("minted %d times, want %d", n, minted)
			}
		})
	}
	t.Run("the agent's own", func(t *testing.T) {
		r := newClientRig(t, false, nil)
		if _, err := r.Stat(t.Context(), "/etc/passwd", ""); CodeOf(err) != CodeDenied {
			t.Errorf("err = %v, want denied", err)
		}
		if r.minted.Load() != 1 {
			t.Errorf("minted %d times, want once", r.minted.Load())
		}
		r.Client.cfg.AccessToken = "b3RoZXJvdGhlcm90aGVyb3RoZXI"
		if _, err := r.Stat(t.Context(), "f", ""); CodeOf(err) != CodeSecret {
			t.Errorf("err = %v, want secret", err)
		}
	})
	t.Run("gone bad once", func(t *testing.T) {
		r := newClientRig(t, false, nil)
		if _, err := r.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.proxy.accept("jwe-2")
		if _, err := r.List(t.Context(), ".", 1, ""); err != nil {
			t.Errorf("after the token was replaced: %v", err)
		}
		if r.minted.Load() != 2 {
			t.Errorf("minted %d times, want 2", r.minted.Load())
		}
	})
	t.Run("stream", func(t *testing.T) {
		r := newClientRig(t, false, nil)
		if _, err := r.Health(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.proxy.accept("jwe-2")
		var got collect
		if _, err := r.Start(t.Context(), script("echo hi"), got.emit); err != nil || got.out.String() != "hi\n" {
			t.Errorf("start = %v, %q", err, &got.out)
		}
	})
}

func TestClientBadGatewayPasses(t *testing.T) {
	r := newClientRig(t, false, nil)
	left := 2
	r.proxy.set(func(m string, w http.ResponseWriter) http.ResponseWriter {
		if left--; left >= 0 {
			page(w, 502)
			return nil
		}
		return w
	})
	if _, err := r.Processes(t.Context()); err != nil {
		t.Errorf("err = %v, want the second try's answer", err)
	}
}

func TestClientTLS(t *testing.T) {
	r := newClientRig(t, true, nil)
	h, err := r.Health(t.Context())
	if err != nil || h.SandboxID != "microvm-1" || h.Version != Version {
		t.Errorf("health = %+v, %v", h, err)
	}
}

func TestClientWaitReady(t *testing.T) {
	r := newClientRig(t, false, nil)
	strict := r.s.session.Load().terms()
	strict.enforce = true // so its agent never gets ready
	r.s.session.Store(&session{id: "microvm-1", payload: &strict})
	ctx, cancel := context.WithCancel(t.Context())
	r.proxy.set(func(m string, w http.ResponseWriter) http.ResponseWriter {
		if r.proxy.count("Health") == 6 {
			cancel()
		}
		return w
	})
	if _, err := r.WaitReady(ctx); CodeOf(err) != CodeTimeout {
		t.Errorf("err = %v, want timeout", err)
	}
	r.life.Store(Gone)
	if _, err := r.WaitReady(t.Context()); CodeOf(err) != CodeGone {
		t.Errorf("err = %v, want gone", err)
	}
	if (&Health{AgentReady: true, KernelReady: true}).Ready() {
		t.Error("a snapshot without id is ready")
	}
}

// TestMinter turns the clock.
func TestMinter(t *testing.T) {
	clock := clockwork.NewFakeClock()
	n, fails := 0, false
	m := newMinter(func(context.Context) (Token, error) {
		n++
		if fails {
			return Token{}, errors.New("throttled")
		}
		return Token{JWE: string(rune('a' + n - 1)), Expires: clock.Now().Add(time.Hour)}, nil
	}, clock)
	steps := []struct {
		after time.Duration
		fails bool
		want  string
		mints int
	}{
		{0, false, "a", 1},
		{44 * time.Minute, false, "a", 1},
		{time.Minute, true, "a", 2},       // due, but none to be had
		{59 * time.Second, true, "a", 2},  // not asked again yet
		{time.Second, true, "a", 3},       // asked again
		{13 * time.Minute, false, "d", 4}, // a fourth attempt that works
		{time.Hour, true, "", 5},          // too old to be of use
		{0, false, "f", 6},
	}
	for i, s := range steps {
		clock.Advance(s.after)
		fails = s.fails
		got, err := m.get(t.Context())
		if got != s.want || n != s.mints || (err != nil) != (s.want == "") {
			t.Errorf("step %d: %q, %v after %d mints; want %q after %d", i, got, err, n, s.want, s.mints)
		}
	}
	m.reject("a")
	if got, _ := m.get(t.Context()); got != "f" {
		t.Errorf("after an old token was rejected: %q", got)
	}
	m.reject("f")
	if got, _ := m.get(t.Context()); got != "g" {
		t.Errorf("after the token was rejected: %q", got)
	}
}

// TestMinterOnce has many callers and one request.
func TestMinterOnce(t *testing.T) {
	release := make(chan struct{})
	var mu sync.Mutex
	n := 0
	m := newMinter(func(context.Context) (Token, error) {
		mu.Lock()
		n++
		mu.Unlock()
		<-release
		return Token{JWE: "a", Expires: time.Now().Add(time.Hour)}, nil
	}, clockwork.NewRealClock())
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if got, err := m.get(t.Context()); got != "a" || err != nil {
				t.Errorf("get = %q, %v", got, err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	eventually(t, "a request", func() bool { mu.Lock(); defer mu.Unlock(); return n == 1 })
	cancel()
	if _, err := m.get(ctx); CodeOf(err) != CodeCanceled {
		t.Errorf("get with a cancelled context = %v", err)
	}
	close(release)
	wg.Wait()
	if n != 1 {
		t.Errorf("minted %d times", n)
	}
}

func TestTranslate(t *testing.T) {
	answered := &facts{}
	answered.ended.Store(true)
	tests := []struct {
		err  error
		want Code
	}{
		{status.Error(codes.InvalidArgument, "x"), CodeInvalid},
		{status.Error(codes.NotFound, "x"), CodeNotFound},
		{status.Error(codes.AlreadyExists, "x"), CodeExists},
		{status.Error(codes.PermissionDenied, "x"), CodeDenied},
		{status.Error(codes.Unauthenticated, "x"), CodeSecret},
		{status.Error(codes.FailedPrecondition, "lifecycle_unmanaged"), CodeState},
		{status.Error(codes.FailedPrecondition, "sandbox_timeout"), CodeExpired},
		{status.Error(codes.ResourceExhausted, "x"), CodeBusy},
		{status.Error(codes.ResourceExhausted, "disk_full"), CodeFull},
		{status.Error(codes.ResourceExhausted, "disk_reserve"), CodeFull},
		{status.Error(codes.OutOfRange, "x"), CodeLost},
		{status.Error(codes.Unimplemented, "x"), CodeOld},
		{status.Error(codes.Unavailable, "suspending"), CodeAway},
		{status.Error(codes.Unavailable, "terminating"), CodeGone},
		{status.Error(codes.Unavailable, "kernel not ready: booting"), CodeStarting},
		{status.Error(codes.Code(77), "from the future"), CodeInternal},
		{context.Canceled, CodeCanceled},
		{context.DeadlineExceeded, CodeTimeout},
	}
	for _, tt := range tests {
		if got := CodeOf(translate(tt.err, answered)); got != tt.want {
			t.Errorf("translate(%v) = %q, want %q", tt.err, got, tt.want)
		}
	}
	if CodeOf(nil) != "" || CodeOf(bytes.ErrTooLarge) != CodeInternal {
		t.Error("codes of no error, and of a foreign one")
	}
}

// TestClientBadText is text that can't be sent: the caller's mistake, and not
// the connection's.
func TestClientBadText(t *testing.T) {
	const bad = "a\xff"
	tests := []struct {
		name string
		call func(context.Context, *clientRig) error
	}{
		{"unary", func(ctx context.Context, r *clientRig) error {
			_, err := r.Stat(ctx, bad, "")
			return err
		}},
		{"process", func(ctx context.Context, r *clientRig) error {
			_, err := r.Start(ctx, Command{Path: "/bin/echo", Args: []string{bad}}, func(ProcessEvent) error { return nil })
			return err
		}},
		{"cell", func(ctx context.Context, r *clientRig) error {
			_, err := r.Execute(ctx, Cell{Code: bad}, func(CellEvent) error { return nil })
			return err
		}},
		{"read", func(ctx context.Context, r *clientRig) error {
			_, err := r.ReadFile(ctx, bad, "", io.Discard)
			return err
		}},
		{"write", func(ctx context.Context, r *clientRig) error {
			_, err := r.WriteFile(ctx, Upload{Path: bad, Content: strings.NewReader("x")})
			return err
		}},
		{"watch", func(ctx context.Context, r *clientRig) error {
			return r.Watch(ctx, bad, false, false, "", func(FileChange) error { return nil })
		}},
	}
	r := newClientRig(t, false, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.call(t.Context(), r)
			if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeInvalid || e.Retryable {
				t.Errorf("err = %#v, want %s", err, CodeInvalid)
			}
		})
	}
}

// The end of a process that has to be killed reaches a client before it gives
// the call up.
func TestClientWaitsForKill(t *testing.T) {
	if processSlack <= termGrace {
		t.Errorf("the client waits %v, no longer than the agent for a process to heed SIGTERM", processSlack)
	}
}
