package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// formSize is that of a dialog with a form in it.
var formSize = fyne.NewSize(520, 560)

// A profileForm is a form for one kind of profiles.
type profileForm struct {
	*form
	v      *Profiles
	fields []ui.ProfileField
	taken  []string
	root   fyne.CanvasObject
}

// newProfileForm is a form for a kind, filled in with what is known. Of a new
// profile old is nil.
func (v *Profiles) newProfileForm(kind string, old *ProfileItem, known map[string]string) *profileForm {
	but := ""
	if old != nil {
		but = old.Name
	}
	f := &profileForm{form: newForm(v.env), v: v, fields: ui.ProfileFields(kind, old == nil, v.names(but))}
	if old == nil {
		f.taken = v.names("")
	}
	f.lay(known)
	return f
}

// lay adds the rows: those that few need go under a line of their own.
func (f *profileForm) lay(known map[string]string) {
	tx := f.env.Texts
	more := container.NewVBox()
	opened := false
	for _, field := range f.fields {
		box := f.box
		if field.More {
			box = more
			opened = opened || known[field.Name] != ""
		}
		title := ui.FieldTitle(tx, field.Name)
		if !field.Need && !field.More {
			title = f.v.say("window.profiles.optional", "field", title)
		}
		switch value := known[field.Name]; field.Input {
		case ui.InputChoice:
			var options []option
			for _, c := range field.Choices {
				options = append(options, option{c, ui.ChoiceTitle(tx, field.Name, c)})
			}
			f.choice(box, field.Name, title, value, options)
		case ui.InputSwitch:
			f.toggle(box, field.Name, title, "", value != "")
		default:
			f.text(box, field.Name, title, ui.FieldHint(tx, field.Name), value, field.Input == ui.InputSecret)
		}
	}
	f.changed = func() { f.problems(f.wrong(), false) }
	if len(more.Objects) > 0 {
		f.box.Add(folded(f.v.say("window.profiles.more"), more, opened))
	}
	f.root = f.box
}

// wrong is what is wrong with what is filled in, by field.
func (f *profileForm) wrong() map[string]string {
	return ui.CheckProfile(f.env.Texts, f.fields, f.values(), f.taken)
}

// ready reports whether all is well, and else tells what is not.
func (f *profileForm) ready() bool {
	wrong := f.wrong()
	if !f.problems(wrong, true) {
		return true
	}
	f.mend(wrong)
	return false
}

// profile is what is filled in, but for a key.
func (f *profileForm) profile() map[string]string {
	out := f.values()
	for _, name := range []string{ui.FieldKeyID, ui.FieldKeySecret, ui.FieldKeyToken} {
		delete(out, name)
	}
	return out
}

// key is the key that was typed, of which the form keeps nothing.
func (f *profileForm) key() *ProfileKey {
	row := f.row(ui.FieldKeyID)
	if row == nil {
		return nil
	}
	id := row.value()
	return &ProfileKey{sandbox.Secret(id), sandbox.Secret(f.take(ui.FieldKeySecret)), sandbox.Secret(f.take(ui.FieldKeyToken))}
}

// Add asks for a new profile, by kind.
func (v *Profiles) Add() {
	tx := v.env.Texts
	var f *profileForm
	place := container.NewVBox()
	hint := Muted("")
	known := map[string]string{}
	kind := ""
	show := func(k string) {
		if f != nil { // what both kinds have is kept
			for name, value := range f.profile() {
				known[name] = value
			}
			f.forget()
		}
		kind = k
		hint.SetText(ui.KindHint(tx, k))
		f = v.newProfileForm(k, nil, known)
		place.Objects = []fyne.CanvasObject{f.root}
		place.Refresh()
	}
	head := newForm(v.env)
	var kinds []option
	for _, k := range ui.ProfileKinds() {
		kinds = append(kinds, option{k, ui.KindTitle(tx, k)})
	}
	pick := head.choice(head.box, "kind", v.say("window.profiles.add.kind"), ui.ProfileKinds()[0], kinds)
	head.changed = func() { show(pick.value()) }
	show(pick.value())
	byDefault := NewCheck(v.say("window.profiles.add.default"), nil)
	content := scrolled(container.NewVBox(head.box, hint, place, byDefault), 220)
	t := newTask(v.env, v.say("window.profiles.add.title"), v.say("window.profiles.add.verb"), false, content, func(done func(string)) {
		if !f.ready() {
			done(stay)
			return
		}
		values := f.profile()
		values["kind"] = kind
		v.OnAdd(values, f.key(), byDefault.Checked, done)
	}, func() { f.forget() })
	t.Resize(formSize)
	head.begin()
}

// edit asks for changes of a profile.
func (v *Profiles) edit(p ProfileItem) {
	f := v.newProfileForm(p.Kind, &p, p.Values)
	content := scrolled(container.NewVBox(Muted(ui.KindHint(v.env.Texts, p.Kind)), f.root), 220)
	t := newTask(v.env, v.say("window.profiles.edit.title", "profile", ui.Visible(p.Name)), v.say("window.profiles.save"), false, content, func(done func(string)) {
		if !f.ready() {
			done(stay)
			return
		}
		v.OnEdit(p.Name, f.profile(), done)
	}, nil)
	t.Resize(formSize)
	f.begin()
}

// Key asks for a new key of a profile.
func (v *Profiles) Key(name string) {
	f := &profileForm{form: newForm(v.env), v: v, fields: ui.KeyFields()}
	f.lay(nil)
	content := container.NewVBox(Muted(v.say("window.profiles.key.text")), f.root)
	t := newTask(v.env, v.say("window.profiles.key.title", "profile", ui.Visible(name)), v.say("window.profiles.save"), false, content, func(done func(string)) {
		if !f.ready() {
			done(stay)
			return
		}
		v.OnKey(name, *f.key(), done)
	}, func() { f.forget() })
	t.fits(f.form)
	f.begin()
}

// Pass asks for the passphrase of the vault, or for that of a new one.
func (v *Profiles) Pass(do string) {
	fresh := do != ui.KeychainUnlock
	f := newForm(v.env)
	text, title, verb := "window.profiles.pass.text", "window.profiles.pass.title", "window.profiles.pass.open"
	if fresh {
		text, title, verb = "window.profiles.pass.text.new", "window.profiles.pass.title.new", "window.profiles.pass.make"
	}
	pass := f.text(f.box, "pass", v.say("window.profiles.pass.field"), "", "", true)
	last := pass
	if fresh {
		last = f.text(f.box, "again", v.say("window.profiles.pass.again"), "", "", true)
	}
	wrong := func() map[string]string {
		again := ""
		if fresh {
			again = last.value()
		}
		if text := ui.CheckPassphrase(v.env.Texts, pass.value(), again, fresh); text != "" {
			return map[string]string{last.name: text}
		}
		return nil
	}
	f.changed = func() { f.problems(wrong(), false) }
	content := container.NewVBox(Muted(v.say(text)), f.box)
	t := newTask(v.env, v.say(title), v.say(verb), false, content, func(done func(string)) {
		if bad := wrong(); f.problems(bad, true) {
			f.mend(bad)
			done(stay)
			return
		}
		typed := sandbox.Secret(f.take("pass"))
		f.forget()
		v.OnPass(do, typed, func(problem string) {
			done(problem)
			if problem != "" {
				f.begin()
			}
		})
	}, func() { f.forget() })
	submit(f, t)
	t.fits(f)
	f.begin()
}

// submit has Enter in any line do what a task is for.
func submit(f *form, t *task) {
	for _, r := range f.rows {
		r.enter = func() { t.ok.Tapped(nil) }
	}
}
