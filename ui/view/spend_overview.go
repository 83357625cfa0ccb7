package view

import (
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/ui"
)

// SpendTotals are the sums that are always seen.
type SpendTotals struct{ Today, Yesterday, Month ui.Sum }

// SpendRange is what was spent in some days.
type SpendRange struct {
	Name     string // as [ui.Ranges] has it
	Days     ui.Days
	Loaded   bool // before that only the days are known
	Ever     bool // that anything was spent at all
	Sum      ui.Sum
	Bars     []ui.Bar
	Hosts    []ui.Part
	Profiles []ui.Part
}

// SpendNotes are what is said about all sums.
type SpendNotes struct {
	Prices   string // which are used
	Stale    bool
	Profiles []string // that AWS can be asked as
	Zone     string
}

// What the table of an overview has lines of.
const (
	byDay     = "day"
	byHost    = "host"
	byProfile = "profile"
)

type spendOverview struct {
	v     *Spend
	shown SpendRange
	by    string

	today, yesterday, month *sumCard

	picker *dayPicker

	spent, about, would, unpriced *widget.Label
	chartTitle, read              *widget.Label
	chart                         *Chart
	bys                           map[string]*Button
	table                         *Table
	stale                         *fyne.Container
	staleText                     *widget.Label
	refresh                       *Button
	profiles                      []string
	zone, prices                  *widget.Label

	full, empty *fyne.Container
	object      fyne.CanvasObject
}

// A sumCard is a sum that is always seen.
type sumCard struct {
	amount, running, would *widget.Label
	object                 fyne.CanvasObject
}

func newSumCard(title string) *sumCard {
	c := &sumCard{amount: big(""), running: Muted(""), would: Muted("")}
	name := widget.NewLabel(title)
	name.Importance = widget.LowImportance
	c.running.SizeName, c.would.SizeName = theme.SizeNameCaptionText, theme.SizeNameCaptionText
	c.object = card(ColorBrand, tight(name, c.amount, c.running, c.would))
	return c
}

func (c *sumCard) show(v *Spend, s ui.Sum) {
	tx := v.env.Texts
	tell(c.amount, ui.Dollars(tx, s.Total()))
	tell(c.running, ui.RunningNote(tx, s))
	would := ""
	if s.WouldTotal() > 0 {
		would = v.say("would", "amount", ui.Dollars(tx, s.WouldTotal()))
	}
	tell(c.would, would)
}

func newSpendOverview(v *Spend) *spendOverview {
	o := &spendOverview{
		v: v, by: byDay, today: newSumCard(v.say("card.today")), yesterday: newSumCard(v.say("card.yesterday")), month: newSumCard(v.say("card.month")),
		spent: big(""), about: Muted(""), would: widget.NewLabel(""), unpriced: warned(),
		chartTitle: widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), read: Muted(""), chart: NewChart(v.env),
		bys: map[string]*Button{}, staleText: warned(), zone: Muted(""), prices: Muted(""),
	}
	o.would.Wrapping = fyne.TextWrapWord
	o.picker = newDayPicker(v.env, "", func(name string, days ui.Days) {
		if v.OnRange != nil {
			v.OnRange(name, days)
		}
	})
	for _, l := range []*widget.Label{o.zone, o.prices} {
		l.SizeName = theme.SizeNameCaptionText
	}
	counted := Muted(v.say("not-counted"))
	counted.SizeName = theme.SizeNameCaptionText
	o.chart.OnPick = o.picked
	o.table = NewTable(v.env, []Column{
		{Title: v.say("column.day"), Width: 120, Grow: true},
		{Title: v.say("column.spent"), Width: 100, Right: true},
		{Title: v.say("column.would"), Width: 100, Right: true},
		{Title: v.say("column.sandboxes"), Width: 80, Right: true},
	})
	o.table.OnSelect = func(id string) {
		if i, err := strconv.Atoi(id); err == nil && o.by == byDay {
			o.chart.pick(i)
		}
	}
	bys := container.New(flow{})
	for _, b := range []struct{ by, title string }{{byDay, "chart"}, {byHost, "hosts"}, {byProfile, "profiles"}} {
		button := NewButton(v.say(b.title), nil, func() { o.breakDown(b.by) })
		o.bys[b.by] = button
		bys.Add(button)
	}
	o.refresh = NewButton(v.say("prices.refresh"), nil, o.prices1)
	o.stale = border(nil, nil, nil, container.NewCenter(o.refresh), o.staleText)
	o.stale.Hide()
	legend := container.New(flow{})
	for _, l := range []struct {
		fill, edge fyne.ThemeColorName
		text       string
	}{{theme.ColorNamePrimary, "", "really"}, {ColorGood, "", "legend.running"}, {ColorTrack, ColorSleep, "aws"}} {
		text := widget.NewLabel(v.say(l.text))
		text.SizeName, text.Importance = theme.SizeNameCaptionText, widget.LowImportance
		legend.Add(border(nil, nil, container.NewCenter(newSwatch(l.fill, l.edge)), nil, text))
	}
	sums := tight(o.spent, o.would, o.about, o.unpriced)
	table := container.New(atLeast{220}, o.table.Object())
	o.full = container.NewVBox(sums, border(nil, nil, o.chartTitle, nil, legend), o.chart, o.read, bys, table)
	o.empty = container.NewStack()
	o.empty.Hide()
	content := container.NewVBox(
		container.New(cards{}, o.today.object, o.yesterday.object, o.month.object),
		o.stale, container.New(flow{}, widget.NewLabel(v.say("ranges")), o.picker.pick, o.picker.told), o.picker.custom, o.picker.wrong, container.NewStack(o.full, o.empty), container.New(layoutTight(), o.zone, o.prices, counted),
	)
	o.object = container.NewVScroll(border(nil, nil, nil, barRoom(), content))
	o.breakDown(byDay)
	return o
}

// barRoom is the room that the bar of a scroll needs at its right.
func barRoom() fyne.CanvasObject {
	return container.New(atLeast{0}, widget.NewSeparator())
}

func layoutTight() fyne.Layout { return tight().Layout }

// atLeast gives an object a height, and nothing to be seen where that is 0.
type atLeast struct{ height float32 }

func (l atLeast) MinSize(objects []fyne.CanvasObject) fyne.Size {
	if l.height == 0 {
		return fyne.NewSize(theme.ScrollBarSize()/2, 0)
	}
	return fyne.NewSize(objects[0].MinSize().Width, max(l.height, objects[0].MinSize().Height))
}

func (l atLeast) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if l.height == 0 {
		size = fyne.NewSize(0, 0)
	}
	objects[0].Resize(size)
}

// cards puts a few beside each other, all as wide and as high.
type cards struct{}

const cardLeast = 150

func (cards) columns(n int, width float32) int { return max(1, min(n, int(width/cardLeast))) }

func (c cards) MinSize(objects []fyne.CanvasObject) fyne.Size {
	width := float32(0)
	if len(objects) > 0 {
		width = objects[0].Size().Width
	}
	size := fyne.NewSize(cardLeast, 0)
	per := max(1, len(objects))
	if width > 0 && objects[len(objects)-1].Position().Y > 0 {
		per = 1
	}
	for _, o := range objects {
		size.Height = max(size.Height, o.MinSize().Height)
	}
	rows := (len(objects) + per - 1) / per
	size.Height = size.Height*float32(rows) + theme.Padding()*float32(rows-1)
	return size
}

func (c cards) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	n := c.columns(len(objects), size.Width)
	if n < len(objects) {
		n = 1
	}
	w := (size.Width - theme.Padding()*float32(n-1)) / float32(n)
	height := float32(0)
	for _, o := range objects {
		o.Resize(fyne.NewSize(w, o.MinSize().Height)) // texts wrap now, and so get their height
		height = max(height, o.MinSize().Height)
	}
	for i, o := range objects {
		o.Resize(fyne.NewSize(w, height))
		o.Move(fyne.NewPos(float32(i%n)*(w+theme.Padding()), float32(i/n)*(height+theme.Padding())))
	}
}

// ShowTotals draws the sums that are always seen.
func (v *Spend) ShowTotals(t SpendTotals) {
	v.overview.today.show(v, t.Today)
	v.overview.yesterday.show(v, t.Yesterday)
	v.overview.month.show(v, t.Month)
}

// ShowNotes draws what is said about all sums.
func (v *Spend) ShowNotes(n SpendNotes) {
	o := v.overview
	tell(o.zone, n.Zone)
	tell(o.prices, "")
	o.stale.Hide()
	o.profiles = n.Profiles
	if n.Stale {
		text := n.Prices
		if len(n.Profiles) == 0 { // then there is nobody to ask AWS as
			text += " " + v.say("prices.how")
		}
		o.staleText.SetText(text)
		o.staleText.Show()
		o.refresh.Hidden = len(n.Profiles) == 0
		o.stale.Show()
	} else if n.Prices != "" {
		tell(o.prices, v.say("quote.prices")+": "+n.Prices)
	}
	o.stale.Refresh()
}

// prices1 asks as whom AWS is to be asked for its prices.
func (o *spendOverview) prices1() {
	v := o.v
	if len(o.profiles) == 1 {
		v.OnPrices(o.profiles[0])
		return
	}
	pick := NewSelect(o.profiles, nil)
	pick.SetSelectedIndex(0)
	NewDialog(v.env, v.say("prices.refresh"), container.NewVBox(widget.NewLabel(v.say("prices.refresh.as")), pick), v.env.Texts.Get("window.cancel"), nil,
		Action{Label: v.say("prices.refresh"), Primary: true, Do: func() { v.OnPrices(pick.Selected) }})
	v.env.Window.Canvas().Focus(pick)
}

// ShowRange draws what was spent in some days.
func (v *Spend) ShowRange(r SpendRange) {
	o, tx := v.overview, v.env.Texts
	o.shown = r
	o.picker.show(r.Name, r.Days)
	if !r.Loaded {
		o.spent.SetText(v.say("loading"))
		for _, l := range []*widget.Label{o.about, o.would, o.unpriced} {
			tell(l, "")
		}
		return
	}
	if r.Sum.None() {
		title, text := v.say("empty.range"), ""
		if !r.Ever {
			title, text = v.say("empty"), v.say("empty.text")
		}
		o.empty.Objects = []fyne.CanvasObject{EmptyState(nil, title, text)}
		o.empty.Show()
		o.full.Hide()
		o.empty.Refresh()
		return
	}
	o.empty.Hide()
	o.full.Show()
	o.spent.SetText(v.say("really") + ": " + ui.Dollars(tx, r.Sum.Total()))
	about := ui.SumText(tx, r.Sum)
	if r.Sum.Running > 0 {
		about = v.say("of-total", "amount", ui.Dollars(tx, r.Sum.Running)) + " " + about
	}
	tell(o.about, about)
	tell(o.would, ui.WouldNote(tx, r.Sum))
	tell(o.unpriced, ui.UnpricedNote(tx, r.Sum))
	title := "chart"
	if len(r.Bars) > 0 && r.Bars[0].Unit != "day" {
		title += "." + r.Bars[0].Unit
	}
	o.chartTitle.SetText(tx.Get("spend." + title))
	o.bys[byDay].SetText(tx.Get("spend." + title))
	o.chart.Draw(r.Bars)
	o.picked(o.chart.Picked())
	o.rows()
}

// picked tells the bar that is picked in words.
func (o *spendOverview) picked(i int) {
	if i < 0 || i >= len(o.shown.Bars) {
		o.read.SetText(o.v.say("chart.hint"))
		return
	}
	o.read.SetText(o.shown.Bars[i].Sentence(o.v.env.Texts))
	if o.by == byDay {
		o.table.Select(strconv.Itoa(i))
	}
}

// breakDown has the table show other lines.
func (o *spendOverview) breakDown(by string) {
	o.by = by
	for name, b := range o.bys {
		b.Importance = widget.LowImportance
		if name == by {
			b.Importance = widget.MediumImportance
		}
		b.Refresh()
	}
	first := o.v.say("column.day")
	switch by {
	case byHost:
		first = o.v.say("column.host")
	case byProfile:
		first = o.v.say("column.profile")
	}
	o.table.Retitle(first)
	o.rows()
}

// rows draws the table: all of each amount, so that what is added up by hand is
// what the sum says.
func (o *spendOverview) rows() {
	tx := o.v.env.Texts
	var rows []Row
	line := func(id, name string, s ui.Sum) {
		would := ""
		if s.WouldTotal() > 0 {
			would = ui.AllDollars(tx, s.WouldTotal())
		}
		rows = append(rows, Row{ID: id, Cells: []Cell{{Text: name}, {Text: ui.AllDollars(tx, s.Total())}, {Text: would, Color: ColorSleep}, {Text: sandboxes(s)}}})
	}
	switch o.by {
	case byDay:
		for i, b := range slices.Backward(o.shown.Bars) {
			line(strconv.Itoa(i), b.Label(tx), b.Sum)
		}
	case byHost:
		for _, p := range o.shown.Hosts {
			line("host/"+p.Key, p.Label, p.Sum)
		}
	case byProfile:
		for _, p := range o.shown.Profiles {
			line("profile/"+p.Key, p.Label, p.Sum)
		}
	}
	if len(rows) > 0 {
		line("total", o.v.say("total"), o.shown.Sum)
		for i := range rows[len(rows)-1].Cells {
			rows[len(rows)-1].Cells[i].Bold = true
		}
	}
	o.table.Show(rows)
}

func sandboxes(s ui.Sum) string {
	if s.Sandboxes == 0 {
		return ""
	}
	return strconv.Itoa(s.Sandboxes)
}
