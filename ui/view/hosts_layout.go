package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// besides puts a list and what is said of one of its lines beside each other,
// or, where there is no room for that, above each other.
type besides struct{}

const (
	besidesWide = 600  // from which on there is room
	besidesList = 0.4  // of the width
	besidesHigh = 0.42 // of the height
)

func (besides) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		size = size.Max(fyne.NewSize(o.MinSize().Width, 0))
	}
	return fyne.NewSize(min(size.Width, 320), 240)
}

func (besides) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	list, detail := objects[0], objects[1]
	pad := theme.Padding()
	if size.Width >= besidesWide {
		w := min(size.Width*besidesList, 340)
		list.Resize(fyne.NewSize(w, size.Height))
		list.Move(fyne.NewPos(0, 0))
		detail.Resize(fyne.NewSize(size.Width-w-2*pad, size.Height))
		detail.Move(fyne.NewPos(w+2*pad, 0))
		return
	}
	h := size.Height * besidesHigh
	list.Resize(fyne.NewSize(size.Width, h))
	list.Move(fyne.NewPos(0, 0))
	detail.Resize(fyne.NewSize(size.Width, size.Height-h-pad))
	detail.Move(fyne.NewPos(0, h+pad))
}

// headAndRest puts what scrolls above something else, which gets the room that
// the content of the first does not need, and some in any case.
type headAndRest struct{ content *fyne.Container }

const restLeast = 110

func (headAndRest) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := objects[0].MinSize().Max(fyne.NewSize(280, restLeast))
	if objects[1].Visible() {
		size.Width = max(size.Width, objects[1].MinSize().Width)
		size.Height += restLeast
	}
	return size
}

func (l headAndRest) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	head, rest := objects[0], objects[1]
	h := size.Height
	if rest.Visible() {
		l.content.Resize(fyne.NewSize(size.Width, l.content.MinSize().Height)) // texts wrap now, and so get their height
		h = min(l.content.MinSize().Height, max(size.Height-restLeast, 0))
		rest.Resize(fyne.NewSize(size.Width, max(size.Height-h-theme.Padding(), 0)))
		rest.Move(fyne.NewPos(0, h+theme.Padding()))
	}
	head.Resize(fyne.NewSize(size.Width, h))
	head.Move(fyne.NewPos(0, 0))
}

// flow puts objects one after the other, in as many rows as they need.
type flow struct{}

func (flow) place(objects []fyne.CanvasObject, width float32, put func(o fyne.CanvasObject, at fyne.Position)) (height float32) {
	pad := theme.Padding()
	var at fyne.Position
	for _, o := range objects {
		if !o.Visible() {
			continue
		}
		size := o.MinSize()
		if at.X > 0 && at.X+size.Width > width {
			at = fyne.NewPos(0, height+pad)
		}
		put(o, at)
		at.X += size.Width + pad
		height = max(height, at.Y+size.Height)
	}
	return height
}

func (f flow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	f.place(objects, size.Width, func(o fyne.CanvasObject, at fyne.Position) {
		o.Resize(o.MinSize())
		o.Move(at)
	})
}

// MinSize is as high as the rows that there are now.
func (f flow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		if o.Visible() {
			size = size.Max(o.MinSize())
			size.Height = max(size.Height, o.Position().Y+o.MinSize().Height)
		}
	}
	return size
}

// factRows are labels and values in turn. Values wrap.
type factRows struct{}

const factOverlap = 11 // of texts, which have room above and below

func (factRows) label(objects []fyne.CanvasObject) (width float32) {
	for i := 0; i+1 < len(objects); i += 2 {
		width = max(width, objects[i].MinSize().Width)
	}
	return width
}

func (l factRows) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, factOverlap)
	for i := 0; i+1 < len(objects); i += 2 {
		value := objects[i+1].MinSize()
		size.Width = max(size.Width, value.Width)
		size.Height += max(objects[i].MinSize().Height, value.Height) - factOverlap
	}
	size.Width += l.label(objects)
	return size
}

func (l factRows) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w, y := l.label(objects), float32(0)
	for i := 0; i+1 < len(objects); i += 2 {
		label, value := objects[i], objects[i+1]
		value.Resize(fyne.NewSize(size.Width-w, value.MinSize().Height))
		h := max(label.MinSize().Height, value.MinSize().Height)
		value.Resize(fyne.NewSize(size.Width-w, h))
		value.Move(fyne.NewPos(w, y))
		label.Resize(fyne.NewSize(w, label.MinSize().Height))
		label.Move(fyne.NewPos(0, y))
		y += h - factOverlap
	}
}

// A cardBack is what is behind a card. It follows the theme.
type cardBack struct {
	widget.BaseWidget
	edge       fyne.ThemeColorName
	back, line *canvas.Rectangle
}

func newCardBack(edge fyne.ThemeColorName) *cardBack {
	s := &cardBack{edge: edge, back: canvas.NewRectangle(nil), line: canvas.NewRectangle(nil)}
	s.back.CornerRadius, s.back.StrokeWidth, s.line.CornerRadius = 8, 1, 2
	s.ExtendBaseWidget(s)
	s.paint()
	return s
}

func (s *cardBack) paint() {
	s.back.FillColor, s.back.StrokeColor, s.line.FillColor = theme.Color(ColorCard), theme.Color(theme.ColorNameSeparator), theme.Color(s.edge)
}

// CreateRenderer makes what is drawn.
func (s *cardBack) CreateRenderer() fyne.WidgetRenderer { return cardBackRenderer{s} }

type cardBackRenderer struct{ s *cardBack }

func (r cardBackRenderer) Destroy()           {}
func (r cardBackRenderer) MinSize() fyne.Size { return fyne.NewSize(20, 20) }
func (r cardBackRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.s.back, r.s.line}
}

func (r cardBackRenderer) Layout(size fyne.Size) {
	r.s.back.Resize(size)
	r.s.line.Move(fyne.NewPos(6, 8))
	r.s.line.Resize(fyne.NewSize(4, size.Height-16))
}

func (r cardBackRenderer) Refresh() {
	r.s.paint()
	r.s.back.Refresh()
	r.s.line.Refresh()
}

// card puts objects on a card with an edge in a color.
func card(edge fyne.ThemeColorName, objects ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewStack(newCardBack(edge), container.New(layout.NewCustomPaddedLayout(4, 8, 12, 8), container.NewVBox(objects...)))
}
