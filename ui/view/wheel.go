package view

import (
	"runtime"

	"fyne.io/fyne/v2"
)

// wheelNotch is how far the toolkit has a notch of the wheel move, which is less
// than a row. On macOS it is another one, and the system makes it longer itself.
const wheelNotch = 25

// wheelRows is how many rows a notch is to move.
const wheelRows = 3

// turned is e over rows of a height. What fingers do on a pad comes in parts of a
// notch, and is as long as it is.
func turned(e *fyne.ScrollEvent, height float32) *fyne.ScrollEvent {
	if runtime.GOOS == "darwin" {
		return e
	}
	far := func(by float32) float32 {
		if notches := by / wheelNotch; notches == float32(int(notches)) {
			return notches * wheelRows * height
		}
		return by
	}
	out := *e
	out.Scrolled = fyne.NewDelta(far(e.Scrolled.DX), far(e.Scrolled.DY))
	return &out
}
