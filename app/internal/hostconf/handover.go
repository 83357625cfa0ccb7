package hostconf

import (
	"cmp"
	"context"
	"slices"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// handOver gives what made the map around an entry, or the whole file, and was
// taken out just now, to the oldest entry of ours that stays there: with the
// last of them the map goes, and the file. It returns what is known of that
// entry now, nil if it has nothing new.
func (c *Conf) handOver(ctx context.Context, t Target, made []byte) (*hostfile.Record, error) {
	if len(made) == 0 {
		return nil, nil
	}
	file := c.sys.onDisk(t.Path)
	records, err := c.store.Written(ctx, hostfile.Filter{Path: file, Host: t.Host.ID})
	if err != nil {
		return nil, err
	}
	records = slices.DeleteFunc(records, func(r hostfile.Record) bool { return r.Removed || samePlace(r.Place, t.Place) })
	if len(records) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(records, func(a, b hostfile.Record) int { return cmp.Compare(a.Inserted, b.Inserted) })
	heir, rest := records[0], records[1:]
	was, now := c.memories.get(file, t.Place), c.memories.get(heir.Path, heir.Place)
	if was != nil && was.Created && now != nil && !now.Created {
		now.Created = true
		if err := c.memories.put(ctx, heir.Path, heir.Place, *now); err != nil {
			return nil, err
		}
	}
	doc, err := readFile(file, manyBytes)
	if err != nil {
		return nil, nil // it is gone, or so large that an empty map in it does not matter
	}
	for _, r := range rest { // as it will be when the heir is the last
		ps, err := edit.Delete(doc, r.Grammar, r.Place, r.Made)
		if err != nil {
			return nil, nil // whoever takes it out is told
		}
		doc = ps.Apply(doc)
	}
	if !takesMore(doc, heir, made) {
		return nil, nil
	}
	heir.Made = made
	return &heir, c.store.HandOver(ctx, heir)
}

// takesMore reports whether an entry leaves less behind if it is taken out as
// one that was made in this way.
func takesMore(doc []byte, r hostfile.Record, made []byte) bool {
	size := int64(len(doc))
	now, err := edit.Delete(doc, r.Grammar, r.Place, r.Made)
	if err != nil || len(now) == 0 {
		return false
	}
	then, err := edit.Delete(doc, r.Grammar, r.Place, made)
	return err == nil && then.Len(size) < now.Len(size)
}
