package tray

import (
	"fyne.io/systray"

	"github.com/arenero/arenero/assets/icons"
	"github.com/arenero/arenero/ui"
)

func setIcon(icon ui.Icon) { systray.SetIcon(icons.ICO(string(icon))) }
