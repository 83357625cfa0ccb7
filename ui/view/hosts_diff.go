package view

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/ui"
)

// toneColor is the color of a tone.
func toneColor(t ui.Tone) fyne.ThemeColorName {
	switch t {
	case ui.ToneMuted:
		return ColorMuted
	case ui.ToneGood:
		return ColorGood
	case ui.ToneWarn:
		return ColorWarn
	case ui.ToneBad:
		return ColorBad
	}
	return theme.ColorNameForeground
}

// A diffStyle is how a line of a difference is drawn. It asks the theme each
// time, which may be another one by then.
type diffStyle struct{ look ui.DiffLook }

func (s diffStyle) Style() fyne.TextStyle        { return fyne.TextStyle{Monospace: true, Bold: s.look.Bold} }
func (s diffStyle) TextColor() color.Color       { return theme.Color(toneColor(s.look.Tone)) }
func (s diffStyle) BackgroundColor() color.Color { return color.Transparent }

// A diffView shows differences in letters of one width. With the focus on it,
// the arrows scroll it.
type diffView struct {
	widget.BaseWidget
	grid   *widget.TextGrid
	scroll *container.Scroll
	back   *canvas.Rectangle
	root   *fyne.Container
	lines  []ui.DiffLook
}

func newDiffView() *diffView {
	d := &diffView{grid: widget.NewTextGrid(), back: canvas.NewRectangle(color.Transparent)}
	d.grid.Scroll = fyne.ScrollNone
	d.scroll = container.NewScroll(d.grid)
	d.back.CornerRadius = theme.Size(theme.SizeNameInputRadius)
	d.back.StrokeWidth = 1
	d.root = container.NewStack(d.back, container.NewPadded(d.scroll))
	d.ExtendBaseWidget(d)
	d.paint(false)
	return d
}

// CreateRenderer makes what is drawn.
func (d *diffView) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(d.root) }

// MinSize is little: it scrolls.
func (d *diffView) MinSize() fyne.Size { return fyne.NewSize(200, 96) }

// show draws the differences of some files, one below the other.
func (d *diffView) show(changes []control.HostChange) {
	d.lines = nil
	for i, c := range changes {
		if i > 0 && len(c.Diff) > 0 {
			d.lines = append(d.lines, ui.DiffLook{})
		}
		d.lines = append(d.lines, ui.DiffLooks(c.Diff)...)
	}
	rows := make([]widget.TextGridRow, 0, len(d.lines))
	for _, l := range d.lines {
		row := widget.TextGridRow{Style: diffStyle{l}}
		for _, r := range l.Text {
			row.Cells = append(row.Cells, widget.TextGridCell{Rune: r})
		}
		rows = append(rows, row)
	}
	d.grid.Rows = rows
	d.grid.Refresh()
	d.scroll.ScrollToTop()
	d.scroll.Refresh()
}

func (d *diffView) paint(focused bool) {
	d.back.FillColor = theme.Color(theme.ColorNameInputBackground)
	d.back.StrokeColor = theme.Color(theme.ColorNameSeparator)
	if focused {
		d.back.StrokeColor = theme.Color(theme.ColorNamePrimary)
	}
	d.back.Refresh()
}

// FocusGained has the arrows scroll.
func (d *diffView) FocusGained() { d.paint(true) }

// FocusLost ends that.
func (d *diffView) FocusLost() { d.paint(false) }

// TypedRune is no use here.
func (d *diffView) TypedRune(rune) {}

// TypedKey scrolls.
func (d *diffView) TypedKey(e *fyne.KeyEvent) {
	line, page := float32(20), d.scroll.Size().Height*0.9
	by := map[fyne.KeyName]fyne.Delta{
		fyne.KeyDown: {DY: -line}, fyne.KeyUp: {DY: line}, fyne.KeyPageDown: {DY: -page}, fyne.KeyPageUp: {DY: page},
		fyne.KeyRight: {DX: -2 * line}, fyne.KeyLeft: {DX: 2 * line},
	}
	switch delta, ok := by[e.Name]; {
	case ok:
		d.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: delta})
	case e.Name == fyne.KeyHome:
		d.scroll.ScrollToTop()
	case e.Name == fyne.KeyEnd:
		d.scroll.ScrollToBottom()
	default:
		toWindow(d, e)
	}
}
