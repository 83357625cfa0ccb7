package main

import (
	"errors"
	"io/fs"

	"github.com/arenero/arenero/app/control"
)

type bridgeCommand struct {
	Args []string `arg:"" optional:""`
}

// Run is "arenero bridge": it becomes the program that is installed beside this
// one.
func (c *bridgeCommand) Run() error {
	program, err := control.Beside("arenero-bridge")
	if err != nil {
		return err
	}
	err = become(program, c.Args)
	if errors.Is(err, fs.ErrNotExist) {
		return wrong("cli.bridge.missing", "program", program)
	}
	if _, ok := errors.AsType[*exitError](err); ok || err == nil {
		return err
	}
	return failure("cli.bridge.start", "program", program, "why", reason(err))
}
