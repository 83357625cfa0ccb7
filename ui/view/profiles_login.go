package view

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/ui"
)

// A Login is the dialog in which a person signs in to a profile: it shows what
// AWS wants of them as it is asked for.
type Login struct {
	// OnCode is given the code of an MFA device, for the prompt of an id.
	OnCode func(id, code string)
	// OnAgain begins anew, after something went wrong.
	OnAgain func()

	env    Env
	name   string
	dialog *Dialog
	place  *fyne.Container
	left   *widget.Label // until when to confirm it
	until  time.Time
	form   *form // of a code
}

// NewLogin shows the dialog. canceled is called when the user ends it.
func NewLogin(env Env, profile string, canceled func()) *Login {
	l := &Login{env: env, name: profile, place: container.NewVBox()}
	l.dialog = NewDialog(env, l.say("window.profiles.login.title", "profile", ui.Visible(profile)), l.place, env.Texts.Get("window.cancel"), func() {
		l.forget()
		canceled()
	})
	l.Wait("window.profiles.login.wait")
	return l
}

func (l *Login) say(key string, args ...string) string {
	return l.env.Texts.Get(key, args...)
}

// Close ends the dialog.
func (l *Login) Close() { l.dialog.Close() }

func (l *Login) forget() {
	if l.form != nil {
		l.form.forget()
		l.form = nil
	}
}

func (l *Login) show(objects ...fyne.CanvasObject) {
	l.forget()
	l.left, l.until = nil, time.Time{}
	l.place.Objects = objects
	l.place.Refresh()
	l.dialog.pop.Resize(l.dialog.pop.MinSize())
	l.dialog.pop.Resize(l.dialog.pop.MinSize()) // texts have wrapped by now
}

// Wait says what is going on.
func (l *Login) Wait(key string) { l.show(Muted(l.say(key))) }

// Prompt shows what a person has to do.
func (l *Login) Prompt(p control.Prompt, now time.Time) {
	if p.ID == "" {
		l.page(p, now)
		return
	}
	l.code(p)
}

// page tells of a page to confirm the login at.
func (l *Login) page(p control.Prompt, now time.Time) {
	text := widget.NewLabel(l.say("window.profiles.login.page"))
	text.Wrapping = fyne.TextWrapWord
	open := NewButton(l.say("window.profiles.login.open"), nil, func() { l.env.Browse(p.URL) })
	address := NewButton(l.say("window.profiles.login.copy"), theme.ContentCopyIcon(), func() { l.env.Copy(p.URL) })
	objects := []fyne.CanvasObject{text}
	if p.Code != "" {
		code := NewText(ui.Visible(p.Code), fyne.TextStyle{Monospace: true, Bold: true})
		code.Wrapping, code.Alignment = fyne.TextWrapOff, fyne.TextAlignCenter
		code.SizeName = theme.SizeNameHeadingText
		objects = append(objects, widget.NewLabel(l.say("window.profiles.login.code")), code)
	}
	objects = append(objects, container.New(flow{}, open, address))
	left := Muted("")
	if !p.Expires.IsZero() {
		objects = append(objects, left)
	}
	l.show(objects...)
	if !p.Expires.IsZero() {
		l.left, l.until = left, p.Expires
		l.Tick(now)
	}
	l.env.Window.Canvas().Focus(open)
}

// code asks for the code of an MFA device.
func (l *Login) code(p control.Prompt) {
	f := newForm(l.env)
	row := f.text(f.box, "code", l.say("window.profiles.login.mfa", "serial", ui.Visible(p.Serial)), "123456", "", false)
	row.secret = true // it is shown while it is typed, since it is read off a device; nothing keeps it
	wrong := func() map[string]string {
		if text := ui.CheckCode(l.env.Texts, strings.ReplaceAll(row.value(), " ", "")); text != "" {
			return map[string]string{"code": text}
		}
		return nil
	}
	send := func() {
		if bad := wrong(); f.problems(bad, true) {
			f.mend(bad)
			return
		}
		code := strings.ReplaceAll(row.value(), " ", "")
		f.take("code")
		l.Wait("window.profiles.login.mfa.busy")
		l.OnCode(p.ID, code)
	}
	row.enter = send
	ok := NewButton(l.say("window.profiles.login.mfa.verb"), nil, send)
	ok.Importance = widget.HighImportance
	l.show(f.box, container.New(flow{}, ok))
	l.form = f
	f.fit = func() { l.dialog.pop.Resize(l.dialog.pop.MinSize()) }
	f.begin()
}

// Fail tells what went wrong, and offers to begin anew.
func (l *Login) Fail(text string) {
	again := NewButton(l.say("window.profiles.login.again"), nil, func() {
		l.Wait("window.profiles.login.wait")
		l.OnAgain()
	})
	again.Importance = widget.HighImportance
	l.show(marked(theme.ErrorIcon(), ColorBad, text, ""), container.New(flow{}, again))
	l.env.Window.Canvas().Focus(again)
}

// Tick draws what time changes.
func (l *Login) Tick(now time.Time) {
	if l.left == nil {
		return
	}
	text := l.say("window.profiles.login.late")
	if now.Before(l.until) {
		span, _ := ui.Countdown(l.env.Texts, l.until, now)
		text = l.say("window.profiles.login.left", "span", span)
	}
	if text != l.left.Text {
		l.left.SetText(text)
	}
}

// An ImportList is the dialog with the profiles in the files of AWS.
type ImportList struct {
	OnMove func(p control.Importable)
	OnUse  func(p control.Importable)

	env    Env
	dialog *Dialog
	place  *fyne.Container
}

// NewImportList shows the dialog, while the files are read.
func NewImportList(env Env, ended func()) *ImportList {
	l := &ImportList{env: env, place: container.NewVBox()}
	l.dialog = NewDialog(env, l.say("window.profiles.import.title"), scrolled(l.place, 160), l.say("window.profiles.close"), ended)
	l.dialog.Resize(fyne.NewSize(560, 420))
	l.place.Objects = []fyne.CanvasObject{Muted(l.say("window.profiles.import.wait"))}
	return l
}

func (l *ImportList) say(key string, args ...string) string {
	return l.env.Texts.Get(key, args...)
}

// Fail tells why the files can't be read.
func (l *ImportList) Fail(text string) {
	l.place.Objects = []fyne.CanvasObject{marked(theme.ErrorIcon(), ColorBad, text, "")}
	l.place.Refresh()
}

// Close ends the dialog.
func (l *ImportList) Close() { l.dialog.Close() }

// Show draws what is in the files.
func (l *ImportList) Show(all []control.Importable) {
	l.place.Objects = nil
	if len(all) == 0 {
		l.place.Add(Muted(l.say("window.profiles.import.none")))
	}
	for i, p := range all {
		if i > 0 {
			l.place.Add(widget.NewSeparator())
		}
		l.place.Add(l.row(p))
	}
	l.place.Refresh()
}

func (l *ImportList) row(p control.Importable) fyne.CanvasObject {
	name := widget.NewLabelWithStyle(ui.Visible(p.Name), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	about := ui.KindTitle(l.env.Texts, p.Kind)
	if p.Region != "" {
		about += " · " + ui.Visible(p.Region)
	}
	box := container.NewVBox(container.NewHBox(name, aside(about)))
	for _, w := range p.Warnings {
		box.Add(marked(theme.WarningIcon(), ColorWarn, ui.ImportText(l.env.Texts, w), ""))
	}
	if p.Problem != nil {
		box.Add(marked(theme.ErrorIcon(), ColorBad, ui.ImportText(l.env.Texts, *p.Problem), ""))
	}
	if p.Imported != "" {
		box.Add(marked(theme.ConfirmIcon(), ColorGood, l.say("window.profiles.import.done", "profile", ui.Visible(p.Imported)), ""))
		return box
	}
	row := container.New(flow{})
	if len(p.Move) > 0 {
		b := NewButton(l.say("window.profiles.import.move"), nil, func() { l.OnMove(p) })
		b.Importance = widget.HighImportance
		row.Add(b)
	}
	if p.Profile != nil {
		row.Add(NewButton(l.say("window.profiles.import.use"), nil, func() { l.OnUse(p) }))
	}
	if len(row.Objects) > 0 {
		box.Add(row)
	}
	return box
}

// AskRegion asks for the region of a profile that names none.
func AskRegion(env Env, profile string, do func(region string)) {
	say := func(key string, args ...string) string { return env.Texts.Get(key, args...) }
	f := newForm(env)
	fields := []ui.ProfileField{{Name: ui.FieldRegion, Input: ui.InputText, Need: true}}
	f.text(f.box, ui.FieldRegion, ui.FieldTitle(env.Texts, ui.FieldRegion), ui.FieldHint(env.Texts, ui.FieldRegion), "", false)
	wrong := func() map[string]string { return ui.CheckProfile(env.Texts, fields, f.values(), nil) }
	f.changed = func() { f.problems(wrong(), false) }
	text := Muted(say("window.profiles.import.region.text", "profile", ui.Visible(profile)))
	t := newTask(env, say("window.profiles.import.region", "profile", ui.Visible(profile)), say("window.profiles.import.region.verb"), false, container.NewVBox(text, f.box), func(done func(string)) {
		if bad := wrong(); f.problems(bad, true) {
			f.mend(bad)
			done(stay)
			return
		}
		region := f.values()[ui.FieldRegion]
		done("")
		do(region)
	}, nil)
	submit(f, t)
	t.fits(f)
	f.begin()
}
