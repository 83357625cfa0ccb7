package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

// A tokenPolicy is the flags that say what a token may do. One that is not given
// leaves it as it is.
type tokenPolicy struct {
	Scopes        []string `placeholder:"SCOPE"`
	Limit         amount   `placeholder:"USD"`
	Period        *string  `enum:"none,day,week,month" placeholder:"PERIOD"`
	MaxHours      *float64 `placeholder:"HOURS"`
	MaxConcurrent *int     `placeholder:"N"`
	Templates     []string `placeholder:"IMAGE"`
	Profile       *string  `placeholder:"NAME"`
	Expires       moment   `placeholder:"TIME"`
	Burst         *string  `enum:"strict,baseline" placeholder:"MODE"`
	Rate          *int     `placeholder:"N"`
}

// Words that take a restriction away.
const (
	anyProfile   = "any"
	allTemplates = "all"
)

// edit is what the flags say of a token, and nothing of what they do not.
func (f tokenPolicy) edit(now time.Time) (control.TokenEdit, error) {
	e := control.TokenEdit{
		Period: (*sandbox.Period)(f.Period), MaxHours: f.MaxHours, MaxConcurrent: f.MaxConcurrent, Profile: f.Profile,
		Burst: (*sandbox.Burst)(f.Burst), Rate: f.Rate,
	}
	if len(f.Scopes) > 0 {
		e.Scopes = new([]sandbox.Scope)
		for _, s := range f.Scopes {
			*e.Scopes = append(*e.Scopes, sandbox.Scope(strings.ToLower(strings.TrimSpace(s))))
		}
	}
	if f.Limit.given {
		e.Limit = &control.TokenLimit{Limit: f.Limit.limit}
	}
	if len(f.Templates) > 0 {
		e.Templates = &[]string{} // not nil, which would say nothing to the engine
		for _, t := range f.Templates {
			if t != allTemplates {
				*e.Templates = append(*e.Templates, t)
			}
		}
	}
	if f.Profile != nil && *f.Profile == anyProfile {
		e.Profile = new(string)
	} else if f.Profile != nil {
		if err := checkProfile(*f.Profile); err != nil {
			return e, err
		}
	}
	if f.Expires.given {
		e.ExpiresAt = new(f.Expires.ahead(now, time.Local))
	}
	return e, nil
}

type tokensCreateCommand struct {
	asJSON
	tokenPolicy
	Name        string   `arg:""`
	Preset      *string  `enum:"agent,viewer,all" placeholder:"PRESET"`
	Connections []string `name:"connection" placeholder:"ID"`
	Yes         bool     `short:"y"`
}

// Run is "arenero tokens create".
func (c *tokensCreateCommand) Run() error {
	now := time.Now()
	want, err := c.grant(now)
	if err != nil {
		return inFlags(err)
	}
	return withMoney(func(ctx context.Context, client *control.Client) error {
		if risky := grant.Sensitive(want.Scopes); len(risky) > 0 {
			if err := agree(ctx, c.Yes, sensitiveKey(risky), "name", want.Name); err != nil {
				return err
			}
		}
		made, err := client.CreateToken(ctx, want)
		if sandbox.CodeOf(err) == sandbox.Exists {
			err = failure("cli.tokens.exists", "name", printable(want.Name))
		}
		if err != nil {
			return err
		}
		if err := c.reveal(made, "cli.tokens.created", now); err != nil {
			return err
		}
		for _, id := range c.Connections { // after the secret, which nothing shows again
			if err := client.Bind(ctx, control.Binding{Connection: id, Grant: made.Grant.ID}); err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, printable(say("cli.tokens.bound", "connection", id, "name", made.Grant.Name)))
		}
		return nil
	})
}

// grant is what the flags ask for. What breaks a rule is found before anybody is
// asked to agree to it.
func (c *tokensCreateCommand) grant(now time.Time) (sandbox.Grant, error) {
	var want sandbox.Grant
	said, err := c.edit(now)
	if err != nil {
		return want, err
	}
	said.Apply(&want)
	o := grant.Options{
		Scopes: want.Scopes, Limit: want.Limit, Period: want.Period, MaxHours: want.MaxHours, MaxConcurrent: want.MaxConcurrent,
		Templates: want.Templates, Profile: want.Profile, Burst: want.Burst, Rate: want.Rate, ExpiresAt: want.ExpiresAt,
	}
	if c.Preset != nil {
		o.Preset = grant.Preset(*c.Preset)
	}
	return grant.New(c.Name, o, now)
}

// sensitiveKey is the text that says what scopes reach that is not the token's
// own.
func sensitiveKey(risky []sandbox.Scope) string {
	if len(risky) > 1 {
		return "cli.tokens.sensitive.both"
	}
	return "cli.tokens.sensitive." + string(risky[0])
}

// reveal prints a secret, for the only time: on standard output there is nothing
// else.
func (f asJSON) reveal(t control.NewToken, key string, now time.Time) error {
	if f.JSON {
		return writeJSON(os.Stdout, t)
	}
	g := t.Grant
	fmt.Fprintln(os.Stderr, printable(say(key, "name", g.Name, "scopes", scopesText(g.Scopes), "limit", limitText(g.Limit, g.Period), "expires", timeText(g.ExpiresAt, now))))
	if _, err := fmt.Println(string(t.Secret)); err != nil {
		return errors.Join(err, failure("cli.tokens.unseen", "name", printable(g.Name)))
	}
	fmt.Fprintln(os.Stderr, say("cli.tokens.keep", "header", "Authorization: Bearer TOKEN", "bridge", "arenero-bridge --http --auth token", "command", tryToken))
	return nil
}

// tryToken shows an agent's tools, with no secret among the arguments of a
// program.
const tryToken = `printf 'Authorization: Bearer %s' "$ARENERO_TOKEN" | curl -sS -H @- -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -d '{"jsonrpc":"2.0","id":1,"method":"initialize",
    "params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}' ` + defaultURL

type tokensRotateCommand struct {
	asJSON
	Name    string        `arg:"" complete:"token"`
	Overlap time.Duration `placeholder:"TIME"`
}

// Run is "arenero tokens rotate".
func (c *tokensRotateCommand) Run() error {
	if c.Overlap < 0 || c.Overlap > maxOverlap {
		return wrong("cli.tokens.overlap")
	}
	return withMoney(func(ctx context.Context, client *control.Client) error {
		t, err := tokenOf(ctx, client, c.Name)
		if err != nil {
			return err
		}
		made, err := client.RotateToken(ctx, control.TokenRotation{Grant: t.Grant.ID, Overlap: c.Overlap})
		if err != nil {
			return err
		}
		key := "cli.tokens.rotated"
		if c.Overlap > 0 {
			key = "cli.tokens.overlapping"
		}
		return c.reveal(made, key, time.Now())
	})
}

const maxOverlap = 24 * time.Hour // of an old secret with a new one
