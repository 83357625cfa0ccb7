package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/arenero/arenero/app/internal/cloud"
	"github.com/arenero/arenero/app/internal/jail"
)

// machines returns what starts sandboxes.
func (c *cloudCommand) machines(log *slog.Logger) (cloud.Launcher, error) {
	agent, err := c.agentPath()
	if err != nil {
		return nil, err
	}
	templates, err := readTemplates(c.Templates)
	if err != nil {
		return nil, err
	}
	j := &cloud.Jails{Agent: agent, Templates: templates, Log: log.With("part", "jail")}
	if c.NotIsolated {
		j.Kind = string(jail.NotIsolated)
		fmt.Fprintln(os.Stderr, say("cli.cloud.not-isolated"))
	}
	return newStarter(j), nil
}

// readTemplates reads what --templates names: an object of templates by name.
func readTemplates(file string) (map[string]cloud.Template, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, wrong("cli.flag", "flag", "--templates", "why", reason(err))
	}
	var templates map[string]cloud.Template
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.DisallowUnknownFields() // a misspelt deny list must not pass for an empty one
	if err := dec.Decode(&templates); err != nil {
		return nil, wrong("cli.flag.value", "flag", "--templates", "value", file, "why", reason(err))
	}
	for name, t := range templates {
		if err := t.Egress.Validate(); err != nil {
			return nil, wrong("cli.flag.value", "flag", "--templates", "value", file+": "+name, "why", reason(err))
		}
	}
	return templates, nil
}

// A starter is a [cloud.Launcher] that says, once, what to do where no sandbox
// can be made. It looks only when one was not: a container engine may have to
// be asked, which takes a while.
type starter struct {
	*cloud.Jails
	explain func()
}

func newStarter(jails *cloud.Jails) starter {
	return starter{jails, sync.OnceFunc(func() {
		report := jail.Probe(context.Background())
		if report.Best != "" {
			return // it was something else, and the log has it
		}
		fmt.Fprintln(os.Stderr, say("cli.cloud.no-isolation"))
		for _, m := range report.Means {
			fmt.Fprintf(os.Stderr, "  %s: %s. %s\n", m.Kind, inLanguage(m.Why), inLanguage(m.Remedy))
		}
	})}
}

// Start makes a sandbox.
func (s starter) Start(ctx context.Context, spec cloud.Spec) (cloud.Machine, error) {
	m, err := s.Jails.Start(ctx, spec)
	if err != nil && ctx.Err() == nil {
		s.explain()
	}
	return m, err
}
