package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/arenero/arenero/app/sandbox"
)

// out copies from the sandbox to this computer. What it is told by the sandbox
// is not to be trusted: nothing is written outside of the target.
func (t *transfer) out(ctx context.Context, from []place, to string) error {
	if to == "/dev/stdout" { // which may be a file that is not to be replaced
		to = "-"
	}
	info, err := os.Stat(to)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := err == nil
	stream := to == "-" || there && !info.IsDir() && !info.Mode().IsRegular() // a device, or a pipe
	into := there && info.IsDir()
	switch {
	case there && !into && (len(from) > 1 || strings.HasSuffix(to, "/")):
		return failure("cli.cp.no-folder", "path", to)
	case len(from) > 1, os.IsPathSeparator(to[len(to)-1]):
		into = true
	}
	for _, p := range from {
		f, ok, err := t.stat(ctx, p.path)
		switch {
		case err != nil:
			return named(p.path, err)
		case !ok:
			return &sandbox.Error{Code: sandbox.NotFound, Msg: say("cli.cp.absent", "path", p.sandbox+":"+p.path)}
		case f.Type == sandbox.TypeOther, stream && f.Type != sandbox.TypeFile:
			return failure("cli.cp.no-file", "path", p.sandbox+":"+p.path)
		}
		if stream {
			if err := t.toStream(ctx, f, to); err != nil {
				return named(p.path, err)
			}
			continue
		}
		target := to
		if base := path.Base(path.Clean(p.path)); into && !wholesale(p.path) && base != "/" && base != "." {
			if !filepath.IsLocal(base) {
				return failure("cli.cp.bad-name", "name", base)
			}
			target = filepath.Join(to, base)
		}
		if err := t.take(ctx, f, target); err != nil {
			return err
		}
	}
	return nil
}

// toStream writes one file to what can't be replaced.
func (t *transfer) toStream(ctx context.Context, f sandbox.File, to string) error {
	w := io.Writer(os.Stdout)
	if to != "-" {
		file, err := os.OpenFile(to, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		w = file
	}
	t.total = f.Size
	if to != "-" {
		t.show()
	}
	t.files.Add(1)
	_, err := t.client.ReadFile(ctx, t.file(f.Path), t.tell, counter{w, t})
	return err
}

// take copies one file, or a folder with all that is in it, to a local path.
func (t *transfer) take(ctx context.Context, f sandbox.File, to string) error {
	if real, err := filepath.EvalSymlinks(to); err == nil {
		to = real // as whoever typed it meant
	}
	dir, items := filepath.Dir(to), []item{{from: f.Path, to: filepath.Base(to), size: f.Size, mode: fs.FileMode(f.Mode).Perm()}}
	if f.Type == sandbox.TypeDir {
		var err error
		if items, err = t.planOut(ctx, f.Path); err != nil {
			return named(f.Path, err)
		}
		dir = to
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return t.all(ctx, items,
		func(_ context.Context, i item) error { return root.MkdirAll(i.to, 0o777) },
		func(ctx context.Context, i item) error { return t.receive(ctx, root, i) },
		func(_ context.Context, links []item) error { return t.linkHere(root, links) })
}

// planOut lists what is in a folder of the sandbox, with paths from there on: a
// folder before what is in it.
func (t *transfer) planOut(ctx context.Context, top string) ([]item, error) {
	var items []item
	for level := []string{top}; len(level) > 0; {
		lists, err := t.lists(ctx, level)
		if err != nil {
			return nil, err
		}
		level = nil
		for _, f := range slices.Concat(lists...) {
			i, ok := t.itemOf(f, top)
			if !ok {
				continue
			}
			items = append(items, i)
			if i.dir {
				level = append(level, f.Path)
			}
		}
	}
	return items, nil
}

// lists lists some folders at once.
func (t *transfer) lists(ctx context.Context, dirs []string) ([][]sandbox.File, error) {
	lists := make([][]sandbox.File, len(dirs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for n, dir := range dirs {
		g.Go(func() error {
			r := t.file(dir)
			r.Depth = 1
			files, err := t.client.ListFiles(ctx, r, t.tell)
			if isCrowd(err) {
				files, err = t.crowd(ctx, dir)
			}
			lists[n] = files
			return err
		})
	}
	return lists, g.Wait()
}

// itemOf is a file of the sandbox as something to copy, if it can be.
func (t *transfer) itemOf(f sandbox.File, top string) (item, bool) {
	rel, ok := strings.CutPrefix(f.Path, strings.TrimSuffix(top, "/")+"/")
	i := item{from: f.Path, to: filepath.FromSlash(rel), size: f.Size, mode: fs.FileMode(f.Mode).Perm()}
	why := ""
	switch {
	case !ok || !filepath.IsLocal(i.to):
		why = say("cli.cp.out.name")
	case f.Type == sandbox.TypeDir:
		i.dir = true
	case f.Type == sandbox.TypeSymlink && !inside(rel, f.Target):
		why = say("cli.cp.out.link", "target", f.Target)
	case f.Type == sandbox.TypeSymlink:
		i.link = f.Target
	case f.Type != sandbox.TypeFile:
		why = say("cli.cp.neither-kind")
	}
	if why != "" {
		t.leftOut = append(t.leftOut, f.Path+": "+why)
	}
	return i, why == ""
}

// inside reports whether a link at rel stays in the folder that is copied. The
// folders above rel are none, so ".." at its beginning is what it looks like;
// after a name, which may be a link, it need not be.
func inside(rel, target string) bool {
	return target != "" && !path.IsAbs(target) && path.Clean(target) == strings.TrimSuffix(target, "/") &&
		filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(rel), target)))
}

// receive writes one file beside its place, and moves it there once it is
// whole.
func (t *transfer) receive(ctx context.Context, root *os.Root, i item) error {
	if dir := filepath.Dir(i.to); dir != "." {
		if err := root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	part := filepath.Join(filepath.Dir(i.to), ".arenero-"+uuid.NewString()[:8])
	f, err := root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, i.mode)
	if err != nil {
		return err
	}
	_, err = t.client.ReadFile(ctx, t.file(i.from), t.tell, counter{f, t})
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = root.Rename(part, i.to)
	}
	if err != nil {
		root.Remove(part)
	}
	return named(i.from, err)
}

// linkHere makes links on this computer, in place of links that are there.
func (t *transfer) linkHere(root *os.Root, links []item) error {
	for _, i := range links {
		if info, err := root.Lstat(i.to); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			if err := root.Remove(i.to); err != nil {
				return err
			}
		}
		if err := root.Symlink(filepath.FromSlash(i.link), i.to); err != nil {
			return err
		}
	}
	return nil
}
