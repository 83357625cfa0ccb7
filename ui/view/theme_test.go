package view

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// over is what is seen of a color that lets another through.
func over(top, below color.Color) color.NRGBA {
	t, b := color.NRGBAModel.Convert(top).(color.NRGBA), color.NRGBAModel.Convert(below).(color.NRGBA)
	mix := func(t8, b8 uint8) uint8 {
		a := float64(t.A) / 255
		return uint8(math.Round(float64(t8)*a + float64(b8)*(1-a)))
	}
	return color.NRGBA{mix(t.R, b.R), mix(t.G, b.G), mix(t.B, b.B), 0xff}
}

// luminance is that of a color as WCAG defines it.
func luminance(c color.NRGBA) float64 {
	part := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
}

// TestContrast holds that all texts can be read on all that may be behind them.
func TestContrast(t *testing.T) {
	test.NewTempApp(t)
	backs := []fyne.ThemeColorName{
		theme.ColorNameBackground, theme.ColorNameOverlayBackground, theme.ColorNameMenuBackground, theme.ColorNameInputBackground, theme.ColorNameHeaderBackground,
		ColorCard, ColorSide,
	}
	texts := []fyne.ThemeColorName{
		theme.ColorNameForeground, theme.ColorNamePlaceHolder, theme.ColorNameDisabled, theme.ColorNameHyperlink, ColorBrand, ColorMuted, ColorGood, ColorWarn, ColorBad, ColorSleep,
	}
	type pair struct{ text, back, veil fyne.ThemeColorName }
	var pairs []pair
	for _, b := range backs {
		for _, x := range texts {
			pairs = append(pairs, pair{x, b, ""})
		}
		for _, veil := range []fyne.ThemeColorName{theme.ColorNameSelection, theme.ColorNameHover} {
			pairs = append(pairs, pair{theme.ColorNameForeground, b, veil})
		}
	}
	for _, b := range []struct{ text, back fyne.ThemeColorName }{
		{theme.ColorNameForeground, theme.ColorNameButton},
		{theme.ColorNameForegroundOnPrimary, theme.ColorNamePrimary},
		{theme.ColorNameForegroundOnError, theme.ColorNameError},
		{theme.ColorNameForegroundOnSuccess, theme.ColorNameSuccess},
		{theme.ColorNameForegroundOnWarning, theme.ColorNameWarning},
	} {
		for _, veil := range []fyne.ThemeColorName{"", theme.ColorNameHover, theme.ColorNameFocus} {
			pairs = append(pairs, pair{b.text, b.back, veil})
		}
	}
	for _, variant := range []string{"light", "dark"} {
		t.Run(variant, func(t *testing.T) {
			l := NewTheme(variant)
			at := func(name fyne.ThemeColorName) color.Color { return l.Color(name, theme.VariantLight) }
			for _, p := range pairs {
				back := over(at(p.back), color.White)
				if p.veil != "" {
					back = over(at(p.veil), back)
				}
				if got := contrast(over(at(p.text), back), back); got < 4.5 {
					t.Errorf("%s on %s below %q: %.2f, want 4.5", p.text, p.back, p.veil, got)
				}
			}
			for _, line := range []fyne.ThemeColorName{theme.ColorNameInputBorder, ColorBrand} { // no texts, but seen they must be
				for _, b := range backs {
					if got := contrast(over(at(line), at(b)), over(at(b), color.White)); got < 3 {
						t.Errorf("%s on %s: %.2f, want 3", line, b, got)
					}
				}
			}
		})
	}
}

// TestVariants holds that a theme goes by what was chosen, and by the system where
// nothing was.
func TestVariants(t *testing.T) {
	test.NewTempApp(t)
	for _, tt := range []struct {
		variant string
		system  fyne.ThemeVariant
		want    palette
	}{
		{"", theme.VariantLight, day},
		{"", theme.VariantDark, night},
		{"light", theme.VariantDark, day},
		{"dark", theme.VariantLight, night},
	} {
		if got := NewTheme(tt.variant).Color(theme.ColorNameBackground, tt.system); got != tt.want[theme.ColorNameBackground] {
			t.Errorf("%q on system %d: background is %v", tt.variant, tt.system, got)
		}
	}
	for name := range day {
		if night[name] == nil {
			t.Errorf("%s is there by day alone", name)
		}
	}
}
