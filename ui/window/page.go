package window

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/sandbox"
)

// A page is one entry of the window's side bar: it joins a view to the engine.
// All its methods run on the goroutine of the toolkit.
type page interface {
	// name is a word of its own: of its title in the texts ("window.page.NAME")
	// and of "arenero-window --page".
	name() string
	icon() fyne.Resource
	// open makes the view, in the language of now.
	open() fyne.CanvasObject
	// show takes in what the engine tells of all sandboxes, also while another
	// page is seen. A page that has not been opened is shown nothing.
	show(s sandbox.Snapshot)
	// enter begins what is needed while the page is seen: ctx is done when it is
	// left, hidden with its window, or built anew. The engine is there.
	enter(ctx context.Context)
	// tick draws what time changes, once a second while the page is seen.
	tick(now time.Time)
}

// A losable page shows that what it has may not be so any more: the engine is
// away, until show is called again.
type losable interface {
	page
	lose()
}

// A placed page can be led to one thing on it, as by a click on a notice.
type placed interface {
	page
	place(subject string)
}
