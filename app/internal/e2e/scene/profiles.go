package scene

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// OwnProfiles are those of the scene.
func (s *Scene) OwnProfiles(context.Context, struct{}) (control.OwnProfiles, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.own
	out.Profiles = slices.Clone(out.Profiles)
	return out, nil
}

// PutProfile keeps one.
func (s *Scene) PutProfile(_ context.Context, p control.ProfilePut) (control.OwnProfile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := p.Profile.Name
	i := slices.IndexFunc(s.own.Profiles, func(o control.OwnProfile) bool { return o.Name == name })
	switch {
	case name == "" || name == sandbox.ProfileLocal:
		return control.OwnProfile{}, &sandbox.Error{Code: sandbox.Invalid, Msg: fmt.Sprintf("the name %q will not do", name), Hint: "choose another"}
	case i >= 0 && p.Fresh:
		return control.OwnProfile{}, &sandbox.Error{Code: sandbox.Exists, Msg: "there is a profile " + name + " already", Hint: "choose another name"}
	case i >= 0:
		s.own.Profiles[i] = p.Profile
	default:
		s.own.Profiles = append(s.own.Profiles, p.Profile)
		s.reaches = append(s.reaches, sandbox.Reach{Profile: name, At: s.clock.Now().UTC()})
		if p.Profile.Kind == "sso" {
			s.away[name] = true
			s.reaches[len(s.reaches)-1].Error = unsigned(name)
		}
	}
	if p.Default {
		s.own.Default, s.prefs.DefaultProfile = name, name
	}
	s.changedLocked()
	return p.Profile, nil
}

// DropProfile forgets one.
func (s *Scene) DropProfile(_ context.Context, d control.ProfileDrop) (struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.profile(d.Name); !ok {
		return struct{}{}, noProfile(d.Name)
	}
	for _, p := range s.own.Profiles {
		if p.Source == d.Name && !d.Force {
			return struct{}{}, &sandbox.Error{Code: sandbox.WrongState, Msg: "the profile " + p.Name + " needs it", Hint: "drop that one first, or force it", Details: map[string]any{"needed_by": p.Name}}
		}
	}
	s.own.Profiles = slices.DeleteFunc(s.own.Profiles, func(p control.OwnProfile) bool { return p.Name == d.Name })
	s.reaches = slices.DeleteFunc(s.reaches, func(r sandbox.Reach) bool { return r.Profile == d.Name })
	if s.own.Default == d.Name {
		s.own.Default, s.prefs.DefaultProfile = sandbox.ProfileLocal, sandbox.ProfileLocal
	}
	s.changedLocked()
	return struct{}{}, nil
}

// Importable are profiles of other files.
func (s *Scene) Importable(context.Context, struct{}) ([]control.Importable, error) {
	if s.kind == Empty {
		return []control.Importable{}, nil
	}
	return []control.Importable{
		{Name: "default", Kind: "keys", Region: region, Move: []byte("{}"), Profile: &control.OwnProfile{Name: "default", Kind: "shared", Region: region, SharedProfile: "default"}},
		{Name: "faro-sso", Kind: "sso", Region: region, Imported: lab, Profile: &control.OwnProfile{Name: "faro-sso", Kind: "shared", Region: region, SharedProfile: "faro-sso"}},
		{Name: "antiguo", Kind: "process", Profile: &control.OwnProfile{Name: "antiguo", Kind: "shared", SharedProfile: "antiguo"}},
	}, nil
}

func noProfile(name string) error {
	return &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no profile " + name, Hint: "\"arenero profiles list\" shows those there are"}
}

// Profile does what r says to a profile or the keychain of the scene.
func (s *Scene) Profile(ctx context.Context, r control.ProfileRequest, tell func(control.ProfileEvent) error) ([]byte, error) {
	switch r.Action {
	case control.KeychainStatus, control.KeychainUse, control.KeychainUnlock, control.KeychainLock, control.KeychainReset:
		return s.keychain(r)
	}
	s.mu.Lock()
	p, ok := s.profile(r.Name)
	away := s.away[r.Name]
	s.mu.Unlock()
	if !ok && r.Action != control.ProfileForget && r.Action != control.ProfileMove {
		return nil, noProfile(r.Name)
	}
	switch r.Action {
	case control.ProfileTest:
		if away {
			return nil, unsigned(r.Name)
		}
		return json.Marshal(app.ProfileTest{
			Profile: p.Name, Account: account, ARN: "arn:aws:sts::" + account + ":assumed-role/Sandboxes/ada", Asked: true, Kind: "assumed-role", Region: p.Region,
			Expires: s.clock.Now().UTC().Add(7 * time.Hour), Template: image(p.Region, p.Template), MicroVMs: 4,
		})
	case control.ProfileLogin:
		return nil, s.login(ctx, r.Name, tell)
	case control.ProfileLogout:
		s.turnAway(r.Name, true)
		return nil, nil
	case control.ProfileSetKey:
		s.turnAway(r.Name, false)
		return nil, nil
	case control.ProfileForget:
		return nil, nil
	case control.ProfileMove:
		return json.Marshal([]app.Moved{{File: "/home/ada/.aws/credentials", Section: r.Name, Line: "credential_process = arenero profiles credentials " + r.Name, Whole: true}})
	case control.ProfileRestore:
		return json.Marshal([]app.Moved{{File: "/home/ada/.aws/credentials", Section: r.Name, Whole: true}})
	}
	return nil, &sandbox.Error{Code: sandbox.Unsupported, Msg: "a scene has no credentials to give away"}
}

// login asks for what a person would do, and takes a while, or an answer, for it.
func (s *Scene) login(ctx context.Context, name string, tell func(control.ProfileEvent) error) error {
	s.mu.Lock()
	s.made++
	id, answered := fmt.Sprintf("prompt-%d", s.made), make(chan string, 1)
	s.prompts[id] = answered
	p, _ := s.profile(name)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.prompts, id)
		s.mu.Unlock()
	}()
	prompt := control.Prompt{Profile: name, URL: "https://faro.awsapps.invalid/device?user_code=FARO-2026", Code: "FARO-2026", Expires: s.clock.Now().UTC().Add(10 * time.Minute)}
	if p.MFASerial != "" {
		prompt = control.Prompt{ID: id, Profile: name, Serial: p.MFASerial}
	}
	if err := tell(control.ProfileEvent{Prompt: &prompt}); err != nil {
		return err
	}
	var later <-chan time.Time
	if prompt.ID == "" {
		later = s.clock.After(3 * time.Second)
	}
	select {
	case <-later:
	case <-answered:
	case <-ctx.Done():
		return ctx.Err()
	case <-s.stop:
		return &sandbox.Error{Code: sandbox.Unreachable, Msg: "the engine is ending", Retryable: true}
	}
	s.turnAway(name, false)
	return nil
}

// turnAway has nobody, or somebody, be signed in to a profile.
func (s *Scene) turnAway(name string, away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away[name] = away
	for i := range s.reaches {
		if r := &s.reaches[i]; r.Profile == name {
			r.At, r.Error = s.clock.Now().UTC(), nil
			if away {
				r.Error = unsigned(name)
			}
		}
	}
	s.changedLocked()
}

// Answer answers a prompt.
func (s *Scene) Answer(prompt, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	answered := s.prompts[prompt]
	if answered == nil {
		return &sandbox.Error{Code: sandbox.NotFound, Msg: "nobody waits for that answer"}
	}
	select {
	case answered <- text:
	default: // it was answered
	}
	return nil
}

func (s *Scene) keychain(r control.ProfileRequest) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Action {
	case control.KeychainUse:
		s.prefs.Keychain, s.locked = r.Name, false
	case control.KeychainLock:
		s.locked = s.prefs.Keychain == "vault"
	case control.KeychainUnlock:
		s.locked = false
	case control.KeychainReset:
		s.locked = false
	case control.KeychainStatus:
		k := app.KeychainStatus{Backend: s.prefs.Keychain, State: "ready", Secrets: 3}
		switch {
		case s.locked:
			k.State, k.Secrets = "locked", 0
		case s.kind == Empty:
			k.Secrets = 0
		case s.kind == Error && k.Backend == "system":
			k.State, k.Secrets, k.Error = "no_service", 0, "there is no keychain in this session"
		}
		return json.Marshal(k)
	}
	return nil, nil
}
