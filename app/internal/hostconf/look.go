package hostconf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
	"github.com/arenero/arenero/app/internal/hostconf/hostfile"
)

// Status looks for the host, its files and our entries. It writes nothing, and
// repairs nothing. project is a folder to look into as well, or empty.
func (c *Conf) Status(ctx context.Context, h Host, project string) (Status, error) {
	st := Status{Host: h, Managed: c.sys.management(h), Managers: c.sys.managers(h)}
	running, err := c.sys.running(ctx, h)
	if err != nil {
		return Status{}, err
	}
	if h.On(c.sys.OS) {
		st.Detected = c.sys.detect(h, running)
		st.Lacks = c.sys.lacks(h)
		if h.Write == WriteQuit {
			st.Running = h.runs(c.sys, running)
		}
	}
	l := &look{c: c, h: h, docs: map[string][]byte{}}
	st.Files = l.files(project)
	records, err := c.store.Written(ctx, hostfile.Filter{Host: h.ID})
	if err != nil {
		return Status{}, err
	}
	for _, r := range records {
		if !r.Removed {
			e, err := l.entry(ctx, r, st.Files)
			if err != nil {
				return Status{}, err
			}
			st.Entries = append(st.Entries, e)
		}
	}
	st.Entries = append(st.Entries, l.foreign(st.Files, st.Entries, project)...)
	st.Misplaced = l.misplaced(st.Files)
	return st, nil
}

// A look is one look at all files of a host: each is read once.
type look struct {
	c    *Conf
	h    Host
	docs map[string][]byte
}

// read returns the bytes of a file, nil if there is none.
func (l *look) read(p string) ([]byte, error) {
	if doc, ok := l.docs[p]; ok {
		return doc, nil
	}
	limit := int64(max(l.h.Limits.MaxMiB, 64)) << 20
	doc, err := readFile(l.c.sys.onDisk(p), limit)
	if errors.Is(err, fs.ErrNotExist) {
		doc, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.docs[p] = doc
	return doc, nil
}

// readFile reads a regular file that is not absurdly large.
func readFile(p string, limit int64) ([]byte, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &hostfile.Error{Kind: hostfile.NotRegular, Path: p, Msg: "a folder, device or pipe is where a file should be"}
	}
	tooBig := &hostfile.Error{Kind: hostfile.TooBig, Path: p, Msg: "the file is larger than any configuration should be"}
	if info.Size() > limit {
		return nil, tooBig
	}
	f, err := os.Open(p)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = &hostfile.Error{Kind: hostfile.ReadOnly, Path: p, Msg: "the file can't be read", Err: err}
		}
		return nil, err
	}
	defer f.Close()
	hostfile.MakeRoom(info.Size())
	var doc bytes.Buffer
	doc.Grow(int(info.Size()) + bytes.MinRead) // a large file is in memory once
	_, err = doc.ReadFrom(io.LimitReader(f, limit+1))
	if int64(doc.Len()) > limit { // it has grown meanwhile
		return nil, tooBig
	}
	return doc.Bytes(), err
}

// files are those of all scopes that there could be: of profiles, those that
// have a folder; of projects, those of the given one.
func (l *look) files(project string) []File {
	var out []File
	s := l.c.sys
	if !l.h.On(s.OS) {
		return nil
	}
	for i := range l.h.row.Scopes {
		sc := &l.h.row.Scopes[i]
		vars := l.h.fill(Spec{Name: DefaultName, Project: strings.TrimRight(project, s.separators()), HostProfile: "*"})
		if (sc.Scope == Project || sc.Scope == Local) && project == "" {
			continue
		}
		all := s.candidates(l.h, sc, vars)
		live := s.pick(sc, all)
		for j, cand := range all {
			f := File{Scope: sc.Scope, HostProfile: cand.profile, Path: cand.path, Exists: s.exists(cand.path)}
			f.Live = j == live || sc.Scope == Profile // every profile has one file, which it reads
			if f.Exists && l.h.RejectsBOM {
				doc, err := l.read(f.Path)
				f.Mark = err == nil && edit.HasMark(doc)
			}
			if !f.Exists && cand.older {
				continue
			}
			out = append(out, f)
		}
	}
	return out
}

// entry says what became of an entry that we wrote.
func (l *look) entry(ctx context.Context, r hostfile.Record, files []File) (Entry, error) {
	p := l.c.sys.asWritten(r.Path)
	e := Entry{Scope: r.Scope, Path: p, Name: r.Place.Name, Connection: r.Owner, Written: r.Time}
	e.Read = slices.ContainsFunc(files, func(f File) bool { return f.Path == p && f.Live }) || !l.listed(r.Scope)
	last, err := l.c.last(ctx, r.Path)
	if err != nil {
		return Entry{}, err
	}
	if last != nil {
		e.Backup, _ = l.c.store.Backup(*last)
	}
	doc, err := l.read(p)
	if err == nil {
		err = l.compare(&e, r, doc)
	}
	if err != nil {
		e.State = Unread
		e.Problem = problem(l.h, p, err)
	}
	return e, nil
}

// listed reports whether files lists all of a scope: of projects it has the one
// that was asked for only.
func (l *look) listed(scope string) bool { return scope == User || scope == Profile }

func (l *look) compare(e *Entry, r hostfile.Record, doc []byte) error {
	found, err := edit.Get(doc, r.Grammar, r.Place)
	if err != nil {
		return err
	}
	wrote := l.c.memories.get(r.Path, r.Place)
	if found == nil {
		e.State = Gone
		if wrote == nil {
			return nil
		}
		names, err := edit.List(doc, r.Grammar, r.Place)
		if err != nil {
			return err
		}
		for _, n := range wrote.Others {
			if !slices.Contains(names, n) {
				e.Lost = append(e.Lost, n)
			}
		}
		return nil
	}
	e.State, e.Value = AsWritten, found.Value
	if wrote == nil { // then only the program can tell whose it is
		if !startsOurs(found.Value, Spec{}) {
			e.State = Edited
		}
		return nil
	}
	e.Fields = differing(wrote.Fields, found.Value)
	if len(e.Fields) > 0 && wrote.Before != nil && len(differing(wrote.Before, found.Value)) == 0 {
		e.Fields = nil
	}
	if len(e.Fields) > 0 {
		e.State = Edited
	}
	return nil
}

// foreign finds entries that look like ours in the files that the host reads,
// but that we know nothing of.
func (l *look) foreign(files []File, known []Entry, project string) []Entry {
	var out []Entry
	for _, f := range files {
		if !f.Live || !f.Exists || l.h.Write == WriteDropIn {
			continue
		}
		sc := l.h.scope(f.Scope)
		place := l.c.place(l.h, sc, Spec{Name: DefaultName, Project: strings.TrimRight(project, l.c.sys.separators())})
		doc, err := l.read(f.Path)
		if err != nil {
			continue // install says why
		}
		if place, err = l.c.placeIn(l.h, place, doc); err != nil {
			continue
		}
		names, err := edit.List(doc, l.h.Grammar, place)
		if err != nil {
			continue
		}
		for _, name := range names {
			if slices.ContainsFunc(known, func(e Entry) bool { return e.Path == f.Path && e.Name == name && e.Scope == f.Scope }) {
				continue
			}
			place.Name = name
			value, ours := l.starts(doc, place)
			if name == DefaultName || ours {
				out = append(out, Entry{Scope: f.Scope, Path: f.Path, Name: name, State: Foreign, Read: true, Value: value})
			}
		}
	}
	return out
}

// manyBytes are too many to look at every entry of a file: each look reads all
// that is before it.
const manyBytes = 4 << 20

// starts returns an entry, and whether it starts our program.
func (l *look) starts(doc []byte, p edit.Place) (value any, ours bool) {
	if len(doc) > manyBytes && p.Name != DefaultName {
		return nil, false
	}
	found, err := edit.Get(doc, l.h.Grammar, p)
	if err != nil || found == nil {
		return nil, false
	}
	return found.Value, startsOurs(found.Value, Spec{})
}

// misplaced finds servers in files that look right and are never read.
func (l *look) misplaced(files []File) []Misplaced {
	read := ""
	for _, f := range files {
		if f.Live && f.Scope == l.h.Scopes[0] {
			read = f.Path
			break
		}
	}
	var out []Misplaced
	look := func(p string, g edit.Grammar, keys []string) {
		doc, err := l.read(p)
		if err != nil || doc == nil {
			return
		}
		names, err := edit.List(doc, g, edit.Place{Keys: keys, List: l.h.row.List})
		if err == nil && len(names) > 0 {
			out = append(out, Misplaced{Path: p, Names: names, Read: read})
		}
	}
	for _, n := range l.h.row.NeverRead {
		if p, ok := l.c.sys.expand(n.File.on(l.c.sys.OS), l.h.fill(Spec{})); ok {
			look(fromNames.Replace(p), edit.JSONCTrailing, n.Key)
		}
	}
	if l.h.Write == WriteDropIn { // what is shown there is the host's own, and read
		return out
	}
	for i := range l.h.row.Scopes {
		sc := &l.h.row.Scopes[i]
		for _, cand := range l.c.sys.candidates(l.h, sc, l.h.fill(Spec{Name: DefaultName})) {
			if cand.shown {
				look(cand.path, l.h.Grammar, l.h.Key)
			}
		}
	}
	return out
}

// problem is why a file tells nothing, for people.
func problem(h Host, p string, err error) Text {
	if e, ok := errors.AsType[*Error](ours(h, p, err)); ok {
		return e.Text
	}
	return text("hosts.err.unreadable", "path", p, "reason", reason(err))
}

// reason is what the system says, without the path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return strconv.Quote(err.Error())
}
