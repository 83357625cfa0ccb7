package tray

import (
	"context"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/ui"
)

// askPreferences asks what the user has set, of each engine once, and again
// whenever it tells that something was set.
func (t *tray) askPreferences(ctx context.Context) {
	if t.state.Link != ui.Linked || t.asked && t.setAt == t.state.Snapshot.Settings {
		return
	}
	t.asked, t.setAt = true, t.state.Snapshot.Settings
	go func() {
		p, err := t.cfg.Client.Preferences(ctx)
		t.post(ctx, func() {
			if err != nil { // those of before hold
				t.cfg.Log.Info("preferences can't be read", "err", err)
				return
			}
			t.prefer(p)
		})
	}()
}

// prefer goes by what the user has set from now on. Hours on the command line go
// before those of the settings.
func (t *tray) prefer(p control.Preferences) {
	t.silent, t.state.TellDone, t.state.Serving = p.Notices.Off, p.Notices.Done, p.HTTP
	if t.cfg.Quiet == nil {
		t.quiet = ui.Hours{}
		if p.Notices.Quiet != "" {
			hours, err := ui.ParseHours(p.Notices.Quiet)
			if err != nil {
				t.cfg.Log.Warn("hours without notices can't be read", "err", err)
			}
			t.quiet = hours
		}
	}
	t.speak()
}

// speak has all texts be in the language that the user has chosen now.
func (t *tray) speak() {
	if tx := t.cfg.Texts(); tx.Language != t.tx.Language {
		t.tx, t.clicked = tx, true
	}
}
