package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

const (
	roomMost  = 220
	roomArrow = 24 // beside the text
)

// A Select is one of some words to choose.
type Select struct{ widget.Select }

// NewSelect returns a choice among options. changed may be nil.
func NewSelect(options []string, changed func(string)) *Select {
	s := &Select{widget.Select{Options: options, OnChanged: changed, PlaceHolder: "–"}}
	s.ExtendBaseWidget(s)
	return s
}

// MinSize has room for the widest of the words, unless that is very wide.
func (s *Select) MinSize() fyne.Size {
	size := s.Select.MinSize()
	for _, o := range s.Options {
		w := fyne.MeasureText(o, theme.TextSize(), fyne.TextStyle{}).Width
		size.Width = max(size.Width, 80, min(roomMost, w+roomArrow+3*theme.InnerPadding()))
	}
	return size
}

// FocusGained has the choice come into view.
func (s *Select) FocusGained() {
	s.Select.FocusGained()
	comeIntoView(s)
}

// TypedKey is a key that is pressed while the choice has the focus.
func (s *Select) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace, fyne.KeyUp, fyne.KeyDown, fyne.KeyLeft, fyne.KeyRight:
		s.Select.TypedKey(e)
	case fyne.KeyReturn, fyne.KeyEnter:
		s.Select.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace}) // as a click does
	default:
		toWindow(s, e)
	}
}

// A Check is something that is so, or not.
type Check struct{ widget.Check }

// NewCheck returns a box to tick. changed may be nil.
func NewCheck(label string, changed func(bool)) *Check {
	c := &Check{widget.Check{Text: label, OnChanged: changed}}
	c.ExtendBaseWidget(c)
	return c
}

// FocusGained has the box come into view.
func (c *Check) FocusGained() {
	c.Check.FocusGained()
	comeIntoView(c)
}

// TypedKey is a key that is pressed while the box has the focus. Space comes as
// a letter.
func (c *Check) TypedKey(e *fyne.KeyEvent) {
	if e.Name != fyne.KeySpace {
		toWindow(c, e)
	}
}
