package view

import (
	"encoding/json"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/ui"
)

// NewHostTokenDialog lets the user choose the token of a connection. The first
// of the names is none. Do gets the place of the chosen one, and make leads to
// where tokens are made.
func NewHostTokenDialog(env Env, title string, names []string, current int, do func(i int), make func()) *Dialog {
	tx := env.Texts
	text := widget.NewLabel(tx.Get("window.hosts.bind.text"))
	text.Wrapping = fyne.TextWrapWord
	choice := NewSelect(names, nil)
	choice.Selected = names[current]
	box := container.NewVBox(text, choice)
	if len(names) == 1 {
		box.Add(Muted(tx.Get("window.hosts.bind.none")))
	}
	d := NewDialog(env, title, box, tx.Get("window.cancel"), nil,
		Action{Label: tx.Get("window.hosts.bind.make"), Do: make},
		Action{Label: tx.Get("window.hosts.do.bind"), Primary: true, Do: func() { do(choice.SelectedIndex()) }})
	env.Window.Canvas().Focus(choice)
	return d
}

// NewHostPrintDialog tells how to put our entry into a host by hand. Command is
// what prints the host's own form, or "", and program what the entry starts.
func NewHostPrintDialog(env Env, title, command, program string) *Dialog {
	d := NewDialog(env, title, byHand(env, command, program), env.Texts.Get("window.hosts.close"), nil)
	env.Window.Canvas().Focus(d.buttons[0])
	return d
}

// byHand is what to do by hand.
func byHand(env Env, command, program string) fyne.CanvasObject {
	tx := env.Texts
	box := container.NewVBox()
	say := func(key string) {
		l := widget.NewLabel(tx.Get("window.hosts.print." + key))
		l.Wrapping = fyne.TextWrapWord
		box.Add(l)
	}
	if command != "" {
		say("command")
		box.Add(Copyable(env, command))
	}
	if program == "" {
		say("missing")
		return box
	}
	say("entry")
	box.Add(Copyable(env, HostEntryText(program)))
	return box
}

// HostEntryText is our entry in the form that most hosts take.
func HostEntryText(program string) string {
	var entry struct {
		Servers struct {
			Arenero struct {
				Command string   `json:"command"`
				Args    []string `json:"args"`
			} `json:"arenero"`
		} `json:"mcpServers"`
	}
	entry.Servers.Arenero.Command, entry.Servers.Arenero.Args = ui.Visible(program), []string{}
	text, err := json.MarshalIndent(entry, "", "  ")
	if err != nil {
		return "" // of texts alone, which there is always JSON of
	}
	return string(text)
}
