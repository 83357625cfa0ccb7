package view

import (
	"reflect"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/ui"
)

// HostsShown is all that the screen of the apps shows.
type HostsShown struct {
	Hosts    []control.Host
	Looked   bool // for hosts; before that there is nothing to say
	All      bool // also those that are not on this computer
	Selected string
	Done     map[string]HostDone // what was done to a host last, until it is dismissed
	Check    *HostChecked        // of the selected host
}

// A HostDone is what was done to a host, and what the user has to do now.
type HostDone struct {
	Changes []control.HostChange
}

// A HostChecked is what a check of a host has found so far.
type HostChecked struct {
	Findings []control.Finding
	Over     bool
	Failed   string // why it broke off
}

// Hosts is the screen of the apps: which there are, and how they stand.
type Hosts struct {
	OnSelect  func(host string)
	OnAll     func(all bool)
	OnAgain   func() // look again
	OnDismiss func(host string)
	// OnAct is called for a button; entry is a key of [ui.HostEntryKey], or "".
	OnAct func(v ui.HostVerb, host, entry string)

	env    Env
	shown  HostsShown
	banner *Banner
	table  *Table
	all    *Check
	detail *container.Scroll
	parts  []*hostPart
	blank  *fyne.Container
	root   fyne.CanvasObject
	list   *fyne.Container
}

// A hostPart is a part of what is seen of a host. It is drawn anew only when
// what it is about has changed, so that the focus stays where it is.
type hostPart struct {
	box  *fyne.Container
	last any
	draw func(h control.Host) []fyne.CanvasObject
	of   func(h control.Host) any
}

// NewHosts returns the screen with nothing on it.
func NewHosts(env Env) *Hosts {
	v := &Hosts{env: env, banner: NewBanner()}
	tx := env.Texts
	v.table = NewTable(env, []Column{{Title: tx.Get("window.hosts.column.app"), Width: 110, Grow: true}, {Title: tx.Get("window.hosts.column.state"), Width: 140}})
	v.table.OnSelect = func(id string) {
		v.shown.Selected = id
		v.OnSelect(id)
	}
	v.all = NewCheck(tx.Get("window.hosts.all"), func(on bool) {
		if on != v.shown.All {
			v.OnAll(on)
		}
	})
	again := NewButton(tx.Get("window.hosts.again"), theme.ViewRefreshIcon(), func() { v.OnAgain() })
	again.Importance = widget.LowImportance
	box := container.NewVBox()
	for _, p := range []*hostPart{
		{draw: v.drawHead, of: func(h control.Host) any { h.Entries = slices.Clone(h.Entries); return h }},
		{draw: v.drawDone, of: func(h control.Host) any { return v.shown.Done[h.ID] }},
		{draw: v.drawEntries, of: func(h control.Host) any { return h }},
		{draw: v.drawActions, of: func(h control.Host) any { return h }},
		{draw: v.drawCheck, of: func(control.Host) any { return v.checked() }},
	} {
		p.box = container.NewVBox()
		v.parts = append(v.parts, p)
		box.Add(p.box)
	}
	v.detail = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 12, 8, 12), box))
	v.blank = container.NewStack()
	v.list = border(nil, border(nil, nil, v.all, again), nil, nil, v.table.Object())
	v.root = border(v.banner.Object(), nil, nil, nil, container.NewStack(container.New(besides{}, v.list, v.detail), v.blank))
	v.Show(HostsShown{})
	return v
}

// Object is what goes into a window.
func (v *Hosts) Object() fyne.CanvasObject { return v.root }

// Banner is the line at the head of the screen.
func (v *Hosts) Banner() *Banner { return v.banner }

// Show draws s in place of what was there.
func (v *Hosts) Show(s HostsShown) {
	changed := s.Selected != v.shown.Selected
	v.shown = s
	v.all.SetChecked(s.All)
	var rows []Row
	for _, h := range s.Hosts {
		word, tone := ui.HostWord(v.env.Texts, h)
		name := Cell{Text: ui.Visible(h.Title)}
		if len(h.Entries) > 0 {
			name.Bold = true
		}
		rows = append(rows, Row{ID: h.ID, Cells: []Cell{name, {Text: word, Color: toneColor(tone)}}})
	}
	v.table.Show(rows)
	v.table.Select(s.Selected)
	v.drawBlank()
	i := slices.IndexFunc(s.Hosts, func(h control.Host) bool { return h.ID == s.Selected })
	if i < 0 {
		v.detail.Hide()
		return
	}
	v.detail.Show()
	for _, p := range v.parts {
		if about := p.of(s.Hosts[i]); !reflect.DeepEqual(about, p.last) {
			p.last = about
			p.box.Objects = p.draw(s.Hosts[i])
			p.box.Refresh()
		}
	}
	if changed {
		v.detail.ScrollToTop()
	}
	v.detail.Refresh()
}

// drawBlank says what is to be said while there is no list.
func (v *Hosts) drawBlank() {
	tx := v.env.Texts
	v.blank.Objects = nil
	switch {
	case !v.shown.Looked:
		v.blank.Objects = []fyne.CanvasObject{EmptyState(theme.SearchIcon(), tx.Get("window.hosts.looking"), "")}
	case len(v.shown.Hosts) == 0:
		v.blank.Objects = []fyne.CanvasObject{EmptyState(theme.ComputerIcon(), tx.Get("window.hosts.none"), tx.Get("window.hosts.none.text"),
			Action{Label: tx.Get("window.hosts.none.all"), Do: func() { v.OnAll(true) }, Primary: true},
			Action{Label: tx.Get("window.hosts.act.print"), Do: func() { v.OnAct(ui.HostPrint, "", "") }})}
	}
	if len(v.blank.Objects) > 0 {
		v.list.Hide()
	} else {
		v.list.Show()
	}
	v.blank.Refresh()
}

// checked is what is known of the check, as a value that stays as it is.
func (v *Hosts) checked() any {
	if v.shown.Check == nil {
		return nil
	}
	c := *v.shown.Check
	c.Findings = slices.Clone(c.Findings)
	return c
}

func (v *Hosts) drawHead(h control.Host) []fyne.CanvasObject {
	word, tone := ui.HostWord(v.env.Texts, h)
	state := colored(word, toneColor(tone), fyne.TextStyle{Bold: true})
	out := []fyne.CanvasObject{border(nil, nil, nil, container.NewCenter(state), Heading(ui.Visible(h.Title)))}
	for _, n := range ui.HostNotes(v.env.Texts, h) {
		out = append(out, v.note(n))
	}
	return out
}

// note is a line about a host.
func (v *Hosts) note(n ui.Note) fyne.CanvasObject {
	icon, tone := theme.InfoIcon(), ui.ToneMuted
	if n.Alert {
		icon, tone = theme.WarningIcon(), ui.ToneWarn
	}
	return marked(icon, toneColor(tone), n.Text, "")
}

// colored is a text of one line in a color of the theme.
func colored(text string, name fyne.ThemeColorName, style fyne.TextStyle) *widget.RichText {
	return widget.NewRichText(&widget.TextSegment{Text: text, Style: widget.RichTextStyle{ColorName: name, TextStyle: style}})
}

// marked is a text with an icon before it, and what more there is to say below.
func marked(icon fyne.Resource, name fyne.ThemeColorName, text, more string) fyne.CanvasObject {
	l := NewText(text, fyne.TextStyle{})
	body := fyne.CanvasObject(l)
	if more != "" {
		body = container.New(layout.NewCustomPaddedVBoxLayout(-6), l, Muted("→ "+more))
	}
	mark := container.New(layout.NewCustomPaddedLayout(8, 0, 4, 0), container.NewVBox(container.NewGridWrap(fyne.NewSquareSize(20), widget.NewIcon(theme.NewColoredResource(icon, name)))))
	return border(nil, nil, mark, nil, body)
}

// drawDone tells what was done last, and what the user has to do now.
func (v *Hosts) drawDone(h control.Host) []fyne.CanvasObject {
	done, ok := v.shown.Done[h.ID]
	if !ok {
		return nil
	}
	dismiss := v.button(Action{Label: v.env.Texts.Get("window.hosts.dismiss"), Do: func() { v.OnDismiss(h.ID) }})
	return []fyne.CanvasObject{card(ColorGood, doneText(v.env, h.Title, done.Changes), container.NewHBox(layout.NewSpacer(), dismiss))}
}

// doneText is what was done, what was noticed, and the steps that are left.
func doneText(env Env, title string, changes []control.HostChange) fyne.CanvasObject {
	box := container.New(layout.NewCustomPaddedVBoxLayout(-2))
	for _, c := range changes {
		box.Add(marked(theme.ConfirmIcon(), ColorGood, ui.HostChangeDoes(env.Texts, title, c, true), ""))
		for _, w := range c.Warnings {
			box.Add(marked(theme.WarningIcon(), ColorWarn, ui.Sentence(ui.Told(env.Texts, w)), ""))
		}
		for _, s := range c.Steps {
			l := marked(theme.NavigateNextIcon(), ColorBrand, ui.Told(env.Texts, s), "")
			box.Add(l)
		}
		if c.Backup != "" {
			box.Add(marked(theme.DocumentSaveIcon(), ColorMuted, ui.Visible(env.Texts.Get("window.hosts.backup", "file", c.Backup)), ""))
		}
	}
	return box
}

func (v *Hosts) drawEntries(h control.Host) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for _, e := range h.Entries {
		out = append(out, v.entry(h, e))
	}
	return out
}

// entry is the card of one entry.
func (v *Hosts) entry(h control.Host, e control.HostEntry) fyne.CanvasObject {
	tx := v.env.Texts
	word, tone := ui.HostEntryWord(tx, e)
	title := ui.ScopeName(tx, e.Scope)
	state := colored(word, toneColor(tone), fyne.TextStyle{})
	name := widget.NewLabelWithStyle(title, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	name.Truncation = fyne.TextTruncateEllipsis
	box := container.NewVBox(border(nil, nil, nil, state, name))
	for _, line := range ui.HostEntryTrouble(tx, h, e) {
		box.Add(marked(theme.WarningIcon(), toneColor(tone), line, ""))
	}
	facts := container.New(factRows{})
	for _, f := range ui.HostEntryFacts(tx, e) {
		label := colored(f.Label, ColorMuted, fyne.TextStyle{})
		value := NewText(f.Text, fyne.TextStyle{Monospace: f.Mono})
		if f.Mono {
			value.Wrapping = fyne.TextWrapBreak
		}
		facts.Add(label)
		facts.Add(value)
	}
	box.Add(facts)
	box.Add(v.buttons(ui.HostEntryActions(tx, h, e), h.ID, ui.HostEntryKey(e), nil))
	return card(toneColor(tone), box)
}

func (v *Hosts) drawActions(h control.Host) []fyne.CanvasObject {
	var said []string // on the cards already
	for _, e := range h.Entries {
		for _, a := range ui.HostEntryActions(v.env.Texts, h, e) {
			said = append(said, a.Why)
		}
	}
	return []fyne.CanvasObject{v.buttons(ui.HostActions(v.env.Texts, h), h.ID, "", said)}
}

// buttons are those of some actions, and why some of them can't be pressed, unless
// that is said already.
func (v *Hosts) buttons(actions []ui.HostAction, host, entry string, whys []string) fyne.CanvasObject {
	row := container.New(flow{})
	// They begin where the texts do, which have room around them.
	box := container.NewVBox(container.New(layout.NewCustomPaddedLayout(0, 0, theme.InnerPadding(), 0), row))
	for _, a := range actions {
		b := v.button(Action{Label: a.Label, Primary: a.Usual, Do: func() { v.OnAct(a.Verb, host, entry) }})
		row.Add(b)
		if a.Why != "" {
			b.Disable()
			if !slices.Contains(whys, a.Why) {
				whys = append(whys, a.Why)
				box.Add(Muted(a.Why))
			}
		}
	}
	return box
}

func (v *Hosts) drawCheck(h control.Host) []fyne.CanvasObject {
	c := v.shown.Check
	if c == nil {
		return nil
	}
	tx := v.env.Texts
	box := container.New(layout.NewCustomPaddedVBoxLayout(-2), widget.NewLabelWithStyle(tx.Get("window.hosts.check"), fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
	drawFindings(v.env, box, c.Findings)
	switch {
	case c.Failed != "":
		box.Add(marked(theme.ErrorIcon(), ColorBad, c.Failed, ""))
	case !c.Over:
		box.Add(Muted(tx.Get("window.hosts.check.runs")))
	case len(c.Findings) == 0:
		box.Add(Muted(tx.Get("window.hosts.check.nothing")))
	}
	return []fyne.CanvasObject{card(ColorMuted, box)}
}

// drawFindings adds what checks found to a box.
func drawFindings(env Env, box *fyne.Container, all []control.Finding) {
	icons := map[ui.Tone]fyne.Resource{
		ui.ToneGood: theme.ConfirmIcon(), ui.ToneWarn: theme.WarningIcon(), ui.ToneBad: theme.ErrorIcon(), ui.ToneMuted: theme.InfoIcon(),
	}
	for _, f := range all {
		tone := ui.FindingTone(f.Level)
		what, remedy := ui.FindingText(env.Texts, f)
		box.Add(marked(icons[tone], toneColor(tone), what, remedy))
		drawFindings(env, box, f.More)
	}
}

func (v *Hosts) button(a Action) *Button { return a.button() }
