package view

import (
	"reflect"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// A Spot is where somebody is in what a window shows: how far its parts are
// scrolled, and what has the focus. What is drawn anew in another language or in
// other colors can be brought back to it.
type Spot struct {
	scrolled []fyne.Position
	focus    int // number of what has it; -1 is nothing
	kind     reflect.Type
}

// SpotOf is where somebody is in what c shows of root.
func SpotOf(c fyne.Canvas, root fyne.CanvasObject) Spot {
	s := Spot{focus: -1}
	scrolls, focusable := stops(root)
	for _, at := range scrolls {
		s.scrolled = append(s.scrolled, at.Offset)
	}
	for i, f := range focusable {
		if c.Focused() == f {
			s.focus, s.kind = i, reflect.TypeOf(f)
		}
	}
	return s
}

// Return goes back to where somebody was, in a root that is made as the other one
// was. It reports whether there is room for that yet.
func (s Spot) Return(c fyne.Canvas, root fyne.CanvasObject) bool {
	scrolls, focusable := stops(root)
	if len(c.Overlays().List()) == 0 && s.focus >= 0 && s.focus < len(focusable) && reflect.TypeOf(focusable[s.focus]) == s.kind && c.Focused() != focusable[s.focus] {
		c.Focus(focusable[s.focus]) // which scrolls to it
	}
	if len(scrolls) != len(s.scrolled) {
		return false
	}
	whole := true
	for i, at := range scrolls {
		want := s.scrolled[i]
		most := at.Content.MinSize().Subtract(at.Size())
		to := fyne.NewPos(max(0, min(want.X, most.Width)), max(0, min(want.Y, most.Height)))
		whole = whole && to == want
		if to != at.Offset {
			at.ScrollToOffset(to)
		}
	}
	return whole
}

// stops are what can be scrolled in what is seen of root, and what can have the
// focus, in the order in which they are read.
func stops(root fyne.CanvasObject) (scrolls []*container.Scroll, focusable []fyne.Focusable) {
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if o == nil || !o.Visible() {
			return
		}
		if s, ok := o.(*container.Scroll); ok {
			scrolls = append(scrolls, s)
		}
		if f, ok := o.(fyne.Focusable); ok {
			focusable = append(focusable, f)
		}
		for _, child := range below(o) {
			walk(child)
		}
	}
	walk(root)
	return scrolls, focusable
}
