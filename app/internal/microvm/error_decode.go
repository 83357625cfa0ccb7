package microvm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// decodeError makes an error of an answer that is none of success. The name is
// taken from the header, else from the body; the body may be anything, such as
// the HTML of a gateway.
func decodeError(resp *http.Response, body []byte, secrets []string) error {
	var b struct {
		wire.ErrorBody
		Kind string `json:"__type"`
		Code string `json:"code"`
	}
	isJSON := json.Valid(body)
	if isJSON {
		_ = json.Unmarshal(body, &b) // members of odd types are left out
	}
	name := class(resp.Header.Get(wire.HeaderErrorType))
	for _, s := range []string{b.Code, b.Kind} {
		if name == "" {
			name = class(s)
		}
	}
	if b.Message != nil {
		msg := *b.Message
		for _, s := range secrets {
			msg = strings.ReplaceAll(msg, s, "[hidden]")
		}
		b.Message = &msg
	}
	if err := typed(name, b.ErrorBody, seconds(resp.Header.Get(wire.HeaderRetryAfter))); err != nil {
		return err
	}
	e := &smithy.GenericAPIError{Code: name, Fault: smithy.FaultClient}
	if resp.StatusCode >= 500 {
		e.Fault = smithy.FaultServer
	}
	switch {
	case b.Message != nil:
		e.Message = *b.Message
	case !isJSON:
		e.Message = fmt.Sprintf("answer with status %d is not JSON", resp.StatusCode)
	}
	if e.Code == "" {
		e.Code = "UnknownError"
	}
	return e
}

// class strips a namespace before # and a link after a colon.
func class(s string) string {
	s, _, _ = strings.Cut(s, ":")
	if _, after, ok := strings.Cut(s, "#"); ok {
		s = after
	}
	return strings.TrimSpace(s)
}

// RequestID returns the id under which the service knows a failed call, or "".
func RequestID(err error) string {
	if e, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return e.ServiceRequestID()
	}
	return ""
}

// HTTPStatus returns the status of the answer behind err; 0 if there was none.
func HTTPStatus(err error) int {
	if e, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return e.HTTPStatusCode()
	}
	return 0
}

// secretsOf lists what must not come back in a message: the service quotes
// members that it does not like.
func secretsOf(in any) []string {
	var list []string
	add := func(env wire.Secrets) {
		for _, v := range env {
			if len(v) > 3 { // shorter ones would blot out innocent text
				list = append(list, v)
			}
		}
	}
	switch in := in.(type) {
	case *wire.RunMicrovmInput:
		if in.RunHookPayload != nil {
			add(wire.Secrets{"": *in.RunHookPayload})
		}
	case *wire.CreateMicrovmImageInput:
		add(in.EnvironmentVariables)
	case *wire.UpdateMicrovmImageInput:
		add(in.EnvironmentVariables)
	}
	return list
}
