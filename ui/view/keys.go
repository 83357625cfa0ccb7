package view

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// The widgets of the toolkit keep to themselves the keys that they have no use
// for. Ours hand them on to the window, which has uses for them wherever the
// focus is: Escape, F1, F6, Ctrl+1 and so on.

// A Button can be pressed by Enter too.
type Button struct {
	widget.Button
	focused bool
}

// NewButton returns a button. icon may be nil.
func NewButton(label string, icon fyne.Resource, do func()) *Button {
	b := &Button{Button: widget.Button{Text: label, Icon: icon, OnTapped: do}}
	b.ExtendBaseWidget(b)
	return b
}

// FocusGained has the button come into view.
func (b *Button) FocusGained() {
	b.focused = true
	b.Button.FocusGained()
	comeIntoView(b)
}

// FocusLost takes the ring away.
func (b *Button) FocusLost() {
	b.focused = false
	b.Button.FocusLost()
}

// CreateRenderer adds a ring for the focus, which a change of a strong color
// would hardly show.
func (b *Button) CreateRenderer() fyne.WidgetRenderer {
	r := &buttonRenderer{WidgetRenderer: b.Button.CreateRenderer(), b: b, ring: newRing()}
	r.apply()
	return r
}

type buttonRenderer struct {
	fyne.WidgetRenderer
	b    *Button
	ring *canvas.Rectangle
}

func (r *buttonRenderer) Objects() []fyne.CanvasObject {
	return append(slices.Clip(r.WidgetRenderer.Objects()), r.ring)
}

func (r *buttonRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	r.ring.Resize(size)
}

func (r *buttonRenderer) Refresh() {
	r.apply()
	r.WidgetRenderer.Refresh()
}

func (r *buttonRenderer) apply() {
	name := theme.ColorNamePrimary
	switch r.b.Importance {
	case widget.HighImportance, widget.DangerImportance, widget.WarningImportance, widget.SuccessImportance:
		name = theme.ColorNameForeground // the button itself is colored
	}
	r.ring.StrokeColor = r.b.Theme().Color(name, fyne.CurrentApp().Settings().ThemeVariant())
	r.ring.CornerRadius = r.b.Theme().Size(theme.SizeNameInputRadius)
	r.ring.Hidden = !r.b.focused
}

// comeIntoView has all that an object is scrolled in scroll to it.
func comeIntoView(o fyne.CanvasObject) {
	for _, s := range scrollsAround(o) {
		reveal(s, o)
	}
}

// scrollsAround are what an object is scrolled in, the innermost first.
func scrollsAround(o fyne.CanvasObject) []*container.Scroll {
	c := canvasOf(o)
	if c == nil {
		return nil
	}
	roots := append([]fyne.CanvasObject{c.Content()}, c.Overlays().List()...)
	for _, root := range slices.Backward(roots) {
		if scrolls, ok := scrollsTo(root, o); ok {
			return scrolls
		}
	}
	return nil
}

// below are the objects that another is made of, of those that pages are made of.
func below(from fyne.CanvasObject) []fyne.CanvasObject {
	switch from := from.(type) {
	case *fyne.Container:
		return from.Objects
	case *container.Scroll:
		return []fyne.CanvasObject{from.Content}
	case *container.Split:
		return []fyne.CanvasObject{from.Leading, from.Trailing}
	case *container.ThemeOverride:
		return []fyne.CanvasObject{from.Content}
	case *widget.PopUp:
		return []fyne.CanvasObject{from.Content}
	case *body:
		return []fyne.CanvasObject{from.content}
	}
	return nil
}

// scrollsTo finds an object below another, and what it is scrolled in on the way
// to it, the innermost first.
func scrollsTo(from, o fyne.CanvasObject) (in []*container.Scroll, ok bool) {
	if from == o {
		return nil, true
	}
	for _, child := range below(from) {
		if child == nil || !child.Visible() {
			continue
		}
		if in, ok = scrollsTo(child, o); ok {
			if s, is := from.(*container.Scroll); is {
				in = append(in, s)
			}
			return in, true
		}
	}
	return nil, false
}

// reveal scrolls to an object. Of what is higher than there is room for, the top
// is seen.
func reveal(s *container.Scroll, o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s).Y
	const room = 16
	by := float32(0)
	if below := top + o.Size().Height + room - s.Size().Height; below > 0 {
		by = below
	}
	if above := top - by - room; above < 0 {
		by += above
	}
	if by == 0 {
		return
	}
	most := max(0, s.Content.MinSize().Height-s.Size().Height)
	if y := min(most, max(0, s.Offset.Y+by)); y != s.Offset.Y {
		s.ScrollToOffset(fyne.NewPos(s.Offset.X, y))
	}
}

// TypedKey is a key that is pressed while the button has the focus.
func (b *Button) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		b.Tapped(nil)
	default:
		toWindow(b, e)
	}
}

// An Entry is a line to type into.
type Entry struct {
	widget.Entry
	// OnEscape is what Escape does here; nil leaves it to the window.
	OnEscape func()
}

// NewEntry returns an entry of one line.
func NewEntry() *Entry {
	e := &Entry{}
	e.ExtendBaseWidget(e)
	return e
}

// NewPasswordEntry returns an entry that does not show what is typed.
func NewPasswordEntry() *Entry {
	e := &Entry{Entry: widget.Entry{Password: true}}
	e.ExtendBaseWidget(e)
	return e
}

// NewMultiLineEntry returns an entry of several lines.
func NewMultiLineEntry() *Entry {
	e := &Entry{Entry: widget.Entry{MultiLine: true, Wrapping: fyne.TextWrapWord}}
	e.ExtendBaseWidget(e)
	return e
}

// CreateRenderer leaves the wheel to what is around an entry of one line.
func (e *Entry) CreateRenderer() fyne.WidgetRenderer {
	r := e.Entry.CreateRenderer()
	if e.MultiLine {
		return r
	}
	return passing{r, newWheelPass(e)}
}

// FocusGained has the entry come into view.
func (e *Entry) FocusGained() {
	e.Entry.FocusGained()
	comeIntoView(e)
}

// TypedKey is a key that is pressed while the entry has the focus.
func (e *Entry) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyEscape:
		if e.OnEscape != nil {
			e.OnEscape()
			return
		}
		toWindow(e, k)
	case fyne.KeyF1, fyne.KeyF5, fyne.KeyF6:
		toWindow(e, k)
	default:
		e.Entry.TypedKey(k)
	}
}

// TypedShortcut is a combination of keys while the entry has the focus.
func (e *Entry) TypedShortcut(s fyne.Shortcut) {
	if custom, ok := s.(*desktop.CustomShortcut); ok && ofWindow(custom) {
		shortcutToWindow(e, s)
		return
	}
	e.Entry.TypedShortcut(s)
}

// ofWindow reports whether a combination is none that an entry edits by: those
// are of arrows and the like.
func ofWindow(s *desktop.CustomShortcut) bool {
	switch s.KeyName {
	case fyne.KeyLeft, fyne.KeyRight, fyne.KeyUp, fyne.KeyDown, fyne.KeyHome, fyne.KeyEnd, fyne.KeyBackspace, fyne.KeyDelete:
		return false
	}
	return true
}

func canvasOf(o fyne.CanvasObject) fyne.Canvas {
	return fyne.CurrentApp().Driver().CanvasForObject(o)
}

// shortcutToWindow has the window do what a combination of keys does there.
func shortcutToWindow(o fyne.CanvasObject, s fyne.Shortcut) {
	if h, ok := canvasOf(o).(fyne.Shortcutable); ok {
		h.TypedShortcut(s)
	}
}

// toWindow has the window do what a key does there.
func toWindow(o fyne.CanvasObject, e *fyne.KeyEvent) {
	if c := canvasOf(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}
