//go:build gles && cgo

// Barewindow is the least that a program with a window can be in our toolkit: it
// shows one with a word in it. What our window needs is measured beside it.
package main

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/widget"
)

func main() {
	w := app.NewWithID("arenero.bare").NewWindow("bare")
	w.SetContent(widget.NewLabel("bare"))
	w.Resize(fyne.NewSize(960, 640))
	w.ShowAndRun()
}
