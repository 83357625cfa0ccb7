package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"
)

// A Key is a combination of keys, and what it does.
type Key struct{ Keys, Text string }

// ShowKeys lists keys in a dialog.
func ShowKeys(env Env, keys []Key, actions ...Action) {
	var cells []fyne.CanvasObject
	for _, k := range keys {
		cells = append(cells, widget.NewLabelWithStyle(k.Keys, fyne.TextAlignLeading, fyne.TextStyle{Monospace: true}), widget.NewLabel(k.Text))
	}
	list := container.New(layout.NewFormLayout(), cells...)
	scroll := container.NewVScroll(list)
	scroll.SetMinSize(fyne.NewSize(list.MinSize().Width, min(list.MinSize().Height, env.Window.Canvas().Size().Height-160)))
	d := NewDialog(env, env.Texts.Get("window.keys"), scroll, env.Texts.Get("window.close"), nil, actions...)
	env.Window.Canvas().Focus(d.buttons[0])
}
