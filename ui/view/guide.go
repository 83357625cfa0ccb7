package view

import (
	"reflect"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/assets"
	"github.com/arenero/arenero/ui"
)

// GuideShown is all that the first steps show.
type GuideShown struct {
	Step     ui.GuideStep
	Trial    ui.Trial
	Findings []control.Finding // why the trial failed
	Hosts    []control.Host    // to choose from
	Looked   bool              // for hosts
	Selected string
	ByHand   bool   // an app that is not in the list
	Ready    bool   // the change that is shown may be made
	Busy     bool   // it is being made
	Problem  string // of looking for hosts, or of the change
	Title    string // of the app that was connected
	Done     []control.HostChange
	Arrival  ui.Arrival
	Call     string // what it ran
	Copied   bool   // the first prompt
}

// Guide is the first steps: from nothing to a first call.
type Guide struct {
	OnLanguage func(language string)
	OnTry      func()
	OnSelect   func(host string)
	OnByHand   func(byHand bool)
	OnAgain    func() // look for hosts again
	OnCopy     func() // the first prompt
	OnRules    func() // what to say of sandboxes that cost money
	OnNext     func() // what the main button says
	OnBack     func()
	OnLeave    func()
	// Seen reports whether this is in the window; nil is that it is. What is not
	// can't have the focus.
	Seen func() bool

	env     Env
	shown   GuideShown
	program string // that hosts start
	form    *HostForm
	// reformed says that form is another than is drawn, and begun that anything is.
	reformed, begun bool
	waits           bool // for the focus, until it is seen

	head, body, lines *fyne.Container
	page              *container.Scroll // of lines
	table             *Table
	next, back, leave *Button
	other             *Button // an app that is not in the list
	root              fyne.CanvasObject
}

// NewGuide returns the first steps. Program is what hosts start, "" if it is
// missing.
func NewGuide(env Env, program string) *Guide {
	v := &Guide{env: env, program: program, head: container.NewStack(), body: container.NewStack(), lines: container.NewVBox()}
	v.page = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 8, 0, 10), v.lines))
	tx := env.Texts
	v.leave = NewButton(tx.Get("window.guide.leave"), nil, func() { v.OnLeave() })
	v.leave.Importance = widget.LowImportance
	v.other = NewButton(tx.Get("window.guide.other"), nil, func() { v.OnByHand(true) })
	v.other.Importance = widget.LowImportance
	v.back = NewButton(tx.Get("window.guide.back"), nil, func() { v.OnBack() })
	v.next = NewButton("", nil, func() { v.OnNext() })
	v.next.Importance = widget.HighImportance
	v.table = NewTable(env, []Column{{Title: tx.Get("window.hosts.column.app"), Width: 110, Grow: true}, {Title: tx.Get("window.hosts.column.state"), Width: 120}})
	v.table.OnSelect = func(id string) { v.OnSelect(id) }
	v.table.OnOpen = func(string) {
		if !v.next.Disabled() {
			v.OnNext()
		}
	}
	foot := container.New(layout.NewCustomPaddedLayout(8, 8, 8, 12), border(nil, nil, container.NewHBox(v.leave, v.other), container.NewHBox(v.back, v.next)))
	inset := func(o fyne.CanvasObject) fyne.CanvasObject {
		return container.New(layout.NewCustomPaddedLayout(4, 0, 12, 12), o)
	}
	v.root = border(inset(v.head), container.NewVBox(widget.NewSeparator(), foot), nil, nil, inset(v.body))
	return v
}

// Object is what goes into a window.
func (v *Guide) Object() fyne.CanvasObject { return v.root }

// SetForm has a form be shown for the host that is selected; nil is none.
func (v *Guide) SetForm(f *HostForm) { v.form, v.reformed = f, v.reformed || f != v.form }

// Show draws s in place of what was there.
func (v *Guide) Show(s GuideShown) {
	if v.begun && !v.reformed && reflect.DeepEqual(s, v.shown) {
		return
	}
	stepped := !v.begun || s.Step != v.shown.Step
	was := v.shown
	v.shown, v.begun = s, true
	defer func() { v.reformed = false }()
	if stepped {
		v.drawHead()
		v.page.ScrollToTop()
	}
	v.drawFoot()
	switch s.Step {
	case ui.GuideTry:
		v.body.Objects = []fyne.CanvasObject{v.drawTry(s)}
	case ui.GuideConnect:
		if stepped || v.reformed || !reflect.DeepEqual(was.Hosts, s.Hosts) || was.Looked != s.Looked || was.Problem != s.Problem || was.ByHand != s.ByHand || was.Selected != s.Selected {
			v.body.Objects = []fyne.CanvasObject{v.drawConnect(s)}
		}
	case ui.GuideCall:
		v.body.Objects = []fyne.CanvasObject{v.drawCall(s)}
	}
	v.body.Refresh()
	v.focus(stepped, was)
}

// focus puts the focus where Enter does what most want next.
func (v *Guide) focus(stepped bool, was GuideShown) {
	if v.Seen != nil && !v.Seen() {
		v.waits = v.waits || stepped
		return
	}
	c := v.env.Window.Canvas()
	s := v.shown
	switch {
	case s.Step == ui.GuideConnect && len(s.Hosts) > 0 && !s.ByHand:
		if stepped || !was.Looked || was.ByHand {
			v.table.Focus()
		}
	case stepped, s.Step == ui.GuideCall && (s.Copied != was.Copied || s.Arrival != was.Arrival), c.Focused() == nil:
		c.Focus(v.next)
	}
}

// Focus is called when this comes into the window.
func (v *Guide) Focus() {
	if v.waits {
		v.waits = false
		v.focus(true, v.shown)
	}
}

// drawHead draws which step it is.
func (v *Guide) drawHead() {
	title, place := ui.GuideHead(v.env.Texts, v.shown.Step)
	bars := container.NewGridWithRows(1)
	at := slices.Index(ui.GuideSteps(), v.shown.Step)
	for i := range ui.GuideSteps() {
		name := ColorTrack
		if i <= at {
			name = ColorBrand
		}
		bar := canvas.NewRectangle(theme.Color(name))
		bar.CornerRadius = 2
		bar.SetMinSize(fyne.NewSize(24, 4))
		bars.Add(bar)
	}
	v.head.Objects = []fyne.CanvasObject{container.NewVBox(
		border(nil, nil, nil, colored(place, ColorMuted, fyne.TextStyle{}), Heading(title)), bars)}
	v.head.Refresh()
}

// drawFoot draws the buttons.
func (v *Guide) drawFoot() {
	label, ok := v.main()
	v.next.SetText(label)
	if ok {
		v.next.Enable()
	} else {
		v.next.Disable()
	}
	s := v.shown
	seen(v.back, s.Step != ui.GuideTry)
	seen(v.leave, s.Step != ui.GuideCall || s.Arrival != ui.ArrivalCalled)
	seen(v.other, s.Step == ui.GuideConnect && len(s.Hosts) > 0 && !s.ByHand)
}

// seen shows an object, or hides it.
func seen(o fyne.CanvasObject, is bool) {
	if is {
		o.Show()
	} else {
		o.Hide()
	}
}

// main is the main button: what it says, and whether it may be pressed.
func (v *Guide) main() (label string, ok bool) {
	tx, s := v.env.Texts, v.shown
	switch s.Step {
	case ui.GuideTry:
		if s.Trial.Stage == ui.TrialBad {
			return tx.Get("window.guide.next.anyway"), true
		}
		return tx.Get("window.guide.next"), true
	case ui.GuideConnect:
		h, ok := v.selected()
		switch {
		case s.Busy:
			return tx.Get("window.guide.connecting"), false
		case s.ByHand || s.Looked && len(s.Hosts) == 0:
			return tx.Get("window.guide.next.by-hand"), true
		case !ok:
			return tx.Get("window.guide.next"), false
		case ui.HostConnected(h):
			return tx.Get("window.guide.next"), true
		}
		return ui.GuideConnectLabel(tx, h.Title), s.Ready
	}
	switch {
	case s.Arrival == ui.ArrivalCalled:
		return tx.Get("window.guide.finish"), true
	case !s.Copied:
		return tx.Get("window.guide.copy"), true
	}
	return tx.Get("window.guide.later"), true
}

func (v *Guide) selected() (control.Host, bool) {
	i := slices.IndexFunc(v.shown.Hosts, func(h control.Host) bool { return h.ID == v.shown.Selected })
	if i < 0 {
		return control.Host{}, false
	}
	return v.shown.Hosts[i], true
}

// say is a text of a step.
func (v *Guide) say(key string, args ...string) *widget.Label {
	l := widget.NewLabel(v.env.Texts.Get("window.guide."+key, args...))
	l.Wrapping = fyne.TextWrapWord
	return l
}

// drawTry says what this is, and how a first sandbox goes.
func (v *Guide) drawTry(s GuideShown) fyne.CanvasObject {
	tx := v.env.Texts
	languages := map[string]string{assets.English: "English", assets.Spanish: "Español"}
	choice := NewSelect([]string{languages[assets.English], languages[assets.Spanish]}, nil)
	choice.Selected = languages[tx.Language]
	choice.OnChanged = func(name string) {
		for l, n := range languages {
			if n == name && l != tx.Language {
				v.OnLanguage(l)
			}
		}
	}
	box := container.NewVBox(v.say("what"), container.NewHBox(widget.NewLabel(tx.Get("window.guide.language")), choice))
	text, tone := ui.TrialText(tx, s.Trial)
	icon := map[ui.Tone]fyne.Resource{ui.ToneGood: theme.ConfirmIcon(), ui.ToneBad: theme.ErrorIcon()}[tone]
	if icon == nil {
		icon = theme.MediaPlayIcon()
	}
	trial := container.NewVBox(widget.NewLabelWithStyle(tx.Get("window.guide.trial"), fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
	if text != "" {
		trial.Add(marked(icon, toneColor(tone), text, ""))
	}
	drawFindings(v.env, trial, s.Findings)
	switch s.Trial.Stage {
	case ui.TrialBad:
		trial.Add(Muted(tx.Get("window.guide.trial.else")))
		trial.Add(container.NewHBox(v.button(tx.Get("window.hosts.retry"), theme.ViewRefreshIcon(), func() { v.OnTry() })))
	case ui.TrialGood:
		trial.Add(Muted(tx.Get("window.guide.trial.free")))
	}
	box.Add(card(toneColor(tone), trial))
	return v.scroll(box)
}

// drawConnect lets the user choose an app, and shows what connecting it changes.
func (v *Guide) drawConnect(s GuideShown) fyne.CanvasObject {
	tx := v.env.Texts
	switch {
	case s.Problem != "":
		b := NewBanner()
		b.Error(s.Problem, func() { v.OnAgain() }, tx.Get("window.hosts.retry"))
		if len(s.Hosts) == 0 {
			return container.NewVBox(b.Object())
		}
		return border(b.Object(), nil, nil, nil, v.drawChoice(s))
	case !s.Looked:
		return EmptyState(theme.SearchIcon(), tx.Get("window.hosts.looking"), "")
	case len(s.Hosts) == 0:
		again := v.button(tx.Get("window.hosts.again"), theme.ViewRefreshIcon(), func() { v.OnAgain() })
		return v.scroll(v.say("none"), byHand(v.env, "", v.program), container.NewHBox(again))
	case s.ByHand:
		list := v.button(tx.Get("window.guide.list"), theme.NavigateBackIcon(), func() { v.OnByHand(false) })
		return v.scroll(byHand(v.env, "arenero hosts print other", v.program), container.NewHBox(list))
	}
	return v.drawChoice(s)
}

func (v *Guide) drawChoice(s GuideShown) fyne.CanvasObject {
	tx := v.env.Texts
	var rows []Row
	for _, h := range s.Hosts {
		word, tone := ui.HostWord(tx, h)
		rows = append(rows, Row{ID: h.ID, Cells: []Cell{{Text: ui.Visible(h.Title)}, {Text: word, Color: toneColor(tone)}}})
	}
	v.table.Show(rows)
	v.table.Select(s.Selected)
	detail := fyne.CanvasObject(container.NewStack())
	if h, ok := v.selected(); ok {
		switch {
		case ui.HostConnected(h):
			detail = container.NewVBox(marked(theme.ConfirmIcon(), ColorGood, tx.Get("window.guide.connected", "title", ui.Visible(h.Title)), ""))
		case v.form != nil:
			detail = v.form.Object()
		}
	}
	return border(v.say("choose"), nil, nil, nil, container.New(besides{}, v.table.Object(), detail))
}

// drawCall tells what is left to do in the app, and how far that has come.
func (v *Guide) drawCall(s GuideShown) fyne.CanvasObject {
	tx := v.env.Texts
	title := s.Title
	if title == "" {
		title = tx.Get("window.guide.app")
	}
	box := container.NewVBox()
	text, tone := ui.ArrivalText(tx, s.Arrival, s.Title)
	icon := map[ui.Arrival]fyne.Resource{ui.ArrivalStarted: theme.MediaPlayIcon(), ui.ArrivalCalled: theme.ConfirmIcon()}[s.Arrival]
	if icon == nil {
		icon = theme.HistoryIcon()
	}
	state := container.New(layout.NewCustomPaddedVBoxLayout(-2), marked(icon, toneColor(tone), text, ""))
	if s.Arrival == ui.ArrivalCalled {
		if s.Call != "" {
			state.Add(widget.NewLabelWithStyle(s.Call, fyne.TextAlignLeading, fyne.TextStyle{Monospace: true}))
			state.Objects[len(state.Objects)-1].(*widget.Label).Wrapping = fyne.TextWrapWord
		}
		state.Add(Muted(tx.Get("window.guide.called.more")))
		box.Add(card(ColorGood, state))
	} else if len(s.Done) > 0 {
		box.Add(card(ColorBrand, doneText(v.env, s.Title, s.Done)))
	}
	if s.Arrival == ui.ArrivalCalled {
		return v.scroll(box, v.rules())
	}
	say := widget.NewLabel(tx.Get("window.guide.say", "title", ui.Visible(title)))
	say.Wrapping = fyne.TextWrapWord
	box.Add(say)
	prompt := NewText(tx.Get("window.guide.prompt"), fyne.TextStyle{})
	again := v.button(tx.Get("window.copy"), theme.ContentCopyIcon(), func() { v.OnCopy() })
	box.Add(card(ColorBrand, border(nil, nil, nil, container.NewCenter(again), prompt)))
	box.Add(card(toneColor(tone), state))
	return v.scroll(box, v.rules())
}

// rules are for when sandboxes cost money.
func (v *Guide) rules() fyne.CanvasObject {
	tx := v.env.Texts
	b := v.button(tx.Get("window.guide.rules.copy"), theme.ContentCopyIcon(), func() { v.OnRules() })
	return container.NewVBox(Muted(tx.Get("window.guide.rules")), container.NewHBox(b))
}

// scroll has objects below each other scroll, with room for the bar.
func (v *Guide) scroll(objects ...fyne.CanvasObject) fyne.CanvasObject {
	v.lines.Objects = objects
	v.lines.Refresh()
	return v.page
}

// button is one among those objects.
func (v *Guide) button(label string, icon fyne.Resource, do func()) *Button {
	return NewButton(label, icon, do)
}
