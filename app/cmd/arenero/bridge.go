package main

import (
	"errors"
	"fmt"
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
		return usagef(`%s is not there: install Arenero whole, or run "make build"`, program)
	}
	if _, ok := errors.AsType[*exitError](err); ok || err == nil {
		return err
	}
	return fmt.Errorf("start %s: %w", program, err)
}
