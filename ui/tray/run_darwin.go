//go:build cgo

package tray

import (
	"fyne.io/systray"

	"github.com/arenero/arenero/assets/icons"
	"github.com/arenero/arenero/ui"
)

func setIcon(icon ui.Icon) {
	systray.SetTemplateIcon(icons.Template(string(icon)), icons.PNG(string(icon), 64))
}
