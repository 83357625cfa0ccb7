package view

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// A Chart draws what was spent as bars: what is paid in full, with what still
// runs on top, and beside it, hollow, what sandboxes of this computer would have
// cost in AWS. One bar can be picked, by pointing or by keys.
type Chart struct {
	widget.BaseWidget

	// OnPick is called when a bar is picked; -1 is none.
	OnPick func(i int)

	tx      assets.Texts
	bars    []ui.Bar
	scale   ui.Scale
	marks   []string
	picked  int
	focused bool
}

const (
	chartHeight = 170
	chartGap    = 6 // between the amounts and the bars
	chartLeast  = 2 // height of what is not nothing
	chartMost   = 26
	chartCent   = sandbox.Micro(10_000) // that the scale reaches at the least
)

// NewChart returns an empty chart.
func NewChart(env Env) *Chart {
	c := &Chart{tx: env.Texts, picked: -1}
	c.ExtendBaseWidget(c)
	return c
}

// Draw draws bars in place of what was there. What is picked stays so, if it is
// still there.
func (c *Chart) Draw(bars []ui.Bar) {
	var was ui.Bucket
	if c.picked >= 0 {
		was = c.bars[c.picked].Bucket
	}
	if c.scale.Top > 0 && slices.Equal(c.bars, bars) {
		return // it is drawn
	}
	c.bars = bars
	var most sandbox.Micro
	picked := -1
	for i, b := range bars {
		most = max(most, b.Total(), b.WouldTotal())
		if b.Bucket == was {
			picked = i
		}
	}
	c.scale = ui.ScaleOf(max(most, chartCent))
	c.marks = c.scale.Marks(c.tx)
	c.picked = picked
	c.Refresh()
}

// Picked is the bar that is picked, or -1.
func (c *Chart) Picked() int { return c.picked }

func (c *Chart) pick(i int) {
	if i = min(i, len(c.bars)-1); i == c.picked {
		return
	}
	c.picked = i
	c.Refresh()
	if c.OnPick != nil {
		c.OnPick(i)
	}
}

// plot is where the bars are, and how wide each may be.
func (c *Chart) plot() (left, width float32) {
	size := theme.CaptionTextSize()
	for _, m := range c.marks {
		left = max(left, fyne.MeasureText(m, size, fyne.TextStyle{}).Width)
	}
	left += chartGap
	return left, max(0, c.Size().Width-left) / float32(max(1, len(c.bars)))
}

func (c *Chart) at(p fyne.Position) int {
	left, width := c.plot()
	if p.X < left || width <= 0 || len(c.bars) == 0 {
		return -1
	}
	return int((p.X - left) / width)
}

// MouseIn is when the pointer comes.
func (c *Chart) MouseIn(e *desktop.MouseEvent) { c.MouseMoved(e) }

// MouseMoved is when the pointer moves.
func (c *Chart) MouseMoved(e *desktop.MouseEvent) { c.pick(c.at(e.Position)) }

// MouseOut is when the pointer leaves.
func (c *Chart) MouseOut() {
	if !c.focused {
		c.pick(-1)
	}
}

// Tapped is a click.
func (c *Chart) Tapped(e *fyne.PointEvent) {
	focus(c)
	c.pick(c.at(e.Position))
}

// FocusGained is when the keys come here.
func (c *Chart) FocusGained() {
	c.focused = true
	if c.picked < 0 {
		c.pick(len(c.bars) - 1)
	}
	c.Refresh()
}

// FocusLost is when the keys go elsewhere.
func (c *Chart) FocusLost() {
	c.focused = false
	c.Refresh()
}

// TypedRune is a letter, which means nothing here.
func (c *Chart) TypedRune(rune) {}

// TypedKey is a key.
func (c *Chart) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft:
		c.pick(max(0, c.picked-1))
	case fyne.KeyRight:
		c.pick(c.picked + 1)
	case fyne.KeyHome:
		c.pick(0)
	case fyne.KeyEnd:
		c.pick(len(c.bars) - 1)
	default:
		toWindow(c, e)
	}
}

// CreateRenderer is what the toolkit asks for.
func (c *Chart) CreateRenderer() fyne.WidgetRenderer {
	r := &chartRenderer{c: c}
	r.draw()
	return r
}

// A chartRenderer uses its objects again: the toolkit keeps those that are let go
// of for a while, and a chart may be drawn many times in it.
type chartRenderer struct {
	c       *Chart
	rects   []*canvas.Rectangle
	texts   []*canvas.Text
	objects []fyne.CanvasObject // those that are seen now

	usedRects, usedTexts int
}

func (r *chartRenderer) Destroy()                     {}
func (r *chartRenderer) Objects() []fyne.CanvasObject { return r.objects }
func (r *chartRenderer) MinSize() fyne.Size           { return fyne.NewSize(240, chartHeight) }
func (r *chartRenderer) Layout(fyne.Size)             { r.draw() }

func (r *chartRenderer) Refresh() {
	r.draw()
	canvas.Refresh(r.c)
}

func (r *chartRenderer) color(name fyne.ThemeColorName) color.Color {
	return r.c.Theme().Color(name, fyne.CurrentApp().Settings().ThemeVariant())
}

func (r *chartRenderer) rect(fill, stroke color.Color, x, y, w, h float32) *canvas.Rectangle {
	if r.usedRects == len(r.rects) {
		r.rects = append(r.rects, canvas.NewRectangle(fill))
	}
	o := r.rects[r.usedRects]
	r.usedRects++
	o.FillColor, o.StrokeColor, o.StrokeWidth, o.CornerRadius = fill, stroke, 0, 0
	if stroke != nil {
		o.StrokeWidth = 1
	}
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(w, h))
	r.objects = append(r.objects, o)
	return o
}

func (r *chartRenderer) text(s string, x, y float32, align fyne.TextAlign) {
	if r.usedTexts == len(r.texts) {
		r.texts = append(r.texts, canvas.NewText("", nil))
	}
	o := r.texts[r.usedTexts]
	r.usedTexts++
	o.Text, o.Color = s, r.color(ColorMuted)
	o.TextSize = theme.CaptionTextSize()
	size := o.MinSize()
	switch align {
	case fyne.TextAlignTrailing:
		x -= size.Width
	case fyne.TextAlignCenter:
		x -= size.Width / 2
	}
	o.Move(fyne.NewPos(max(0, min(x, r.c.Size().Width-size.Width)), y))
	o.Resize(size)
	r.objects = append(r.objects, o)
}

// draw makes all that is seen, for the size and the colors of now.
func (r *chartRenderer) draw() {
	c, size := r.c, r.c.Size()
	r.objects, r.usedRects, r.usedTexts = nil, 0, 0
	if size.Width < 1 || size.Height < 1 {
		return
	}
	line := fyne.MeasureText("0", theme.CaptionTextSize(), fyne.TextStyle{}).Height
	left, width := c.plot()
	top, bottom := line/2, size.Height-line-4
	height := func(m sandbox.Micro) float32 {
		if m <= 0 {
			return 0
		}
		return max(chartLeast, float32(float64(m)/float64(c.scale.Top))*(bottom-top))
	}
	if c.picked >= 0 {
		band := r.rect(r.color(theme.ColorNameSelection), nil, left+float32(c.picked)*width, top, width, size.Height-top)
		band.CornerRadius = 3
	}
	for i, mark := range c.marks {
		y := bottom - float32(i)*float32(c.scale.Step)/float32(c.scale.Top)*(bottom-top)
		r.rect(r.color(theme.ColorNameSeparator), nil, left, y, size.Width-left, 1)
		r.text(mark, left-chartGap, y-line/2, fyne.TextAlignTrailing)
	}
	both := false
	for _, b := range c.bars {
		both = both || b.WouldTotal() > 0
	}
	for i, b := range c.bars {
		r.bar(b, left+float32(i)*width, width, bottom, both, height)
	}
	r.days(left, width, bottom+2)
	if c.focused {
		ring := r.rect(color.Transparent, r.color(theme.ColorNamePrimary), 0, 0, size.Width, size.Height)
		ring.StrokeWidth, ring.CornerRadius = 2, 4
	}
}

// bar draws one: what is paid, and hollow beside it what is not, if there is any
// of that in the chart.
func (r *chartRenderer) bar(b ui.Bar, x, width, bottom float32, both bool, height func(sandbox.Micro) float32) {
	gap := min(4, width*0.15)
	room := width - 2*gap
	if both {
		room = (width - 3*gap) / 2
	}
	w := max(1, min(room, chartMost))
	inset := (width - w) / 2
	if both {
		inset = (width - 2*w - gap) / 2
	}
	spent, all := height(b.Spent), height(b.Total())
	if b.Spent > 0 {
		r.rect(r.color(theme.ColorNamePrimary), nil, x+inset, bottom-spent, w, spent)
	}
	if b.Running > 0 {
		h := max(chartLeast, all-spent)
		r.rect(r.color(ColorGood), nil, x+inset, bottom-spent-h, w, h)
	}
	if would := height(b.WouldTotal()); would > 0 {
		r.rect(r.color(ColorTrack), r.color(ColorSleep), x+inset+w+gap, bottom-would, w, would)
	}
}

// days puts the names of as many bars below them as there is room for.
func (r *chartRenderer) days(left, width, y float32) {
	widest := float32(1)
	for _, b := range r.c.bars {
		widest = max(widest, fyne.MeasureText(b.Mark(r.c.tx), theme.CaptionTextSize(), fyne.TextStyle{}).Width)
	}
	every := 1
	for float32(every)*width < widest+8 && every < len(r.c.bars) {
		every++
	}
	last := len(r.c.bars) - 1
	for i, b := range r.c.bars {
		if (last-i)%every == 0 {
			r.text(b.Mark(r.c.tx), left+(float32(i)+0.5)*width, y, fyne.TextAlignCenter)
		}
	}
}

// A swatch is what a color in a chart stands for.
type swatch struct {
	widget.BaseWidget
	fill, edge fyne.ThemeColorName
}

func newSwatch(fill, edge fyne.ThemeColorName) *swatch {
	s := &swatch{fill: fill, edge: edge}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer is what the toolkit asks for.
func (s *swatch) CreateRenderer() fyne.WidgetRenderer {
	r := &swatchRenderer{s, canvas.NewRectangle(color.Transparent)}
	r.Refresh()
	return r
}

type swatchRenderer struct {
	s    *swatch
	rect *canvas.Rectangle
}

func (r *swatchRenderer) Destroy()                     {}
func (r *swatchRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.rect} }
func (r *swatchRenderer) MinSize() fyne.Size           { return fyne.NewSize(14, 12) }

func (r *swatchRenderer) Layout(size fyne.Size) {
	r.rect.Resize(fyne.NewSize(12, 12))
	r.rect.Move(fyne.NewPos(0, (size.Height-12)/2))
}

func (r *swatchRenderer) Refresh() {
	v := fyne.CurrentApp().Settings().ThemeVariant()
	r.rect.FillColor = r.s.Theme().Color(r.s.fill, v)
	if r.s.edge != "" {
		r.rect.StrokeColor, r.rect.StrokeWidth = r.s.Theme().Color(r.s.edge, v), 1
	}
	r.rect.Refresh()
}
