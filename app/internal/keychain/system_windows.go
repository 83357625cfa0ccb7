package keychain

import (
	"context"
	"errors"
	"syscall"
)

// probe finds nothing missing: the Credential Manager is always there.
func probe(context.Context) error { return nil }

// classOf is the class of an error of the Credential Manager.
func classOf(err error) Class {
	if e, ok := errors.AsType[syscall.Errno](err); ok {
		return classOfErrno(uintptr(e))
	}
	return ""
}
