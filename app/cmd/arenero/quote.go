package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/grant"
	"github.com/arenero/arenero/app/sandbox"
)

type quoteCommand struct {
	asJSON
	atProfile
	Template string        `placeholder:"IMAGE"`
	Version  string        `name:"template-version" placeholder:"VERSION"`
	Hours    *float64      `placeholder:"HOURS"`
	Idle     time.Duration `placeholder:"TIME"`
}

// Run is "arenero quote".
func (c *quoteCommand) Run() error {
	spec := sandbox.Spec{Profile: c.profile(), Template: c.Template, Version: c.Version, Idle: c.Idle}
	if c.Hours != nil {
		life, err := grant.Life(*c.Hours)
		if err != nil {
			return inFlags(err)
		}
		spec.Timeout, spec.Asked = life.Duration(), true
	}
	if err := spec.Validate(); err != nil {
		return &usageError{err}
	}
	return withMoney(func(ctx context.Context, client *control.Client) error {
		p := newProgress(say("cli.progress.asking"))
		q, err := client.Quote(ctx, spec)
		p.end()
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, q)
		}
		return writeTable(os.Stdout, quoteDetails(q))
	})
}

// quoteDetails are a quote for people, as lines of two columns.
func quoteDetails(q sandbox.Quote) [][]string {
	var rows [][]string
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{say("cli.quote." + name), value})
		}
	}
	add("place", placeText(q.Profile))
	add("region", q.Region)
	add("template", strings.TrimSpace(q.Template[strings.LastIndexByte(q.Template, ':')+1:]+" "+q.Version))
	if q.SizeMiB > 0 {
		add("size", strconv.Itoa(q.SizeMiB)+" MiB")
	}
	add("life", span(q.Life.Duration()))
	if q.Idle > 0 {
		add("idle", span(q.Idle.Duration()))
	}
	switch {
	case q.Unpriced:
		add("hold", say("cli.quote.unpriced"))
	case q.Local:
		add("hold", say("cli.quote.local"))
		add("would-hold", usd(q.Hold))
		add("would", usd(q.Expected))
	default:
		add("hold", usd(q.Hold))
		add("expected", usd(q.Expected))
	}
	fits := say("cli.quote.fits.yes")
	if !q.Fits {
		fits = say("cli.quote.fits.no")
		if key := "cli.quote.fits." + q.Level; q.Level != "" && texts().Has(key) {
			fits = say(key)
		}
	}
	add("fits", fits)
	if !q.Fits {
		longest := say("cli.quote.longest.none")
		if q.Longest > 0 {
			longest = span(q.Longest.Duration())
		}
		add("longest", longest)
	}
	if key := "cli.quote.hint." + q.Hint; q.Hint != "" && texts().Has(key) {
		add("hint", say(key))
	}
	if q.Prices != "" {
		add("prices", say("cli.quote.prices.of", "version", q.Prices, "day", q.Sourced))
	}
	return rows
}

type pricesCommand struct {
	asJSON
	Refresh bool
	Profile string `placeholder:"NAME"`
}

// Run is "arenero prices".
func (c *pricesCommand) Run() error {
	if c.Refresh != (c.Profile != "") {
		return wrong("cli.prices.both")
	}
	return withMoney(func(ctx context.Context, client *control.Client) error {
		p := newProgress(say("cli.progress.asking"))
		t, err := client.RefreshPrices(ctx, c.Profile)
		p.end()
		if err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, t)
		}
		rows := [][]string{
			{say("cli.prices.version"), t.Version}, {say("cli.prices.day"), t.Sourced}, {say("cli.prices.regions"), strings.Join(t.Regions, ", ")},
		}
		if err := writeTable(os.Stdout, rows); err != nil {
			return err
		}
		if t.Stale {
			fmt.Fprintln(os.Stderr, say("cli.prices.stale"))
		}
		return nil
	})
}
