package view

import (
	"reflect"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

type spendBudgets struct {
	v        *Spend
	rows     []ui.BudgetRow
	profiles []string // of AWS
	parts    map[string]fyne.CanvasObject
	first    map[string]*Button
	list     *fyne.Container
	add      *Button
	scroll   *container.Scroll
	object   fyne.CanvasObject
}

func newSpendBudgets(v *Spend) *spendBudgets {
	b := &spendBudgets{v: v, parts: map[string]fyne.CanvasObject{}, first: map[string]*Button{}, list: container.NewVBox()}
	b.add = NewButton(v.say("budget.add"), theme.ContentAddIcon(), b.addProfile)
	b.scroll = container.NewVScroll(border(nil, nil, nil, barRoom(), container.NewVBox(Muted(v.say("budget.text")), b.list, container.New(flow{}, b.add))))
	b.object = b.scroll
	return b
}

// ShowBudgets draws all budgets. profiles are those that cost something.
func (v *Spend) ShowBudgets(rows []ui.BudgetRow, profiles []string) {
	b := v.budgets
	b.profiles = profiles
	if reflect.DeepEqual(rows, b.rows) {
		return
	}
	old := b.rows
	b.rows = rows
	focused := v.env.Window.Canvas().Focused()
	again := ""
	var objects []fyne.CanvasObject
	for _, r := range rows {
		if i := slices.IndexFunc(old, func(o ui.BudgetRow) bool { return o.ID == r.ID }); i < 0 || !reflect.DeepEqual(old[i], r) {
			if button := b.first[r.ID]; button != nil && focused == fyne.Focusable(button) {
				again = r.ID
			}
			b.parts[r.ID] = b.part(r)
		}
		objects = append(objects, b.parts[r.ID])
	}
	b.list.Objects = objects
	b.list.Refresh()
	if again != "" {
		v.env.Window.Canvas().Focus(b.first[again])
	}
}

// PlaceBudget shows a budget, as [ui.BudgetID] names it.
func (v *Spend) PlaceBudget(id string) {
	v.Section(SpendBudgets)
	if o := v.budgets.parts[id]; o != nil {
		v.budgets.scroll.ScrollToOffset(fyne.NewPos(0, o.Position().Y))
	}
	if button := v.budgets.first[id]; button != nil {
		v.env.Window.Canvas().Focus(button)
	}
}

func (b *spendBudgets) part(r ui.BudgetRow) fyne.CanvasObject {
	v := b.v
	text := widget.NewLabel(r.Text)
	text.Wrapping = fyne.TextWrapWord
	title := widget.NewLabelWithStyle(r.Title, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	title.Truncation = fyne.TextTruncateEllipsis
	edge, level := ColorBrand, BarPlain
	left := widget.NewLabel(r.Left)
	switch r.Gauge {
	case ui.GaugeWarn:
		edge, level, left.Importance = ColorWarn, BarWarn, widget.WarningImportance
	case ui.GaugeBad:
		edge, level, left.Importance = ColorBad, BarBad, widget.DangerImportance
	case ui.GaugeGood:
		if r.Budget.Limit == nil {
			edge = ColorTrack
		}
	}
	left.Wrapping = fyne.TextWrapWord
	label := v.say("budget.change")
	if r.Budget.Limit == nil {
		label = v.say("budget.set")
	}
	change := NewButton(label, nil, func() { b.edit(r) })
	b.first[r.ID] = change
	buttons := container.NewHBox(change)
	if r.Budget.Limit != nil {
		remove := NewButton(v.say("budget.remove"), nil, func() { b.remove(r) })
		remove.Importance = widget.LowImportance
		buttons.Add(remove)
	}
	texts := tight(title, text)
	if r.Budget.Limit != nil {
		bar := NewBar()
		bar.Set(Bar{Value: r.Used, Level: level})
		texts.Add(container.New(barPadding{}, bar))
		texts.Add(left)
	}
	if r.Runs != "" {
		texts.Add(Muted(r.Runs))
	}
	return card(edge, container.New(beneath{}, texts, buttons))
}

// barPadding has a bar begin and end where texts do.
type barPadding struct{}

func (barPadding) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(80, 2*theme.InnerPadding()+barHeight)
}

func (barPadding) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	pad := theme.InnerPadding()
	objects[0].Resize(fyne.NewSize(max(0, size.Width-2*pad), barHeight))
	objects[0].Move(fyne.NewPos(pad, pad))
}

// beneath puts buttons to the right of texts, or beneath them where there is
// little room.
type beneath struct{}

const beneathTexts = 260

func (beneath) wide(objects []fyne.CanvasObject, width float32) bool {
	return width >= beneathTexts+objects[1].MinSize().Width
}

func (l beneath) MinSize(objects []fyne.CanvasObject) fyne.Size {
	texts, buttons := objects[0].MinSize(), objects[1].MinSize()
	size := fyne.NewSize(max(texts.Width, buttons.Width), texts.Height)
	if objects[1].Position().X == 0 && objects[1].Position().Y > 0 {
		size.Height += buttons.Height
	}
	return fyne.NewSize(size.Width, max(size.Height, buttons.Height))
}

func (l beneath) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	texts, buttons := objects[0], objects[1]
	b := buttons.MinSize()
	if l.wide(objects, size.Width) {
		texts.Resize(fyne.NewSize(size.Width-b.Width-theme.Padding(), texts.MinSize().Height))
		buttons.Move(fyne.NewPos(size.Width-b.Width, theme.Padding()))
	} else {
		texts.Resize(fyne.NewSize(size.Width, texts.MinSize().Height))
		buttons.Move(fyne.NewPos(0, texts.MinSize().Height))
	}
	texts.Move(fyne.NewPos(0, 0))
	buttons.Resize(b)
}

// addProfile sets the limit of a profile that has none yet.
func (b *spendBudgets) addProfile() {
	v := b.v
	if len(b.profiles) == 0 {
		NewDialog(v.env, v.say("budget.add"), Muted(v.say("budget.no-profiles")), v.env.Texts.Get("window.cancel"), nil)
		return
	}
	b.form(v.say("budget.add"), b.profiles, func(profile string) ui.BudgetRow {
		id := ui.BudgetID(sandbox.Budget{Level: sandbox.LevelProfile, Owner: profile})
		if i := slices.IndexFunc(b.rows, func(r ui.BudgetRow) bool { return r.ID == id }); i >= 0 {
			return b.rows[i]
		}
		return ui.BudgetRow{
			Title:  ui.BudgetTitle(v.env.Texts, sandbox.LevelProfile, profile),
			Budget: sandbox.Budget{Level: sandbox.LevelProfile, Owner: profile, Period: sandbox.PeriodMonth},
		}
	})
}

func (b *spendBudgets) edit(r ui.BudgetRow) {
	b.form(b.v.say("budget.edit", "budget", r.Title), nil, func(string) ui.BudgetRow { return r })
}

// form is where a limit is typed. profiles, if there are some, are those to
// choose from, and which tells the budget of the chosen one.
func (b *spendBudgets) form(title string, profiles []string, which func(profile string) ui.BudgetRow) {
	v, tx := b.v, b.v.env.Texts
	amount := NewEntry()
	amount.SetPlaceHolder(v.say("budget.amount.hint"))
	periods := ui.Periods()
	var names []string
	for _, p := range periods {
		names = append(names, ui.PeriodText(tx, p))
	}
	period := NewSelect(names, nil)
	profile := NewSelect(profiles, nil)
	means, banner := Muted(""), NewBanner()
	box := container.NewVBox()
	if profiles != nil {
		box.Add(widget.NewLabel(v.say("budget.profiles")))
		box.Add(profile)
	}
	box.Add(widget.NewLabel(v.say("budget.amount")))
	box.Add(amount)
	box.Add(widget.NewLabel(v.say("budget.period")))
	box.Add(period)
	box.Add(container.New(atLeast{76}, means)) // so that the dialog does not change its size while one types
	box.Add(banner.Object())
	var d *Dialog
	var save *Button
	wanted := func() (ui.BudgetRow, sandbox.Budget, error) {
		r := which(profile.Selected)
		changed := r.Budget
		m, err := ui.ParseDollars(amount.Text)
		changed.Limit, changed.Period = &m, periods[max(0, period.SelectedIndex())]
		return r, changed, err
	}
	check := func() {
		r, changed, err := wanted()
		means.Importance = widget.LowImportance
		switch {
		case amount.Text == "":
			means.SetText("")
		case err != nil:
			means.Importance = widget.DangerImportance
			means.SetText(tx.Get(err.Error()))
		default:
			means.SetText(ui.Meaning(tx, r.Budget, changed))
		}
		if save != nil {
			if err != nil {
				save.Disable()
			} else {
				save.Enable()
			}
		}
	}
	begin := func() {
		r := which(profile.Selected)
		text := ""
		if r.Budget.Limit != nil {
			text = ui.TypedDollars(tx, *r.Budget.Limit)
		}
		amount.SetText(text)
		at := slices.Index(periods, r.Budget.Period)
		if r.Budget.Limit == nil {
			at = slices.Index(periods, sandbox.PeriodMonth) // what most want
		}
		period.SetSelectedIndex(max(0, at))
		check()
	}
	put := func() {
		r, changed, err := wanted()
		if err != nil {
			return
		}
		save.Disable()
		banner.Clear()
		send := func() {
			v.OnBudget(changed, func(problem string) {
				if problem == "" {
					d.Close()
					return
				}
				check()
				banner.Error(problem, nil, "")
			})
		}
		if !ui.RaisesBudget(r.Budget, changed) {
			send()
			return
		}
		save.Enable()
		Confirm(v.env, v.say("budget.raise"), v.say("budget.raise.text", "budget", r.Title,
			"old", ui.LimitText(tx, r.Budget.Limit, r.Budget.Period), "new", ui.LimitText(tx, changed.Limit, changed.Period)), v.say("budget.raise.yes"), false, send)
	}
	d = NewDialog(v.env, title, box, tx.Get("window.cancel"), nil, Action{Label: v.say("budget.save"), Primary: true})
	save = d.buttons[1]
	save.OnTapped = put // it ends the dialog when it is done, not before
	amount.OnChanged = func(string) { check() }
	amount.OnSubmitted = func(string) { put() }
	period.OnChanged = func(string) { check() }
	if profiles != nil {
		profile.SetSelectedIndex(0)
		profile.OnChanged = func(string) { begin() }
	}
	begin()
	if profiles != nil {
		v.env.Window.Canvas().Focus(profile)
		return
	}
	v.env.Window.Canvas().Focus(amount)
}

func (b *spendBudgets) remove(r ui.BudgetRow) {
	v, tx := b.v, b.v.env.Texts
	changed := r.Budget
	changed.Limit = nil
	Confirm(v.env, v.say("budget.remove.title"), r.Title+": "+ui.LimitText(tx, r.Budget.Limit, r.Budget.Period)+". "+ui.Meaning(tx, r.Budget, changed),
		v.say("budget.remove"), true, func() {
			v.OnBudget(changed, func(problem string) {
				if problem != "" {
					v.banner.Error(problem, nil, "")
				}
			})
		})
}
