package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/term"

	"github.com/arenero/arenero/app/sandbox"
)

type cpCommand struct {
	asJSON
	Paths []string `arg:"" name:"path" complete:"path"`
}

// A place is one side of a copy.
type place struct {
	sandbox string // "" is this computer
	path    string
}

func placeOf(s string) place {
	ref, p, ok := strings.Cut(s, ":")
	drive := runtime.GOOS == "windows" && len(ref) == 1
	if !ok || ref == "" || drive || strings.ContainsAny(ref, `/\`) {
		return place{path: s}
	}
	switch {
	case p == "" || p == "~":
		p = "./"
	case strings.HasPrefix(p, "~/"):
		p = "./" + p[2:]
	}
	return place{ref, p}
}

// Run is "arenero cp".
func (c *cpCommand) Run() error {
	from, to, err := c.places()
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	t := &transfer{client: client, progress: newProgress(say("cli.progress.connecting")), begun: time.Now()}
	defer t.progress.end()
	remote := to.sandbox
	if remote == "" {
		remote = from[0].sandbox
	}
	b, err := find(ctx, client, remote)
	if err != nil {
		return err
	}
	t.target = sandbox.Target{Sandbox: b.ID}
	if to.sandbox != "" {
		err = t.in(ctx, from, to.path)
	} else {
		err = t.out(ctx, from, to.path)
	}
	t.progress.end()
	if err != nil {
		return err
	}
	return c.report(t)
}

// places checks that all sources are on one side, and the target on the other.
func (c *cpCommand) places() ([]place, place, error) {
	var all []place
	for _, p := range c.Paths {
		if p == "" {
			return nil, place{}, wrong("cli.cp.empty")
		}
		all = append(all, placeOf(p))
	}
	if len(all) < 2 {
		return nil, place{}, wrong("cli.cp.two")
	}
	from, to := all[:len(all)-1], all[len(all)-1]
	for _, p := range from {
		switch {
		case p.sandbox == "" && to.sandbox == "":
			return nil, to, wrong("cli.cp.neither")
		case p.sandbox != "" && to.sandbox != "":
			return nil, to, wrong("cli.cp.both")
		case p.sandbox != from[0].sandbox:
			return nil, to, wrong("cli.cp.sources")
		case p.path == "-" && p.sandbox == "" && len(from) > 1:
			return nil, to, wrong("cli.cp.stdin")
		}
	}
	if to.path == "-" && to.sandbox == "" && len(from) > 1 {
		return nil, to, wrong("cli.cp.stdout")
	}
	return from, to, nil
}

// report tells what was copied: programs all, and a person at a terminal how
// much.
func (c *cpCommand) report(t *transfer) error {
	if c.JSON {
		return writeJSON(os.Stdout, map[string]any{"files": t.files.Load(), "bytes": t.bytes.Load(), "left_out": append([]string{}, t.leftOut...)})
	}
	for _, what := range t.leftOut {
		fmt.Fprintln(os.Stderr, say("cli.cp.left-out", "what", printable(what)))
	}
	if term.IsTerminal(int(os.Stderr.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		fmt.Fprintln(os.Stderr, say("cli.cp.done", "files", count(int(t.files.Load()), "file"), "size", size(t.bytes.Load())))
	}
	return nil
}

// stat looks at a path in the sandbox, and follows links. What is not there is
// no error.
func (t *transfer) stat(ctx context.Context, p string) (sandbox.File, bool, error) {
	for range maxLinks {
		f, err := t.client.Stat(ctx, t.file(p), t.tell)
		switch {
		case sandbox.CodeOf(err) == sandbox.NotFound:
			return f, false, nil
		case err != nil:
			return f, false, err
		case f.Type != sandbox.TypeSymlink:
			return f, true, nil
		case path.IsAbs(f.Target):
			p = f.Target
		default:
			p = path.Join(path.Dir(f.Path), f.Target)
		}
	}
	return sandbox.File{}, false, failure("cli.cp.links", "path", p)
}

const maxLinks = 40 // as Linux

func (t *transfer) file(p string) sandbox.FileRequest {
	return sandbox.FileRequest{Target: t.target, Path: p}
}

// An item is one thing to copy.
type item struct {
	from, to string
	size     int64
	mode     fs.FileMode
	dir      bool
	link     string // where it leads, if it is one
}

const atOnce = 8 // files, or folders, under way

// all copies items: folders first, then files, and last the links.
func (t *transfer) all(ctx context.Context, items []item, dir, file func(context.Context, item) error, links func(context.Context, []item) error) error {
	files := slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.dir || i.link != "" })
	for _, i := range files {
		t.total += i.size
	}
	t.count += len(files)
	t.show()
	for _, i := range items {
		if i.dir {
			if err := dir(ctx, i); err != nil {
				return err
			}
		}
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, i := range files {
		g.Go(func() error {
			if gctx.Err() != nil {
				return gctx.Err()
			}
			if err := file(gctx, i); err != nil {
				return err
			}
			t.files.Add(1)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return links(ctx, slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.link == "" }))
}

// named says what an error of the sandbox is about, but for those that are about
// all, and for errors of this computer, which say so themselves.
func named(what string, err error) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return err
	}
	switch e.Code {
	case sandbox.Canceled, sandbox.Gone, sandbox.Unreachable, sandbox.OtherVersion:
		return err
	}
	about := *e
	about.Msg = what + ": " + e.Msg
	return &about
}
