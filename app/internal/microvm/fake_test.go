package microvm

import (
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const (
	keyID  = "AKIDEXAMPLE"
	secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

// signedAt is when all requests of the tests are signed.
var signedAt = time.Date(2026, 9, 21, 14, 13, 20, 0, time.UTC)

type fixedToken struct{}

func (fixedToken) GetIdempotencyToken() (string, error) {
	return "00000000-0000-4000-8000-000000000000", nil
}

func credentials(session string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: session}, nil
	})
}

// newTestClient calls url with all that changes from run to run held still.
func newTestClient(url string, optFns ...func(*Options)) *Client {
	return New(Options{
		Region: "us-east-1", BaseEndpoint: &url, Credentials: credentials(""),
		IdempotencyTokenProvider: fixedToken{}, Now: func() time.Time { return signedAt },
	}, optFns...)
}

// A received is a request as it came over the wire.
type received struct {
	*http.Request
	body []byte
}

// A recorder keeps the requests that a server gets.
type recorder struct {
	mu  sync.Mutex
	got []received
}

func (r *recorder) requests() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// serve starts a server that answers with h, which gets the number of the
// request, beginning with 1.
func serve(t *testing.T, h func(n int, w http.ResponseWriter, r *http.Request)) (*recorder, string) {
	t.Helper()
	rec := &recorder{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rec.mu.Lock()
		rec.got = append(rec.got, received{r, body})
		n := len(rec.got)
		rec.mu.Unlock()
		h(n, w, r)
	}))
	t.Cleanup(srv.Close)
	return rec, srv.URL
}

// answer writes a JSON answer as the service does.
func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(wire.HeaderRequestID, "req-1")
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// refuse writes an error answer.
func refuse(w http.ResponseWriter, class, body string) {
	c, _ := wire.ErrorClassOf(class)
	w.Header().Set(wire.HeaderErrorType, class)
	answer(w, c.Status, body)
}

// invokeByName calls the method of c with that name.
func invokeByName(ctx context.Context, c *Client, name string, in any) (any, error) {
	ret := reflect.ValueOf(c).MethodByName(name).Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(in)})
	err, _ := ret[1].Interface().(error)
	return ret[0].Interface(), err
}

// golden compares got with a file, or rewrites the file with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -update makes it)", err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not as it was:\n%s\nwant:\n%s", file, got, want)
	}
}
