// Command arenero-window shows the windows of Arenero. It is a client of the
// engine like any other, and starts one if there is none.
package main

import (
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"

	_ "github.com/arenero/arenero/ui/quiet"
	"github.com/arenero/arenero/ui/window"
)

// version is set by the linker.
var version = "unknown"

func main() {
	os.Exit(window.Main(os.Args[1:], version, os.Stdout, os.Stderr, func() fyne.App {
		// Without a name the toolkit keeps no files of its own.
		return app.NewWithID("")
	}))
}
