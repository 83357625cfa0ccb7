package hostconf

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// Undo takes back our last change of the file that spec means. If others have
// written the file since, an entry that we inserted is taken out of it, and all
// else is refused.
func (c *Conf) Undo(ctx context.Context, h Host, spec Spec, dry bool) (Change, error) {
	spec, err := c.complete(h, spec)
	if err != nil {
		return Change{}, err
	}
	t, _, err := c.target(h, spec)
	if err != nil {
		return Change{}, err
	}
	running, err := c.sys.running(ctx, h)
	if err != nil {
		return Change{}, err
	}
	if err := c.quit(h, running); err != nil {
		return Change{}, err
	}
	ch, err := c.undo(ctx, t, dry)
	if err != nil {
		return Change{}, ours(h, t.Path, err)
	}
	return ch, nil
}

func (c *Conf) undo(ctx context.Context, t Target, dry bool) (Change, error) {
	file := c.sys.onDisk(t.Path)
	last, err := c.last(ctx, file)
	if err != nil {
		return Change{}, err
	}
	base := c.request(t, "")
	old, err := readFile(file, manyBytes) // for the diff: what is undone is looked at again by hostfile
	switch e, ok := errors.AsType[*hostfile.Error](err); {
	case errors.Is(err, fs.ErrNotExist) || ok && e.Kind == hostfile.TooBig: // too much to show
	case err != nil:
		return Change{}, err
	}
	r := hostfile.UndoRequest{Path: file, Lock: base.Lock, MaxSize: base.MaxSize, Else: c.takeOut(t)}
	do := c.store.Undo
	if dry {
		do = c.store.PreviewUndo
	}
	res, err := do(ctx, r)
	if err != nil {
		return Change{}, err
	}
	if last != nil && last.Place.Name != "" {
		t.Place = last.Place
	}
	gone := res.Changed && last != nil && last.Before == "" && len(res.Patches) == 0
	ch := Change{
		Target: t, Action: Revert, Patches: res.Patches, Removed: gone, Backup: res.Backup, Dry: dry, Warnings: noted(res, t.Path),
	}
	if gone {
		ch.Patches = edit.Patches{{Old: slices.Clone(old)}}
	}
	if ch.Patches.Fit(old) {
		ch.Diff = diff(t.Path, old, ch.Patches, false, gone)
		ch.Shown = shownDiff(t.Path, old, ch.Patches, false, gone)
		if last != nil && (last.Act == hostfile.Updated || last.Act == hostfile.Removed) { // what comes back may be somebody else's
			ch.Shown = shownTheirs(t.Path, old, ch.Patches, false, gone, c.memories.get(file, t.Place).texts())
		}
	}
	switch {
	case !res.Changed:
		ch.Action = None
	case last != nil && last.Act == hostfile.Inserted:
		ch.Steps = t.Host.goneSteps(t.Scope)
	default:
		ch.Steps = t.Host.steps(t.Scope)
	}
	if dry {
		return ch, nil
	}
	return ch, c.resync(ctx, t, file, base.MaxSize)
}

// takeOut is for a file that others have written since our last change.
func (c *Conf) takeOut(t Target) func(hostfile.Change, []byte) (edit.Edit, error) {
	return func(last hostfile.Change, doc []byte) (edit.Edit, error) {
		if last.Act != hostfile.Inserted {
			return edit.Edit{}, &Error{Code: Changed, Path: t.Path, Text: text("hosts.err.file.changed", "path", t.Path, "title", t.Host.Title)}
		}
		if doc == nil {
			return edit.Edit{}, nil
		}
		ps, err := edit.Delete(doc, last.Grammar, last.Place, last.Made)
		return edit.Edit{Patches: ps}, err
	}
}

// last is our last change of a file that was not taken back, nil if there is
// none.
func (c *Conf) last(ctx context.Context, file string) (*hostfile.Change, error) {
	all, err := c.store.History(ctx, hostfile.Filter{Path: file})
	if err != nil {
		return nil, err
	}
	for _, ch := range all {
		if ch.State == hostfile.Done && ch.Act != hostfile.Undone {
			return &ch, nil
		}
	}
	return nil, nil
}

// resync remembers an entry as it is after an undo brought it to what it was.
func (c *Conf) resync(ctx context.Context, t Target, file string, limit int64) error {
	if t.Place.Name == "" {
		return nil
	}
	doc, err := readFile(file, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	found, err := edit.Get(doc, t.Host.Grammar, t.Place)
	if err != nil {
		return err
	}
	was := c.memories.get(file, t.Place)
	if found == nil {
		return nil
	}
	fields, ok := plain(found.Value).(map[string]any)
	if !ok {
		return nil
	}
	for _, shape := range []*shapeRow{t.Host.row.Stdio, t.Host.row.HTTP} {
		if shape == nil {
			continue
		}
		for _, key := range shape.First {
			delete(fields, key)
		}
	}
	next := memory{Fields: fields}
	if was != nil {
		next.Others, next.Created = was.Others, was.Created
		for key := range fields { // what the user added is not ours to watch
			if _, ok := was.Fields[key]; !ok {
				delete(fields, key)
			}
		}
	}
	return c.memories.put(ctx, file, t.Place, next)
}
