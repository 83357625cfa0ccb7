package view

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

const (
	cellPad    = 5 // at both sides of a cell
	rowPad     = 6 // above and below its text
	ringWide   = 2 // line around what has the focus
	scrollRoom = 8 // that the bar to scroll with covers at the right
)

// colorOf is a color of the theme of w, as it is now.
func colorOf(w *widget.BaseWidget, name fyne.ThemeColorName) color.Color {
	return w.Theme().Color(name, fyne.CurrentApp().Settings().ThemeVariant())
}

// A ring is drawn around what has the focus.
func newRing() *canvas.Rectangle {
	r := canvas.NewRectangle(color.Transparent)
	r.StrokeWidth, r.CornerRadius = ringWide, 3
	r.Hide()
	return r
}

// A tableHead is the line with the titles. It is one stop for Tab: arrows go
// from title to title, Space and Enter sort.
type tableHead struct {
	widget.BaseWidget
	t       *Table
	at      int // title that has the focus
	focused bool
	offset  float32 // how far the rows are scrolled sidewards
	pointer int     // title under the pointer, or -1
}

func newTableHead(t *Table) *tableHead {
	h := &tableHead{t: t, pointer: -1}
	h.ExtendBaseWidget(h)
	return h
}

func (h *tableHead) width() float32 { return max(h.Size().Width, h.t.least()) }

func (h *tableHead) shift(x float32) {
	if x != h.offset {
		h.offset = x
		h.Refresh()
	}
}

// Tapped sorts.
func (h *tableHead) Tapped(e *fyne.PointEvent) {
	i := h.t.columnAt(e.Position.X+h.offset, h.width())
	if i >= 0 && h.t.columns[i].Sort {
		h.at = i
	}
	h.t.sort(i)
}

// FocusGained shows which title Space is about.
func (h *tableHead) FocusGained() {
	h.focused = true
	comeIntoView(h)
	if !h.t.columns[h.at].Sort {
		h.step(1)
	}
	h.Refresh()
}

// FocusLost hides it.
func (h *tableHead) FocusLost() {
	h.focused = false
	h.Refresh()
}

// TypedRune is for others.
func (h *tableHead) TypedRune(rune) {}

// TypedKey goes from title to title, or sorts.
func (h *tableHead) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		h.step(-1)
	case fyne.KeyRight:
		h.step(1)
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		h.t.sort(h.at)
	case fyne.KeyDown:
		h.t.Focus()
	default:
		toWindow(h, e)
	}
}

// step goes to the next title that sorts.
func (h *tableHead) step(by int) {
	for i := h.at + by; i >= 0 && i < len(h.t.columns); i += by {
		if h.t.columns[i].Sort && h.t.there(h.t.columns[i]) {
			h.at = i
			h.Refresh()
			return
		}
	}
}

// MouseIn and the like show what can be clicked.
func (h *tableHead) MouseIn(e *desktop.MouseEvent) { h.MouseMoved(e) }

// MouseMoved is part of that.
func (h *tableHead) MouseMoved(e *desktop.MouseEvent) {
	i := h.t.columnAt(e.Position.X+h.offset, h.width())
	if i >= 0 && !h.t.columns[i].Sort {
		i = -1
	}
	h.point(i)
}

// MouseOut is part of that.
func (h *tableHead) MouseOut() { h.point(-1) }

func (h *tableHead) point(i int) {
	if i != h.pointer {
		h.pointer = i
		h.Refresh()
	}
}

// CreateRenderer is what the toolkit asks for.
func (h *tableHead) CreateRenderer() fyne.WidgetRenderer {
	r := &headRenderer{h: h, ring: newRing(), line: canvas.NewRectangle(nil), back: canvas.NewRectangle(nil)}
	r.back.CornerRadius = 3
	inner := container.NewWithoutLayout(r.back)
	for range h.t.columns {
		r.titles = append(r.titles, canvas.NewText("", nil))
	}
	for _, text := range r.titles {
		inner.Add(text)
	}
	r.arrow = canvas.NewImageFromResource(nil)
	r.arrow.FillMode = canvas.ImageFillContain
	inner.Add(r.arrow)
	inner.Add(r.ring)
	r.inner = inner
	r.clip = container.NewClip(inner)
	r.apply()
	return r
}

type headRenderer struct {
	h          *tableHead
	inner      *fyne.Container
	clip       *container.Clip
	titles     []*canvas.Text
	arrow      *canvas.Image
	back, line *canvas.Rectangle
	ring       *canvas.Rectangle
}

func (r *headRenderer) apply() {
	w := &r.h.BaseWidget
	for i, text := range r.titles {
		text.TextSize, text.TextStyle.Bold = sizeOfText(w), true
		text.Color = colorOf(w, theme.ColorNameForeground)
		text.Alignment = fyne.TextAlignLeading
		if r.h.t.columns[i].Right {
			text.Alignment = fyne.TextAlignTrailing
		}
	}
	r.line.FillColor = colorOf(w, theme.ColorNameSeparator)
	r.back.FillColor = colorOf(w, theme.ColorNameHover)
	r.back.Hidden = r.h.pointer < 0
	r.ring.StrokeColor = colorOf(w, theme.ColorNamePrimary)
	r.ring.Hidden = !r.h.focused
	r.arrow.Resource = theme.MoveUpIcon()
	if r.h.t.descending {
		r.arrow.Resource = theme.MoveDownIcon()
	}
	r.arrow.Hidden = r.h.t.sorted < 0
}

func (r *headRenderer) Layout(size fyne.Size) {
	t := r.h.t
	x := -r.h.offset
	inline := r.h.Theme().Size(theme.SizeNameText)
	for i, w := range t.widths(r.h.width()) {
		if r.titles[i].Hidden = w == 0; w == 0 {
			if i == t.sorted {
				r.arrow.Hidden = true
			}
			continue
		}
		room := w - 2*cellPad
		left := x + cellPad
		text := r.titles[i]
		if i == t.sorted {
			room = max(0, room-inline-2)
		}
		text.Text = ellipsis(t.columns[i].Title, room, text.TextSize, text.TextStyle)
		measured := fyne.MeasureText(text.Text, text.TextSize, text.TextStyle)
		text.Move(fyne.NewPos(left, (size.Height-measured.Height)/2))
		text.Resize(fyne.NewSize(room, measured.Height))
		if i == t.sorted {
			at := left + measured.Width + 2
			if t.columns[i].Right {
				at = left + room + 2
			}
			r.arrow.Move(fyne.NewPos(at, (size.Height-inline)/2))
			r.arrow.Resize(fyne.NewSquareSize(inline))
		}
		cell := fyne.NewPos(x+1, 1)
		if i == r.h.pointer {
			r.back.Move(cell)
			r.back.Resize(fyne.NewSize(w-2, size.Height-3))
		}
		if i == r.h.at {
			r.ring.Move(cell)
			r.ring.Resize(fyne.NewSize(w-2, size.Height-3))
		}
		x += w
	}
	r.clip.Resize(size)
	r.inner.Resize(size)
	r.line.Move(fyne.NewPos(0, size.Height-1))
	r.line.Resize(fyne.NewSize(size.Width, 1))
}

func (r *headRenderer) MinSize() fyne.Size {
	return fyne.NewSize(40, fyne.MeasureText("Mg", sizeOfText(&r.h.BaseWidget), fyne.TextStyle{Bold: true}).Height+2*rowPad)
}

func (r *headRenderer) Refresh() {
	r.apply()
	r.Layout(r.h.Size())
	r.inner.Refresh()
	r.line.Refresh()
}

func (r *headRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.clip, r.line} }
func (r *headRenderer) Destroy()                     {}
