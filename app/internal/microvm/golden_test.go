package microvm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// Every request, as the server gets it: method, escaped path, query, the
// headers that matter, body.
func TestRequests(t *testing.T) {
	ins := samples()
	for _, op := range wire.Operations {
		t.Run(op.Name, func(t *testing.T) {
			rec, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w, op.Status, "") })
			if _, err := invokeByName(t.Context(), newTestClient(url), op.Name, ins[op.Name]); err != nil {
				t.Fatal(err)
			}
			got := rec.requests()
			if len(got) != 1 {
				t.Fatalf("%d requests, want 1", len(got))
			}
			golden(t, "request/"+op.Name+".txt", dump(got[0]))
		})
	}
}

var signature = regexp.MustCompile(`Signature=[0-9a-f]{64}$`)

func dump(r received) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.RequestURI)
	for _, name := range []string{"Content-Type", "Content-Length", "X-Amz-Date", "Amz-Sdk-Request", "Authorization"} {
		v := r.Header.Get(name)
		if name == "Content-Length" && r.ContentLength > 0 {
			v = fmt.Sprint(r.ContentLength)
		}
		if v != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, signature.ReplaceAllString(v, "Signature=..."))
		}
	}
	if len(r.body) > 0 {
		b.WriteByte('\n')
		if err := json.Indent(&b, r.body, "", "  "); err != nil {
			b.Write(r.body)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Every answer: what the file holds is what an output with all members looks
// like on the wire, and it reads back as that output.
func TestAnswers(t *testing.T) {
	ins := samples()
	for _, op := range wire.Operations {
		t.Run(op.Name, func(t *testing.T) {
			want := newOutput(op.Name)
			body, err := json.MarshalIndent(want, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "answer/"+op.Name+".json", append(body, '\n'))
			_, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				if op.Status == http.StatusNoContent {
					body = nil
				}
				answer(w, op.Status, string(body))
			})
			got, err := invokeByName(t.Context(), newTestClient(url), op.Name, ins[op.Name])
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("output = %+v, want %+v", got, want)
			}
		})
	}
}

// The headers that all requests have, and those that only bodies bring.
func TestRequestHeaders(t *testing.T) {
	ins := samples()
	for _, op := range wire.Operations {
		rec, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w, op.Status, "{}") })
		c := newTestClient(url, func(o *Options) { o.AppID = "arenero"; o.Credentials = credentials("session") })
		if _, err := invokeByName(t.Context(), c, op.Name, ins[op.Name]); err != nil {
			t.Fatal(err)
		}
		h := rec.requests()[0].Header
		for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token", "Amz-Sdk-Invocation-Id", "Amz-Sdk-Request", "User-Agent"} {
			if h.Get(name) == "" {
				t.Errorf("%s: no header %s", op.Name, name)
			}
		}
		if got := h.Get("Content-Type") != ""; got != op.Body {
			t.Errorf("%s: has content type is %t, want %t", op.Name, got, op.Body)
		}
		if ua := h.Get("User-Agent"); !strings.Contains(ua, "api/lambdamicrovms") || !strings.Contains(ua, "app/arenero") {
			t.Errorf("%s: user agent = %q", op.Name, ua)
		}
		if h.Get("X-Amz-Target") != "" {
			t.Errorf("%s: has X-Amz-Target", op.Name)
		}
	}
}

// The caller's input must stay as it was: were the token written into it, the
// next call with it would be a replay.
func TestInputStays(t *testing.T) {
	rec, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w, 200, "{}") })
	c := newTestClient(url, func(o *Options) { o.IdempotencyTokenProvider = nil })
	c.options.setDefaults()
	in := &RunMicrovmInput{ImageIdentifier: new(imageARN)}
	var tokens []string
	for range 2 {
		if _, err := c.RunMicrovm(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if in.ClientToken != nil {
		t.Errorf("token %q was written into the input", *in.ClientToken)
	}
	for _, r := range rec.requests() {
		var sent RunMicrovmInput
		if err := json.Unmarshal(r.body, &sent); err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, *sent.ClientToken)
	}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if slices.ContainsFunc(tokens, func(s string) bool { return !uuid.MatchString(s) }) || tokens[0] == tokens[1] {
		t.Errorf("tokens = %q, want two random UUIDs", tokens)
	}
}

// A nil input is an empty one, and what is missing is named before anything is
// sent.
func TestInvalidInputIsNotSent(t *testing.T) {
	rec, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w, 200, "{}") })
	_, err := newTestClient(url).RunMicrovm(t.Context(), nil)
	const want = "operation error Lambda Microvms: RunMicrovm, 1 validation error detected: " +
		"Value at 'imageIdentifier' failed to satisfy constraint: Member must not be null"
	if err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	if got := len(rec.requests()); got != 0 {
		t.Errorf("%d requests, want none", got)
	}
}
