package view

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/ui"
)

// A CallsView lists what ran in a sandbox, and shows what one call says.
type CallsView struct {
	// OnStart leads to the texts of how to run something; it may be nil.
	env    Env
	calls  *ui.LiveCalls
	chosen string // by the user; "" is the newest
	seen   string

	object *fyne.Container
	table  *Table
	out    *outputView
	how    *widget.Label
	copy   *Button
	note   *widget.Label
	pane   *fyne.Container
	none   *fyne.Container
	some   *fyne.Container // what is seen when there are calls
	banner *localBanner
}

func newCallsView(env Env) *CallsView {
	v := &CallsView{env: env, banner: newLocalBanner(), out: newOutputView()}
	say := func(key string) string { return env.Texts.Get("sandboxes." + key) }
	v.table = NewTable(env, []Column{
		{Title: say("call.column.what"), Width: 92, Grow: true}, {Title: say("call.column.how"), Width: 144, From: 326}, {Title: say("call.column.took"), Width: 54, Right: true},
	})
	v.table.OnSelect = func(id string) {
		v.chosen = id
		v.Show(v.calls, env.Now())
	}
	v.how = Muted("")
	v.note = Muted("")
	v.note.Hide()
	v.out.onCopy = env.Copy
	v.copy = NewButton(say("call.copy"), theme.ContentCopyIcon(), func() {
		if c := v.calls.Get(v.seen); c != nil {
			env.Copy(c.Whole())
		}
	})
	v.copy.Importance = widget.LowImportance
	back := canvas.NewRectangle(theme.Color(ColorCard))
	head := border(nil, nil, nil, v.copy, v.how)
	v.pane = container.NewStack(back, border(container.NewVBox(head, v.note), nil, nil, nil, v.out.object()))
	v.none = container.NewStack()
	v.some = container.New(leftRight{}, v.table.Object(), v.pane)
	v.object = border(v.banner.Object(), nil, nil, nil, container.NewStack(v.none, v.some))
	v.banner.around = v.object
	v.Explain("")
	return v
}

// Banner is the line for what went wrong.
func (v *CallsView) Banner() LocalBanner { return v.banner }

// Explain says why there is nothing to see; "" is that nothing has run.
func (v *CallsView) Explain(text string) {
	if text == "" {
		text = v.env.Texts.Get("sandboxes.calls.none")
	}
	v.none.Objects = []fyne.CanvasObject{EmptyState(nil, text, "")}
	v.none.Refresh()
}

// Show draws calls, which are those of another sandbox if they are not the same
// ones as before.
func (v *CallsView) Show(calls *ui.LiveCalls, now time.Time) {
	other := calls != v.calls
	if other {
		v.chosen, v.seen = "", ""
	}
	v.calls = calls
	var all []*ui.LiveCall
	if calls != nil {
		all = calls.Newest()
	}
	visible(v.none, len(all) == 0)
	visible(v.some, len(all) > 0)
	if len(all) == 0 {
		return
	}
	rows := make([]Row, len(all))
	for i, c := range all {
		word, tone := ui.CallWord(v.env.Texts, c)
		icon := theme.ConfirmIcon()
		switch {
		case c.Runs():
			icon = theme.MediaFastForwardIcon()
		case tone == ui.ToneBad || tone == ui.ToneWarn:
			icon = theme.ErrorIcon()
		}
		rows[i] = Row{ID: c.ID, Cells: []Cell{{Text: ui.CallTitle(c), Mono: true, Icon: icon, IconColor: toneColor(tone)}, {Text: word, Color: toneColor(tone)}, {Text: ui.CallTook(v.env.Texts, c, now), Color: ColorMuted}}}
	}
	v.table.Show(rows)
	c := calls.Get(v.chosen)
	if c == nil {
		c = all[0]
	}
	if v.table.Selected() != c.ID {
		v.table.Select(c.ID)
	}
	v.showCall(c, now)
}

func (v *CallsView) showCall(c *ui.LiveCall, now time.Time) {
	other := c.ID != v.seen
	v.seen = c.ID
	before := v.how.MinSize().Height
	set(v.how, ui.CallLine(v.env.Texts, c, now))
	if v.how.MinSize().Height != before { // it takes more lines, or fewer
		v.pane.Refresh()
	}
	note := ui.CallNote(v.env.Texts, c, v.env.Explain)
	set(v.note, note)
	visible(v.note, note != "")
	enabled(v.copy, len(c.Said) > 0)
	v.out.show(c.Page(), other)
}

// set changes the text of a label, if it is another one.
func set(l *widget.Label, text string) {
	if l.Text != text {
		l.SetText(text)
	}
}

// leftRight puts a list to the left of what is said of one of its lines.
type leftRight struct{}

func (leftRight) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(objects[0].MinSize().Width+objects[1].MinSize().Width, 80)
}

func (leftRight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	pad := theme.Padding()
	w := min(max(size.Width*0.46, 180), 400)
	objects[0].Resize(fyne.NewSize(w, size.Height))
	objects[1].Resize(fyne.NewSize(size.Width-w-2*pad, size.Height))
	objects[1].Move(fyne.NewPos(w+2*pad, 0))
}
