package hostconf

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// A System is the computer that hosts are looked for on. Tests play other
// systems with it: then Root is a folder with the whole of that computer's
// files below it, and paths are still those that its user would write.
type System struct {
	OS        string                                      // as in runtime.GOOS
	Home      string                                      // of the user
	Root      string                                      // where the files are; empty for this computer's own
	Env       func(name string) string                    // never nil
	LookPath  func(name string) (string, error)           // on PATH; never nil
	Processes func(ctx context.Context) ([]string, error) // paths of the programs that run; never nil
}

// ThisSystem returns the computer we run on.
func ThisSystem() (System, error) {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return System{}, fmt.Errorf("find the home folder: the environment does not name it: %w", cmp.Or(err, os.ErrNotExist))
	}
	return System{
		OS: runtime.GOOS, Home: home, Env: os.Getenv, LookPath: exec.LookPath, Processes: processes,
	}, nil
}

// join puts a path together as the system writes it. Parts may have slashes.
func (s System) join(parts ...string) string {
	p := strings.Join(parts, "/")
	if s.OS == "windows" {
		return strings.ReplaceAll(p, "/", `\`)
	}
	return p
}

// dir and base split a path as the system writes it.
func (s System) dir(p string) string {
	if i := strings.LastIndexAny(p, s.separators()); i > 0 {
		return p[:i]
	}
	return p
}

func (s System) base(p string) string {
	return p[strings.LastIndexAny(p, s.separators())+1:]
}

func (s System) separators() string {
	if s.OS == "windows" {
		return `\/`
	}
	return "/"
}

// isAbs reports whether p is a whole path on the system.
func (s System) isAbs(p string) bool {
	if s.OS != "windows" {
		return strings.HasPrefix(p, "/")
	}
	drive := len(p) > 2 && p[1] == ':' && strings.ContainsRune(`\/`, rune(p[2]))
	return drive || strings.HasPrefix(p, `\\`)
}

// onDisk is where the file of a path is.
func (s System) onDisk(p string) string {
	if s.Root == "" {
		return p
	}
	if s.OS == "windows" {
		p = strings.Replace(strings.ReplaceAll(p, `\`, "/"), ":", "", 1)
	}
	return filepath.Join(s.Root, filepath.FromSlash(p))
}

// asWritten is the path whose file is at p: the reverse of onDisk.
func (s System) asWritten(p string) string {
	rel, ok := strings.CutPrefix(p, s.Root)
	if s.Root == "" || !ok {
		return p
	}
	if s.OS != "windows" {
		return filepath.ToSlash(rel)
	}
	drive, rest, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(rel), "/"), "/")
	return s.join(drive+":", rest)
}

func (s System) stat(p string) (os.FileInfo, error) { return os.Stat(s.onDisk(p)) }

func (s System) exists(p string) bool {
	_, err := s.stat(p)
	return err == nil
}

// No name of a file has these bytes, so they stand in a pattern for what would
// mean something in one: what users call their folders stands for itself alone.
var (
	asName    = strings.NewReplacer("*", "\x00", "{", "\x01")
	fromNames = strings.NewReplacer("\x00", "*", "\x01", "{")
)

// glob returns the paths that a pattern stands for, in order. Only its part up
// to the last star must exist.
func (s System) glob(pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{fromNames.Replace(pattern)}
	}
	sep := s.join("/")
	parts := strings.Split(pattern, sep)
	found := []string{fromNames.Replace(parts[0])}
	last := 0
	for i, part := range parts {
		if strings.Contains(part, "*") {
			last = i
		}
	}
	for i, part := range parts[1:] {
		var next []string
		for _, dir := range found {
			if i+1 > last || !strings.Contains(part, "*") {
				next = append(next, dir+sep+fromNames.Replace(part))
				continue
			}
			entries, _ := os.ReadDir(s.onDisk(dir + sep)) // what can't be read has no matches
			for _, e := range entries {
				if like(part, e.Name()) {
					next = append(next, dir+sep+e.Name())
				}
			}
		}
		found = next
	}
	return found
}

// existing is glob without what does not exist.
func (s System) existing(pattern string) []string {
	return slices.DeleteFunc(s.glob(pattern), func(p string) bool { return !s.exists(p) })
}

// like reports whether a name is one that a pattern with stars stands for.
func like(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = fromNames.Replace(parts[i])
	}
	if len(parts) == 1 {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}

// find looks for a program on PATH, and where installers of such programs put
// them: what a desktop starts has a short PATH.
func (s System) find(command string) string {
	if p, err := s.LookPath(command); err == nil {
		return p
	}
	dirs := []string{
		"{home}/.local/bin", "/opt/homebrew/bin", "/usr/local/bin", "{home}/.nvm/versions/*/bin", "{home}/.nvm/versions/*/*/bin",
		"{home}/.volta/bin", "{home}/.bun/bin", "{home}/.cargo/bin", "{home}/.npm-global/bin", "{home}/go/bin",
	}
	suffixes := []string{""}
	if s.OS == "windows" {
		dirs = []string{"{home}/.local/bin", "{roaming}/npm", "{local}/Microsoft/WinGet/Links", "{home}/scoop/shims", "{home}/.bun/bin", "{home}/.volta/bin", "{home}/.cargo/bin"}
		suffixes = []string{".exe", ".cmd", ".bat"}
	}
	for _, dir := range dirs {
		dir, ok := s.expand(dir, nil)
		if !ok {
			continue
		}
		for _, suffix := range suffixes {
			for _, p := range s.existing(s.join(dir, command+suffix)) {
				return p
			}
		}
	}
	return ""
}

// expand fills in the names of a path of hosts.yaml. It is not ok if one of
// them is not set here. What comes out is a pattern for [System.glob].
func (s System) expand(p string, vars map[string]string) (string, bool) {
	if rest, ok := strings.CutPrefix(p, "$"); ok {
		name, rest, _ := strings.Cut(rest, "/")
		value := s.Env(name)
		if after, ok := strings.CutPrefix(value, "~/"); ok {
			value = s.join(s.Home, after)
		}
		if !s.isAbs(value) { // not set, or it means a different file in every folder
			return "", false
		}
		value = asName.Replace(strings.TrimRight(value, s.separators()))
		if rest == "" {
			return s.join(value), true
		}
		p = value + "/" + rest
	}
	for {
		before, after, ok := strings.Cut(p, "{")
		if !ok {
			return s.join(path.Clean(p)), true
		}
		name, after, ok := strings.Cut(after, "}")
		if !ok {
			return "", false
		}
		value, ok := vars[name]
		if !ok {
			value = asName.Replace(s.folder(name))
		}
		if value == "" {
			return "", false
		}
		p = before + value + after
	}
}

// folder is one that a system keeps for programs.
func (s System) folder(name string) string {
	fromEnv := func(name, otherwise string) string {
		if v := s.Env(name); s.isAbs(v) {
			return strings.TrimRight(v, s.separators())
		}
		return otherwise
	}
	switch name {
	case "home":
		return s.Home
	case "config":
		return fromEnv("XDG_CONFIG_HOME", s.Home+"/.config")
	case "roaming":
		return fromEnv("APPDATA", s.Home+"/AppData/Roaming")
	case "local":
		return fromEnv("LOCALAPPDATA", s.Home+"/AppData/Local")
	case "programs":
		return fromEnv("ProgramFiles", "C:/Program Files")
	}
	return ""
}
