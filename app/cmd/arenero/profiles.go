package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

type profilesCommand struct {
	List    profilesListCommand    `cmd:""`
	Add     profilesAddCommand     `cmd:""`
	Edit    profilesEditCommand    `cmd:""`
	Test    profilesTestCommand    `cmd:""`
	Login   profilesLoginCommand   `cmd:""`
	Logout  profilesLogoutCommand  `cmd:""`
	Import  profilesImportCommand  `cmd:""`
	Export  profilesExportCommand  `cmd:""`
	Default profilesDefaultCommand `cmd:""`
	Rm      profilesRmCommand      `cmd:""`
}

// A profilesSession is what all verbs of "arenero profiles" and "arenero
// keychain" work with.
type profilesSession struct {
	*app.Profiles
	ctx    context.Context
	tx     assets.Texts
	inJSON bool
	ask    *asker
}

func openProfiles(ctx context.Context, inJSON bool) (*profilesSession, error) {
	all, err := app.OpenProfiles()
	if err != nil {
		return nil, err
	}
	return &profilesSession{all, ctx, assets.Load(hostsLanguage(all.Language()), "profiles", app.KeychainTexts), inJSON, newAsker(ctx)}, nil
}

// withProfiles does something for a verb. Its errors are in the language of the
// user.
func withProfiles(inJSON bool, do func(s *profilesSession) error) error {
	ctx, stop := interruptible()
	defer stop()
	s, err := openProfiles(ctx, inJSON)
	if err != nil {
		return err
	}
	return s.explain(do(s))
}

// say is one of our texts.
func (s *profilesSession) say(key string, args ...string) string { return s.tx.Get(key, args...) }

// engine asks the engine, and starts one if there is none.
func (s *profilesSession) engine(r control.ProfileRequest, event func(control.ProfileEvent) error) ([]byte, error) {
	client, err := need()
	if err != nil {
		return nil, err
	}
	return client.Profile(s.ctx, r, event)
}

// explain makes of what stopped us what a person can do about it, in their
// language.
func (s *profilesSession) explain(err error) error {
	if _, usage := errors.AsType[*usageError](err); usage || err == nil {
		return err
	}
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return err
	}
	detail := func(name string) string {
		if v, ok := e.Details[name]; ok && v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	key := "profiles.err." + detail("why")
	switch e.Code {
	case sandbox.SignIn:
		key = "profiles.signin." + detail("why")
	case sandbox.NoKeychain:
		out := *e
		out.Msg, out.Hint = app.KeychainWords(s.tx, detail("class"), detail("why"))
		return &out
	}
	if !s.tx.Has(key) {
		return err
	}
	out := *e
	out.Msg, out.Hint = s.say(key, "profile", detail("profile"), "command", detail("command"), "users", detail("users"),
		"file", detail("file"), "why", e.Msg, "have", names(e.Details["have"])), ""
	return &out
}

// names lists the profiles there are, of an error that may come from the engine.
func names(have any) string {
	out := []string{sandbox.ProfileLocal}
	switch have := have.(type) {
	case []string:
		out = append(out, have...)
	case []any:
		for _, name := range have {
			out = append(out, fmt.Sprint(name))
		}
	}
	return strings.Join(out, ", ")
}

type profilesListCommand struct{ asJSON }

// A profileRow is a profile, for programs. It has no secret.
type profileRow struct {
	app.Profile
	Default bool `json:"default"`
}

// Run is "arenero profiles list".
func (c *profilesListCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		all, byDefault, err := s.All()
		if err != nil {
			return err
		}
		out := []profileRow{{app.Profile{Profile: awsauth.Profile{Name: sandbox.ProfileLocal, Kind: sandbox.ProfileLocal}}, byDefault == sandbox.ProfileLocal}}
		for _, p := range all {
			out = append(out, profileRow{p, p.Name == byDefault})
		}
		if c.JSON {
			return writeJSON(os.Stdout, out)
		}
		rows := [][]string{strings.Split(s.say("profiles.columns"), "|")}
		for _, r := range out {
			mark := ""
			if r.Default {
				mark = s.say("profiles.default.mark")
			}
			row := []string{r.Name, string(r.Kind), r.Region, r.Template, whose(r.Profile), mark}
			for i := range row {
				row[i] = cmp.Or(printable(row[i]), "-")
			}
			rows = append(rows, row)
		}
		return writeTable(os.Stdout, rows)
	})
}

// whose is what a profile says of whom it uses an account as.
func whose(p app.Profile) string {
	switch p.Kind {
	case awsauth.KindSSO:
		return p.SSORole + "@" + p.SSOAccount
	case awsauth.KindRole, awsauth.KindWebIdentity:
		return p.RoleARN
	case awsauth.KindShared:
		return cmp.Or(p.SharedProfile, "default")
	case awsauth.KindKeys:
		return p.MFASerial
	}
	return ""
}

type profilesDefaultCommand struct {
	asJSON
	Name string `arg:"" complete:"profile"`
}

// Run is "arenero profiles default".
func (c *profilesDefaultCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		if err := s.SetDefault(s.ctx, c.Name); err != nil {
			return err
		}
		return s.done("profiles.default.done", c.Name, nil)
	})
}

type profilesRmCommand struct {
	asJSON
	Name  string `arg:"" complete:"profile"`
	Force bool
	Yes   bool `short:"y"`
}

// Run is "arenero profiles rm".
func (c *profilesRmCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		p, err := s.Get(c.Name)
		if err != nil {
			return err
		}
		if !c.Force {
			if err := s.unused(c.Name); err != nil {
				return err
			}
		}
		moved, err := s.Moved(s.ctx)
		if err != nil {
			return err
		}
		_, was, err := s.All()
		if err != nil {
			return err
		}
		if err := s.consent(c.Yes, "profiles.rm.ask", "profile", c.Name); err != nil {
			return err
		}
		if err := s.Drop(s.ctx, c.Name, c.Force); err != nil {
			return err
		}
		_, err = s.engine(control.ProfileRequest{Action: control.ProfileForget, Name: c.Name}, nil)
		if err != nil && p.Kind == awsauth.KindKeys { // of others there may be a session at most
			return err
		}
		if slices.Contains(moved, c.Name) {
			fmt.Fprintln(os.Stderr, s.say("profiles.rm.moved", "profile", c.Name))
		}
		if was == c.Name {
			fmt.Fprintln(os.Stderr, s.say("profiles.rm.default", "profile", sandbox.ProfileLocal))
		}
		return s.done("profiles.rm.done", c.Name, map[string]any{"was_default": was == c.Name})
	})
}

// unused refuses when sandboxes of ours live at a profile: without it nobody could
// end them.
func (s *profilesSession) unused(profile string) error {
	client, err := need()
	if err != nil {
		return err
	}
	defer client.Close()
	snap, err := snapshot(s.ctx, client)
	if err != nil {
		return err
	}
	err = app.Unused(snap, profile)
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return err
	}
	live, _ := e.Details["sandboxes"].([]string)
	for i, name := range live {
		live[i] = printable(name)
	}
	out := *e
	out.Msg = s.say("profiles.rm.live", "profile", profile, "sandboxes", strings.Join(live, ", "))
	out.Hint = s.say("profiles.rm.live.hint", "sandboxes", strings.Join(live, " "))
	return &out
}

// consent has a person agree, if there is one to ask.
func (s *profilesSession) consent(yes bool, key string, args ...string) error {
	if yes || s.inJSON || !s.ask.terminal {
		return nil
	}
	ok, err := agrees(s.ctx, s.say(key, args...)+" ", "y", "yes", "s", "sí", "si")
	if err == nil && !ok {
		err = errors.New(s.say("profiles.declined"))
	}
	return err
}

// done tells that something was done with a profile. more are further keys for
// programs.
func (s *profilesSession) done(key, profile string, more map[string]any) error {
	if s.inJSON {
		out := map[string]any{"profile": profile, "done": true}
		for k, v := range more {
			out[k] = v
		}
		return writeJSON(os.Stdout, out)
	}
	_, err := fmt.Println(s.say(key, "profile", profile))
	return err
}

// profileWords are the profiles there are, for completion.
func profileWords() []string {
	all, err := app.OpenProfiles()
	if err != nil {
		return nil
	}
	known, _, err := all.All()
	if err != nil {
		return nil
	}
	out := []string{sandbox.ProfileLocal}
	for _, p := range known {
		out = append(out, p.Name+"\t"+string(p.Kind))
	}
	return slices.Clip(out)
}
