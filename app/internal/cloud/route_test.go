package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

const vmPath = "/2025-09-09/microvms"

// escapedArn is the local image as it travels in a path.
const escapedArn = "arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Amicrovm-image%3Aarenero-local"

func TestBadInput(t *testing.T) {
	const (
		arn     = `"imageIdentifier":"arn:aws:lambda:us-east-1:000000000000:microvm-image:arenero-local"`
		noVM    = vmPath + "/microvm-00000000-0000-4000-8000-000000000000"
		images  = "/2025-09-09/microvm-images"
		managed = "/2025-09-09/managed-microvm-images"
		aws     = "arn:aws:lambda:us-east-1:aws:network-connector:aws-network-connector:"
		create  = `{"name":"box","baseImageArn":"arn:aws:lambda:us-east-1:aws:microvm-image:al2023-1",` +
			`"buildRoleArn":"arn:aws:iam::000000000000:role/build","codeArtifact":{"uri":"s3://bucket/key.zip"}`
	)
	post, get := http.MethodPost, http.MethodGet
	tests := []struct {
		name, method, target, body string
		status                     int
		class                      string
		text                       string
	}{
		{"malformed JSON", post, vmPath, `{"imageIdentifier":`, 400, wire.Validation, "Could not parse"},
		{"trailing JSON", post, vmPath, `{} {}`, 400, wire.Validation, "Could not parse"},
		{"array for an object", post, vmPath, `[]`, 400, wire.Validation, ""},
		{"number for a string", post, vmPath, `{"imageIdentifier":5}`, 400, wire.Validation, "'imageIdentifier'"},
		{"string for a number", post, vmPath, `{` + arn + `,"maximumDurationInSeconds":"5"}`, 400, wire.Validation, "'maximumDurationInSeconds'"},
		{"no body", post, vmPath, ``, 400, wire.Validation, "'imageIdentifier'"},
		{"null member", post, vmPath, `{"imageIdentifier":null}`, 400, wire.Validation, "'imageIdentifier'"},
		{"required missing", post, vmPath, `{"somethingNew":{"a":[1]}}`, 400, wire.Validation, "'imageIdentifier'"},
		{"required in another case", post, vmPath, `{"ImageIdentifier":"x","IMAGEIDENTIFIER":"x"}`, 400, wire.Validation, "'imageIdentifier'"},
		{"nested in another case", post, vmPath, `{` + arn + `,"idlePolicy":{"MaxIdleDurationSeconds":60,"suspendedDurationSeconds":0,"autoResumeEnabled":true}}`, 400, wire.Validation, "maxIdleDurationSeconds"},
		{"in a list in another case", post, noVM + "/auth-token", `{"expirationInMinutes":5,"allowedPorts":[{"Port":1}]}`, 400, wire.Validation, "exactly one"},
		{"halves of a member given twice", post, vmPath, `{` + arn + `,"idlePolicy":{"maxIdleDurationSeconds":60},"idlePolicy":{"suspendedDurationSeconds":0,"autoResumeEnabled":true}}`, 400, wire.Validation, "maxIdleDurationSeconds"},
		{"bare image name", post, vmPath, `{"imageIdentifier":"arenero-local"}`, 400, wire.Validation, "Malformed ARN"},
		{"payload of 4097 bytes", post, vmPath, `{` + arn + `,"runHookPayload":"` + strings.Repeat("x", 4097) + `"}`, 400, wire.Validation, "less than or equal to 4096"},
		{"length before ARN", post, vmPath, `{"imageIdentifier":"bare","runHookPayload":"` + strings.Repeat("x", 4097) + `"}`, 400, wire.Validation, "runHookPayload"},
		{"unknown image", post, vmPath, `{"imageIdentifier":"arn:aws:lambda:us-east-1:000000000000:microvm-image:none"}`, 404, wire.ResourceNotFound, "No active version found"},
		{"unknown version", post, vmPath, `{` + arn + `,"imageVersion":"7"}`, 404, wire.ResourceNotFound, "No active version found"},
		{"managed image can't run", post, vmPath, `{"imageIdentifier":"arn:aws:lambda:us-east-1:aws:microvm-image:al2023-1"}`, 404, wire.ResourceNotFound, "No active version found"},
		{"image of another account", post, vmPath, `{"imageIdentifier":"arn:aws:lambda:us-east-1:111122223333:microvm-image:x"}`, 403, wire.AccessDenied, ""},
		{"image of another region", post, vmPath, `{"imageIdentifier":"arn:aws:lambda:eu-west-1:000000000000:microvm-image:x"}`, 403, wire.AccessDenied, ""},
		{"two egress connectors", post, vmPath, `{` + arn + `,"egressNetworkConnectors":["` + aws + `INTERNET_EGRESS","` + aws + `INTERNET_EGRESS"]}`, 400, wire.Validation, "Only one egress network connector"},
		{"unknown managed connector", post, vmPath, `{` + arn + `,"egressNetworkConnectors":["` + aws + `NO_EGRESS"]}`, 400, wire.Validation, "Unrecognized managed network connector"},
		{"connector of the other direction", post, vmPath, `{` + arn + `,"ingressNetworkConnectors":["` + aws + `INTERNET_EGRESS"]}`, 400, wire.Validation, "Unrecognized managed network connector"},
		{"bare connector", post, vmPath, `{` + arn + `,"ingressNetworkConnectors":["HTTP_INGRESS"]}`, 400, wire.Validation, "Malformed network connector ARN"},
		{"logging without role", post, vmPath, `{` + arn + `,"logging":{"cloudWatch":{"logGroup":"g"}}}`, 400, wire.Validation, "without providing executionRoleArn"},
		{"role is no role", post, vmPath, `{` + arn + `,"executionRoleArn":"arn:aws:s3:::not-a-role-at-all"}`, 400, wire.Validation, "'executionRoleArn'"},
		{"idle of 59 seconds", post, vmPath, `{` + arn + `,"idlePolicy":{"maxIdleDurationSeconds":59,"suspendedDurationSeconds":0,"autoResumeEnabled":true}}`, 400, wire.Validation, "maxIdleDurationSeconds"},
		{"half an idle policy", post, vmPath, `{` + arn + `,"idlePolicy":{"maxIdleDurationSeconds":60}}`, 400, wire.Validation, "autoResumeEnabled"},
		{"lifetime over 8 hours", post, vmPath, `{` + arn + `,"maximumDurationInSeconds":28801}`, 400, wire.Validation, "maximumDurationInSeconds"},

		{"unknown VM", get, noVM, ``, 404, wire.ResourceNotFound, "not found"},
		{"unknown VM, suspend", post, noVM + "/suspend", ``, 404, wire.ResourceNotFound, ""},
		{"empty identifier", get, vmPath + "/", ``, 400, wire.Validation, "'microvmIdentifier'"},
		{"NUL in an identifier", get, vmPath + "/%00", ``, 404, wire.ResourceNotFound, "?"},
		{"dots as identifier", get, vmPath + "/..", ``, 404, wire.ResourceNotFound, ""},
		{"slashes in an identifier", get, vmPath + "/..%2F..%2Fkeys", ``, 404, wire.ResourceNotFound, ""},
		{"51 results", get, vmPath + "?maxResults=51", ``, 400, wire.Validation, "'maxResults'"},
		{"results in words", get, vmPath + "?maxResults=many", ``, 400, wire.Validation, "'maxResults'"},
		{"made-up cursor", get, vmPath + "?nextToken=AAAA", ``, 400, wire.Validation, "nextToken"},
		{"bare image filter", get, vmPath + "?imageIdentifier=box", ``, 400, wire.Validation, "Invalid ARN format"},
		{"unknown image filter", get, vmPath + "?imageIdentifier=" + strings.ReplaceAll(escapedArn, "arenero-local", "none"), ``, 404, wire.ResourceNotFound, ""},
		{"token of 61 minutes", post, noVM + "/auth-token", `{"expirationInMinutes":61,"allowedPorts":[{"port":1}]}`, 400, wire.Validation, "maximum of 60"},
		{"token without ports", post, noVM + "/auth-token", `{"expirationInMinutes":5}`, 400, wire.Validation, "'allowedPorts'"},
		{"port zero", post, noVM + "/auth-token", `{"expirationInMinutes":5,"allowedPorts":[{"port":0}]}`, 400, wire.Validation, "port"},
		{"two members of a union", post, noVM + "/auth-token", `{"expirationInMinutes":5,"allowedPorts":[{"port":1,"allPorts":{}}]}`, 400, wire.Validation, "exactly one"},

		{"bare name elsewhere", get, images + "/box", ``, 400, wire.Validation, "Invalid ARN format: box"},
		{"image not found", get, images + "/" + strings.ReplaceAll(escapedArn, "arenero-local", "none"), ``, 404, wire.ResourceNotFound, "MicroVMImage not found"},
		{"encoded slash in an ARN", get, images + "/" + strings.Replace(escapedArn, "%3Aarenero", "%2Farenero", 1), ``, 403, wire.AccessDenied, ""},
		{"raw slash in an ARN", get, images + "/" + strings.Replace(escapedArn, "%3Aarenero", "/arenero", 1), ``, 404, "UnknownOperationException", ""},
		{"odd memory", post, images, create + `,"resources":[{"minimumMemoryInMiB":1000}]}`, 400, wire.Validation, "512, 1024, 2048, 4096, 8192"},
		{"artifact in ECR", post, images, strings.Replace(create, "s3://bucket/key.zip", "1.dkr.ecr.us-east-1.amazonaws.com/x", 1) + `}`, 400, wire.Validation, "must be a valid S3 URI"},
		{"base version 1.0", post, images, create + `,"baseImageVersion":"1.0"}`, 400, wire.Validation, "Invalid baseMicroVMImageVersion"},
		{"base version 9", post, images, create + `,"baseImageVersion":"9"}`, 400, wire.Validation, "Invalid baseMicroVMImageVersion"},
		{"base of one's own", post, images, strings.Replace(create, "aws:microvm-image:al2023-1", "000000000000:microvm-image:x", 1) + `}`, 400, wire.Validation, "base MicroVM image"},
		{"unknown base", post, images, strings.Replace(create, "al2023-1", "al2099", 1) + `}`, 404, wire.ResourceNotFound, "MicroVMImage not found"},
		{"hook without ready", post, images, create + `,"hooks":{"port":9000,"microvmHooks":{"run":"ENABLED"}}}`, 400, wire.Validation, "ready hook must be enabled"},
		{"reserved variable", post, images, create + `,"environmentVariables":{"AWS_REGION":"x"}}`, 400, wire.Validation, "AWS_REGION"},
		{"existing name", post, images, strings.Replace(create, `"box"`, `"arenero-local"`, 1) + `}`, 400, wire.Validation, "already exists"},
		{"name with a dot", post, images, strings.Replace(create, `"box"`, `"../x"`, 1) + `}`, 400, wire.Validation, "'name'"},
		{"built-in image stays", http.MethodDelete, images + "/" + escapedArn, ``, 400, wire.Validation, "built in"},
		{"unknown status", http.MethodPatch, images + "/" + escapedArn + "/versions/1.0", `{"status":"SLEEPY"}`, 400, wire.Validation, "'status'"},
		{"unknown build", get, images + "/" + escapedArn + "/versions/1/builds/none", ``, 404, wire.ResourceNotFound, ""},
		{"managed image not found", get, managed + "/" + escapedArn + "/versions", ``, 404, wire.ResourceNotFound, "MicroVMImage not found"},

		{"tags of no ARN", get, "/2017-03-31/tags/box", ``, 400, wire.InvalidParameterValue, ""},
		{"tags of a VM", get, "/2017-03-31/tags/microvm-1", ``, 400, wire.InvalidParameterValue, ""},
		{"tags of nothing there", get, "/2017-03-31/tags/" + strings.ReplaceAll(escapedArn, "arenero-local", "none"), ``, 404, wire.ResourceNotFound, ""},
		{"no tags to set", post, "/2017-03-31/tags/" + escapedArn, `{}`, 400, wire.InvalidParameterValue, "Tags"},

		{"unknown path", get, "/2025-09-09/nothing", ``, 404, "UnknownOperationException", ""},
		{"unknown method", http.MethodPut, vmPath, ``, 404, "UnknownOperationException", ""},
		{"root", get, "/", ``, 404, "UnknownOperationException", ""},
		{"a megabyte and one", post, vmPath, strings.Repeat(" ", wire.MaxBody+1), 413, "RequestEntityTooLargeException", ""},
	}
	r := newRig(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := r.send(tt.method, tt.target, []byte(tt.body))
			got := r.read(w, nil)
			if got.status != tt.status || got.class != tt.class || !strings.Contains(got.text, tt.text) {
				t.Errorf("got %d %s (%s), want %d %s with %q", got.status, got.class, got.text, tt.status, tt.class, tt.text)
			}
			if w.Header().Get(wire.HeaderRequestID) == "" || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("headers = %v", w.Header())
			}
		})
	}
	if n := len(r.guests.all); n != 0 {
		t.Errorf("%d machines started", n)
	}
}

// TestBodyLimit sends a body of just the limit: it is read, and found to be no
// JSON but for its spaces.
func TestBodyLimit(t *testing.T) {
	r := newRig(t, nil)
	if got := r.read(r.send(http.MethodPost, vmPath, []byte(strings.Repeat(" ", wire.MaxBody))), nil); got.class != wire.Validation {
		t.Errorf("got %d %s", got.status, got.class)
	}
}

// TestHugeBody sends all of a body that is too large before it looks for an
// answer.
func TestHugeBody(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		t.Run("h2="+strconv.FormatBool(h2), func(t *testing.T) {
			r := newRig(t, nil)
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error)
			go func() { served <- r.Serve(ctx, ln) }()
			tr := &http.Transport{Protocols: new(http.Protocols)}
			tr.Protocols.SetHTTP1(!h2)
			tr.Protocols.SetUnencryptedHTTP2(h2)
			sent := make(chan struct{})
			req, err := http.NewRequest(http.MethodPost, "http://"+ln.Addr().String()+vmPath, io.MultiReader(
				strings.NewReader(strings.Repeat(" ", 20<<20)), closer(sent)))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			select {
			case <-sent:
			default:
				t.Error("the answer came before the body was sent")
			}
			if got := resp.Header.Get(wire.HeaderErrorType); resp.StatusCode != 413 || got != "RequestEntityTooLargeException" {
				t.Errorf("got %d %s", resp.StatusCode, got)
			}
			tr.CloseIdleConnections()
			stop()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}

// A closer is an empty reader that says when it is read.
type closer chan struct{}

func (c closer) Read([]byte) (int, error) {
	close(c)
	return 0, io.EOF
}

func TestUnsigned(t *testing.T) {
	r := newRig(t, nil)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, vmPath, nil))
	if got := r.read(w, nil); got.status != 403 || got.class != "MissingAuthenticationTokenException" {
		t.Errorf("got %+v", got)
	}
}

func TestBareEqualSignInToken(t *testing.T) {
	r := newRig(t, nil)
	req := httptest.NewRequest(http.MethodGet, "http://lambda.us-east-1.amazonaws.com"+vmPath, nil)
	r.sign(req, nil)
	req.URL.RawQuery = "nextToken=YQ=="
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	if w.Code != 400 || !strings.Contains(w.Body.String(), `"message":null`) {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// TestUnknownMembers sends members that nobody knows along with good ones.
func TestUnknownMembers(t *testing.T) {
	r := newRig(t, nil)
	body := `{"imageIdentifier":"` + r.ImageARN(LocalImage) + `","tomorrow":{"a":1},"idlePolicy":{"maxIdleDurationSeconds":60,"suspendedDurationSeconds":1,"autoResumeEnabled":false,"new":[]}}`
	if got := r.read(r.send(http.MethodPost, vmPath, []byte(body)), nil); got.status != 200 {
		t.Errorf("got %+v", got)
	}
}

// TestEveryOperation checks that every operation of the wire has a function.
func TestEveryOperation(t *testing.T) {
	r := newRig(t, nil)
	for _, rt := range r.routes {
		if rt.do == nil {
			t.Errorf("%s does nothing", rt.Name)
		}
	}
	if len(r.routes) != 24 {
		t.Errorf("%d operations, want 24", len(r.routes))
	}
}

// TestEmptyAnswers checks that calls without output send no body, and 204
// where the API has it.
func TestEmptyAnswers(t *testing.T) {
	r := newRig(t, nil)
	id := r.run(nil)
	tests := []struct {
		method, target, body string
		status               int
	}{
		{http.MethodPost, vmPath + "/" + id + "/suspend", "", 200},
		{http.MethodDelete, vmPath + "/" + id, "", 200},
		{http.MethodPost, "/2017-03-31/tags/" + escapedArn, `{"Tags":{"a":"b"}}`, 204},
		{http.MethodDelete, "/2017-03-31/tags/" + escapedArn + "?tagKeys=a", "", 204},
	}
	for _, tt := range tests {
		w := r.send(tt.method, tt.target, []byte(tt.body))
		if w.Code != tt.status || w.Body.Len() != 0 {
			t.Errorf("%s %s: got %d %q, want %d and no body", tt.method, tt.target, w.Code, w.Body, tt.status)
		}
	}
}

// TestTimesAreNumbers looks at the wire itself: no SDK reads times as strings.
func TestTimesAreNumbers(t *testing.T) {
	r := newRig(t, nil)
	w := r.send(http.MethodPost, vmPath, []byte(`{"imageIdentifier":"`+r.ImageARN(LocalImage)+`"}`))
	var out map[string]any
	if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&out); err != nil {
		t.Fatal(err)
	}
	if got, ok := out["startedAt"].(float64); !ok || got != float64(testStart.Unix()) {
		t.Errorf("startedAt = %v", out["startedAt"])
	}
	for _, secret := range []string{"runHookPayload", "logging", "clientToken"} {
		if _, ok := out[secret]; ok {
			t.Errorf("the answer has %s", secret)
		}
	}
}

// A stalled is a client that sends no body, and the connection it does so on:
// reading ends when a deadline is set, and not before.
type stalled struct {
	httptest.ResponseRecorder
	until chan struct{}
}

func (s *stalled) SetReadDeadline(at time.Time) error {
	if !at.IsZero() {
		close(s.until)
	}
	return nil
}

func (s *stalled) Read([]byte) (int, error) {
	<-s.until
	return 0, os.ErrDeadlineExceeded
}

// TestStalledBody checks that a client can't keep a call open for ever, and
// the cloud from being idle with it.
func TestStalledBody(t *testing.T) {
	r := newRig(t, nil)
	s := &stalled{until: make(chan struct{})}
	defer func() {
		if e := recover(); e != http.ErrAbortHandler {
			t.Errorf("recovered %v, want the connection aborted", e)
		}
		r.clock.Advance(time.Minute)
		if got := r.IdleFor(); got != time.Minute {
			t.Errorf("idle for %v, want a minute", got)
		}
	}()
	r.ServeHTTP(s, httptest.NewRequest(http.MethodPost, vmPath, s))
}
