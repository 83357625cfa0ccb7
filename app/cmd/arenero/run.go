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
	Name     string         `short:"n" placeholder:"NAME"`
	Timeout  *time.Duration `placeholder:"TIME"`
	Idle     time.Duration  `placeholder:"TIME"`
	Template string         `placeholder:"IMAGE"`
	Version  string         `name:"template-version" placeholder:"VERSION"`
	Env      []string       `short:"e" sep:"none" placeholder:"NAME=VALUE"`
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
	p := newProgress(say("cli.progress.creating-one"))
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
			return sandbox.Spec{}, wrong("cli.run.timeout", "time", life.String())
		}
	}
	spec := sandbox.Spec{
		Profile: c.profile(), Template: c.Template, Version: c.Version, Timeout: life, Idle: c.Idle, Name: c.Name, Env: env,
	}
	switch {
	case c.Idle > 0 && c.Idle >= cmp.Or(life, time.Hour):
		return spec, wrong("cli.run.idle", "idle", c.Idle.String(), "life", cmp.Or(life, time.Hour).String())
	case strings.ContainsAny(c.Name, ":/") || printable(c.Name) != c.Name:
		return spec, wrong("cli.run.name", "name", printable(c.Name))
	}
	if err := spec.Validate(); err != nil {
		return spec, &usageError{err}
	}
	return spec, nil
}

// variables reads NAME=VALUE, and NAME for one of this shell.
func variables(flags []string) (map[string]string, error) {
	env := map[string]string{}
	for _, f := range flags {
		name, value, ok := strings.Cut(f, "=")
		if name == "" {
			return nil, wrong("cli.env", "value", printable(f))
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
