package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
)

type hostsInstallCommand struct {
	asJSON
	asEntry
	Hosts  []string `arg:"" name:"host" complete:"host"`
	Bundle choice   `name:"mcpb"`
	Force  bool
	Yes    bool `short:"y"`
	DryRun bool
}

// Run is "arenero hosts install".
func (c *hostsInstallCommand) Run() error {
	want, err := c.entry()
	if err != nil {
		return err
	}
	want.Force = c.Force
	ctx, stop := interruptible()
	defer stop()
	s, err := openHosts(ctx, c.JSON)
	if err != nil {
		return err
	}
	out := []changeRow{}
	err = s.eachHost(c.Hosts, func(h hostconf.Host) error {
		if c.Bundle.given {
			return c.bundle(s, h, want)
		}
		want := want
		if c.DryRun || s.asks(c.Yes) {
			preview, err := s.Install(ctx, h, want, true)
			if err != nil {
				return err
			}
			if c.DryRun {
				out = append(out, s.show(preview, "hosts.would."))
				return nil
			}
			if preview.Action != hostconf.None {
				if err := s.consent(preview); err != nil {
					return err
				}
			}
			want.ID = preview.Connection.ID // as it was shown
		}
		change, err := s.Install(ctx, h, want, false)
		if err != nil {
			return err
		}
		s.note(h, change)
		out = append(out, s.print(change, "hosts.done."))
		return nil
	})
	return s.finish(out, err)
}

// bundle writes a file that the user opens with Claude Desktop.
func (c *hostsInstallCommand) bundle(s *hostsSession, h hostconf.Host, want app.HostEntry) error {
	switch {
	case h.ID != "claude-desktop":
		return wrong("cli.hosts.mcpb")
	case want.HTTP != "":
		return wrong("cli.hosts.mcpb.http")
	case c.DryRun:
		return wrong("cli.hosts.mcpb.dry")
	}
	conn, err := s.Hosts.Bundle(s.ctx, c.Bundle.or("arenero.mcpb"), want)
	if err != nil {
		return err
	}
	if s.inJSON {
		return writeJSON(os.Stdout, map[string]any{"host": h.ID, "file": conn.File, "connection": conn.ID})
	}
	fmt.Println(s.say("hosts.bundle", "file", conn.File))
	return nil
}

type hostsDiffCommand struct {
	asJSON
	asEntry
	Host   string `arg:"" complete:"host"`
	Remove bool
}

// Run is "arenero hosts diff".
func (c *hostsDiffCommand) Run() error {
	want, err := c.entry()
	if err != nil {
		return err
	}
	want.Force = true // to look does no harm
	ctx, stop := interruptible()
	defer stop()
	s, err := openHosts(ctx, c.JSON)
	if err != nil {
		return err
	}
	h, err := s.host(c.Host)
	if err != nil {
		return err
	}
	var changes []app.HostChange
	if c.Remove {
		changes, err = s.Remove(ctx, h, want, true)
	} else {
		var change app.HostChange
		change, err = s.Install(ctx, h, want, true)
		changes = []app.HostChange{change}
	}
	if err != nil {
		return s.explain(h.ID, err)
	}
	out := []changeRow{}
	for _, change := range changes {
		row := s.rowOf(change)
		out = append(out, row)
		switch {
		case c.JSON:
		case change.Action == hostconf.None:
			fmt.Fprintln(os.Stderr, s.say("hosts.would.none", "title", h.Title, "file", change.Path))
		default:
			s.diff(os.Stdout, change)
		}
	}
	return s.finish(out, nil)
}

// A changeRow is what was done to a file, for programs.
type changeRow struct {
	Host       string   `json:"host"`
	File       string   `json:"file"`
	Name       string   `json:"name,omitempty"`
	Scope      string   `json:"scope,omitempty"`
	Connection string   `json:"connection,omitempty"`
	Action     string   `json:"action"` // "insert", "update", "delete", "clean", "revert", "none"
	DryRun     bool     `json:"dry_run,omitempty"`
	Created    bool     `json:"created,omitempty"`
	Removed    bool     `json:"removed,omitempty"`
	Argv       []string `json:"argv,omitempty"`
	Backup     string   `json:"backup,omitempty"`
	Diff       []string `json:"diff,omitempty"`
	Warnings   []string `json:"warnings"`
	Next       []string `json:"next"`
}

func (s *hostsSession) rowOf(c app.HostChange) changeRow {
	r := changeRow{
		Host: c.Host.ID, File: c.Path, Name: c.Place.Name, Scope: c.Scope, Connection: c.Connection.ID, Action: string(c.Action), DryRun: c.Dry,
		Created: c.Created, Removed: c.Removed, Argv: c.Argv, Backup: c.Backup, Warnings: s.texts(c.Warnings), Next: s.texts(c.Steps),
	}
	for _, line := range c.Shown {
		r.Diff = append(r.Diff, line.String())
	}
	return r
}

// print tells a person what was done, or would be.
func (s *hostsSession) print(c app.HostChange, prefix string) changeRow {
	row := s.rowOf(c)
	if s.inJSON {
		return row
	}
	action := string(c.Action)
	if c.Argv != nil {
		action = "argv"
	}
	fmt.Println(s.say(prefix+action, "title", c.Host.Title, "file", c.Path, "command", strings.Join(c.Argv, " ")))
	if c.Profile && !c.Dry {
		fmt.Println("  " + s.say("hosts.profile.changed", "profile", c.Connection.Profile))
	}
	for _, w := range row.Warnings {
		fmt.Println("  ! " + w)
	}
	for _, n := range row.Next {
		fmt.Println("  → " + n)
	}
	if c.Connection.HTTP != "" && c.Action != hostconf.None {
		fmt.Println("  → " + s.say("hosts.http", "url", c.Connection.HTTP))
	}
	return row
}

// show is print with the difference in front.
func (s *hostsSession) show(c app.HostChange, prefix string) changeRow {
	if !s.inJSON {
		s.diff(os.Stdout, c)
	}
	return s.print(c, prefix)
}

// asks reports whether there is a person to ask who wants to be.
func (s *hostsSession) asks(yes bool) bool {
	return !yes && !s.inJSON && term.IsTerminal(int(os.Stdin.Fd()))
}

// consent has a person agree to a change, if there is one to ask.
func (s *hostsSession) consent(c app.HostChange) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	s.diff(os.Stderr, c)
	key := "hosts.ask"
	if c.Argv != nil {
		fmt.Fprintln(os.Stderr, printable(strings.Join(c.Argv, " ")))
		key = "hosts.ask.argv"
	}
	ok, err := agrees(s.ctx, s.say(key, "title", c.Host.Title, "file", c.Path)+" ", "y", "yes", "s", "sí", "si")
	if err == nil && !ok {
		err = errors.New(s.say("hosts.declined", "title", c.Host.Title))
	}
	return err
}

// finish prints what programs are told, and passes on how it went.
func (s *hostsSession) finish(out []changeRow, err error) error {
	if s.inJSON {
		if failed := writeJSON(os.Stdout, out); failed != nil {
			return failed
		}
	}
	return err
}
