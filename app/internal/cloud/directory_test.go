package cloud

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/cloud/dataplane"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

func TestAwake(t *testing.T) {
	ctx := context.Background()
	code := func(err error) string {
		if r, ok := errors.AsType[*dataplane.Refusal](err); ok {
			return r.Code
		}
		return ""
	}

	t.Run("one wake for many", func(t *testing.T) {
		r := newRig(t, nil)
		id := r.run(&wire.RunMicrovmInput{IdlePolicy: idle(60, 600, true)})
		cut := r.vm(id).Cut()
		r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
		r.reach(id, wire.MicrovmStateSuspended)
		if !isClosed(cut) || !isClosed(r.vm(id).Cut()) {
			t.Error("a suspend leaves connections open")
		}
		errs := make(chan error)
		for range 20 {
			go func() { errs <- r.vm(id).Awake(ctx) }()
		}
		for range 20 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if n := r.guests.of(id).count("resume"); n != 1 {
			t.Errorf("%d resume hooks, want 1", n)
		}
		if isClosed(r.vm(id).Cut()) {
			t.Error("a woken VM cuts connections")
		}
		conn, err := r.vm(id).Dial(ctx, 8080)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	})

	t.Run("may not wake", func(t *testing.T) {
		r := newRig(t, nil)
		id := r.run(&wire.RunMicrovmInput{IdlePolicy: idle(60, 600, false)})
		r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
		if got := code(r.vm(id).Awake(ctx)); got != dataplane.CodeVMSuspended { // held while SUSPENDING
			t.Errorf("code = %q", got)
		}
		if got := r.get(id).State; got != wire.MicrovmStateSuspended {
			t.Errorf("state = %s", got)
		}
	})

	t.Run("resume fails", func(t *testing.T) {
		r := newRig(t, nil)
		id := r.run(&wire.RunMicrovmInput{IdlePolicy: idle(60, 600, true)})
		r.guests.of(id).answer("resume", 500)
		r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
		if got := code(r.vm(id).Awake(ctx)); got != dataplane.CodeVMUnreachable {
			t.Errorf("code = %q", got)
		}
	})

	t.Run("new and slow", func(t *testing.T) {
		r := newRig(t, nil)
		r.guests.prep = func(g *guest) error { g.answer("run", 0); return nil }
		var out wire.RunMicrovmOutput
		r.must("RunMicrovm", &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage))}, &out)
		id := *out.MicrovmId
		r.eventually("the hook is called", func() bool { g := r.guests.of(id); return g != nil && g.count("run") == 1 })
		held := make(chan error)
		go func() { held <- r.vm(id).Awake(ctx) }()
		wait, cancel := context.WithTimeout(ctx, 2*time.Minute)
		defer cancel()
		if err := r.clock.BlockUntilContext(wait, 3); err != nil { // lifetime, hook, hold
			t.Fatal(err)
		}
		r.clock.Advance(10 * time.Second)
		if got := code(<-held); got != dataplane.CodeAppConnect {
			t.Errorf("code = %q", got)
		}
	})

	t.Run("caller gone", func(t *testing.T) {
		r := newRig(t, nil)
		id := r.run(&wire.RunMicrovmInput{IdlePolicy: idle(60, 600, true)})
		r.guests.of(id).answer("resume", 0)
		r.must("SuspendMicrovm", &wire.SuspendMicrovmInput{MicrovmIdentifier: &id}, nil)
		r.reach(id, wire.MicrovmStateSuspended)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if err := r.vm(id).Awake(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v", err)
		}
	})

	t.Run("no ingress", func(t *testing.T) {
		r := newRig(t, nil)
		id := r.run(&wire.RunMicrovmInput{IngressNetworkConnectors: []string{r.connectorArn("NO_INGRESS")}})
		if got := code(r.vm(id).Awake(ctx)); got != dataplane.CodeVMUnreachable {
			t.Errorf("code = %q", got)
		}
	})

	t.Run("ended", func(t *testing.T) {
		r := newRig(t, nil)
		id := r.run(nil)
		cut := r.vm(id).Cut()
		r.must("TerminateMicrovm", &wire.TerminateMicrovmInput{MicrovmIdentifier: &id}, nil)
		if got := code(r.vm(id).Awake(ctx)); got != dataplane.CodeVMUnreachable {
			t.Errorf("code = %q", got)
		}
		if !isClosed(cut) {
			t.Error("connections live on")
		}
	})
}

// TestTraffic drives the data plane over real connections: bytes keep a VM up,
// a silent stream does not and is cut, and requests to a sleeper wake it once.
func TestTraffic(t *testing.T) {
	r := newRig(t, nil)
	addr, stop := r.listen("tcp", "127.0.0.1:0")
	defer stop()
	c, done := client(addr)
	defer done()
	id := r.run(&wire.RunMicrovmInput{IdlePolicy: idle(60, 3600, true)})
	var token wire.CreateMicrovmAuthTokenOutput
	r.must("CreateMicrovmAuthToken", &wire.CreateMicrovmAuthTokenInput{
		MicrovmIdentifier: &id, ExpirationInMinutes: new(int32(60)), AllowedPorts: []wire.PortSpecification{{AllPorts: &wire.Unit{}}},
	}, &token)
	get := func(path string) (*http.Response, error) {
		req, err := http.NewRequest(http.MethodGet, "http://"+*r.get(id).Endpoint+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set(wire.AuthHeader, token.AuthToken[wire.AuthHeader])
		return c.Do(req)
	}

	res, err := get("/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	g := r.guests.of(id)
	for i := range 3 { // a line every 40 s: 120 s in all
		g.ticks <- "tick\n"
		if line, err := lines.ReadString('\n'); err != nil || line != "tick\n" {
			t.Fatalf("tick %d = %q, %v", i, line, err)
		}
		r.clock.Advance(40 * time.Second)
		if got := r.get(id).State; got != wire.MicrovmStateRunning {
			t.Fatalf("%s while bytes flow", got)
		}
	}
	r.clock.Advance(20 * time.Second) // silent for a minute
	r.reach(id, wire.MicrovmStateSuspended)
	if _, err := lines.ReadString('\n'); err == nil {
		t.Error("the silent stream was not cut")
	}

	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			res, err := get("/")
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != 200 || string(body) != "hello from "+id+"\n" {
				t.Errorf("status %d, %q, %v", res.StatusCode, body, err)
			}
		})
	}
	wg.Wait()
	if n := g.count("resume"); n != 1 {
		t.Errorf("%d wakes, want 1", n)
	}
}
