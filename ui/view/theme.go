package view

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Colors by what they mean, besides those of the toolkit. All of them can be
// read as text on the background, on a card, and on the side bar.
const (
	ColorMuted = theme.ColorNamePlaceHolder // what matters less
	ColorGood  = theme.ColorNameSuccess
	ColorWarn  = theme.ColorNameWarning
	ColorBad   = theme.ColorNameError
	ColorBrand = theme.ColorNamePrimary

	ColorSleep fyne.ThemeColorName = "arenero-sleep" // of what is suspended
	ColorSide  fyne.ThemeColorName = "arenero-side"  // behind the side bar
	ColorCard  fyne.ThemeColorName = "arenero-card"  // behind what belongs together
	ColorTrack fyne.ThemeColorName = "arenero-track" // the empty part of a bar
)

// look is our theme: the shapes of the toolkit, in the colors of sand by day and
// by night.
type look struct {
	fyne.Theme
	variant string
}

// NewTheme is the theme of the windows: "light", "dark", or for "" what the
// system has.
func NewTheme(variant string) fyne.Theme { return &look{theme.DefaultTheme(), variant} }

// Color looks up a color.
func (l *look) Color(name fyne.ThemeColorName, system fyne.ThemeVariant) color.Color {
	palette := day
	if l.variant == "dark" || l.variant == "" && system == theme.VariantDark {
		palette = night
	}
	if c, ok := palette[name]; ok {
		return c
	}
	if l.variant != "" {
		system = theme.VariantLight
		if l.variant == "dark" {
			system = theme.VariantDark
		}
	}
	return l.Theme.Color(name, system)
}

// Size looks up a size.
func (l *look) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius:
		return 6
	case theme.SizeNameHeadingText:
		return 22
	case theme.SizeNameSubHeadingText:
		return 16
	case theme.SizeNameCaptionText:
		return 12
	}
	return l.Theme.Size(name)
}

type palette map[fyne.ThemeColorName]color.Color

func rgb(v uint32) color.NRGBA { return rgba(v, 0xff) }

func rgba(v uint32, alpha uint8) color.NRGBA {
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), alpha}
}

var day = palette{
	theme.ColorNameBackground:          rgb(0xfbf9f6),
	theme.ColorNameForeground:          rgb(0x24201a),
	theme.ColorNamePlaceHolder:         rgb(0x6a6359),
	theme.ColorNameDisabled:            rgb(0x6a6359), // the toolkit's labels of low importance have it too
	theme.ColorNamePrimary:             rgb(0x8c5a0a),
	theme.ColorNameHyperlink:           rgb(0x85550a),
	theme.ColorNameForegroundOnPrimary: rgb(0xffffff),
	theme.ColorNameError:               rgb(0xb3261e),
	theme.ColorNameForegroundOnError:   rgb(0xffffff),
	theme.ColorNameSuccess:             rgb(0x18703a),
	theme.ColorNameForegroundOnSuccess: rgb(0xffffff),
	theme.ColorNameWarning:             rgb(0xa1430b),
	theme.ColorNameForegroundOnWarning: rgb(0xffffff),
	theme.ColorNameButton:              rgb(0xece6dc),
	theme.ColorNameDisabledButton:      rgb(0xf1ede6),
	theme.ColorNameInputBackground:     rgb(0xffffff),
	theme.ColorNameInputBorder:         rgb(0x877e71),
	theme.ColorNameHeaderBackground:    rgb(0xf3eee6),
	theme.ColorNameMenuBackground:      rgb(0xffffff),
	theme.ColorNameOverlayBackground:   rgb(0xfffdfa),
	theme.ColorNameHover:               rgba(0x4a3a1c, 0x14),
	theme.ColorNamePressed:             rgba(0x4a3a1c, 0x2c),
	theme.ColorNameFocus:               rgba(0xb87914, 0x66),
	theme.ColorNameSelection:           rgba(0xb87914, 0x33),
	theme.ColorNameSeparator:           rgb(0xe4ddd1),
	theme.ColorNameScrollBar:           rgba(0x4a3a1c, 0x66),
	theme.ColorNameScrollBarBackground: rgba(0x4a3a1c, 0x10),
	theme.ColorNameShadow:              rgba(0x2b2114, 0x2a),
	ColorSleep:                         rgb(0x4a53b4),
	ColorSide:                          rgb(0xf2ede4),
	ColorCard:                          rgb(0xffffff),
	ColorTrack:                         rgb(0xe3dbcd),
}

var night = palette{
	theme.ColorNameBackground:          rgb(0x1b1a17),
	theme.ColorNameForeground:          rgb(0xece7de),
	theme.ColorNamePlaceHolder:         rgb(0xaaa296),
	theme.ColorNameDisabled:            rgb(0xaaa296),
	theme.ColorNamePrimary:             rgb(0xe0a544),
	theme.ColorNameHyperlink:           rgb(0xe7b25a),
	theme.ColorNameForegroundOnPrimary: rgb(0x231804),
	theme.ColorNameError:               rgb(0xff8a7d),
	theme.ColorNameForegroundOnError:   rgb(0x330804),
	theme.ColorNameSuccess:             rgb(0x67c78a),
	theme.ColorNameForegroundOnSuccess: rgb(0x04220f),
	theme.ColorNameWarning:             rgb(0xf59a5c),
	theme.ColorNameForegroundOnWarning: rgb(0x2e1302),
	theme.ColorNameButton:              rgb(0x35322c),
	theme.ColorNameDisabledButton:      rgb(0x292723),
	theme.ColorNameInputBackground:     rgb(0x25231f),
	theme.ColorNameInputBorder:         rgb(0x8b8377),
	theme.ColorNameHeaderBackground:    rgb(0x24221e),
	theme.ColorNameMenuBackground:      rgb(0x2b2925),
	theme.ColorNameOverlayBackground:   rgb(0x262420),
	theme.ColorNameHover:               rgba(0xffffff, 0x12),
	theme.ColorNamePressed:             rgba(0xffffff, 0x24),
	theme.ColorNameFocus:               rgba(0xe0a544, 0x66),
	theme.ColorNameSelection:           rgba(0xe0a544, 0x33),
	theme.ColorNameSeparator:           rgb(0x37342e),
	theme.ColorNameScrollBar:           rgba(0xffffff, 0x66),
	theme.ColorNameScrollBarBackground: rgba(0xffffff, 0x0c),
	theme.ColorNameShadow:              rgba(0x000000, 0x66),
	ColorSleep:                         rgb(0xa9b0f5),
	ColorSide:                          rgb(0x161512),
	ColorCard:                          rgb(0x24221e),
	ColorTrack:                         rgb(0x3d3932),
}
