package hostconf

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// Install inserts our entry, or brings it up to date: our fields get our
// values, and those of the user stay. With dry it only says what it would do,
// and fails where it would fail.
func (c *Conf) Install(ctx context.Context, h Host, spec Spec, dry bool) (Change, error) {
	spec, err := c.complete(h, spec)
	if err != nil {
		return Change{}, err
	}
	value, shape, err := c.entry(h, spec)
	if err != nil {
		return Change{}, err
	}
	absent, err := c.guard(ctx, h, spec.Force)
	if err != nil {
		return Change{}, err
	}
	t, warnings, err := c.target(h, spec)
	if err != nil {
		return Change{}, err
	}
	warnings = append(absent, warnings...)
	for _, w := range h.row.Warn {
		warnings = append(warnings, text(w, "title", h.Title))
	}
	ins := &install{c: c, t: t, spec: spec, value: value, shape: shape}
	if ins.wrote, err = c.wrote(ctx, t); err != nil {
		return Change{}, err
	}
	ch, err := ins.run(ctx, dry)
	if err != nil {
		return Change{}, ours(h, t.Path, err)
	}
	ch.Warnings = append(warnings, ch.Warnings...)
	return ch, nil
}

// An install is one Install whose target is known.
type install struct {
	c     *Conf
	t     Target
	spec  Spec
	value edit.Object
	shape *shapeRow
	wrote bool // the entry is known to be ours

	// What the last look at the file found.
	change Change
	others []string
	lists  []Text
}

func (ins *install) run(ctx context.Context, dry bool) (Change, error) {
	c, t := ins.c, ins.t
	r := c.request(t, ins.spec.Connection)
	was := c.memories.get(r.Path, t.Place)
	now := func() memory {
		return memory{
			Fields: plain(ins.shape.lasting(ins.value)).(map[string]any), Others: ins.others,
			Created: ins.change.Created || ins.wrote && was != nil && was.Created,
		}
	}
	r.Verify = ins.verify
	r.Change = func(doc []byte) (edit.Edit, error) {
		e, err := ins.edit(doc)
		if err != nil || dry {
			return e, err
		}
		next := now() // remembered first, as we may not live to see the end of the write
		if was != nil {
			next.Before = was.Fields
		}
		return e, c.memories.put(ctx, r.Path, t.Place, next)
	}
	res, err := c.do(ctx, r, dry)
	if err != nil {
		return Change{}, err
	}
	if !dry {
		if err := c.memories.put(ctx, r.Path, t.Place, now()); err != nil {
			return Change{}, err
		}
	}
	ch := ins.change
	ch.Target, ch.Patches, ch.Backup, ch.Dry = t, res.Patches, res.Backup, dry
	ch.Warnings = append(ins.lists, noted(res, t.Path)...)
	if ch.Action != None {
		ch.Steps = t.Host.steps(t.Scope)
	}
	return ch, nil
}

// edit says what to do with the file.
func (ins *install) edit(doc []byte) (edit.Edit, error) {
	h, t := ins.t.Host, ins.t
	if err := h.readable(doc); err != nil {
		return edit.Edit{}, err
	}
	if p, err := ins.c.placeIn(h, t.Place, doc); err != nil {
		return edit.Edit{}, err
	} else if !slices.Equal(p.Keys, t.Place.Keys) { // the host has just moved its entries
		return edit.Edit{}, &Error{Code: Busy, Text: text("hosts.err.file.busy", "path", t.Path, "title", h.Title)}
	}
	found, err := edit.Get(doc, h.Grammar, t.Place)
	if err != nil {
		return edit.Edit{}, err
	}
	value := ins.value
	action := Insert
	if found != nil {
		if !ins.wrote && !ins.spec.Force && !startsOurs(found.Value, ins.spec) {
			return edit.Edit{}, &Error{Code: NameTaken, Text: text("hosts.err.name.taken", "name", t.Place.Name, "path", t.Path)}
		}
		action = Update
		value = ins.shape.lasting(value)
	}
	e, err := ins.set(doc, value, found != nil)
	if err != nil {
		return edit.Edit{}, err
	}
	if len(e.Patches) == 0 {
		action = None
	}
	names, err := edit.List(doc, h.Grammar, t.Place)
	if err != nil {
		return edit.Edit{}, err
	}
	ins.others = slices.DeleteFunc(names, func(n string) bool { return n == t.Place.Name })
	if ins.lists, err = ins.c.listed(h, doc, t.Place.Name); err != nil {
		return edit.Edit{}, err
	}
	if found != nil && !ins.wrote && !startsOurs(found.Value, ins.spec) {
		ins.lists = append(ins.lists, text("hosts.warn.taken-over", "name", t.Place.Name, "id", h.ID))
	}
	ins.change = Change{Action: action, Created: doc == nil, Diff: diff(t.Path, doc, e.Patches, doc == nil, false), Shown: shownDiff(t.Path, doc, e.Patches, doc == nil, false)}
	if found != nil && (!ins.wrote || ins.c.memories.get(ins.c.sys.onDisk(t.Path), t.Place).hasMore(found.Value)) {
		ins.change.Shown = shownTheirs(t.Path, doc, e.Patches, false, false, textsIn(ins.value))
	}
	return e, nil
}

// set is edit.Set, with the head that a file of our own begins with.
func (ins *install) set(doc []byte, value edit.Object, update bool) (edit.Edit, error) {
	h, t := ins.t.Host, ins.t
	var drop []string
	if update {
		drop = h.drops(ins.shape, value)
	}
	if doc != nil || len(h.row.Head) == 0 {
		return edit.Set(doc, h.Grammar, t.Place, value, drop...)
	}
	head, err := ins.head()
	if err != nil {
		return edit.Edit{}, err
	}
	e, err := edit.Set(head, h.Grammar, t.Place, value)
	if err != nil {
		return edit.Edit{}, err
	}
	e.Patches = edit.Patches{{New: e.Patches.Apply(head)}}
	return e, nil
}

// head is the fields that a file of our own begins with.
func (ins *install) head() ([]byte, error) {
	var out strings.Builder
	for _, m := range ins.t.Host.row.Head {
		value, ok := fillValue(m.Value, ins.spec).(string)
		if !ok || !plainYAML(value) {
			return nil, fmt.Errorf("the head of %s has a field %s that is no plain text", ins.t.Host.ID, m.Key)
		}
		fmt.Fprintf(&out, "%s: %s\n", m.Key, value)
	}
	return []byte(out.String()), nil
}

// plainYAML reports whether text needs no quotes in YAML to be text.
func plainYAML(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z'
		if !letter && (i == 0 && r != '0' || !strings.ContainsRune("0123456789.-", r)) {
			return false
		}
	}
	return s != "" && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, s)
}

// proven parses what was read back from the disk once more. Of a very large file
// hostfile has found that it is, to the byte, what package edit has made of the
// old one and parsed: to do so again would take seconds.
func proven(doc []byte, g edit.Grammar) error {
	if len(doc) > manyBytes {
		return nil
	}
	return edit.Check(doc, g)
}

// verify looks at what was written as the host will.
func (ins *install) verify(doc []byte) error {
	h, t := ins.t.Host, ins.t
	if err := proven(doc, h.Grammar); err != nil {
		return err
	}
	found, err := edit.Get(doc, h.Grammar, t.Place)
	if err != nil {
		return err
	}
	if found == nil || len(differing(plain(ins.shape.lasting(ins.value)).(map[string]any), found.Value)) > 0 {
		return &edit.RefusedError{Reason: edit.Unproven, Msg: "the entry does not read as it was written"}
	}
	return nil
}

// wrote reports whether the journal has the entry as ours.
func (c *Conf) wrote(ctx context.Context, t Target) (bool, error) {
	records, err := c.store.Written(ctx, hostfile.Filter{Path: c.sys.onDisk(t.Path)})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(records, func(r hostfile.Record) bool { return !r.Removed && samePlace(r.Place, t.Place) }), nil
}

// Confirm fails if the entry that spec means is not in the file of the host,
// which another program was to put there. A file that is too large to be read
// tells nothing.
func (c *Conf) Confirm(ctx context.Context, h Host, spec Spec) error {
	spec, err := c.complete(h, spec)
	if err != nil {
		return err
	}
	value, shape, err := c.entry(h, spec)
	if err != nil {
		return err
	}
	t, _, err := c.target(h, spec)
	if err != nil {
		return err
	}
	found := false
	r := c.request(t, "")
	r.Change = func(doc []byte) (edit.Edit, error) {
		f, err := edit.Get(doc, h.Grammar, t.Place)
		found = f != nil && len(differing(plain(shape.lasting(value)).(map[string]any), f.Value)) == 0
		return edit.Edit{}, err
	}
	_, err = c.store.Preview(ctx, r)
	if e, ok := errors.AsType[*hostfile.Error](err); ok && (e.Kind == hostfile.TooBig || e.Kind == hostfile.Busy) {
		return nil
	}
	if err == nil && !found {
		err = &Error{Code: Busy, Text: text("hosts.err.file.gone", "path", t.Path, "title", h.Title)}
	}
	return ours(h, t.Path, err)
}

// Owner returns the id of the connection whose entry we put at t and did not
// take out since, "" if there is none. It does not read the file.
func (c *Conf) Owner(ctx context.Context, t Target) (string, error) {
	records, err := c.store.Written(ctx, hostfile.Filter{Path: c.sys.onDisk(t.Path)})
	if err != nil {
		return "", err
	}
	for _, r := range records {
		if !r.Removed && samePlace(r.Place, t.Place) {
			return r.Owner, nil
		}
	}
	return "", nil
}

func samePlace(a, b edit.Place) bool {
	return a.Name == b.Name && a.List == b.List && slices.Equal(a.Keys, b.Keys)
}

// startsOurs reports whether an entry starts the program that spec does, or
// calls its address.
func startsOurs(value any, spec Spec) bool {
	m, ok := value.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range []string{"command", "cmd"} {
		command, _ := m[key].(string)
		if list, ok := m[key].([]any); ok && len(list) > 0 {
			command, _ = list[0].(string)
		}
		if command != "" && (command == spec.Command || isBridge(command)) {
			return true
		}
	}
	for _, key := range []string{"url", "serverUrl", "uri"} {
		if u, _ := m[key].(string); u != "" && u == spec.URL {
			return true
		}
	}
	return false
}

// isBridge reports whether a command is our program, wherever it is installed.
func isBridge(command string) bool {
	base := path.Base(strings.ReplaceAll(command, `\`, "/"))
	return strings.TrimSuffix(strings.ToLower(base), ".exe") == "arenero-bridge"
}

// listed warns if the host has lists of names that it starts or does not.
func (c *Conf) listed(h Host, doc []byte, name string) ([]Text, error) {
	l := h.row.Lists
	if l == nil {
		return nil, nil
	}
	var out []Text
	for key, path := range map[string][]string{"hosts.warn.not-allowed": l.Allowed, "hosts.warn.excluded": l.Excluded} {
		last := len(path) - 1
		f, err := edit.Get(doc, h.Grammar, edit.Place{Keys: path[:last], Name: path[last]})
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		list, _ := f.Value.([]any)
		has := slices.Contains(list, any(name))
		if allowed := key == "hosts.warn.not-allowed"; has != allowed {
			out = append(out, text(key, "name", name, "list", strings.Join(path, "."), "title", h.Title))
		}
	}
	return out, nil
}
