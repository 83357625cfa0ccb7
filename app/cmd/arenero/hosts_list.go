package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/sandbox"
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
		if row := s.row(status); c.All || row.Installed || len(row.Entries) > 0 {
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
	Seen       string     `json:"seen,omitempty"` // where
	Running    bool       `json:"running,omitempty"`
	Connected  bool       `json:"connected"`
	Scopes     []string   `json:"scopes"`
	Confidence confidence `json:"confidence"`
	Entries    []entryRow `json:"entries"`
	Managed    string     `json:"managed,omitempty"`
	Managers   []string   `json:"managers,omitempty"`
	Notes      []string   `json:"notes,omitempty"`
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

// stateByHost is the state of an entry that the host itself wrote, in a file
// that we can't read.
const stateByHost = "by-host"

// row is what a host's status comes to.
func (s *hostsSession) row(st app.HostStatus) hostRow {
	h := st.Host
	r := hostRow{
		Host: h.ID, Title: h.Title, Installed: st.Detected.Installed, Seen: st.Detected.Path, Running: st.Running != "",
		Scopes: h.Scopes, Confidence: confidence{h.Paths, h.Shape}, Entries: []entryRow{},
	}
	if st.Managed != nil {
		r.Managed = s.text(st.Managed.Text)
		r.Notes = append(r.Notes, r.Managed)
	}
	for _, m := range st.Managers {
		r.Managers = append(r.Managers, m.ID)
		r.Notes = append(r.Notes, s.say("doctor.manager", "manager", m.Title, "path", m.Path))
	}
	for _, m := range st.Misplaced {
		r.Notes = append(r.Notes, s.say("doctor.misplaced", "path", m.Path, "names", strings.Join(m.Names, ", "), "title", h.Title))
	}
	shown := map[string]bool{}
	for _, e := range st.Entries {
		row := entryRow{
			Name: e.Name, Scope: e.Scope, File: e.Path, State: string(e.State), Fields: e.Fields, Lost: e.Lost, Connection: e.Connection, Problem: s.text(e.Problem),
		}
		row.Toolsets = sandbox.ConnectionToolsets(e.Connection)
		for _, c := range st.Connections {
			if c.ID == e.Connection || c.File == e.Path && c.Name == e.Name && c.Scope == e.Scope {
				row.Connection, row.Profile, row.Toolsets, row.HTTP = c.ID, c.Profile, c.Toolsets, c.HTTP
				shown[c.ID] = true
			}
		}
		r.Entries = append(r.Entries, row)
	}
	for _, c := range st.Connections {
		if shown[c.ID] || !c.ByHost && c.Scope != "bundle" {
			continue
		}
		r.Entries = append(r.Entries, entryRow{
			Name: c.Name, Scope: c.Scope, File: c.File, State: stateByHost, Connection: c.ID, Profile: c.Profile, Toolsets: c.Toolsets, HTTP: c.HTTP,
		})
	}
	r.Connected = slices.ContainsFunc(r.Entries, func(e entryRow) bool {
		return e.State == string(hostconf.AsWritten) || e.State == string(hostconf.Edited) || e.State == stateByHost
	})
	return r
}

// cells are the lines of a host in the table: one for each entry.
func (s *hostsSession) cells(r hostRow) [][]string {
	installed := s.say("hosts.no")
	if r.Installed {
		installed = s.say("hosts.yes")
	}
	known := s.say("hosts.confidence." + string(lower(r.Confidence.Paths, r.Confidence.Entry)))
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

// lower is the lesser of two confidences.
func lower(a, b hostconf.Confidence) hostconf.Confidence {
	order := []hostconf.Confidence{hostconf.Low, hostconf.Medium, hostconf.High}
	if slices.Index(order, a) < slices.Index(order, b) {
		return a
	}
	return b
}
