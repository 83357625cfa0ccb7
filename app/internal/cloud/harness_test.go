package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/jonboulle/clockwork"
	"go.uber.org/goleak"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testStart is when every test begins, on both clocks.
var testStart = time.Date(2026, time.November, 29, 12, 0, 0, 0, time.UTC)

// A rig is a cloud over guests, with clocks that tests turn.
type rig struct {
	*Server
	t      testing.TB
	clock  *clockwork.FakeClock
	guests *guests
	logs   *bytes.Buffer
}

func newRig(t testing.TB, edit func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, clock: clockwork.NewFakeClockAt(testStart), guests: &guests{}, logs: &bytes.Buffer{}}
	cfg := Config{
		Dir: t.TempDir(), Launcher: r.guests, Clock: r.clock,
		SigningTime: func() time.Time { return testStart },
		Log:         slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if edit != nil {
		edit(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Server = s
	t.Cleanup(func() { r.close() })
	return r
}

// close may be called twice: once by a test that starts another Server on the
// same folder, and once in the end.
func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	r.mu.Lock()
	closed := r.closed
	r.mu.Unlock()
	if closed {
		return
	}
	if err := r.Close(ctx); err != nil {
		r.t.Errorf("close: %v", err)
	}
}

// sign signs a request as the SDK does.
func (r *rig) sign(req *http.Request, body []byte) {
	r.t.Helper()
	c := r.Credential()
	sum := sha256.Sum256(body)
	err := v4.NewSigner().SignHTTP(context.Background(), aws.Credentials{AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey},
		req, hex.EncodeToString(sum[:]), "lambda", r.Region(), testStart)
	if err != nil {
		r.t.Fatal(err)
	}
}

// send signs a request and returns the whole answer.
func (r *rig) send(method, target string, body []byte) *httptest.ResponseRecorder {
	r.t.Helper()
	req := httptest.NewRequest(method, "http://lambda.us-east-1.amazonaws.com"+target, bytes.NewReader(body))
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	r.sign(req, body)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w
}

// An answer is what a call came to.
type answer struct {
	status int
	class  string
	text   string // the message of an error
}

// call makes a call with the given input and fills out if it succeeds.
func (r *rig) call(op string, in wire.Input, out any) answer {
	r.t.Helper()
	o, ok := wire.OperationOf(op)
	if !ok {
		r.t.Fatalf("no operation %q", op)
	}
	path, query, err := o.Target(in)
	if err != nil {
		r.t.Fatal(err)
	}
	if query != "" {
		path += "?" + query
	}
	var body []byte
	if o.Body {
		if body, err = json.Marshal(in); err != nil {
			r.t.Fatal(err)
		}
	}
	return r.read(r.send(o.Method, path, body), out)
}

func (r *rig) read(w *httptest.ResponseRecorder, out any) answer {
	r.t.Helper()
	got := answer{status: w.Code, class: w.Header().Get(wire.HeaderErrorType)}
	if got.class != "" {
		var e wire.ErrorBody
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
			r.t.Errorf("error body %q: %v", w.Body, err)
		}
		if e.Message != nil {
			got.text = *e.Message
		}
		return got
	}
	if out != nil && w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			r.t.Errorf("body %q: %v", w.Body, err)
		}
	}
	return got
}

// must makes a call that has to succeed.
func (r *rig) must(op string, in wire.Input, out any) {
	r.t.Helper()
	if got := r.call(op, in, out); got.class != "" {
		r.t.Fatalf("%s: %d %s: %s", op, got.status, got.class, got.text)
	}
}

// eventually polls until cond holds.
func (r *rig) eventually(what string, cond func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if cond() {
			return
		}
	}
	r.t.Fatalf("never came about: %s", what)
}

// run starts a VM of the local image and waits until it is RUNNING.
func (r *rig) run(in *wire.RunMicrovmInput) (id string) {
	r.t.Helper()
	if in == nil {
		in = &wire.RunMicrovmInput{}
	}
	if in.ImageIdentifier == nil {
		in.ImageIdentifier = new(r.ImageARN(LocalImage))
	}
	var out wire.RunMicrovmOutput
	r.must("RunMicrovm", in, &out)
	r.reach(*out.MicrovmId, wire.MicrovmStateRunning)
	return *out.MicrovmId
}

func (r *rig) get(id string) wire.GetMicrovmOutput {
	r.t.Helper()
	var out wire.GetMicrovmOutput
	r.must("GetMicrovm", &wire.GetMicrovmInput{MicrovmIdentifier: &id}, &out)
	return out
}

// reach waits until a VM shows a state.
func (r *rig) reach(id string, want wire.MicrovmState) {
	r.t.Helper()
	var last wire.GetMicrovmOutput
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if last = r.get(id); last.State == want {
			return
		}
	}
	reason := ""
	if last.StateReason != nil {
		reason = *last.StateReason
	}
	r.t.Fatalf("%s never became %s; it is %s (%s)", id, want, last.State, reason)
}

// vm is the VM itself.
func (r *rig) vm(id string) *microvm {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byID[id]
}

func idle(maxIdle, asleep int32, resume bool) *wire.IdlePolicy {
	return &wire.IdlePolicy{MaxIdleDurationSeconds: &maxIdle, SuspendedDurationSeconds: &asleep, AutoResumeEnabled: &resume}
}
