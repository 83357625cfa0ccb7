package hostconf

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// Remove takes our entry out of every file of the host that it was ever put
// in, old ones too. Where spec says more, only those that match are taken: its
// Connection, its Name, and the file of its Scope. An entry that we did not
// write is removed only if spec names it and its scope.
//
// What was removed before an error is returned with it.
func (c *Conf) Remove(ctx context.Context, h Host, spec Spec, dry bool) ([]Change, error) {
	var only *Target
	if spec.Scope != "" {
		full, err := c.complete(h, spec)
		if err != nil {
			return nil, err
		}
		t, _, err := c.target(h, full)
		if err != nil {
			return nil, err
		}
		only = &t
	}
	running, err := c.sys.running(ctx, h)
	if err != nil {
		return nil, err
	}
	records, err := c.store.Written(ctx, hostfile.Filter{Host: h.ID, Owner: spec.Connection})
	if err != nil {
		return nil, err
	}
	// The last that came goes first: the map that holds both, or the file, was
	// made for the one before it.
	slices.SortStableFunc(records, func(a, b hostfile.Record) int { return cmp.Compare(b.Inserted, a.Inserted) })
	var (
		done  []Change
		errs  []error
		known bool
	)
	for i, r := range records {
		t := Target{Host: h, Scope: r.Scope, Path: c.sys.asWritten(r.Path), Place: r.Place}
		if r.Removed || spec.Name != "" && r.Place.Name != spec.Name || only != nil && (only.Path != t.Path || only.Scope != t.Scope) {
			continue
		}
		known = true
		ch, err := c.remove(ctx, removal{Target: t, made: r.Made, owner: r.Owner}, running, dry)
		if err != nil {
			errs = append(errs, ours(h, t.Path, err))
			continue
		}
		done = append(done, ch)
		if dry || ch.Action != Delete {
			continue
		}
		heir, err := c.handOver(ctx, t, r.Made)
		if err != nil {
			errs = append(errs, ours(h, t.Path, err))
		}
		for j := range records[i+1:] {
			if next := &records[i+1+j]; heir != nil && next.Real == heir.Real && samePlace(next.Place, heir.Place) {
				next.Made = heir.Made
			}
		}
	}
	if !known && only != nil && spec.Name != "" {
		ch, err := c.remove(ctx, removal{Target: *only, owner: spec.Connection, theirs: true}, running, dry)
		if err != nil {
			return nil, ours(h, only.Path, err)
		}
		if ch.Action != None {
			return []Change{ch}, nil
		}
	}
	if !known {
		return nil, &Error{Code: NothingThere, Text: text("hosts.err.nothing", "title", h.Title)}
	}
	return done, errors.Join(errs...)
}

// A removal is one entry that is to go.
type removal struct {
	Target
	made   []byte // what [edit.Delete] needs
	owner  string
	theirs bool                 // somebody else wrote the entry
	mine   func(value any) bool // looks at the entry, which stays if it says no; may be nil
}

// remove takes one entry out of one file.
func (c *Conf) remove(ctx context.Context, rm removal, running []string, dry bool) (Change, error) {
	t := rm.Target
	if err := c.quit(t.Host, running); err != nil {
		return Change{}, err
	}
	ch := Change{Target: t, Dry: dry}
	r := c.request(t, rm.owner)
	r.Remove = true
	wrote := c.memories.get(r.Path, t.Place)
	if wrote != nil {
		r.Gone = wrote.Created
	}
	r.Change = func(doc []byte) (edit.Edit, error) {
		ch.Action, ch.Diff, ch.Shown, ch.Removed = None, nil, nil, false
		if doc == nil {
			return edit.Edit{}, nil
		}
		if err := t.Host.readable(doc); err != nil {
			return edit.Edit{}, err
		}
		if rm.mine != nil {
			f, err := edit.Get(doc, r.Grammar, t.Place)
			if err != nil || f == nil || !rm.mine(f.Value) {
				return edit.Edit{}, err
			}
		}
		ps, err := edit.Delete(doc, r.Grammar, t.Place, rm.made)
		if err != nil {
			return edit.Edit{}, err
		}
		if len(ps) > 0 {
			ps = t.Host.headless(doc, ps, r.Gone)
			ch.Action, ch.Removed = Delete, r.Gone && ps.Len(int64(len(doc))) == 0
			ch.Diff = diff(t.Path, doc, ps, false, ch.Removed)
			ch.Shown = shownDiff(t.Path, doc, ps, false, ch.Removed)
			if f, err := edit.Get(doc, r.Grammar, t.Place); rm.theirs || err != nil || f != nil && wrote.hasMore(f.Value) {
				ch.Shown = shownTheirs(t.Path, doc, ps, false, ch.Removed, wrote.texts())
			}
		}
		return edit.Edit{Patches: ps}, nil
	}
	r.Verify = func(doc []byte) error {
		if err := proven(doc, r.Grammar); err != nil {
			return err
		}
		f, err := edit.Get(doc, r.Grammar, t.Place)
		if err == nil && f != nil {
			err = &edit.RefusedError{Reason: edit.Unproven, Msg: "the entry is still there"}
		}
		return err
	}
	res, err := c.do(ctx, r, dry)
	if err != nil {
		return Change{}, err
	}
	ch.Patches, ch.Backup, ch.Warnings = res.Patches, res.Backup, noted(res, t.Path)
	if ch.Action != None {
		ch.Steps = t.Host.goneSteps(t.Scope)
	}
	return ch, nil
}

// headless widens ps to the whole of a file of our own, if nothing but its
// head would be left.
func (h Host) headless(doc []byte, ps edit.Patches, made bool) edit.Patches {
	if !made || len(h.row.Head) == 0 {
		return ps
	}
	for line := range bytes.Lines(ps.Apply(doc)) {
		key, _, ok := bytes.Cut(line, []byte(":"))
		head := slices.ContainsFunc(h.row.Head, func(m edit.Member) bool { return m.Key == string(key) })
		empty := ok && slices.Equal(h.Key, []string{string(key)})
		if len(bytes.TrimSpace(line)) > 0 && !head && !empty {
			return ps
		}
	}
	return edit.Patches{{Old: slices.Clone(doc)}}
}

// RemoveBOM takes the byte order mark off the file that spec means, for hosts
// that can't read one. It is a step of its own as the mark is not ours.
func (c *Conf) RemoveBOM(ctx context.Context, h Host, spec Spec, dry bool) (Change, error) {
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
	t.Place = edit.Place{} // it is about no entry
	ch := Change{Target: t, Dry: dry}
	r := c.request(t, spec.Connection)
	r.Change = func(doc []byte) (edit.Edit, error) {
		ch.Action, ch.Diff, ch.Shown = None, nil, nil
		if !edit.HasMark(doc) {
			return edit.Edit{}, nil
		}
		if err := edit.Check(doc, h.Grammar); err != nil {
			return edit.Edit{}, err
		}
		ps := edit.Patches{{Old: []byte("\xef\xbb\xbf")}}
		ch.Action, ch.Diff = Clean, diff(t.Path, doc, ps, false, false)
		ch.Shown = shownDiff(t.Path, doc, ps, false, false)
		return edit.Edit{Patches: ps}, nil
	}
	r.Verify = func(doc []byte) error { return edit.Check(doc, h.Grammar) }
	res, err := c.do(ctx, r, dry)
	if err != nil {
		return Change{}, ours(h, t.Path, err)
	}
	ch.Patches, ch.Backup, ch.Warnings = res.Patches, res.Backup, noted(res, t.Path)
	return ch, nil
}
