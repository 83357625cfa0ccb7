package window

import (
	"context"
	"errors"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets/icons"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// pageNames are the names of [pages].
var pageNames = []string{"sandboxes", "spend", "hosts", "profiles", "tokens", "activity", "settings", guideName}

// pages are those of the side bar, in its order, and the ones that other pages
// and the help lead to.
func pages(c *core) (side, led []page) {
	side = []page{newSandboxes(c), newSpend(c), newHosts(c), newProfiles(c), newTokens(c), newActivity(c), newSettings(c)}
	return side, []page{newGuide(c)}
}

const (
	veilAfter  = 700 * time.Millisecond // of no engine: most that end have another in their place
	toastFor   = 6 * time.Second
	spendEvery = time.Minute
)

const (
	helpItem  = "help"  // the entry of the side bar that is no page
	guideName = "guide" // the page that is no entry of the side bar
)

// A shell is the window: the frame and its pages, and how the engine is. Its
// fields are for the goroutine of the toolkit alone.
type shell struct {
	cfg    Config
	client *control.Client
	app    fyne.App
	win    fyne.Window
	ctx    context.Context // done when the program ends

	prefs   control.Preferences
	known   bool              // prefs are those of the engine
	setting uint64            // number of the settings that prefs are of
	spoken  string            // language of what is shown
	variant string            // theme of what is shown
	shade   fyne.ThemeVariant // what the system had then

	core   *core
	frame  *view.Frame
	side   []page // of the side bar
	led    []page // that is led to
	opened map[string]fyne.CanvasObject
	at     string // the page that is seen
	leave  context.CancelFunc

	link    ui.Link
	why     error
	ended   bool      // somebody has ended the engine
	failure error     // why an engine did not start
	pressed time.Time // when the user had one started; zero is not
	since   time.Time
	last    sandbox.Snapshot
	settled *sandbox.Micro
	asked   time.Time // what was spent today
	toldAt  time.Time // when the toast came
	restart chan struct{}
	guided  bool // it is looked whether the guide is to be shown
	begun   bool // and was
	// The tray has no place for its icon, and the user has not hidden that yet.
	iconless bool
	ends     chan struct{} // of what goes on beside the toolkit
}

// newShell makes the window, in a language and a theme that may be preliminary.
func newShell(ctx context.Context, cfg Config, app fyne.App, win fyne.Window, client *control.Client) *shell {
	s := &shell{
		cfg: cfg, client: client, app: app, win: win, ctx: ctx, link: ui.Starting, since: cfg.Clock.Now(),
		leave: func() {}, restart: make(chan struct{}, 1), iconless: cfg.Place.NoIcon,
	}
	s.win.SetPadded(false)
	s.win.SetMaster()
	if icon := icons.PNG("running", 64); icon != nil {
		s.win.SetIcon(fyne.NewStaticResource("arenero.png", icon))
	}
	s.core = &core{client: client, env: s.env(), goTo: s.goTo, toast: s.toast, fail: s.fail, changed: s.read}
	s.side, s.led = pages(s.core)
	s.at = s.side[0].name()
	s.keys()
	app.Settings().AddListener(s.shaded)
	return s
}

// shaded takes in that the system may have become light or dark. The toolkit
// colors its own parts anew, and not what was drawn of colors.
func (s *shell) shaded(now fyne.Settings) {
	if s.frame != nil && s.look() == "" && now.ThemeVariant() != s.shade {
		s.build()
	}
}

// language and look are what the command line says, or else the preferences.
func (s *shell) language() string {
	if s.cfg.Language != "" {
		return s.cfg.Language
	}
	return languageOf(s.prefs.Language)
}

func (s *shell) look() string {
	if s.cfg.Theme != "" {
		return s.cfg.Theme
	}
	return s.prefs.Theme
}

// build draws all that is seen anew, in the language and the theme of now. The
// pages stay, with what they know and where they were led to.
func (s *shell) build() {
	s.leave()
	s.leave = func() {}
	s.shade = s.app.Settings().ThemeVariant()
	if l := s.look(); s.variant != l || s.frame == nil {
		s.variant = l
		s.app.Settings().SetTheme(view.NewTheme(l))
	}
	s.core.env = s.env()
	tx := s.core.env.Texts
	s.spoken = tx.Language
	speak(tx)
	s.opened = map[string]fyne.CanvasObject{}
	var items []view.SideItem
	for _, p := range s.side {
		items = append(items, view.SideItem{Name: p.name(), Label: tx.Get("window.page." + p.name()), Icon: p.icon()})
	}
	items = append(items, view.SideItem{Name: helpItem, Label: tx.Get("window.help"), Icon: theme.HelpIcon()})
	var spot view.Spot
	again := s.frame != nil
	if again {
		s.frame.Unveil()
		spot = view.SpotOf(s.win.Canvas(), s.frame.Object())
	}
	s.frame = view.NewFrame(s.core.env, "Arenero", picture(ui.IconRunning), items, 2, func(name string) {
		if name == helpItem {
			s.help()
			return
		}
		s.goTo(name, "")
	})
	s.win.SetContent(s.frame.Object())
	s.open(s.at, "")
	s.status()
	s.say()
	if again && !spot.Return(s.win.Canvas(), s.frame.Object()) {
		frame := s.frame
		onUI(func() { // texts have their height by then
			if frame == s.frame {
				spot.Return(s.win.Canvas(), frame.Object())
			}
		})
	}
}

// say says at the head of the window what the tray has no icon to say it with.
func (s *shell) say() {
	if s.iconless {
		s.frame.Tell(s.core.env.Texts.Get("tray.no-icon"), func() { s.iconless = false })
	}
}

// env is what all views have in common, in the language of now.
func (s *shell) env() view.Env {
	tx := textsOf(s.language())
	return view.Env{
		Texts: tx, Window: s.win, Now: s.cfg.Clock.Now,
		Explain: func(err error) string { return explain(tx, err) },
		Copy: func(text string) {
			s.app.Clipboard().SetContent(text)
			s.toast(tx.Get("window.copied"))
		},
		Browse: s.browse,
	}
}

// page is the one of a name.
func (s *shell) page(name string) page {
	for _, p := range slices.Concat(s.side, s.led) {
		if p.name() == name {
			return p
		}
	}
	return nil
}

// goTo opens a page, at a subject of it or "".
func (s *shell) goTo(name, subject string) {
	if s.page(name) == nil {
		return
	}
	if name == s.at && subject == "" {
		return
	}
	s.open(name, subject)
}

// open shows a page.
func (s *shell) open(name, subject string) {
	p := s.page(name)
	s.leave()
	s.leave = func() {}
	s.at = name
	object := s.opened[name]
	if object == nil {
		object = p.open()
		s.opened[name] = object
		if !s.last.At.IsZero() {
			p.show(s.last)
		}
	}
	s.frame.Show(name, s.core.env.Texts.Get("window.page."+name), object)
	s.enter()
	if led, ok := p.(placed); ok && subject != "" {
		led.place(subject)
	}
}

// enter begins what the page that is seen needs, if there is an engine for it.
func (s *shell) enter() {
	s.leave()
	s.leave = func() {}
	if s.link != ui.Linked {
		return
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.leave = cancel
	s.page(s.at).enter(ctx)
}

// saw takes in a snapshot.
func (s *shell) saw(snap sandbox.Snapshot) {
	again := s.link != ui.Linked
	s.link, s.why, s.ended, s.last = ui.Linked, nil, false, snap
	s.failure, s.pressed = nil, time.Time{}
	if again {
		s.frame.Unveil()
		s.asked = time.Time{}
	}
	if again || snap.Settings != s.setting {
		s.setting = snap.Settings
		s.read()
	}
	for _, p := range slices.Concat(s.side, s.led) {
		if s.opened[p.name()] != nil {
			p.show(snap)
		}
	}
	if again {
		s.enter()
	}
	s.status()
}

// lose takes in that there is no engine.
func (s *shell) lose(err error, ended bool) {
	if s.link == ui.Linked {
		s.leave()
		s.leave = func() {}
		s.since = s.cfg.Clock.Now()
		s.link = ui.Lost
		s.why = nil
		for _, p := range slices.Concat(s.side, s.led) {
			if l, ok := p.(losable); ok && s.opened[p.name()] != nil {
				l.lose()
			}
		}
	}
	s.ended = ended
	// That nothing answers is known. Anything else is worth a word, until an
	// answer comes.
	if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Code != sandbox.Canceled && (e.Code != sandbox.Unreachable || e.Err == nil || s.why == nil) {
		s.why = err
	}
	s.status()
	if s.cfg.Clock.Since(s.since) >= veilAfter {
		s.veil()
	}
}

// unstarted takes in that an engine was started and came to nothing.
func (s *shell) unstarted(err error) {
	if s.link == ui.Linked || sandbox.CodeOf(err) == sandbox.Canceled || errors.Is(err, context.Canceled) {
		return
	}
	s.failure, s.pressed = err, time.Time{}
	s.link = ui.Lost // it is not on its way any more
	s.status()
	s.veil()
}

// veil has the user wait for an engine, and says why there is none.
func (s *shell) veil() {
	tx := s.core.env.Texts
	now := s.cfg.Clock.Now()
	if s.failure == nil && s.pressed.IsZero() && s.link == ui.Starting && now.Sub(s.since) < launchAfter && (s.why == nil || refusedDial(s.why)) {
		return // it is on its way
	}
	begin := view.Action{Label: tx.Get("window.start"), Primary: true, Do: func() {
		s.failure, s.pressed = nil, s.cfg.Clock.Now()
		select {
		case s.restart <- struct{}{}:
		default:
		}
		s.veil()
	}}
	actions := []view.Action{begin}
	why := tx.Get("window.lost.again")
	switch {
	case s.failure != nil:
		why = s.unstartedText()
		actions[0].Label = tx.Get("window.start.again")
		if folder := s.logFolder(); folder != "" && failureOf(s.failure) == startOther {
			actions = append(actions, view.Action{Label: tx.Get("window.start.logs"), Do: func() { s.browse(fileURL(folder)) }})
		}
	case !s.pressed.IsZero() && now.Sub(s.pressed) < launchEvery:
		why, actions = tx.Get("window.starting"), nil
	case s.ended:
		why = tx.Get("window.lost.ended")
	case s.why != nil && !refusedDial(s.why):
		why = s.core.env.Explain(s.why)
	}
	s.frame.Veil(picture(ui.IconLost), tx.Get("window.lost"), why, actions...)
}

// unstartedText says what kept an engine from starting, and what to do.
func (s *shell) unstartedText() string {
	tx := s.core.env.Texts
	program, err := control.Beside("arenero")
	if err != nil {
		return s.core.env.Explain(err)
	}
	switch kind := failureOf(s.failure); kind {
	case startMissing:
		return tx.Get("window.start.missing", "program", program)
	case startForbidden:
		return tx.Get("window.start.forbidden", "program", program)
	case startForeign:
		return tx.Get("window.start.foreign", "program", program)
	}
	return tx.Get("window.start.other", "why", s.core.env.Explain(s.failure), "folder", s.logFolder())
}

// logFolder is where the engine has said that its log is, or where it would be.
func (s *shell) logFolder() string {
	if s.prefs.LogFolder != "" {
		return s.prefs.LogFolder
	}
	folder, err := control.LogFolder()
	if err != nil {
		return ""
	}
	return folder
}

// status shows how things are.
func (s *shell) status() {
	icon, text := ui.Headline(ui.State{Link: s.link, Snapshot: s.last, Settled: s.settled}, s.core.env.Texts, s.cfg.Clock.Now())
	s.frame.Status(picture(icon), text)
}

// picture is one of the pictures that the tray has too.
func picture(icon ui.Icon) fyne.Resource {
	return fyne.NewStaticResource(string(icon)+".png", icons.PNG(string(icon), 64))
}

// tick does what time brings, once a second.
func (s *shell) tick() {
	now := s.cfg.Clock.Now()
	if !s.toldAt.IsZero() && now.Sub(s.toldAt) >= toastFor {
		s.toldAt = time.Time{}
		s.frame.Toast("")
	}
	if s.link != ui.Linked {
		return
	}
	if now.Sub(s.asked) >= spendEvery {
		s.asked = now
		fetch(s.ctx, func(ctx context.Context) ([]sandbox.SpendRow, error) {
			return s.client.Spend(ctx, sandbox.SpendQuery{By: sandbox.SpendByProfile, Since: ui.Today(now)})
		}, func(rows []sandbox.SpendRow, err error) {
			s.settled = nil // not known, which is not nothing
			if err == nil {
				s.settled = new(ui.Settled(rows))
			}
			s.status()
		})
	}
	s.page(s.at).tick(now)
	s.status()
}

func (s *shell) toast(text string) {
	s.toldAt = s.cfg.Clock.Now()
	s.frame.Toast(text)
}

func (s *shell) fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) || sandbox.CodeOf(err) == sandbox.Canceled {
		return
	}
	if sandbox.CodeOf(err) == sandbox.Unreachable && s.link != ui.Linked {
		return // the veil says it
	}
	s.frame.Fail(s.core.env.Explain(err))
}

// read reads the preferences, and goes by them.
func (s *shell) read() {
	fetch(s.ctx, func(ctx context.Context) (control.Preferences, error) { return s.client.Preferences(ctx) }, func(p control.Preferences, err error) {
		if err != nil {
			s.fail(err)
			return
		}
		s.prefer(p)
	})
}

// prefer goes by what the owner has set.
func (s *shell) prefer(p control.Preferences) {
	s.prefs, s.known = p, true
	s.begin()
	if s.language() != s.spoken || s.look() != s.variant {
		s.build()
	} else if p, ok := s.page("settings").(*settings); ok && s.opened["settings"] != nil {
		p.prefer(s.prefs)
	}
}

// begin leads a user who has not seen them to the first steps, once, unless
// there is a host that uses sandboxes already. To look for hosts takes a while: who
// has begun something meanwhile is left at it.
func (s *shell) begin() {
	if s.guided || s.link != ui.Linked {
		return
	}
	s.guided = true
	if s.begun = s.prefs.GuideDone || s.cfg.Place.Page != "" || s.cfg.Place.Subject != ""; s.begun {
		return
	}
	fetch(s.ctx, func(ctx context.Context) ([]control.Host, error) { return s.client.Hosts(ctx, control.HostQuery{}) }, func(hosts []control.Host, err error) {
		s.begun = true
		if s.at != s.side[0].name() || s.win.Canvas().Overlays().Top() != nil {
			return
		}
		if err == nil && !slices.ContainsFunc(hosts, func(h control.Host) bool { return h.Connected }) {
			s.goTo(guideName, "")
		}
	})
}
