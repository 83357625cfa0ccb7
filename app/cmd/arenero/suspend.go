package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

type suspendCommand struct {
	asJSON
	Sandboxes []string `arg:"" name:"sandbox" complete:"sandbox"`
}

// Run is "arenero suspend".
func (c *suspendCommand) Run() error {
	return transit(c.Sandboxes, c.JSON, "cli.progress.suspending", (*control.Client).Suspend)
}

type resumeCommand struct {
	asJSON
	Sandboxes []string `arg:"" name:"sandbox" complete:"sandbox"`
}

// Run is "arenero resume".
func (c *resumeCommand) Run() error {
	return transit(c.Sandboxes, c.JSON, "cli.progress.resuming", (*control.Client).Resume)
}

// transit changes the state of each of refs, and prints what it is then. what is
// the key of what is said meanwhile.
func transit(refs []string, inJSON bool, what string, do func(*control.Client, context.Context, string) (sandbox.Sandbox, error)) error {
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	out := []description{}
	err = each(refs, inJSON, func(ref string) error {
		p := newProgress(say(what, "sandbox", printable(ref)))
		defer p.end()
		b, err := find(ctx, client, ref)
		if err != nil {
			return err
		}
		if b, err = do(client, ctx, b.ID); err != nil {
			return err
		}
		p.end()
		out = append(out, describe(b, time.Now()))
		if !inJSON {
			fmt.Println(say("cli.is", "sandbox", b.ID, "state", stateText(b)))
		}
		return nil
	})
	if inJSON {
		if err := writeJSON(os.Stdout, out); err != nil {
			return err
		}
	}
	return err
}
