// Package window is the program with the windows: it joins the views to the
// engine, of which it is a client like any other.
package window

import (
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/ui/view"
)

// A core is what the pages of a window share.
type core struct {
	client *control.Client
	env    view.Env
	// goTo opens a page, at a subject of it or "".
	goTo func(page, subject string)
	// toast tells in a line at the foot of the window what went well.
	toast func(text string)
	// fail shows an error where it does not get lost: what is wrong, and what to do.
	fail func(err error)
	// changed has all that depends on the preferences read them again, as the
	// language, which makes all pages anew.
	changed func()
}
