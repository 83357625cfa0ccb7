package cloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// tryList calls ListMicrovms n times and writes one letter for each answer: "."
// for success, "x" for anything else.
func (r *rig) tryList(n int) string {
	r.t.Helper()
	var out strings.Builder
	for range n {
		mark := "."
		if r.call("ListMicrovms", &wire.ListMicrovmsInput{}, nil).status != 200 {
			mark = "x"
		}
		out.WriteString(mark)
	}
	return out.String()
}

func TestFaultChoice(t *testing.T) {
	tests := []struct {
		name string
		rule Rule
		want string
	}{
		{"always", Rule{Operation: "ListMicrovms"}, "xxxxxxxx"},
		{"any operation", Rule{Operation: FaultAny, Count: 1}, "x......."},
		{"another operation", Rule{Operation: "GetMicrovm"}, "........"},
		{"twice", Rule{Operation: "ListMicrovms", Count: 2}, "xx......"},
		{"every third", Rule{Operation: "ListMicrovms", Every: 3}, "..x..x.."},
		{"every third, once", Rule{Operation: "ListMicrovms", Every: 3, Count: 1}, "..x....."},
		{"after two", Rule{Operation: "ListMicrovms", Skip: 2, Count: 3}, "..xxx..."},
		{"certain", Rule{Operation: "ListMicrovms", Probability: 1}, "xxxxxxxx"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.rule.Error = wire.InternalServer
			r := newRig(t, func(c *Config) { c.Faults = Faults{Rules: []Rule{tt.rule}} })
			if got := r.tryList(8); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}

	// The same seed gives the same luck.
	half := Faults{Seed: 7, Rules: []Rule{{Operation: FaultAny, Error: wire.InternalServer, Probability: 0.5}}}
	r := newRig(t, func(c *Config) { c.Faults = half })
	first := r.tryList(40)
	r.SetFaults(half)
	if again := r.tryList(40); again != first || !strings.Contains(first, "x") || !strings.Contains(first, ".") {
		t.Errorf("first %s, again %s", first, again)
	}
	r.SetFaults(Faults{})
	if got := r.tryList(3); got != "..." {
		t.Errorf("without faults: %s", got)
	}
}

func TestFaultAnswers(t *testing.T) {
	tests := []struct {
		rule                      Rule
		status                    int
		class, retryAfter, inBody string
	}{
		{Rule{Error: wire.Throttling, RetryAfter: 7}, 429, wire.Throttling, "7", "message"},
		{Rule{Error: wire.InternalServer, RetryAfter: 2}, 500, wire.InternalServer, "2", ""},
		{Rule{Error: wire.ServiceQuotaExceeded, Message: "too much memory"}, 402, wire.ServiceQuotaExceeded, "", "too much memory"},
		{Rule{Error: wire.InsufficientCapacity}, 500, wire.InsufficientCapacity, "", ""},
		{Rule{Error: wire.TooManyRequests, RetryAfter: 1}, 429, wire.TooManyRequests, "1", `"Type":"User"`},
		{Rule{Error: "FancyNewException", Status: 418}, 418, "FancyNewException", "", ""},
		{Rule{Status: 502, HTML: true}, 502, "", "", "<h1>502 Bad Gateway</h1>"},
		{Rule{Status: 503}, 503, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status, tt.class), func(t *testing.T) {
			tt.rule.Operation = "ListMicrovms"
			r := newRig(t, func(c *Config) { c.Faults = Faults{Rules: []Rule{tt.rule}} })
			w := r.send(http.MethodGet, vmPath, nil)
			h := w.Header()
			if w.Code != tt.status || h.Get(wire.HeaderErrorType) != tt.class || h.Get("Retry-After") != tt.retryAfter || !strings.Contains(w.Body.String(), tt.inBody) {
				t.Errorf("got %d %v %s", w.Code, h, w.Body)
			}
		})
	}
}

// hungUp makes a call and reports whether the connection was reset.
func (r *rig) hungUp(op string, in wire.Input) (reset bool) {
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			reset = true
		}
	}()
	r.call(op, in, nil)
	return false
}

func TestDroppedAnswer(t *testing.T) {
	r := newRig(t, nil)
	in := &wire.RunMicrovmInput{ImageIdentifier: new(r.ImageARN(LocalImage)), ClientToken: new("one")}
	vms := func() []wire.MicrovmItem {
		var list wire.ListMicrovmsOutput
		r.must("ListMicrovms", &wire.ListMicrovmsInput{}, &list)
		return list.Items
	}

	r.SetFaults(Faults{Rules: []Rule{{Operation: "RunMicrovm", Cut: true}}})
	if !r.hungUp("RunMicrovm", in) || len(vms()) != 0 {
		t.Errorf("cut: %d VMs", len(vms()))
	}
	r.SetFaults(Faults{Rules: []Rule{{Operation: "RunMicrovm", Drop: true}}})
	if !r.hungUp("RunMicrovm", in) || len(vms()) != 1 {
		t.Fatalf("drop: %d VMs", len(vms()))
	}
	// The retry with the same token finds the VM that was made.
	r.SetFaults(Faults{})
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", in, &out)
	if got := vms(); len(got) != 1 || *got[0].MicrovmId != *out.MicrovmId {
		t.Errorf("after the retry: %+v", got)
	}
}

func TestDelay(t *testing.T) {
	r := newRig(t, func(c *Config) {
		c.Faults = Faults{Rules: []Rule{{Operation: "ListMicrovms", DelayMS: 3000, AnswerMS: 2000}}}
	})
	done := make(chan answer)
	go func() { done <- r.call("ListMicrovms", &wire.ListMicrovmsInput{}, nil) }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for _, d := range []time.Duration{3 * time.Second, 2 * time.Second} {
		if err := r.clock.BlockUntilContext(ctx, 1); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			t.Fatal("answered too early")
		default:
		}
		r.clock.Advance(d)
	}
	if got := <-done; got.status != 200 {
		t.Errorf("got %+v", got)
	}
}

func TestStaleReads(t *testing.T) {
	r := newRig(t, nil)
	id := r.run(nil)
	r.SetFaults(Faults{Rules: []Rule{{Operation: "GetMicrovm", StaleReads: 2}, {Operation: "ListMicrovms", StaleSeconds: 5}}})
	for i, want := range []wire.MicrovmState{"PENDING", "PENDING", "RUNNING", "RUNNING"} {
		if got := r.get(id).State; got != want {
			t.Errorf("read %d = %s, want %s", i, got, want)
		}
	}
	listed := func() wire.MicrovmState {
		var list wire.ListMicrovmsOutput
		r.must("ListMicrovms", &wire.ListMicrovmsInput{}, &list)
		return list.Items[0].State
	}
	if got := listed(); got != wire.MicrovmStatePending {
		t.Errorf("listed as %s", got)
	}
	r.clock.Advance(5 * time.Second)
	if got := listed(); got != wire.MicrovmStateRunning {
		t.Errorf("listed as %s after 5 s", got)
	}
}

func TestDataPlaneFaults(t *testing.T) {
	r := newRig(t, nil)
	id := r.run(nil)
	host := *r.get(id).Endpoint
	send := func() (w *httptest.ResponseRecorder, reset bool) {
		defer func() { reset = recover() != nil }()
		req := httptest.NewRequest(http.MethodGet, "http://"+host+"/", nil)
		w = httptest.NewRecorder()
		r.ServeHTTP(w, req)
		return w, false
	}
	r.SetFaults(Faults{Rules: []Rule{{Operation: FaultDataPlane, Status: 502, HTML: true}}})
	if w, _ := send(); w.Code != 502 || w.Header().Get("X-Aws-Proxy-Error") == "" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
	for _, rule := range []Rule{{Cut: true}, {Drop: true}} {
		rule.Operation = FaultDataPlane
		r.SetFaults(Faults{Rules: []Rule{rule}})
		if _, reset := send(); !reset {
			t.Errorf("%+v: not reset", rule)
		}
	}
	// Faults of the API leave the data plane alone, and the other way round.
	r.SetFaults(Faults{Rules: []Rule{{Operation: FaultAny, Cut: true}}})
	if w, reset := send(); reset || w.Code != 403 {
		t.Errorf("got %d, reset %v", w.Code, reset)
	}
}

func TestFaultsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "faults.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, func(c *Config) { c.FaultsFile = path })
	if got := r.tryList(1); got != "." {
		t.Errorf("without a file: %s", got)
	}
	write(`{"rules":[{"operation":"ListMicrovms","error":"ThrottlingException","retry_after_seconds":7,"count":1}]}`)
	if got := r.tryList(2); got != "x." {
		t.Errorf("first file: %s", got)
	}
	write(`{"rules":[{"operation":"ListMicrovms","error":"InternalServerException"}]}`)
	if got := r.tryList(2); got != "xx" {
		t.Errorf("second file: %s", got)
	}
	write(`{"rules":`)
	if got := r.tryList(2); got != "xx" {
		t.Errorf("a torn file changes the rules: %s", got)
	}
	write(`{"rules":[]}`)
	if got := r.tryList(2); got != ".." {
		t.Errorf("last file: %s", got)
	}
	write(`{`)
	if _, err := New(Config{Dir: t.TempDir(), Launcher: r.guests, FaultsFile: path}); err == nil {
		t.Error("a cloud started with faults it can't read")
	}
}

func TestParseFaults(t *testing.T) {
	tests := []struct{ in, want string }{
		{``, "read faults"},
		{`[]`, "read faults"},
		{`{"rules":[]} {}`, "something follows"},
		{`{"rulez":[]}`, `unknown field "rulez"`},
		{`{"rules":[{"operation":"*","cout":1}]}`, `unknown field "cout"`},
		{`{"rules":[{}]}`, "operation is missing"},
		{`{"rules":[{"operation":"runMicrovm"}]}`, `no operation is named "runMicrovm"`},
		{`{"rules":[{"operation":"*","probability":1.5}]}`, "probability"},
		{`{"rules":[{"operation":"*","count":-1}]}`, "below zero"},
		{`{"rules":[{"operation":"*","status":200}]}`, "status"},
	}
	for _, tt := range tests {
		if _, err := ParseFaults([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseFaults(%s): %v, want %q", tt.in, err, tt.want)
		}
	}
	for _, name := range []string{FaultAny, FaultDataPlane, FaultBuild, "RunMicrovm", "TagResource"} {
		if _, err := ParseFaults(fmt.Appendf(nil, `{"seed":1,"rules":[{"operation":%q}]}`+"\n", name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThrottle(t *testing.T) {
	for _, how := range []string{"config", "faults"} {
		r := newRig(t, func(c *Config) {
			c.Policy.Throttle = how == "config"
			c.Faults.Throttle = how == "faults"
		})
		id := r.run(nil) // takes one of five
		in := &wire.ResumeMicrovmInput{MicrovmIdentifier: &id}
		for i := range 5 {
			if got := r.call("ResumeMicrovm", in, nil); got.status != 200 {
				t.Errorf("%s: call %d = %+v", how, i, got)
			}
		}
		w := r.send(http.MethodPost, vmPath+"/"+id+"/resume", nil)
		if w.Code != 429 || w.Header().Get(wire.HeaderErrorType) != wire.Throttling || w.Header().Get("Retry-After") != "1" ||
			!strings.Contains(w.Body.String(), "L-118C44B3") {
			t.Errorf("%s: sixth call = %d %v %s", how, w.Code, w.Header(), w.Body)
		}
		r.clock.Advance(200 * time.Millisecond)
		if got := r.call("ResumeMicrovm", in, nil); got.status != 200 {
			t.Errorf("%s: a fifth of a second later = %+v", how, got)
		}
	}
}
