package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/ui"
)

// An outputView shows what a program says, in letters of one width, of which the
// mouse and the keys can select some. Lines that
// are too long go on in the next. What comes from the second stream, and what
// runs, has another color, and a mark at its left. It follows the end for as long
// as that is seen.
type outputView struct {
	widget.BaseWidget
	lines   []ui.SaidLine
	wrapped []ui.SaidLine
	pieces  []piece // where those are from
	sel     outputSelection
	onCopy  func(text string)
	columns int
	drawn   []*outputLine
	objects []fyne.CanvasObject
	scroll  *container.Scroll
	letter  fyne.Size
}

// An outputLine is the objects of one line that is seen.
type outputLine struct {
	sel   *canvas.Rectangle // behind what is selected
	mark  *canvas.Rectangle
	texts []*canvas.Text
	shown ui.SaidLine
	y     float32
	stale bool
}

const outputMark = 8 // room for the mark

func newOutputView() *outputView {
	v := &outputView{}
	v.sel.mark = canvas.NewRectangle(nil)
	v.sel.mark.Hide()
	v.objects = []fyne.CanvasObject{v.sel.mark}
	v.ExtendBaseWidget(v)
	v.scroll = container.NewVScroll(v)
	v.scroll.OnScrolled = func(fyne.Position) { v.draw() }
	return v
}

// cell is the size of a letter. It is measured once there is something to show:
// the font takes a while to read, and a window that opens shows no output yet.
func (v *outputView) cell() fyne.Size {
	if v.letter.Width == 0 {
		v.letter = fyne.MeasureText("MMMMMMMMMM", sizeOfText(&v.BaseWidget), fyne.TextStyle{Monospace: true})
		v.letter.Width /= 10
	}
	return v.letter
}

// object is what goes into a page: the lines with the bar to scroll them by.
func (v *outputView) object() fyne.CanvasObject { return container.New(outputRoom{v}, v.scroll) }

// outputRoom gives the lines what room there is. The end stays in sight when there
// is less than before, and so goes on being followed.
type outputRoom struct{ v *outputView }

func (r outputRoom) MinSize([]fyne.CanvasObject) fyne.Size { return r.v.scroll.MinSize() }

func (r outputRoom) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	if r.v.scroll.Size() == size {
		return
	}
	end := r.v.atEnd()
	if r.v.scroll.Resize(size); end {
		r.v.toEnd()
	}
	r.v.draw()
}

// show draws lines in place of what was there. From says that they are those of
// something else.
func (v *outputView) show(lines []ui.SaidLine, other bool) {
	end := other || v.atEnd() && !v.sel.dragging
	v.lines = lines
	v.mind(other)
	v.wrap()
	if end {
		v.toEnd()
	}
	v.draw()
}

// atEnd reports whether the last line is seen.
func (v *outputView) atEnd() bool {
	return len(v.wrapped) == 0 || v.scroll.Offset.Y+v.scroll.Size().Height >= v.MinSize().Height-v.cell().Height
}

func (v *outputView) toEnd() {
	v.scroll.ScrollToOffset(fyne.NewPos(0, max(0, v.MinSize().Height-v.scroll.Size().Height)))
}

func (v *outputView) wrap() {
	before := len(v.wrapped)
	if len(v.lines) == 0 {
		v.wrapped, v.pieces = nil, nil
		if before > 0 {
			v.scroll.Refresh()
		}
		return
	}
	v.columns = max(10, int((v.scroll.Size().Width-outputMark-scrollRoom)/v.cell().Width))
	v.wrapped, v.pieces = ui.Wrap(v.lines, v.columns), pieces(v.lines, v.columns)
	if len(v.wrapped) != before {
		v.scroll.Refresh()
	}
}

// draw has the objects show the lines that are seen.
func (v *outputView) draw() {
	if len(v.wrapped) == 0 && len(v.drawn) == 0 {
		return
	}
	top, h := v.scroll.Offset.Y, v.cell().Height
	first := max(0, int(top/h))
	last := min(len(v.wrapped), int((top+v.scroll.Size().Height)/h)+1)
	grown := false
	for len(v.drawn) < last-first {
		l := &outputLine{sel: canvas.NewRectangle(nil), mark: canvas.NewRectangle(nil), stale: true}
		l.sel.Hide()
		v.drawn = append(v.drawn, l)
		v.objects = append(v.objects, l.sel, l.mark)
		grown = true
	}
	for _, l := range v.drawn {
		l.stale = l.stale || l.y < float32(first)*h || l.y >= float32(last)*h
	}
	used := make([]bool, len(v.drawn))
	for i := first; i < last; i++ {
		k := i % len(v.drawn)
		used[k] = true
		v.drawSelection(v.drawn[k], i)
		grown = v.drawLine(v.drawn[k], v.wrapped[i], float32(i)*h) || grown
	}
	for k, l := range v.drawn {
		if !used[k] {
			l.hide()
		}
	}
	v.drawCaret()
	if grown {
		canvas.Refresh(v)
	}
}

// drawLine has l show a line, and reports whether it has more objects now.
func (v *outputView) drawLine(l *outputLine, line ui.SaidLine, y float32) (grown bool) {
	if !l.stale && l.y == y && sameLine(l.shown, line) {
		return false
	}
	l.shown, l.y, l.stale = line, y, false
	for len(l.texts) < len(line) {
		t := canvas.NewText("", nil)
		l.texts = append(l.texts, t)
		v.objects = append(v.objects, t)
		grown = true
	}
	x, mark := float32(outputMark), fyne.ThemeColorName("")
	for i, t := range l.texts {
		if t.Hidden = i >= len(line); t.Hidden {
			t.Refresh()
			continue
		}
		t.Text, t.TextSize, t.TextStyle = line[i].Text, sizeOfText(&v.BaseWidget), fyne.TextStyle{Monospace: true}
		t.Color = colorOf(&v.BaseWidget, theme.ColorNameForeground)
		switch {
		case line[i].Stderr:
			mark = ColorBad
			t.Color = colorOf(&v.BaseWidget, mark)
		case line[i].Code:
			mark = ColorBrand
			t.Color = colorOf(&v.BaseWidget, ColorMuted)
		}
		size := fyne.MeasureText(t.Text, t.TextSize, t.TextStyle)
		t.Move(fyne.NewPos(x, y))
		t.Resize(size)
		x += size.Width
		t.Refresh()
	}
	if l.mark.Hidden = mark == ""; mark != "" {
		l.mark.FillColor = colorOf(&v.BaseWidget, mark)
	}
	l.mark.Move(fyne.NewPos(1, y+1))
	l.mark.Resize(fyne.NewSize(3, v.cell().Height-2))
	l.mark.Refresh()
	return grown
}

func (l *outputLine) hide() {
	l.stale = true
	l.sel.Hide()
	l.mark.Hide()
	for _, t := range l.texts {
		t.Hide()
	}
}

func sameLine(a, b ui.SaidLine) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// MinSize is that of all lines.
func (v *outputView) MinSize() fyne.Size {
	if len(v.wrapped) == 0 {
		return fyne.Size{}
	}
	return fyne.NewSize(10*v.cell().Width, float32(len(v.wrapped))*v.cell().Height)
}

// CreateRenderer is what the toolkit asks for.
func (v *outputView) CreateRenderer() fyne.WidgetRenderer { return &outputRenderer{v} }

type outputRenderer struct{ v *outputView }

func (r *outputRenderer) Layout(fyne.Size) {
	v := r.v
	if len(v.lines) == 0 {
		v.draw()
		return
	}
	if columns := max(10, int((v.scroll.Size().Width-outputMark-scrollRoom)/v.cell().Width)); columns != v.columns {
		end := v.atEnd()
		v.wrap()
		if end {
			v.toEnd()
		}
	}
	v.draw()
}
func (r *outputRenderer) MinSize() fyne.Size           { return r.v.MinSize() }
func (r *outputRenderer) Objects() []fyne.CanvasObject { return r.v.objects }
func (r *outputRenderer) Destroy()                     {}

// Refresh is asked for when the theme changes, too.
func (r *outputRenderer) Refresh() {
	r.v.letter = fyne.Size{} // the letters may be others
	for _, l := range r.v.drawn {
		l.stale = true
	}
	r.v.draw()
	canvas.Refresh(r.v)
}
