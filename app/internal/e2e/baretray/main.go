//go:build linux

// Baretray is an icon with a menu of one line, and nothing behind it: the least
// that a tray can be on the library that ours stands on. "make bench" measures
// ours beside it.
package main

import (
	"fyne.io/systray"

	"github.com/arenero/arenero/assets/icons"
)

func main() {
	systray.Run(func() {
		systray.SetTitle("bare")
		systray.SetIcon(icons.PNG("none", 64))
		quit := systray.AddMenuItem("Quit", "")
		go func() {
			<-quit.ClickedCh
			systray.Quit()
		}()
	}, nil)
}
