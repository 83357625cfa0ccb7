package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/sandbox"
)

// in copies from this computer to a path in the sandbox.
func (t *transfer) in(ctx context.Context, from []place, to string) error {
	there, ok, err := t.stat(ctx, to)
	if err != nil {
		return named(to, err)
	}
	into := ok && there.Type == sandbox.TypeDir
	switch {
	case ok && !into && (len(from) > 1 || strings.HasSuffix(to, "/")):
		return failure("cli.cp.no-folder", "path", to)
	case len(from) > 1, strings.HasSuffix(to, "/"):
		into = true // it is made
	}
	if from[0].path == "-" {
		if into {
			return failure("cli.cp.name", "path", to)
		}
		return t.fromStdin(ctx, to)
	}
	var items []item
	for _, p := range from {
		target := to
		if base := filepath.Base(p.path); into && base != "." && base != ".." && !wholesale(p.path) {
			target = path.Join(to, base)
		} else if into && base == ".." {
			return failure("cli.cp.nameless", "path", p.path)
		}
		if items, err = t.plan(items, p.path, target); err != nil {
			return err
		}
	}
	return t.all(ctx, items, t.makeDir, t.send, t.link)
}

// wholesale reports whether a path means what is in a folder.
func wholesale(p string) bool {
	return p == "." || strings.HasSuffix(p, "/.") || strings.HasSuffix(p, string(filepath.Separator)+".")
}

func (t *transfer) fromStdin(ctx context.Context, to string) error {
	t.total = -1
	t.show()
	_, err := t.client.WriteFile(ctx, t.file(to), t.tell, struct{ io.Reader }{io.TeeReader(os.Stdin, counter{io.Discard, t})})
	if err != nil {
		return named(to, err)
	}
	t.files.Add(1)
	return nil
}

// plan adds what is at a local path, whose own links are followed, to items.
func (t *transfer) plan(items []item, from, to string) ([]item, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	return t.planEntry(items, from, to, info)
}

func (t *transfer) planEntry(items []item, from, to string, info os.FileInfo) ([]item, error) {
	switch {
	case info.Mode().IsRegular():
		return append(items, item{from: from, to: to, size: info.Size(), mode: info.Mode().Perm()}), nil
	case info.Mode()&os.ModeSymlink != 0:
		link, err := os.Readlink(from)
		return append(items, item{from: from, to: to, link: filepath.ToSlash(link)}), err
	case !info.IsDir():
		t.leftOut = append(t.leftOut, from+": "+say("cli.cp.neither-kind"))
		return items, nil
	}
	items = append(items, item{from: from, to: to, dir: true})
	entries, err := os.ReadDir(from)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		if items, err = t.planEntry(items, filepath.Join(from, e.Name()), path.Join(to, e.Name()), info); err != nil {
			return nil, err
		}
	}
	return items, nil
}

func (t *transfer) makeDir(ctx context.Context, i item) error {
	_, err := t.client.MakeDir(ctx, t.file(i.to), t.tell)
	if sandbox.CodeOf(err) != sandbox.Exists {
		return named(i.to, err)
	}
	if there, ok, serr := t.stat(ctx, i.to); serr == nil && ok && there.Type == sandbox.TypeDir {
		return nil
	}
	return named(i.to, err)
}

// send puts one file into the sandbox.
func (t *transfer) send(ctx context.Context, i item) error {
	f, err := os.Open(i.from)
	if err != nil {
		return err
	}
	defer f.Close()
	r := t.file(i.to)
	r.Mode = uint32(i.mode)
	_, err = t.client.WriteFile(ctx, r, t.tell, &counted{File: f, t: t})
	return named(i.to, err)
}

// linkScript makes links of its arguments, each two of them.
const linkScript = `while [ $# -gt 1 ]; do ln -sfn -- "$1" "$2" || exit; shift 2; done`

// link makes links in the sandbox: there is no call for that, but there is ln.
func (t *transfer) link(ctx context.Context, links []item) error {
	for len(links) > 0 {
		n, bytes := 0, 0
		args := []string{"/bin/sh", "-c", linkScript, "ln"}
		for n < len(links) && bytes < sandbox.MaxArgs/20 {
			args = append(args, links[n].link, links[n].to)
			bytes += len(links[n].link) + len(links[n].to)
			n++
		}
		var said []byte
		exit, err := t.client.Exec(ctx, sandbox.Exec{ID: uuid.NewString(), Target: t.target, Args: args}, func(o sandbox.Output) error {
			said = append(said, o.Data[:min(len(o.Data), 1000)]...)
			return nil
		})
		if err != nil {
			return err
		}
		if exit.Code != 0 {
			return failure("cli.cp.make-links", "why", printable(strings.TrimSpace(string(said))))
		}
		links = links[n:]
	}
	return nil
}
