package view

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
)

// Settings is the page of what the owner has set, and of the program itself.
type Settings struct {
	// OnEdit is called with what the user changes.
	OnEdit   func(e control.PreferencesEdit)
	OnUnlock func(passphrase string)
	OnLock   func()
	OnUse    func(backend, passphrase string)

	OnFolder func()
	OnLog    func() // another level is to be shown
	OnCheck  func()
	OnBundle func()
	OnPrices func(profile string)
	OnGuide  func()
	OnPause  func(paused bool) // new sandboxes

	env     Env
	setting bool // what is shown is being brought up to date: nobody has chosen
	known   bool // what is set was shown
	prefs   control.Preferences
	names   []string // of the profiles to choose from, as the engine has them

	language, look, profile        *Select
	login, notices, done, quiet    *Check
	pause                          *Check
	from, to                       *Entry
	quietRow                       *fyne.Container
	file, loginWhy                 *widget.Label
	keychain, keychainDo           *widget.Label
	keychainRow, logRow            *fyne.Container
	care                           *care
	served                         *served
	log                            *openLog // in front of the page; nil is none
	prices                         *widget.Label
	versions                       *Text
	priceRow                       *fyne.Container
	root                           fyne.CanvasObject
	languages, looks, languageKeys []string
}

// settingsWidth is how wide the page is at the most.
const settingsWidth = 820

// NewSettings returns the page, before anything is known.
func NewSettings(env Env) *Settings {
	v := &Settings{env: env}
	say := env.Texts.Get
	v.languageKeys = []string{"", "es", "en"}
	v.languages = []string{say("window.settings.system"), "Español", "English"}
	v.looks = []string{say("window.settings.system"), say("window.settings.light"), say("window.settings.dark")}
	v.language = v.choice(v.languages, func(i int) control.PreferencesEdit {
		return control.PreferencesEdit{Language: &v.languageKeys[i]}
	})
	v.look = v.choice(v.looks, func(i int) control.PreferencesEdit {
		return control.PreferencesEdit{Theme: new([]string{"", "light", "dark"}[i])}
	})
	v.profile = v.choice(nil, func(i int) control.PreferencesEdit {
		return control.PreferencesEdit{DefaultProfile: &v.names[i]}
	})
	v.login = v.check(say("window.settings.login"), func(on bool) control.PreferencesEdit {
		return control.PreferencesEdit{StartAtLogin: &on}
	})
	v.loginWhy = Muted(say("window.settings.reading"))
	v.pause = NewCheck(say("window.settings.pause"), func(on bool) {
		if !v.setting {
			v.OnPause(on)
		}
	})
	v.file = Muted("")
	v.makeNotices()
	v.keychain, v.keychainDo = widget.NewLabel("…"), Muted("")
	v.keychain.Wrapping = fyne.TextWrapWord
	v.keychainRow = container.NewHBox()
	v.care = newCare(v)
	v.prices, v.versions = widget.NewLabel("…"), NewText("…", fyne.TextStyle{})
	v.prices.Wrapping = fyne.TextWrapWord
	v.priceRow = container.NewHBox()
	v.logRow = container.NewVBox()
	folder := NewButton(say("window.settings.folder"), theme.FolderOpenIcon(), func() { v.OnFolder() })
	guide := NewButton(say("window.guide"), theme.QuestionIcon(), func() { v.OnGuide() })
	v.served = newServed(v)
	v.root = container.NewVScroll(container.New(&column{settingsWidth}, container.NewVBox(
		v.section("window.settings.general",
			field(say("window.settings.language"), v.language),
			field(say("window.settings.theme"), v.look),
			field(say("window.settings.profile"), v.profile),
			v.pause, v.login, v.loginWhy,
		),
		v.section("window.settings.notices", v.notices, v.done, v.quiet, v.quietRow),
		v.section("window.settings.keychain", v.keychain, v.keychainDo, v.keychainRow),
		v.served.object(),
		v.care.object(),
		v.section("window.settings.logs", v.file, v.logRow, container.NewHBox(folder)),
		v.section("window.settings.prices", v.prices, v.priceRow),
		v.section("window.settings.about", v.versions, container.NewHBox(guide)),
	)))
	v.usable()
	return v
}

// usable has what is set be there to change once it is known, and as far as it has
// a meaning.
func (v *Settings) usable() {
	for _, d := range []fyne.Disableable{v.language, v.look, v.profile, v.notices, v.from, v.to} {
		usable(d, v.known)
	}
	usable(v.pause, v.known)
	usable(v.login, v.known && v.prefs.CanStart)
	usable(v.done, v.known && !v.prefs.Notices.Off)
	usable(v.quiet, v.known && !v.prefs.Notices.Off)
	v.quietRow.Hidden = !v.known || v.prefs.Notices.Off || v.prefs.Notices.Quiet == ""
	v.served.usable(v.known)
}

// Object is what goes into a window.
func (v *Settings) Object() fyne.CanvasObject { return v.root }

// section is a title with what belongs to it, on a card.
func (v *Settings) section(key string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	return settingsCard(v.env.Texts.Get(key), rows...)
}

// settingsCard is a title with what belongs to it.
func settingsCard(title string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	back := newFill(ColorCard)
	box := container.New(layout.NewCustomPaddedVBoxLayout(6))
	box.Add(Heading(title))
	for _, r := range rows {
		box.Add(r)
	}
	return container.New(layout.NewCustomPaddedLayout(0, 12, 0, 0), container.NewStack(back, container.New(layout.NewCustomPaddedLayout(6, 10, 8, 12), box)))
}

// A fill is a rectangle of a color of the theme, whichever that is.
type fill struct {
	widget.BaseWidget
	name fyne.ThemeColorName
}

func newFill(name fyne.ThemeColorName) *fill {
	f := &fill{name: name}
	f.ExtendBaseWidget(f)
	return f
}

// CreateRenderer draws the rectangle.
func (f *fill) CreateRenderer() fyne.WidgetRenderer {
	r := &fillRenderer{fill: f, rectangle: canvas.NewRectangle(theme.Color(f.name))}
	r.WidgetRenderer = widget.NewSimpleRenderer(r.rectangle)
	r.Refresh()
	return r
}

type fillRenderer struct {
	fyne.WidgetRenderer
	fill      *fill
	rectangle *canvas.Rectangle
}

// Refresh follows the theme.
func (r *fillRenderer) Refresh() {
	r.rectangle.FillColor = theme.Color(r.fill.name)
	r.rectangle.StrokeColor = theme.Color(theme.ColorNameSeparator)
	r.rectangle.StrokeWidth = 1
	r.rectangle.CornerRadius = 8
	r.rectangle.Refresh()
}

// column puts one object below the head, at most as wide as it says.
type column struct{ width float32 }

func (c *column) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

func (c *column) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(fyne.NewSize(min(size.Width, c.width), size.Height))
	objects[0].Move(fyne.NewPos(0, 0))
}

// field is a label with what is set beside it.
func field(label string, o fyne.CanvasObject) fyne.CanvasObject {
	return container.New(&fieldLayout{}, widget.NewLabel(label), o)
}

// fieldLayout has labels of one width, and no wider fields than texts need.
type fieldLayout struct{}

const (
	fieldLabel = 190
	fieldWidth = 320
)

func (*fieldLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(fieldLabel+max(120, objects[1].MinSize().Width), max(objects[0].MinSize().Height, objects[1].MinSize().Height))
}

func (*fieldLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(fyne.NewSize(fieldLabel, size.Height))
	objects[0].Move(fyne.NewPos(0, 0))
	objects[1].Resize(fyne.NewSize(min(fieldWidth, size.Width-fieldLabel), size.Height))
	objects[1].Move(fyne.NewPos(fieldLabel, 0))
}

// plain is a text that wraps.
func plain(text string) *widget.Label {
	l := widget.NewLabel(text)
	l.Wrapping = fyne.TextWrapWord
	return l
}

// choice is a choice that is an edit at once.
func (v *Settings) choice(options []string, edit func(i int) control.PreferencesEdit) *Select {
	s := NewSelect(options, nil)
	s.PlaceHolder = "…"
	s.OnChanged = func(string) {
		if i := s.SelectedIndex(); i >= 0 && !v.setting {
			v.OnEdit(edit(i))
		}
	}
	return s
}

// check is something to tick that is an edit at once.
func (v *Settings) check(label string, edit func(on bool) control.PreferencesEdit) *Check {
	return NewCheck(label, func(on bool) {
		if !v.setting {
			v.OnEdit(edit(on))
		}
	})
}

// makeNotices makes the part about notices.
func (v *Settings) makeNotices() {
	say := v.env.Texts.Get
	edit := func(change func(*control.Notices)) control.PreferencesEdit {
		n := v.prefs.Notices
		change(&n)
		return control.PreferencesEdit{Notices: &n}
	}
	v.notices = v.check(say("window.settings.notices.on"), func(on bool) control.PreferencesEdit {
		return edit(func(n *control.Notices) { n.Off = !on })
	})
	v.done = v.check(say("window.settings.notices.done"), func(on bool) control.PreferencesEdit {
		return edit(func(n *control.Notices) { n.Done = on })
	})
	v.from, v.to = NewEntry(), NewEntry()
	v.from.SetText("22:00")
	v.to.SetText("08:00")
	hours := func(on bool) control.PreferencesEdit {
		return edit(func(n *control.Notices) {
			n.Quiet = ""
			if on {
				n.Quiet = strings.TrimSpace(v.from.Text) + "-" + strings.TrimSpace(v.to.Text)
			}
		})
	}
	v.quiet = v.check(say("window.settings.quiet"), hours)
	set := NewButton(say("window.settings.quiet.set"), nil, func() { v.OnEdit(hours(true)) })
	for _, e := range []*Entry{v.from, v.to} {
		e.OnSubmitted = func(string) { v.OnEdit(hours(true)) }
	}
	v.quietRow = container.NewHBox(widget.NewLabel(say("window.settings.quiet.from")), sized(v.from, 76),
		widget.NewLabel(say("window.settings.quiet.to")), sized(v.to, 76), set)
}

// sized gives an object a width.
func sized(o fyne.CanvasObject, width float32) fyne.CanvasObject {
	return container.NewGridWrap(fyne.NewSize(width, o.MinSize().Height), o)
}

// Prefer shows what is set. Of the names of profiles the first is "local".
func (v *Settings) Prefer(p control.Preferences, profiles []string) {
	v.setting = true
	defer func() { v.setting = false }()
	say := v.env.Texts.Get
	v.prefs, v.names, v.known = p, profiles, true
	pick := func(s *Select, keys []string, key string) {
		for i, k := range keys {
			if k == key {
				s.SetSelectedIndex(i)
			}
		}
	}
	pick(v.language, v.languageKeys, p.Language)
	pick(v.look, []string{"", "light", "dark"}, p.Theme)
	var titles []string
	for _, name := range profiles {
		if name == "local" {
			name = say("window.settings.profile.local")
		}
		titles = append(titles, name)
	}
	v.profile.SetOptions(titles)
	pick(v.profile, profiles, p.DefaultProfile)
	v.login.SetChecked(p.StartAtLogin)
	v.pause.SetChecked(p.Paused)
	v.loginWhy.SetText(say("window.settings.login.none"))
	v.loginWhy.Hidden = p.CanStart
	v.notices.SetChecked(!p.Notices.Off)
	v.done.SetChecked(p.Notices.Done)
	v.quiet.SetChecked(p.Notices.Quiet != "")
	if from, to, ok := strings.Cut(p.Notices.Quiet, "-"); ok {
		v.from.SetText(from)
		v.to.SetText(to)
	}
	v.served.show(p.HTTP)
	v.usable()
	v.file.SetText(say("window.settings.file", "file", p.Settings, "folder", p.LogFolder))
	v.root.Refresh()
}

func usable(d fyne.Disableable, yes bool) {
	if yes {
		d.Enable()
		return
	}
	d.Disable()
}

// Prices tells of the prices in use. profiles are those that can look them up.
func (v *Settings) Prices(text string, profiles []string) {
	v.prices.SetText(text)
	v.priceRow.Objects = nil
	if len(profiles) > 0 { // one account knows them all
		v.priceRow.Add(NewButton(v.env.Texts.Get("window.settings.prices.refresh", "profile", profiles[0]), theme.ViewRefreshIcon(), func() { v.OnPrices(profiles[0]) }))
	}
	v.priceRow.Refresh()
}

// Versions tells of the programs.
func (v *Settings) Versions(text string) { v.versions.SetText(text) }
