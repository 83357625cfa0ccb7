package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
)

type hostsDoctorCommand struct {
	asJSON
	Host    string `arg:"" optional:"" complete:"host"`
	Project string `placeholder:"DIR"`
	BOM     bool   `name:"remove-bom"`
	Yes     bool   `short:"y"`
}

// Run is "arenero hosts doctor".
func (c *hostsDoctorCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	s, err := openHosts(ctx, c.JSON)
	if err != nil {
		return err
	}
	project := ""
	if c.Project != "" {
		if project, err = filepath.Abs(c.Project); err != nil {
			return err
		}
	}
	hosts := s.All()
	if c.Host != "" {
		h, err := s.host(c.Host)
		if err != nil {
			return err
		}
		hosts = []hostconf.Host{h}
	}
	if c.BOM {
		if err := c.removeBOM(s, hosts); err != nil {
			return err
		}
	}
	rows := []checkRow{}
	for _, h := range hosts {
		checks, err := s.Doctor(ctx, h, project)
		if err != nil {
			return s.explain(h.ID, err)
		}
		for i, check := range checks {
			row := s.check(check)
			rows = append(rows, row)
			if c.JSON {
				continue
			}
			if i == 0 {
				fmt.Println(h.Title)
			}
			fmt.Printf("  %-4s  %s\n", strings.ToUpper(string(row.Level)), row.What)
			if row.Remedy != "" {
				fmt.Println("        → " + row.Remedy)
			}
		}
	}
	failed := false
	for _, r := range rows {
		failed = failed || r.Level == app.Fail
	}
	switch {
	case c.JSON:
		if err := writeJSON(os.Stdout, rows); err != nil {
			return err
		}
	case len(rows) == 0 && c.Host != "":
		fmt.Fprintln(os.Stderr, s.say("hosts.none.ours", "title", hosts[0].Title, "id", hosts[0].ID))
		failed = true
	case len(rows) == 0:
		fmt.Fprintln(os.Stderr, s.say("hosts.nothing"))
	}
	if failed {
		return &exitError{exitFailed}
	}
	return nil
}

// removeBOM takes off what is not ours, so it is asked for by name.
func (c *hostsDoctorCommand) removeBOM(s *hostsSession, hosts []hostconf.Host) error {
	if c.Host == "" {
		return wrong("cli.hosts.bom")
	}
	h := hosts[0]
	preview, err := s.RemoveBOM(s.ctx, h, app.HostEntry{}, true)
	if err == nil && preview.Action != hostconf.None && !c.Yes && !c.JSON {
		err = s.consent(preview)
	}
	if err != nil {
		return s.explain(h.ID, err)
	}
	change, err := s.RemoveBOM(s.ctx, h, app.HostEntry{}, false)
	if err == nil {
		s.print(change, "hosts.done.")
	}
	return s.explain(h.ID, err)
}

// A checkRow is one thing that was looked at, for programs.
type checkRow struct {
	Host   string    `json:"host"`
	File   string    `json:"file,omitempty"`
	Name   string    `json:"name,omitempty"`
	Check  string    `json:"check"`
	Level  app.Level `json:"level"`
	What   string    `json:"what"`
	Remedy string    `json:"remedy,omitempty"`
}

func (s *hostsSession) check(c app.Check) checkRow {
	r := checkRow{Host: c.Host.ID, File: c.File, Name: c.Name, Check: c.ID, Level: c.Level, What: s.text(c.What)}
	if c.Remedy.Key != "" {
		r.Remedy = s.text(c.Remedy)
	}
	return r
}
