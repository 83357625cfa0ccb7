package view

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A SecretShown is the dialog that has the secret of a token, the only time that
// anything shows it. It is hidden behind dots until the user asks to see it, and
// no part of the dialog has it any more when that has ended.
type SecretShown struct {
	env    Env
	dialog *Dialog
	secret sandbox.Secret
	text   *widget.Label
	copied *widget.Label
	see    *Button
	seen   bool
}

// dots stand for a secret, of whatever length.
const dots = "••••••••••••••••••••••••"

// ShowSecret shows the secret of a token. copies puts it on the clipboard. One that
// is on the clipboard when the dialog ends is for copies to take off again.
func ShowSecret(env Env, token string, secret sandbox.Secret, copies func(sandbox.Secret)) *SecretShown {
	s := &SecretShown{env: env, secret: secret}
	say := func(key string, args ...string) string { return env.Texts.Get(key, args...) }
	text := widget.NewLabel(say("window.tokens.shown.text"))
	text.Wrapping = fyne.TextWrapWord
	s.text = widget.NewLabelWithStyle(dots, fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
	s.text.Wrapping = fyne.TextWrapBreak
	s.see = NewButton(say("window.tokens.shown.show"), theme.VisibilityIcon(), func() { s.show(!s.seen) })
	take := NewButton(env.Texts.Get("window.copy"), theme.ContentCopyIcon(), func() {
		copies(s.secret)
		s.copied.SetText(say("window.tokens.shown.copied"))
	})
	take.Importance = widget.HighImportance
	s.copied = Muted("")
	back := canvas.NewRectangle(theme.Color(theme.ColorNameInputBackground))
	back.CornerRadius = theme.Size(theme.SizeNameInputRadius)
	box := container.NewVBox(text, container.NewStack(back, s.text), container.New(flow{}, take, s.see), s.copied)
	d := NewDialog(env, say("window.tokens.shown.title", "name", ui.Visible(token)), box, say("window.tokens.shown.close"), s.forget, Action{Label: say("window.tokens.shown.kept"), Primary: true})
	s.dialog = d
	d.buttons[0].OnTapped = s.ask
	d.asks = s.ask
	d.Resize(fyne.NewSize(520, 0))
	env.Window.Canvas().Focus(take)
	return s
}

// show has the secret be seen, or not.
func (s *SecretShown) show(yes bool) {
	s.seen = yes
	key, icon, text := "window.tokens.shown.show", theme.VisibilityIcon(), dots
	if yes {
		key, icon, text = "window.tokens.shown.hide", theme.VisibilityOffIcon(), string(s.secret)
	}
	s.text.SetText(text)
	s.see.SetIcon(icon)
	s.see.SetText(s.env.Texts.Get(key))
}

// ask asks whether to end without the secret: nothing can show it again.
func (s *SecretShown) ask() {
	tx := s.env.Texts
	d := NewDialog(s.env, tx.Get("window.tokens.shown.sure.title"), Muted(tx.Get("window.tokens.shown.sure")), tx.Get("window.tokens.shown.back"), nil,
		Action{Label: tx.Get("window.tokens.shown.sure.yes"), Danger: true, Do: s.dialog.Close})
	s.env.Window.Canvas().Focus(d.buttons[0])
}

// Close ends the dialog, as when the page it is on is made anew.
func (s *SecretShown) Close() { s.dialog.Close() }

// forget drops the secret.
func (s *SecretShown) forget() {
	s.show(false)
	s.secret = ""
}

// Uses tells how to get from a token to an agent that uses it.
func (v *Tokens) Uses() {
	box := container.NewVBox()
	for _, u := range ui.TokenUses(v.env.Texts) {
		box.Add(widget.NewLabelWithStyle(u.Title, fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
		box.Add(Muted(u.Text))
		if strings.Contains(u.Copy, "\n") {
			box.Add(v.prompt(u))
		} else {
			box.Add(Copyable(v.env, u.Copy))
		}
	}
	v.pages(v.say("window.tokens.use.title"), box)
}

// Prompt shows what to say to an agent first.
func (v *Tokens) Prompt() {
	all := ui.TokenUses(v.env.Texts)
	last := all[len(all)-1]
	v.pages(strings.TrimLeft(last.Title, "0123456789. "), container.NewVBox(Muted(last.Text), v.prompt(last)))
}

// prompt is a text of several lines, with a button that copies it.
func (v *Tokens) prompt(u ui.Use) fyne.CanvasObject {
	take := NewButton(v.env.Texts.Get("window.copy"), theme.ContentCopyIcon(), func() { v.env.Copy(u.Copy) })
	take.Importance = widget.HighImportance
	text := NewText(u.Copy, fyne.TextStyle{})
	return container.NewVBox(container.New(flow{}, take), text)
}

func (v *Tokens) pages(title string, content fyne.CanvasObject) {
	d := NewDialog(v.env, title, scrolled(content, 160), v.say("window.tokens.close"), nil)
	d.Resize(fyne.NewSize(640, 520))
}
