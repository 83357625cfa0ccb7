// Package view draws the screens of the windows, one file or more for each. A
// view draws what it is shown and raises callbacks; it asks the engine nothing.
// Its methods run on the goroutine of the toolkit.
package view

import (
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/assets"
)

// An Env is what all views of a window have in common. A change of language
// makes new views.
type Env struct {
	Texts  assets.Texts
	Window fyne.Window // that dialogs are in front of
	Now    func() time.Time
	// Explain puts an error into words of the user's language: what is wrong, and
	// what to do.
	Explain func(err error) string
	// Copy puts a text on the clipboard.
	Copy func(text string)
	// Browse opens a page in the user's browser.
	Browse func(url string)
}
