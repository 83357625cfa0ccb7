package microvm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A doer answers requests without a network, so that a fake clock can run.
type doer func(n int, r *http.Request) (*http.Response, error)

// scripted makes clients whose requests d answers, and keeps the bodies sent
// and the times since the first.
func scripted(d doer, bodies *[]string, at *[]time.Duration) func(*Options) {
	begin := time.Now()
	return func(o *Options) {
		o.HTTPClient = httpFunc(func(r *http.Request) (*http.Response, error) {
			var body []byte
			if r.Body != nil {
				body, _ = io.ReadAll(r.Body)
			}
			*bodies = append(*bodies, string(body))
			*at = append(*at, time.Since(begin))
			return d(len(*bodies), r)
		})
	}
}

type httpFunc func(*http.Request) (*http.Response, error)

func (f httpFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func response(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// cut is a body that ends too early.
type cut struct{ io.Reader }

func (c cut) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func (cut) Close() error { return nil }

func TestRetries(t *testing.T) {
	class := func(name string, header ...string) *http.Response {
		c, _ := wire.ErrorClassOf(name)
		return response(c.Status, `{"message":"m"}`, append(header, wire.HeaderErrorType, name)...)
	}
	ok := func() *http.Response { return response(200, `{"microvmId":"microvm-1"}`) }
	tests := []struct {
		name  string
		first func() (*http.Response, error)
		tries int           // the second answer is a success
		delay time.Duration // at least, before the second try
	}{
		{"throttled", func() (*http.Response, error) { return class(wire.Throttling), nil }, 2, 0},
		{"throttled, wait told", func() (*http.Response, error) { return class(wire.Throttling, "Retry-After", "30"), nil }, 2, 30 * time.Second},
		{"throttled, wait too long", func() (*http.Response, error) { return class(wire.Throttling, "Retry-After", "61"), nil }, 1, 0},
		{"throttled, odd wait", func() (*http.Response, error) { return class(wire.Throttling, "Retry-After", "soon"), nil }, 2, 0},
		{"too many", func() (*http.Response, error) { return class(wire.TooManyRequests, "Retry-After", "9"), nil }, 2, 9 * time.Second},
		{"fault", func() (*http.Response, error) { return class(wire.InternalServer, "Retry-After", "5"), nil }, 2, 5 * time.Second},
		{"no capacity", func() (*http.Response, error) { return class(wire.InsufficientCapacity), nil }, 2, 0},
		{"tag fault", func() (*http.Response, error) { return class(wire.ServiceFault), nil }, 2, 0},
		{"gateway", func() (*http.Response, error) { return response(502, "<html>Bad Gateway</html>"), nil }, 2, 0},
		{"unavailable", func() (*http.Response, error) { return response(503, "", "Retry-After", "3"), nil }, 2, 3 * time.Second},
		{"gateway timeout", func() (*http.Response, error) { return response(504, ""), nil }, 2, 0},
		{"unknown throttle", func() (*http.Response, error) { return response(429, "{}"), nil }, 2, 0},
		{"connection lost", func() (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, 2, 0},
		{"answer cut off", func() (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: cut{strings.NewReader(`{"micro`)}}, nil
		}, 2, 0},
		{"quota", func() (*http.Response, error) { return class(wire.ServiceQuotaExceeded), nil }, 1, 0},
		{"denied", func() (*http.Response, error) { return class(wire.AccessDenied), nil }, 1, 0},
		{"not found", func() (*http.Response, error) { return class(wire.ResourceNotFound), nil }, 1, 0},
		{"conflict", func() (*http.Response, error) { return class(wire.Conflict), nil }, 1, 0},
		{"invalid", func() (*http.Response, error) { return class(wire.Validation), nil }, 1, 0},
		{"not JSON", func() (*http.Response, error) { return response(200, "<html>"), nil }, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				var at []time.Duration
				c := newTestClient("http://localhost", scripted(func(n int, _ *http.Request) (*http.Response, error) {
					if n == 1 {
						return tt.first()
					}
					return ok(), nil
				}, &bodies, &at), func(o *Options) { o.IdempotencyTokenProvider = nil })
				out, err := c.RunMicrovm(t.Context(), &RunMicrovmInput{ImageIdentifier: new(imageARN)})
				if len(bodies) != tt.tries {
					t.Fatalf("%d tries, want %d (error %v)", len(bodies), tt.tries, err)
				}
				if tt.tries == 1 {
					if err == nil {
						t.Error("no error")
					}
					return
				}
				if err != nil || aws.ToString(out.MicrovmId) != "microvm-1" {
					t.Fatalf("output %+v, error %v", out, err)
				}
				// The same token, and so the same VM.
				var sent RunMicrovmInput
				if json.Unmarshal([]byte(bodies[0]), &sent) != nil || sent.ClientToken == nil || bodies[0] != bodies[1] {
					t.Errorf("tries sent %q", bodies)
				}
				if at[1]-at[0] < tt.delay {
					t.Errorf("second try after %v, want at least %v", at[1]-at[0], tt.delay)
				}
			})
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	for _, want := range []int{1, 3, 5} {
		synctest.Test(t, func(t *testing.T) {
			var bodies []string
			var at []time.Duration
			c := newTestClient("http://localhost", scripted(func(int, *http.Request) (*http.Response, error) {
				return response(500, "{}", wire.HeaderErrorType, wire.InternalServer), nil
			}, &bodies, &at))
			_, err := c.GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")}, func(o *Options) { o.RetryMaxAttempts = want })
			if _, ok := errors.AsType[*InternalServerException](err); !ok || len(bodies) != want {
				t.Errorf("%d tries, error %v, want %d", len(bodies), err, want)
			}
		})
	}
}

// A caller that goes away is not kept for the wait that the service asked for.
func TestRetryObeysContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []string
		var at []time.Duration
		c := newTestClient("http://localhost", scripted(func(int, *http.Request) (*http.Response, error) {
			return response(429, "{}", "Retry-After", "50", wire.HeaderErrorType, wire.Throttling), nil
		}, &bodies, &at))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		_, err := c.GetMicrovm(ctx, &GetMicrovmInput{MicrovmIdentifier: new("a")})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("error %v after %v, want the deadline's after 1s", err, time.Since(begin))
		}
	})
}

// Each try is signed anew, at its own time.
func TestRetrySignsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dates []string
		var bodies []string
		var at []time.Duration
		c := newTestClient("http://localhost", scripted(func(n int, r *http.Request) (*http.Response, error) {
			dates = append(dates, r.Header.Get("X-Amz-Date"))
			if n == 1 {
				return response(429, "{}", "Retry-After", "30", wire.HeaderErrorType, wire.Throttling), nil
			}
			return response(200, "{}"), nil
		}, &bodies, &at), func(o *Options) { o.Now = time.Now })
		if _, err := c.GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")}); err != nil {
			t.Fatal(err)
		}
		want := []string{"20000101T000000Z", "20000101T000030Z"} // where the fake clock begins
		if !slices.Equal(dates, want) {
			t.Errorf("dates = %q, want %q", dates, want)
		}
	})
}

// A clock that is wrong is put right by the Date of the refusal.
func TestClockSkew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dates, bodies []string
		var at []time.Duration
		c := newTestClient("http://localhost", scripted(func(n int, r *http.Request) (*http.Response, error) {
			dates = append(dates, r.Header.Get("X-Amz-Date"))
			date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
			if n == 1 {
				return response(403, "{}", "Date", date, wire.HeaderErrorType, "InvalidSignatureException"), nil
			}
			return response(200, "{}", "Date", date), nil
		}, &bodies, &at), func(o *Options) { o.Now = time.Now })
		for range 2 {
			if _, err := c.GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")}); err != nil {
				t.Fatal(err)
			}
		}
		if len(dates) != 3 || !strings.HasPrefix(dates[0], "20000101T00") || !strings.HasPrefix(dates[1], "20000101T01") || !strings.HasPrefix(dates[2], "20000101T01") {
			t.Errorf("dates = %q, want one at 00 h and two at 01 h", dates)
		}
	})
}

// A connection that breaks after the request was read.
func TestConnectionReset(t *testing.T) {
	rec, url := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n > 1 {
			answer(w, 200, `{"microvmId":"microvm-1"}`)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.(*net.TCPConn).SetLinger(0) // close with a reset
		conn.Close()
	})
	out, err := newTestClient(url).RunMicrovm(t.Context(), &RunMicrovmInput{ImageIdentifier: new(imageARN)})
	if err != nil || aws.ToString(out.MicrovmId) != "microvm-1" {
		t.Fatalf("output %+v, error %v", out, err)
	}
	if got := rec.requests(); len(got) != 2 || string(got[0].body) != string(got[1].body) {
		t.Errorf("%d requests, want two with the same body", len(got))
	}
}

func TestRetryAfterOf(t *testing.T) {
	if after, ok := RetryAfter(&ThrottlingException{RetryAfterSeconds: i32(4)}); after != 4*time.Second || !ok {
		t.Errorf("retry after %v, %t, want 4s", after, ok)
	}
	for _, err := range []error{nil, io.EOF, &ThrottlingException{}} {
		if after, ok := RetryAfter(err); ok {
			t.Errorf("retry after of %v = %v, want none", err, after)
		}
	}
}
