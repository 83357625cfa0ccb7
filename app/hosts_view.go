package app

import (
	"slices"
	"strings"
	"sync"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// View is what a host's status comes to, for people and for programs.
func (s HostStatus) View() control.Host {
	h := s.Host
	out := control.Host{
		ID: h.ID, Title: h.Title, Installed: s.Detected.Installed, Seen: s.Detected.Path, Perhaps: s.Detected.Perhaps, Running: s.Running != "",
		Scopes: h.Scopes, HTTP: h.HTTP, Certain: string(lower(h.Paths, h.Shape)), Entries: []control.HostEntry{}, Lacks: textIn(s.Lacks),
	}
	if s.Managed != nil {
		out.Managed = textIn(s.Managed.Text)
		out.Notes = append(out.Notes, *out.Managed)
	}
	for _, m := range s.Managers {
		out.Notes = append(out.Notes, *textIn(text("verb.doctor.manager", "manager", m.Title, "path", m.Path)))
	}
	for _, m := range s.Misplaced {
		out.Notes = append(out.Notes, *textIn(text("verb.doctor.misplaced", "path", m.Path, "names", strings.Join(m.Names, ", "), "title", h.Title)))
	}
	shown := map[string]bool{}
	for _, e := range s.Entries {
		row := control.HostEntry{
			Name: e.Name, Scope: s.scopeOf(e.Scope, e.Path), File: e.Path, State: string(e.State), Fields: e.Fields, Lost: e.Lost, Connection: e.Connection,
			Toolsets: sandbox.ConnectionToolsets(e.Connection), Problem: textIn(e.Problem), Written: e.Written, Backup: e.Backup,
		}
		if c, ok := s.connection(e); ok {
			row.Project = c.Project
			row.Connection, row.Profile, row.Toolsets, row.HTTP = c.ID, c.Profile, c.Toolsets, c.HTTP
			shown[c.ID] = true
		}
		out.Entries = append(out.Entries, row)
	}
	for _, c := range s.Connections {
		if !shown[c.ID] && (c.ByHost || c.Scope == bundleScope) {
			out.Entries = append(out.Entries, control.HostEntry{
				Name: c.Name, Scope: c.Scope, File: c.File, Project: c.Project, State: control.EntryByHost, Connection: c.ID, Profile: c.Profile, Toolsets: c.Toolsets, HTTP: c.HTTP, Written: c.Created,
			})
		}
	}
	if len(out.Entries) > 0 { // which may be all that is in the file
		out.Perhaps = ""
	}
	out.Connected = slices.ContainsFunc(out.Entries, func(e control.HostEntry) bool {
		return e.State == control.EntryAsWritten || e.State == control.EntryEdited || e.State == control.EntryByHost
	})
	return out
}

// connection is the one of an entry, as far as the settings know it.
func (s HostStatus) connection(e hostconf.Entry) (found settings.Connection, ok bool) {
	for _, c := range s.Connections {
		if c.ID == e.Connection || c.File == e.Path && c.Name == e.Name && c.Scope == e.Scope {
			found, ok = c, true
		}
	}
	return found, ok
}

// scopeOf is the scope of a file in full, as it must be said to get at it.
func (s HostStatus) scopeOf(scope, path string) string {
	for _, f := range s.Files {
		if f.Path == path && f.Scope == scope && f.HostProfile != "" {
			return scope + ":" + f.HostProfile
		}
	}
	return scope
}

// hostTexts are what is said of hosts in English, for logs and for programs.
var hostTexts = sync.OnceValue(func() assets.Texts { return assets.Load(assets.English, hostconf.Texts, "verbs") })

// textIn is a text for those who are not of this process; nil is none.
func textIn(t hostconf.Text) *control.Text {
	if t.Key == "" {
		return nil
	}
	return &control.Text{Key: t.Key, Args: t.Args}
}

// textsIn are all of some texts.
func textsIn(all []hostconf.Text) []control.Text {
	var out []control.Text
	for _, t := range all {
		if one := textIn(t); one != nil {
			out = append(out, *one)
		}
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

// View is what was done to a file of a host, or would be.
func (c HostChange) View() control.HostChange {
	out := control.HostChange{
		File: c.Path, Scope: c.Scope, Name: c.Place.Name, Action: string(c.Action), Connection: c.Connection.ID, Created: c.Created, Removed: c.Removed,
		Backup: c.Backup, Argv: c.Argv, Warnings: textsIn(c.Warnings), Steps: textsIn(c.Steps),
	}
	if c.Action == hostconf.None {
		out.Action = control.HostUnchanged
	}
	for _, line := range c.Shown {
		kind, ok := diffKinds[line.Kind]
		if !ok {
			kind = "same"
		}
		out.Diff = append(out.Diff, control.DiffLine{Kind: kind, Text: line.String()})
	}
	return out
}

var diffKinds = map[hostconf.DiffKind]string{
	hostconf.DiffFrom: "from", hostconf.DiffTo: "to", hostconf.DiffHunk: "hunk", hostconf.DiffAdded: "added", hostconf.DiffDeleted: "deleted",
}
