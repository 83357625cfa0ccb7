package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/arenero/arenero/app/control"
)

type httpCommand struct {
	On     httpOnCommand     `cmd:""`
	Off    httpOffCommand    `cmd:""`
	Status httpStatusCommand `cmd:""`
}

type httpOnCommand struct {
	asJSON
	Addr string  `placeholder:"HOST:PORT"`
	Auth *string `placeholder:"HOW"`
}

// Run is "arenero http on".
func (c *httpOnCommand) Run() error {
	if a := c.Auth; a != nil && *a != control.AuthNone && *a != control.AuthToken {
		return wrong("cli.http.auth", "value", *a)
	}
	e := &control.ServingEdit{On: new(true), Auth: c.Auth}
	if c.Addr != "" {
		e.Address = &c.Addr
	}
	return editServing(c.JSON, e)
}

type httpOffCommand struct{ asJSON }

// Run is "arenero http off".
func (c *httpOffCommand) Run() error {
	return editServing(c.JSON, &control.ServingEdit{On: new(bool)})
}

type httpStatusCommand struct{ asJSON }

// Run is "arenero http status".
func (c *httpStatusCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	s, err := settledServing(ctx, client)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(os.Stdout, s)
	}
	return printServing(s, true)
}

// editServing changes how the tools are served, and tells what came of it.
func editServing(inJSON bool, e *control.ServingEdit) error {
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	if _, err := client.EditPreferences(ctx, control.PreferencesEdit{HTTP: e}); err != nil {
		return err
	}
	s, err := settledServing(ctx, client)
	if err != nil {
		return err
	}
	if inJSON {
		if err := writeJSON(os.Stdout, s); err != nil || s.State != control.ServingFailed {
			return err
		}
		return &exitError{exitFailed}
	}
	return printServing(s, false)
}

// servedWithin is how long the program that serves may take to start.
const servedWithin = 20 * time.Second

// settledServing is how the tools are served, once that is known.
func settledServing(ctx context.Context, client *control.Client) (control.Serving, error) {
	for end := time.Now().Add(servedWithin); ; {
		p, err := client.Preferences(ctx)
		if err != nil || p.HTTP.State != control.ServingStarting || time.Now().After(end) {
			return p.HTTP, err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return p.HTTP, ctx.Err()
		}
	}
}

// printServing tells a person how the tools are served. That they are not though
// somebody wants it is an error, unless it was only looked.
func printServing(s control.Serving, looked bool) error {
	switch s.State {
	case control.ServingOff:
		fmt.Println(say("cli.http.off"))
		return nil
	case control.ServingFailed:
		text := say("cli.http.failed", "why", toldText(s.Why))
		if s.Remedy != nil {
			text += ". " + toldText(s.Remedy)
		}
		if !looked {
			return errors.New(text)
		}
		fmt.Println(text)
		return nil
	case control.ServingOn:
		fmt.Println(say("cli.http.serving", "url", s.URL))
	default:
		fmt.Println(say("cli.http.starting", "address", s.Address))
	}
	if s.Auth == control.AuthNone {
		fmt.Println(say("cli.http.none", "address", s.Address))
	} else {
		fmt.Println(say("cli.http.token"))
	}
	if s.Open {
		fmt.Println(say("cli.http.open", "address", s.Address))
	}
	return nil
}

func toldText(t *control.Text) string {
	if t == nil {
		return ""
	}
	return say(t.Key, t.Args...)
}
