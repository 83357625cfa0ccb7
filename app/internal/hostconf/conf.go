package hostconf

import (
	"context"
	"errors"
)

// Options are what a [Conf] works with.
type Options struct {
	Dir    string            // ours and private: journal, backups, locks
	System System            // the computer; the zero value is this one
	Fail   func(step string) // called at each step of a write, by tests; may be nil
}

// A Conf changes the files of hosts.
type Conf struct {
	sys System
}

// Open returns a Conf that keeps its records in o.Dir.
func Open(o Options) (*Conf, error) {
	return &Conf{sys: o.System}, nil
}

// Recover finishes what a crash left half done. Call it once at the start.
func (c *Conf) Recover(ctx context.Context) error { return errNotYet }

// Status looks for the host, its files and our entries. It writes nothing.
// project is a folder to look into as well, or empty.
func (c *Conf) Status(ctx context.Context, h Host, project string) (Status, error) {
	return Status{}, errNotYet
}

// Target returns the file and the place in it that spec means now.
func (c *Conf) Target(h Host, spec Spec) (Target, error) { return Target{}, errNotYet }

// Install inserts our entry, or brings it up to date. With dry it only says
// what it would do, and fails where it would fail.
func (c *Conf) Install(ctx context.Context, h Host, spec Spec, dry bool) (Change, error) {
	return Change{}, errNotYet
}

// Remove takes our entry out of every file of the host that it was ever put
// in: those of spec.Connection alone if that is not empty, and of spec.Name and
// spec.Scope alone if they are not. An entry that we did not write is removed
// only if spec names it and its scope.
func (c *Conf) Remove(ctx context.Context, h Host, spec Spec, dry bool) ([]Change, error) {
	return nil, errNotYet
}

// RemoveBOM takes the byte order mark off the file that spec means, for hosts
// that can't read one. It is a step of its own as the mark is not ours.
func (c *Conf) RemoveBOM(ctx context.Context, h Host, spec Spec, dry bool) (Change, error) {
	return Change{}, errNotYet
}

// Undo takes back our last change of the file that spec means.
func (c *Conf) Undo(ctx context.Context, h Host, spec Spec, dry bool) (Change, error) {
	return Change{}, errNotYet
}

// Snippet returns the entry as text, for a person to paste, and the language
// it is in: "json", "jsonc", "toml" or "yaml".
func (c *Conf) Snippet(h Host, spec Spec) (body, language string, err error) {
	return "", "", errNotYet
}

// Links returns other ways to the same entry: addresses that the host opens,
// and command lines.
func (c *Conf) Links(h Host, spec Spec) ([]Link, error) { return nil, errNotYet }

// Diff returns c as a unified diff, with the file's path as both names, and
// before and after as many lines around each change.
func (c Change) Diff(around int) []DiffLine { return nil }

var errNotYet = errors.New("not yet")
