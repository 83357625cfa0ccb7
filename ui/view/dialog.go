package view

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// A Dialog is in front of a window, until an action or Escape ends it.
type Dialog struct {
	env     Env
	pop     *widget.PopUp
	row     *fyne.Container
	buttons []*Button
	ended   func()
	asks    func() // what Escape does in place of ending it; may be nil
	done    bool
}

// A body is what a dialog shows. By it [Escape] knows a dialog of ours among what
// lies over a window.
type body struct {
	widget.BaseWidget
	content fyne.CanvasObject
	dialog  *Dialog
}

func newBody(content fyne.CanvasObject, d *Dialog) *body {
	b := &body{content: content, dialog: d}
	b.ExtendBaseWidget(b)
	return b
}

// CreateRenderer makes what is drawn.
func (b *body) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(b.content) }

// NewDialog shows a dialog. Its first button, which does nothing but end it, has
// the label no; each action ends it first. ended may be nil: it is called when it
// ends in any way, before the action.
func NewDialog(env Env, title string, content fyne.CanvasObject, no string, ended func(), actions ...Action) *Dialog {
	d := &Dialog{env: env, ended: ended}
	d.row = container.NewHBox(layout.NewSpacer())
	d.add(Action{Label: no, Do: d.Close})
	for _, a := range actions {
		do := a.Do
		a.Do = func() {
			d.Close()
			if do != nil {
				do()
			}
		}
		d.add(a)
	}
	room := canvas.NewRectangle(color.Transparent)
	room.SetMinSize(fyne.NewSize(min(lineWidth, env.Window.Canvas().Size().Width*0.8), 0))
	box := border(container.NewVBox(room, Heading(title)), d.row, nil, nil, content)
	d.pop = widget.NewModalPopUp(newBody(container.NewPadded(box), d), env.Window.Canvas())
	d.pop.Show()
	d.pop.Resize(d.pop.MinSize()) // texts have wrapped by now, and are higher for that
	return d
}

// add puts a button beside the others, which leaves it to its action to close the
// dialog.
func (d *Dialog) add(a Action) {
	b := a.button()
	d.buttons = append(d.buttons, b)
	d.row.Add(b)
}

// Close ends the dialog.
func (d *Dialog) Close() {
	if d.done {
		return
	}
	d.done = true
	d.pop.Hide()
	if d.ended != nil {
		d.ended()
	}
}

// Resize gives the dialog a size, if it fits.
func (d *Dialog) Resize(size fyne.Size) {
	room := d.env.Window.Canvas().Size()
	d.pop.Resize(fyne.NewSize(min(size.Width, room.Width-16), min(size.Height, room.Height-16)))
}

// Escape ends the dialog of ours that is in front of all else, if there is one.
func Escape(c fyne.Canvas) bool {
	if pop, ok := c.Overlays().Top().(*widget.PopUp); ok {
		if b, ok := pop.Content.(*body); ok {
			if b.dialog.asks != nil {
				b.dialog.asks()
			} else {
				b.dialog.Close()
			}
			return true
		}
	}
	return false
}

// Confirm asks before something is done. Escape is no, and so is what has the
// focus where there is danger.
func Confirm(env Env, title, text, verb string, danger bool, do func()) {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	d := NewDialog(env, title, l, env.Texts.Get("window.cancel"), nil, Action{Label: verb, Do: do, Danger: danger, Primary: !danger})
	focus := d.buttons[1]
	if danger {
		focus = d.buttons[0]
	}
	env.Window.Canvas().Focus(focus)
}
