// Package desktop asks the session of this user what its desktop can show, and has
// it start our tray at login.
package desktop

import "errors"

// ErrNoBus means that there is no session bus, as over SSH or in a container.
var ErrNoBus = errors.New("no session bus")

// ErrNone means that the system has another way to show icons, which needs no
// asking.
var ErrNone = errors.New("the system shows tray icons itself")
