package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// bars are three of a chart, in the shape of the toolkit's icons.
const bars = `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24">` +
	`<path fill="#000000" d="M4 12h4v8H4zM10 4h4v16h-4zM16 9h4v11h-4z"/></svg>`

// SpendIcon is the picture of the screen of spending.
func SpendIcon() fyne.Resource {
	return theme.NewThemedResource(fyne.NewStaticResource("arenero-spend.svg", []byte(bars)))
}
