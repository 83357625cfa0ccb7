package fleet_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// TestSignIn tells who looks that a profile wants a person, though nothing of it
// lives, and that it does not any more, and asks no cloud often for it.
func TestSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		says := func(err error) {
			r.cloud.mu.Lock()
			defer r.cloud.mu.Unlock()
			r.cloud.list = func(int) error { return err }
		}
		wants := func(want bool) {
			t.Helper()
			s := r.fleet.Snapshot()
			if got := len(s.Profiles) == 1 && sandbox.CodeOf(asError(s.Profiles[0].Error)) == sandbox.SignIn; got != want {
				t.Errorf("that somebody has to sign in: %v, profiles %+v", got, s.Profiles)
			}
		}
		list := func() error {
			_, err := r.fleet.List(t.Context(), sandbox.ListRequest{})
			return err
		}
		says(&sandbox.Error{Code: sandbox.RateLimited, Msg: "slow down"})
		list()
		wants(false)
		says(&sandbox.Error{Code: sandbox.SignIn, Msg: "who is it?"})
		list()
		wants(true)
		if n := r.pass(10 * time.Minute); n < 5 || n > 11 {
			t.Errorf("%d lists in ten minutes that nobody looks", n)
		}
		wants(true)
		says(nil)
		r.turn("it is seen that somebody has signed in", 2*time.Minute, func() bool {
			s := r.fleet.Snapshot()
			return len(s.Profiles) == 1 && s.Profiles[0].Error == nil
		})
		if n := r.pass(10 * time.Minute); n != 0 {
			t.Errorf("%d lists of nothing", n)
		}
		says(&sandbox.Error{Code: sandbox.SignIn, Msg: "who is it?"})
		list()
		wants(true)
		says(nil)
		list()
		wants(false)
	})
}

// asError is e as an error, of which nil is none.
func asError(e *sandbox.Error) error {
	if e == nil {
		return nil
	}
	return e
}
