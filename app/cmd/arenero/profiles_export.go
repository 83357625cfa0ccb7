package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type profilesExportCommand struct {
	asJSON
	Name   string `arg:"" complete:"profile"`
	Format string `required:"" enum:"process,env,ecs" placeholder:"FORMAT"`
}

// Run is "arenero profiles export".
func (c *profilesExportCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		switch c.Format {
		case "process":
			raw, err := s.engine(control.ProfileRequest{Action: control.ProfileProcess, Name: c.Name}, nil)
			if err != nil {
				return err
			}
			_, err = os.Stdout.Write(raw)
			return err
		case "env":
			raw, err := s.engine(control.ProfileRequest{Action: control.ProfileEnv, Name: c.Name}, nil)
			if err != nil {
				return err
			}
			var vars map[string]string
			if err := json.Unmarshal(raw, &vars); err != nil {
				return err
			}
			if vars["AWS_SESSION_TOKEN"] == "" && !c.JSON { // one of another account would spoil the key
				fmt.Println("unset AWS_SESSION_TOKEN")
			}
			return c.print(vars)
		}
		serving := false
		_, err := s.engine(control.ProfileRequest{Action: control.ProfileEndpoint, Name: c.Name}, func(e control.ProfileEvent) error {
			if e.Env == nil {
				return nil
			}
			serving = true
			if !c.JSON {
				fmt.Println("unset AWS_PROFILE AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN")
				fmt.Fprintln(os.Stderr, s.say("profiles.export.serving", "profile", c.Name))
			}
			return c.print(e.Env)
		})
		if s.ctx.Err() != nil && (errors.Is(err, context.Canceled) || sandbox.CodeOf(err) == sandbox.Canceled) {
			return nil // as it was told to end
		}
		if serving && err != nil && sandbox.CodeOf(err) != sandbox.Internal { // what it was asked for was done, until now
			return &sandbox.Error{Code: sandbox.Unreachable, Msg: s.say("profiles.export.ended", "profile", c.Name), Hint: s.say("profiles.export.ended.hint"), Retryable: true, Err: err}
		}
		return err
	})
}

// print prints variables, for a shell or for a program.
func (c *profilesExportCommand) print(vars map[string]string) error {
	if c.JSON {
		return writeJSON(os.Stdout, vars)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if _, err := fmt.Printf("export %s=%s\n", name, quote(vars[name])); err != nil {
			return err
		}
	}
	return nil
}
