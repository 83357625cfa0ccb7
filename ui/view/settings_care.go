package view

import (
	"errors"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/assets"
)

// care is the part of the settings that looks for what is wrong.
type care struct {
	v       *Settings
	run     *Button
	bundle  *Button
	verdict *widget.Label
	list    *fyne.Container
	lines   map[string]*careLine
}

// A careLine is one check.
type careLine struct {
	icon *widget.Icon
	text *Text
	do   *Text
}

func newCare(v *Settings) *care {
	say := v.env.Texts.Get
	c := &care{v: v, verdict: plain(say("window.settings.doctor.text")), list: container.NewVBox(), lines: map[string]*careLine{}}
	c.run = NewButton(say("window.settings.doctor.run"), theme.SearchIcon(), func() { v.OnCheck() })
	c.bundle = NewButton(say("window.settings.bundle"), theme.DocumentSaveIcon(), func() { v.OnBundle() })
	return c
}

func (c *care) object() fyne.CanvasObject {
	return c.v.section("window.settings.doctor", c.verdict, c.list, container.NewHBox(c.run, c.bundle))
}

// Checking says that the checks begin.
func (v *Settings) Checking() {
	c := v.care
	c.list.Objects, c.lines = nil, map[string]*careLine{}
	c.verdict.Importance = widget.MediumImportance
	c.verdict.SetText(v.env.Texts.Get("window.settings.doctor.runs"))
	c.run.Disable()
	c.list.Refresh()
}

// Finding shows what a check came to, or that it begins.
func (v *Settings) Finding(f control.Finding) {
	c := v.care
	l := c.lines[f.Name]
	if l == nil {
		l = &careLine{icon: widget.NewIcon(theme.NewColoredResource(theme.MoreHorizontalIcon(), ColorMuted)), text: NewText("", fyne.TextStyle{}), do: NewText("", fyne.TextStyle{})}
		l.do.Importance = widget.LowImportance
		c.lines[f.Name] = l
		c.list.Add(border(nil, nil, container.NewVBox(container.NewPadded(l.icon)), nil, container.NewVBox(l.text, l.do)))
	}
	title := v.env.Texts.Get("doctor.check." + f.Name)
	icon, name := theme.MoreHorizontalIcon(), ColorMuted
	switch f.Level {
	case "ok":
		icon, name = theme.ConfirmIcon(), ColorGood
	case "warn":
		icon, name = theme.WarningIcon(), ColorWarn
	case "fail":
		icon, name = theme.ErrorIcon(), ColorBad
	case "skip":
		icon = theme.ContentRemoveIcon()
	}
	l.icon.SetResource(theme.NewColoredResource(icon, name))
	text := title
	if f.Level != "" {
		text += ": " + told(v.env.Texts, f.What)
	}
	l.text.SetText(text)
	l.do.Hidden = f.Remedy == nil
	if f.Remedy != nil {
		l.do.SetText("→ " + told(v.env.Texts, *f.Remedy))
	}
	c.list.Refresh()
}

// told is a text of the engine's.
func told(tx assets.Texts, t control.Text) string { return tx.Get(t.Key, t.Args...) }

// Checked says that all checks have ended. failed is that they could not.
func (v *Settings) Checked(text string, level BarLevel) {
	c := v.care
	c.run.Enable()
	c.verdict.Importance = []widget.Importance{BarPlain: widget.SuccessImportance, BarWarn: widget.WarningImportance, BarBad: widget.DangerImportance}[level]
	c.verdict.SetText(text)
}

// Bundle says where what others need to help was written.
func (v *Settings) Bundle(path string, open func()) {
	say := v.env.Texts.Get
	NewDialog(v.env, say("window.settings.bundle"), container.NewVBox(plain(say("window.settings.bundle.done")), Copyable(v.env, path)),
		say("window.close"), nil, Action{Label: say("window.settings.folder"), Do: open, Primary: true})
}

// A KeychainShown is how the keychain is, in words, and what can be done with it.
type KeychainShown struct {
	Text, Do string
	Bad      bool
	Vault    bool // it is the vault that is used
	Open     bool // that needs no passphrase now
	Made     bool // a vault is there
}

// Keychain shows how the keychain is.
func (v *Settings) Keychain(k KeychainShown) {
	say := v.env.Texts.Get
	v.keychain.Importance = widget.MediumImportance
	if k.Bad {
		v.keychain.Importance = widget.DangerImportance
	}
	v.keychain.SetText(k.Text)
	v.keychainDo.SetText(k.Do)
	v.keychainDo.Hidden = k.Do == ""
	v.keychainRow.Objects = nil
	add := func(key string, do func()) { v.keychainRow.Add(NewButton(say(key), nil, do)) }
	switch {
	case k.Vault && k.Open:
		add("window.settings.keychain.lock", func() { v.OnLock() })
		add("window.settings.keychain.system", func() {
			Confirm(v.env, say("window.settings.keychain.system"), say("window.settings.keychain.system.ask"), say("window.settings.keychain.move"), false, func() { v.OnUse("system", "") })
		})
	case k.Vault:
		add("window.settings.keychain.unlock", func() { v.passphrase("window.settings.keychain.unlock", !k.Made, v.OnUnlock) })
	default:
		add("window.settings.keychain.vault", func() {
			v.passphrase("window.settings.keychain.vault", true, func(text string) { v.OnUse("vault", text) })
		})
	}
	v.keychainRow.Refresh()
	v.root.Refresh()
}

// shortest is the length of the shortest passphrase that a new vault may have:
// whoever gets the file can try as many as they like.
const shortest = 8

// passphrase asks for one; a fresh one is typed twice.
func (v *Settings) passphrase(title string, fresh bool, use func(text string)) {
	say := v.env.Texts.Get
	first, again := NewPasswordEntry(), NewPasswordEntry()
	first.SetPlaceHolder(say("window.settings.passphrase"))
	again.SetPlaceHolder(say("window.settings.passphrase.again"))
	problem := widget.NewLabel("")
	problem.Importance = widget.DangerImportance
	problem.Wrapping = fyne.TextWrapWord
	problem.Hide()
	box := container.NewVBox(plain(say("window.settings.passphrase.text")), first)
	if fresh {
		box.Add(again)
	}
	box.Add(problem)
	check := func() error {
		switch {
		case first.Text == "":
			return errors.New(say("window.settings.passphrase.empty"))
		case fresh && utf8.RuneCountInString(first.Text) < shortest:
			return errors.New(say("window.settings.passphrase.short"))
		case fresh && first.Text != again.Text:
			return errors.New(say("window.settings.passphrase.differ"))
		}
		return nil
	}
	d := NewDialog(v.env, say(title), box, say("window.cancel"), func() {
		first.SetText("") // nobody is to find it in memory that is shown again
		again.SetText("")
	})
	submit := func() {
		if err := check(); err != nil {
			problem.SetText(err.Error())
			problem.Show()
			d.pop.Refresh()
			return
		}
		text := first.Text
		d.Close()
		use(text)
	}
	d.add(Action{Label: say("window.settings.passphrase.ok"), Do: submit, Primary: true})
	first.OnSubmitted = func(string) {
		if fresh && again.Text == "" {
			v.env.Window.Canvas().Focus(again)
			return
		}
		submit()
	}
	again.OnSubmitted = func(string) { submit() }
	v.env.Window.Canvas().Focus(first)
}
