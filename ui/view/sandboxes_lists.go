package view

import (
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A PortsView lists what listens in a sandbox.
type PortsView struct {
	OnAgain func()

	env    Env
	object *fyne.Container
	banner *localBanner
	table  *Table
	ports  map[string]string // addresses, by row
	told   string
	state  *fyne.Container
	whole  *fyne.Container
	copy   *Button
}

func newPortsView(env Env) *PortsView {
	v := &PortsView{env: env, banner: newLocalBanner(), state: container.NewStack()}
	v.table = NewTable(env, []Column{{Title: v.say("number"), Width: 64, Right: true}, {Title: v.say("address"), Width: 140, Grow: true}})
	v.table.OnSelect = func(string) { enabled(v.copy, true) }
	v.table.OnOpen = func(string) { v.copyChosen() }
	v.copy = NewButton(v.say("copy"), theme.ContentCopyIcon(), v.copyChosen)
	again := NewButton(v.say("again"), theme.ViewRefreshIcon(), func() { call0(v.OnAgain) })
	v.whole = border(nil, nil, nil, nil, v.table.Object())
	tools := container.New(flow{}, v.copy, again)
	v.object = border(container.NewVBox(v.banner.Object(), tools), nil, nil, nil, container.NewStack(v.state, v.whole))
	v.banner.around = v.object
	v.Tell(v.say("loading"))
	return v
}

func (v *PortsView) say(key string) string { return v.env.Texts.Get("sandboxes.ports." + key) }

// Banner is the line for what went wrong.
func (v *PortsView) Banner() LocalBanner { return v.banner }

func (v *PortsView) copyChosen() {
	if address := v.ports[v.table.Selected()]; address != "" {
		v.env.Copy(address)
	}
}

// Tell says something in place of the ports.
func (v *PortsView) Tell(text string) {
	visible(v.whole, false)
	visible(v.state, true)
	enabled(v.copy, false)
	if v.told != text {
		v.told = text
		v.state.Objects = []fyne.CanvasObject{EmptyState(nil, text, "")}
		v.state.Refresh()
	}
}

// Show draws ports.
func (v *PortsView) Show(all []control.Port) {
	if len(all) == 0 {
		v.Tell(v.say("none"))
		return
	}
	visible(v.state, false)
	visible(v.whole, true)
	v.ports = map[string]string{}
	var rows []Row
	for _, p := range all {
		id := strconv.Itoa(p.Number) + " " + p.Address
		v.ports[id] = p.Address
		rows = append(rows, Row{ID: id, Cells: []Cell{{Text: strconv.Itoa(p.Number)}, {Text: ui.Visible(p.Address), Mono: true}}})
	}
	v.table.Show(rows)
	enabled(v.copy, v.ports[v.table.Selected()] != "")
}

// A SandboxEventsView lists what happened to a sandbox.
type SandboxEventsView struct {
	env    Env
	object *fyne.Container
	banner *localBanner
	table  *Table
	none   *fyne.Container
	text   *Text // all of the one that is selected
	all    []ui.Entry
}

func newSandboxEventsView(env Env) *SandboxEventsView {
	v := &SandboxEventsView{env: env, banner: newLocalBanner(), text: NewText("", fyne.TextStyle{})}
	say := func(key string) string { return env.Texts.Get("sandboxes.events." + key) }
	v.table = NewTable(env, []Column{{Title: say("at"), Width: 136}, {Title: say("what"), Width: 160, Grow: true}})
	v.table.OnSelect = func(string) { v.tell() }
	v.text.Hide()
	v.none = container.NewStack(EmptyState(nil, say("none"), ""))
	v.object = border(v.banner.Object(), v.text, nil, nil, container.NewStack(v.table.Object(), v.none))
	v.banner.around = v.object
	return v
}

// Banner is the line for what went wrong.
func (v *SandboxEventsView) Banner() LocalBanner { return v.banner }

// Show draws events, in their order.
func (v *SandboxEventsView) Show(all []ui.Entry, now time.Time) {
	v.all = all
	visible(v.none, len(all) == 0)
	rows := make([]Row, len(all))
	for i, e := range all {
		icon, ink := severityLook(e.Severity)
		rows[i] = Row{ID: e.ID, Cells: []Cell{{Text: ui.Stamp(e.At, now), Color: ColorMuted}, {Text: e.Text, Icon: icon, Color: ink}}}
	}
	v.table.Show(rows)
	v.tell()
}

// tell shows all of the text that the list may have cut.
func (v *SandboxEventsView) tell() {
	text := ""
	for _, e := range v.all {
		if e.ID == v.table.Selected() {
			text = e.Text
		}
	}
	set(&v.text.Label, text)
	if visible(v.text, text != "") {
		v.object.Refresh()
	}
}

func severityLook(s sandbox.Severity) (fyne.Resource, fyne.ThemeColorName) {
	switch s {
	case sandbox.SeverityError:
		return theme.ErrorIcon(), ColorBad
	case sandbox.SeverityWarn:
		return theme.WarningIcon(), ColorWarn
	}
	return theme.InfoIcon(), theme.ColorNameForeground
}
