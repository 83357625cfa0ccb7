package app

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/sandbox"
)

// owns are the owner's profiles, as programs without an engine have them.
func (a *App) owns() *Profiles { return &Profiles{a.accounts.file, a.accounts.secrets.dir} }

// OwnProfiles are the owner's profiles of AWS, in the order they were made.
func (g *gate) OwnProfiles(ctx context.Context, _ struct{}) (control.OwnProfiles, error) {
	return owned(ctx, g, func() (control.OwnProfiles, error) {
		all, byDefault, err := g.engine.app.owns().All()
		if err != nil {
			return control.OwnProfiles{}, g.engine.app.unreadable(err)
		}
		moved, err := g.engine.app.owns().Moved(ctx)
		if err != nil { // the profiles are there all the same
			g.engine.app.accounts.log.Debug("keys that were moved are not known", "err", err)
		}
		out := control.OwnProfiles{Default: byDefault, Profiles: []control.OwnProfile{}}
		for _, p := range all {
			own := ownOf(p)
			own.Moved = slices.Contains(moved, p.Name)
			out.Profiles = append(out.Profiles, own)
		}
		return out, nil
	})
}

// ownOf is a profile as clients have it.
func ownOf(p Profile) control.OwnProfile {
	return control.OwnProfile{
		Name: p.Name, Kind: string(p.Kind), Region: p.Region, MFASerial: p.MFASerial, DurationSeconds: p.DurationSeconds, NoSession: p.NoSession,
		StartURL: p.StartURL, SSORegion: p.SSORegion, SSOSession: p.SSOSession, SSOAccount: p.SSOAccount, SSORole: p.SSORole, SSOFlow: p.SSOFlow,
		RoleARN: p.RoleARN, Source: p.Source, ExternalID: p.ExternalID, SessionName: p.SessionName, TokenFile: p.TokenFile,
		Command: p.Command, SharedProfile: p.SharedProfile, Template: p.Template, Version: p.Version, Role: p.Role, Endpoint: p.Endpoint,
		TimeoutSeconds: p.TimeoutSeconds, IdleSeconds: p.IdleSeconds,
	}
}

// profileOf is what a client wants a profile to be.
func profileOf(p control.OwnProfile) Profile {
	return Profile{Profile: awsauth.Profile{
		Name: p.Name, Kind: awsauth.Kind(p.Kind), Region: p.Region, MFASerial: p.MFASerial, DurationSeconds: p.DurationSeconds, NoSession: p.NoSession,
		StartURL: p.StartURL, SSORegion: p.SSORegion, SSOSession: p.SSOSession, SSOAccount: p.SSOAccount, SSORole: p.SSORole, SSOFlow: p.SSOFlow,
		RoleARN: p.RoleARN, Source: p.Source, ExternalID: p.ExternalID, SessionName: p.SessionName, TokenFile: p.TokenFile,
		Command: p.Command, SharedProfile: p.SharedProfile, Template: p.Template, Version: p.Version, Role: p.Role, Endpoint: p.Endpoint,
	}, TimeoutSeconds: p.TimeoutSeconds, IdleSeconds: p.IdleSeconds}
}

// PutProfile keeps a profile.
func (g *gate) PutProfile(ctx context.Context, p control.ProfilePut) (control.OwnProfile, error) {
	return owned(ctx, g, func() (control.OwnProfile, error) {
		all := g.engine.app.owns()
		if err := all.Put(ctx, profileOf(p.Profile), p.Fresh); err != nil {
			return control.OwnProfile{}, deskError(err)
		}
		if p.Default {
			if err := all.SetDefault(ctx, p.Profile.Name); err != nil {
				return control.OwnProfile{}, deskError(err)
			}
		}
		kept, err := all.Get(p.Profile.Name)
		return ownOf(kept), deskError(err)
	})
}

// DropProfile forgets a profile, and what is kept of it in the keychain.
func (g *gate) DropProfile(ctx context.Context, d control.ProfileDrop) (struct{}, error) {
	return owned(ctx, g, nothingAt(func() error {
		a := g.engine.app
		own, err := a.owns().Get(d.Name)
		if err != nil {
			return deskError(err)
		}
		if !d.Force {
			if err := Unused(g.Snapshot(), d.Name); err != nil {
				return err
			}
		}
		if err := a.owns().Drop(ctx, d.Name, d.Force); err != nil {
			return keptError(err)
		}
		err = a.accounts.auth.Forget(ctx, d.Name)
		if err != nil && own.Kind == awsauth.KindKeys { // of others there may be a session at most
			return keptError(err)
		}
		return nil
	}))
}

// keptError is err of what has to do with the keychain.
func keptError(err error) error {
	if e := accountError(err); e != nil {
		return e
	}
	return deskError(err)
}

// Unused refuses when sandboxes of ours live at a profile: without it nobody could
// end them.
func Unused(snap sandbox.Snapshot, profile string) error {
	var names, words []string
	for _, b := range snap.Sandboxes {
		if b.Profile == profile && b.State.Alive() && !b.Orphan {
			names = append(names, cmp.Or(b.Name, b.ID))
		}
	}
	if len(names) == 0 {
		return nil
	}
	words = append(words, names...)
	return &sandbox.Error{
		Code: sandbox.WrongState, Msg: "sandboxes of the profile " + profile + " are alive: " + strings.Join(words, ", "),
		Hint:    "without the profile they can't be ended, and cost until their time is up: end them first",
		Details: map[string]any{"why": "live", "profile": profile, "sandboxes": names},
	}
}

// Importable are the profiles in the owner's own files of AWS.
func (g *gate) Importable(ctx context.Context, _ struct{}) ([]control.Importable, error) {
	return owned(ctx, g, func() ([]control.Importable, error) {
		files, err := AWSFiles("")
		if err != nil {
			return nil, deskError(err)
		}
		found, _, err := awsauth.Scan(ctx, files)
		if err != nil {
			return nil, deskError(err)
		}
		own, _, err := g.engine.app.owns().All()
		if err != nil {
			return nil, g.engine.app.unreadable(err)
		}
		out := []control.Importable{}
		for _, f := range found {
			one, err := importable(files, f, own)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
		return out, nil
	})
}

// ImportedAs is the profile of ours that uses one of the files, or "".
func ImportedAs(f awsauth.Found, own []Profile) string {
	as := ""
	for _, p := range own {
		if p.Kind == awsauth.KindShared && cmp.Or(p.SharedProfile, "default") == f.Name || p.Kind == awsauth.KindKeys && p.Name == f.Name {
			as = p.Name
		}
	}
	return as
}

// importable is what can be done with a profile of the files.
func importable(files awsauth.Files, f awsauth.Found, own []Profile) (control.Importable, error) {
	out := control.Importable{Name: f.Name, Kind: string(f.Kind), Region: f.Region, Imported: ImportedAs(f, own), NoRegion: f.Region == "" && f.Err == nil}
	if f.LongLived {
		out.Warnings = append(out.Warnings, control.Text{Key: "profiles.import.long-lived"})
	}
	if f.Err != nil {
		out.Problem = &control.Text{Key: f.Err.Error()}
		return out, nil
	}
	shared := ownOf(Profile{Profile: awsauth.Profile{Name: f.Name, Kind: awsauth.KindShared, SharedProfile: f.Name}})
	out.Profile = &shared
	if f.Kind != awsauth.KindKeys {
		return out, nil
	}
	var err error
	out.Move, err = json.Marshal(Move{Files: files, Shared: f.Name, Profile: Profile{Profile: awsauth.Profile{Name: f.Name, Kind: awsauth.KindKeys, Region: f.Region}}})
	return out, err
}
