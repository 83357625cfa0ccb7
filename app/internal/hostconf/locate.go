package hostconf

import (
	"maps"
	"os"
	"strings"
	"time"
)

// A candidate is a file that could be the one of a scope.
type candidate struct {
	path    string
	profile string // of the host's own that it belongs to
	env     bool   // a variable names it
	older   bool   // only old versions of the host read it
	shown   bool   // others take it for the one: the host does not read it
}

// fill are the names that a path of a host can have, for a spec. For every one
// of the host's own profiles, profile is "*".
func (h Host) fill(spec Spec) map[string]string {
	vars := map[string]string{"name": asName.Replace(spec.Name), "project": asName.Replace(spec.Project), "profile": spec.HostProfile}
	if spec.HostProfile != "*" {
		vars["profile"] = asName.Replace(spec.HostProfile)
	}
	maps.Copy(vars, h.row.Vars)
	return vars
}

// candidates returns the files of a scope that there could be here.
func (s System) candidates(h Host, sc *scopeRow, vars map[string]string) []candidate {
	var out []candidate
	add := func(patterns []string, older, shown bool) {
		for _, pattern := range patterns {
			p, ok := s.expand(pattern, vars)
			if !ok {
				continue
			}
			for _, found := range s.glob(p) {
				c := candidate{path: found, env: strings.HasPrefix(pattern, "$"), older: older, shown: shown}
				if sc.Scope == Profile {
					c.profile = s.base(s.dir(found))
				}
				out = append(out, c)
			}
		}
	}
	add(sc.Files.on(s.OS), false, false)
	add(sc.Older.on(s.OS), true, false)
	add(sc.Shown.on(s.OS), false, true)
	return out
}

// pick returns the index of the candidate that the host reads, as far as can
// be told; -1 if there is none. A file that a variable names is it, if it
// exists or not. For the others see the head of hosts.yaml.
func (s System) pick(sc *scopeRow, all []candidate) int {
	first, folder, file, older := -1, -1, -1, -1
	for i, c := range all {
		if c.shown {
			continue
		}
		if c.env {
			return i
		}
		exists := s.exists(c.path)
		switch {
		case c.older && exists && older < 0:
			older = i
		case c.older:
		default:
			if exists && file < 0 {
				file = i
			}
			if folder < 0 && s.exists(s.dir(c.path)) {
				folder = i
			}
			if first < 0 {
				first = i
			}
		}
	}
	if sc.Pick == "live" {
		if i := s.newest(sc.Marker, all); i >= 0 {
			return i
		}
		if folder >= 0 { // there is no sign of life: one folder is as good as a file in another
			return folder
		}
	}
	switch {
	case file >= 0:
		return file
	case folder >= 0:
		return folder
	case older >= 0:
		return older
	}
	return first
}

// newest returns the candidate beside which the marker is that was written
// last, -1 if there is no marker. A folder is as new as what is in it.
func (s System) newest(marker string, all []candidate) int {
	best := -1
	var at time.Time
	for i, c := range all {
		if c.shown || c.older {
			continue
		}
		if t := newestIn(s.onDisk(s.join(s.dir(c.path), marker)), 3); !t.IsZero() && t.After(at) {
			best, at = i, t
		}
	}
	return best
}

func newestIn(p string, depth int) time.Time {
	info, err := os.Stat(p)
	if err != nil {
		return time.Time{}
	}
	at := info.ModTime()
	if !info.IsDir() || depth == 0 {
		return at
	}
	entries, _ := os.ReadDir(p)
	for _, e := range entries {
		if t := newestIn(p+string(os.PathSeparator)+e.Name(), depth-1); t.After(at) {
			at = t
		}
	}
	return at
}
