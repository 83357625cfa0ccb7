package view

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/ui"
)

// A factsView is a list of facts whose values change in their places.
type factsView struct {
	env    Env
	object *container.Scroll
	box    *fyne.Container
	of     string
	abouts []string
	values []*Text
}

func newFactsView(env Env) *factsView {
	v := &factsView{env: env, box: container.New(factRows{})}
	v.object = container.NewVScroll(v.box)
	return v
}

// show draws the facts of something.
func (v *factsView) show(of string, all []ui.SandboxFact) {
	var abouts []string
	for _, f := range all {
		abouts = append(abouts, f.About)
	}
	if of != v.of || !slices.Equal(abouts, v.abouts) {
		if of != v.of {
			v.object.Offset = fyne.Position{}
		}
		v.of, v.abouts, v.values = of, abouts, nil
		v.box.Objects = nil
		for _, f := range all {
			v.add(f)
		}
		v.object.Refresh()
	}
	for i, f := range all {
		l, want := v.values[i], importance(f.Tone)
		if l.Text == f.Value && l.Importance == want {
			continue
		}
		before := l.MinSize().Height
		l.Importance = want
		l.SetText(f.Value)
		if l.MinSize().Height != before { // it takes more lines, or fewer
			v.object.Refresh()
		}
	}
}

func (v *factsView) add(f ui.SandboxFact) {
	name := widget.NewLabel(f.Name)
	name.Importance = widget.LowImportance
	value := NewText(f.Value, fyne.TextStyle{})
	v.values = append(v.values, value)
	v.box.Add(name)
	if !f.Copy {
		v.box.Add(value)
		return
	}
	value.TextStyle.Monospace = true
	value.Wrapping = fyne.TextWrapBreak
	b := NewButton("", theme.ContentCopyIcon(), func() { v.env.Copy(value.Text) })
	b.Importance = widget.LowImportance
	v.box.Add(border(nil, nil, nil, b, value))
}

func importance(t ui.Tone) widget.Importance {
	switch t {
	case ui.ToneWarn:
		return widget.WarningImportance
	case ui.ToneBad:
		return widget.DangerImportance
	case ui.ToneMuted:
		return widget.LowImportance
	case ui.ToneGood:
		return widget.SuccessImportance
	}
	return widget.MediumImportance
}
