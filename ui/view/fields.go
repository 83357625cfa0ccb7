package view

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// A form is rows of a title, something to fill in, and what is wrong with it.
// What is wrong is told as soon as it is typed; that something is missing, when
// it was left or asked for.
type form struct {
	env Env
	// changed is called when anything is filled in by the user.
	changed func()
	// fit is called when a row got higher or lower; nil where that is no matter.
	fit func()

	box  *fyne.Container
	rows []*formRow
}

// A formRow is one row. One of entry, pick and check is not nil.
type formRow struct {
	name    string
	entry   *Entry
	pick    *Select
	values  []string // of pick
	check   *Check
	place   *fyne.Container // of the entry
	problem *widget.Label
	object  *fyne.Container
	secret  bool
	left    bool   // it was filled in, or left empty on purpose
	enter   func() // what the key Enter does in the entry; may be nil
}

// An option is one of a choice.
type option struct{ value, title string }

func newForm(env Env) *form {
	return &form{env: env, box: container.New(layout.NewCustomPaddedVBoxLayout(2))}
}

// onto makes a new part, whose rows are shown with box.
func (f *form) onto(box *fyne.Container, row *formRow, title string) {
	row.problem = widget.NewLabel("")
	row.problem.Importance = widget.DangerImportance
	row.problem.Wrapping = fyne.TextWrapWord
	row.problem.SizeName = theme.SizeNameCaptionText
	row.problem.Hide()
	row.object = container.New(layout.NewCustomPaddedVBoxLayout(0))
	if title != "" {
		l := widget.NewLabel(title)
		l.Wrapping = fyne.TextWrapWord
		row.object.Add(l)
	}
	f.rows = append(f.rows, row)
	box.Add(row.object)
}

func (f *form) tell() {
	if f.changed != nil {
		f.changed()
	}
}

// text adds a line to type into; a secret one shows nothing of what is typed.
func (f *form) text(box *fyne.Container, name, title, hint, value string, secret bool) *formRow {
	row := &formRow{name: name, secret: secret}
	f.onto(box, row, title)
	row.place = container.NewStack()
	f.fill(row, hint, value)
	row.object.Add(row.place)
	row.object.Add(row.problem)
	return row
}

// fill gives a row an entry of which nobody remembers what was typed into it.
func (f *form) fill(row *formRow, hint, value string) {
	e := NewEntry()
	if row.secret {
		e = NewPasswordEntry()
	}
	e.SetPlaceHolder(hint)
	e.SetText(value)
	e.OnChanged = func(string) {
		row.left = true
		f.tell()
	}
	e.OnSubmitted = func(string) {
		if row.enter != nil {
			row.enter()
		}
	}
	row.entry = e
	row.place.Objects = []fyne.CanvasObject{e}
	row.place.Refresh()
}

// choice adds one of a few.
func (f *form) choice(box *fyne.Container, name, title, value string, options []option) *formRow {
	row := &formRow{name: name}
	f.onto(box, row, title)
	var titles []string
	for _, o := range options {
		titles = append(titles, o.title)
		row.values = append(row.values, o.value)
	}
	row.pick = NewSelect(titles, nil)
	for i, o := range options {
		if o.value == value {
			row.pick.SetSelectedIndex(i)
		}
	}
	row.pick.PlaceHolder = "…"
	row.pick.OnChanged = func(string) {
		row.left = true
		f.tell()
	}
	row.object.Add(row.pick)
	row.object.Add(row.problem)
	return row
}

// toggle adds something to tick. hint is what more there is to say of it, or "".
func (f *form) toggle(box *fyne.Container, name, title, hint string, on bool) *formRow {
	row := &formRow{name: name}
	f.onto(box, row, "")
	row.check = NewCheck(title, nil)
	row.check.SetChecked(on)
	row.check.OnChanged = func(bool) {
		row.left = true
		f.tell()
	}
	row.object.Add(row.check)
	if hint != "" {
		row.object.Add(container.New(layout.NewCustomPaddedLayout(-10, 0, 26, 0), Muted(hint)))
	}
	row.object.Add(row.problem)
	return row
}

// value is what a row holds. What is ticked is "true".
func (r *formRow) value() string {
	switch {
	case r.entry != nil:
		return strings.TrimSpace(r.entry.Text)
	case r.check != nil && r.check.Checked:
		return "true"
	case r.pick != nil && r.pick.SelectedIndex() >= 0:
		return r.values[r.pick.SelectedIndex()]
	}
	return ""
}

// widget is what can have the focus in a row.
func (r *formRow) widget() fyne.Focusable {
	switch {
	case r.entry != nil:
		return r.entry
	case r.check != nil:
		return r.check
	}
	return r.pick
}

func (f *form) row(name string) *formRow {
	for _, r := range f.rows {
		if r.name == name {
			return r
		}
	}
	return nil
}

// values are all, by name. Those that are secret are among them: they are for
// checks alone, and [form.take] hands them on.
func (f *form) values() map[string]string {
	out := map[string]string{}
	for _, r := range f.rows {
		out[r.name] = r.value()
	}
	return out
}

// take is what was typed into a secret row, of which the row keeps nothing.
func (f *form) take(name string) string {
	r := f.row(name)
	if r == nil {
		return ""
	}
	text := r.value()
	hint := r.entry.PlaceHolder
	r.entry.OnChanged = nil
	r.entry.SetText("")
	f.fill(r, hint, "")
	r.left = false
	return text
}

// forget empties all secret rows.
func (f *form) forget() {
	for _, r := range f.rows {
		if r.secret {
			f.take(r.name)
		}
	}
}

// problems tells what is wrong, by row; with all also of rows that nobody was
// at. It reports whether anything is.
func (f *form) problems(wrong map[string]string, all bool) bool {
	told := false
	for _, r := range f.rows {
		text := wrong[r.name]
		if !r.left && !all {
			text = ""
		}
		if text == r.problem.Text {
			continue
		}
		told = true
		r.problem.SetText(text)
		if text == "" {
			r.problem.Hide()
		} else {
			r.problem.Show()
		}
		r.object.Refresh()
	}
	if told && f.fit != nil {
		f.fit()
	}
	return len(wrong) > 0
}

// mend puts the focus on the first row with which something is wrong.
func (f *form) mend(wrong map[string]string) {
	for _, r := range f.rows {
		if wrong[r.name] != "" {
			f.env.Window.Canvas().Focus(r.widget())
			return
		}
	}
}

// begin puts the focus on the first row.
func (f *form) begin() {
	if len(f.rows) > 0 {
		f.env.Window.Canvas().Focus(f.rows[0].widget())
	}
}

// A task is a dialog that stays until what it is for was done.
type task struct {
	*Dialog
	env    Env
	banner *Banner
	ok     *Button
	small  bool // it has no part that scrolls
}

// newTask shows a dialog with one thing to do. What do is given ends the task
// with "", or tells in it what kept that from being done.
func newTask(env Env, title, verb string, danger bool, content fyne.CanvasObject, do func(done func(problem string)), ended func()) *task {
	s := &task{env: env, banner: NewBanner()}
	box := border(s.banner.Object(), nil, nil, nil, content)
	s.Dialog = NewDialog(env, title, box, env.Texts.Get("window.cancel"), ended, Action{Label: verb, Primary: !danger, Danger: danger})
	s.ok = s.buttons[1]
	s.ok.OnTapped = func() {
		s.banner.Clear()
		s.ok.Disable()
		do(s.end)
	}
	return s
}

// end is what do is given.
func (s *task) end(problem string) {
	if s.done {
		return
	}
	s.ok.Enable()
	if problem == "" {
		s.Close()
		return
	}
	if problem != stay {
		s.banner.Error(problem, nil, "")
		if s.small {
			s.fit()
		}
	}
}

// fit gives the task the height that it needs now.
func (s *task) fit() { s.pop.Resize(s.pop.MinSize()) }

// fits has a small task be as high as it needs to be, whatever is told in it.
func (s *task) fits(f *form) {
	s.small = true
	f.fit = s.fit
	s.fit()
}

// stay keeps a task with nothing to tell: the rows do.
const stay = "\x00"

// under puts a list above what is said of one of its lines. The list is as high
// as its lines, up to a part of what there is.
type under struct {
	lines func() int
	line  float32 // height of one
}

const (
	underLeast = 4   // lines
	underMost  = 0.5 // of the height
)

func (under) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(min(objects[0].MinSize().Width, 320), 220)
}

func (u under) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	pad := theme.Padding()
	h := min(float32(max(u.lines(), underLeast)+1)*u.line, size.Height*underMost)
	objects[0].Resize(fyne.NewSize(size.Width, h))
	objects[0].Move(fyne.NewPos(0, 0))
	objects[1].Resize(fyne.NewSize(size.Width, size.Height-h-pad))
	objects[1].Move(fyne.NewPos(0, h+pad))
}

// facts are lines of a name and a value, the names in one column.
func facts(pairs [][2]string) fyne.CanvasObject {
	box := container.New(factLines{})
	for _, p := range pairs {
		value := NewText(p[1], fyne.TextStyle{})
		box.Add(aside(p[0]))
		box.Add(value)
	}
	return box
}

// factLines puts names and values in two columns, closer together than texts are
// elsewhere: they belong to each other.
type factLines struct{}

const (
	factPull = 12  // by which a line is closer to the one before
	factName = 0.4 // of the width, the most that names take
)

func (factLines) name(objects []fyne.CanvasObject) (width float32) {
	for i := 0; i < len(objects); i += 2 {
		width = max(width, objects[i].MinSize().Width)
	}
	return width
}

func (l factLines) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(l.name(objects)+40, 0)
	for i := 1; i < len(objects); i += 2 {
		size.Height += objects[i].MinSize().Height - factPull
	}
	return size.AddWidthHeight(0, factPull)
}

func (l factLines) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	names := min(l.name(objects), size.Width*factName)
	y := float32(0)
	for i := 1; i < len(objects); i += 2 {
		name, value := objects[i-1], objects[i]
		name.Resize(fyne.NewSize(names, name.MinSize().Height))
		name.Move(fyne.NewPos(0, y))
		value.Resize(fyne.NewSize(size.Width-names, value.MinSize().Height)) // it wraps now, and so gets its height
		h := value.MinSize().Height
		value.Resize(fyne.NewSize(size.Width-names, h))
		value.Move(fyne.NewPos(names, y))
		y += h - factPull
	}
}

// aside is a text of one line that matters less.
func aside(text string) fyne.CanvasObject {
	return widget.NewRichText(&widget.TextSegment{Text: text, Style: widget.RichTextStyle{ColorName: ColorMuted}})
}

// scrolled is a part of a dialog that may be longer than there is room for.
func scrolled(o fyne.CanvasObject, least float32) *container.Scroll {
	s := container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 4, 3, 14), o))
	s.SetMinSize(fyne.NewSize(0, least))
	return s
}

// relaid has what is in a scroll be laid out again, and once more for those parts
// whose height depends on the width that they were given.
func relaid(box *fyne.Container, scroll *container.Scroll) {
	box.Refresh()
	scroll.Refresh()
	box.Refresh()
	scroll.Refresh()
}
