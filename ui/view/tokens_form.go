package view

import (
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A tokenForm is a form for a new token, or for changes of one.
type tokenForm struct {
	*form
	v     *Tokens
	old   sandbox.Grant // zero for a new one
	taken []string
	day   *formRow // shown where a day is to be chosen
	sum   *widget.Label
	root  fyne.CanvasObject
}

// Names of the rows that [ui.TokenForm] has no name for, since nothing can be
// wrong with them.
const (
	rowPeriod  = "period"
	rowProfile = "profile"
	rowEnds    = "ends"
	rowBurst   = "burst"
	rowScope   = "scope." // and which
)

func (v *Tokens) newTokenForm(old sandbox.Grant, in ui.TokenForm) *tokenForm {
	f := &tokenForm{form: newForm(v.env), v: v, old: old, taken: v.names(old.ID), sum: widget.NewLabel("")}
	f.sum.Wrapping = fyne.TextWrapWord
	tx, fresh, now := v.env.Texts, old.ID == "", v.env.Now()
	line := func(box *fyne.Container, name, value string) *formRow {
		return f.text(box, name, v.say("window.tokens.field."+name), v.example(name), value, false)
	}
	line(f.box, ui.TokenName, in.Name)

	f.box.Add(widget.NewLabel(v.say("window.tokens.field.scopes")))
	for _, s := range sandbox.Scopes() {
		title, hint, _ := strings.Cut(ui.ScopeHint(tx, s), ": ")
		f.toggle(f.box, rowScope+string(s), title, hint, slices.Contains(in.Scopes, s))
	}
	f.onto(f.box, &formRow{name: ui.TokenScopes}, "")
	last := f.row(ui.TokenScopes)
	last.object.Add(last.problem)

	money := container.New(layout.NewGridLayoutWithColumns(2))
	line(money, ui.TokenMoney, in.Limit)
	var periods []option
	for _, p := range []sandbox.Period{sandbox.PeriodDay, sandbox.PeriodWeek, sandbox.PeriodMonth, sandbox.PeriodNone} {
		periods = append(periods, option{string(p), v.say("window.tokens.period." + string(p))})
	}
	f.choice(money, rowPeriod, v.say("window.tokens.field.period"), string(in.Period), periods)
	f.box.Add(money)

	size := container.New(layout.NewGridLayoutWithColumns(2))
	line(size, ui.TokenHours, in.Hours)
	line(size, ui.TokenAtOnce, in.AtOnce)
	f.box.Add(size)

	places := []option{{"", v.say("window.tokens.profile.any")}, {sandbox.ProfileLocal, v.say("window.tokens.profile.local")}}
	for _, p := range v.shown.Profiles {
		if p != sandbox.ProfileLocal {
			places = append(places, option{p, ui.Visible(p)})
		}
	}
	if in.Profile != "" && !slices.ContainsFunc(places, func(o option) bool { return o.value == in.Profile }) {
		places = append(places, option{in.Profile, ui.Visible(in.Profile)}) // it is gone, and stays until another is chosen
	}
	f.choice(f.box, rowProfile, v.say("window.tokens.field.profile"), in.Profile, places)

	var ends []option
	for _, e := range ui.TokenEnds(fresh) {
		ends = append(ends, option{e, ui.EndsTitle(tx, e, old, now)})
	}
	f.choice(f.box, rowEnds, v.say("window.tokens.field.ends"), in.Ends, ends)
	f.day = f.text(f.box, ui.TokenOn, v.say("window.tokens.field.on"), now.AddDate(0, 0, 14).Format(time.DateOnly), in.On, false)

	more := container.NewVBox()
	line(more, ui.TokenTemplates, in.Templates)
	line(more, ui.TokenRate, in.Rate)
	f.choice(more, rowBurst, v.say("window.tokens.field.burst"), string(in.Burst), []option{
		{string(sandbox.BurstStrict), v.say("window.tokens.burst.strict")}, {string(sandbox.BurstBaseline), v.say("window.tokens.burst.baseline")},
	})
	f.box.Add(folded(v.say("window.tokens.more"), more, false))
	f.changed = func() {
		f.problems(f.wrong(), false)
		f.tellSum()
	}
	f.tellSum()
	f.root = border(nil, container.NewVBox(widget.NewSeparator(), f.sum), nil, nil, scrolled(f.box, 140))
	return f
}

// example is what a row of a token shows while it is empty.
func (v *Tokens) example(name string) string { return v.say("window.tokens.example." + name) }

// filled is what is filled in.
func (f *tokenForm) filled() ui.TokenForm {
	values := f.values()
	out := ui.TokenForm{
		Name: values[ui.TokenName], Limit: values[ui.TokenMoney], Period: sandbox.Period(values[rowPeriod]), Hours: values[ui.TokenHours],
		AtOnce: values[ui.TokenAtOnce], Templates: values[ui.TokenTemplates], Profile: values[rowProfile], Ends: values[rowEnds],
		On: values[ui.TokenOn], Burst: sandbox.Burst(values[rowBurst]), Rate: values[ui.TokenRate],
	}
	for _, s := range sandbox.Scopes() {
		if values[rowScope+string(s)] != "" {
			out.Scopes = append(out.Scopes, s)
		}
	}
	return out
}

func (f *tokenForm) wrong() map[string]string {
	return f.filled().Check(f.env.Texts, f.taken, f.env.Now())
}

// tellSum sums up what is filled in, and shows the row of a day if one is wanted.
func (f *tokenForm) tellSum() {
	in := f.filled()
	if on := in.Ends == ui.EndsOn; on != f.day.object.Visible() {
		f.day.object.Hidden = !on
		f.box.Refresh()
	}
	now := f.env.Now()
	if text := ui.TokenSentence(f.env.Texts, in.Grant(f.old, now), now); text != f.sum.Text {
		f.sum.SetText(text)
	}
}

// Create asks for a new token.
func (v *Tokens) Create() {
	f := v.newTokenForm(sandbox.Grant{}, ui.NewTokenForm())
	v.askToken(f, v.say("window.tokens.create.title"), v.say("window.tokens.create.verb"), func(g sandbox.Grant, done func(string)) { v.OnCreate(g, done) })
}

func (v *Tokens) edit(t control.Token) {
	f := v.newTokenForm(t.Grant, ui.TokenFormOf(t.Grant))
	v.askToken(f, v.say("window.tokens.edit.title", "name", ui.Visible(t.Grant.Name)), v.say("window.tokens.edit.save"), func(g sandbox.Grant, done func(string)) {
		v.OnEdit(t.Grant, g, done)
	})
}

func (v *Tokens) askToken(f *tokenForm, title, verb string, do func(g sandbox.Grant, done func(string))) {
	t := newTask(v.env, title, verb, false, f.root, func(done func(string)) {
		wrong := f.wrong()
		if f.problems(wrong, true) {
			f.mend(wrong)
			done(stay)
			return
		}
		now := v.env.Now()
		g := f.filled().Grant(f.old, now)
		if !ui.Sensitive(g.Scopes) || ui.Sensitive(f.old.Scopes) {
			do(g, done)
			return
		}
		done(stay)
		Confirm(v.env, v.say("window.tokens.create.danger"), ui.TokenSentence(v.env.Texts, g, now), verb, true, func() { do(g, done) })
	}, nil)
	t.Resize(fyne.NewSize(580, 620))
	f.begin()
}

// rotate asks how long the old secret may go on.
func (v *Tokens) rotate(t control.Token) {
	f := newForm(v.env)
	pick := f.choice(f.box, "overlap", "", "0", []option{{"0", v.say("window.tokens.rotate.0")}, {"1h", v.say("window.tokens.rotate.1")}, {"24h", v.say("window.tokens.rotate.24")}})
	text := widget.NewLabel(v.say("window.tokens.rotate.text"))
	text.Wrapping = fyne.TextWrapWord
	NewDialog(v.env, v.say("window.tokens.rotate.title", "name", ui.Visible(t.Grant.Name)), container.NewVBox(text, f.box), v.env.Texts.Get("window.cancel"), nil,
		Action{Label: v.say("window.tokens.rotate.verb"), Primary: true, Do: func() {
			overlap, _ := ui.ParseSpan(pick.value())
			v.OnRotate(t, overlap)
		}})
	f.begin()
}

// revoke asks whether to, and what becomes of the sandboxes of the token.
func (v *Tokens) revoke(t control.Token) {
	text := widget.NewLabel("")
	text.Wrapping = fyne.TextWrapWord
	keep := NewCheck(v.say("window.tokens.revoke.keep"), nil)
	tell := func(on bool) { text.SetText(ui.RevokeText(v.env.Texts, t.Grant.Name, t.Running, on)) }
	keep.OnChanged = tell
	tell(false)
	box := container.NewVBox(text)
	if t.Running > 0 {
		box.Add(keep)
	}
	d := NewDialog(v.env, v.say("window.tokens.revoke.title", "name", ui.Visible(t.Grant.Name)), box, v.env.Texts.Get("window.cancel"), nil,
		Action{Label: v.say("window.tokens.revoke.verb"), Danger: true, Do: func() { v.OnRevoke(t, keep.Checked) }})
	v.env.Window.Canvas().Focus(d.buttons[0])
}

// apps asks which apps a token is bound to.
func (v *Tokens) apps(t control.Token) {
	box := container.NewVBox(Muted(v.say("window.tokens.apps.text")))
	var checks []*Check
	for _, a := range v.shown.Apps {
		title := ui.Visible(a.Title)
		if a.Grant != "" && a.Grant != t.Grant.Name && a.Grant != t.Grant.ID {
			title = v.say("window.tokens.apps.other", "app", title, "name", ui.Visible(a.Grant))
		}
		c := NewCheck(title, nil)
		c.Checked = slices.Contains(t.Connections, a.Connection)
		checks = append(checks, c)
		box.Add(c)
	}
	title := v.say("window.tokens.apps.title", "name", ui.Visible(t.Grant.Name))
	if len(checks) == 0 {
		box.Add(widget.NewLabel(v.say("window.tokens.apps.none")))
		NewDialog(v.env, title, box, v.say("window.tokens.close"), nil)
		return
	}
	apps := v.shown.Apps
	newTask(v.env, title, v.say("window.tokens.edit.save"), false, box, func(done func(string)) {
		var with, without []string
		for i, c := range checks {
			had := slices.Contains(t.Connections, apps[i].Connection)
			switch {
			case c.Checked && !had:
				with = append(with, apps[i].Connection)
			case had && !c.Checked:
				without = append(without, apps[i].Connection)
			}
		}
		v.OnBind(t, with, without, done)
	}, nil)
	v.env.Window.Canvas().Focus(checks[0])
}
