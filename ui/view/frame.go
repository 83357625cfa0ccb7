package view

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A Frame is what is around the pages of a window: the bar to their side, their
// title with how the engine is, and lines for what went well or wrong.
type Frame struct {
	env    Env
	side   *Side
	head   *fyne.Container
	root   *fyne.Container
	title  *canvas.Text
	state  *canvas.Image
	status *widget.Label
	banner *Banner
	toast  *widget.Label
	foot   *fyne.Container
	area   *fyne.Container

	veil     *widget.PopUp
	veilText *widget.Label
	veilDo   *fyne.Container

	veilLabels []string // of the buttons
}

// narrowBelow is the width of a window that has no room for labels beside the
// pictures of the side bar.
const narrowBelow = 800

// NewFrame returns a frame around no page yet. select is called with the name of
// the item that the user wants.
func NewFrame(env Env, title string, brand fyne.Resource, items []SideItem, foot int, selected func(name string)) *Frame {
	f := &Frame{env: env, banner: NewBanner(), toast: widget.NewLabel(""), status: widget.NewLabel(""), area: container.NewStack()}
	f.side = NewSide(title, brand, items, foot)
	f.side.OnSelect = selected
	f.side.OnEnter = f.into
	f.title = canvas.NewText("", color.Black)
	f.title.TextStyle.Bold = true
	f.state = canvas.NewImageFromResource(nil)
	f.state.FillMode = canvas.ImageFillContain
	f.state.SetMinSize(fyne.NewSquareSize(18))
	f.status.Truncation = fyne.TextTruncateEllipsis
	f.status.Alignment = fyne.TextAlignTrailing
	f.status.Importance = widget.LowImportance
	f.toast.Truncation = fyne.TextTruncateEllipsis
	f.foot = container.NewStack(newCardBack(ColorGood), container.New(layout.NewCustomPaddedLayout(0, 0, 14, 4), border(nil, nil,
		widget.NewIcon(theme.NewColoredResource(theme.ConfirmIcon(), ColorGood)), nil, f.toast)))
	f.foot.Hide()
	f.head = container.New(layout.NewCustomPaddedLayout(10, 6, 14, 14), border(nil, nil,
		container.NewCenter(f.title), container.NewCenter(f.state), f.status))
	page := border(container.NewVBox(f.head, f.banner.Object()), nil, nil, nil,
		container.NewStack(f.area, container.New(atFoot{f.toast}, f.foot)))
	f.root = container.New(&sideBySide{f.side}, f.side, page)
	f.colored()
	return f
}

// Object is what goes into a window.
func (f *Frame) Object() fyne.CanvasObject { return f.root }

// colored brings up to date what does not follow the theme by itself.
func (f *Frame) colored() {
	f.title.Color = theme.Color(theme.ColorNameForeground)
	f.title.TextSize = theme.Size(theme.SizeNameHeadingText)
	f.title.Refresh()
}

// Show puts a page into the frame.
func (f *Frame) Show(name, title string, page fyne.CanvasObject) {
	f.side.Select(name)
	f.title.Text = title
	f.colored()
	// What is wider than a small window can be scrolled to.
	before := len(f.area.Objects) > 0
	f.area.Objects = []fyne.CanvasObject{container.NewScroll(container.New(layout.NewCustomPaddedLayout(0, 8, 12, 12), page))}
	if before {
		f.area.Refresh() // the page may be from before a change of the theme
	} else {
		f.area.Layout.Layout(f.area.Objects, f.area.Size())
	}
	f.head.Refresh()
	// What had the focus may be seen no more. From here, Tab goes into the page.
	if c := f.env.Window.Canvas(); before && c.Overlays().Top() == nil {
		c.Focus(f.side)
	}
}

// Status says how things are.
func (f *Frame) Status(icon fyne.Resource, text string) {
	if f.state.Resource == nil || icon.Name() != f.state.Resource.Name() {
		f.state.Resource = icon
		f.state.Refresh()
	}
	if f.status.Text != text {
		f.status.SetText(text)
	}
}

// Toast says at the foot what went well; "" nothing.
func (f *Frame) Toast(text string) {
	f.toast.SetText(text)
	f.foot.Hidden = text == ""
	f.root.Refresh()
}

// atFoot lays out a line that comes and goes at the foot of a page, above what is
// there: nothing may move under the mouse of somebody who is about to press it.
type atFoot struct{ text *widget.Label }

func (atFoot) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l atFoot) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	const edge, sides = 12, 64
	for _, o := range objects {
		need := fyne.MeasureText(l.text.Text, theme.TextSize(), l.text.TextStyle).Width + sides
		o.Resize(fyne.NewSize(max(0, min(need, size.Width-2*edge)), o.MinSize().Height))
		o.Move(fyne.NewPos((size.Width-o.Size().Width)/2, size.Height-o.Size().Height-edge))
	}
}

// Fail says at the head what went wrong, until the user has read it.
func (f *Frame) Fail(text string) {
	f.banner.Error(text, func() { f.banner.Clear() }, f.env.Texts.Get("window.hide"))
}

// Tell says at the head what is as well to know, until the user has read it, of
// which hidden is told.
func (f *Frame) Tell(text string, hidden func()) {
	f.banner.Offer(text, func() {
		f.banner.Clear()
		hidden()
	}, f.env.Texts.Get("window.hide"))
}

// Failed is what [Frame.Fail] or [Frame.Tell] says.
func (f *Frame) Failed() string { return f.banner.Text() }

// Veil has nothing be done in the window, and says why: there is no engine. What
// was known stays to be seen behind it.
func (f *Frame) Veil(icon fyne.Resource, title, why string, actions ...Action) {
	if f.veil == nil {
		f.veilText = widget.NewLabel("")
		f.veilText.Wrapping = fyne.TextWrapWord
		f.veilText.Alignment = fyne.TextAlignCenter
		f.veilDo = container.NewHBox()
		picture := canvas.NewImageFromResource(icon)
		picture.FillMode = canvas.ImageFillContain
		picture.SetMinSize(fyne.NewSquareSize(48))
		room := canvas.NewRectangle(color.Transparent)
		room.SetMinSize(fyne.NewSize(380, 0))
		f.veil = widget.NewModalPopUp(container.NewPadded(container.NewPadded(container.NewVBox(room, picture,
			widget.NewLabelWithStyle(title, fyne.TextAlignCenter, fyne.TextStyle{Bold: true}), f.veilText, container.NewCenter(f.veilDo)))), f.env.Window.Canvas())
	}
	var labels []string
	for _, a := range actions {
		labels = append(labels, a.Label)
	}
	if f.veilText.Text == why && slices.Equal(f.veilLabels, labels) && f.Veiled() {
		return // the buttons keep the focus
	}
	f.veilLabels = labels
	f.veilDo.RemoveAll()
	for _, a := range actions {
		f.veilDo.Add(a.button())
	}
	f.veilText.SetText(why)
	f.veil.Show()
	f.veil.Resize(f.veil.MinSize()) // the text wraps now, and so gets its height
	f.veil.Refresh()
}

// Veiled reports whether the veil is there.
func (f *Frame) Veiled() bool {
	if f.veil == nil {
		return false
	}
	for _, o := range f.env.Window.Canvas().Overlays().List() {
		if o == f.veil {
			return true
		}
	}
	return false
}

// Why is what the veil says.
func (f *Frame) Why() string {
	if !f.Veiled() {
		return ""
	}
	return f.veilText.Text
}

// Unveil takes the veil away.
func (f *Frame) Unveil() {
	if f.veil != nil {
		f.veil.Hide()
		f.veil = nil
	}
}

// NextPart moves the focus from the side bar into the page, and back.
func (f *Frame) NextPart() {
	if f.env.Window.Canvas().Focused() == f.side {
		f.into()
		return
	}
	f.env.Window.Canvas().Focus(f.side)
}

// into moves the focus to the first part of the page that takes it.
func (f *Frame) into() {
	f.env.Window.Canvas().Focus(f.side)
	f.env.Window.Canvas().FocusNext()
}

// sideBySide lays out a side bar and what is beside it.
type sideBySide struct{ side *Side }

func (b *sideBySide) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(480, 400) }

func (b *sideBySide) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	b.side.SetNarrow(size.Width < narrowBelow)
	width := b.side.width()
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[0].Move(fyne.NewPos(0, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width, size.Height))
	objects[1].Move(fyne.NewPos(width, 0))
}
