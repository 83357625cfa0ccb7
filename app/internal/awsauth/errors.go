package awsauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"
)

// A Reason is why a person has to sign in.
type Reason string

// The reasons.
const (
	NotSignedIn Reason = "not_signed_in" // there is no login
	Expired     Reason = "expired"       // the login is too old, and could not be renewed
	Revoked     Reason = "revoked"       // AWS no longer takes the login
	NeedsMFA    Reason = "needs_mfa"     // a code of the MFA device is needed
	NoKeys      Reason = "no_keys"       // the keychain has no key for the profile
	KeysRefused Reason = "keys_refused"  // AWS does not know the key, or no longer
)

var reasons = map[Reason]string{
	NotSignedIn: "nobody is signed in",
	Expired:     "the login has expired",
	Revoked:     "AWS no longer accepts the login",
	NeedsMFA:    "a code of the MFA device is needed",
	NoKeys:      "there is no key in the keychain",
	KeysRefused: "AWS does not accept the key",
}

// An ErrSignIn means that a profile works only after a person has signed in.
// It then works by itself.
type ErrSignIn struct {
	Profile string
	Why     Reason
	Outside string // the command that signs in, where [Auth.Login] can't
	Err     error  // what AWS said; may be nil
}

// Error says which profile, why, and what to do.
func (e *ErrSignIn) Error() string {
	do := cmp.Or(e.Outside, "arenero profiles login "+e.Profile)
	return fmt.Sprintf("sign in to AWS profile %s: %s: run %s", e.Profile, cmp.Or(reasons[e.Why], string(e.Why)), do)
}

// Unwrap returns what AWS said.
func (e *ErrSignIn) Unwrap() error { return e.Err }

// ErrWrongCode means that a code of an MFA device was wrong, or used before.
var ErrWrongCode = errors.New("the MFA code is wrong or was used before: wait for the next one")

// An ErrDenied means that AWS knows who asks, and says no.
type ErrDenied struct {
	Profile string
	Action  string // such as "assume role ARN"
	Err     error
}

func (e *ErrDenied) Error() string {
	return fmt.Sprintf("AWS profile %s: %s is denied: %v", e.Profile, e.Action, e.Err)
}

// Unwrap returns what AWS said.
func (e *ErrDenied) Unwrap() error { return e.Err }

// An ErrConfig means that a profile can't be used as it is written.
type ErrConfig struct {
	Profile string
	File    string // "" where it is in no file
	Line    int    // 0 where no line can be told
	Why     string
}

func (e *ErrConfig) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		b.WriteString(": ")
	}
	if e.Profile != "" {
		b.WriteString("AWS profile " + e.Profile + ": ")
	}
	return b.String() + e.Why
}

// An ErrStale means that a profile was given credentials that have expired already.
type ErrStale struct {
	Profile string
	Ended   time.Time // in the time of AWS
}

func (e *ErrStale) Error() string {
	return fmt.Sprintf("AWS profile %s: what it was given expired at %s", e.Profile, e.Ended.UTC().Format(time.RFC3339))
}

// An ErrNoProfile means that there is no profile with a name.
type ErrNoProfile struct {
	Name     string
	From     string    // the profile that names it; "" is the person
	Have     []string  // the names there are, sorted
	Problems []Problem // lines of the files that nobody reads, which may be why
}

func (e *ErrNoProfile) Error() string {
	text := "there is no AWS profile " + e.Name
	if e.From != "" {
		text += ", which profile " + e.From + " names as its source"
	}
	if len(e.Have) > 0 {
		text += ": there is " + strings.Join(e.Have, ", ")
	}
	for _, p := range e.Problems {
		text += "; " + p.String()
	}
	return text
}

// An ErrLoop means that the sources of a profile lead back to it.
type ErrLoop struct {
	Names []string // the first is also the last
}

func (e *ErrLoop) Error() string {
	return "the sources of AWS profile " + e.Names[0] + " go in a circle: " + strings.Join(e.Names, " → ")
}

// An apiError is what a service of AWS says.
type apiError interface {
	error
	ErrorCode() string
	ErrorMessage() string
}

// classify is the one table from what services fail with to our errors.
func classify(profile, action string, err error) error {
	if err == nil || ours(err) {
		return err
	}
	if e := Unreachable(err); e != nil {
		return &ErrUnreachable{Profile: profile, Action: action, Host: e.Host, Why: e.Why, Err: e.Err}
	}
	api, ok := errors.AsType[apiError](err)
	if !ok {
		return fmt.Errorf("AWS profile %s: %s: %w", profile, action, err)
	}
	switch api.ErrorCode() {
	case "AccessDenied", "AccessDeniedException":
		// STS has no code of its own for this.
		if strings.Contains(api.ErrorMessage(), "MultiFactorAuthentication failed") {
			return fmt.Errorf("AWS profile %s: %w", profile, ErrWrongCode)
		}
		return &ErrDenied{Profile: profile, Action: action, Err: err}
	case "ForbiddenException", "ResourceNotFoundException", "RegionDisabledException", "InvalidIdentityToken", "IDPRejectedClaim":
		return &ErrDenied{Profile: profile, Action: action, Err: err}
	case "InvalidClientTokenId", "SignatureDoesNotMatch", "UnrecognizedClientException", "InvalidAccessKeyId":
		return &ErrSignIn{Profile: profile, Why: KeysRefused, Err: err}
	case "ExpiredToken", "ExpiredTokenException":
		return &ErrSignIn{Profile: profile, Why: Expired, Err: err}
	case "UnauthorizedException":
		return &ErrSignIn{Profile: profile, Why: Revoked, Err: err}
	}
	return fmt.Errorf("AWS profile %s: %s: %w", profile, action, err)
}

// ours reports whether err is of this package already, so that the profile it
// names is the one to look at.
func ours(err error) bool {
	if e, ok := errors.AsType[*ErrUnreachable](err); ok && e.Profile != "" {
		return true
	}
	return is[*ErrSignIn](err) || is[*ErrDenied](err) || is[*ErrStale](err) || is[*ErrConfig](err) || is[*ErrNoProfile](err) ||
		is[*ErrLoop](err) || errors.Is(err, ErrWrongCode) || errors.Is(err, ErrNoRegion)
}

func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// offline reports whether err says nothing about a login, only about the way to
// AWS.
func offline(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || is[net.Error](err) {
		return true
	}
	api, ok := errors.AsType[apiError](err)
	return !ok || slices.Contains([]string{"InternalServerException", "SlowDownException", "TooManyRequestsException"}, api.ErrorCode())
}

// blank lists the names whose value is empty.
func blank(values map[string]string) string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] == "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
