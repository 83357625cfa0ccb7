package view

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// An Action is something to do, for a button.
type Action struct {
	Label   string
	Do      func()
	Danger  bool // it can't be taken back
	Primary bool // it is what most want
}

// button is the button of an action.
func (a Action) button() *Button {
	b := NewButton(a.Label, nil, a.Do)
	switch {
	case a.Danger:
		b.Importance = widget.DangerImportance
	case a.Primary:
		b.Importance = widget.HighImportance
	}
	return b
}

// EmptyState says, in the middle of where something would be, that there is
// nothing yet, and what to do about it. icon may be nil.
func EmptyState(icon fyne.Resource, title, text string, actions ...Action) fyne.CanvasObject {
	box := container.NewVBox()
	if icon != nil {
		picture := canvas.NewImageFromResource(theme.NewColoredResource(icon, ColorMuted))
		picture.FillMode = canvas.ImageFillContain
		picture.SetMinSize(fyne.NewSquareSize(48))
		box.Add(picture)
	}
	box.Add(widget.NewLabelWithStyle(title, fyne.TextAlignCenter, fyne.TextStyle{Bold: true}))
	if text != "" {
		t := Muted(text)
		t.Alignment = fyne.TextAlignCenter
		box.Add(t)
	}
	if len(actions) > 0 {
		row := container.NewHBox()
		for _, a := range actions {
			row.Add(a.button())
		}
		box.Add(container.NewCenter(row))
	}
	return container.New(middle{}, box)
}

// middle puts one object in the middle, as wide as lines are still easy to read.
type middle struct{}

const lineWidth = 460

func (middle) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for _, o := range objects {
		size = size.Max(o.MinSize())
	}
	return size
}

func (middle) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		width := max(min(size.Width, lineWidth), o.MinSize().Width)
		o.Resize(fyne.NewSize(width, o.MinSize().Height)) // texts wrap now, and so get their height
		height := o.MinSize().Height
		o.Resize(fyne.NewSize(width, height))
		o.Move(fyne.NewPos((size.Width-width)/2, max(0, (size.Height-height)*2/5)))
	}
}

// A Banner is a line at the head of a page: that something failed, or a word on
// what is seen. It takes no room while it has nothing to say.
type Banner struct {
	root  *fyne.Container
	back  *canvas.Rectangle
	edge  *canvas.Rectangle
	icon  *widget.Icon
	text  *Text
	again *Button
	color fyne.ThemeColorName
	page  *fyne.Container // that is laid out anew when this gets higher; may be nil
}

// NewBanner returns one that says nothing.
func NewBanner() *Banner {
	b := &Banner{text: NewText("", fyne.TextStyle{}), icon: widget.NewIcon(nil), again: NewButton("", nil, nil)}
	b.back, b.edge = canvas.NewRectangle(color.Transparent), canvas.NewRectangle(color.Transparent)
	b.edge.SetMinSize(fyne.NewSize(4, 0))
	icon := container.NewCenter(b.icon)
	line := border(nil, nil, container.NewHBox(b.edge, icon), container.NewCenter(b.again), b.text)
	b.root = container.NewStack(b.back, line)
	b.root.Hide()
	return b
}

// Object is what goes into a page.
func (b *Banner) Object() fyne.CanvasObject { return b.root }

// Error says what is wrong, and offers to do something about it if retry is not
// nil.
func (b *Banner) Error(text string, retry func(), retryLabel string) {
	b.say(theme.ErrorIcon(), ColorBad, text)
	b.offer(retry, retryLabel)
}

// Offer says something that is not wrong, and what can be done about it.
func (b *Banner) Offer(text string, do func(), label string) {
	b.say(theme.InfoIcon(), ColorBrand, text)
	b.offer(do, label)
}

func (b *Banner) offer(do func(), label string) {
	if do != nil {
		b.again.Text, b.again.OnTapped = label, do
		b.again.Show()
		b.again.Refresh()
	}
}

// Info says something that is not wrong.
func (b *Banner) Info(text string) { b.say(theme.InfoIcon(), ColorBrand, text) }

// Clear takes away what is said.
func (b *Banner) Clear() {
	b.text.SetText("")
	b.root.Hide()
	b.fit()
}

// Text is what is said, "" if nothing is.
func (b *Banner) Text() string { return b.text.Text }

func (b *Banner) say(icon fyne.Resource, name fyne.ThemeColorName, text string) {
	b.color = name
	b.icon.SetResource(theme.NewColoredResource(icon, name))
	b.edge.FillColor = theme.Color(name)
	b.back.FillColor = theme.Color(ColorCard)
	b.text.SetText(text)
	b.again.Hide()
	b.root.Show()
	b.root.Refresh()
	b.fit()
}

// fit gives the page room for what is said: once for it to be there, and once
// more for its lines, whose number depends on the width that it was given.
func (b *Banner) fit() {
	if b.page != nil {
		b.page.Refresh()
		b.page.Refresh()
	}
}

// Heading is the title of a page or of a part of one.
func Heading(text string) fyne.CanvasObject {
	return widget.NewRichText(&widget.TextSegment{Text: text, Style: widget.RichTextStyle{
		SizeName: theme.SizeNameSubHeadingText, TextStyle: fyne.TextStyle{Bold: true}, ColorName: theme.ColorNameForeground,
	}})
}

// Muted is a text that matters less. It wraps.
func Muted(text string) *widget.Label {
	l := widget.NewLabel(text)
	l.Importance = widget.LowImportance
	l.Wrapping = fyne.TextWrapWord
	return l
}

// Copyable is a value in letters of one width, with a button that copies it.
func Copyable(env Env, value string) fyne.CanvasObject {
	l := NewText(value, fyne.TextStyle{Monospace: true})
	l.Wrapping = fyne.TextWrapBreak
	b := NewButton(env.Texts.Get("window.copy"), theme.ContentCopyIcon(), func() { env.Copy(value) })
	back := canvas.NewRectangle(theme.Color(theme.ColorNameInputBackground))
	back.CornerRadius = theme.Size(theme.SizeNameInputRadius)
	return container.NewStack(back, border(nil, nil, nil, container.NewCenter(b), l))
}

// Busy says over the window that something takes a while, until stop is called.
// It is for what takes more than a second, and can't go on beside other things.
func Busy(env Env, text string) (stop func()) {
	bar := widget.NewProgressBarInfinite()
	l := widget.NewLabelWithStyle(text, fyne.TextAlignCenter, fyne.TextStyle{})
	room := canvas.NewRectangle(color.Transparent)
	room.SetMinSize(fyne.NewSize(280, 0))
	pop := widget.NewModalPopUp(container.NewPadded(container.NewVBox(room, l, bar, layout.NewSpacer())), env.Window.Canvas())
	pop.Show()
	return func() {
		bar.Stop() // it moves, and so costs, for as long as it is not told
		pop.Hide()
	}
}
