package view

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A BarLevel says how much what a bar shows is to be minded.
type BarLevel int

// The levels.
const (
	BarPlain BarLevel = iota
	BarWarn
	BarBad
)

// A Bar is a part of something: how much of it is left, or used.
type Bar struct {
	Value float64 // from 0 to 1
	Level BarLevel
	Text  string // above it
}

// part is the value as one from 0 to 1, in steps too small to be seen, so that
// what looks the same is the same.
func (b Bar) part() float64 {
	if math.IsNaN(b.Value) {
		return 0
	}
	return math.Round(min(1, max(0, b.Value))*256) / 256
}

func (b Bar) color() fyne.ThemeColorName {
	switch b.Level {
	case BarWarn:
		return theme.ColorNameWarning
	case BarBad:
		return theme.ColorNameError
	}
	return theme.ColorNamePrimary
}

const (
	barHeight = 4
	barGap    = 3
)

// A BarWidget draws a bar: a line with its text above.
type BarWidget struct {
	widget.BaseWidget
	bar Bar
}

// NewBar returns an empty bar.
func NewBar() *BarWidget {
	w := &BarWidget{}
	w.ExtendBaseWidget(w)
	return w
}

// Set shows b. What looks as before is not drawn again.
func (w *BarWidget) Set(b Bar) {
	b.Value = b.part()
	if b == w.bar {
		return
	}
	w.bar = b
	w.Refresh()
}

// CreateRenderer is what the toolkit asks for.
func (w *BarWidget) CreateRenderer() fyne.WidgetRenderer {
	r := &barRenderer{
		w: w, text: canvas.NewText("", nil), track: canvas.NewRectangle(nil), fill: canvas.NewRectangle(nil),
	}
	r.track.CornerRadius, r.fill.CornerRadius = barHeight/2, barHeight/2
	r.apply()
	return r
}

type barRenderer struct {
	w           *BarWidget
	text        *canvas.Text
	track, fill *canvas.Rectangle
}

func (r *barRenderer) apply() {
	th := r.w.Theme()
	v := fyne.CurrentApp().Settings().ThemeVariant()
	r.text.TextSize = th.Size(theme.SizeNameText)
	r.text.Color = th.Color(theme.ColorNameForeground, v)
	r.track.FillColor = th.Color(ColorTrack, v)
	r.fill.FillColor = th.Color(r.w.bar.color(), v)
	r.fill.Hidden = r.w.bar.part() == 0
}

func (r *barRenderer) Layout(size fyne.Size) {
	r.text.Text = ellipsis(r.w.bar.Text, size.Width, r.text.TextSize, r.text.TextStyle)
	y := (size.Height - barHeight) / 2
	if r.w.bar.Text != "" {
		h := fyne.MeasureText(r.w.bar.Text, r.text.TextSize, r.text.TextStyle).Height
		top := max(0, (size.Height-h-barGap-barHeight)/2)
		r.text.Move(fyne.NewPos(0, top))
		r.text.Resize(fyne.NewSize(size.Width, h))
		y = top + h + barGap
	}
	r.track.Move(fyne.NewPos(0, y))
	r.track.Resize(fyne.NewSize(size.Width, barHeight))
	r.fill.Move(fyne.NewPos(0, y))
	r.fill.Resize(fyne.NewSize(max(barHeight, size.Width*float32(r.w.bar.part())), barHeight))
}

func (r *barRenderer) MinSize() fyne.Size {
	h := float32(barHeight)
	if r.w.bar.Text != "" {
		h += barGap + fyne.MeasureText(r.w.bar.Text, r.text.TextSize, r.text.TextStyle).Height
	}
	return fyne.NewSize(40, h)
}

func (r *barRenderer) Refresh() {
	r.apply()
	r.Layout(r.w.Size())
	for _, o := range r.Objects() {
		o.Refresh()
	}
}

func (r *barRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.track, r.fill, r.text}
}

func (r *barRenderer) Destroy() {}

// ellipsis is text, cut so that it is no wider than width.
func ellipsis(text string, width, size float32, style fyne.TextStyle) string {
	wide := func(s string) bool { return fyne.MeasureText(s, size, style).Width > width }
	if text == "" || !wide(text) {
		return text
	}
	runes := []rune(text)
	low, high := 0, len(runes) // low fits, with its ellipsis; high does not
	for high-low > 1 {
		if mid := (low + high) / 2; wide(string(runes[:mid]) + "…") {
			high = mid
		} else {
			low = mid
		}
	}
	if low == 0 {
		return "…"
	}
	return string(runes[:low]) + "…"
}
