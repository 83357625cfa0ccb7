package view

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// An EndForm is the dialog in which the user says when a sandbox is to end.
type EndForm struct {
	env    Env
	find   func() sandbox.Sandbox
	form   *form
	at     *formRow
	quick  []*Button
	result *widget.Label
	cost   *widget.Label
	task   *task
}

// NewEndForm shows the dialog. find tells how the sandbox is now, and end is
// called with the time that is wanted; what it tells done keeps the dialog, but
// for "".
func NewEndForm(env Env, find func() sandbox.Sandbox, end func(at time.Time, done func(problem string))) *EndForm {
	f := &EndForm{env: env, find: find, form: newForm(env), result: widget.NewLabel(""), cost: Muted("")}
	f.result.Wrapping = fyne.TextWrapWord
	b, now := find(), env.Now()
	row := container.New(flow{})
	for _, c := range ui.EndChoices(env.Texts, b, now) {
		button := NewButton(c.Label, nil, func() {
			f.at.entry.SetText(c.Value)
			f.at.entry.CursorColumn = len(c.Value)
			f.env.Window.Canvas().Focus(f.at.entry)
		})
		f.quick = append(f.quick, button)
		row.Add(button)
	}
	f.at = f.form.text(f.form.box, "at", f.say("when"), f.say("hint"), "", false)
	f.form.changed = f.changed
	said := container.New(layout.NewCustomPaddedVBoxLayout(-theme.InnerPadding()), f.result, f.cost)
	content := container.NewVBox(row, f.form.box, said)
	f.task = newTask(env, f.say("title", "sandbox", ui.Name(b)), f.say("do"), false, content, func(done func(string)) {
		p := ui.PlanEnd(f.env.Texts, f.find(), f.at.value(), f.env.Now())
		if p.Problem != "" {
			wrong := map[string]string{"at": p.Problem}
			f.form.problems(wrong, true)
			f.form.mend(wrong)
			done(stay)
			return
		}
		end(p.At, done)
	}, nil)
	f.at.enter = func() { f.task.ok.OnTapped() }
	f.task.fits(f.form)
	f.changed()
	f.form.begin()
	return f
}

func (f *EndForm) say(key string, args ...string) string {
	return f.env.Texts.Get("sandboxes.end."+key, args...)
}

// changed says what the time that is filled in would mean; before there is one,
// when the sandbox ends as it is.
func (f *EndForm) changed() {
	b, now := f.find(), f.env.Now()
	if f.at.value() == "" {
		f.form.problems(nil, false)
		f.tell(f.now(b, now), "")
		return
	}
	p := ui.PlanEnd(f.env.Texts, b, f.at.value(), now)
	wrong := map[string]string{}
	if p.Problem != "" {
		wrong["at"] = p.Problem
	}
	f.form.problems(wrong, false)
	f.tell(p.Text, p.Cost)
}

// now says when b ends as it is, and up to when that can be changed.
func (f *EndForm) now(b sandbox.Sandbox, now time.Time) string {
	text := f.say("now", "time", ui.MinuteStamp(b.EndsAt, now), "span", ui.Left(f.env.Texts, b.EndsAt, now))
	if latest := ui.LatestEnd(b); latest.After(b.EndsAt) {
		return text + " " + f.say("up-to", "time", ui.MinuteStamp(latest, now))
	}
	return text + " " + f.say("only-earlier")
}

func (f *EndForm) tell(result, cost string) {
	set(f.result, result)
	set(f.cost, cost)
	visible(f.result, result != "")
	visible(f.cost, cost != "")
	if f.task != nil {
		f.task.fit()
	}
}
