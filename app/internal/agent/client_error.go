package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A Code sorts errors by what the caller can do about them.
type Code string

const (
	CodeInvalid  Code = "invalid"   // the request is wrong: change it
	CodeNotFound Code = "not_found" // there is no such thing
	CodeExists   Code = "exists"    // it is there already
	CodeDenied   Code = "denied"    // the sandbox's user may not
	CodeSecret   Code = "secret"    // the access token is not this sandbox's
	CodeToken    Code = "token"     // the proxy refuses the token, or there is none to be had
	CodeState    Code = "state"     // not in the state it is in
	CodeBusy     Code = "busy"      // a limit: wait, then retry
	CodeFull     Code = "disk_full" // free some of the sandbox's disk
	CodeStarting Code = "starting"  // the kernel is not up yet: wait, then retry
	CodeAway     Code = "away"      // the sandbox can't be reached now
	CodeGone     Code = "gone"      // the sandbox has ended
	CodeExpired  Code = "expired"   // the time the sandbox was given is up
	CodeOld      Code = "old"       // the sandbox's image is too old for this
	CodeLost     Code = "lost"      // the end, or output, is no longer known
	CodeUnsure   Code = "unsure"    // cut before the answer: it may have run or not
	CodeTooBig   Code = "too_big"   // more than is collected
	CodeTimeout  Code = "timeout"   // ctx, or the time the call was given, ran out
	CodeCanceled Code = "canceled"  // ctx was cancelled

	CodeNoProgram Code = "no_program" // what is to run is not there
	CodeNoExec    Code = "no_exec"    // or is no program
	CodeInternal  Code = "internal"   // a bug, on one side or the other
)

// An Error is what every method of Client fails with. Msg and Hint hold no
// secret and may be shown; Err is for the log.
type Error struct {
	Code      Code
	Retryable bool // the same call may do better later, and can't run twice
	Msg       string
	Hint      string // what to do next; may be empty
	Err       error  // may be nil
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in err's chain, CodeInternal if
// there is none, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}

// The tokens of the wire that are compared; see the protocol.
const (
	tokenSuspending  = "suspending"
	tokenTerminating = "terminating"
	tokenTimeout     = "sandbox_timeout"
	tokenKernel      = "kernel not ready:"
	tokenReserve     = "disk_reserve"
	tokenFull        = "disk_full"
	tokenNoProgram   = "program not found"
	tokenNoExec      = "program is not executable"
)

// translate is the one table from what gRPC says to a Code. f is what was seen
// of the call.
func translate(err error, f *facts) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Code: CodeCanceled, Msg: "cancelled", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: CodeTimeout, Msg: "the time of the call is up", Err: err}
	}
	s := status.Convert(err)
	if !f.answered() {
		return unanswered(s)
	}
	e := &Error{Msg: "agent: " + s.Message(), Code: CodeInternal}
	switch s.Code() {
	case codes.InvalidArgument:
		e.Code = CodeInvalid
		switch s.Message() {
		case tokenNoProgram:
			e.Code = CodeNoProgram
		case tokenNoExec:
			e.Code = CodeNoExec
		}
	case codes.NotFound:
		e.Code = CodeNotFound
	case codes.AlreadyExists:
		e.Code = CodeExists
	case codes.PermissionDenied:
		e.Code = CodeDenied
	case codes.Unauthenticated:
		e.Code, e.Hint = CodeSecret, "the access token of this sandbox is lost; make a new sandbox"
	case codes.FailedPrecondition:
		e.Code = CodeState
		if s.Message() == tokenTimeout {
			e.Code, e.Msg = CodeExpired, "the time of the sandbox is up"
		}
	case codes.ResourceExhausted:
		e.Code, e.Retryable = CodeBusy, true
		if m := s.Message(); strings.Contains(m, tokenReserve) || strings.Contains(m, tokenFull) {
			e.Code, e.Retryable, e.Hint = CodeFull, false, "remove files from the sandbox"
		}
	case codes.OutOfRange:
		e.Code = CodeLost
	case codes.Unimplemented:
		e.Code, e.Hint = CodeOld, "update the image of the sandbox"
	case codes.Aborted:
		e.Code, e.Retryable = CodeState, true
	case codes.Unavailable:
		e.Code, e.Retryable = CodeAway, true
		switch {
		case strings.HasPrefix(s.Message(), tokenKernel):
			e.Code = CodeStarting
		case s.Message() == tokenTerminating:
			e.Code, e.Retryable = CodeGone, false
		}
	case codes.Canceled:
		e.Code = CodeAway
	case codes.DeadlineExceeded:
		e.Code = CodeTimeout
	}
	return e
}

// unanswered is the error of a call that no agent answered: the proxy did, or
// nobody. Its texts are the proxy's, a page or worse, and not passed on.
func unanswered(s *status.Status) *Error {
	switch code := httpStatus(s); {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return &Error{Code: CodeToken, Msg: "the proxy refuses the token"}
	case code == http.StatusTooManyRequests:
		return &Error{Code: CodeBusy, Msg: "too many connections or requests to the sandbox", Retryable: true}
	case code >= 500:
		return &Error{Code: CodeAway, Msg: fmt.Sprintf("the sandbox does not answer (HTTP %d)", code), Retryable: true}
	case code != 0:
		return &Error{Code: CodeInternal, Msg: fmt.Sprintf("the proxy answers with HTTP %d", code)}
	}
	if unsendable(s) {
		return &Error{Code: CodeInvalid, Msg: "a path or another text of the call is no UTF-8"}
	}
	switch s.Code() {
	case codes.DeadlineExceeded:
		return &Error{Code: CodeTimeout, Msg: "the time of the call is up"}
	case codes.Canceled:
		return &Error{Code: CodeAway, Msg: "the connection to the sandbox was cut", Retryable: true}
	case codes.ResourceExhausted: // our own limits
		return &Error{Code: CodeTooBig, Msg: "the answer is too big"}
	case codes.Unavailable, codes.Unknown, codes.Internal:
		return &Error{Code: CodeAway, Msg: "the connection to the sandbox was cut", Retryable: true, Err: errors.New(s.Code().String())}
	}
	return &Error{Code: CodeInternal, Msg: "the call failed: " + s.Code().String()}
}

// unsendable reports whether the library could not write the call down. It tells
// that in its text alone, as below.
func unsendable(s *status.Status) bool {
	return s.Code() == codes.Internal && strings.HasPrefix(s.Message(), "grpc: error while marshaling")
}

// httpStatus is the status of an answer that was no gRPC, or 0. The library
// tells it in its text alone; a test holds it to that.
func httpStatus(s *status.Status) int {
	var code int
	if _, text, ok := strings.Cut(s.Message(), "HTTP status code received from server: "); ok {
		fmt.Sscanf(text, "%d", &code)
	}
	return code
}
