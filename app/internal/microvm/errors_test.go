package microvm

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// once makes clients that do not try again.
func once(o *Options) { o.RetryMaxAttempts = 1 }

const errorBody = `{"message":"no such luck","resourceId":"r","resourceType":"T","serviceCode":"lambda","quotaCode":"L-1","Type":"User"}`

func typedErrors() map[string]error {
	msg, r, ty, svc, q, user := new("no such luck"), new("r"), new("T"), new("lambda"), new("L-1"), new("User")
	return map[string]error{
		wire.AccessDenied:          &AccessDeniedException{Message: msg},
		wire.Conflict:              &ConflictException{Message: msg, ResourceId: r, ResourceType: ty},
		wire.InternalServer:        &InternalServerException{Message: msg, RetryAfterSeconds: i32(7)},
		wire.ResourceNotFound:      &ResourceNotFoundException{Message: msg, ResourceId: r, ResourceType: ty},
		wire.Throttling:            &ThrottlingException{Message: msg, ServiceCode: svc, QuotaCode: q, RetryAfterSeconds: i32(7)},
		wire.Validation:            &ValidationException{Message: msg},
		wire.ServiceQuotaExceeded:  &ServiceQuotaExceededException{Message: msg, ResourceId: r, ResourceType: ty, ServiceCode: svc, QuotaCode: q},
		wire.InsufficientCapacity:  &InsufficientCapacityException{Message: msg},
		wire.InvalidParameterValue: &InvalidParameterValueException{Message: msg, Type: user},
		wire.ResourceConflict:      &ResourceConflictException{Message: msg, Type: user},
		wire.ServiceFault:          &ServiceException{Message: msg, Type: user},
		wire.TooManyRequests:       &TooManyRequestsException{Message: msg, Type: user},
	}
}

// Each class of error from each operation that has it.
func TestErrorClasses(t *testing.T) {
	ins, want := samples(), typedErrors()
	for _, op := range wire.Operations {
		for _, class := range op.Errors {
			t.Run(op.Name+"/"+class, func(t *testing.T) {
				c, _ := wire.ErrorClassOf(class)
				_, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Retry-After", "7")
					refuse(w, class, errorBody)
				})
				_, err := invokeByName(t.Context(), newTestClient(url, once), op.Name, ins[op.Name])
				target := reflect.New(reflect.TypeOf(want[class]))
				if !errors.As(err, target.Interface()) {
					t.Fatalf("error = %v, want a %T", err, want[class])
				}
				if got := target.Elem().Interface(); !reflect.DeepEqual(got, want[class]) {
					t.Errorf("error = %+v, want %+v", got, want[class])
				}
				api, _ := errors.AsType[smithy.APIError](err)
				if api.ErrorCode() != class || api.ErrorMessage() != "no such luck" {
					t.Errorf("code %q, message %q", api.ErrorCode(), api.ErrorMessage())
				}
				if got := api.ErrorFault() == smithy.FaultServer; got != (c.Status >= 500) {
					t.Errorf("fault = %s with status %d", api.ErrorFault(), c.Status)
				}
				if HTTPStatus(err) != c.Status || RequestID(err) != "req-1" {
					t.Errorf("status %d, request id %q, want %d, req-1", HTTPStatus(err), RequestID(err), c.Status)
				}
				if after, ok := RetryAfter(err); after != 7*time.Second || !ok {
					t.Errorf("retry after %v, %t, want 7s", after, ok)
				}
				if opErr, ok := errors.AsType[*smithy.OperationError](err); !ok || opErr.OperationName != op.Name {
					t.Errorf("error does not name %s: %v", op.Name, err)
				}
			})
		}
	}
}

func TestErrorForms(t *testing.T) {
	tests := []struct {
		name, header, body string
		status             int
		code, message      string
		generic            bool
	}{
		{"header", "ValidationException", `{"message":"m"}`, 400, "ValidationException", "m", false},
		{"header with link", "ValidationException:http://x/", `{"message":"m"}`, 400, "ValidationException", "m", false},
		{"header with namespace", "aws.lambda#ConflictException", `{}`, 409, "ConflictException", "", false},
		{"header before body", "ConflictException", `{"__type":"ValidationException"}`, 409, "ConflictException", "", false},
		{"body type", "", `{"__type":"com.amazonaws#ValidationException:x","Message":"m"}`, 400, "ValidationException", "m", false},
		{"body code", "", `{"code":"ConflictException"}`, 409, "ConflictException", "", false},
		{"null message", "AccessDeniedException", `{"message":null}`, 403, "AccessDeniedException", "", false},
		{"odd message", "AccessDeniedException", `{"message":{"a":1}}`, 403, "AccessDeniedException", "", false},
		{"no body", "AccessDeniedException", ``, 403, "AccessDeniedException", "", false},
		{"unknown class", "BrandNewException", `{"message":"m"}`, 418, "BrandNewException", "m", true},
		{"nothing", "", `{}`, 400, "UnknownError", "", true},
		{"a list", "", `[1]`, 400, "UnknownError", "", true},
		{"html", "", `<html>Not Found</html>`, 404, "UnknownError", "answer with status 404 is not JSON", true},
		{"redirect", "", ``, 304, "UnknownError", "answer with status 304 is not JSON", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				if tt.header != "" {
					w.Header().Set(wire.HeaderErrorType, tt.header)
				}
				answer(w, tt.status, tt.body)
			})
			_, err := newTestClient(url, once).GetMicrovm(t.Context(), &GetMicrovmInput{MicrovmIdentifier: new("a")})
			api, ok := errors.AsType[smithy.APIError](err)
			if !ok {
				t.Fatalf("error = %v, want an API error", err)
			}
			if api.ErrorCode() != tt.code || api.ErrorMessage() != tt.message {
				t.Errorf("code %q, message %q, want %q, %q", api.ErrorCode(), api.ErrorMessage(), tt.code, tt.message)
			}
			if _, generic := api.(*smithy.GenericAPIError); generic != tt.generic {
				t.Errorf("error is a %T", api)
			}
			if re, ok := errors.AsType[*awshttp.ResponseError](err); !ok || re.HTTPStatusCode() != tt.status {
				t.Errorf("status of %v is not %d", err, tt.status)
			}
		})
	}
}

func TestSuccessForms(t *testing.T) {
	in := &GetMicrovmInput{MicrovmIdentifier: new("a")}
	tests := []struct {
		name, body, err string
	}{
		{"empty", "", ""},
		{"blank", " \n", ""},
		{"empty object", "{}", ""},
		{"null", "null", ""},
		{"unknown members", `{"new":{"deep":[1]}}`, ""},
		{"unknown state", `{"state":"DREAMING"}`, ""},
		{"time as string", `{"startedAt":"2026-01-01T00:00:00Z"}`, "startedAt: timestamp is not a JSON number"},
		{"wrong type", `{"microvmId":5}`, "deserialization failed"},
		{"html", `<html>`, "deserialization failed"},
		{"cut off", `{"microvmId":"a`, "deserialization failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec, url := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) { answer(w, 200, tt.body) })
			out, err := newTestClient(url).GetMicrovm(t.Context(), in)
			switch {
			case tt.err == "" && (err != nil || out == nil):
				t.Errorf("output %v, error %v, want an output", out, err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error = %v, want %q", err, tt.err)
			}
			if got := len(rec.requests()); got != 1 {
				t.Errorf("%d requests, want 1", got)
			}
		})
	}
}

// What the service must not learn twice, nobody else may learn from an error.
func TestSecretsStayOut(t *testing.T) {
	const hush = "hush-hush"
	echo := func(_ int, w http.ResponseWriter, _ *http.Request) {
		refuse(w, wire.Validation, `{"message":"Value '`+hush+`' is bad"}`)
	}
	_, url := serve(t, echo)
	c := newTestClient(url)
	run := &RunMicrovmInput{ImageIdentifier: new(imageARN), RunHookPayload: new(hush)}
	create := samples()["CreateMicrovmImage"].(*CreateMicrovmImageInput)
	create.EnvironmentVariables = wire.Secrets{"K": hush}
	_, err1 := c.RunMicrovm(t.Context(), run)
	_, err2 := c.CreateMicrovmImage(t.Context(), create)
	// A token in an answer that can't be read.
	_, url = serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, `{"authToken":{"X-aws-proxy-auth":"`+hush+`","n":["`+hush+`"]}}`)
	})
	_, err3 := newTestClient(url).CreateMicrovmShellAuthToken(t.Context(), &CreateMicrovmShellAuthTokenInput{MicrovmIdentifier: new("a"), ExpirationInMinutes: i32(1)})
	for i, err := range []error{err1, err2, err3} {
		if err == nil || strings.Contains(err.Error(), hush) || strings.Contains(err.Error(), secret) {
			t.Errorf("error %d = %v, want one without secrets", i+1, err)
		}
	}
}
