package view

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A SandboxChoice is what a new sandbox is to be.
type SandboxChoice struct {
	Name, Profile, Template string
	Life, Idle              time.Duration // Idle 0 is never
}

// A SandboxForm is the dialog in which a sandbox is asked for, with what it
// would cost.
type SandboxForm struct {
	// OnChange is called when something else is wanted that can be.
	OnChange func(SandboxChoice)
	// OnProfile is called when another profile is wanted.
	OnProfile func(profile string)

	env      Env
	form     *form
	name     *formRow
	profile  *formRow
	template *formRow
	life     *formRow
	idle     *formRow
	quote    *fyne.Container
	whole    *fyne.Container
	task     *task
	last     SandboxChoice // that a quote was asked for
	of       string        // profile of the templates

	all     []sandbox.Template // of that profile
	prices  []control.SizePrice
	why     *widget.Label // the template is the one that is proposed
	filter  *Button       // shows the filters, where there is something to filter
	filters *fyne.Container
	options [3][]ui.TemplateOption
	picks   [3]*Select // of options; memory, price, region
}

// NewSandboxForm shows the dialog. make is called with what is wanted; what it
// tells done keeps the dialog, but for "". ended is called when it ends.
func NewSandboxForm(env Env, profiles []string, chosen string, make func(c SandboxChoice, done func(problem string)), ended func()) *SandboxForm {
	f := &SandboxForm{env: env, form: newForm(env), quote: container.NewStack()}
	var options []option
	for _, p := range profiles {
		title := ui.Visible(p)
		if p == sandbox.ProfileLocal {
			title = f.say("local")
		}
		options = append(options, option{p, title})
	}
	box := func() *fyne.Container { return container.New(layout.NewCustomPaddedVBoxLayout(2)) }
	where, name, life, idle := box(), box(), box(), box()
	f.profile = f.form.choice(where, "profile", f.say("new.profile"), chosen, options)
	f.name = f.form.text(name, "name", f.say("new.name"), f.say("new.name.hint"), "", false)
	f.form.box.Add(container.NewGridWithColumns(2, where, name))
	f.template = f.form.choice(f.form.box, "template", f.say("new.template"), "", []option{{"", f.say("new.template.usual")}})
	f.why = Muted("")
	f.why.SizeName = theme.SizeNameCaptionText
	f.why.Hide()
	f.filter = NewButton(f.say("new.filter"), theme.SearchIcon(), func() {
		visible(f.filters, !f.filters.Visible())
		f.whole.Refresh()
	})
	f.filter.Importance = widget.LowImportance
	f.filter.Hide()
	f.filters = container.New(flow{})
	for i := range f.picks {
		f.picks[i] = NewSelect(nil, func(string) { f.offer() })
		f.filters.Add(f.picks[i])
	}
	f.filters.Hide()
	f.life = f.form.text(life, "life", f.say("new.life"), "1", "1", false)
	f.idle = f.form.text(idle, "idle", f.say("new.idle"), f.say("new.idle.never"), "5", false)
	f.form.box.Add(border(nil, nil, nil, f.filter, f.why))
	f.form.box.Add(f.filters)
	f.form.box.Add(container.NewGridWithColumns(2, life, idle))
	f.form.changed = f.changed
	f.Quote("", f.say("new.quoting"))
	f.whole = container.NewVBox(f.form.box, widget.NewSeparator(), f.quote)
	content := container.NewVScroll(border(nil, nil, nil, barRoom(), f.whole))
	content.SetMinSize(fyne.NewSize(0, 400))
	f.task = newTask(env, f.say("new.title"), f.say("new.do"), false, content, func(done func(string)) {
		c, wrong := f.choice()
		if f.form.problems(wrong, true) {
			f.whole.Refresh()
			f.form.mend(wrong)
			done(stay)
			return
		}
		make(c, done)
	}, ended)
	for _, row := range []*formRow{f.life, f.idle, f.name} {
		row.enter = func() { f.task.ok.OnTapped() }
	}
	f.form.begin()
	return f
}

func (f *SandboxForm) say(key string) string { return f.env.Texts.Get("sandboxes." + key) }

// Choice is what is wanted, as far as it can be.
func (f *SandboxForm) Choice() SandboxChoice {
	c, _ := f.choice()
	return c
}

func (f *SandboxForm) choice() (SandboxChoice, map[string]string) {
	c := SandboxChoice{Name: f.name.value(), Profile: f.profile.value(), Template: f.template.value()}
	wrong := map[string]string{}
	var err error
	if c.Life, err = ui.ParseHoursOf(f.life.value()); err != nil || c.Life <= 0 {
		wrong["life"] = f.say("new.life.wrong")
	}
	if len(f.template.values) == 0 {
		wrong["template"] = f.say("new.why.none")
	}
	if f.idle.value() != "" {
		if c.Idle, err = ui.ParseMinutes(f.idle.value()); err != nil {
			wrong["idle"] = f.say("new.idle.wrong")
		}
	}
	return c, wrong
}

func (f *SandboxForm) changed() {
	c, wrong := f.choice()
	f.form.problems(wrong, false)
	f.whole.Refresh()
	if c.Profile != f.of {
		f.of = c.Profile
		f.Templates(nil) // those of another one are no use
		c.Template = ""
		if f.OnProfile != nil {
			f.OnProfile(c.Profile)
		}
	}
	if c.Name = ""; len(wrong) == 0 && c != f.last && f.OnChange != nil { // which costs nothing
		f.last = c
		f.OnChange(c)
	}
}

// Begin asks for what the first choice needs.
func (f *SandboxForm) Begin() { f.changed() }

// Templates are those to choose from, the best first.
func (f *SandboxForm) Templates(all []sandbox.Template) {
	f.all = all
	f.filtersAnew()
	f.offer()
}

// Prices are those of sizes, which tell what comes with them.
func (f *SandboxForm) Prices(all []control.SizePrice) {
	f.prices = all
	f.filtersAnew()
}

// filtersAnew has the filters be those that there is a choice for.
func (f *SandboxForm) filtersAnew() {
	f.options = ui.TemplateOptions(f.env.Texts, f.all, f.prices)
	any := false
	for i, pick := range f.picks {
		var labels []string
		for _, o := range f.options[i] {
			labels = append(labels, o.Label)
		}
		at := max(0, min(pick.SelectedIndex(), len(labels)-1))
		changed := pick.OnChanged
		pick.OnChanged = nil // it is no choice of the user
		pick.SetOptions(labels)
		if len(labels) > 0 {
			pick.SetSelectedIndex(at)
		}
		pick.OnChanged = changed
		visible(pick, len(labels) > 0)
		any = any || len(labels) > 0
	}
	visible(f.filter, any)
	visible(f.filters, any && f.filters.Visible())
}

// wanted is what the filters say.
func (f *SandboxForm) wanted() (want ui.TemplateFilter) {
	for i, pick := range f.picks {
		at := pick.SelectedIndex()
		if at < 0 || at >= len(f.options[i]) {
			continue
		}
		one := f.options[i][at].Filter
		want.LeastMiB = max(want.LeastMiB, one.LeastMiB)
		want.MostPerHour = max(want.MostPerHour, one.MostPerHour)
		want.Region += one.Region
	}
	return want
}

// offer offers the templates that the filters leave, of which the first is
// proposed. What the profile uses if nothing is said is among them by its name,
// where that is known.
func (f *SandboxForm) offer() {
	local := f.profile.value() == sandbox.ProfileLocal
	some := f.wanted().Of(f.all)
	var titles, values []string
	usual := len(some) == len(f.all) // what it is, nobody knows: no filter can ask for it
	for _, t := range some {
		titles = append(titles, ui.TemplateText(f.env.Texts, t, local))
		values = append(values, t.Name)
		usual = usual && !t.Default
	}
	if usual {
		titles, values = append(titles, f.say("new.template.usual")), append(values, "")
	}
	best, why := 0, ""
	switch {
	case len(f.all) == 0:
	case len(some) == 0:
		f.template.left = true // which is told as what is wrong
	case some[0].Version == "" && usual: // none of those that are known can be started
		best = len(some)
	default:
		why = ui.WhyTemplate(f.env.Texts, some[0], some)
	}
	set(f.why, why)
	visible(f.why, why != "")
	f.template.values = values
	f.template.pick.SetOptions(titles)
	if len(values) == 0 {
		f.template.pick.ClearSelected()
	} else {
		f.template.pick.SetSelectedIndex(best)
	}
	if f.whole != nil {
		f.whole.Refresh()
	}
}

// Quote tells what is wanted would cost, or why that is not known.
func (f *SandboxForm) Quote(head, text string, facts ...ui.Fact) {
	box := container.New(layout.NewCustomPaddedVBoxLayout(0))
	if head != "" {
		box.Add(widget.NewLabelWithStyle(head, fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
	}
	if text != "" {
		box.Add(Muted(text))
	}
	if len(facts) > 0 {
		rows := container.New(factRows{})
		for _, fact := range facts {
			name, value := widget.NewLabel(fact.Name), widget.NewLabel(fact.Value)
			name.Importance, value.Wrapping = widget.LowImportance, fyne.TextWrapWord
			switch fact.Gauge {
			case ui.GaugeWarn:
				value.Importance = widget.WarningImportance
			case ui.GaugeBad:
				value.Importance = widget.DangerImportance
			}
			rows.Add(name)
			rows.Add(value)
		}
		box.Add(rows)
	}
	f.quote.Objects = []fyne.CanvasObject{box}
	f.quote.Refresh()
	if f.whole != nil {
		f.whole.Refresh()
	}
}
