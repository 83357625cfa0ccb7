package view

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

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
	where, what, life, idle := box(), box(), box(), box()
	f.profile = f.form.choice(where, "profile", f.say("new.profile"), chosen, options)
	f.template = f.form.choice(what, "template", f.say("new.template"), "", []option{{"", f.say("new.template.usual")}})
	f.life = f.form.text(life, "life", f.say("new.life"), "1", "1", false)
	f.idle = f.form.text(idle, "idle", f.say("new.idle"), f.say("new.idle.never"), "5", false)
	f.form.box.Add(container.NewGridWithColumns(2, where, what))
	f.form.box.Add(container.NewGridWithColumns(2, life, idle))
	f.name = f.form.text(f.form.box, "name", f.say("new.name"), f.say("new.name.hint"), "", false)
	f.form.changed = f.changed
	f.Quote("", f.say("new.quoting"))
	f.whole = container.NewVBox(f.form.box, widget.NewSeparator(), f.quote)
	content := container.NewVScroll(f.whole)
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

// Templates are those to choose from.
func (f *SandboxForm) Templates(all []sandbox.Template) {
	local := f.profile.value() == sandbox.ProfileLocal
	titles, values := []string{f.say("new.template.usual")}, []string{""}
	for _, t := range all {
		titles = append(titles, ui.TemplateText(f.env.Texts, t, local))
		values = append(values, t.Name)
	}
	f.template.values = values
	f.template.pick.SetOptions(titles)
	f.template.pick.SetSelectedIndex(0)
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
