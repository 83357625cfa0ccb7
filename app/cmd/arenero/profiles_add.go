package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/sandbox"
)

// profileFlags say what a profile is. One that is not given leaves it as it is.
type profileFlags struct {
	Region   *string        `placeholder:"REGION"`
	Template *string        `placeholder:"IMAGE"`
	Version  *string        `name:"template-version" placeholder:"VERSION"`
	Role     *string        `placeholder:"ARN"`
	Timeout  *time.Duration `placeholder:"TIME"`
	Idle     *time.Duration `placeholder:"TIME"`
	Endpoint *string        `placeholder:"URL"`

	MFASerial *string        `name:"mfa-serial" group:"Keys and roles" placeholder:"ARN"`
	Session   *time.Duration `name:"session" group:"Keys and roles" placeholder:"TIME"`
	NoSession *bool          `name:"no-session" group:"Keys and roles" negatable:""`
	RoleARN   *string        `name:"role-arn" group:"Keys and roles" placeholder:"ARN"`
	Source    *string        `name:"source-profile" group:"Keys and roles" placeholder:"NAME"`
	External  *string        `name:"external-id" group:"Keys and roles" placeholder:"ID"`
	RoleName  *string        `name:"role-session-name" group:"Keys and roles" placeholder:"NAME"`
	TokenFile *string        `name:"web-identity-token-file" group:"Keys and roles" placeholder:"FILE"`

	StartURL   *string `name:"sso-start-url" group:"IAM Identity Center" placeholder:"URL"`
	SSORegion  *string `name:"sso-region" group:"IAM Identity Center" placeholder:"REGION"`
	SSOSession *string `name:"sso-session" group:"IAM Identity Center" placeholder:"NAME"`
	SSOAccount *string `name:"sso-account-id" group:"IAM Identity Center" placeholder:"ID"`
	SSORole    *string `name:"sso-role-name" group:"IAM Identity Center" placeholder:"NAME"`
	SSOFlow    *string `name:"sso-flow" group:"IAM Identity Center" placeholder:"FLOW"`

	Command *string `name:"credential-process" group:"Others" placeholder:"COMMAND"`
	Shared  *string `name:"shared-profile" group:"Others" placeholder:"NAME"`
}

// apply has a profile be what the flags say.
func (f profileFlags) apply(p *app.Profile) error {
	if err := f.alien(p); err != nil {
		return err
	}
	for _, s := range f.texts(p) {
		if s.from != nil {
			*s.to = *s.from
		}
	}
	if f.NoSession != nil {
		p.NoSession = *f.NoSession
	}
	for _, d := range []struct {
		flag string
		from *time.Duration
		to   *int
	}{{"timeout", f.Timeout, &p.TimeoutSeconds}, {"idle", f.Idle, &p.IdleSeconds}, {"session", f.Session, &p.DurationSeconds}} {
		if d.from == nil {
			continue
		}
		if *d.from%time.Second != 0 || *d.from < 0 {
			return usagef("--%s %s is no number of seconds", d.flag, *d.from)
		}
		*d.to = int(*d.from / time.Second)
	}
	return nil
}

// A flagText is a flag with a text, and where it goes.
type flagText struct {
	name string
	from *string
	to   *string
}

func (f profileFlags) texts(p *app.Profile) []flagText {
	return []flagText{
		{"region", f.Region, &p.Region},
		{"template", f.Template, &p.Template},
		{"template-version", f.Version, &p.Version},
		{"role", f.Role, &p.Role},
		{"endpoint", f.Endpoint, &p.Endpoint},
		{"mfa-serial", f.MFASerial, &p.MFASerial},
		{"role-arn", f.RoleARN, &p.RoleARN},
		{"source-profile", f.Source, &p.Source},
		{"external-id", f.External, &p.ExternalID},
		{"role-session-name", f.RoleName, &p.SessionName},
		{"web-identity-token-file", f.TokenFile, &p.TokenFile},
		{"sso-start-url", f.StartURL, &p.StartURL},
		{"sso-region", f.SSORegion, &p.SSORegion},
		{"sso-session", f.SSOSession, &p.SSOSession},
		{"sso-account-id", f.SSOAccount, &p.SSOAccount},
		{"sso-role-name", f.SSORole, &p.SSORole},
		{"sso-flow", f.SSOFlow, &p.SSOFlow},
		{"credential-process", f.Command, &p.Command},
		{"shared-profile", f.Shared, &p.SharedProfile},
	}
}

// wanted are the flags that a kind can't do without.
var wanted = map[awsauth.Kind][]string{
	awsauth.KindKeys:        {"region"},
	awsauth.KindSSO:         {"sso-start-url", "sso-region", "sso-account-id", "sso-role-name", "region"},
	awsauth.KindRole:        {"role-arn", "source-profile", "region"},
	awsauth.KindWebIdentity: {"role-arn", "web-identity-token-file", "region"},
	awsauth.KindProcess:     {"credential-process", "region"},
	awsauth.KindMetadata:    {"region"},
}

// belongs are the kinds that a flag means something to. One that is not here does to
// all kinds.
var belongs = map[string][]awsauth.Kind{
	"mfa-serial":              {awsauth.KindKeys, awsauth.KindRole},
	"session":                 {awsauth.KindKeys, awsauth.KindRole, awsauth.KindWebIdentity},
	"role-arn":                {awsauth.KindRole, awsauth.KindWebIdentity},
	"source-profile":          {awsauth.KindRole},
	"external-id":             {awsauth.KindRole},
	"role-session-name":       {awsauth.KindRole, awsauth.KindWebIdentity},
	"web-identity-token-file": {awsauth.KindWebIdentity},
	"sso-start-url":           {awsauth.KindSSO},
	"sso-region":              {awsauth.KindSSO},
	"sso-session":             {awsauth.KindSSO},
	"sso-account-id":          {awsauth.KindSSO},
	"sso-role-name":           {awsauth.KindSSO},
	"sso-flow":                {awsauth.KindSSO},
	"credential-process":      {awsauth.KindProcess},
	"shared-profile":          {awsauth.KindShared},
	"no-session":              {awsauth.KindKeys},
}

// alien says which flags mean nothing to a kind: whoever gave one thinks that it
// does something. To take a value away is no mistake.
func (f profileFlags) alien(p *app.Profile) error {
	given := map[string]bool{"session": f.Session != nil && *f.Session != 0, "no-session": f.NoSession != nil && *f.NoSession}
	for _, t := range f.texts(p) {
		given[t.name] = t.from != nil && *t.from != ""
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if kinds, some := belongs[name]; some && given[name] && !slices.Contains(kinds, p.Kind) {
			return usagef("--%s means nothing to a profile of kind %s", name, p.Kind)
		}
	}
	return nil
}

// complete asks a person for what is missing, and without one says what is.
func (s *profilesSession) complete(f profileFlags, p *app.Profile) error {
	var missing []string
	for _, name := range wanted[p.Kind] {
		for _, t := range f.texts(p) {
			if t.name != name || *t.to != "" {
				continue
			}
			if !s.ask.terminal || s.inJSON {
				missing = append(missing, "--"+name)
				continue
			}
			text, err := s.ask.line(name + ":")
			if err != nil {
				return err
			}
			*t.to = strings.TrimSpace(text)
		}
	}
	if len(missing) > 0 {
		return &usageError{errors.New(s.say("profiles.missing", "kind", string(p.Kind), "flags", strings.Join(missing, ", ")))}
	}
	return nil
}

// put keeps a profile. What is wrong with how it is written is a mistake in the
// command line.
func (s *profilesSession) put(p app.Profile, fresh bool) error {
	err := s.Put(s.ctx, p, fresh)
	if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Code == sandbox.Invalid {
		return &usageError{errors.New(sandbox.Message(s.explain(err)))}
	}
	return err
}

type profilesAddCommand struct {
	asJSON
	profileFlags
	Name    string `arg:""`
	Kind    string `required:"" enum:"keys,sso,role,web-identity,process,shared,metadata,environment" placeholder:"KIND"`
	KeyFile string `name:"key-file" placeholder:"FILE"`
	Default bool
}

// Run is "arenero profiles add".
func (c *profilesAddCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		p := app.Profile{Profile: awsauth.Profile{Name: c.Name, Kind: awsauth.Kind(c.Kind)}}
		if c.KeyFile != "" && p.Kind != awsauth.KindKeys {
			return usagef("--key-file is for --kind keys alone")
		}
		if err := c.apply(&p); err != nil {
			return err
		}
		if err := s.complete(c.profileFlags, &p); err != nil {
			return err
		}
		if err := s.put(p, true); err != nil {
			return err
		}
		if p.Kind == awsauth.KindKeys {
			if err := s.setKey(p.Name, c.KeyFile); err != nil {
				return errors.Join(err, s.Drop(context.WithoutCancel(s.ctx), p.Name, true)) // half a profile is of no use
			}
		}
		if c.Default {
			if err := s.SetDefault(s.ctx, p.Name); err != nil {
				return err
			}
		}
		return s.done("profiles.add.done", p.Name, nil)
	})
}

// setKey gets a key and has the engine keep it.
func (s *profilesSession) setKey(profile, file string) error {
	key, err := s.key(profile, file)
	if errors.Is(err, errNoKey) {
		return errors.New(s.say("profiles.no-key"))
	}
	if err != nil {
		return err
	}
	data, err := json.Marshal(key)
	if err != nil {
		return err
	}
	_, err = s.engine(control.ProfileRequest{Action: control.ProfileSetKey, Name: profile, Data: data}, nil)
	return err
}

type profilesEditCommand struct {
	asJSON
	profileFlags
	Name    string `arg:"" complete:"profile"`
	Key     bool
	KeyFile string `name:"key-file" placeholder:"FILE"`
}

// Run is "arenero profiles edit".
func (c *profilesEditCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		p, err := s.Get(c.Name)
		if err != nil {
			return err
		}
		newKey := c.Key || c.KeyFile != ""
		if newKey && p.Kind != awsauth.KindKeys {
			return usagef("--key and --key-file are for profiles of kind keys")
		}
		if err := c.apply(&p); err != nil {
			return err
		}
		if err := s.put(p, false); err != nil {
			return err
		}
		if newKey {
			if err := s.setKey(p.Name, c.KeyFile); err != nil {
				return err
			}
		}
		return s.done("profiles.edit.done", p.Name, nil)
	})
}
