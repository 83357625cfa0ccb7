package app

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

// apiError is the one table from what the API of a cloud fails with to our
// codes.
func apiError(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*sandbox.Error](err); ok {
		return err
	}
	if e := accountError(err); e != nil {
		return e
	}
	e := &sandbox.Error{Code: sandbox.CloudDown, Msg: "the cloud does not answer", Retryable: true, Err: err}
	if unsent(err) {
		e.Hint = "check the network, the region, and the variables HTTPS_PROXY and AWS_ENDPOINT_URL_… of the engine"
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case is[*microvm.ResourceNotFoundException](err):
		e.Code, e.Msg, e.Retryable = sandbox.NotFound, "the cloud knows no such thing", false
	case is[*microvm.ThrottlingException](err), is[*microvm.TooManyRequestsException](err):
		e.Code, e.Msg = sandbox.RateLimited, "the cloud takes no more calls for a moment"
		e.RetryAfter, _ = microvm.RetryAfter(err)
	case is[*microvm.ServiceQuotaExceededException](err):
		e.Code, e.Msg, e.Hint = sandbox.Quota, "a quota of the AWS account is used up", "end a sandbox, or ask AWS for more"
	case is[*microvm.InsufficientCapacityException](err):
		e.Code, e.Msg, e.Hint = sandbox.Capacity, "AWS has no room for a sandbox now", "try later, or another region"
	case is[*microvm.AccessDeniedException](err):
		e.Code, e.Msg, e.Retryable = sandbox.Access, "AWS does not allow it", false
		e.Hint = "check the permissions of these credentials, and that the region has MicroVMs"
	case awsauth.IsAuth(err):
		e.Code, e.Msg, e.Retryable = sandbox.Access, "there are no credentials for AWS", false
		e.Hint = "sign in, or set AWS_PROFILE or AWS_ACCESS_KEY_ID"
	case is[*microvm.ConflictException](err):
		e.Code, e.Msg = sandbox.InTransition, "the sandbox is changing its state"
	case is[*microvm.ValidationException](err), is[*wire.InvalidError](err):
		e.Code, e.Msg, e.Retryable = sandbox.Invalid, "the cloud refuses the request: "+words(err), false
	default:
		if status := microvm.HTTPStatus(err); status == http.StatusUnauthorized || status == http.StatusForbidden {
			e.Code, e.Msg, e.Retryable = sandbox.Access, "AWS refuses these credentials", false
		}
	}
	return e
}

// runError is apiError for the call that makes a VM: what may have got through
// is in doubt.
func runError(err error) error {
	out := apiError(err)
	e, ok := errors.AsType[*sandbox.Error](out)
	switch {
	case ok && e.Code != sandbox.CloudDown:
		return out
	case ok && microvm.HTTPStatus(err) == 0 && (unsent(err) || awsauth.IsAuth(err)):
		return out
	}
	return &sandbox.Error{Code: sandbox.CreateInDoubt, Msg: "the answer of the cloud was lost", Retryable: true, Err: err}
}

// unsent reports whether no connection was had.
func unsent(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// words are what the service says, which quotes nothing secret.
func words(err error) string {
	if e, ok := errors.AsType[*microvm.ValidationException](err); ok {
		return e.ErrorMessage()
	}
	if e, ok := errors.AsType[*wire.InvalidError](err); ok {
		return e.Error()
	}
	return ""
}
