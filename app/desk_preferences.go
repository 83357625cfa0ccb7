package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/desktop"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// A login is what starts the tray when the user signs in to this computer.
type login interface {
	// Can reports whether this system has a place for it.
	Can() bool
	Enabled() (bool, error)
	// Set has the tray of program started, or not.
	Set(ctx context.Context, on bool, program string) error
}

var _ login = desktop.Login{}

// Preferences are what the owner has set for the whole program.
func (g *gate) Preferences(ctx context.Context, _ struct{}) (control.Preferences, error) {
	return owned(ctx, g, g.engine.app.preferences)
}

func (a *App) preferences() (control.Preferences, error) {
	s, err := a.connections.file.Read()
	if err != nil {
		return control.Preferences{}, a.unreadable(err)
	}
	dirs, err := paths.Find()
	if err != nil {
		return control.Preferences{}, deskError(err)
	}
	out := control.Preferences{
		Language: s.Language, Theme: s.Theme, DefaultProfile: cmp.Or(s.DefaultProfile, sandbox.ProfileLocal),
		Notices: control.Notices{Off: s.Notices.Off, Quiet: s.Notices.Quiet, Done: !s.Notices.Undone},
		Paused:  s.Paused, GuideDone: s.GuideDone, Window: s.Window, Keychain: cmp.Or(s.Keychain, string(keychain.System)),
		Settings: a.connections.file.Path(), LogFolder: filepath.Join(dirs.State, "log"), Version: a.cfg.Version, HTTP: a.http.now(),
	}
	if l := a.cfg.Login; l.Can() {
		out.CanStart = true
		if out.StartAtLogin, err = l.Enabled(); err != nil {
			a.cfg.Log.Warn("start at login can't be told", "err", err)
		}
	}
	return out, nil
}

// unreadable is err of reading the settings.
func (a *App) unreadable(err error) error {
	return &sandbox.Error{Code: sandbox.StoreDown, Msg: "the settings can't be read", Hint: "see " + a.connections.file.Path(), Err: err}
}

// EditPreferences changes what is not nil.
func (g *gate) EditPreferences(ctx context.Context, e control.PreferencesEdit) (control.Preferences, error) {
	return owned(ctx, g, func() (control.Preferences, error) {
		a := g.engine.app
		if err := checkPreferences(e); err != nil {
			return control.Preferences{}, err
		}
		if e.StartAtLogin != nil {
			if err := a.startAtLogin(ctx, *e.StartAtLogin); err != nil {
				return control.Preferences{}, err
			}
		}
		var order httpOrder
		err := a.connections.file.Change(ctx, func(s *settings.Settings) error {
			if p := e.DefaultProfile; p != nil {
				if _, ok := s.Profile(*p); !ok && *p != sandbox.ProfileLocal {
					return noProfile(*p, *s)
				}
				s.DefaultProfile = *p
			}
			put(&s.Language, e.Language)
			put(&s.Theme, e.Theme)
			put(&s.GuideDone, e.GuideDone)
			put(&s.Window, e.Window)
			if n := e.Notices; n != nil {
				s.Notices.Off, s.Notices.Quiet, s.Notices.Undone = n.Off, n.Quiet, !n.Done
			}
			serving(s, e.HTTP)
			order = httpOrderOf(*s)
			return nil
		})
		if err != nil {
			// Whoever wants it off must not have to mend the disk first.
			if h := e.HTTP; h != nil && h.On != nil && !*h.On && a.http.end() {
				a.fleet.Renew()
				err = endedUnwritten(err)
			}
			return control.Preferences{}, deskError(err)
		}
		if e.HTTP != nil {
			a.http.want(order)
		}
		a.fleet.Renew()
		return a.preferences()
	})
}

// endedUnwritten is err of writing down that nothing is served over HTTP any more.
func endedUnwritten(err error) error {
	e, ok := errors.AsType[*sandbox.Error](deskError(err))
	if !ok {
		return err
	}
	e.Hint = "nothing is served over HTTP any more, but when the engine starts again it will be: mend the settings and switch it off once more"
	return e
}

// put replaces what somebody wants to be otherwise.
func put[T any](old, changed *T) {
	if changed != nil {
		*old = *changed
	}
}

// windowLength is room for any size of a window, as their program writes it.
const windowLength = 32

// checkPreferences refuses what nothing of ours could use.
func checkPreferences(e control.PreferencesEdit) error {
	invalid := func(field, msg string) error {
		return &sandbox.Error{Code: sandbox.Invalid, Msg: msg, Details: map[string]any{"field": field}}
	}
	switch {
	case e.Language != nil && !slices.Contains([]string{"", assets.English, assets.Spanish}, *e.Language):
		return invalid("language", "there is no language "+*e.Language+": use en or es, or leave it to the system")
	case e.Theme != nil && !slices.Contains([]string{"", "light", "dark"}, *e.Theme):
		return invalid("theme", "there is no theme "+*e.Theme+": use light or dark, or leave it to the system")
	case e.Window != nil && len(*e.Window) > windowLength:
		return invalid("window", "that is no size of a window: write it as 960x640")
	case e.Notices != nil:
		if err := settings.CheckQuiet(e.Notices.Quiet); err != nil {
			return invalid("notices", err.Error())
		}
	}
	return checkServing(e.HTTP)
}

// startAtLogin has the tray started when the user signs in, or not.
func (a *App) startAtLogin(ctx context.Context, on bool) error {
	if !a.cfg.Login.Can() {
		if !on {
			return nil
		}
		return &sandbox.Error{Code: sandbox.Unsupported, Msg: "this system has no place for programs that start at login"}
	}
	err := a.cfg.Login.Set(ctx, on, a.cfg.Program)
	if errors.Is(err, desktop.ErrForeign) && !on {
		return &sandbox.Error{
			Code: sandbox.WrongState, Msg: "what starts at login under the name of Arenero is not of Arenero, and stays as it is",
			Hint: "Arenero itself does not start at login; to have nothing start, remove that entry in the settings of the desktop", Err: err,
		}
	}
	if errors.Is(err, desktop.ErrForeign) {
		return &sandbox.Error{
			Code: sandbox.Exists, Msg: "another program has the name among those that start at login that Arenero would have",
			Hint: "remove that entry in the settings of the desktop, and try again", Err: err,
		}
	}
	return deskError(err)
}

// pause has requests for new sandboxes refused, and keeps that for the engines
// that follow.
func (a *App) pause(ctx context.Context, paused bool) error {
	err := a.connections.file.Change(ctx, func(s *settings.Settings) error { s.Paused = paused; return nil })
	if err != nil {
		return deskError(err)
	}
	a.fleet.Pause(paused)
	return nil
}
