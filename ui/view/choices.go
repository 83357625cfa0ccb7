package view

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
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

// CreateRenderer draws the choice with an edge, as what can be typed into has:
// its ground alone is hardly seen on a page that is as bright.
func (s *Select) CreateRenderer() fyne.WidgetRenderer {
	r := &edgedSelect{WidgetRenderer: s.Select.CreateRenderer(), of: s, edge: canvas.NewRectangle(color.Transparent)}
	r.colored()
	return r
}

type edgedSelect struct {
	fyne.WidgetRenderer
	of   *Select
	edge *canvas.Rectangle
	all  []fyne.CanvasObject
}

func (r *edgedSelect) colored() {
	name := theme.ColorNameInputBorder
	if r.of.Disabled() {
		name = theme.ColorNameSeparator
	}
	r.edge.StrokeColor, r.edge.StrokeWidth = theme.Color(name), theme.Size(theme.SizeNameInputBorder)
	r.edge.CornerRadius = theme.Size(theme.SizeNameInputRadius)
}

// Objects are those of the toolkit, and the edge above them.
func (r *edgedSelect) Objects() []fyne.CanvasObject {
	if inner := r.WidgetRenderer.Objects(); len(r.all) != len(inner)+1 {
		r.all = append(slices.Clone(inner), r.edge)
	}
	return r.all
}

func (r *edgedSelect) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	wide := theme.Size(theme.SizeNameInputBorder)
	r.edge.Move(fyne.NewSquareOffsetPos(wide / 2))
	r.edge.Resize(size.SubtractWidthHeight(wide, wide))
}

func (r *edgedSelect) Refresh() {
	r.colored()
	r.WidgetRenderer.Refresh()
	r.edge.Refresh()
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
