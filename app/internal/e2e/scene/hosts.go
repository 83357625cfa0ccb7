package scene

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// A host is one of the scene, with what an undo brings back.
type host struct {
	control.Host
	file   string
	after  string // key of what is to be done after a change
	before []control.HostEntry
}

const bridgeProgram = "/usr/lib/arenero/arenero-bridge"

func text(key string, args ...string) control.Text { return control.Text{Key: key, Args: args} }

// setHosts puts the apps on the computer.
func (s *Scene) setHosts() {
	const home = "/home/ada/"
	s.hosts = []*host{
		{Host: control.Host{ID: "claude-desktop", Title: "Claude Desktop", Scopes: []string{"user"}, Certain: "high", Running: true, Seen: "/usr/bin/claude-desktop"}, file: home + ".config/Claude/claude_desktop_config.json", after: "hosts.after.start-again"},
		{Host: control.Host{ID: "cursor", Title: "Cursor", Scopes: []string{"user", "project"}, Certain: "high", Seen: "/opt/cursor/cursor"}, file: home + ".cursor/mcp.json", after: "hosts.after.watched-toggle"},
		{Host: control.Host{ID: "vscode", Title: "Visual Studio Code", Scopes: []string{"user", "project"}, Certain: "high", Running: true, Seen: "/usr/bin/code"}, file: home + ".config/Code/User/mcp.json", after: "hosts.after.trust"},
		{Host: control.Host{ID: "claude-code", Title: "Claude Code", Scopes: []string{"user", "project", "local"}, Certain: "high", Seen: home + ".local/bin/claude"}, file: home + ".claude.json", after: "hosts.after.session"},
		{Host: control.Host{ID: "zed", Title: "Zed", Scopes: []string{"user"}, Certain: "medium", Seen: "/usr/bin/zed"}, file: home + ".config/zed/settings.json", after: "hosts.after.watched"},
		{Host: control.Host{ID: "windsurf", Title: "Windsurf", Scopes: []string{"user"}, Certain: "high", Perhaps: home + ".codeium/windsurf/mcp_config.json"}, file: home + ".codeium/windsurf/mcp_config.json", after: "hosts.after.watched"},
	}
	for i, h := range s.hosts {
		h.Installed, h.HTTP, h.Entries = h.Perhaps == "", h.ID != "claude-desktop", []control.HostEntry{}
		if s.kind == Empty || h.ID == "zed" || !h.Installed {
			continue
		}
		e := control.HostEntry{
			Name: "arenero", Scope: "user", File: h.file, State: control.EntryAsWritten, Connection: connectionOf(i), Profile: sandbox.ProfileLocal,
			Toolsets: sandbox.Toolsets(), Written: s.began.AddDate(0, 0, -20+i), Undo: true,
		}
		switch h.ID {
		case "cursor":
			e.Profile = lab
		case "claude-code":
			e.Profile, e.Grant = night, "nightly-tests"
		}
		h.Entries = append(h.Entries, e)
	}
	s.hosts[0].Notes = []control.Text{text("hosts.note.claude-twice", "title", "Claude Desktop")}
	if s.kind == Error {
		s.drift()
	}
	for _, h := range s.hosts {
		h.Connected = connected(h)
	}
}

// drift has others change what we wrote.
func (s *Scene) drift() {
	claude, cursor, code, cli, zed := s.hosts[0], s.hosts[1], s.hosts[2], s.hosts[3], s.hosts[4]
	claude.Entries[0].State, claude.Entries[0].Lost = control.EntryGone, []string{"correo-de-prueba", "notas"}
	cursor.Entries[0].State, cursor.Entries[0].Fields = control.EntryEdited, []string{"args", "env"}
	code.Entries[0].State = control.EntryUnread
	code.Entries[0].Problem = new(text("hosts.err.malformed", "path", code.file, "line", "14", "column", "7", "title", code.Title, "reason", "a comma is missing"))
	code.Entries[0].Undo = false
	cli.Managed = new(text("hosts.managed.claude-3p", "title", cli.Title, "path", "/etc/claude-code/managed-settings.json"))
	zed.Lacks = new(text("hosts.needs.jetbrains", "title", zed.Title, "version", "0.214"))
}

func connected(h *host) bool {
	return slices.ContainsFunc(h.Entries, func(e control.HostEntry) bool { return e.State == control.EntryAsWritten })
}

func (s *Scene) hostLocked(id string) (*host, error) {
	for _, h := range s.hosts {
		if h.ID == id {
			return h, nil
		}
	}
	return nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no app " + id + " in the list", Hint: "\"arenero hosts list --all\" shows all"}
}

// Hosts are the apps of the scene.
func (s *Scene) Hosts(_ context.Context, q control.HostQuery) ([]control.Host, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []control.Host{}
	for _, h := range s.hosts {
		if q.Host != "" && q.Host != h.ID {
			continue
		}
		one := h.Host
		one.Entries = slices.Clone(h.Entries)
		out = append(out, one)
	}
	if q.Host != "" && len(out) == 0 {
		_, err := s.hostLocked(q.Host)
		return nil, err
	}
	if q.All && q.Host == "" {
		out = append(out, control.Host{ID: "goose", Title: "Goose", Scopes: []string{"user"}, Certain: "medium", Entries: []control.HostEntry{}})
	}
	return out, nil
}

// PlanHost tells what would be done.
func (s *Scene) PlanHost(_ context.Context, o control.HostOrder) (control.HostResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change, _, err := s.planLocked(o)
	return control.HostResult{Changes: []control.HostChange{change}}, err
}

// ChangeHost does it.
func (s *Scene) ChangeHost(_ context.Context, o control.HostOrder) (control.HostResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change, after, err := s.planLocked(o)
	if err != nil {
		return control.HostResult{Changes: []control.HostChange{}}, err
	}
	h, err := s.hostLocked(o.Host)
	if err != nil {
		return control.HostResult{}, err
	}
	h.before, h.Entries = h.Entries, after
	h.Connected = connected(h)
	if change.Action != control.HostUnchanged {
		kind, ok := map[string]sandbox.EventKind{"insert": sandbox.EventApp, "delete": sandbox.EventAppGone}[change.Action]
		if !ok {
			kind = sandbox.EventAppChanged
		}
		s.tellHostLocked(h, kind)
		change.Backup = "/home/ada/.local/state/arenero/backups/" + h.ID + "-1"
	}
	return control.HostResult{Changes: []control.HostChange{change}}, nil
}

// planLocked is the change that an order comes to, and the entries after it.
func (s *Scene) planLocked(o control.HostOrder) (control.HostChange, []control.HostEntry, error) {
	h, err := s.hostLocked(o.Host)
	if err != nil {
		return control.HostChange{}, nil, err
	}
	if h.Lacks != nil && !o.Force {
		return control.HostChange{}, nil, &sandbox.Error{Code: sandbox.Invalid, Msg: h.Title + " is too old", Hint: "update it"}
	}
	entry := control.HostEntry{
		Name: "arenero", Scope: h.Scopes[0], File: h.file, State: control.EntryAsWritten, Connection: o.ID, Profile: s.prefs.DefaultProfile, Toolsets: sandbox.Toolsets(),
		Written: s.clock.Now().UTC(), Undo: true,
	}
	if len(h.Entries) > 0 {
		entry.Profile, entry.Toolsets, entry.Grant, entry.Connection = h.Entries[0].Profile, h.Entries[0].Toolsets, h.Entries[0].Grant, h.Entries[0].Connection
	}
	replace(&entry.Name, o.Name)
	replace(&entry.Scope, o.Scope)
	replace(&entry.Profile, o.Profile)
	replace(&entry.HTTP, o.HTTP)
	if len(o.Toolsets) > 0 {
		entry.Toolsets = o.Toolsets
	}
	if entry.Connection == "" {
		s.made++
		entry.Connection = connectionOf(100 + s.made)
	}
	var warnings []control.Text
	if h.Perhaps != "" && o.Action == control.HostConnect {
		warnings = []control.Text{text("hosts.warn.perhaps", "title", h.Title, "path", h.Perhaps)}
	}
	change := control.HostChange{Warnings: warnings, File: h.file, Scope: entry.Scope, Name: entry.Name, Connection: entry.Connection, Steps: []control.Text{text(h.after, "title", h.Title)}}
	switch o.Action {
	case control.HostConnect:
		change.Action, change.Diff = "insert", diff("", lines(entry))
		if len(h.Entries) > 0 && h.Entries[0].State == control.EntryAsWritten && h.Entries[0].Profile == entry.Profile && slices.Equal(h.Entries[0].Toolsets, entry.Toolsets) {
			change.Action, change.Diff, change.Steps = control.HostUnchanged, nil, nil
		} else if len(h.Entries) > 0 && h.Entries[0].State != control.EntryGone {
			change.Action, change.Diff = "update", diff(lines(h.Entries[0]), lines(entry))
		}
		return change, []control.HostEntry{entry}, nil
	case control.HostRemove:
		if len(h.Entries) == 0 {
			return control.HostChange{}, nil, &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no entry of ours at " + h.Title}
		}
		change.Action, change.Diff, change.Steps = "delete", diff(lines(h.Entries[0]), ""), []control.Text{text("hosts.gone.restart", "title", h.Title)}
		return change, []control.HostEntry{}, nil
	case control.HostUndo:
		change.Action, change.Diff = "revert", diff(join(h.Entries), join(h.before))
		return change, append([]control.HostEntry{}, h.before...), nil
	}
	return control.HostChange{}, nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "there is no action " + o.Action}
}

func replace(old *string, by string) {
	if by != "" {
		*old = by
	}
}

func join(all []control.HostEntry) (out string) {
	for _, e := range all {
		out += lines(e)
	}
	return out
}

// lines is an entry as a file has it.
func lines(e control.HostEntry) string {
	args := fmt.Sprintf("[\"--connection\", %q]", e.Connection)
	if e.State == control.EntryEdited {
		args = fmt.Sprintf("[\"--connection\", %q, \"--verbose\"]", e.Connection)
	}
	if e.HTTP != "" {
		return fmt.Sprintf("    %q: {\n      \"url\": %q\n    }\n", e.Name, e.HTTP)
	}
	return fmt.Sprintf("    %q: {\n      \"command\": %q,\n      \"args\": %s\n    }\n", e.Name, bridgeProgram, args)
}

// diff tells two texts apart, line by line, among the neighbours that they have.
func diff(from, to string) []control.DiffLine {
	out := []control.DiffLine{{Kind: "hunk", Text: "@@ -2,5 +2,9 @@"}, {Kind: "same", Text: "   \"mcpServers\": {"}, {Kind: "same", Text: "     \"notas\": {…},"}}
	old, fresh := strings.Split(strings.TrimSuffix(from, "\n"), "\n"), strings.Split(strings.TrimSuffix(to, "\n"), "\n")
	for _, l := range old {
		if l != "" && !slices.Contains(fresh, l) {
			out = append(out, control.DiffLine{Kind: "deleted", Text: "-" + l})
		}
	}
	for _, l := range fresh {
		kind, sign := "added", "+"
		if slices.Contains(old, l) {
			kind, sign = "same", " "
		}
		if l != "" {
			out = append(out, control.DiffLine{Kind: kind, Text: sign + l})
		}
	}
	return append(out, control.DiffLine{Kind: "same", Text: "   }"})
}

// NoteHost keeps what was done to an app elsewhere.
func (s *Scene) NoteHost(_ context.Context, n control.HostNote) (struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.hostLocked(n.Host)
	if err == nil {
		s.tellHostLocked(h, n.Kind)
	}
	return struct{}{}, err
}

func (s *Scene) tellHostLocked(h *host, kind sandbox.EventKind) {
	s.tellLocked(sandbox.Event{Kind: kind, Severity: sandbox.SeverityInfo, Subject: h.ID, Data: map[string]any{"name": h.Title}})
}

// CheckHost starts nothing, and finds what the scene has.
func (s *Scene) CheckHost(_ context.Context, id string, emit func(control.Finding) error) error {
	s.mu.Lock()
	h, err := s.hostLocked(id)
	if err != nil {
		s.mu.Unlock()
		return err
	}
	entries, title := slices.Clone(h.Entries), h.Title
	s.mu.Unlock()
	found := []control.Finding{{Name: "hosts", Level: "ok", What: text("doctor.hosts.ok", "hosts", title), Took: 212 * time.Millisecond}}
	switch {
	case len(entries) == 0:
		found[0] = control.Finding{Name: "hosts", Level: "skip", What: text("doctor.hosts.none")}
	case entries[0].State != control.EntryAsWritten:
		found[0] = control.Finding{Name: "hosts", Level: "fail", What: text("doctor.hosts.unread", "title", title, "why", "the entry is not as it was written"), Remedy: new(text("doctor.hosts.remedy", "id", id))}
	}
	for _, f := range found {
		if err := emit(f); err != nil {
			return err
		}
	}
	return nil
}
