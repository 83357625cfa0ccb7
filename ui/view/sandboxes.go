package view

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// The parts of what is shown of one sandbox.
const (
	SandboxOverview = "overview"
	SandboxCalls    = "calls"
	SandboxFiles    = "files"
	SandboxPorts    = "ports"
	SandboxEvents   = "events"
)

// Sandboxes is the screen of them: a list, and below it what is known of the one
// that is selected.
type Sandboxes struct {
	OnFilter func(text string)
	OnSort   func(by ui.SandboxColumn, descending bool)
	// OnSelect is called with the row that the user selects.
	OnSelect func(row string)
	// OnPart is called when another part of the detail is seen.
	OnPart func(part string)
	// OnDo is called with what is to be done to the sandbox with an id.
	OnDo func(verb ui.Verb, id string)
	// OnAll is called with [ui.SuspendAll] or [ui.KillAll].
	OnAll func(verb ui.Verb)
	OnNew func()
	// OnConnect leads to the apps.
	OnConnect func()

	Calls  *CallsView
	Files  *FilesView
	Ports  *PortsView
	Events *SandboxEventsView

	env    Env
	shown  ui.Sandboxes
	seen   ui.SandboxRow // of the selected one; with no ID there is none
	rows   []ui.SandboxRow
	table  *Table
	filter *Entry
	banner *localBanner
	last   *widget.Label // when the engine was seen last

	suspendAll, killAll, fresh *Button

	root, list    *fyne.Container
	none, loading fyne.CanvasObject // there is no sandbox; it is not known yet
	unmatched     *fyne.Container   // nothing matches the filter
	split         *container.Split

	detail   *fyne.Container
	nothing  fyne.CanvasObject
	actions  map[ui.Verb]*Button
	row      *fyne.Container
	why      *widget.Label
	tabs     map[string]*Button
	parts    map[string]fyne.CanvasObject
	part     string
	body     *fyne.Container
	overview *factsView
}

// NewSandboxes returns the screen, with nothing known yet.
func NewSandboxes(env Env) *Sandboxes {
	v := &Sandboxes{env: env, banner: newLocalBanner(), part: SandboxOverview}
	v.Calls, v.Files, v.Ports, v.Events = newCallsView(env), newFilesView(env), newPortsView(env), newSandboxEventsView(env)
	v.makeList()
	v.makeDetail()
	v.none = EmptyState(theme.ComputerIcon(), v.say("empty"), v.say("empty.text"),
		Action{Label: v.say("empty.connect"), Do: func() { call0(v.OnConnect) }, Primary: true}, Action{Label: v.say("new"), Do: func() { call0(v.OnNew) }})
	v.loading = EmptyState(nil, v.say("loading"), "")
	v.split = container.NewVSplit(v.list, v.detail)
	v.root = border(v.banner.Object(), nil, nil, nil, container.NewStack(v.loading, v.none, container.New(&firstSplit{split: v.split}, v.split)))
	v.banner.around = v.root
	v.none.Hide()
	v.split.Hide()
	return v
}

func (v *Sandboxes) say(key string, args ...string) string {
	return v.env.Texts.Get("sandboxes."+key, args...)
}

func call0(f func()) {
	if f != nil {
		f()
	}
}

// Object is what goes into a window.
func (v *Sandboxes) Object() fyne.CanvasObject { return v.root }

// Banner is the line for what went wrong.
func (v *Sandboxes) Banner() LocalBanner { return v.banner }

func (v *Sandboxes) makeList() {
	titles := ui.SandboxTitles(v.env.Texts)
	columns := []Column{
		ui.SandboxState:    {Width: 114, Sort: true},
		ui.SandboxName:     {Width: 108, Grow: true, Sort: true},
		ui.SandboxHost:     {Width: 84, Grow: true, Sort: true, From: 726},
		ui.SandboxProfile:  {Width: 95, Grow: true, Sort: true, From: 820},
		ui.SandboxTemplate: {Width: 84, Grow: true, Sort: true, From: 916},
		ui.SandboxAge:      {Width: 72, Right: true, Sort: true, From: 632},
		ui.SandboxSleep:    {Width: 88, Sort: true},
		ui.SandboxLife:     {Width: 82, Sort: true},
		ui.SandboxSpend:    {Width: 88, Right: true, Sort: true},
	}
	for i := range columns {
		columns[i].Title = titles[i]
	}
	v.table = NewTable(v.env, columns)
	v.table.OnSelect = func(id string) {
		v.choose(id)
		if v.OnSelect != nil {
			v.OnSelect(id)
		}
	}
	v.table.OnOpen = func(string) { v.Part(SandboxCalls); v.told() }
	v.table.OnSort = func(column int, descending bool) {
		if v.OnSort != nil {
			v.OnSort(ui.SandboxColumn(column), descending)
		}
	}
	v.table.OnMenu = v.menu
	v.filter = NewEntry()
	v.filter.SetPlaceHolder(v.say("filter"))
	v.filter.OnChanged = func(text string) {
		if v.OnFilter != nil {
			v.OnFilter(text)
		}
	}
	v.filter.OnEscape = func() { v.filter.SetText("") }
	v.suspendAll = NewButton(v.env.Texts.Get("tray.suspend-all"), theme.MediaPauseIcon(), func() { v.all(ui.SuspendAll) })
	v.killAll = NewButton(v.env.Texts.Get("tray.kill-all"), theme.DeleteIcon(), func() { v.all(ui.KillAll) })
	v.fresh = NewButton(v.say("new"), theme.ContentAddIcon(), func() { call0(v.OnNew) })
	v.fresh.Importance = widget.HighImportance
	v.unmatched = container.NewStack(EmptyState(theme.SearchIcon(), v.say("unmatched"), "", Action{Label: v.say("unmatched.clear"), Do: func() { v.filter.SetText("") }}))
	v.unmatched.Hide()
	v.last = Muted("")
	v.last.Hide()
	buttons := container.NewHBox(v.suspendAll, v.killAll, v.fresh)
	v.list = border(container.NewVBox(container.New(filterRow{}, v.filter, buttons), v.last), nil, nil, nil, container.NewStack(v.table.Object(), v.unmatched))
}

func (v *Sandboxes) all(verb ui.Verb) {
	if v.OnAll != nil {
		v.OnAll(verb)
	}
}

func (v *Sandboxes) makeDetail() {
	v.why = Muted("")
	v.why.SizeName = theme.SizeNameCaptionText
	v.why.Hide()
	v.actions = map[ui.Verb]*Button{}
	v.row = container.New(flow{})
	icons := map[ui.Verb]fyne.Resource{
		ui.Suspend: theme.MediaPauseIcon(), ui.Resume: theme.MediaPlayIcon(), ui.Terminal: theme.ComputerIcon(), ui.Extend: theme.HistoryIcon(),
		ui.EndAt: theme.CalendarIcon(),
		ui.Copy:  theme.ContentCopyIcon(), ui.Kill: theme.NewColoredResource(theme.DeleteIcon(), ColorBad),
	}
	for _, verb := range []ui.Verb{ui.Suspend, ui.Resume, ui.Terminal, ui.Extend, ui.EndAt, ui.Copy, ui.Kill} {
		b := NewButton("", icons[verb], func() { v.do(verb) })
		v.actions[verb] = b
		v.row.Add(b)
	}
	v.tabs, v.parts, v.body = map[string]*Button{}, map[string]fyne.CanvasObject{}, container.NewStack()
	v.overview = newFactsView(v.env)
	tabs := container.New(flow{})
	add := func(name, label string, o fyne.CanvasObject) {
		b := NewButton(label, nil, func() {
			v.Part(name)
			v.makeRoom()
			v.told()
		})
		b.Importance = widget.LowImportance
		v.tabs[name], v.parts[name] = b, o
		o.Hide()
		tabs.Add(b)
		v.body.Add(o)
	}
	add(SandboxOverview, v.say("part.overview"), v.overview.object)
	add(SandboxCalls, v.say("part.calls"), v.Calls.object)
	add(SandboxFiles, v.say("part.files"), v.Files.object)
	add(SandboxPorts, v.say("part.ports"), v.Ports.object)
	add(SandboxEvents, v.say("part.events"), v.Events.object)
	v.nothing = EmptyState(nil, v.say("select"), "")
	v.detail = container.NewStack(v.nothing, border(container.NewVBox(v.row, v.why, tabs), nil, nil, nil, v.body))
	v.detail.Objects[1].Hide()
	v.Part(SandboxOverview)
}

func (v *Sandboxes) told() {
	if v.OnPart != nil {
		v.OnPart(v.part)
	}
}

// Part shows a part of the detail.
func (v *Sandboxes) Part(name string) {
	if v.parts[name] == nil {
		return
	}
	v.part = name
	for n, o := range v.parts {
		b, want := v.tabs[n], widget.LowImportance
		if n == name {
			want = widget.HighImportance
			o.Show()
		} else {
			o.Hide()
		}
		if b.Importance != want {
			b.Importance = want
			b.Refresh()
		}
	}
}

// makeRoom gives what the user wants to see of a sandbox the room of the list,
// where there is little.
func (v *Sandboxes) makeRoom() {
	if v.split.Size().Height < splitLow {
		v.split.SetOffset(map[bool]float64{true: splitList, false: splitDetail}[v.part == SandboxOverview])
	}
}

// ShownPart is the part of the detail that is seen.
func (v *Sandboxes) ShownPart() string { return v.part }

func (v *Sandboxes) do(verb ui.Verb) {
	if v.OnDo != nil && v.seen.ID != "" {
		v.OnDo(verb, v.seen.Sandbox.ID)
	}
}

// menu is what can be done to a row.
func (v *Sandboxes) menu(id string) *fyne.Menu {
	for _, r := range v.rows {
		if r.ID != id {
			continue
		}
		menu := fyne.NewMenu("")
		for _, a := range v.shown.Actions(v.env.Texts, r.Sandbox) {
			item := fyne.NewMenuItem(a.Label, func() {
				if v.OnDo != nil {
					v.OnDo(a.Verb, r.Sandbox.ID)
				}
			})
			item.Disabled = !a.Can
			menu.Items = append(menu.Items, item)
		}
		return menu
	}
	return nil
}

// Show draws what there is. It is for each change, and once a second while the
// screen is seen: what looks as before is left alone.
func (v *Sandboxes) Show(s ui.Sandboxes, now time.Time) {
	v.shown = s
	v.rows = s.Rows(v.env.Texts, now)
	empty := len(s.Snapshot.Sandboxes) == 0
	known := !s.Snapshot.At.IsZero()
	visible(v.loading, !known)
	visible(v.none, known && empty)
	visible(v.split, known && !empty)
	if v.filter.Text != s.Filter {
		v.filter.SetText(s.Filter)
	}
	if s.Lost {
		set(v.last, s.Summary(v.env.Texts, now))
	}
	if visible(v.last, s.Lost) {
		v.list.Refresh()
	}
	v.table.Sorted(int(s.By), s.Descending)
	out := make([]Row, len(v.rows))
	for i, r := range v.rows {
		out[i] = Row{ID: r.ID, Cells: sandboxCells(r.Cells)}
	}
	v.table.Show(out)
	visible(v.unmatched, known && !empty && len(v.rows) == 0)
	enabled(v.suspendAll, len(s.ToSuspend()) > 0)
	enabled(v.killAll, len(s.ToKill()) > 0)
	enabled(v.fresh, !s.Lost && known)
	v.choose(v.table.Selected())
}

// Select selects a row, as if by the user, but calls nothing.
func (v *Sandboxes) Select(row string) {
	v.table.Select(row)
	v.choose(row)
}

// Selected is the sandbox that is selected. Without one its row is "".
func (v *Sandboxes) Selected() (row string, b sandbox.Sandbox) { return v.seen.ID, v.seen.Sandbox }

// choose shows what is known of a row.
func (v *Sandboxes) choose(id string) {
	v.seen = ui.SandboxRow{}
	for _, b := range v.shown.Snapshot.Sandboxes {
		if ui.SandboxKey(b) == id && id != "" {
			v.seen = ui.SandboxRow{ID: id, Sandbox: b}
		}
	}
	visible(v.nothing, v.seen.ID == "")
	visible(v.detail.Objects[1], v.seen.ID != "")
	if v.seen.ID == "" {
		return
	}
	all := v.shown.Actions(v.env.Texts, v.seen.Sandbox)
	there := map[ui.Verb]bool{}
	moved := false
	for _, a := range all {
		b := v.actions[a.Verb]
		there[a.Verb] = true
		if b.Text != a.Label {
			b.Text, moved = a.Label, true
			b.Refresh()
		}
		enabled(b, a.Can)
	}
	for verb, b := range v.actions {
		moved = visible(b, there[verb]) || moved
	}
	if why := ui.WhyNot(v.env.Texts, all); why != v.why.Text {
		v.why.SetText(why)
		visible(v.why, why != "")
		moved = true
	}
	if moved {
		v.row.Refresh()
		v.detail.Refresh()
	}
	if v.part == SandboxOverview {
		v.overview.show(v.seen.ID, v.shown.Facts(v.env.Texts, v.seen.Sandbox, v.env.Now()))
	}
}

// Focus has the keys go to the list.
func (v *Sandboxes) Focus() { v.table.Focus() }

// Confirm asks before sandboxes end.
func (v *Sandboxes) Confirm(n int, name string, do func()) {
	title, text, verb := ui.KillText(v.env.Texts, n, name)
	Confirm(v.env, title, text, verb, true, do)
}
