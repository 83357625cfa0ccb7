package view

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A tableScroll is what the rows are scrolled in. The turns of the wheel are its
// own, and not those of the rows: the toolkit takes whatever the wheel is for to be
// seen whole, and would give rows that are scrolled out of sight the clicks at what
// is there in their place.
type tableScroll struct {
	container.Scroll
	body *tableBody
}

func newTableScroll(b *tableBody) *tableScroll {
	s := &tableScroll{Scroll: container.Scroll{Content: b}, body: b}
	s.ExtendBaseWidget(s)
	return s
}

// Scrolled is a turn of the wheel.
func (s *tableScroll) Scrolled(e *fyne.ScrollEvent) { s.Scroll.Scrolled(turned(e, s.body.height)) }

// A tableBody is all rows as one thing to scroll. It has objects for those that
// are seen, and uses them again for others.
type tableBody struct {
	widget.BaseWidget
	t       *Table
	height  float32 // of a row
	bars    bool    // there has been one
	focused bool
	pointer int // row under the pointer, or -1
	lines   []*tableLine
	ring    *canvas.Rectangle
	objects []fyne.CanvasObject
}

func newTableBody(t *Table) *tableBody {
	b := &tableBody{t: t, pointer: -1, ring: newRing()}
	b.ExtendBaseWidget(b)
	b.objects = []fyne.CanvasObject{b.ring}
	b.measure()
	return b
}

// measure finds how high rows are: as high as a bar, once there has been one.
func (b *tableBody) measure() {
	text := fyne.MeasureText("Mg", sizeOfText(&b.BaseWidget), fyne.TextStyle{}).Height
	height := text + 2*rowPad
	if b.bars {
		height = text + barGap + barHeight + 2*rowPad - 2
	}
	if height != b.height {
		b.height = height
		for _, l := range b.lines {
			l.stale = true
		}
	}
}

// look looks for bars among rows.
func (b *tableBody) look(rows []Row) {
	for _, r := range rows {
		if b.bars {
			return
		}
		b.bars = slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Bar != nil })
	}
}

// draw has the objects show the rows that are seen now. What looks as before is
// left alone.
func (b *tableBody) draw() {
	b.measure()
	t := b.t
	view, top := t.scroll, t.scroll.Offset.Y
	first := int(top / b.height)
	last := min(len(t.rows), int((top+view.Size().Height)/b.height)+1)
	width := max(t.least(), view.Size().Width)
	grown := false
	for len(b.lines) < last-first {
		l := newTableLine(b)
		b.lines = append(b.lines, l)
		b.objects = append(b.objects[:len(b.objects)-1:len(b.objects)-1], l.objects()...)
		b.objects = append(b.objects, b.ring)
		grown = true
	}
	widths := t.widths(width)
	for _, l := range b.lines {
		l.seen = false
	}
	// A row keeps its object while it is seen, so that a scroll by one row
	// changes one object.
	for i := first; i < last; i++ {
		l := b.lines[i%len(b.lines)]
		l.seen = true
		l.show(t.rows[i], float32(i)*b.height, widths, t.rows[i].ID == t.selected, i == b.pointer)
	}
	for _, l := range b.lines {
		l.hide(!l.seen)
	}
	at, ok := t.index[t.selected]
	if b.focused {
		pos, size := fyne.NewPos(t.scroll.Offset.X+1, top+1), view.Size().SubtractWidthHeight(2, 2)
		if ok && t.seen(at) {
			pos, size = fyne.NewPos(1, float32(at)*b.height), fyne.NewSize(width-2, b.height-1)
		}
		if b.ring.Position() != pos || b.ring.Size() != size {
			b.ring.Move(pos)
			b.ring.Resize(size)
		}
	}
	if b.ring.Hidden == b.focused {
		b.ring.Hidden = !b.focused
		b.ring.StrokeColor = colorOf(&b.BaseWidget, theme.ColorNamePrimary)
		b.ring.Refresh()
	}
	if grown {
		canvas.Refresh(b)
	}
}

func (b *tableBody) rowAt(p fyne.Position) int {
	if i := int(p.Y / b.height); p.Y >= 0 && i < len(b.t.rows) {
		return i
	}
	return -1
}

// MouseDown selects at once, and not only when it is known that no double click
// follows.
func (b *tableBody) MouseDown(e *desktop.MouseEvent) {
	focus(b)
	if i := b.rowAt(e.Position); i >= 0 {
		b.t.choose(i)
	}
}

// MouseUp has nothing more to do.
func (b *tableBody) MouseUp(*desktop.MouseEvent) {}

// Tapped is for screens that are touched.
func (b *tableBody) Tapped(e *fyne.PointEvent) {
	if i := b.rowAt(e.Position); i >= 0 {
		b.t.choose(i)
	}
}

// DoubleTapped opens.
func (b *tableBody) DoubleTapped(e *fyne.PointEvent) {
	if i := b.rowAt(e.Position); i >= 0 {
		b.t.choose(i)
		b.t.open()
	}
}

// TappedSecondary shows the menu of a row.
func (b *tableBody) TappedSecondary(e *fyne.PointEvent) {
	if i := b.rowAt(e.Position); i >= 0 {
		b.t.choose(i)
		b.t.menu(e.Position)
	}
}

// MouseIn and the like show which row a click is about.
func (b *tableBody) MouseIn(e *desktop.MouseEvent) { b.MouseMoved(e) }

// MouseMoved is part of that.
func (b *tableBody) MouseMoved(e *desktop.MouseEvent) { b.point(b.rowAt(e.Position)) }

// MouseOut is part of that.
func (b *tableBody) MouseOut() { b.point(-1) }

func (b *tableBody) point(i int) {
	if i != b.pointer {
		b.pointer = i
		b.draw()
	}
}

// FocusGained shows where keys go to.
func (b *tableBody) FocusGained() {
	b.focused = true
	b.draw()
	comeIntoView(b.t.object) // and the table looks for the row
}

// FocusLost is part of that.
func (b *tableBody) FocusLost() {
	b.focused = false
	b.draw()
}

// TypedRune is for others.
func (b *tableBody) TypedRune(rune) {}

// TypedKey moves, opens, or shows the menu.
func (b *tableBody) TypedKey(e *fyne.KeyEvent) {
	if !b.t.key(e.Name) {
		toWindow(b, e)
	}
}

// MinSize is that of all rows.
func (b *tableBody) MinSize() fyne.Size {
	return fyne.NewSize(b.t.least(), float32(len(b.t.rows))*b.height)
}

// CreateRenderer is what the toolkit asks for.
func (b *tableBody) CreateRenderer() fyne.WidgetRenderer { return &bodyRenderer{b} }

type bodyRenderer struct{ b *tableBody }

func (r *bodyRenderer) Layout(fyne.Size)             { r.b.draw() }
func (r *bodyRenderer) MinSize() fyne.Size           { return r.b.MinSize() }
func (r *bodyRenderer) Objects() []fyne.CanvasObject { return r.b.objects }
func (r *bodyRenderer) Destroy()                     {}

// Refresh is asked for when the theme changes, too: all is drawn anew.
func (r *bodyRenderer) Refresh() {
	for _, l := range r.b.lines {
		l.stale = true
	}
	r.b.ring.StrokeColor = colorOf(&r.b.BaseWidget, theme.ColorNamePrimary)
	r.b.draw()
	canvas.Refresh(r.b)
}

// A tableLine is the objects of one row that is seen.
type tableLine struct {
	b             *tableBody
	back, line    *canvas.Rectangle
	cells         []*tableCell
	shown         []Cell
	y             float32
	widths        []float32
	selected, hot bool
	seen, hidden  bool
	stale         bool // draw all of it, also what looks the same
}

// A tableCell is the objects of one cell.
type tableCell struct {
	icon *canvas.Image
	text *canvas.Text
	bar  *BarWidget
}

func newTableLine(b *tableBody) *tableLine {
	l := &tableLine{b: b, back: canvas.NewRectangle(color.Transparent), line: canvas.NewRectangle(color.Transparent), stale: true}
	for range b.t.columns {
		c := &tableCell{icon: canvas.NewImageFromResource(nil), text: canvas.NewText("", nil), bar: NewBar()}
		c.icon.FillMode = canvas.ImageFillContain
		c.icon.Hide()
		c.bar.Hide()
		l.cells = append(l.cells, c)
	}
	return l
}

func (l *tableLine) objects() []fyne.CanvasObject {
	out := []fyne.CanvasObject{l.back, l.line}
	for _, c := range l.cells {
		out = append(out, c.icon, c.text, c.bar)
	}
	return out
}

func (l *tableLine) hide(hidden bool) {
	if l.hidden == hidden {
		return
	}
	l.hidden, l.stale = hidden, true
	if !hidden {
		return // show has drawn it
	}
	for _, o := range l.objects() {
		o.Hide()
	}
}

// show draws r at y.
func (l *tableLine) show(r Row, y float32, widths []float32, selected, hot bool) {
	place := l.stale || l.y != y || !slices.Equal(l.widths, widths)
	w := &l.b.BaseWidget
	total := float32(0)
	for _, x := range widths {
		total += x
	}
	total += scrollRoom
	if place {
		l.back.Move(fyne.NewPos(0, y))
		l.back.Resize(fyne.NewSize(total, l.b.height))
		l.line.Move(fyne.NewPos(0, y+l.b.height-1))
		l.line.Resize(fyne.NewSize(total, 1))
	}
	if l.stale || l.selected != selected || l.hot != hot {
		l.back.FillColor = color.Transparent
		if hot {
			l.back.FillColor = colorOf(w, theme.ColorNameHover)
		}
		if selected {
			l.back.FillColor = colorOf(w, theme.ColorNameSelection)
		}
		l.line.FillColor = colorOf(w, theme.ColorNameSeparator)
		l.back.Hidden, l.line.Hidden = false, false
		l.back.Refresh()
		l.line.Refresh()
	}
	x := float32(0)
	for i, c := range l.cells {
		var cell Cell
		if i < len(r.Cells) && widths[i] > 0 {
			cell = r.Cells[i] // else there is no room for it
		}
		if place || i >= len(l.shown) || !cell.same(l.shown[i]) {
			c.draw(w, cell, l.b.t.columns[i].Right, fyne.NewPos(x+cellPad, y), fyne.NewSize(max(0, widths[i]-2*cellPad), l.b.height-1))
		}
		x += widths[i]
	}
	l.shown = clone(r.Cells)
	l.y, l.widths, l.selected, l.hot, l.stale, l.hidden = y, widths, selected, hot, false, false
}

func (c *tableCell) draw(w *widget.BaseWidget, cell Cell, right bool, at fyne.Position, size fyne.Size) {
	ink := cell.Color
	if ink == "" {
		ink = theme.ColorNameForeground
	}
	room := size
	if c.icon.Hidden = cell.Icon == nil; cell.Icon != nil {
		side := w.Theme().Size(theme.SizeNameInlineIcon) - 2
		paint := cell.IconColor
		if paint == "" {
			paint = ink
		}
		c.icon.Resource = theme.NewColoredResource(cell.Icon, paint)
		c.icon.Move(at.AddXY(0, (size.Height-side)/2))
		c.icon.Resize(fyne.NewSquareSize(side))
		at, room.Width = at.AddXY(side+4, 0), max(0, room.Width-side-4)
	}
	c.icon.Refresh()
	if c.bar.Hidden = cell.Bar == nil; cell.Bar != nil {
		c.bar.Move(at)
		c.bar.Resize(room)
		c.bar.Set(*cell.Bar)
	}
	c.text.TextSize = sizeOfText(w)
	c.text.TextStyle = fyne.TextStyle{Monospace: cell.Mono, Bold: cell.Bold}
	c.text.Color = colorOf(w, ink)
	c.text.Text = ellipsis(cell.Text, room.Width, c.text.TextSize, c.text.TextStyle)
	c.text.Hidden = cell.Bar != nil || cell.Text == ""
	c.text.Alignment = fyne.TextAlignLeading
	if right {
		c.text.Alignment = fyne.TextAlignTrailing
	}
	h := fyne.MeasureText("Mg", c.text.TextSize, c.text.TextStyle).Height
	c.text.Move(at.AddXY(0, (size.Height-h)/2))
	c.text.Resize(fyne.NewSize(room.Width, h))
	c.text.Refresh()
}
