package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type tokensCommand struct {
	Create  tokensCreateCommand  `cmd:""`
	List    tokensListCommand    `cmd:""`
	Show    tokensShowCommand    `cmd:""`
	Edit    tokensEditCommand    `cmd:""`
	Rotate  tokensRotateCommand  `cmd:""`
	Revoke  tokensRevokeCommand  `cmd:""`
	Disable tokensDisableCommand `cmd:""`
	Enable  tokensEnableCommand  `cmd:""`
	Bind    tokensBindCommand    `cmd:""`
}

type tokensListCommand struct {
	asJSON
	All bool `short:"a"`
}

// Run is "arenero tokens list".
func (c *tokensListCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		all, err := client.Tokens(ctx, "")
		if err != nil {
			return err
		}
		shown := []control.Token{}
		for _, t := range all {
			if c.All || t.Grant.ID != sandbox.GrantOwner && t.Grant.RevokedAt.IsZero() {
				shown = append(shown, t)
			}
		}
		switch {
		case c.JSON:
			return writeJSON(os.Stdout, shown)
		case len(shown) == 0:
			fmt.Fprintln(os.Stderr, say("cli.tokens.none"))
			return nil
		}
		return writeTable(os.Stdout, tokenTable(shown, time.Now()))
	})
}

// tokenTable is a list of tokens for people.
func tokenTable(all []control.Token, now time.Time) [][]string {
	rows := [][]string{strings.Split(say("cli.tokens.columns"), "|")}
	for _, t := range all {
		g := t.Grant
		left := "-"
		if n := t.Budget.Left(); n != nil {
			left = dollars(*n)
		}
		expires := "-"
		if !g.ExpiresAt.IsZero() {
			expires = g.ExpiresAt.Local().Format(time.DateOnly)
		}
		rows = append(rows, []string{
			g.Name, scopesText(g.Scopes), limitText(t.Budget.Limit, t.Budget.Period), dollars(t.Budget.Spent), dollars(t.Budget.Held), left,
			strconv.Itoa(t.Running), expires, stateOfToken(g, now), lastUsed(t.Credentials, now),
		})
	}
	return rows
}

func scopesText(scopes []sandbox.Scope) string {
	var all []string
	for _, s := range scopes {
		all = append(all, string(s))
	}
	return strings.Join(all, ", ")
}

// stateOfToken is whether a grant opens anything, in a word or two.
func stateOfToken(g sandbox.Grant, now time.Time) string {
	switch {
	case !g.RevokedAt.IsZero():
		return say("cli.tokens.state.revoked")
	case !g.ExpiresAt.IsZero() && !now.Before(g.ExpiresAt):
		return say("cli.tokens.state.expired")
	case g.Disabled:
		return say("cli.tokens.state.disabled")
	case now.Before(g.NotBefore):
		return say("cli.tokens.state.early")
	}
	return say("cli.tokens.state.active")
}

// lastUsed is when the newest of some secrets was used last.
func lastUsed(all []sandbox.Credential, now time.Time) string {
	var last time.Time
	for _, c := range all {
		if c.LastUsedAt.After(last) {
			last = c.LastUsedAt
		}
	}
	if last.IsZero() {
		return "-"
	}
	return say("cli.ago", "span", span(now.Sub(last)))
}

type tokensShowCommand struct {
	asJSON
	Name string `arg:"" complete:"token"`
}

// Run is "arenero tokens show".
func (c *tokensShowCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		t, err := pastTokenOf(ctx, client, c.Name)
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, t)
		}
		return writeTable(os.Stdout, tokenDetails(t, time.Now()))
	})
}

// tokenDetails are all about a token for people, as lines of two columns.
func tokenDetails(t control.Token, now time.Time) [][]string {
	g, b := t.Grant, t.Budget
	var rows [][]string
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{say("cli.token." + name), value})
		}
	}
	add("name", g.Name)
	add("id", g.ID)
	add("state", stateOfToken(g, now))
	add("scopes", scopesText(g.Scopes))
	add("limit", limitText(b.Limit, b.Period))
	add("spent", usd(b.Spent))
	add("held", usd(b.Held))
	if left := b.Left(); left != nil {
		add("left", usd(*left))
	}
	if b.OverLimit {
		add("over", say("cli.token.over.yes"))
	}
	running := strconv.Itoa(t.Running)
	if g.MaxConcurrent > 0 {
		running = say("cli.token.running.most", "running", running, "most", strconv.Itoa(g.MaxConcurrent))
	}
	add("running", running)
	if g.MaxHours > 0 {
		add("max-hours", inDigits(strconv.FormatFloat(g.MaxHours, 'f', -1, 64)))
	}
	add("templates", strings.Join(g.Templates, ", "))
	add("profile", g.Profile)
	add("burst", burstText(g.Burst))
	if g.Rate > 0 {
		add("rate", strconv.Itoa(g.Rate))
	}
	if now.Before(g.NotBefore) {
		add("begins", timeText(g.NotBefore, now))
	}
	add("expires", timeText(g.ExpiresAt, now))
	add("made", timeText(g.CreatedAt, now))
	add("revoked", timeText(g.RevokedAt, now))
	for _, c := range t.Credentials {
		add("secret", secretText(c, now))
	}
	for _, c := range t.Connections {
		add("connection", c)
	}
	return rows
}

func burstText(b sandbox.Burst) string {
	if key := "cli.burst." + string(b); texts().Has(key) {
		return say(key)
	}
	return string(b)
}

// secretText tells of a secret all that is kept of it.
func secretText(c sandbox.Credential, now time.Time) string {
	used := say("cli.token.secret.unused")
	if !c.LastUsedAt.IsZero() {
		used = say("cli.token.secret.used", "when", timeText(c.LastUsedAt, now))
	}
	text := say("cli.token.secret.text", "hint", c.Hint, "made", timeText(c.CreatedAt, now), "used", used)
	switch {
	case !c.RevokedAt.IsZero():
		text += say("cli.token.secret.revoked")
	case !c.OverlapUntil.IsZero():
		text += say("cli.token.secret.until", "when", timeText(c.OverlapUntil, now))
	}
	return text
}

type tokensRevokeCommand struct {
	asJSON
	Name string `arg:"" complete:"token"`
	Keep bool
	Yes  bool `short:"y"`
}

// Run is "arenero tokens revoke".
func (c *tokensRevokeCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		t, err := tokenOf(ctx, client, c.Name)
		if err != nil {
			return err
		}
		key := "cli.tokens.revoke.ask"
		switch {
		case t.Running > 0 && c.Keep:
			key = "cli.tokens.revoke.keep"
		case t.Running > 0:
			key = "cli.tokens.revoke.end"
		}
		if err := agree(ctx, c.Yes, key, "name", t.Grant.Name, "sandboxes", count(t.Running, "sandbox")); err != nil {
			return err
		}
		g, err := client.RevokeToken(ctx, control.TokenRevocation{Grant: t.Grant.ID, Keep: c.Keep})
		return c.print(g, err, "cli.tokens.revoked")
	})
}

// print tells what became of a grant.
func (f asJSON) print(g sandbox.Grant, err error, key string, args ...string) error {
	if err != nil {
		return err
	}
	if f.JSON {
		return writeJSON(os.Stdout, g)
	}
	_, err = fmt.Println(printable(say(key, append(args, "name", g.Name)...)))
	return err
}

type tokensDisableCommand struct {
	asJSON
	Name string `arg:"" complete:"token"`
}

// Run is "arenero tokens disable".
func (c *tokensDisableCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		t, err := tokenOf(ctx, client, c.Name)
		if err != nil {
			return err
		}
		g, err := client.DisableToken(ctx, control.TokenSwitch{Grant: t.Grant.ID, Disabled: true})
		return c.print(g, err, "cli.tokens.disabled")
	})
}

type tokensEnableCommand struct {
	asJSON
	Name string `arg:"" complete:"token"`
}

// Run is "arenero tokens enable".
func (c *tokensEnableCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		t, err := tokenOf(ctx, client, c.Name)
		if err != nil {
			return err
		}
		g, err := client.DisableToken(ctx, control.TokenSwitch{Grant: t.Grant.ID})
		return c.print(g, err, "cli.tokens.enabled")
	})
}

type tokensBindCommand struct {
	asJSON
	Connection string `arg:""`
	Name       string `arg:"" complete:"token"`
}

// Run is "arenero tokens bind".
func (c *tokensBindCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		t, err := tokenOf(ctx, client, c.Name)
		if err != nil {
			return err
		}
		if err := client.Bind(ctx, control.Binding{Connection: c.Connection, Grant: t.Grant.ID}); err != nil {
			return err
		}
		return c.print(t.Grant, nil, cmp.Or(boundKey(t.Grant), "cli.tokens.bound"), "connection", c.Connection)
	})
}

// boundKey is the text for a connection that has the owner's grant again.
func boundKey(g sandbox.Grant) string {
	if g.ID == sandbox.GrantOwner {
		return "cli.tokens.bound.owner"
	}
	return ""
}
