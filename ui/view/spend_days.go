package view

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/ui"
)

// A dayPicker is where days are chosen: by a name, or by the first and the last
// of them.
type dayPicker struct {
	env    Env
	names  []string // of ranges, as pick has them; "" is any day
	picked func(name string, days ui.Days)

	pick        *Select
	told        *widget.Label // the days
	first, last *Entry
	custom      *fyne.Container
	wrong       *widget.Label
	shown       ui.Days
}

// newDayPicker returns one. anyDay, if it is not "", is what no choice is called.
func newDayPicker(env Env, anyDay string, picked func(name string, days ui.Days)) *dayPicker {
	d := &dayPicker{env: env, picked: picked, names: ui.Ranges(), told: Muted(""), first: NewEntry(), last: NewEntry(), wrong: warned()}
	word := func(key string) string { return env.Texts.Get("spend.range." + key) }
	var titles []string
	for _, n := range d.names {
		titles = append(titles, word(n))
	}
	if anyDay != "" {
		d.names, titles = append([]string{""}, d.names...), append([]string{anyDay}, titles...)
	}
	d.pick = NewSelect(titles, d.chosen)
	d.told.Wrapping = fyne.TextWrapOff
	d.wrong.Hide()
	entry := func(e *Entry, title string) fyne.CanvasObject {
		e.SetPlaceHolder(word("hint"))
		e.OnSubmitted = func(string) { d.apply() }
		return border(nil, nil, widget.NewLabel(title), nil, container.NewGridWrap(fyne.NewSize(120, e.MinSize().Height), e))
	}
	d.custom = container.New(flow{}, entry(d.first, word("first")), entry(d.last, word("last")), NewButton(word("apply"), nil, d.apply))
	d.custom.Hide()
	return d
}

// show draws what is chosen, and calls nothing.
func (d *dayPicker) show(name string, days ui.Days) {
	d.shown = days
	d.pick.OnChanged = nil
	if i := slices.Index(d.names, name); i != d.pick.SelectedIndex() {
		d.pick.SetSelectedIndex(i)
	}
	d.pick.OnChanged = d.chosen
	if name != ui.RangeCustom {
		d.custom.Hide()
	}
	text := ""
	if name != "" {
		text = days.String()
	}
	tell(d.told, text)
}

func (d *dayPicker) chosen(string) {
	i := d.pick.SelectedIndex()
	if i < 0 {
		return
	}
	name, days := d.names[i], ui.Days{}
	tell(d.wrong, "")
	if name == ui.RangeCustom {
		if d.shown.From.IsZero() {
			d.shown = ui.DaysOf(name, d.env.Now())
		}
		d.first.SetText(d.shown.From.Format(time.DateOnly))
		d.last.SetText(d.shown.Last().Format(time.DateOnly))
		d.custom.Show()
		d.env.Window.Canvas().Focus(d.first)
		return
	}
	d.custom.Hide()
	if name != "" {
		days = ui.DaysOf(name, d.env.Now())
	}
	d.picked(name, days)
}

func (d *dayPicker) apply() {
	days, err := ui.ParseDays(d.first.Text, d.last.Text, d.env.Now())
	if err != nil {
		tell(d.wrong, d.env.Texts.Get(err.Error()))
		return
	}
	tell(d.wrong, "")
	d.picked(ui.RangeCustom, days)
}
