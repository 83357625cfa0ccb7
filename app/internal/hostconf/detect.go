package hostconf

import (
	"context"
	"regexp"
	"strings"
)

// detect looks for a host, by its strongest sign first. A folder with settings
// is none: those are left behind, and made by others.
func (s System) detect(h Host, running []string) Detection {
	d := h.row.Detect
	vars := h.fill(Spec{})
	if p := h.runs(s, running); p != "" {
		return Detection{true, ByProcess, p}
	}
	for _, p := range d.Apps.on(s.OS) {
		if found := s.look(p, vars); found != "" {
			return Detection{true, ByApp, found}
		}
	}
	for _, name := range d.Commands {
		if found := s.find(name); found != "" {
			return Detection{true, ByCommand, found}
		}
	}
	for _, p := range s.plugins(d) {
		if found := s.look(p, vars); found != "" {
			return Detection{true, ByExtension, found}
		}
	}
	for _, p := range d.Data.on(s.OS) {
		if found := s.look(p, vars); found != "" {
			return Detection{true, ByData, found}
		}
	}
	return Detection{}
}

// look returns the first file of a pattern that exists.
func (s System) look(pattern string, vars map[string]string) string {
	p, ok := s.expand(pattern, vars)
	if !ok {
		return ""
	}
	for _, found := range s.existing(p) {
		return found
	}
	return ""
}

// plugins are the patterns of the folders that a host is in if it is part of an
// editor.
func (s System) plugins(d detectRow) []string {
	var out []string
	for _, id := range d.Extensions {
		for _, editor := range []string{".vscode", ".vscode-insiders", ".cursor", ".vscode-oss", ".windsurf"} {
			out = append(out, "{home}/"+editor+"/extensions/"+id+"-*")
		}
	}
	folders := map[string]string{
		"darwin":  "{home}/Library/Application Support/JetBrains/*/plugins/",
		"windows": "{roaming}/JetBrains/*/plugins/",
		"linux":   "{home}/.local/share/JetBrains/*/",
	}
	for _, name := range d.Plugins {
		if f, ok := folders[s.OS]; ok {
			out = append(out, f+name+"*")
		}
	}
	return out
}

// runs returns the path of a process of the host, where that matters.
func (h Host) runs(s System, running []string) string {
	for _, pattern := range h.row.Processes.on(s.OS) {
		for _, p := range running {
			if s.OS != "linux" && like(strings.ToLower(pattern), strings.ToLower(p)) || like(pattern, p) {
				return p
			}
		}
	}
	return ""
}

// running lists processes if the host's row asks for them at all.
func (s System) running(ctx context.Context, h Host) ([]string, error) {
	if len(h.row.Processes.on(s.OS)) == 0 {
		return nil, nil
	}
	return s.Processes(ctx)
}

// management finds the sign that an organisation decides for the user.
func (s System) management(h Host) *Management {
	m := h.row.Managed
	if m == nil {
		return nil
	}
	for _, p := range m.Paths.on(s.OS) {
		if found := s.look(p, h.fill(Spec{})); found != "" {
			return &Management{text(m.Text, "title", h.Title, "path", found), found}
		}
	}
	return nil
}

// managers are the other programs here that write the host's files.
func (s System) managers(h Host) []Manager {
	var out []Manager
	for _, m := range table().managers {
		for _, id := range m.Hosts {
			if id != h.ID {
				continue
			}
			for _, p := range m.Paths.on(s.OS) {
				if found := s.look(p, nil); found != "" {
					out = append(out, Manager{m.ID, m.Title, found})
					break
				}
			}
		}
	}
	return out
}

var yearly = regexp.MustCompile(`(\d{4}\.\d+)$`)

// lacks says what the host needs and does not have here; an empty key is for
// nothing.
func (s System) lacks(h Host) Text {
	n := h.row.Needs
	if n == nil {
		return Text{}
	}
	for _, pattern := range n.Folders.on(s.OS) {
		p, ok := s.expand(pattern, h.fill(Spec{}))
		if !ok {
			continue
		}
		for _, found := range s.existing(p) {
			// Versions are a year and one digit, so text sorts them.
			if v := yearly.FindString(s.base(found)); v >= n.Version {
				return Text{}
			}
		}
	}
	return text(n.Text, "title", h.Title, "version", n.Version)
}
