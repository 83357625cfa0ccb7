package view

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A SideItem is an entry of a side bar.
type SideItem struct {
	Name  string
	Label string
	Icon  fyne.Resource
}

// A Side is the bar of all pages. It has the focus as a whole: arrows go from
// page to page, and Enter goes into the one that is shown.
type Side struct {
	widget.BaseWidget
	OnSelect func(name string)
	OnEnter  func() // the user wants to go on in the page

	items    []SideItem
	foot     int // how many of them are at the foot
	selected string
	hovered  int
	focused  bool
	narrow   bool // the labels go below the pictures
	title    string
	brand    fyne.Resource
}

const (
	sideWide   = 184
	sideNarrow = 76
	sideIcon   = 52 // room for a picture beside a label
	sidePad    = 8

	sideRow       = 38
	sideRowNarrow = 42
	sideHead      = 60
	sideHeadSmall = 48
	sideSmall     = 11 // letters of a label below a picture
)

// NewSide returns a side bar with items, of which the last few are at its foot.
func NewSide(title string, brand fyne.Resource, items []SideItem, foot int) *Side {
	s := &Side{title: title, brand: brand, items: items, foot: foot, hovered: -1}
	s.ExtendBaseWidget(s)
	return s
}

// Select shows an item as the one that is open.
func (s *Side) Select(name string) {
	s.selected = name
	s.Refresh()
}

// SetNarrow puts the labels below the pictures, in small letters, or beside them.
func (s *Side) SetNarrow(narrow bool) {
	if s.narrow != narrow {
		s.narrow = narrow
		s.Refresh()
	}
}

func (s *Side) width() float32 {
	if s.narrow {
		return sideNarrow
	}
	return sideWide
}

// row is the height of an item, and head that of what is above all.
func (s *Side) row() float32 {
	if s.narrow {
		return sideRowNarrow
	}
	return sideRow
}

func (s *Side) head() float32 {
	if s.narrow {
		return sideHeadSmall
	}
	return sideHead
}

// MinSize is the room that the bar needs.
func (s *Side) MinSize() fyne.Size {
	return fyne.NewSize(s.width(), s.head()+s.row()*float32(len(s.items))+sidePad)
}

// top is where an item begins.
func (s *Side) top(i int) float32 {
	if below := len(s.items) - i; below <= s.foot {
		return s.Size().Height - sidePad - float32(below)*s.row()
	}
	return s.head() + float32(i)*s.row()
}

// at is the item at a height, or -1.
func (s *Side) at(y float32) int {
	for i := range s.items {
		if top := s.top(i); y >= top && y < top+s.row() {
			return i
		}
	}
	return -1
}

// Tapped opens what is below the mouse.
func (s *Side) Tapped(e *fyne.PointEvent) {
	focus(s)
	if i := s.at(e.Position.Y); i >= 0 {
		s.choose(i)
	}
}

func (s *Side) choose(i int) {
	if s.OnSelect != nil {
		s.OnSelect(s.items[i].Name)
	}
}

// MouseIn, MouseMoved and MouseOut show what a click would open.
func (s *Side) MouseIn(e *desktop.MouseEvent) { s.MouseMoved(e) }

// MouseMoved is as MouseIn.
func (s *Side) MouseMoved(e *desktop.MouseEvent) {
	if i := s.at(e.Position.Y); i != s.hovered {
		s.hovered = i
		s.Refresh()
	}
}

// MouseOut is as MouseIn.
func (s *Side) MouseOut() {
	s.hovered = -1
	s.Refresh()
}

// FocusGained marks the open page.
func (s *Side) FocusGained() {
	s.focused = true
	s.Refresh()
}

// FocusLost takes the mark away.
func (s *Side) FocusLost() {
	s.focused = false
	s.Refresh()
}

// TypedRune has no meaning here.
func (s *Side) TypedRune(rune) {}

// TypedKey goes from page to page.
func (s *Side) TypedKey(e *fyne.KeyEvent) {
	now := -1
	for i, item := range s.items {
		if item.Name == s.selected {
			now = i
		}
	}
	switch e.Name {
	case fyne.KeyUp:
		s.choose(max(0, now-1))
	case fyne.KeyDown:
		s.choose(min(len(s.items)-1, now+1))
	case fyne.KeyHome:
		s.choose(0)
	case fyne.KeyEnd:
		s.choose(len(s.items) - 1)
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace, fyne.KeyRight:
		if s.OnEnter != nil {
			s.OnEnter()
		}
	default:
		toWindow(s, e)
	}
}

// CreateRenderer draws the bar.
func (s *Side) CreateRenderer() fyne.WidgetRenderer {
	r := &sideRenderer{side: s, back: canvas.NewRectangle(color.Transparent), line: canvas.NewRectangle(color.Transparent)}
	r.brand = canvas.NewImageFromResource(s.brand)
	r.brand.FillMode = canvas.ImageFillContain
	r.title = canvas.NewText(s.title, color.Black)
	r.title.TextStyle.Bold = true
	r.objects = []fyne.CanvasObject{r.back, r.line, r.brand, r.title}
	for _, item := range s.items {
		row := sideItem{
			back: canvas.NewRectangle(color.Transparent), edge: canvas.NewRectangle(color.Transparent),
			icon: canvas.NewImageFromResource(item.Icon), text: canvas.NewText(item.Label, color.Black),
		}
		row.icon.FillMode = canvas.ImageFillContain
		r.rows = append(r.rows, row)
		r.objects = append(r.objects, row.back, row.edge, row.icon, row.text)
	}
	r.Refresh()
	return r
}

type sideItem struct {
	back, edge *canvas.Rectangle
	icon       *canvas.Image
	text       *canvas.Text
}

type sideRenderer struct {
	side       *Side
	back, line *canvas.Rectangle
	brand      *canvas.Image
	title      *canvas.Text
	rows       []sideItem
	objects    []fyne.CanvasObject
}

func (r *sideRenderer) Destroy() {}

func (r *sideRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *sideRenderer) MinSize() fyne.Size { return r.side.MinSize() }

func (r *sideRenderer) Layout(size fyne.Size) {
	put := func(o fyne.CanvasObject, x, y, w, h float32) {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(w, h))
	}
	put(r.back, 0, 0, size.Width, size.Height)
	put(r.line, size.Width-1, 0, 1, size.Height)
	if r.side.narrow {
		put(r.brand, (size.Width-28)/2, 12, 28, 28)
		for i, row := range r.rows {
			top := r.side.top(i)
			put(row.back, 3, top+1, size.Width-7, sideRowNarrow-2)
			put(row.edge, 3, top+10, 3, sideRowNarrow-20)
			put(row.icon, (size.Width-18)/2, top+5, 18, 18)
			put(row.text, 0, top+23, size.Width-1, 15)
		}
		return
	}
	put(r.brand, (sideIcon-28)/2, 16, 28, 28)
	put(r.title, sideIcon-4, 16, size.Width-sideIcon, 28)
	for i, row := range r.rows {
		top := r.side.top(i)
		put(row.back, sidePad, top+2, size.Width-2*sidePad, sideRow-4)
		put(row.edge, sidePad, top+10, 3, sideRow-20)
		put(row.icon, (sideIcon-20)/2, top+(sideRow-20)/2, 20, 20)
		put(row.text, sideIcon-4, top, size.Width-sideIcon-sidePad, sideRow)
	}
}

func (r *sideRenderer) Refresh() {
	s := r.side
	r.back.FillColor = theme.Color(ColorSide)
	r.line.FillColor = theme.Color(theme.ColorNameSeparator)
	r.title.Color = theme.Color(theme.ColorNameForeground)
	r.title.TextSize = theme.Size(theme.SizeNameSubHeadingText)
	r.title.Hidden = s.narrow
	for i, row := range r.rows {
		open := s.items[i].Name == s.selected
		name := theme.ColorNameForeground
		row.back.FillColor, row.edge.FillColor = color.Transparent, color.Transparent
		row.back.StrokeWidth = 0
		row.back.CornerRadius = theme.Size(theme.SizeNameInputRadius)
		row.edge.CornerRadius = 1.5
		switch {
		case open:
			name = ColorBrand
			row.back.FillColor = theme.Color(theme.ColorNameSelection)
			row.edge.FillColor = theme.Color(ColorBrand)
			if s.focused {
				row.back.StrokeWidth, row.back.StrokeColor = 2, theme.Color(ColorBrand)
			}
		case i == s.hovered:
			row.back.FillColor = theme.Color(theme.ColorNameHover)
		}
		row.icon.Resource = theme.NewColoredResource(s.items[i].Icon, name)
		row.text.Color = theme.Color(theme.ColorNameForeground)
		row.text.TextSize, row.text.Alignment = theme.TextSize(), fyne.TextAlignLeading
		if s.narrow {
			row.text.TextSize, row.text.Alignment = sideSmall, fyne.TextAlignCenter
		}
		row.text.TextStyle.Bold = open
	}
	r.Layout(s.Size())
	for _, o := range r.objects {
		o.Refresh()
	}
}
