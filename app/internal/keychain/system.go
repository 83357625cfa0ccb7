package keychain

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"filippo.io/age"
	"github.com/zalando/go-keyring"
)

// service and account name our one item in the keychain of the system.
const (
	service = "arenero"
	account = "key"
)

// A systemKey keeps the key in the keychain of the system, and asks that each
// time: a keychain that is locked locks us out, as it should.
type systemKey struct {
	timeout time.Duration
	busy    *atomic.Bool // a call has not come back
}

// stuck is shared by all stores: there is one keychain, and one dialog is enough.
var stuck atomic.Bool

func newSystemKey(timeout time.Duration) *systemKey { return &systemKey{timeout, &stuck} }

func (k *systemKey) load(ctx context.Context) (*age.X25519Identity, error) {
	var text string
	err := k.do(ctx, "get", func() (err error) {
		text, err = keyring.Get(service, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	key, err := age.ParseX25519Identity(text)
	if err != nil { // the text may be a key, so it is not told
		return nil, &Error{KeyLost, "get", errors.New("the keychain has something else under our name")}
	}
	return key, nil
}

func (k *systemKey) store(ctx context.Context, key *age.X25519Identity) error {
	return k.do(ctx, "set", func() error { return keyring.Set(service, account, key.String()) })
}

func (k *systemKey) remove(ctx context.Context) error {
	err := k.do(ctx, "delete", func() error { return keyring.Delete(service, account) })
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// do makes a call to the keychain, and gives up on it in time: with a dialog open
// it comes back when a person answers, or never. Until then there are no others,
// which would open more dialogs.
func (k *systemKey) do(ctx context.Context, op string, call func() error) error {
	if !k.busy.CompareAndSwap(false, true) {
		return &Error{TimedOut, op, errors.New("an earlier call still waits")}
	}
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := guard(func() error {
			if err := probe(ctx); err != nil {
				return err
			}
			return call()
		})
		// First, so that whoever gets the answer may call again at once.
		k.busy.Store(false)
		done <- err
	}()
	select {
	case err := <-done:
		return classify(op, err)
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return &Error{TimedOut, op, nil}
	}
}

// guard makes a panic an error. The library for the Secret Service has one when
// the bus ends while a dialog is open.
func guard(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the keychain broke off: %v", r)
		}
	}()
	return call()
}

// classify says what an error of the keychain means.
func classify(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNotFound
	case errors.Is(err, keyring.ErrSetDataTooBig):
		return &Error{TooBig, op, err}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return &Error{e.Class, op, e.Err}
	}
	if class := classOf(err); class != "" {
		return &Error{class, op, err}
	}
	return &Error{Other, op, err}
}
