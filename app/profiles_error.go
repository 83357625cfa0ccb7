package app

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// KeychainTexts is the part of the translation that has what is said of each class
// of the keychain's errors, and what to do.
const KeychainTexts = "keychain"

// english are those texts for logs and for programs.
var english = sync.OnceValue(func() assets.Texts { return assets.Load(assets.English, KeychainTexts) })

// KeychainWords are what a class means and what a person can do, in the language of
// tx. Why is what the keychain said, where that is all that is known.
func KeychainWords(tx assets.Texts, class, why string) (what, do string) {
	key := "keychain.class." + class
	return tx.Get(key, "why", why), tx.Get(key + ".do")
}

// accountError is the one table from what profiles and the keychain fail with to
// our codes; nil is an error of somebody else.
func accountError(err error) error {
	if e, ok := errors.AsType[*awsauth.ErrSignIn](err); ok {
		do := cmp.Or(e.Outside, "arenero profiles login "+e.Profile)
		return &sandbox.Error{
			Code: sandbox.SignIn, Msg: "nobody is signed in to the AWS profile " + e.Profile, Hint: "run \"" + do + "\"; it then works by itself",
			Details: map[string]any{"profile": e.Profile, "why": string(e.Why), "command": do}, Err: err,
		}
	}
	if e, ok := errors.AsType[*awsauth.ErrUnreachable](err); ok {
		return unreachable(e, err)
	}
	if e, ok := errors.AsType[*awsauth.ErrStale](err); ok {
		return &sandbox.Error{
			Code: sandbox.Access, Msg: "AWS profile " + e.Profile + ": the credentials that it was given have expired already",
			Hint:    "check the clock of this computer, and the program or service that gives them",
			Details: map[string]any{"profile": e.Profile, "why": "stale"}, Err: err,
		}
	}
	if e, ok := errors.AsType[*keychain.Error](err); ok {
		what, do := KeychainWords(english(), string(e.Class), clean(cmp.Or(e.Err, error(e))))
		return &sandbox.Error{
			Code: sandbox.NoKeychain, Msg: what, Hint: do, Details: map[string]any{"class": string(e.Class), "why": clean(cmp.Or(e.Err, error(e)))}, Err: err,
			Retryable: e.Class == keychain.TimedOut || e.Class == keychain.WrongPassphrase,
		}
	}
	switch {
	case errors.Is(err, awsauth.ErrWrongCode):
		return &sandbox.Error{Code: sandbox.SignIn, Msg: awsauth.ErrWrongCode.Error(), Details: map[string]any{"why": "wrong_code"}, Retryable: true, Err: err}
	case errors.Is(err, awsauth.ErrNoRegion):
		return &sandbox.Error{Code: sandbox.Access, Msg: "no AWS region is configured", Hint: "set AWS_REGION, or the region of the profile", Err: err}
	}
	if e, ok := errors.AsType[*awsauth.ErrDenied](err); ok {
		return &sandbox.Error{
			Code: sandbox.Access, Msg: "AWS profile " + e.Profile + ": AWS does not allow to " + e.Action, Hint: "check the permissions of the profile, and who may assume its role",
			Details: map[string]any{"profile": e.Profile, "action": e.Action}, Err: err,
		}
	}
	for _, found := range []error{
		as[*awsauth.ErrConfig](err), as[*awsauth.ErrNoProfile](err), as[*awsauth.ErrLoop](err),
	} {
		if found != nil {
			return &sandbox.Error{Code: sandbox.Access, Msg: found.Error(), Hint: "mend the profile, or the files that it comes from", Err: err}
		}
	}
	return nil
}

// unreachable is what kept us from a service of AWS, and what to do about that.
func unreachable(e *awsauth.ErrUnreachable, err error) *sandbox.Error {
	out := &sandbox.Error{
		Code: sandbox.CloudDown, Retryable: true, Err: err,
		Details: map[string]any{"why": string(e.Why), "profile": e.Profile, "host": e.Host},
	}
	host := cmp.Or(e.Host, "AWS")
	switch e.Why {
	case awsauth.Untrusted:
		out.Msg = "the certificate of " + host + " is not trusted here"
		out.Hint = "check the clock; where a proxy looks into connections, name the file with its certificates in AWS_CA_BUNDLE"
	case awsauth.Stranger:
		out.Msg = "it is not AWS that answers at " + host
		out.Hint = "see in a browser whether this network wants a login first; else check the variables HTTPS_PROXY and AWS_ENDPOINT_URL_… of the engine"
	case awsauth.Busy:
		out.Msg, out.Hint = host+" can't serve now", "try again in a moment"
	default:
		out.Msg = host + " can't be reached"
		out.Hint = "check the network, the region, and the variables HTTPS_PROXY and AWS_ENDPOINT_URL_… of the engine"
	}
	if e.Profile != "" {
		out.Msg = "AWS profile " + e.Profile + ": " + out.Msg
	}
	return out
}

// as is the first error of a kind in err, nil if there is none.
func as[T error](err error) error {
	if e, ok := errors.AsType[T](err); ok {
		return e
	}
	return nil
}

// authError is err for those who wanted a configuration.
func authError(err error) error {
	if e := accountError(err); e != nil {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &sandbox.Error{Code: sandbox.Access, Msg: "the AWS configuration can't be used", Hint: "check the AWS profile and its files", Err: err}
}
