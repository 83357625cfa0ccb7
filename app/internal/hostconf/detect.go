package hostconf

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// detect looks for a host, by its strongest sign first. Files with its settings
// are none: those are left behind, and made by others. They only tell that it may
// be here.
func (s System) detect(h Host, running []string) Detection {
	d := s.program(h, running)
	if !d.Installed {
		d.Perhaps = s.trace(h)
	}
	return d
}

// program looks for what tells that a host is installed.
func (s System) program(h Host, running []string) Detection {
	d := h.row.Detect
	vars := h.fill(Spec{})
	if p := h.runs(s, running); p != "" {
		return Detection{Installed: true, Signal: ByProcess, Path: p}
	}
	for _, p := range d.Apps.on(s.OS) {
		if found := s.look(p, vars); found != "" {
			return Detection{Installed: true, Signal: ByApp, Path: found}
		}
	}
	for _, name := range d.Commands {
		if found := s.find(name); found != "" {
			return Detection{Installed: true, Signal: ByCommand, Path: found}
		}
	}
	for _, p := range s.plugins(d) {
		if found := s.look(p, vars); found != "" {
			return Detection{Installed: true, Signal: ByExtension, Path: found}
		}
	}
	for _, p := range d.Data.on(s.OS) {
		if found := s.look(p, vars); found != "" {
			return Detection{Installed: true, Signal: ByData, Path: found}
		}
	}
	return Detection{}
}

// trace returns the user's file of a host, or the folder that it is in, if it is
// there. A folder that others have files in as well tells nothing.
func (s System) trace(h Host) string {
	sc := h.scope(User)
	if sc == nil {
		return ""
	}
	all := slices.DeleteFunc(s.candidates(h, sc, h.fill(Spec{Name: DefaultName})), func(c candidate) bool { return c.shown })
	for _, c := range all {
		if s.exists(c.path) {
			return c.path
		}
	}
	for _, c := range all {
		if dir := s.dir(c.path); s.exists(dir) && s.isOwn(h, dir) {
			return dir
		}
	}
	return ""
}

// isOwn reports whether a folder is for a host's files alone, as far as the
// table knows.
func (s System) isOwn(h Host, dir string) bool {
	within := func(p string) bool { return p == dir || strings.HasPrefix(p, dir+s.join("/")) }
	for _, name := range []string{"home", "config", "roaming", "local"} {
		if within(s.join(s.folder(name))) {
			return false
		}
	}
	for _, o := range table().hosts {
		sc := o.scope(User)
		if o.ID == h.ID || sc == nil || !o.On(s.OS) {
			continue
		}
		for _, c := range s.candidates(o, sc, o.fill(Spec{Name: DefaultName})) {
			if within(s.dir(c.path)) {
				return false
			}
		}
	}
	return true
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
