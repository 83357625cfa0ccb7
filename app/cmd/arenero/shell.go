package main

import (
	"context"
	"fmt"
	"os"
	"path"

	"github.com/google/uuid"
	"golang.org/x/term"

	"github.com/arenero/arenero/app/sandbox"
)

type shellCommand struct {
	Cwd     string   `short:"w" placeholder:"DIR"`
	Env     []string `short:"e" sep:"none" placeholder:"NAME=VALUE"`
	User    string   `short:"u" placeholder:"USER"`
	Shell   string   `default:"/bin/bash"`
	Sandbox string   `arg:"" complete:"sandbox"`
}

// Run is "arenero shell".
func (c *shellCommand) Run() error {
	env, err := variables(c.Env)
	if err != nil {
		return err
	}
	if !path.IsAbs(c.Shell) {
		return wrong("cli.shell.path", "path", c.Shell)
	}
	in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	if !term.IsTerminal(in) || !term.IsTerminal(out) {
		return failure("cli.shell.terminal")
	}
	for _, name := range []string{"TERM", "COLORTERM"} {
		if _, set := env[name]; !set && os.Getenv(name) != "" {
			env[name] = os.Getenv(name)
		}
	}
	client, err := need()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	f := newFollower(ctx, client, uuid.NewString(), stop)
	defer f.close()
	b, err := find(ctx, client, c.Sandbox)
	if err != nil {
		return err
	}
	size, err := sizeOf(out)
	if err != nil {
		return err
	}
	f.input, f.terminal = os.Stdin, true
	code, err := c.inside(f, sandbox.Exec{
		ID: f.id, Target: sandbox.Target{Sandbox: b.ID}, Args: []string{c.Shell}, Dir: c.Cwd, Env: env, User: c.User, Stdin: true, Size: &size,
	})
	if err == nil && code != 0 {
		return &exitError{code}
	}
	return err
}

// inside runs the shell with this terminal as a mere line to the one in the
// sandbox. Whatever happens, it is as before afterwards.
func (c *shellCommand) inside(f *follower, e sandbox.Exec) (int, error) {
	in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	before, err := makeRaw(in, out)
	if err != nil {
		return 0, fmt.Errorf("set terminal: %w", err)
	}
	defer before()
	f.note = func(text string) { fmt.Fprintf(os.Stderr, "\r\narenero: %s\r\n", text) }
	ctx, stop := context.WithCancel(f.ctx)
	defer stop()
	go func() {
		select {
		case <-f.started:
		case <-ctx.Done():
			return
		}
		watchSize(ctx, out, *e.Size, func(size sandbox.Size) { f.client.Resize(ctx, f.id, size) })
	}()
	exit, err := f.run(e)
	return exit.Code, err
}

func sizeOf(fd int) (sandbox.Size, error) {
	columns, rows, err := term.GetSize(fd)
	if err != nil {
		return sandbox.Size{}, fmt.Errorf("size of terminal: %w", err)
	}
	return sandbox.Size{Columns: columns, Rows: rows}, nil
}
