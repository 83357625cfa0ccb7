package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/ui"
)

// A place is one between two letters of an output: of its lines, and not of those
// that they are drawn in, so that it stays where it is as these change.
type place struct{ line, letter int }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.letter < q.letter
}

// A piece is where a line that is drawn is from.
type piece struct{ line, from, letters int }

// An outputSelection is what is selected of an output: what is between the two
// places. The second one moves.
type outputSelection struct {
	anchor, caret place
	first, last   ui.SaidLine // the lines of the two ends, as they were
	focused       bool
	shift         bool
	dragging      bool
	mark          *canvas.Rectangle // of the caret
}

// ends are the beginning and the end of what is selected.
func (s *outputSelection) ends() (from, to place) {
	if s.caret.before(s.anchor) {
		return s.caret, s.anchor
	}
	return s.anchor, s.caret
}

func (s *outputSelection) empty() bool { return s.anchor == s.caret }

// pieces are where the lines are from that [ui.Wrap] makes of lines.
func pieces(lines []ui.SaidLine, columns int) []piece {
	out := make([]piece, 0, len(lines))
	for i, line := range lines {
		n := lettersOf(line)
		out = append(out, piece{i, 0, min(n, columns)})
		for from := columns; from < n; from += columns {
			out = append(out, piece{i, from, min(n-from, columns)})
		}
	}
	return out
}

func lettersOf(line ui.SaidLine) (n int) {
	for _, s := range line {
		n += utf8.RuneCountInString(s.Text)
	}
	return n
}

func textOf(line ui.SaidLine) string {
	var b strings.Builder
	for _, s := range line {
		b.WriteString(s.Text)
	}
	return b.String()
}

// keep remembers the lines of the ends, by which a selection is known to be that
// of the same text.
func (v *outputView) keep() {
	from, to := v.sel.ends()
	v.sel.first, v.sel.last = v.line(from.line), v.line(to.line)
}

func (v *outputView) line(i int) ui.SaidLine {
	if i < len(v.lines) {
		return v.lines[i]
	}
	return nil
}

// mind forgets what is selected if that has changed: of a long output the
// beginning is dropped, and its last line may be written over. One that has got
// longer is the same.
func (v *outputView) mind(other bool) {
	from, to := v.sel.ends()
	same := !other && strings.HasPrefix(textOf(v.line(from.line)), textOf(v.sel.first)) && strings.HasPrefix(textOf(v.line(to.line)), textOf(v.sel.last))
	if !same {
		v.sel.anchor, v.sel.caret = place{}, place{}
	}
	v.keep()
}

// Selected is the text that is selected.
func (v *outputView) Selected() string {
	from, to := v.sel.ends()
	var b strings.Builder
	for i := from.line; i <= to.line && i < len(v.lines); i++ {
		text := []rune(textOf(v.lines[i]))
		begin, end := 0, len(text)
		if i == to.line {
			end = min(to.letter, end)
		}
		if i == from.line {
			begin = min(from.letter, end)
		}
		b.WriteString(string(text[begin:end]))
		if i < to.line {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// moveTo moves the caret, and the beginning of what is selected with it unless
// that is to be longer or shorter.
func (v *outputView) moveTo(p place, extend bool) {
	v.sel.caret = p
	if !extend {
		v.sel.anchor = p
	}
	v.keep()
	v.draw()
}

// selectAll selects all that is shown.
func (v *outputView) selectAll() {
	if n := len(v.lines); n > 0 {
		v.sel.anchor = place{}
		v.moveTo(place{n - 1, lettersOf(v.lines[n-1])}, true)
	}
}

// x is where a letter of a line that is drawn begins.
func (v *outputView) x(row, letter int) float32 {
	if row >= len(v.wrapped) || letter <= 0 {
		return outputMark
	}
	text := textOf(v.wrapped[row])
	if len(text) == utf8.RuneCountInString(text) { // letters of one width
		return outputMark + float32(min(letter, len(text)))*v.cell().Width
	}
	runes := []rune(text)
	return outputMark + fyne.MeasureText(string(runes[:min(letter, len(runes))]), sizeOfText(&v.BaseWidget), fyne.TextStyle{Monospace: true}).Width
}

// at is the place under the mouse.
func (v *outputView) at(pos fyne.Position) place {
	if len(v.pieces) == 0 {
		return place{}
	}
	row := int(pos.Y / v.cell().Height)
	switch {
	case pos.Y < 0:
		return place{}
	case row >= len(v.pieces):
		last := v.pieces[len(v.pieces)-1]
		return place{last.line, last.from + last.letters}
	}
	p, letter := v.pieces[row], 0
	for letter < p.letters && (v.x(row, letter)+v.x(row, letter+1))/2 < pos.X {
		letter++
	}
	return place{p.line, p.from + letter}
}

// rowOf is the line that is drawn with a place in it.
func (v *outputView) rowOf(p place) int {
	row := 0
	for i, at := range v.pieces {
		if at.line > p.line || at.line == p.line && at.from > p.letter {
			break
		}
		row = i
	}
	return row
}

// drawSelection marks what is selected of a line that is drawn.
func (v *outputView) drawSelection(l *outputLine, row int) {
	from, to := v.sel.ends()
	p := v.pieces[row]
	begin, end := place{p.line, p.from}, place{p.line, p.from + p.letters}
	through := end.before(to) // the next line is selected too, or some of it
	if from.before(begin) {
		from = begin
	}
	if through {
		to = end
	}
	if v.sel.empty() || to.before(from) || end.before(from) || !through && from == to {
		if l.sel.Visible() {
			l.sel.Hide()
		}
		return
	}
	x1, x2 := v.x(row, from.letter-p.from), v.x(row, to.letter-p.from)
	if through && p.letters == 0 {
		x2 += v.cell().Width / 2 // an empty line shows that it is selected
	}
	pos, size := fyne.NewPos(x1, float32(row)*v.cell().Height), fyne.NewSize(x2-x1, v.cell().Height)
	ink := colorOf(&v.BaseWidget, theme.ColorNameSelection)
	if l.sel.Visible() && l.sel.Position() == pos && l.sel.Size() == size && l.sel.FillColor == ink {
		return
	}
	l.sel.FillColor = ink
	l.sel.Move(pos)
	l.sel.Resize(size)
	l.sel.Show()
	l.sel.Refresh()
}

// drawCaret shows where the keys are.
func (v *outputView) drawCaret() {
	m := v.sel.mark
	if !v.sel.focused || len(v.pieces) == 0 {
		if m.Visible() {
			m.Hide()
		}
		return
	}
	row := v.rowOf(v.sel.caret)
	m.FillColor = colorOf(&v.BaseWidget, theme.ColorNamePrimary)
	m.Move(fyne.NewPos(v.x(row, v.sel.caret.letter-v.pieces[row].from)-1, float32(row)*v.cell().Height))
	m.Resize(fyne.NewSize(2, v.cell().Height))
	m.Show()
	m.Refresh()
}

// reveal scrolls to the caret.
func (v *outputView) reveal() {
	y, h := float32(v.rowOf(v.sel.caret))*v.cell().Height, v.scroll.Size().Height
	switch top := v.scroll.Offset.Y; {
	case y < top:
		v.scroll.ScrollToOffset(fyne.NewPos(0, y))
	case y+v.cell().Height > top+h:
		v.scroll.ScrollToOffset(fyne.NewPos(0, max(0, y+v.cell().Height-h)))
	}
	v.draw()
}

// MouseDown begins to select.
func (v *outputView) MouseDown(e *desktop.MouseEvent) {
	if e.Button != desktop.MouseButtonPrimary {
		return
	}
	focus(v)
	v.moveTo(v.at(e.Position), e.Modifier&fyne.KeyModifierShift != 0)
}

// MouseUp is needed for that.
func (v *outputView) MouseUp(*desktop.MouseEvent) {}

// Dragged selects up to the mouse, and scrolls to what is beyond the edge.
func (v *outputView) Dragged(e *fyne.DragEvent) {
	v.sel.dragging = true
	v.moveTo(v.at(e.Position), true)
	v.reveal()
}

// DragEnd is part of that.
func (v *outputView) DragEnd() { v.sel.dragging = false }

// DoubleTapped selects a word.
func (v *outputView) DoubleTapped(e *fyne.PointEvent) {
	p := v.at(e.Position)
	text := []rune(textOf(v.line(p.line)))
	in := func(i int) bool {
		return i >= 0 && i < len(text) && (unicode.IsLetter(text[i]) || unicode.IsDigit(text[i]) || text[i] == '_')
	}
	from, to := p.letter, p.letter
	for in(from - 1) {
		from--
	}
	for in(to) {
		to++
	}
	v.sel.anchor = place{p.line, from}
	v.moveTo(place{p.line, to}, true)
}

// TappedSecondary offers to copy.
func (v *outputView) TappedSecondary(e *fyne.PointEvent) {
	c := canvasOf(v)
	if c == nil || len(v.lines) == 0 {
		return
	}
	text := v.Selected()
	copied := fyne.NewMenuItem(lang.L("Copy"), func() { v.copyText(text) })
	copied.Disabled = text == ""
	widget.ShowPopUpMenuAtPosition(fyne.NewMenu("", copied, fyne.NewMenuItem(lang.L("Select all"), v.selectAll)), c, e.AbsolutePosition)
}

func (v *outputView) copyText(text string) {
	if text != "" && v.onCopy != nil { // else what was copied before would be gone
		v.onCopy(text)
	}
}

// Cursor is that of texts.
func (v *outputView) Cursor() desktop.Cursor { return desktop.TextCursor }

// FocusGained shows the caret.
func (v *outputView) FocusGained() {
	v.sel.focused = true
	v.draw()
}

// FocusLost takes it away; what is selected stays.
func (v *outputView) FocusLost() {
	v.sel.focused, v.sel.shift = false, false
	v.draw()
}

// TypedRune is for others: what is shown can't be changed.
func (v *outputView) TypedRune(rune) {}

// KeyDown minds the key by which keys select.
func (v *outputView) KeyDown(e *fyne.KeyEvent) {
	if e.Name == desktop.KeyShiftLeft || e.Name == desktop.KeyShiftRight {
		v.sel.shift = true
	}
}

// KeyUp is part of that.
func (v *outputView) KeyUp(e *fyne.KeyEvent) {
	if e.Name == desktop.KeyShiftLeft || e.Name == desktop.KeyShiftRight {
		v.sel.shift = false
	}
}

// TypedKey moves the caret, or is for the window.
func (v *outputView) TypedKey(e *fyne.KeyEvent) {
	to, ok := v.byKey(e.Name)
	if !ok {
		toWindow(v, e)
		return
	}
	v.moveTo(to, v.sel.shift)
	v.reveal()
}

// byKey is where a key leads to.
func (v *outputView) byKey(key fyne.KeyName) (place, bool) {
	if len(v.pieces) == 0 {
		return place{}, false
	}
	at := v.sel.caret
	row := v.rowOf(at)
	p, last := v.pieces[row], len(v.pieces)-1
	down := func(rows int) place { // to the same column of another row
		to := v.pieces[max(0, min(row+rows, last))]
		return place{to.line, to.from + min(at.letter-p.from, to.letters)}
	}
	page := max(1, int(v.scroll.Size().Height/v.cell().Height)-1)
	switch key {
	case fyne.KeyUp:
		return down(-1), true
	case fyne.KeyDown:
		return down(1), true
	case fyne.KeyPageUp:
		return down(-page), true
	case fyne.KeyPageDown:
		return down(page), true
	case fyne.KeyHome:
		return place{p.line, p.from}, true
	case fyne.KeyEnd:
		return place{p.line, p.from + p.letters}, true
	case fyne.KeyLeft:
		if at.letter > 0 {
			return place{at.line, at.letter - 1}, true
		}
		if at.line > 0 {
			return place{at.line - 1, lettersOf(v.lines[at.line-1])}, true
		}
		return at, true
	case fyne.KeyRight:
		if at.letter < lettersOf(v.line(at.line)) {
			return place{at.line, at.letter + 1}, true
		}
		if at.line < len(v.lines)-1 {
			return place{at.line + 1, 0}, true
		}
		return at, true
	}
	return place{}, false
}

// TypedShortcut copies or selects all, or is for the window.
func (v *outputView) TypedShortcut(c fyne.Shortcut) {
	switch c.(type) {
	case *fyne.ShortcutCopy:
		v.copyText(v.Selected())
	case *fyne.ShortcutSelectAll:
		v.selectAll()
	default:
		shortcutToWindow(v, c)
	}
}
