package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

type runCommand struct {
	asJSON
	atProfile
	Name     string         `short:"n" placeholder:"NAME" help:"A name to call it by, in place of its id."`
	Timeout  *time.Duration `placeholder:"TIME" help:"Its whole life, up to 8h. It can't be made longer later. The default is that of the profile, or 1h."`
	Idle     time.Duration  `placeholder:"TIME" help:"Suspend it after so long without a call, 1m at least; the next call wakes it. The default is that of the profile, or never."`
	Template string         `placeholder:"IMAGE" help:"Name or ARN of the image. The default is that of the profile; on this computer arenero-local."`
	Version  string         `name:"template-version" placeholder:"VERSION" help:"Version of the image. The default is the newest that is active."`
	Env      []string       `short:"e" sep:"none" placeholder:"NAME=VALUE" help:"Set a variable for all that runs in it. NAME alone takes that of this shell. May be repeated."`
}

// Help is shown below the summary of "arenero run --help".
func (runCommand) Help() string {
	return `It lives until its time is up, or "arenero kill". Its id alone goes to standard output:

  id=$(arenero run)
  arenero exec $id python3 -c 'print(1+1)'`
}

// Run is "arenero run".
func (c *runCommand) Run() error {
	spec, err := c.spec()
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	p := newProgress("creating a sandbox")
	b, err := client.Create(ctx, spec)
	p.end()
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(os.Stdout, describe(b, time.Now()))
	}
	_, err = fmt.Println(b.ID)
	return err
}

func (c *runCommand) spec() (sandbox.Spec, error) {
	env, err := variables(c.Env)
	if err != nil {
		return sandbox.Spec{}, err
	}
	var life time.Duration // 0 leaves it to the profile
	if c.Timeout != nil {
		if life = *c.Timeout; life <= 0 {
			return sandbox.Spec{}, usagef("--timeout %s is no time to live", life)
		}
	}
	spec := sandbox.Spec{
		Profile: c.profile(), Template: c.Template, Version: c.Version, Timeout: life, Idle: c.Idle, Name: c.Name, Env: env,
	}
	switch {
	case c.Idle > 0 && c.Idle >= cmp.Or(life, time.Hour):
		return spec, usagef("--idle %s is not shorter than its life, %s", c.Idle, cmp.Or(life, time.Hour))
	case strings.ContainsAny(c.Name, ":/") || printable(c.Name) != c.Name:
		return spec, usagef("--name %q has a colon, a slash or something that can't be printed", c.Name)
	}
	if err := spec.Validate(); err != nil {
		return spec, usagef("%w", err)
	}
	return spec, nil
}

// variables reads NAME=VALUE, and NAME for one of this shell.
func variables(flags []string) (map[string]string, error) {
	env := map[string]string{}
	for _, f := range flags {
		name, value, ok := strings.Cut(f, "=")
		if name == "" {
			return nil, usagef("--env %q is not NAME=VALUE", f)
		}
		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				continue
			}
		}
		env[name] = value
	}
	return env, nil
}
