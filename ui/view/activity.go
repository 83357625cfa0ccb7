package view

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// ActivityShown is all that the screen of activity shows.
type ActivityShown struct {
	Entries   []ui.Entry // that the filter lets through, the newest first
	All       int        // that are loaded
	Filter    ui.Filter
	Range     string            // that the days of the filter are, "" without
	Hosts     []string          // that there are entries of
	Sandboxes []string          // ids of those that there are entries of
	Names     map[string]string // of sandboxes
	Loaded    bool              // before that nothing is known
	More      bool              // there are older ones
	Busy      bool              // they are on their way
	Note      string            // on what is not shown
}

// Activity is the screen of what happened, and of what is happening.
type Activity struct {
	// OnFilter is called when others are wanted. name is the range that its days
	// are.
	OnFilter func(f ui.Filter, name string)
	// OnOlder is called for more, and OnExport for a file of what is shown: "csv"
	// or "jsonl".
	OnOlder  func()
	OnExport func(format string)
	// OnGo leads to a page, and to something on it.
	OnGo func(page, subject string)
	// OnClock is called when the user says that the clock is right.
	OnClock func()

	env     Env
	shown   ActivityShown
	banner  *Banner
	search  *Entry
	topic   *Select
	level   *Select
	host    *Select
	sandbox *Select
	days    *dayPicker
	all     *Button
	table   *Table
	older   *Button
	count   *widget.Label
	note    *widget.Label
	detail  *fyne.Container
	beside  *container.Scroll // that detail is in
	split   *fyne.Container
	told    *ui.Entry // that detail is of
	list    *fyne.Container
	empty   *fyne.Container
	blank   string // what empty says
	root    *fyne.Container
}

// NewActivity returns the screen with nothing on it.
func NewActivity(env Env) *Activity {
	v := &Activity{env: env, banner: NewBanner(), search: NewEntry(), count: Muted(""), note: Muted(""), detail: container.NewStack(), empty: container.NewStack()}
	v.search.SetPlaceHolder(v.say("filter.search"))
	v.search.OnChanged = func(string) { v.filter() }
	topics := []string{v.say("filter.topic")}
	for _, t := range ui.Topics() {
		topics = append(topics, ui.TopicText(env.Texts, t))
	}
	change := func(string) { v.filter() }
	v.topic = NewSelect(topics, nil)
	v.level = NewSelect([]string{v.say("filter.severity"), v.say("filter.alerts"), v.say("filter.errors")}, nil)
	v.host = NewSelect([]string{v.say("filter.host")}, nil)
	v.sandbox = NewSelect([]string{v.say("filter.sandbox")}, nil)
	for _, s := range []*Select{v.topic, v.level, v.host, v.sandbox} {
		s.SetSelectedIndex(0)
		s.OnChanged = change
	}
	v.days = newDayPicker(env, v.say("filter.days"), func(name string, days ui.Days) {
		f := v.wanted()
		f.Days = nil
		if name != "" {
			f.Days = &days
		}
		v.OnFilter(f, name)
	})
	v.all = NewButton(v.say("filter.clear"), theme.ContentClearIcon(), func() { v.OnFilter(ui.Filter{}, "") })
	v.all.Importance = widget.LowImportance
	v.all.Hide()
	v.table = NewTable(env, []Column{
		{Title: v.say("column.at"), Width: 118},
		{Title: v.say("column.what"), Width: 180, Grow: true},
		{Title: v.say("column.where"), Width: 126},
		{Title: v.say("column.host"), Width: 128, From: 610},
	})
	v.table.OnSelect = func(string) { v.drawDetail() }
	v.table.OnOpen = func(id string) {
		if e, ok := v.find(id); ok {
			v.open(e)
		}
	}
	v.older = NewButton(v.say("older"), nil, func() { v.OnOlder() })
	v.count.Wrapping, v.note.SizeName = fyne.TextWrapOff, theme.SizeNameCaptionText
	export := NewButton(v.say("export"), theme.DocumentSaveIcon(), func() {
		chooseFormat(env, v.say("export"), v.say("export.text", "n", strconv.Itoa(len(v.shown.Entries))), [2]string{"csv", v.say("export.csv")}, [2]string{"jsonl", v.say("export.lines")}, v.OnExport)
	})
	export.Importance = widget.LowImportance
	filters := container.NewVBox(
		border(nil, nil, nil, container.NewHBox(v.days.pick, export), v.search),
		container.New(flow{}, v.topic, v.level, v.host, v.sandbox, v.days.told, v.all),
		v.days.custom, v.days.wrong,
	)
	v.list = border(nil, container.NewVBox(container.New(flow{}, v.count, v.older), v.note), nil, nil, container.NewStack(v.table.Object(), v.empty))
	v.beside = container.NewVScroll(v.detail)
	v.beside.Hide()
	v.split = container.New(flank{}, v.list, v.beside)
	v.root = border(container.NewVBox(v.banner.Object(), filters), nil, nil, nil, v.split)
	v.banner.page = v.root
	v.Show(ActivityShown{})
	return v
}

func (v *Activity) say(key string, args ...string) string {
	return v.env.Texts.Get("activity."+key, args...)
}

// Object is what goes into a window.
func (v *Activity) Object() fyne.CanvasObject { return v.root }

// Banner is the line at the head of the screen.
func (v *Activity) Banner() *Banner { return v.banner }

// Select selects an entry.
func (v *Activity) Select(id string) {
	v.table.Select(id)
	v.drawDetail()
}

// Selected is the entry that is selected, or "".
func (v *Activity) Selected() string { return v.table.Selected() }

// Show draws s in place of what was there.
func (v *Activity) Show(s ActivityShown) {
	v.shown = s
	v.drawFilter()
	tx, now := v.env.Texts, v.env.Now()
	rows := make([]Row, 0, len(s.Entries))
	for _, e := range s.Entries {
		when, what := Cell{Text: ui.MomentText(tx, e.At, now)}, Cell{Text: e.Text}
		switch {
		case e.Severity == sandbox.SeverityError:
			when.Icon, when.Color, what.Color = theme.ErrorIcon(), ColorBad, ColorBad
		case e.Severity == sandbox.SeverityWarn:
			when.Icon, when.Color = theme.WarningIcon(), ColorWarn
		case e.Call != nil:
			when.Icon = theme.ConfirmIcon()
			if e.Call.Runs() {
				when.Icon, when.Color = theme.MediaPlayIcon(), ColorGood
			}
		default:
			when.Icon = theme.InfoIcon()
		}
		rows = append(rows, Row{ID: e.ID, Cells: []Cell{when, what, {Text: v.name(e.Sandbox, e.Name)}, {Text: ui.HostText(e.Host)}}})
	}
	v.table.Show(rows)
	v.older.Hidden = !s.More
	if s.Busy {
		v.older.Disable()
	} else {
		v.older.Enable()
	}
	tell(v.count, v.countText())
	tell(v.note, s.Note)
	v.drawEmpty()
	v.drawDetail()
}

func (v *Activity) countText() string {
	switch s := v.shown; {
	case !s.Loaded:
		return v.say("loading")
	case s.All == 0:
		return ""
	case len(s.Entries) == s.All && !s.More:
		return v.say("shown.all", "n", strconv.Itoa(s.All)) + " · " + v.say("oldest")
	case len(s.Entries) == s.All:
		return v.say("shown.all", "n", strconv.Itoa(s.All))
	}
	return v.say("shown", "n", strconv.Itoa(len(v.shown.Entries)), "all", strconv.Itoa(v.shown.All))
}

// name is what a sandbox is called.
func (v *Activity) name(id, name string) string {
	if id == "" {
		return ""
	}
	if known := v.shown.Names[id]; known != "" {
		name = known
	}
	return ui.Name(sandbox.Sandbox{ID: id, Name: name})
}

func (v *Activity) drawEmpty() {
	title, text := v.say("empty"), v.say("empty.text")
	if v.shown.All > 0 {
		title, text = v.say("empty.filter"), v.say("empty.filter.text")
	}
	switch {
	case !v.shown.Loaded || len(v.shown.Entries) > 0:
		v.empty.Hide()
	case v.blank != title:
		v.blank = title
		v.empty.Objects = []fyne.CanvasObject{EmptyState(nil, title, text)}
		fallthrough
	default:
		v.empty.Show()
		v.empty.Refresh()
	}
}

// drawFilter draws what is chosen, and what there is to choose from.
func (v *Activity) drawFilter() {
	f := v.shown.Filter
	set := func(s *Select, options []string, i int) {
		s.OnChanged = nil
		if options != nil && !slices.Equal(options, s.Options) {
			s.SetOptions(options)
		}
		if i = max(0, i); i != s.SelectedIndex() || s.Selected != s.Options[i] {
			s.SetSelectedIndex(i)
		}
		s.OnChanged = func(string) { v.filter() }
	}
	set(v.topic, nil, slices.Index(ui.Topics(), f.Topic)+1)
	level := 0
	switch {
	case f.Errors:
		level = 2
	case f.Alerts:
		level = 1
	}
	set(v.level, nil, level)
	hosts := []string{v.say("filter.host")}
	for _, h := range v.shown.Hosts {
		hosts = append(hosts, ui.HostText(h))
	}
	set(v.host, hosts, slices.Index(v.shown.Hosts, f.Host)+1)
	sandboxes := []string{v.say("filter.sandbox")}
	for _, id := range v.shown.Sandboxes {
		sandboxes = append(sandboxes, v.name(id, ""))
	}
	set(v.sandbox, sandboxes, slices.Index(v.shown.Sandboxes, f.Sandbox)+1)
	if f.Text != v.search.Text {
		v.search.OnChanged = nil
		v.search.SetText(f.Text)
		v.search.OnChanged = func(string) { v.filter() }
	}
	days := ui.Days{}
	if f.Days != nil {
		days = *f.Days
	}
	v.days.show(v.shown.Range, days)
	v.all.Hidden = f.Any()
	v.all.Refresh()
}

// wanted is the filter that is chosen.
func (v *Activity) wanted() ui.Filter {
	f := ui.Filter{Text: v.search.Text, Days: v.shown.Filter.Days}
	if i := v.topic.SelectedIndex() - 1; i >= 0 {
		f.Topic = ui.Topics()[i]
	}
	f.Alerts, f.Errors = v.level.SelectedIndex() == 1, v.level.SelectedIndex() == 2
	if i := v.host.SelectedIndex() - 1; i >= 0 && i < len(v.shown.Hosts) {
		f.Host = v.shown.Hosts[i]
	}
	if i := v.sandbox.SelectedIndex() - 1; i >= 0 && i < len(v.shown.Sandboxes) {
		f.Sandbox = v.shown.Sandboxes[i]
	}
	return f
}

func (v *Activity) filter() {
	if v.OnFilter != nil {
		v.OnFilter(v.wanted(), v.shown.Range)
	}
}

func (v *Activity) find(id string) (ui.Entry, bool) {
	i := slices.IndexFunc(v.shown.Entries, func(e ui.Entry) bool { return e.ID == id })
	if i < 0 {
		return ui.Entry{}, false
	}
	return v.shown.Entries[i], true
}

// open leads to what an entry is about.
func (v *Activity) open(e ui.Entry) {
	switch {
	case e.Budget != "":
		v.OnGo(ui.PageSpend, e.Budget)
	case e.Topic == ui.TopicTokens && e.Grant != "":
		v.OnGo(ui.PageTokens, e.Grant)
	case e.Sandbox != "":
		v.OnGo(ui.PageSandboxes, e.Sandbox)
	}
}

// drawDetail draws the selected entry, unless it is as it was: the focus, and
// what is marked in it, stay.
func (v *Activity) drawDetail() {
	e, ok := v.find(v.table.Selected())
	if v.told != nil && reflect.DeepEqual(*v.told, e) {
		return
	}
	v.told = &e
	if !ok {
		return
	}
	showBeside(v.split, v.beside)
	title := NewText(e.Text, fyne.TextStyle{Bold: true})
	box := container.NewVBox(title)
	buttons := container.New(flow{})
	for _, b := range []struct {
		is    bool
		label string
		do    func()
	}{
		{e.Sandbox != "", "go.sandbox", func() { v.OnGo(ui.PageSandboxes, e.Sandbox) }},
		{e.Budget != "", "go.budget", func() { v.OnGo(ui.PageSpend, e.Budget) }},
		{e.By != "", "go.token", func() { v.OnGo(ui.PageTokens, e.Grant) }},
		{e.Clock, "clock.right", v.clock},
	} {
		if b.is {
			buttons.Add(NewButton(v.env.Texts.Get("activity."+b.label), nil, b.do))
		}
	}
	if len(buttons.Objects) > 0 {
		box.Add(buttons)
	}
	box.Add(factList(ui.ActivityFacts(v.env.Texts, e, v.env.Now())))
	if c := e.Call; c != nil {
		box.Add(widget.NewLabel(v.say("command")))
		box.Add(Copyable(v.env, c.Text))
		if c.Output != "" {
			text := c.Output
			if c.Cut {
				text = "…" + text
			}
			said := NewText(strings.TrimRight(text, "\n"), fyne.TextStyle{Monospace: true})
			said.Wrapping = fyne.TextWrapBreak
			box.Add(widget.NewLabel(v.say("output")))
			box.Add(said)
		}
	}
	if data := ui.EventData(e); data != "" {
		box.Add(widget.NewLabel(v.say("data")))
		particulars := NewText(data, fyne.TextStyle{Monospace: true})
		particulars.Wrapping = fyne.TextWrapBreak
		box.Add(particulars)
	}
	v.detail.Objects = []fyne.CanvasObject{border(nil, nil, nil, barRoom(), box)}
	v.detail.Refresh()
}

// clock asks before the clock is taken to be right.
func (v *Activity) clock() {
	now := v.env.Now().Format("2006-01-02 15:04:05 -07:00")
	Confirm(v.env, v.say("clock.right"), v.say("clock.right.text", "now", now), v.say("clock.right"), false, v.OnClock)
}
