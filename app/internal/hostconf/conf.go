package hostconf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// Options are what a [Conf] works with.
type Options struct {
	Dir    string            // ours and private: journal, backups, locks
	System System            // the computer
	Settle time.Duration     // how long a file must stay as it is before it is written: see [hostfile.Options]
	Fail   func(step string) // called at each step of a write, by tests; may be nil
}

// A Conf changes the files of hosts.
type Conf struct {
	sys      System
	store    *hostfile.Store
	memories memories
}

// Open returns a Conf that keeps its records in o.Dir.
func Open(o Options) (*Conf, error) {
	store, err := hostfile.Open(hostfile.Options{Dir: o.Dir, Settle: o.Settle, Fail: o.Fail})
	if err != nil {
		return nil, err
	}
	return &Conf{sys: o.System, store: store, memories: memories{filepath.Join(o.Dir, "entries"), store}}, nil
}

// Recover finishes what a crash left half done. Call it once at the start.
func (c *Conf) Recover(ctx context.Context) error {
	return errors.Join(c.store.Recover(ctx), c.memories.recover())
}

// Target returns the file and the place in it that spec means now.
func (c *Conf) Target(h Host, spec Spec) (Target, error) {
	spec, err := c.complete(h, spec)
	if err != nil {
		return Target{}, err
	}
	t, _, err := c.target(h, spec)
	return t, err
}

// target is Target for a complete spec. The warnings are about the choice.
func (c *Conf) target(h Host, spec Spec) (Target, []Text, error) {
	sc := h.scope(spec.Scope)
	if sc == nil || !h.On(c.sys.OS) {
		return Target{}, nil, &Error{Code: NotSupported, Text: text("hosts.err.no-file", "title", h.Title)}
	}
	all := c.sys.candidates(h, sc, h.fill(spec))
	i := c.sys.pick(sc, all)
	if i < 0 {
		return Target{}, nil, &Error{Code: NotSupported, Text: text("hosts.err.no-file", "title", h.Title)}
	}
	var warnings []Text
	for j, other := range all {
		if j != i && other.path != all[i].path && c.sys.exists(other.path) && h.Write != WriteDropIn {
			warnings = append(warnings, text("hosts.warn.other-file", "title", h.Title, "path", all[i].path, "other", other.path))
		}
	}
	t := Target{Host: h, Scope: spec.Scope, Path: all[i].path, Place: c.place(h, sc, spec)}
	if h.row.AltKey != nil || c.sys.OS == "windows" && sc.Key != nil {
		doc, err := os.ReadFile(c.sys.onDisk(t.Path))
		if err != nil { // not there, or reading it fails again where it matters
			return t, warnings, nil
		}
		// Errors of the document are told by who edits it.
		if p, err := c.placeIn(h, t.Place, doc); err == nil {
			t.Place = p
		}
	}
	return t, warnings, nil
}

// Ready fails where Install would for a reason that is not in the host's file.
// It writes nothing, and does not read that file.
func (c *Conf) Ready(ctx context.Context, h Host, spec Spec) error {
	spec, err := c.complete(h, spec)
	if err != nil {
		return err
	}
	if _, _, err := c.entry(h, spec); err != nil {
		return err
	}
	_, err = c.guard(ctx, h, spec.Force)
	return err
}

// guard refuses to write where that would do harm, or no good. What it lets pass
// may be worth a warning.
func (c *Conf) guard(ctx context.Context, h Host, force bool) ([]Text, error) {
	if !h.On(c.sys.OS) {
		return nil, &Error{Code: NotSupported, Text: text("hosts.err.no-file", "title", h.Title)}
	}
	if m := c.sys.management(h); m != nil {
		return nil, &Error{Code: Managed, Text: m.Text, Path: m.Path}
	}
	running, err := c.sys.running(ctx, h)
	if err != nil {
		return nil, err
	}
	var warnings []Text
	switch d := c.sys.detect(h, running); {
	case d.Installed, force:
	case d.Perhaps != "":
		warnings = []Text{text("hosts.warn.perhaps", "title", h.Title, "path", d.Perhaps)}
	default:
		return nil, &Error{Code: NotInstalled, Text: text("hosts.err.not-installed", "title", h.Title)}
	}
	if lacks := c.sys.lacks(h); lacks.Key != "" {
		return nil, &Error{Code: NotSupported, Text: lacks}
	}
	return warnings, c.quit(h, running)
}

// quit refuses if the host runs and would write over what we write.
func (c *Conf) quit(h Host, running []string) error {
	if h.Write != WriteQuit {
		return nil
	}
	if p := h.runs(c.sys, running); p != "" {
		return &Error{Code: Running, Path: p, Text: text("hosts.err.running", "title", h.Title, "path", p)}
	}
	return nil
}

// request is what all changes of a target have in common.
func (c *Conf) request(t Target, owner string) hostfile.Request {
	r := hostfile.Request{
		Path: c.sys.onDisk(t.Path), Owner: owner, Host: t.Host.ID, Scope: t.Scope, Grammar: t.Host.Grammar, Place: t.Place,
		Lock: hostfile.LockKind(t.Host.row.Lock), MaxSize: int64(max(t.Host.Limits.MaxMiB, 64)) << 20,
	}
	return r
}

// do makes the change, or only looks what it would be.
func (c *Conf) do(ctx context.Context, r hostfile.Request, dry bool) (hostfile.Result, error) {
	if dry {
		return c.store.Preview(ctx, r)
	}
	return c.store.Change(ctx, r)
}

// noted are the notes of hostfile for people.
func noted(res hostfile.Result, path string) []Text {
	var out []Text
	for _, n := range res.Notes {
		out = append(out, text("hosts.warn.write."+string(n), "path", path))
	}
	return out
}

// readable refuses a byte order mark that the host would choke on.
func (h Host) readable(doc []byte) error {
	if h.RejectsBOM && edit.HasMark(doc) {
		return &edit.RefusedError{Reason: edit.BOM, Line: 1, Column: 1, Msg: "the file begins with a byte order mark"}
	}
	return nil
}

// steps are what is left for the user after an entry was written.
func (h Host) steps(scope string) []Text {
	var out []Text
	for _, key := range h.after(scope) {
		out = append(out, text(key, "title", h.Title))
	}
	return out
}

// goneSteps are what is left for the user after an entry was taken out: for
// hosts that see such a thing by themselves, nothing.
func (h Host) goneSteps(scope string) []Text {
	var out []Text
	for _, key := range h.after(scope) {
		switch name := strings.TrimPrefix(key, "hosts.after."); name {
		case "session", "start-again", "restart", "load", "refresh":
			out = append(out, text("hosts.gone."+name, "title", h.Title))
		}
	}
	return out
}

func (h Host) after(scope string) []string {
	if sc := h.scope(scope); sc != nil && sc.After != nil {
		return slices.Concat(sc.After, h.row.After)
	}
	return h.row.After
}
