//go:build gles && cgo

// Hiddenwindow is the least that a tray can be in the toolkit of our windows: an
// icon with a menu of one line, and a window that is not shown. "make bench"
// measures our tray beside it, which is another program for this reason.
package main

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/assets/icons"
)

func main() {
	a := app.NewWithID("arenero.hidden")
	w := a.NewWindow("hidden")
	w.SetContent(widget.NewLabel("hidden"))
	d, ok := a.(desktop.App)
	if !ok {
		return // as on a telephone
	}
	d.SetSystemTrayMenu(fyne.NewMenu("hidden", fyne.NewMenuItem("Show", w.Show)))
	d.SetSystemTrayIcon(fyne.NewStaticResource("none.png", icons.PNG("none", 64)))
	a.Run()
}
