package view

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// An Ask is what a quote is wanted for.
type Ask struct {
	Profile  string
	Template string // "" is the usual one
	Life     time.Duration
	Idle     time.Duration // 0 is never
}

type spendQuote struct {
	v         *Spend
	places    []string
	templates []sandbox.Template
	place     *Select
	template  *Select
	hours     *Entry
	minutes   *Entry
	ask       *Button
	wrong     *widget.Label
	answer    *fyne.Container
	sizes     *fyne.Container // what an hour costs, by size
	groups    []ui.PriceGroup
	group     *Select
	grid      *fyne.Container
	object    fyne.CanvasObject
}

func newSpendQuote(v *Spend) *spendQuote {
	q := &spendQuote{v: v, hours: NewEntry(), minutes: NewEntry(), wrong: warned(), answer: container.NewStack()}
	q.wrong.Importance = widget.DangerImportance
	q.wrong.Hide()
	q.place = NewSelect(nil, nil)
	q.template = NewSelect([]string{v.say("quote.template.usual")}, nil)
	q.template.SetSelectedIndex(0)
	q.hours.SetText("1")
	q.minutes.SetText("5")
	q.minutes.SetPlaceHolder(v.say("quote.never"))
	q.ask = NewButton(v.say("quote.ask"), nil, q.send)
	q.ask.Importance = widget.HighImportance
	for _, e := range []*Entry{q.hours, q.minutes} {
		e.OnSubmitted = func(string) { q.send() }
	}
	field := func(title string, o fyne.CanvasObject) fyne.CanvasObject {
		l := widget.NewLabel(title)
		l.Truncation = fyne.TextTruncateEllipsis
		return container.New(layout.NewCustomPaddedVBoxLayout(-5), l, o)
	}
	form := container.New(cards{}, field(v.say("quote.where"), q.place), field(v.say("quote.template.choose"), q.template))
	times := container.New(cards{}, field(v.say("quote.hours"), q.hours), field(v.say("quote.minutes"), q.minutes))
	q.object = container.NewVScroll(border(nil, nil, nil, barRoom(), container.NewVBox(
		Muted(v.say("quote.text")), form, times, q.wrong, container.New(flow{}, q.ask), q.answer, q.priceList())))
	q.say(Muted(v.say("quote.first")))
	return q
}

func (q *spendQuote) say(o fyne.CanvasObject) {
	q.answer.Objects = []fyne.CanvasObject{o}
	q.answer.Refresh()
}

// ShowPlaces draws where a sandbox could run: profiles, the first of which is
// chosen to begin with.
func (v *Spend) ShowPlaces(profiles []string) {
	q := v.quote
	if slices.Equal(profiles, q.places) {
		return
	}
	was := q.chosenPlace()
	q.places = profiles
	var names []string
	for _, p := range profiles {
		if p == sandbox.ProfileLocal {
			p = v.say("local")
		}
		names = append(names, p)
	}
	q.place.OnChanged = nil
	q.place.SetOptions(names)
	q.place.SetSelectedIndex(max(0, slices.Index(profiles, was)))
	q.place.OnChanged = func(string) { q.placed() }
	q.placed()
}

func (q *spendQuote) placed() {
	q.v.ShowTemplates(q.chosenPlace(), nil)
	if q.v.OnPlace != nil {
		q.v.OnPlace(q.chosenPlace())
	}
}

// Place is where a sandbox is asked about, "" before there is a choice.
func (v *Spend) Place() string { return v.quote.chosenPlace() }

func (q *spendQuote) chosenPlace() string {
	if i := q.place.SelectedIndex(); i >= 0 && i < len(q.places) {
		return q.places[i]
	}
	return ""
}

// ShowTemplates draws what a sandbox of a profile can be made of.
func (v *Spend) ShowTemplates(profile string, all []sandbox.Template) {
	q := v.quote
	if profile != q.chosenPlace() {
		return
	}
	was := ""
	if i := q.template.SelectedIndex() - 1; i >= 0 && i < len(q.templates) {
		was = q.templates[i].ARN
	}
	q.templates = all
	names, at := []string{v.say("quote.template.usual")}, 0
	for i, t := range all {
		names = append(names, ui.TemplateText(v.env.Texts, t, profile == sandbox.ProfileLocal))
		if t.ARN == was {
			at = i + 1
		}
	}
	q.template.SetOptions(names)
	q.template.SetSelectedIndex(at)
}

func (q *spendQuote) send() {
	v := q.v
	if q.ask.Disabled() || q.chosenPlace() == "" {
		return
	}
	life, err := ui.ParseHoursOf(q.hours.Text)
	if err == nil && life == 0 {
		err = ui.ErrSpan
	}
	wrong := q.hours
	idle, failed := ui.ParseMinutes(q.minutes.Text)
	if err == nil && failed != nil {
		err, wrong = failed, q.minutes
	}
	if err != nil {
		title := v.say("quote.hours")
		if wrong == q.minutes {
			title = v.say("quote.minutes")
		}
		tell(q.wrong, title+": "+v.env.Texts.Get(err.Error()))
		v.env.Window.Canvas().Focus(wrong)
		return
	}
	tell(q.wrong, "")
	a := Ask{Profile: q.chosenPlace(), Life: life, Idle: idle}
	if i := q.template.SelectedIndex() - 1; i >= 0 && i < len(q.templates) {
		a.Template = q.templates[i].ARN
	}
	q.ask.Disable()
	q.say(Muted(v.say("quote.asking")))
	if v.OnAsk != nil {
		v.OnAsk(a)
	}
}

// ShowQuote draws an answer, or what kept it from being given.
func (v *Spend) ShowQuote(quote sandbox.Quote, problem string) {
	q := v.quote
	q.ask.Enable()
	if problem != "" {
		b := NewBanner()
		b.Error(problem, q.send, v.say("retry"))
		q.say(b.Object())
		return
	}
	edge := ColorGood
	if !quote.Fits {
		edge = ColorBad
	}
	q.say(card(edge, factList(ui.QuoteFacts(v.env.Texts, quote))))
}

// priceList is what an hour costs by size and region, which needs no question to
// anybody.
func (q *spendQuote) priceList() fyne.CanvasObject {
	v := q.v
	q.group = NewSelect(nil, func(string) { q.showGroup() })
	q.grid = container.New(cells{columns: 4})
	title := widget.NewLabelWithStyle(v.say("sizes.title"), fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	q.sizes = container.NewVBox(widget.NewSeparator(), title, q.group, q.grid, Muted(v.say("sizes.text")))
	q.sizes.Hide()
	return q.sizes
}

// ShowSizes draws what sandboxes of all sizes cost.
func (v *Spend) ShowSizes(groups []ui.PriceGroup) {
	q := v.quote
	same := slices.EqualFunc(groups, q.groups, func(a, b ui.PriceGroup) bool {
		return a.Regions == b.Regions && slices.EqualFunc(a.Rows, b.Rows, slices.Equal[[]string])
	})
	if same {
		return
	}
	was := q.group.Selected
	q.groups = groups
	var names []string
	for _, g := range groups {
		names = append(names, g.Regions)
	}
	q.group.SetOptions(names)
	if len(names) > 0 {
		q.group.SetSelectedIndex(max(0, slices.Index(names, was)))
	}
	enable(q.group, len(names) > 1)
	visible(q.sizes, len(names) > 0)
	q.showGroup()
}

func (q *spendQuote) showGroup() {
	i := q.group.SelectedIndex()
	if i < 0 || i >= len(q.groups) {
		return
	}
	q.grid.Objects = nil
	for _, title := range ui.PriceTitles(q.v.env.Texts) {
		l := widget.NewLabel(title)
		l.Importance = widget.LowImportance
		l.Wrapping = fyne.TextWrapWord
		q.grid.Add(l)
	}
	for _, row := range q.groups[i].Rows {
		for _, text := range row {
			q.grid.Add(widget.NewLabel(text))
		}
	}
	q.sizes.Refresh()
}

// enable lets something be chosen, or shows it only.
func enable(s *Select, can bool) {
	if can {
		s.Enable()
	} else {
		s.Disable()
	}
}

// cells are columns of one width, whose rows are as high as they need to be.
type cells struct{ columns int }

const (
	cellMost = 170 // width
	cellPull = 10  // by which a row is closer to the one before
)

func (c cells) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(float32(c.columns)*70, cellPull)
	for i := 0; i < len(objects); i += c.columns {
		size.Height += c.high(objects, i) - cellPull
	}
	return size
}

// high is the height of the row that begins at i.
func (c cells) high(objects []fyne.CanvasObject, i int) (h float32) {
	for _, o := range objects[i:min(i+c.columns, len(objects))] {
		h = max(h, o.MinSize().Height)
	}
	return h
}

func (c cells) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	w := min(cellMost, size.Width/float32(c.columns))
	y := float32(0)
	for i := 0; i < len(objects); i += c.columns {
		row := objects[i:min(i+c.columns, len(objects))]
		for _, o := range row { // a text that wraps has its height then
			o.Resize(fyne.NewSize(w, o.MinSize().Height))
		}
		h := c.high(objects, i)
		for k, o := range row {
			o.Resize(fyne.NewSize(w, h))
			o.Move(fyne.NewPos(float32(k)*w, y))
		}
		y += h - cellPull
	}
}
