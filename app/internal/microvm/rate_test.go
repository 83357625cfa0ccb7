package microvm

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// Calls go at once up to the burst, then at the published rate.
func TestRates(t *testing.T) {
	ins := samples()
	for _, op := range wire.Operations {
		t.Run(op.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				var at []time.Duration
				c := newTestClient("http://localhost", scripted(func(int, *http.Request) (*http.Response, error) {
					return response(op.Status, ""), nil
				}, &bodies, &at))
				n := 3 * max(op.Rate, 1)
				for range n {
					if _, err := invokeByName(t.Context(), c, op.Name, ins[op.Name]); err != nil {
						t.Fatal(err)
					}
				}
				for i, got := range at {
					want := time.Duration(0)
					if op.Rate > 0 && i >= op.Rate {
						want = time.Duration(i-op.Rate+1) * time.Second / time.Duration(op.Rate)
					}
					if d := got - want; d.Abs() > time.Microsecond {
						t.Fatalf("call %d went after %v, want %v", i+1, got, want)
					}
				}
			})
		})
	}
}

// Tries count as calls: to the service they are.
func TestRateCountsTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []string
		var at []time.Duration
		c := newTestClient("http://localhost", scripted(func(int, *http.Request) (*http.Response, error) {
			return response(500, ""), nil
		}, &bodies, &at))
		in := &SuspendMicrovmInput{MicrovmIdentifier: new("a")}
		if _, err := c.SuspendMicrovm(t.Context(), in); err == nil {
			t.Fatal("no error")
		}
		if len(at) != 3 || at[2] < 500*time.Millisecond-time.Microsecond { // the bucket counts in floats
			t.Errorf("tries went after %v, want the third at 500ms or later", at)
		}
	})
}

func TestRateObeysContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies []string
		var at []time.Duration
		c := newTestClient("http://localhost", scripted(func(int, *http.Request) (*http.Response, error) {
			return response(200, ""), nil
		}, &bodies, &at))
		in := &SuspendMicrovmInput{MicrovmIdentifier: new("a")}
		for range 2 {
			if _, err := c.SuspendMicrovm(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := c.SuspendMicrovm(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want the deadline's", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := c.SuspendMicrovm(ctx, in); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v, want that of the cancel", err)
		}
		if len(at) != 2 {
			t.Errorf("%d requests, want 2", len(at))
		}
		// Not AWS, no rate.
		begin := time.Now()
		for range 50 {
			if _, err := c.SuspendMicrovm(t.Context(), in, func(o *Options) { o.NoRateLimit = true }); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(begin) != 0 {
			t.Errorf("50 calls without a rate took %v", time.Since(begin))
		}
	})
}
