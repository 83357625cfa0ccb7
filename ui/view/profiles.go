package view

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A ProfileItem is a profile as the screen shows it.
type ProfileItem struct {
	Name    string
	Kind    string            // [sandbox.ProfileLocal] is this computer
	Values  map[string]string // its fields, and "kind"
	Default bool
	Moved   bool           // its key can be put back
	Reach   *sandbox.Reach // nil: not asked yet
}

// A ProfileKey is a key as it was typed. It is handed on, and kept nowhere.
type ProfileKey struct{ ID, Secret, Token sandbox.Secret }

// ProfilesShown is all that the screen of profiles shows.
type ProfilesShown struct {
	Profiles []ProfileItem
	Read     bool // they were asked for and came
	Keychain ui.Keychain
	Tested   map[string]ProfileTested
	At       time.Time
}

// A ProfileTested is how the test of a profile went.
type ProfileTested struct {
	Busy  bool
	Found ui.ProfileTest
	Wrong string // what kept it from working, and what to do
}

// Profiles is the screen of profiles: which there are, and how they stand.
//
// What takes a done is given "" when it was done, or what to tell of why not.
type Profiles struct {
	OnAdd     func(values map[string]string, key *ProfileKey, byDefault bool, done func(problem string))
	OnEdit    func(name string, values map[string]string, done func(problem string))
	OnKey     func(name string, key ProfileKey, done func(problem string))
	OnDefault func(name string)
	OnTest    func(name string)
	OnLogin   func(name string)
	OnLogout  func(name string)
	OnBack    func(name string)
	OnDrop    func(name string)
	OnImport  func()
	// OnPass opens the vault, or makes one.
	OnPass func(do string, pass sandbox.Secret, done func(problem string))
	// OnAgain looks at the keychain again.
	OnAgain func()

	env      Env
	shown    ProfilesShown
	selected string
	drawn    string // what of the selected one is drawn
	banner   *Banner
	keychain *Banner
	table    *Table
	detail   *container.Scroll
	box      *fyne.Container
	root     fyne.CanvasObject
}

// NewProfiles returns the screen with nothing on it.
func NewProfiles(env Env) *Profiles {
	v := &Profiles{env: env, banner: NewBanner(), keychain: NewBanner(), selected: sandbox.ProfileLocal}
	v.table = NewTable(env, []Column{
		{Title: v.say("window.profiles.col.name"), Width: 160, Grow: true},
		{Title: v.say("window.profiles.col.state"), Width: 160},
		{Title: v.say("window.profiles.col.kind"), Width: 150},
		{Title: v.say("window.profiles.col.region"), Width: 84, From: 620},
		{Title: v.say("window.profiles.col.image"), Width: 100, Grow: true, From: 730},
	})
	v.table.OnSelect = func(id string) {
		v.selected = id
		v.drawDetail(true)
	}
	v.table.OnOpen = func(id string) {
		if p, ok := v.item(id); ok && p.Kind != sandbox.ProfileLocal {
			v.edit(p)
		}
	}
	v.box = container.NewVBox()
	v.detail = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(4, 12, 0, 12), v.box))
	add := NewButton(v.say("window.profiles.add"), theme.ContentAddIcon(), func() { v.Add() })
	add.Importance = widget.HighImportance
	take := NewButton(v.say("window.profiles.import"), theme.DownloadIcon(), func() { v.OnImport() })
	bar := container.New(flow{}, add, take)
	body := container.New(under{func() int { return len(v.shown.Profiles) }, 32}, v.table.Object(), v.detail)
	v.root = border(container.NewVBox(v.banner.Object(), v.keychain.Object(), bar), nil, nil, nil, body)
	return v
}

func (v *Profiles) say(key string, args ...string) string {
	return v.env.Texts.Get(key, args...)
}

// Object is what goes into a window.
func (v *Profiles) Object() fyne.CanvasObject { return v.root }

// Banner is the line at the head of the screen.
func (v *Profiles) Banner() *Banner { return v.banner }

// Selected is the profile that is selected.
func (v *Profiles) Selected() string { return v.selected }

// Select shows a profile.
func (v *Profiles) Select(name string) {
	v.selected = name
	v.table.Select(name)
	v.drawDetail(true)
}

// Show draws s in place of what was there.
func (v *Profiles) Show(s ProfilesShown) {
	grown := len(s.Profiles) != len(v.shown.Profiles)
	v.shown = s
	if _, ok := v.item(v.selected); !ok {
		v.selected = sandbox.ProfileLocal
	}
	var rows []Row
	for _, p := range s.Profiles {
		name, state := ui.Visible(p.Name), Cell{}
		if p.Default {
			name = v.say("window.profiles.default", "profile", name)
		}
		text, tone := v.state(p)
		state = Cell{Text: text, Color: toneColor(tone)}
		rows = append(rows, Row{ID: p.Name, Cells: []Cell{
			{Text: name, Bold: p.Default},
			state,
			{Text: ui.KindTitle(v.env.Texts, p.Kind)},
			{Text: ui.Visible(p.Values[ui.FieldRegion])},
			{Text: ui.Visible(p.Values[ui.FieldTemplate])},
		}})
	}
	v.table.Show(rows)
	v.table.Select(v.selected)
	if v.drawKeychain() || grown {
		v.root.Refresh()
		v.root.Refresh() // once more, for what has got its width by that
	}
	v.drawDetail(false)
}

func (v *Profiles) state(p ProfileItem) (string, ui.Tone) {
	if p.Kind == sandbox.ProfileLocal && p.Reach == nil {
		return v.say("window.profiles.reach.local"), ui.ToneGood
	}
	return ui.ProfileReach(v.env.Texts, p.Reach)
}

func (v *Profiles) item(name string) (ProfileItem, bool) {
	i := slices.IndexFunc(v.shown.Profiles, func(p ProfileItem) bool { return p.Name == name })
	if i < 0 {
		return ProfileItem{}, false
	}
	return v.shown.Profiles[i], true
}

// names are those of all profiles, but for one.
func (v *Profiles) names(but string) []string {
	var out []string
	for _, p := range v.shown.Profiles {
		if p.Name != but && p.Kind != sandbox.ProfileLocal {
			out = append(out, p.Name)
		}
	}
	return out
}

// drawKeychain says what is wrong with the keychain. It reports whether that was
// not what was said before.
func (v *Profiles) drawKeychain() (changed bool) {
	text, do := v.shown.Keychain.Told(v.env.Texts)
	if v.shown.Keychain.Backend != "vault" && len(v.shown.Profiles) < 2 {
		text = "" // nothing here needs one yet
	}
	key := "window.profiles.keychain.do." + do
	again := func() { v.Pass(do) }
	if do == "" {
		key, again = "window.profiles.keychain.again", func() { v.OnAgain() }
	}
	if text == v.keychain.Text() {
		return false
	}
	v.keychain.Clear()
	if text != "" {
		v.keychain.Error(text, again, v.say(key))
	}
	return true
}

// drawDetail draws the selected profile, if anything about it has changed.
func (v *Profiles) drawDetail(top bool) {
	p, ok := v.item(v.selected)
	if !ok {
		v.box.Objects, v.drawn = nil, ""
		v.box.Refresh()
		return
	}
	tested := v.shown.Tested[p.Name]
	now := v.shown.At
	head := []fyne.CanvasObject{Heading(ui.Visible(p.Name))}
	var pairs [][2]string
	for _, f := range v.facts(p, now) {
		pairs = append(pairs, [2]string{f.Name, f.Value})
	}
	text, tone := v.state(p)
	about := p.Name + "\x00" + text + string(tone) + v.selected
	for _, f := range pairs {
		about += "\x00" + f[0] + "\x00" + f[1]
	}
	if p.Default {
		about += "\x00default"
	}
	if p.Moved {
		about += "\x00moved"
	}
	if tested.Busy {
		about += "\x00busy"
	}
	about += "\x00" + tested.Wrong
	found := tested.Found.Pairs(v.env.Texts, now)
	if tested.Found.Profile != "" {
		for _, f := range found {
			about += "\x00" + f.Value
		}
	}
	if about == v.drawn {
		return
	}
	v.drawn = about
	out := head
	out = append(out, Muted(ui.KindHint(v.env.Texts, p.Kind)))
	if p.Kind == sandbox.ProfileLocal && len(v.shown.Profiles) == 1 && v.shown.Read {
		out = append(out, Muted(v.say("window.profiles.empty.text")))
	}
	switch {
	case tested.Busy:
		out = append(out, marked(theme.SearchIcon(), ColorMuted, v.say("window.profiles.test.busy"), ""))
	case tested.Wrong != "":
		out = append(out, marked(theme.ErrorIcon(), ColorBad, tested.Wrong, ""))
	case tested.Found.Profile != "":
		out = append(out, marked(theme.ConfirmIcon(), ColorGood, v.say("window.profiles.test.good"), ""))
		for _, f := range found {
			pairs = append(pairs, [2]string{f.Name, f.Value})
		}
	case p.Reach != nil && p.Reach.Error != nil:
		wrong := ui.ProfileTrouble(v.env.Texts, p.Name, p.Reach.Error)
		if wrong == "" {
			wrong = v.env.Explain(p.Reach.Error)
		}
		out = append(out, marked(theme.WarningIcon(), toneColor(tone), wrong, ""))
	}
	out = append(out, container.New(flow{}, v.actions(p, tested)...))
	if p.Kind != sandbox.ProfileLocal {
		out = append(out, facts(pairs))
	}
	v.box.Objects = out
	relaid(v.box, v.detail)
	if top {
		v.detail.ScrollToTop()
	}
}

func (v *Profiles) facts(p ProfileItem, now time.Time) []ui.Pair {
	orElse := func(value, none string) string {
		if value == "" {
			return v.say(none)
		}
		return ui.Visible(value)
	}
	out := []ui.Pair{{Name: v.say("window.profiles.fact.kind"), Value: ui.KindTitle(v.env.Texts, p.Kind)}}
	if who := ui.ProfileWhose(p.Values); who != "" {
		out = append(out, ui.Pair{Name: v.say("window.profiles.fact.who"), Value: ui.Visible(who)})
	}
	out = append(out,
		ui.Pair{Name: v.say("window.profiles.fact.region"), Value: orElse(p.Values[ui.FieldRegion], "window.profiles.fact.region.none")},
		ui.Pair{Name: v.say("window.profiles.fact.template"), Value: orElse(p.Values[ui.FieldTemplate], "window.profiles.fact.template.none")},
	)
	if at := p.Values[ui.FieldEndpoint]; at != "" {
		out = append(out, ui.Pair{Name: v.say("window.profiles.fact.endpoint"), Value: ui.Visible(at)})
	}
	if p.Reach != nil {
		text, _ := v.state(p)
		span, _ := ui.Age(v.env.Texts, p.Reach.At, now)
		out = append(out, ui.Pair{Name: v.say("window.profiles.fact.state"), Value: text + " · " + v.say("window.profiles.fact.asked", "span", span)})
	}
	return out
}

func (v *Profiles) actions(p ProfileItem, tested ProfileTested) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	add := func(key string, do func(), primary bool) {
		b := NewButton(v.say(key), nil, do)
		if primary {
			b.Importance = widget.HighImportance
		}
		if key == "window.profiles.test" && tested.Busy {
			b.Disable()
		}
		out = append(out, b)
	}
	local := p.Kind == sandbox.ProfileLocal
	signIn := p.Reach != nil && p.Reach.Error != nil && p.Reach.Error.Code == sandbox.SignIn
	wantsKey := p.Reach != nil && ui.WantsKey(p.Reach.Error)
	if !local {
		if ui.SignsIn(p.Kind) {
			add("window.profiles.sign-in", func() { v.OnLogin(p.Name) }, signIn && !wantsKey)
		}
		add("window.profiles.test", func() { v.OnTest(p.Name) }, !signIn)
		add("window.profiles.edit", func() { v.edit(p) }, false)
	}
	if p.Kind == ui.KindKeys {
		add("window.profiles.key", func() { v.Key(p.Name) }, wantsKey)
	}
	if !p.Default {
		add("window.profiles.make-default", func() { v.OnDefault(p.Name) }, false)
	}
	if local {
		return out
	}
	if ui.SignsIn(p.Kind) {
		add("window.profiles.sign-out", func() {
			Confirm(v.env, v.say("window.profiles.sign-out"), v.say("window.profiles.sign-out.text", "profile", p.Name), v.say("window.profiles.sign-out"), false, func() { v.OnLogout(p.Name) })
		}, false)
	}
	if p.Moved {
		add("window.profiles.back", func() {
			Confirm(v.env, v.say("window.profiles.back"), v.say("window.profiles.back.text", "profile", p.Name), v.say("window.profiles.back"), false, func() { v.OnBack(p.Name) })
		}, false)
	}
	add("window.profiles.drop", func() { v.OnDrop(p.Name) }, false)
	return out
}
