package main

import (
	"os"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

type showCommand struct {
	asJSON
	Sandbox string `arg:"" complete:"sandbox"`
}

// Run is "arenero show".
func (c *showCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	client, err := look()
	if err != nil {
		return err
	}
	b, err := findAny(ctx, client, c.Sandbox)
	if err != nil {
		return err
	}
	if b.State.Alive() {
		fresh, err := client.Get(ctx, b.ID)
		switch {
		case err == nil:
			b = fresh
		case sandbox.CodeOf(err) == sandbox.Canceled:
			return err
		default:
			tell(err, c.JSON) // what the engine knows is better than nothing
		}
	}
	if c.JSON {
		return writeJSON(os.Stdout, describe(b, time.Now()))
	}
	return writeTable(os.Stdout, details(b, time.Now()))
}
