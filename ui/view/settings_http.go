package view

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
)

// served is the part of the settings that has the tools served over HTTP.
type served struct {
	v       *Settings
	on      *Check
	address *Entry
	set     *Button
	auth    *Select
	auths   []string

	state  *fyne.Container // how it is, in words
	badge  *badge          // what that means for whoever owns the computer
	shown  control.Serving
	filled string // the address that was filled in last
}

func newServed(v *Settings) *served {
	say := v.env.Texts.Get
	s := &served{v: v, state: container.NewVBox(), badge: newBadge(), auths: []string{control.AuthNone, control.AuthToken}}
	edit := func(e control.ServingEdit) { v.OnEdit(control.PreferencesEdit{HTTP: &e}) }
	s.on = NewCheck(say("window.settings.http.on"), func(on bool) {
		switch {
		case v.setting:
		case on && s.shown.Open && s.shown.Auth == control.AuthNone:
			s.mark(false) // until that was confirmed
			Confirm(v.env, say("window.settings.http.on"), say("window.settings.http.open.none", "address", s.shown.Address), say("window.settings.http.yes"), true, func() {
				s.mark(true)
				edit(control.ServingEdit{On: new(true)})
			})
		default:
			edit(control.ServingEdit{On: &on})
		}
	})
	s.address = NewEntry()
	move := func() { edit(control.ServingEdit{Address: new(strings.TrimSpace(s.address.Text))}) }
	s.address.OnSubmitted = func(string) { move() }
	s.set = NewButton(say("window.settings.quiet.set"), nil, move)
	s.auth = v.choice([]string{say("window.settings.http.auth.none"), say("window.settings.http.auth.token")}, func(i int) control.PreferencesEdit {
		return control.PreferencesEdit{HTTP: &control.ServingEdit{Auth: &s.auths[i]}}
	})
	return s
}

// mark ticks the switch without anybody's having chosen it.
func (s *served) mark(on bool) {
	before := s.v.setting
	s.v.setting = true
	s.on.SetChecked(on)
	s.v.setting = before
}

func (s *served) object() fyne.CanvasObject {
	say := s.v.env.Texts.Get
	return s.v.section("window.settings.http", plain(say("window.settings.http.text")), s.on, s.state, s.badge.root,
		field(say("window.settings.http.address"), border(nil, nil, nil, s.set, s.address)),
		field(say("window.settings.http.auth"), s.auth))
}

// show shows how it is.
func (s *served) show(h control.Serving) {
	say := s.v.env.Texts.Get
	s.on.SetChecked(h.On)
	for i, auth := range s.auths {
		if auth == h.Auth {
			s.auth.SetSelectedIndex(i)
		}
	}
	if s.address.Text == s.filled { // else somebody is typing
		s.address.SetText(h.Address)
	}
	s.filled = h.Address
	s.shown = h
	s.state.Objects = nil
	line := func(text string, importance widget.Importance) {
		l := plain(text)
		l.Importance = importance
		s.state.Add(l)
	}
	switch h.State {
	case control.ServingOn:
		s.state.Add(Copyable(s.v.env, h.URL))
	case control.ServingStarting:
		line(say("window.settings.http.starting", "address", h.Address), widget.LowImportance)
	case control.ServingFailed:
		text := say("window.settings.http.failed")
		if h.Why != nil {
			text = say("window.settings.http.failed.why", "why", told(s.v.env.Texts, *h.Why))
		}
		line(text, widget.DangerImportance)
		if h.Remedy != nil {
			line("→ "+told(s.v.env.Texts, *h.Remedy), widget.MediumImportance)
		}
	}
	s.state.Hidden = len(s.state.Objects) == 0
	s.state.Refresh()
	switch {
	case !h.On:
		s.badge.clear()
	case h.Open && h.Auth == control.AuthNone:
		s.badge.say(ColorBad, say("window.settings.http.open.none", "address", h.Address))
	case h.Open:
		s.badge.say(ColorBad, say("window.settings.http.open.token", "address", h.Address))
	case h.Auth == control.AuthNone:
		s.badge.say(ColorWarn, say("window.settings.http.none"))
	default:
		s.badge.clear()
	}
}

// usable has the switch and what belongs to it be there to change.
func (s *served) usable(yes bool) {
	for _, d := range []fyne.Disableable{s.on, s.address, s.set, s.auth} {
		usable(d, yes)
	}
}

// A badge is a warning that stands out from what is around it. It takes no room
// while it has nothing to say.
type badge struct {
	root  *fyne.Container
	back  *canvas.Rectangle
	icon  *widget.Icon
	text  *widget.Label
	color fyne.ThemeColorName
}

func newBadge() *badge {
	b := &badge{back: canvas.NewRectangle(color.Transparent), icon: widget.NewIcon(nil), text: plain("")}
	b.back.CornerRadius, b.back.StrokeWidth = 6, 1.5
	b.text.TextStyle.Bold = true
	icon := container.New(layout.NewCustomPaddedLayout(0, 0, 10, 0), container.NewCenter(b.icon))
	b.root = container.NewStack(b.back, border(nil, nil, icon, nil, b.text))
	b.root.Hide()
	return b
}

func (b *badge) say(name fyne.ThemeColorName, text string) {
	b.color = name
	c := theme.Color(name)
	b.back.StrokeColor = c
	r, g, bl, _ := c.RGBA()
	const faint = 36 // of 255: texts on it are read as on the page
	b.back.FillColor = color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(bl >> 8), faint}
	icon := theme.WarningIcon()
	if name == ColorBad {
		icon = theme.ErrorIcon()
	}
	b.icon.SetResource(theme.NewColoredResource(icon, name))
	b.text.SetText(text)
	b.root.Show()
	b.root.Refresh()
}

func (b *badge) clear() {
	b.text.SetText("")
	b.root.Hide()
}
