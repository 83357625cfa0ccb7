package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type killCommand struct {
	asJSON
	Sandboxes []string `arg:"" optional:"" name:"sandbox" complete:"sandbox"`
	All       bool
	Yes       bool `short:"y"`
}

// Run is "arenero kill".
func (c *killCommand) Run() error {
	switch {
	case c.All && len(c.Sandboxes) > 0:
		return wrong("cli.kill.both")
	case !c.All && len(c.Sandboxes) == 0:
		return wrong("cli.kill.none")
	}
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	refs := c.Sandboxes
	if c.All {
		if refs, err = c.all(ctx, client); err != nil {
			return err
		}
	}
	out := []description{}
	err = each(refs, c.JSON, func(ref string) error {
		b, err := c.kill(ctx, client, ref)
		if err != nil {
			return err
		}
		out = append(out, describe(b, time.Now()))
		if !c.JSON {
			fmt.Println(say("cli.kill.done", "sandbox", b.ID))
		}
		return nil
	})
	if c.JSON {
		if err := writeJSON(os.Stdout, out); err != nil {
			return err
		}
	}
	return err
}

func (c *killCommand) kill(ctx context.Context, client *control.Client, ref string) (sandbox.Sandbox, error) {
	what := say("cli.progress.ending", "sandbox", printable(ref))
	p := newProgress(what)
	defer p.end()
	if p.out == nil && !c.JSON { // who sees no line that counts is told once
		slow := time.AfterFunc(2*showAfter, func() { fmt.Fprintln(os.Stderr, what+"...") })
		defer slow.Stop()
	}
	b, err := find(ctx, client, ref)
	if err != nil {
		return b, err
	}
	if err := client.Terminate(ctx, b.ID, ""); err != nil {
		return b, lives(b, err)
	}
	if now, err := client.Get(ctx, b.ID); err == nil {
		return now, nil
	}
	b.State = sandbox.Terminated // and forgotten
	return b, nil
}

// lives is err for somebody who pays on for a sandbox: it says for how long at most.
func lives(b sandbox.Sandbox, err error) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok || e.Details["sandbox_id"] == nil || b.EndsAt.IsZero() {
		return err
	}
	out := *inWords(e)
	out.Hint = strings.Join(slices.DeleteFunc([]string{out.Hint, say("cli.kill.latest", "time", b.EndsAt.Local().Format("2006-01-02 15:04"))}, func(s string) bool { return s == "" }), "; ")
	return &out
}

// all are the ids of all that are ours, once whoever asks has agreed.
func (c *killCommand) all(ctx context.Context, client *control.Client) ([]string, error) {
	snap, err := snapshot(ctx, client)
	if err != nil {
		return nil, err
	}
	var ours []sandbox.Sandbox
	others := 0
	for _, b := range snap.Sandboxes {
		switch {
		case !b.State.Alive() || b.ID == "":
		case b.Orphan:
			others++
		default:
			ours = append(ours, b)
		}
	}
	if others > 0 {
		fmt.Fprintln(os.Stderr, say("cli.kill.others", "sandboxes", count(others, "sandbox")))
	}
	if len(ours) == 0 {
		fmt.Fprintln(os.Stderr, say("cli.kill.nothing"))
		return nil, nil
	}
	if !c.Yes {
		if err := ask(ctx, ours); err != nil {
			return nil, err
		}
	}
	var ids []string
	for _, b := range ours {
		ids = append(ids, b.ID)
	}
	return ids, nil
}

// ask has a person agree to the end of all.
func ask(ctx context.Context, all []sandbox.Sandbox) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return wrong("cli.kill.yes", "sandboxes", count(len(all), "sandbox"))
	}
	if err := writeTable(os.Stderr, table(all, time.Now())); err != nil {
		return err
	}
	ok, err := agrees(ctx, say("cli.kill.ask", "sandboxes", count(len(all), "sandbox"))+" ", "y", "yes", "s", "sí", "si")
	if err == nil && !ok {
		err = failure("cli.kill.declined")
	}
	return err
}

// agrees asks a person on the terminal, and reports whether the answer is one of
// yes.
func agrees(ctx context.Context, question string, yes ...string) (bool, error) {
	fmt.Fprint(os.Stderr, question)
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		said <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case word := <-said:
		return slices.Contains(yes, word), nil
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr)
		return false, ctx.Err()
	}
}
