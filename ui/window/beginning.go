package window

import (
	"context"
	"errors"
	"sync"
	"time"

	"fyne.io/fyne/v2"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A beginning is all that the first picture needs and that takes a while. It is
// asked for and read at once, while the window is made.
type beginning struct {
	prefs <-chan control.Preferences
	snap  <-chan sandbox.Snapshot
	fonts sync.WaitGroup
}

func newBeginning(ctx context.Context, client *control.Client) *beginning {
	prefs, snap := make(chan control.Preferences, 1), make(chan sandbox.Snapshot, 1)
	b := &beginning{prefs: prefs, snap: snap}
	go func() {
		defer close(prefs)
		if p, err := client.Preferences(ctx); err == nil {
			prefs <- p
		}
	}()
	go func() {
		defer close(snap)
		enough := errors.New("the first one is enough")
		client.Watch(ctx, func(s sandbox.Snapshot) error {
			snap <- s
			return enough
		})
	}()
	// The toolkit reads a font, with those that stand in for it, when a text is
	// measured in it first. Nothing else may measure until these are through.
	for _, style := range []fyne.TextStyle{{}, {Bold: true}} {
		b.fonts.Go(func() { fyne.MeasureText("A", 14, style) })
	}
	return b
}

// soonEnough is how long the window waits for what the engine has to say once
// there is nothing else to do, so that it need not change its language, or fill
// its list, before the user's eyes.
const soonEnough = 300 * time.Millisecond

// soon is what comes of a channel in time, if anything does.
func soon[T any](c <-chan T) (v T, ok bool) {
	timer := time.NewTimer(soonEnough)
	defer timer.Stop()
	select {
	case v, ok = <-c:
	case <-timer.C:
	}
	return v, ok
}
