package fleet

import (
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// signInEvery is how often a profile is asked at most whose user has to sign in.
// That costs little, and the user waits to see that it works again.
const signInEvery = 15 * time.Second

// signedOut reports whether r wants a person to sign in.
func (r *reach) signedOut() bool { return r.err != nil && r.err.Code == sandbox.SignIn }

// heard puts down whether a profile wants a person, as a request has shown:
// nothing of it need live for that to be worth knowing. It is asked again by and
// by, until somebody has signed in.
func (f *Fleet) heard(p sandbox.Profile, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.reachLocked(p)
	switch {
	case r.signedOut() == (sandbox.CodeOf(err) == sandbox.SignIn), err != nil && sandbox.CodeOf(err) != sandbox.SignIn:
		return
	case err != nil:
		r.err = sandbox.ToError(err)
	default:
		r.err = nil
	}
	r.every, r.asked = 0, f.clock.Now()
	f.changedLocked()
	f.pokeServe()
}
