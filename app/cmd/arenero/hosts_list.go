package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/hostconf"
)

type hostsListCommand struct {
	asJSON
	All     bool   `short:"a"`
	Project string `placeholder:"DIR"`
}

// Run is "arenero hosts list".
func (c *hostsListCommand) Run() error {
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
	rows := []hostRow{}
	for _, h := range s.All() {
		status, err := s.Status(ctx, h, project)
		if err != nil {
			return s.explain(h.ID, err)
		}
		if row := s.row(status); c.All || row.Installed || row.Perhaps != "" || len(row.Entries) > 0 {
			rows = append(rows, row)
		}
	}
	switch {
	case c.JSON:
		return writeJSON(os.Stdout, rows)
	case len(rows) == 0:
		fmt.Fprintln(os.Stderr, s.say("hosts.none"))
		return nil
	}
	table := [][]string{strings.Split(s.say("hosts.columns"), "|")}
	for _, r := range rows {
		table = append(table, s.cells(r)...)
	}
	if err := writeTable(os.Stdout, table); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Perhaps != "" {
			fmt.Fprintf(os.Stderr, "%s: %s\n", r.Title, s.say("hosts.perhaps.note", "path", r.Perhaps))
		}
		for _, note := range r.Notes {
			fmt.Fprintf(os.Stderr, "%s: %s\n", r.Title, note)
		}
	}
	return nil
}

// A hostRow is a host, for programs.
type hostRow struct {
	Host       string     `json:"host"`
	Title      string     `json:"title"`
	Installed  bool       `json:"installed"`
	Seen       string     `json:"seen,omitempty"`    // where
	Perhaps    string     `json:"perhaps,omitempty"` // what of it is here, where it is not installed
	Running    bool       `json:"running,omitempty"`
	Connected  bool       `json:"connected"`
	Scopes     []string   `json:"scopes"`
	Confidence confidence `json:"confidence"`
	Entries    []entryRow `json:"entries"`
	Managed    string     `json:"managed,omitempty"`
	Managers   []string   `json:"managers,omitempty"`
	Notes      []string   `json:"notes,omitempty"`

	certain string // the lesser confidence
}

type confidence struct {
	Paths hostconf.Confidence `json:"paths"`
	Entry hostconf.Confidence `json:"entry"`
}

// An entryRow is one entry of ours.
type entryRow struct {
	Name       string   `json:"name"`
	Scope      string   `json:"scope"`
	File       string   `json:"file"`
	State      string   `json:"state"`
	Fields     []string `json:"changed_fields,omitempty"`
	Lost       []string `json:"lost_entries,omitempty"`
	Connection string   `json:"connection,omitempty"`
	Profile    string   `json:"profile,omitempty"`
	Toolsets   []string `json:"toolsets,omitempty"`
	HTTP       string   `json:"http,omitempty"`
	Problem    string   `json:"problem,omitempty"`
}

// row is what a host's status comes to, in the language of the user.
func (s *hostsSession) row(st app.HostStatus) hostRow {
	v := st.View()
	r := hostRow{
		Host: v.ID, Title: v.Title, Installed: v.Installed, Seen: v.Seen, Perhaps: v.Perhaps, Running: v.Running, Connected: v.Connected,
		Scopes: v.Scopes, Confidence: confidence{st.Host.Paths, st.Host.Shape}, certain: v.Certain, Entries: []entryRow{}, Managed: s.said(v.Managed),
	}
	for _, m := range st.Managers {
		r.Managers = append(r.Managers, m.ID)
	}
	for _, n := range v.Notes {
		r.Notes = append(r.Notes, s.said(&n))
	}
	for _, e := range v.Entries {
		r.Entries = append(r.Entries, entryRow{
			Name: e.Name, Scope: e.Scope, File: e.File, State: e.State, Fields: e.Fields, Lost: e.Lost,
			Connection: e.Connection, Profile: e.Profile, Toolsets: e.Toolsets, HTTP: e.HTTP, Problem: s.said(e.Problem),
		})
	}
	return r
}

// said is a text of a host's, "" for none.
func (s *hostsSession) said(t *control.Text) string {
	if t == nil {
		return ""
	}
	return s.text(hostconf.Text{Key: t.Key, Args: t.Args})
}

// cells are the lines of a host in the table: one for each entry.
func (s *hostsSession) cells(r hostRow) [][]string {
	installed := s.say("hosts.no")
	switch {
	case r.Installed:
		installed = s.say("hosts.yes")
	case r.Perhaps != "":
		installed = s.say("hosts.perhaps")
	}
	known := s.say("hosts.confidence." + r.certain)
	var out [][]string
	for _, e := range r.Entries {
		where := e.Scope
		if e.Name != hostconf.DefaultName {
			where += " (" + e.Name + ")"
		}
		state := s.say("hosts.state."+e.State, "fields", strings.Join(e.Fields, ", "))
		if len(e.Lost) > 0 {
			state += "; " + s.say("hosts.lost", "names", strings.Join(e.Lost, ", "))
		}
		out = append(out, []string{r.Host, r.Title, installed, where, state, known})
	}
	if len(out) == 0 {
		out = [][]string{{r.Host, r.Title, installed, s.say("hosts.no"), "-", known}}
	}
	return out
}
