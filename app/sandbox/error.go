package sandbox

import (
	"context"
	"errors"
	"time"
)

// A Code sorts errors by what the caller can do about them. It is part of what
// tools answer with, so a code is never renamed.
type Code string

// The codes.
const (
	Internal        Code = "internal"          // a bug or an outage: log it, show none of it
	Invalid         Code = "invalid_arguments" // the request is wrong: change it
	NotFound        Code = "not_found"         // no such file, process, job or sandbox
	Exists          Code = "already_exists"
	Denied          Code = "permission_denied" // the sandbox's user may not
	WrongState      Code = "wrong_state"       // what it is about is not in a state for it
	DiskFull        Code = "disk_full"         // of the sandbox
	TooMuch         Code = "limit_exceeded"    // a limit of the sandbox: fewer at once, or less
	Timeout         Code = "timeout"           // the time of the call, or of the command, was up
	Canceled        Code = "canceled"          // by whoever asked
	Unsupported     Code = "unsupported"       // the image is too old for this, or lacks it
	OutputLost      Code = "output_lost"       // how it ended is not known any more
	ExecInDoubt     Code = "exec_in_doubt"     // cut before an answer: it may have run
	NoTemplate      Code = "no_template"       // the profile names no image
	RateLimited     Code = "rate_limited"      // wait, then retry
	CreateFailed    Code = "create_failed"     // no sandbox came of it; the next call tries again
	CreateInDoubt   Code = "create_in_doubt"   // it may exist; the same call finds out
	Quota           Code = "quota_exceeded"    // of the AWS account
	Capacity        Code = "capacity"          // AWS has no room now
	Access          Code = "aws_access"        // no credentials, or they may not
	SignIn          Code = "sign_in_required"  // a person has to sign in to the AWS profile; then it works by itself
	NoKeychain      Code = "keychain_unavailable"
	InTransition    Code = "in_transition"     // it is suspending or waking: the same one in seconds
	Gone            Code = "sandbox_gone"      // it is no more; the next call makes a new one
	CannotExtend    Code = "cannot_extend"     // a life is fixed when it begins
	Unreachable     Code = "app_unreachable"   // the engine does not answer
	OtherVersion    Code = "other_version"     // the engine speaks another protocol than we do
	NoIsolation     Code = "no_isolation"      // this computer can't isolate a sandbox
	CloudDown       Code = "cloud_unavailable" // the profile's cloud does not answer
	StoreDown       Code = "ledger_unavailable"
	Forbidden       Code = "forbidden_scope" // the grant does not cover it
	ConsentRequired Code = "owner_consent_required"

	Unauthenticated Code = "unauthenticated" // no token, or none that opens anything
	TokenExpired    Code = "token_expired"
	TokenRevoked    Code = "token_revoked" // or disabled by its owner
	HoursRequired   Code = "hours_required"
	HoursTooLong    Code = "hours_too_long"
	TemplateDenied  Code = "template_not_allowed"
	ProfileDenied   Code = "profile_not_allowed"
	Concurrency     Code = "concurrency_limit" // of the grant
	PriceUnknown    Code = "price_unknown"
	BudgetExceeded  Code = "budget_exceeded"
	OverLimit       Code = "over_limit" // a settlement was larger than its hold
	KeyReused       Code = "idempotency_key_reused"
	KeyInFlight     Code = "idempotency_in_flight"
	ClockSuspect    Code = "clock_suspect"
)

// DetailProgram is the key among the details of an Invalid that says what is
// wrong with the program of an Exec.
const (
	DetailProgram        = "program"
	ProgramMissing       = "missing"
	ProgramNotExecutable = "not_executable"
)

// An Error may be shown to a person: Msg, Hint and Details hold no secrets.
type Error struct {
	Code       Code           `json:"code"`
	Msg        string         `json:"message"`
	Hint       string         `json:"hint,omitempty"` // what to do next
	Retryable  bool           `json:"retryable"`
	RetryAfter time.Duration  `json:"retry_after,omitempty"`
	Details    map[string]any `json:"details,omitempty"`
	Err        error          `json:"-"` // the cause, for the log only; may be nil
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first Error in err's chain, what ctx errors
// come to, Internal if there is none, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return ToError(err).Code
}

// ToError returns the first Error in err's chain, or one that hides err.
func ToError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Code: Canceled, Msg: "cancelled", Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: Timeout, Msg: "the time of the call is up", Err: err}
	}
	return &Error{Code: Internal, Msg: "something went wrong that should not", Hint: "the log says more", Err: err}
}

// Message is err as a person may see it, with what to do next.
func Message(err error) string {
	e := ToError(err)
	if e == nil {
		return ""
	}
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + ": " + e.Hint
}
