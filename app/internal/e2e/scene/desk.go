package scene

import (
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// Preferences are what is set.
func (s *Scene) Preferences(context.Context, struct{}) (control.Preferences, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.prefs.HTTP.State == "" {
		s.serve(nil)
	}
	return s.prefs, nil
}

// EditPreferences sets what is not nil.
func (s *Scene) EditPreferences(_ context.Context, e control.PreferencesEdit) (control.Preferences, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.DefaultProfile != nil && *e.DefaultProfile != sandbox.ProfileLocal {
		if _, ok := s.profile(*e.DefaultProfile); !ok {
			return s.prefs, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no profile " + *e.DefaultProfile}
		}
	}
	set(&s.prefs.Language, e.Language)
	set(&s.prefs.Theme, e.Theme)
	set(&s.prefs.DefaultProfile, e.DefaultProfile)
	set(&s.prefs.Notices, e.Notices)
	set(&s.prefs.StartAtLogin, e.StartAtLogin)
	set(&s.prefs.GuideDone, e.GuideDone)
	set(&s.prefs.Window, e.Window)
	s.serve(e.HTTP)
	s.settings++
	s.own.Default = s.prefs.DefaultProfile
	s.changedLocked()
	return s.prefs, nil
}

// serve says that the tools are served over HTTP, as nothing is.
func (s *Scene) serve(e *control.ServingEdit) {
	h := &s.prefs.HTTP
	h.Address, h.Auth = cmp.Or(h.Address, "127.0.0.1:8000"), cmp.Or(h.Auth, control.AuthNone)
	if e != nil {
		set(&h.On, e.On)
		set(&h.Address, e.Address)
		set(&h.Auth, e.Auth)
	}
	h.State, h.URL = control.ServingOff, ""
	if h.On {
		h.State, h.URL = control.ServingOn, "http://"+h.Address+"/mcp"
	}
	h.Open = !strings.HasPrefix(h.Address, "127.")
}

func set[T any](old, changed *T) {
	if changed != nil {
		*old = *changed
	}
}

// Pause has no sandboxes made.
func (s *Scene) Pause(_ context.Context, paused bool) (struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prefs.Paused = paused
	s.changedLocked()
	return struct{}{}, nil
}

// Diagnose makes no checks, and finds what the scene has.
func (s *Scene) Diagnose(_ context.Context, profile string, emit func(control.Finding) error) error {
	s.mu.Lock()
	name := cmp.Or(profile, s.prefs.DefaultProfile)
	away := s.away[name]
	s.mu.Unlock()
	found := []control.Finding{
		{Name: "programs", Level: "ok", What: text("doctor.programs.ok", "version", version), Took: 41 * time.Millisecond},
		{Name: "engine", Level: "ok", What: text("doctor.engine.ok", "version", version, "pid", "4242", "sandboxes", "11"), Took: 3 * time.Millisecond},
		{Name: "ledger", Level: "ok", What: text("doctor.ledger.ok"), Took: 18 * time.Millisecond},
		{Name: "tray", Level: "ok", What: text("doctor.tray.ok"), Took: 6 * time.Millisecond},
		{Name: "keychain", Level: "ok", What: text("doctor.keychain.ok", "secrets", "3"), Took: 77 * time.Millisecond},
		{Name: "jail", Level: "ok", What: text("doctor.jail.ok", "kind", "bubblewrap"), Took: 95 * time.Millisecond},
	}
	switch s.kind {
	case Error:
		found[2] = control.Finding{Name: "ledger", Level: "warn", What: text("doctor.ledger.odd", "count", "1", "subject", "global", "rule", "sum"), Remedy: new(text("doctor.ledger.odd.remedy", "file", "/home/ada/.local/state/arenero/ledger.db")), Took: 22 * time.Millisecond}
		found[3] = control.Finding{Name: "tray", Level: "warn", What: text("doctor.tray.none"), Remedy: new(text("doctor.tray.remedy")), Took: 5 * time.Millisecond}
	case Down:
		found[2] = control.Finding{Name: "ledger", Level: "fail", What: text("doctor.ledger.full", "file", "/home/ada/.local/state/arenero/ledger.db"), Remedy: new(text("doctor.ledger.full.remedy")), Took: 2 * time.Millisecond}
	}
	if away {
		found = append(found, control.Finding{Name: "profiles", Level: "fail", What: text("doctor.sign-in", "profile", name, "why", "expired"), Remedy: new(text("doctor.sign-in.remedy", "command", "arenero profiles login "+name))})
	}
	for _, f := range found {
		begins := control.Finding{Name: f.Name, What: text("doctor.check." + f.Name)}
		if err := emit(begins); err != nil {
			return err
		}
		if err := emit(f); err != nil {
			return err
		}
	}
	return nil
}

// SaveBundle writes a file that says where it is from.
func (s *Scene) SaveBundle(_ context.Context, path string) (string, error) {
	if path == "" {
		f, err := os.CreateTemp("", "arenero-scene-*.zip")
		if err != nil {
			return "", err
		}
		path = f.Name()
		if err := f.Close(); err != nil {
			return "", err
		}
	}
	return path, os.WriteFile(path, []byte("a scene, which has nothing to tell\n"), 0o600)
}

// Logs are those of the scene.
func (s *Scene) Logs(context.Context, control.LogQuery) ([]control.Log, error) {
	at := func(ago time.Duration) string { return "time=" + s.began.Add(-ago).Format(time.RFC3339) }
	tail := at(21*time.Minute) + " level=INFO msg=\"engine started\" version=" + version + "\n" +
		at(20*time.Minute) + " level=INFO msg=\"sandbox ready\" part=fleet profile=local\n" +
		at(4*time.Minute) + " level=WARN msg=\"profile not reached\" part=fleet profile=" + night + " code=cloud_unavailable\n"
	return []control.Log{
		{Name: "engine.log", Path: s.prefs.LogFolder + "/engine.log", Tail: tail},
		{Name: "tray.log", Path: s.prefs.LogFolder + "/tray.log", Tail: at(21*time.Minute) + " level=INFO msg=\"icon shown\"\n"},
	}, nil
}
