package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/ui"
)

// looks are the pictures of the states.
func looks(l ui.Look) (fyne.Resource, fyne.ThemeColorName) {
	switch l {
	case ui.LookWorking:
		return theme.MediaFastForwardIcon(), ColorGood
	case ui.LookRunning:
		return theme.MediaPlayIcon(), ColorGood
	case ui.LookMoving:
		return theme.ViewRefreshIcon(), ColorBrand
	case ui.LookAsleep:
		return theme.MediaPauseIcon(), ColorSleep
	case ui.LookDoubt:
		return theme.QuestionIcon(), ColorWarn
	case ui.LookEnding:
		return theme.CancelIcon(), ColorWarn
	case ui.LookEnded:
		return theme.MediaStopIcon(), ColorMuted
	}
	return theme.VisibilityOffIcon(), ColorMuted
}

func sandboxCells(cells []ui.SandboxCell) []Cell {
	out := make([]Cell, len(cells))
	for i, c := range cells {
		out[i] = Cell{Text: c.Text}
		if c.Muted {
			out[i].Color = ColorMuted
		}
		if c.Look != "" {
			out[i].Icon, out[i].Color = looks(c.Look)
		}
		if c.Meter != nil {
			out[i].Bar = &Bar{Value: c.Meter.Left, Level: barLevel(c.Meter.Tone), Text: c.Meter.Text}
		}
	}
	return out
}

func barLevel(t ui.Tone) BarLevel {
	switch t {
	case ui.ToneWarn:
		return BarWarn
	case ui.ToneBad:
		return BarBad
	}
	return BarPlain
}

// visible shows or hides o, and reports whether that changed anything.
func visible(o fyne.CanvasObject, show bool) bool {
	if o.Visible() == show {
		return false
	}
	if show {
		o.Show()
	} else {
		o.Hide()
	}
	return true
}

// enabled lets b be pressed, or not.
func enabled(b *Button, can bool) {
	if b.Disabled() == can {
		if can {
			b.Enable()
		} else {
			b.Disable()
		}
	}
}

// A filterRow is an entry and buttons to its right, or below where it is narrow.
type filterRow struct{}

const filterLeast = 140

func (filterRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	a, b := objects[0].MinSize(), objects[1].MinSize()
	height := max(a.Height, b.Height)
	if w := objects[0].Size().Width; w > 0 && objects[1].Position().Y > 0 {
		height = a.Height + theme.Padding() + b.Height
	}
	return fyne.NewSize(max(filterLeast, b.Width), height+theme.Padding())
}

func (filterRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	pad := theme.Padding()
	a, b := objects[0].MinSize(), objects[1].MinSize()
	objects[1].Resize(b)
	if size.Width < b.Width+filterLeast+pad {
		objects[0].Resize(fyne.NewSize(size.Width, a.Height))
		objects[1].Move(fyne.NewPos(0, a.Height+pad))
		return
	}
	objects[0].Resize(fyne.NewSize(size.Width-b.Width-pad, max(a.Height, b.Height)))
	objects[1].Move(fyne.NewPos(size.Width-b.Width, 0))
}

// A LocalBanner is a line for what went wrong at a place of a screen.
type LocalBanner interface {
	Error(text string, retry func(), retryLabel string)
	Offer(text string, do func(), label string)
	Clear()
	Text() string
}

// A localBanner is a banner that has what is around it make room for it.
type localBanner struct {
	*Banner
	around *fyne.Container
}

func newLocalBanner() *localBanner { return &localBanner{Banner: NewBanner()} }

// Error says what is wrong.
func (b *localBanner) Error(text string, retry func(), retryLabel string) {
	b.Banner.Error(text, retry, retryLabel)
	b.fit()
}

// Offer says something that is not wrong, and what can be done about it.
func (b *localBanner) Offer(text string, do func(), label string) {
	b.Banner.Offer(text, do, label)
	b.fit()
}

// Clear takes away what is said.
func (b *localBanner) Clear() {
	if b.Banner.Text() != "" {
		b.Banner.Clear()
		b.fit()
	}
}

func (b *localBanner) fit() {
	if b.around != nil {
		b.around.Refresh() // the text wraps at the width that it gets now,
		b.around.Refresh() // and so has another height
	}
}

// A firstSplit gives a split the offset that suits its first size: what is known
// of one sandbox scrolls, and the fewer rows there are to see, the less they say.
type firstSplit struct {
	split *container.Split
	done  bool
}

const (
	splitLow    = 520  // height below which there is little room
	splitList   = 0.62 // of which the list has so much,
	splitDetail = 0.3  // or so much while a call or a file is to be read
)

func (l *firstSplit) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (l *firstSplit) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if !l.done && size.Height > 0 && size.Width > 0 {
		l.split.Offset = 0.56
		if size.Height < splitLow {
			l.split.Offset = splitList
		}
		l.done = size.Height > objects[0].MinSize().Height
	}
	objects[0].Resize(size)
}
