package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// The widgets of the toolkit keep to themselves the keys that they have no use
// for. Ours hand them on to the window, which has uses for them wherever the
// focus is: Escape, F1, F6, Ctrl+1 and so on.

// A Button can be pressed by Enter too.
type Button struct {
	widget.Button
	// in is what the button is scrolled in, if it is to come into view with the
	// focus.
	in *container.Scroll
}

// NewButton returns a button. icon may be nil.
func NewButton(label string, icon fyne.Resource, do func()) *Button {
	b := &Button{Button: widget.Button{Text: label, Icon: icon, OnTapped: do}}
	b.ExtendBaseWidget(b)
	return b
}

// FocusGained has the button come into view.
func (b *Button) FocusGained() {
	b.Button.FocusGained()
	if b.in != nil {
		reveal(b.in, b)
	}
}

// reveal scrolls to an object.
func reveal(s *container.Scroll, o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(s).Y
	const room = 16
	offset := s.Offset
	switch bottom := top + o.Size().Height; {
	case top < room:
		offset.Y += top - room
	case bottom > s.Size().Height-room:
		offset.Y += bottom - s.Size().Height + room
	default:
		return
	}
	s.ScrollToOffset(offset)
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
		if c := canvasOf(e); c != nil {
			if h, ok := c.(fyne.Shortcutable); ok {
				h.TypedShortcut(s)
			}
		}
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

// toWindow has the window do what a key does there.
func toWindow(o fyne.CanvasObject, e *fyne.KeyEvent) {
	if c := canvasOf(o); c != nil && c.OnTypedKey() != nil {
		c.OnTypedKey()(e)
	}
}
