package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/control"
)

// An openLog is the end of a log in front of the page.
type openLog struct {
	log    control.Log
	level  string
	text   *Text
	scroll *container.Scroll
}

// logLevels are the least levels to choose from. The first is all there is.
var logLevels = []string{"", control.LevelInfo, control.LevelWarning, control.LevelError}

// Logs lists the logs.
func (v *Settings) Logs(logs []control.Log) {
	v.logRow.Objects = nil
	for _, l := range logs {
		v.logRow.Add(container.NewHBox(NewButton(l.Name, theme.FileTextIcon(), func() { v.ShowLog(l) })))
	}
	v.logRow.Refresh()
}

// ShowLog shows the end of a log, which [Settings.LogTail] goes on with.
func (v *Settings) ShowLog(l control.Log) {
	say := v.env.Texts.Get
	o := &openLog{text: NewText("", fyne.TextStyle{Monospace: true})}
	o.text.Wrapping = fyne.TextWrapBreak
	o.text.SizeName = theme.SizeNameCaptionText
	o.scroll = container.NewVScroll(o.text)
	levels := NewSelect([]string{say("window.settings.log.all"), say("window.settings.log.info"), say("window.settings.log.warning"), say("window.settings.log.error")}, nil)
	levels.SetSelectedIndex(0)
	levels.OnChanged = func(string) {
		o.level = logLevels[max(0, levels.SelectedIndex())]
		v.OnLog()
	}
	head := container.NewHBox(widget.NewLabel(say("window.settings.log.level")), sized(levels, 220))
	d := NewDialog(v.env, l.Path, border(head, nil, nil, nil, o.scroll), say("window.close"), func() { v.log = nil },
		Action{Label: say("window.copy"), Do: func() { v.env.Copy(o.log.Tail) }})
	d.Resize(fyne.NewSize(900, 560))
	v.log = o
	v.LogTail(l, "")
	o.scroll.ScrollToBottom()
}

// OpenLog is the log that is shown, "" if none, and from which level on.
func (v *Settings) OpenLog() (name, level string) {
	if v.log == nil {
		return "", ""
	}
	return v.log.log.Name, v.log.level
}

// LogTail shows what is the end of the log now, of a level and worse. Whoever has
// scrolled up from there stays where they are.
func (v *Settings) LogTail(l control.Log, level string) {
	o := v.log
	if o == nil || level != o.level || o.log.Name != "" && l.Name != o.log.Name {
		return
	}
	text := l.Tail
	if text == "" {
		key := "window.settings.log.empty"
		if level != "" {
			key = "window.settings.log.none"
		}
		text = v.env.Texts.Get(key)
	}
	o.log = l
	if text == o.text.Text {
		return
	}
	const near = 4
	follows := o.scroll.Offset.Y >= o.scroll.Content.MinSize().Height-o.scroll.Size().Height-near
	o.text.SetText(text)
	o.scroll.Refresh()
	if follows {
		o.scroll.ScrollToBottom()
	}
}
