package main

import (
	"fmt"
	"os"
)

type pauseCommand struct {
	asJSON
	Off bool
}

// Run is "arenero pause".
func (c *pauseCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	client, err := need()
	if err != nil {
		return err
	}
	if err := client.Pause(ctx, !c.Off); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(os.Stdout, map[string]bool{"paused": !c.Off})
	}
	key := "cli.pause.on"
	if c.Off {
		key = "cli.pause.off"
	}
	_, err = fmt.Println(say(key))
	return err
}
