package view

import (
	"runtime"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"
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

// A wheelPass lies over an entry of one line, and hands what the wheel does there
// to what the entry is scrolled in: the toolkit has each entry take it, so that a
// page stops as soon as one comes under the mouse.
type wheelPass struct {
	widget.BaseWidget
	over fyne.CanvasObject
}

func newWheelPass(over fyne.CanvasObject) *wheelPass {
	p := &wheelPass{over: over}
	p.ExtendBaseWidget(p)
	return p
}

// CreateRenderer draws nothing.
func (p *wheelPass) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

// Scrolled is a turn of the wheel.
func (p *wheelPass) Scrolled(e *fyne.ScrollEvent) {
	for _, s := range scrollsAround(p.over) {
		before := s.Offset
		if s.Scrolled(e); s.Offset != before {
			return
		}
	}
}

// passing is what an entry is drawn by, with a [wheelPass] over it.
type passing struct {
	fyne.WidgetRenderer
	pass *wheelPass
}

func (r passing) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.pass.Resize(size)
}

func (r passing) Objects() []fyne.CanvasObject {
	return append(slices.Clip(r.WidgetRenderer.Objects()), r.pass)
}
