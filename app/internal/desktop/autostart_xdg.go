//go:build unix && !darwin

package desktop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/paths"
)

// A place is the folders of the autostart specification: the user's own, and
// those of the system, of whose files one of the same name in the user's stands.
type place struct {
	own    string // "" for a user without a home
	system []string
}

func findPlace() place {
	var p place
	config := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		if home := os.Getenv("HOME"); filepath.IsAbs(home) {
			config = filepath.Join(home, ".config")
		}
	}
	if filepath.IsAbs(config) {
		p.own = filepath.Join(config, "autostart")
	}
	dirs := os.Getenv("XDG_CONFIG_DIRS")
	if dirs == "" {
		dirs = "/etc/xdg"
	}
	for _, dir := range filepath.SplitList(dirs) {
		if filepath.IsAbs(dir) {
			p.system = append(p.system, filepath.Join(dir, "autostart"))
		}
	}
	return p
}

func (p place) can(string) bool { return p.own != "" }

func entryFile(home string) string { return "arenero" + suffix(home) + ".desktop" }

// read is the text of a file, and whether it is there.
func read(path string) (string, bool, error) {
	text, err := atomicfile.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read what starts at login: %w", err)
	}
	return string(text), true, nil
}

// ofSystem is the entry that all users of this computer have.
func (p place) ofSystem(home string) (entry, bool, error) {
	for _, dir := range p.system {
		if text, ok, err := read(filepath.Join(dir, entryFile(home))); ok || err != nil {
			return parseEntry(text), ok, err
		}
	}
	return entry{}, false, nil
}

func (p place) enabled(home string) (bool, error) {
	text, ok, err := read(filepath.Join(p.own, entryFile(home)))
	e := parseEntry(text)
	if !ok && err == nil {
		e, ok, err = p.ofSystem(home)
	}
	return ok && e.on() && e.get("Exec") != "" && e.ours(), err
}

// ownEntry is the user's entry, if it is ours to change.
func (p place) ownEntry(home string) (e entry, there bool, err error) {
	path := filepath.Join(p.own, entryFile(home))
	text, there, err := read(path)
	if e = parseEntry(text); err == nil && there && !e.ours() {
		err = fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return e, there, err
}

func (p place) enable(_ context.Context, home, program string) error {
	e, _, err := p.ownEntry(home)
	if err != nil {
		return err
	}
	argv := []string{program, "tray"}
	if home != "" {
		argv = append([]string{"env", paths.Home + "=" + home}, argv...)
	}
	exec, err := joinExec(argv...)
	if err != nil {
		return err
	}
	if _, ok := e.find("Type"); !ok { // nothing worth keeping
		e = parseEntry(entryGroup + "\nType=Application\nName=Arenero\nComment=Sandboxes for AI apps\nComment[es]=Sandboxes para apps de IA\nIcon=arenero\nTerminal=false\n")
	}
	e.set("Exec", exec)
	e.set("TryExec", entryText(program)) // nothing is started once it is removed
	e.set("Hidden", "")
	e.set("X-GNOME-Autostart-enabled", "")
	return p.write(home, e)
}

func (p place) disable(_ context.Context, home string) error {
	e, there, err := p.ownEntry(home)
	if err != nil {
		return err
	}
	_, ofSystem, err := p.ofSystem(home)
	switch {
	case err != nil:
		return err
	case ofSystem: // only an entry can keep that from being started
		if e.get("Type") == "" {
			e = parseEntry(entryGroup + "\nType=Application\nName=Arenero\n")
		}
		e.set("Hidden", "true")
		return p.write(home, e)
	case !there:
		return nil
	}
	if err := os.Remove(filepath.Join(p.own, entryFile(home))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take away what starts at login: %w", err)
	}
	return nil
}

func (p place) write(home string, e entry) error {
	if err := os.MkdirAll(p.own, 0o700); err != nil {
		return fmt.Errorf("make the folder of what starts at login: %w", err)
	}
	return atomicfile.Write(filepath.Join(p.own, entryFile(home)), []byte(e.String()), 0o644)
}
