package main

import (
	"context"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

type tokensEditCommand struct {
	asJSON
	tokenPolicy
	Name string `arg:"" complete:"token"`
	As   string `placeholder:"NAME"`
	Yes  bool   `short:"y"`
}

// Run is "arenero tokens edit".
func (c *tokensEditCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		now := time.Now()
		t, err := tokenOf(ctx, client, c.Name)
		if err != nil {
			return err
		}
		if !t.Grant.RevokedAt.IsZero() {
			return failure("cli.tokens.edit.revoked", "name", printable(t.Grant.Name))
		}
		edit, err := c.edit(now)
		if err != nil {
			return err
		}
		edit.Seen = t.Grant
		if c.As != "" {
			edit.Name = &c.As
		}
		changed := t.Grant
		edit.Apply(&changed)
		if c.Expires.given && !changed.ExpiresAt.After(now) {
			return wrong("cli.rule.past", "flag", flagName("expires_at"))
		}
		if t.Grant.ID != sandbox.GrantOwner {
			if err := grant.Validate(changed, now); err != nil {
				return err
			}
		}
		if raised := grant.Raises(t.Grant, changed); len(raised) > 0 {
			var flags []string
			for _, field := range raised {
				flags = append(flags, flagName(field))
			}
			if err := agree(ctx, c.Yes, "cli.tokens.edit.ask", "name", t.Grant.Name, "flags", strings.Join(flags, ", ")); err != nil {
				return err
			}
		}
		g, err := client.EditToken(ctx, edit)
		return c.print(g, err, "cli.tokens.edited", "scopes", scopesText(g.Scopes), "limit", limitText(g.Limit, g.Period), "expires", timeText(g.ExpiresAt, now))
	})
}
