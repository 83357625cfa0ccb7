package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// The sections of the screen of spending.
const (
	SpendOverview = "overview"
	SpendBudgets  = "budgets"
	SpendQuote    = "quote"
	SpendOrders   = "orders"
)

// Spend is the screen of spending: what was spent, and on what; the limits; what
// a sandbox would cost; and each sandbox of the account.
type Spend struct {
	// OnSection is called when another section is shown.
	OnSection func(name string)
	// OnRange is called when other days are wanted.
	OnRange func(name string, days ui.Days)
	// OnExport is called for a file of the whole account: "csv" or "json".
	OnExport func(format string)
	// OnPrices is called to get new prices, as a profile.
	OnPrices func(profile string)
	// OnBudget is called to set a budget. done takes what kept that from being
	// done, or "".
	OnBudget func(b sandbox.Budget, done func(problem string))
	// OnPlace is called when another place is asked about, and OnAsk to ask.
	OnPlace func(profile string)
	OnAsk   func(a Ask)
	// OnOlder is called for more of the account, and OnGo for a sandbox of it.
	OnOlder func()
	OnGo    func(sandbox string)

	env      Env
	banner   *Banner
	sections map[string]*section
	order    []string
	shown    string
	body     *fyne.Container
	root     *fyne.Container

	overview *spendOverview
	budgets  *spendBudgets
	quote    *spendQuote
	orders   *spendOrders
}

// A section is a part of a screen that is seen alone, and the button for it.
type section struct {
	button *Button
	object fyne.CanvasObject
	focus  func()
}

// NewSpend returns the screen, with nothing on it yet.
func NewSpend(env Env) *Spend {
	v := &Spend{env: env, banner: NewBanner(), sections: map[string]*section{}, body: container.NewStack()}
	v.overview, v.budgets, v.quote, v.orders = newSpendOverview(v), newSpendBudgets(v), newSpendQuote(v), newSpendOrders(v)
	tabs := container.New(flow{})
	add := func(name, title string, object fyne.CanvasObject, focus func()) {
		b := NewButton(title, nil, func() {
			v.Section(name)
			if v.OnSection != nil {
				v.OnSection(name)
			}
		})
		v.sections[name] = &section{b, object, focus}
		v.order = append(v.order, name)
		tabs.Add(b)
		v.body.Add(object)
	}
	add(SpendOverview, v.say("section.overview"), v.overview.object, nil)
	add(SpendBudgets, v.say("section.budgets"), v.budgets.object, nil)
	add(SpendQuote, v.say("section.quote"), v.quote.object, nil)
	add(SpendOrders, v.say("section.orders"), v.orders.object, nil)
	export := NewButton(v.say("export"), theme.DocumentSaveIcon(), v.export)
	export.Importance = widget.LowImportance
	head := border(nil, nil, nil, container.NewVBox(export), tabs)
	v.root = border(container.NewVBox(head, v.banner.Object()), nil, nil, nil, v.body)
	v.banner.page = v.root
	v.Section(SpendOverview)
	return v
}

// say is a text of this screen.
func (v *Spend) say(key string, args ...string) string { return v.env.Texts.Get("spend."+key, args...) }

// Object is what goes into a window.
func (v *Spend) Object() fyne.CanvasObject { return v.root }

// Banner is the line at the head of the screen.
func (v *Spend) Banner() *Banner { return v.banner }

// Shown is the section that is seen.
func (v *Spend) Shown() string { return v.shown }

// Section shows a section.
func (v *Spend) Section(name string) {
	if v.sections[name] == nil || v.shown == name {
		return
	}
	v.shown = name
	for _, other := range v.order {
		s := v.sections[other]
		s.button.Importance = widget.LowImportance
		if other == name {
			s.button.Importance = widget.HighImportance
			s.object.Show()
		} else {
			s.object.Hide()
		}
		s.button.Refresh()
	}
	v.body.Refresh()
}

// Follow shows what another one has shown that it takes the place of.
func (v *Spend) Follow(was *Spend) {
	v.Section(was.shown)
	v.overview.breakDown(was.overview.by)
}

// export asks in which form.
func (v *Spend) export() {
	chooseFormat(v.env, v.say("export"), v.say("export.text"), [2]string{"csv", v.say("export.csv")}, [2]string{"json", v.say("export.json")}, v.OnExport)
}

// chooseFormat asks in which of two forms something is to be written: their
// names, and what they are called.
func chooseFormat(env Env, title, text string, first, second [2]string, do func(format string)) {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	d := NewDialog(env, title, l, env.Texts.Get("window.cancel"), nil,
		Action{Label: second[1], Do: func() { do(second[0]) }}, Action{Label: first[1], Primary: true, Do: func() { do(first[0]) }})
	env.Window.Canvas().Focus(d.buttons[2])
}

// big is an amount that is seen from afar.
func big(text string) *widget.Label {
	l := widget.NewLabelWithStyle(text, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	l.SizeName = theme.SizeNameHeadingText
	return l
}

// tight puts texts above each other without the room that they have around them.
func tight(objects ...fyne.CanvasObject) *fyne.Container {
	return container.New(layout.NewCustomPaddedVBoxLayout(-10), objects...)
}

// tell shows a text, or takes its place away where there is none.
func tell(l *widget.Label, text string) {
	if l.Text == text && l.Visible() == (text != "") {
		return
	}
	l.SetText(text)
	if text == "" {
		l.Hide()
	} else {
		l.Show()
	}
}

// warned is a text that has to be minded.
func warned() *widget.Label {
	l := widget.NewLabel("")
	l.Importance = widget.WarningImportance
	l.Wrapping = fyne.TextWrapWord
	return l
}

// flank puts a list beside what is said of one of its lines: to the right, or
// below where there is no room.
type flank struct{}

const (
	flankWide   = 860
	flankDetail = 290
)

func (flank) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(240, 220)
}

func (flank) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	list, detail := objects[0], objects[1]
	pad := 2 * theme.Padding()
	switch {
	case !detail.Visible():
		list.Resize(size)
		list.Move(fyne.NewPos(0, 0))
	case size.Width >= flankWide:
		list.Resize(fyne.NewSize(size.Width-flankDetail-pad, size.Height))
		list.Move(fyne.NewPos(0, 0))
		detail.Resize(fyne.NewSize(flankDetail, size.Height))
		detail.Move(fyne.NewPos(size.Width-flankDetail, 0))
	default:
		h := size.Height * 0.55
		list.Resize(fyne.NewSize(size.Width, h))
		list.Move(fyne.NewPos(0, 0))
		detail.Resize(fyne.NewSize(size.Width, size.Height-h-pad))
		detail.Move(fyne.NewPos(0, h+pad))
	}
}

// showBeside shows what is said of the line that is selected, once there is one.
func showBeside(split *fyne.Container, beside *container.Scroll) {
	if beside.Visible() {
		return
	}
	beside.Show()
	split.Refresh()
}

// factList are facts as labels and values.
func factList(all []ui.Fact) *fyne.Container {
	box := container.New(factRows{})
	for _, f := range all {
		name, value := widget.NewLabel(f.Name), NewText(f.Value, fyne.TextStyle{})
		name.Importance = widget.LowImportance
		switch f.Gauge {
		case ui.GaugeWarn:
			value.Importance = widget.WarningImportance
		case ui.GaugeBad:
			value.Importance = widget.DangerImportance
		case ui.GaugeGood:
		}
		box.Add(name)
		box.Add(value)
	}
	return box
}
