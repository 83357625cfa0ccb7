package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

// Each class of error of the API has its status, and becomes a code that says
// what to do: for a call that only asks, and for the one that makes a VM.
func TestRX13_ClassesOfErrors(t *testing.T) {
	tests := []struct {
		class  string
		status int
		code   sandbox.Code
		run    sandbox.Code
		retry  bool
	}{
		{wire.Validation, 400, sandbox.Invalid, sandbox.Invalid, false},
		{wire.AccessDenied, 403, sandbox.Access, sandbox.Access, false},
		{wire.ResourceNotFound, 404, sandbox.NotFound, sandbox.NotFound, false},
		{wire.Conflict, 409, sandbox.InTransition, sandbox.InTransition, true},
		{wire.ServiceQuotaExceeded, 402, sandbox.Quota, sandbox.Quota, true},
		{wire.Throttling, 429, sandbox.RateLimited, sandbox.RateLimited, true},
		{wire.InternalServer, 500, sandbox.CloudDown, sandbox.CreateInDoubt, true},
		{wire.InsufficientCapacity, 500, sandbox.Capacity, sandbox.Capacity, true},
		{"SomethingNewException", 503, sandbox.CloudDown, sandbox.CreateInDoubt, true},
		{"", 401, sandbox.Access, sandbox.Access, false},
	}
	for _, tt := range tests {
		if c, known := wire.ErrorClassOf(tt.class); known && c.Status != tt.status {
			t.Errorf("%s has status %d, want %d", tt.class, c.Status, tt.status)
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if tt.class != "" {
				w.Header().Set(wire.HeaderErrorType, tt.class)
			}
			w.WriteHeader(tt.status)
			w.Write([]byte(`{"message":"no"}`))
		}))
		api := microvm.NewFromConfig(awsauth.Static("xx-test-1", "id", "secret", ""), func(o *microvm.Options) {
			o.BaseEndpoint, o.NoRateLimit, o.RetryMaxAttempts = &server.URL, true, 1
		})
		_, get := api.GetMicrovm(t.Context(), &microvm.GetMicrovmInput{MicrovmIdentifier: new("microvm-1")})
		if e := sandbox.ToError(apiError(get)); e.Code != tt.code || e.Retryable != tt.retry || e.Msg == "" {
			t.Errorf("%s %d: code %s, retryable %t, want %s, %t", tt.class, tt.status, e.Code, e.Retryable, tt.code, tt.retry)
		}
		_, run := api.RunMicrovm(t.Context(), &microvm.RunMicrovmInput{ImageIdentifier: new("arn:aws:lambda:xx-test-1:000000000000:microvm-image:x")})
		if e := sandbox.ToError(runError(run)); e.Code != tt.run || e.Retryable != tt.retry {
			t.Errorf("%s %d when a VM is made: code %s, retryable %t, want %s", tt.class, tt.status, e.Code, e.Retryable, tt.run)
		}
		api.CloseIdleConnections()
		server.Close()
	}
}
