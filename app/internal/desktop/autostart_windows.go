package desktop

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// A place is the keys of the registry that a login goes by.
type place struct{ run, approved string }

// runName is the name of our value.
const runName = "Arenero"

func findPlace() place {
	return place{
		`Software\Microsoft\Windows\CurrentVersion\Run`,
		`Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run`, // what the task manager says of them
	}
}

// can is not for second instances: a value has a command line and no environment.
func (p place) can(home string) bool { return home == "" }

// read is the command line of our name, if there is one.
func (p place) read() (argv []string, there bool, err error) {
	key, err := registry.OpenKey(registry.CURRENT_USER, p.run, registry.QUERY_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read what starts at login: %w", err)
	}
	defer key.Close()
	line, _, err := key.GetStringValue(runName)
	if errors.Is(err, registry.ErrNotExist) {
		return nil, false, nil
	}
	if errors.Is(err, registry.ErrUnexpectedType) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read what starts at login: %w", err)
	}
	argv, err = windows.DecomposeCommandLine(line)
	if err != nil {
		return nil, true, nil // there, and no line of ours
	}
	return argv, true, nil
}

func (p place) enabled(string) (bool, error) {
	argv, there, err := p.read()
	if err != nil || !there || !ourTray(argv) {
		return false, err
	}
	key, err := registry.OpenKey(registry.CURRENT_USER, p.approved, registry.QUERY_VALUE)
	if err != nil {
		return true, nil // nobody has said anything of any
	}
	defer key.Close()
	said, _, err := key.GetBinaryValue(runName)
	off := err == nil && len(said) > 0 && said[0]&1 == 1
	return !off, nil
}

func (p place) own() (there bool, err error) {
	argv, there, err := p.read()
	if err == nil && there && !ourTray(argv) {
		err = fmt.Errorf(`HKCU\%s\%s: %w`, p.run, runName, ErrForeign)
	}
	return there, err
}

func (p place) enable(_ context.Context, _, program string) error {
	if _, err := p.own(); err != nil {
		return err
	}
	key, _, err := registry.CreateKey(registry.CURRENT_USER, p.run, registry.SET_VALUE)
	if err != nil {
		return fmt.Errorf("write what starts at login: %w", err)
	}
	defer key.Close()
	if err := key.SetStringValue(runName, windows.ComposeCommandLine([]string{program, "tray"})); err != nil {
		return fmt.Errorf("write what starts at login: %w", err)
	}
	return p.forget(p.approved)
}

func (p place) disable(context.Context, string) error {
	there, err := p.own()
	if err != nil || !there {
		return err
	}
	return errors.Join(p.forget(p.run), p.forget(p.approved))
}

// forget takes our value out of a key.
func (p place) forget(path string) error {
	key, err := registry.OpenKey(registry.CURRENT_USER, path, registry.SET_VALUE)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("change what starts at login: %w", err)
	}
	defer key.Close()
	if err := key.DeleteValue(runName); err != nil && !errors.Is(err, registry.ErrNotExist) {
		return fmt.Errorf("change what starts at login: %w", err)
	}
	return nil
}
