package view

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// A HostForm is what is to be done to a host: choices, and exactly what they
// come to in its files. It asks for that anew whenever a choice changes.
type HostForm struct {
	// OnPlan is called when an order is to be planned; [HostForm.ShowPlan] and
	// [HostForm.ShowFailure] answer.
	OnPlan func(o control.HostOrder)
	// OnReady is called when what is shown may be done, or may not any more.
	OnReady func(ready bool)

	env      Env
	host     control.Host
	order    control.HostOrder // without what the choices say
	entry    *control.HostEntry
	scope    *Select
	scopes   []string
	where    *Entry // folder, or the app's own profile
	whereIs  *widget.Label
	choose   *Button // a folder
	whereBox *fyne.Container
	place    *Select
	places   []string
	tools    []*Check
	kind     *Select // a program or an address
	address  *Entry
	hint     *widget.Label
	urls     []fyne.CanvasObject // that only an address has to do with
	rows     []fyne.CanvasObject // that an address has nothing to do with
	force    *Check

	doing *fyne.Container
	diff  *diffView
	title *widget.Label
	root  *fyne.Container

	asked control.HostOrder // whose plan is awaited or shown
	plan  *control.HostResult
}

// NewHostForm returns the form of an order for a host. Entry is the one that
// exists, or nil. Places are names of profiles that sandboxes may run at; without
// them there is nothing to choose, nor is there for an order that takes something
// away.
func NewHostForm(env Env, h control.Host, entry *control.HostEntry, action string, places []string) *HostForm {
	f := &HostForm{env: env, host: h, entry: entry, OnPlan: func(control.HostOrder) {}, OnReady: func(bool) {}}
	f.order = control.HostOrder{Action: action, Host: h.ID}
	if entry != nil {
		f.order.Scope, f.order.Project, f.order.Name = entry.Scope, entry.Project, entry.Name
		f.order.Force = entry.State == control.EntryForeign
	}
	f.doing = container.New(layout.NewCustomPaddedVBoxLayout(-2))
	f.diff = newDiffView()
	f.title = Muted(env.Texts.Get("window.hosts.form.diff"))
	f.force = NewCheck(env.Texts.Get("window.hosts.form.force"), func(bool) { f.changed() })
	f.force.Hide()
	head := container.NewVBox()
	if action == control.HostConnect && places != nil {
		head.Add(f.choices(places))
	}
	head.Add(f.doing)
	head.Add(f.force)
	head.Add(f.title)
	scroll := container.NewVScroll(head)
	f.root = container.New(headAndRest{head}, scroll, f.diff)
	return f
}

// Object is what goes into a window.
func (f *HostForm) Object() fyne.CanvasObject { return f.root }

// choices are what can be chosen for a connection.
func (f *HostForm) choices(places []string) fyne.CanvasObject {
	tx := f.env.Texts
	rows := container.New(layout.NewFormLayout())
	row := func(key string, o fyne.CanvasObject) {
		rows.Add(widget.NewLabel(tx.Get("window.hosts.form." + key)))
		rows.Add(o)
	}
	if f.entry == nil && len(f.host.Scopes) > 1 {
		var names []string
		for _, s := range f.host.Scopes {
			f.scopes = append(f.scopes, s)
			names = append(names, ui.ScopeName(tx, s))
		}
		f.scope = NewSelect(names, func(string) { f.changed() })
		f.scope.Selected = names[0]
		row("scope", f.scope)
		f.where = NewEntry()
		f.where.OnChanged = func(string) { f.changed() }
		f.choose = NewButton(tx.Get("window.hosts.form.folder.choose"), theme.FolderOpenIcon(), f.browse)
		f.whereIs = widget.NewLabel("")
		f.whereBox = border(nil, nil, f.whereIs, f.choose, f.where)
		f.whereBox.Hide()
	}
	if f.entry == nil && f.host.HTTP {
		f.kind = NewSelect([]string{tx.Get("window.hosts.form.kind.program"), tx.Get("window.hosts.form.kind.address")}, func(string) { f.changed() })
		f.kind.Selected = f.kind.Options[0]
		row("kind", f.kind)
		f.address = NewEntry()
		f.address.Text = usualAddress
		f.address.OnChanged = func(string) { f.changed() }
		f.hint = Muted(tx.Get("window.hosts.form.address.hint"))
		row("address", f.address)
		f.urls = append(slices.Clone(rows.Objects[len(rows.Objects)-2:]), f.hint)
	}
	var names []string
	selected := -1
	for _, p := range append([]string{""}, places...) {
		if f.entry != nil && p == "" {
			continue // it has one already
		}
		if f.entry != nil && p == f.entry.Profile {
			selected = len(names)
		}
		f.places = append(f.places, p)
		names = append(names, ui.PlaceName(tx, p))
	}
	if f.entry != nil && selected < 0 { // one that is not there any more, or was never known
		selected = 0
		f.places = slices.Insert(f.places, 0, f.entry.Profile)
		names = slices.Insert(names, 0, ui.PlaceName(tx, f.entry.Profile))
	}
	f.place = NewSelect(names, func(string) { f.changed() })
	f.place.Selected = names[max(selected, 0)]
	before := len(rows.Objects)
	row("place", f.place)
	box := container.New(flow{})
	for _, set := range sandbox.Toolsets() {
		c := NewCheck(ui.ToolsetName(tx, set), nil)
		c.Checked = f.entry == nil || len(f.entry.Toolsets) == 0 || slices.Contains(f.entry.Toolsets, set)
		c.OnChanged = func(bool) { f.changed() }
		f.tools = append(f.tools, c)
		box.Add(c)
	}
	row("tools", box)
	f.rows = slices.Clone(rows.Objects[before:])
	all := container.NewVBox(rows)
	if f.whereBox != nil {
		all.Add(f.whereBox)
	}
	if f.hint != nil {
		all.Add(container.New(layout.NewCustomPaddedLayout(0, 8, 0, 0), f.hint))
		f.fold()
	}
	return all
}

// usualAddress is where arenero-bridge serves unless it is told otherwise.
const usualAddress = "http://127.0.0.1:8000/mcp"

// SetAddress has an address be offered for an entry that is to have one.
func (f *HostForm) SetAddress(url string) {
	if f.address != nil && url != "" {
		f.address.Text = url
	}
}

// fold shows what goes with the kind of the entry.
func (f *HostForm) fold() {
	if f.kind == nil {
		return
	}
	for _, o := range f.urls {
		seen(o, f.atAddress())
	}
	for _, o := range f.rows {
		seen(o, !f.atAddress())
	}
}

// atAddress reports whether the entry is to have an address.
func (f *HostForm) atAddress() bool { return f.kind != nil && f.kind.SelectedIndex() == 1 }

// browse lets the user pick a folder.
func (f *HostForm) browse() {
	dialog.ShowFolderOpen(func(l fyne.ListableURI, err error) {
		if err == nil && l != nil {
			f.where.SetText(l.Path())
		}
	}, f.env.Window)
}

// Order is what the choices say, and what is missing in them.
func (f *HostForm) Order() (o control.HostOrder, missing string) {
	o = f.order
	o.Force = o.Force || f.force.Visible() && f.force.Checked
	if f.place == nil {
		return o, ""
	}
	tx := f.env.Texts
	if f.scope != nil {
		o.Scope = f.scopes[max(0, f.scope.SelectedIndex())]
		text := f.where.Text
		switch {
		case ui.ScopeNeedsFolder(o.Scope):
			if o.Project = text; text == "" {
				missing = tx.Get("window.hosts.form.folder.missing")
			}
		case ui.ScopeNeedsProfile(o.Scope):
			if o.Scope += ":" + text; text == "" {
				missing = tx.Get("window.hosts.form.profile.missing")
			}
		}
	}
	if f.atAddress() {
		if o.HTTP = strings.TrimSpace(f.address.Text); o.HTTP == "" {
			missing = tx.Get("window.hosts.form.address.missing")
		}
		return o, missing
	}
	o.Profile = f.places[max(0, f.place.SelectedIndex())]
	for i, set := range sandbox.Toolsets() {
		if f.tools[i].Checked {
			o.Toolsets = append(o.Toolsets, set)
		}
	}
	if len(o.Toolsets) == 0 {
		missing = tx.Get("window.hosts.form.tools.missing")
	}
	return o, missing
}

// changed takes in that a choice has changed.
func (f *HostForm) changed() {
	if f.whereBox != nil {
		scope, tx := f.scopes[max(0, f.scope.SelectedIndex())], f.env.Texts
		switch {
		case ui.ScopeNeedsFolder(scope):
			f.whereIs.SetText(tx.Get("window.hosts.form.folder"))
			f.where.SetPlaceHolder(tx.Get("window.hosts.form.folder.hint"))
			f.choose.Show()
		case ui.ScopeNeedsProfile(scope):
			f.whereIs.SetText(tx.Get("window.hosts.form.profile"))
			f.where.SetPlaceHolder(tx.Get("window.hosts.form.profile.hint"))
			f.choose.Hide()
		}
		seen(f.whereBox, ui.ScopeNeedsFolder(scope) || ui.ScopeNeedsProfile(scope))
	}
	f.fold()
	f.Plan()
}

// Plan asks for the plan of what is chosen.
func (f *HostForm) Plan() {
	o, missing := f.Order()
	f.plan = nil
	f.OnReady(false)
	if missing != "" {
		f.say(marked(theme.InfoIcon(), ColorMuted, missing, ""))
		f.asked = control.HostOrder{}
		f.show(nil)
		return
	}
	f.asked = o
	if len(f.doing.Objects) == 0 {
		f.say(Muted(f.env.Texts.Get("window.hosts.form.looking")))
	}
	f.OnPlan(o)
}

// Again asks for the plan once more if there is none: what stood in its way may
// have gone.
func (f *HostForm) Again() {
	if o, missing := f.Order(); f.plan == nil && missing == "" {
		f.OnPlan(o)
	}
}

// say shows lines in place of those that were there.
func (f *HostForm) say(lines ...fyne.CanvasObject) {
	f.doing.Objects = lines
	f.doing.Refresh()
}

func (f *HostForm) show(changes []control.HostChange) {
	any := slices.ContainsFunc(changes, func(c control.HostChange) bool { return len(c.Diff) > 0 })
	f.diff.show(changes)
	if any {
		f.diff.Show()
		f.title.Show()
	} else {
		f.diff.Hide()
		f.title.Hide()
	}
	f.root.Refresh()
}

// awaits reports whether an answer is to the last question.
func (f *HostForm) awaits(o control.HostOrder) bool {
	now, missing := f.Order()
	return missing == "" && same(o, now)
}

func same(a, b control.HostOrder) bool {
	t := slices.Equal(a.Toolsets, b.Toolsets)
	a.Toolsets, b.Toolsets = nil, nil
	return t && a.Action == b.Action && a.Host == b.Host && a.Scope == b.Scope && a.Project == b.Project && a.Name == b.Name && a.HTTP == b.HTTP && a.Profile == b.Profile && a.Force == b.Force
}

// ShowPlan shows what an order would do.
func (f *HostForm) ShowPlan(o control.HostOrder, r control.HostResult) {
	if !f.awaits(o) {
		return
	}
	f.plan, f.asked = &r, o
	tx := f.env.Texts
	moved := f.entry != nil && o.Profile != "" && o.Profile != f.entry.Profile
	var lines []fyne.CanvasObject
	for _, c := range r.Changes {
		text := ui.HostChangeDoes(tx, f.host.Title, c, false)
		if moved && c.Action == control.HostUnchanged {
			text = tx.Get("window.hosts.would.place")
		}
		lines = append(lines, marked(theme.InfoIcon(), ColorBrand, text, ""))
		for _, w := range c.Warnings {
			lines = append(lines, marked(theme.WarningIcon(), ColorWarn, ui.Sentence(ui.Told(tx, w)), ""))
		}
		if c.Action == control.HostUnchanged {
			continue
		}
		switch {
		case len(c.Argv) > 0:
		case c.Created:
			lines = append(lines, marked(theme.DocumentCreateIcon(), ColorMuted, tx.Get("window.hosts.form.created"), ""))
		case c.Removed:
			lines = append(lines, marked(theme.DeleteIcon(), ColorMuted, tx.Get("window.hosts.form.removed"), ""))
		default:
			lines = append(lines, marked(theme.DocumentSaveIcon(), ColorMuted, tx.Get("window.hosts.form.copy"), ""))
		}
		for _, s := range c.Steps {
			lines = append(lines, marked(theme.NavigateNextIcon(), ColorBrand, tx.Get("window.hosts.form.later", "step", ui.Told(tx, s)), ""))
		}
	}
	f.say(lines...)
	f.show(r.Changes)
	f.OnReady(ui.HostChanges(r) || moved)
}

// Why an order is refused that the user may insist on, as an error has it among
// its details.
const (
	WhyNotInstalled = "not_installed"
	WhyNameTaken    = "name_taken"
)

// ShowFailure shows why an order can't be done. Where the user may insist, that
// is offered in place of what the command line would say.
func (f *HostForm) ShowFailure(o control.HostOrder, text, why string) {
	if !f.awaits(o) {
		return
	}
	f.plan = nil
	title := ui.Visible(f.host.Title)
	switch why {
	case WhyNotInstalled:
		text = f.env.Texts.Get("window.hosts.form.absent", "title", title)
		f.force.Show()
	case WhyNameTaken:
		text = f.env.Texts.Get("window.hosts.form.taken", "title", title)
		f.force.Show()
	}
	f.say(marked(theme.ErrorIcon(), ColorBad, ui.Sentence(text), ""))
	f.show(nil)
	f.OnReady(false)
}

// Planned is the order whose plan is shown, as it is to be carried out.
func (f *HostForm) Planned() (control.HostOrder, bool) {
	if f.plan == nil {
		return control.HostOrder{}, false
	}
	o := f.asked
	for _, c := range f.plan.Changes {
		if o.Action == control.HostConnect && o.ID == "" {
			o.ID = c.Connection // so that it is what was shown
		}
	}
	return o, true
}

// NewHostDialog shows a form in front of the window. Do is called with the order
// that was shown when the user wants it done.
func NewHostDialog(env Env, title, verb string, danger bool, f *HostForm, ended func(), do func(control.HostOrder)) *Dialog {
	var order control.HostOrder
	d := NewDialog(env, title, f.Object(), env.Texts.Get("window.cancel"), ended, Action{Label: verb, Danger: danger, Primary: !danger, Do: func() { do(order) }})
	no, yes := d.buttons[0], d.buttons[1]
	yes.Disable()
	f.OnReady = func(ready bool) {
		if !ready {
			yes.Disable()
			return
		}
		order, _ = f.Planned()
		yes.Enable()
		if c := env.Window.Canvas(); !danger && c.Focused() == fyne.Focusable(no) {
			c.Focus(yes)
		}
	}
	d.Resize(fyne.NewSize(760, 620))
	env.Window.Canvas().Focus(no)
	f.changed()
	return d
}
