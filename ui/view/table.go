package view

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A Column is one of a table. What does not fit into it is cut.
type Column struct {
	Title string
	Width float32 // the least
	Grow  bool    // it gets a share of the room that is left
	Right bool    // texts stand at its right edge, as numbers do
	Sort  bool    // a click on its title sorts
	// From is the width of a table below which the column is left out.
	From float32
}

// A Cell is one of a row: an icon, a text, a bar, or some of them.
type Cell struct {
	Text       string
	Icon       fyne.Resource
	Color      fyne.ThemeColorName // of icon and text; "" is the usual one
	IconColor  fyne.ThemeColorName // of the icon alone; "" is Color
	Mono, Bold bool
	Bar        *Bar
}

func (c Cell) same(o Cell) bool {
	icon := func(r fyne.Resource) string {
		if r == nil {
			return ""
		}
		return r.Name()
	}
	if (c.Bar == nil) != (o.Bar == nil) || c.Bar != nil && *c.Bar != *o.Bar {
		return false
	}
	return c.Text == o.Text && icon(c.Icon) == icon(o.Icon) && c.Color == o.Color && c.IconColor == o.IconColor && c.Mono == o.Mono && c.Bold == o.Bold
}

// A Row is one of a table. Its ID is the same for as long as it is about the
// same thing.
type Row struct {
	ID    string
	Cells []Cell
}

// A Table shows rows under titles. It draws those that are seen and no others,
// and keeps which one is selected, and which are seen, when the rows change.
type Table struct {
	// OnSelect is called when the user selects a row, and OnOpen for a double
	// click or the key Enter.
	OnSelect, OnOpen func(id string)
	// OnSort is called when the user wants another order.
	OnSort func(column int, descending bool)
	// OnMenu makes the menu of a row, or nil.
	OnMenu func(id string) *fyne.Menu

	columns    []Column
	rows       []Row
	index      map[string]int // of rows, by their IDs
	selected   string
	at         int // where the selected row is, or was
	sorted     int // column, or -1
	descending bool
	resorted   bool // the next rows come in another order

	head   *tableHead
	body   *tableBody
	scroll *tableScroll
	object *fyne.Container
}

// NewTable returns a table without rows.
func NewTable(_ Env, columns []Column) *Table {
	t := &Table{columns: columns, sorted: -1, object: container.NewWithoutLayout()}
	t.head = newTableHead(t)
	t.body = newTableBody(t)
	t.scroll = newTableScroll(t.body)
	t.scroll.OnScrolled = func(fyne.Position) { t.moved() }
	t.object.Layout = &tableLayout{t}
	t.object.Objects = []fyne.CanvasObject{t.head, t.scroll}
	return t
}

// Object is what goes into a window.
func (t *Table) Object() fyne.CanvasObject { return t.object }

// Show draws rows in place of what was there.
func (t *Table) Show(rows []Row) {
	t.body.look(rows)
	t.body.measure()
	height := t.body.height
	top, anchor, off := t.scroll.Offset.Y, "", float32(0)
	if i := int(top / height); top > 0 && i < len(t.rows) {
		anchor, off = t.rows[i].ID, top-float32(i)*height
		if s, ok := t.index[t.selected]; ok && t.seen(s) {
			anchor, off = t.selected, top-float32(s)*height
		}
	}
	follow := t.resorted && t.selectedSeen()
	grown := len(rows) != len(t.rows)
	t.rows = rows
	t.index = make(map[string]int, len(rows))
	for i, r := range rows {
		t.index[r.ID] = i
	}
	if i, ok := t.index[t.selected]; ok {
		t.at = i
	}
	if grown {
		t.scroll.Refresh() // asks for the size of all rows again
	}
	switch i, ok := t.index[anchor]; {
	case t.resorted && !follow:
		t.scrollTo(0)
	case t.resorted:
		t.reveal(t.at)
	case ok:
		t.scrollTo(float32(i)*height + off)
	default:
		t.scrollTo(top)
	}
	t.resorted = false
	t.body.draw()
}

// Select selects a row, as if by the user, but calls nothing. A row that is
// not there yet is selected when it comes.
func (t *Table) Select(id string) {
	t.selected = id
	if i, ok := t.index[id]; ok {
		t.at = i
		t.reveal(i)
	}
	t.body.draw()
}

// Selected is the row that is selected, or "".
func (t *Table) Selected() string { return t.selected }

// Sorted marks the column by which the rows are in order; -1 is none.
func (t *Table) Sorted(column int, descending bool) {
	if t.sorted == column && t.descending == descending {
		return
	}
	t.resorted = t.sorted >= 0
	t.sorted, t.descending = column, descending
	t.head.Refresh()
}

// Focus has the keys go to the rows.
func (t *Table) Focus() { focus(t.body) }

// Retitle gives the columns other titles.
func (t *Table) Retitle(titles ...string) {
	for i, title := range titles[:min(len(titles), len(t.columns))] {
		t.columns[i].Title = title
	}
	t.head.Refresh()
}

func (t *Table) sort(column int) {
	if t.OnSort == nil || column < 0 || column >= len(t.columns) || !t.columns[column].Sort {
		return
	}
	t.OnSort(column, t.sorted == column && !t.descending)
}

// choose selects a row for the user.
func (t *Table) choose(i int) {
	if len(t.rows) == 0 {
		return
	}
	i = min(len(t.rows)-1, max(0, i))
	t.reveal(i)
	t.at = i
	if id := t.rows[i].ID; id != t.selected {
		t.selected = id
		t.body.draw()
		if t.OnSelect != nil {
			t.OnSelect(id)
		}
	}
}

func (t *Table) open() {
	if _, ok := t.index[t.selected]; ok && t.OnOpen != nil {
		t.OnOpen(t.selected)
	}
}

// menu shows the menu of the selected row at a place of the body.
func (t *Table) menu(at fyne.Position) {
	if _, ok := t.index[t.selected]; !ok || t.OnMenu == nil {
		return
	}
	c := fyne.CurrentApp().Driver().CanvasForObject(t.body)
	menu := t.OnMenu(t.selected)
	if menu == nil || c == nil {
		return
	}
	widget.ShowPopUpMenuAtRelativePosition(menu, c, at, t.body)
}

func (t *Table) selectedSeen() bool {
	i, ok := t.index[t.selected]
	return ok && t.seen(i)
}

// seen reports whether some of row i is.
func (t *Table) seen(i int) bool {
	y := float32(i) * t.body.height
	return y+t.body.height > t.scroll.Offset.Y && y < t.scroll.Offset.Y+t.scroll.Size().Height
}

// reveal scrolls so that all of row i is seen.
func (t *Table) reveal(i int) {
	y, h := float32(i)*t.body.height, t.scroll.Size().Height
	switch {
	case h < t.body.height:
	case y < t.scroll.Offset.Y:
		t.scrollTo(y)
	case y+t.body.height > t.scroll.Offset.Y+h:
		t.scrollTo(y + t.body.height - h)
	}
}

func (t *Table) scrollTo(y float32) {
	y = max(0, min(y, float32(len(t.rows))*t.body.height-t.scroll.Size().Height))
	if y != t.scroll.Offset.Y {
		t.scroll.ScrollToOffset(fyne.NewPos(t.scroll.Offset.X, y))
		t.moved()
	}
}

// moved follows the rows when they are scrolled.
func (t *Table) moved() {
	t.head.shift(t.scroll.Offset.X)
	t.body.draw()
}

// page is how many rows are seen at once.
func (t *Table) page() int { return max(1, int(t.scroll.Size().Height/t.body.height)-1) }

// there reports whether column c has a place in the table as it is.
func (t *Table) there(c Column) bool { return c.From <= t.object.Size().Width }

// least is the width below which the columns do not shrink.
func (t *Table) least() float32 {
	w := float32(scrollRoom)
	for _, c := range t.columns {
		if t.there(c) {
			w += c.Width + 2*cellPad
		}
	}
	return w
}

// widths are those of the columns, with their padding, in a table of a width.
// Those that are left out have none.
func (t *Table) widths(width float32) []float32 {
	growing := 0
	for _, c := range t.columns {
		if c.Grow && t.there(c) {
			growing++
		}
	}
	more := max(0, width-t.least())
	out := make([]float32, len(t.columns))
	for i, c := range t.columns {
		if !t.there(c) {
			continue
		}
		out[i] = c.Width + 2*cellPad
		if c.Grow {
			out[i] += more / float32(growing)
		}
	}
	return out
}

// columnAt is the column at a place from the left, or -1.
func (t *Table) columnAt(x, width float32) int {
	for i, w := range t.widths(width) {
		if x < w && w > 0 {
			return i
		}
		x -= w
	}
	return -1
}

// key does what a key means, and reports whether it means something.
func (t *Table) key(name fyne.KeyName) bool {
	_, there := t.index[t.selected]
	switch name {
	case fyne.KeyDown:
		if there {
			t.choose(t.at + 1)
		} else {
			t.choose(t.at)
		}
	case fyne.KeyUp:
		t.choose(t.at - 1)
	case fyne.KeyPageDown:
		t.choose(t.at + t.page())
	case fyne.KeyPageUp:
		t.choose(t.at - t.page())
	case fyne.KeyHome:
		t.choose(0)
	case fyne.KeyEnd:
		t.choose(len(t.rows) - 1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		if !there {
			t.choose(t.at)
		}
		t.open()
	case desktop.KeyMenu:
		if there {
			t.reveal(t.at)
			t.menu(fyne.NewPos(cellPad, float32(t.at+1)*t.body.height))
		}
	case fyne.KeyLeft:
		t.sideways(-1)
	case fyne.KeyRight:
		t.sideways(1)
	default:
		return false
	}
	return true
}

func (t *Table) sideways(steps float32) {
	x := max(0, min(t.scroll.Offset.X+steps*40, t.body.MinSize().Width-t.scroll.Size().Width))
	if x != t.scroll.Offset.X {
		t.scroll.ScrollToOffset(fyne.NewPos(x, t.scroll.Offset.Y))
		t.moved()
	}
}

// A tableLayout puts the titles above the rows.
type tableLayout struct{ t *Table }

func (l *tableLayout) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	h := l.t.head.MinSize().Height
	l.t.head.Resize(fyne.NewSize(size.Width, h))
	l.t.scroll.Move(fyne.NewPos(0, h))
	l.t.scroll.Resize(fyne.NewSize(size.Width, max(0, size.Height-h)))
	l.t.head.shift(l.t.scroll.Offset.X)
	l.t.body.draw()
}

func (l *tableLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(120, l.t.head.MinSize().Height+3*l.t.body.height)
}

func focus(o fyne.Focusable) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o.(fyne.CanvasObject)); c != nil {
		c.Focus(o)
	}
}

func sizeOfText(w *widget.BaseWidget) float32 { return w.Theme().Size(theme.SizeNameText) }

func clone(cells []Cell) []Cell {
	out := slices.Clone(cells)
	for i, c := range out {
		if c.Bar != nil {
			out[i].Bar = new(*c.Bar)
		}
	}
	return out
}
