package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"
)

// A Text is one that the mouse can select and Ctrl+C copy. Tab passes it by, as
// there is nothing in it to do by keys, and keys go on to the window while it has
// the focus. A label of the toolkit that can be selected does neither.
type Text struct{ widget.Label }

// NewText returns a text that can be selected. It wraps between words.
func NewText(text string, style fyne.TextStyle) *Text {
	t := &Text{widget.Label{Text: text, TextStyle: style, Wrapping: fyne.TextWrapWord, Selectable: true}}
	t.ExtendBaseWidget(t)
	return t
}

// CreateRenderer puts ours in the place of what selects in the toolkit.
func (t *Text) CreateRenderer() fyne.WidgetRenderer {
	r := &textRenderer{WidgetRenderer: t.Label.CreateRenderer()}
	for _, o := range r.WidgetRenderer.Objects() {
		if inner, ok := o.(selects); ok {
			r.mark = &selection{inner: inner}
			r.mark.ExtendBaseWidget(r.mark)
			o = r.mark
		}
		r.objects = append(r.objects, o)
	}
	return r
}

type textRenderer struct {
	fyne.WidgetRenderer
	mark    *selection
	objects []fyne.CanvasObject
}

func (r *textRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *textRenderer) Layout(size fyne.Size) {
	r.WidgetRenderer.Layout(size)
	if r.mark != nil {
		r.mark.Resize(size)
	}
}

func (r *textRenderer) Refresh() {
	r.WidgetRenderer.Refresh()
	if r.mark != nil {
		r.mark.Refresh()
	}
}

// selects is what the part of a label can do that selects.
type selects interface {
	fyne.Widget
	fyne.Focusable
	fyne.Shortcutable
	fyne.Draggable
	fyne.DoubleTappable
	desktop.Mouseable
	desktop.Cursorable
	SelectedText() string
}

// A selection has the focus in the place of the part of a label that selects.
type selection struct {
	widget.BaseWidget
	inner   selects
	focused bool
}

// Disabled has Tab pass by. The toolkit gives the focus to what is disabled and
// has text to select when it is asked to, and asks again when there are keys.
func (s *selection) Disabled() bool { return !s.focused }

// Enable and Disable are needed for that, and do nothing.
func (s *selection) Enable() {}

// Disable does nothing.
func (s *selection) Disable() {}

// SelectedText is what is selected.
func (s *selection) SelectedText() string { return s.inner.SelectedText() }

// Cursor is that of texts.
func (s *selection) Cursor() desktop.Cursor { return s.inner.Cursor() }

// FocusGained shows what is selected.
func (s *selection) FocusGained() {
	s.focused = true
	s.inner.FocusGained()
	s.Refresh()
}

// FocusLost is part of that.
func (s *selection) FocusLost() {
	s.focused = false
	s.inner.FocusLost()
	s.Refresh()
}

// TypedRune is for others.
func (s *selection) TypedRune(rune) {}

// TypedKey is for the window.
func (s *selection) TypedKey(e *fyne.KeyEvent) { toWindow(s, e) }

// TypedShortcut copies, or is for the window.
func (s *selection) TypedShortcut(c fyne.Shortcut) {
	if _, ok := c.(*fyne.ShortcutCopy); !ok {
		shortcutToWindow(s, c)
	} else if s.inner.SelectedText() != "" { // else what was copied before would be gone
		s.inner.TypedShortcut(c)
	}
}

// MouseDown and the like select.
func (s *selection) MouseDown(e *desktop.MouseEvent) {
	focus(s)
	s.inner.MouseDown(e)
	s.Refresh()
}

// MouseUp is part of that.
func (s *selection) MouseUp(e *desktop.MouseEvent) {
	s.inner.MouseUp(e)
	s.Refresh()
}

// Dragged is part of that.
func (s *selection) Dragged(e *fyne.DragEvent) {
	focus(s)
	s.inner.Dragged(e)
	s.Refresh()
}

// DragEnd is part of that.
func (s *selection) DragEnd() {
	s.inner.DragEnd()
	s.Refresh()
}

// DoubleTapped selects a word.
func (s *selection) DoubleTapped(e *fyne.PointEvent) {
	focus(s)
	s.inner.DoubleTapped(e)
	s.Refresh()
}

// TappedSecondary offers to copy.
func (s *selection) TappedSecondary(e *fyne.PointEvent) {
	c := canvasOf(s)
	if text := s.inner.SelectedText(); c != nil && text != "" {
		widget.ShowPopUpMenuAtPosition(fyne.NewMenu("", fyne.NewMenuItem(lang.L("Copy"), func() {
			fyne.CurrentApp().Clipboard().SetContent(text)
		})), c, e.AbsolutePosition)
	}
}

// CreateRenderer draws what the part of the label would.
func (s *selection) CreateRenderer() fyne.WidgetRenderer {
	return &selectionRenderer{s.inner.CreateRenderer(), s}
}

type selectionRenderer struct {
	fyne.WidgetRenderer
	s *selection
}

func (r *selectionRenderer) Refresh() {
	r.WidgetRenderer.Refresh()
	canvas.Refresh(r.s)
}
