package app

import (
	"cmp"
	"errors"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/sandbox"
)

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
	if e, ok := errors.AsType[*keychain.Error](err); ok {
		return &sandbox.Error{
			Code: sandbox.NoKeychain, Msg: e.Error(), Details: map[string]any{"class": string(e.Class)}, Err: err,
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
	return &sandbox.Error{Code: sandbox.Access, Msg: "the AWS configuration can't be used", Hint: "check the AWS profile and its files", Err: err}
}
